//! The first process of a jail, and all else that a supervisor has to leave running: a subreaper, a cgroup remover, the
//! holder of a user namespace.
//!
//! A program of its own, without a C library, that the supervisor executes from memory. It knows nothing about jails: it
//! receives scripts (see `ops`) over a socket and makes the system calls that they list. What it does by itself is what has
//! to go on when the supervisor gives no orders any more: reaping, and ending with the supervisor.
//!
//! **Invariant.** Nothing here is decided by anything that a jailed process can reach: scripts come from the supervisor
//! before foreign code runs, and are unmapped before the first process of the command is waited for.

#![no_std]
#![no_main]
#![no_builtins]

mod arch;
mod message;
#[expect(dead_code, reason = "the supervisor uses the rest")]
mod ops;
mod reap;
mod syscall;

use arch::number;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use message::{Message, receive_message};
use ops::{Header, Operation};
use reap::{reap, subreap, sweep};

/// Set by a process that ends while it shares this memory: it has not executed anything.
static NOTHING_EXECUTED: AtomicBool = AtomicBool::new(false);

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(101)
}

/// Runs scripts until one of them is the last, or the supervisor is gone.
extern "C" fn run() -> ! {
    let mut machine = Machine { registers: [-1; ops::REGISTERS], scripts: 0 };
    machine.set(ops::CONTROL, 0);
    machine.set(ops::SUPERVISOR, 1);
    loop {
        let script = machine.receive();
        machine.perform(script, 0);
    }
}

/// The state of an interpreter: registers, and how many scripts are mapped.
#[derive(Clone, Copy)]
struct Machine {
    registers: [i32; ops::REGISTERS],
    /// Number of scripts it was given.
    scripts: u64,
}

impl Machine {
    fn get(&self, register: u64) -> i32 {
        self.registers.get(register as usize).copied().unwrap_or(-1)
    }

    fn set(&mut self, register: u16, value: i32) {
        if let Some(place) = self.registers.get_mut(usize::from(register)) {
            *place = value;
        }
    }

    /// Waits for a script and the descriptors that come with it.
    fn receive(&mut self) -> &'static [Operation] {
        let mut count = 0;
        loop {
            match receive_message(self.get(ops::CONTROL.into()), &mut self.registers, &mut count) {
                Ok(ops::RUN) => break,
                Ok(_) => {}
                Err(errno) => self.fail(u16::MAX, errno),
            }
        }
        let Some(last) = count.checked_sub(1) else { exit(2) };
        let script = self.get((ops::HANDLES + last) as u64);
        let mapped = map(script, self.scripts);
        self.scripts += 1;
        match mapped {
            Ok(operations) => operations,
            Err(errno) => self.fail(u16::MAX, errno),
        }
    }

    /// Performs operations until there are no more.
    fn perform(&mut self, script: &'static [Operation], first: usize) {
        for (operation, at) in script.iter().zip(0_u16..).skip(first) {
            if operation.condition == 0 || self.get(operation.condition.into()) > 0 {
                match self.perform_one(script, operation) {
                    Ok(result) if operation.result != 0 => self.set(operation.result, result),
                    Ok(_) => {}
                    Err(errno) => self.fail(at, errno),
                }
            }
        }
    }

    fn perform_one(&mut self, script: &'static [Operation], operation: &Operation) -> Result<i32, i32> {
        let [first, second, third, ..] = operation.arguments;
        match operation.kind {
            ops::CALL => match self.call(operation) {
                Err(errno) if accepts(operation, errno) => Ok(-1),
                result => result,
            },
            ops::REFUSED => match self.call(operation) {
                Err(errno) if accepts(operation, errno) => Ok(-1),
                Err(errno) => Err(errno),
                Ok(_) => Err(0),
            },
            ops::CHECK_IDENTITY => same(self.get(first), second, third),
            ops::GRANT => grant(self.get(first), self.get(second), third),
            ops::LIFELINE => lifeline(first as usize, self.get(ops::SUPERVISOR.into())),
            ops::CLOSE_OTHERS => keep(operation.arguments.map(|register| self.get(register))),
            ops::SEND => self.send(first as u8, second, third),
            ops::WAIT => self.wait(),
            ops::START => Err(self.start([first, second, third])),
            ops::SPAWN => self.spawn(script, [first, second, third]),
            ops::REAP => reap(self.get(ops::CONTROL.into()), self.get(first), self.scripts),
            ops::SUBREAP => {
                subreap(self.get(ops::CONTROL.into()), self.get(first), self.get(second), self.scripts)
            }
            ops::REMOVE_DIRECTORIES => sweep(first),
            ops::NETLINK => {
                let [.., acks, _, _] = operation.arguments;
                match netlink(self.get(first), [second as usize, third as usize], acks) {
                    Err(errno) if accepts(operation, errno) => Ok(-1),
                    result => result,
                }
            }
            _ => Err(ENOSYS),
        }
    }

    fn call(&mut self, operation: &Operation) -> Result<i32, i32> {
        let mut arguments = [0; 6];
        for (at, (place, argument)) in arguments.iter_mut().zip(operation.arguments).enumerate() {
            *place = if operation.registers & (1 << at) != 0 {
                self.get(argument) as usize
            } else if operation.registers & (ops::ADDRESS << at) != 0 {
                self.registers.get_mut(argument as usize).map_or(0, |register| &raw mut *register as usize)
            } else {
                argument as usize
            };
        }
        // SAFETY: the supervisor has written the call and everything behind its pointers, which lead into scripts.
        result(unsafe { arch::call(operation.call as usize, arguments) })
    }

    /// Waits for the release message.
    fn wait(&self) -> Result<i32, i32> {
        let control = self.get(ops::CONTROL.into()) as usize;
        let mut byte = 0_u8;
        while byte != ops::RELEASE {
            // SAFETY: the kernel writes one byte at most.
            match result(unsafe { arch::call(number::READ, [control, &raw mut byte as usize, 1, 0, 0, 0]) }) {
                Ok(1) | Err(EINTR) => {}
                _ => exit(1),
            }
        }
        Ok(0)
    }

    /// Sends a report with descriptors.
    fn send(&self, report: u8, registers: u64, count: u64) -> Result<i32, i32> {
        let mut message = Message::new([report, 0, 0, 0, 0, 0, 0, 0]);
        for at in 0..(count as usize).min(ops::HANDLES_AT_ONCE) {
            // SAFETY: the script has as many numbers of registers at this address as it says.
            let register = unsafe { *(registers as *const u16).add(at) };
            let handle = self.get(register.into());
            if handle >= 0 {
                message.add(handle);
            }
        }
        message.send(self.get(ops::CONTROL.into()))
    }

    /// Executes the first program that is there. Comes back with the reason why there is none.
    fn start(&self, [programs, arguments, environment]: [u64; 3]) -> i32 {
        let (mut programs, mut reason) = (programs as *const usize, ENOENT);
        loop {
            // SAFETY: the list of the script ends with 0, which ends the loop.
            let program = unsafe { *programs };
            if program == 0 {
                break;
            }
            let all = [program, arguments as usize, environment as usize, 0, 0, 0];
            // SAFETY: the script has a text and two lists of texts there, each ended by 0.
            match result(unsafe { arch::call(number::EXECVE, all) }) {
                Ok(_) | Err(ENOENT | ENOTDIR) => {}
                // Found and not allowed: a later one may be, and if not, this is the reason.
                Err(EACCES) => reason = EACCES,
                Err(errno) => {
                    reason = errno;
                    break;
                }
            }
            // SAFETY: the end of the list was not reached.
            programs = unsafe { programs.add(1) };
        }
        report(self.get(ops::CONTROL.into()), ops::NOT_STARTED, reason);
        exit(127)
    }

    /// Starts a process in this memory. This one sleeps until that one has executed something or ended.
    fn spawn(
        &mut self,
        script: &'static [Operation],
        [first, cgroup, outside]: [u64; 3],
    ) -> Result<i32, i32> {
        let stack = stack()?;
        let child = Child { machine: *self, script, first: first as usize };
        let into = self.get(cgroup);
        let pid = if into >= 0 { clone_into(into, stack, &child) } else { Err(ENOSYS) };
        let pid = pid.or_else(|_| {
            // The new process joins by itself; it reads the register from its copy.
            let child = Child {
                machine: {
                    let mut copy = *self;
                    copy.set(outside as u16, 1);
                    copy
                },
                ..child
            };
            clone_beside(stack, &child)
        })?;
        if NOTHING_EXECUTED.load(Ordering::Relaxed) {
            exit(1)
        }
        Ok(pid)
    }

    /// Reports where it failed, and ends.
    fn fail(&self, at: u16, errno: i32) -> ! {
        let [low, high] = at.to_le_bytes();
        let [a, b, c, d] = errno.to_le_bytes();
        let script = self.scripts.saturating_sub(1) as u8;
        write(self.get(ops::CONTROL.into()), &[ops::FAILED, script, low, high, a, b, c, d]);
        exit(1)
    }
}

/// Arguments of a process in this memory.
struct Child {
    machine: Machine,
    script: &'static [Operation],
    first: usize,
}

extern "C" fn child_main(child: usize) -> ! {
    // SAFETY: `spawn` has made it and sleeps until this process has ended or executed something; nothing changes it.
    let child = unsafe { &*(child as *const Child) };
    let mut machine = child.machine;
    machine.perform(child.script, child.first);
    exit(127)
}

/// The end of a stack for a process in this memory, with a page below it that cannot be touched.
fn stack() -> Result<usize, i32> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK;
    // SAFETY: new memory, at an address that the kernel chooses.
    let bottom = result_of(unsafe { arch::call(number::MMAP, [0, STACK, 0, flags, usize::MAX, 0]) })?;
    // SAFETY: the upper part of what was just mapped and is unused.
    result(unsafe {
        arch::call(number::MPROTECT, [bottom + GUARD, STACK - GUARD, PROT_READ | PROT_WRITE, 0, 0, 0])
    })?;
    Ok(bottom + STACK)
}

fn clone_beside(stack: usize, child: &Child) -> Result<i32, i32> {
    let flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    let child = core::ptr::from_ref(child) as usize;
    // SAFETY: the stack is new and not shared; with CLONE_VFORK this frame stays until the child is done with it.
    result(unsafe { arch::clone(number::CLONE, [flags, stack], child_main, child) })
}

fn clone_into(cgroup: i32, stack: usize, child: &Child) -> Result<i32, i32> {
    let flags = (CLONE_VM | CLONE_VFORK) as u64 | CLONE_INTO_CGROUP;
    let (bottom, size) = ((stack - STACK + GUARD) as u64, (STACK - GUARD) as u64);
    // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup
    let arguments = [flags, 0, 0, 0, SIGCHLD as u64, bottom, size, 0, 0, 0, cgroup as u64];
    let child = core::ptr::from_ref(child) as usize;
    let both = [core::ptr::from_ref(&arguments) as usize, size_of_val(&arguments)];
    // SAFETY: as above; the kernel reads one `clone_args` of the size given.
    result(unsafe { arch::clone(number::CLONE3, both, child_main, child) })
}

/// Maps a script at the address that it was written for.
fn map(script: i32, which: u64) -> Result<&'static [Operation], i32> {
    if which >= ops::MOST_SCRIPTS {
        return Err(E2BIG);
    }
    const SEEK_END: usize = 2;
    let handle = script as usize;
    // SAFETY: no pointers.
    let length = result_of(unsafe { arch::call(number::LSEEK, [handle, 0, SEEK_END, 0, 0, 0]) })?;
    let address = (ops::BASE + which * ops::SPACING) as usize;
    let flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_POPULATE;
    // SAFETY: the address is unused; the kernel refuses one that is in use.
    let mapped =
        result_of(unsafe { arch::call(number::MMAP, [address, length, PROT_READ, flags, handle, 0]) })?;
    if mapped != address || length < size_of::<Header>() || length as u64 > ops::SPACING {
        return Err(EFAULT);
    }
    // SAFETY: the script begins with a header and is long enough for it.
    let header = unsafe { *(address as *const Header) };
    let space = header.count.saturating_mul(size_of::<Operation>() as u64);
    if header.operations.saturating_add(space) > length as u64 || header.operations % 8 != 0 {
        return Err(EFAULT);
    }
    // SAFETY: they lie within the script, aligned, and are not unmapped before the last of them is performed.
    Ok(unsafe {
        core::slice::from_raw_parts(
            (address + header.operations as usize) as *const Operation,
            header.count as usize,
        )
    })
}

/// Forgets every script.
fn unmap(scripts: u64) {
    let length = (scripts * ops::SPACING) as usize;
    // SAFETY: only scripts are mapped there, and the caller performs no operation afterwards.
    unsafe { arch::call(number::MUNMAP, [ops::BASE as usize, length, 0, 0, 0, 0]) };
}

fn accepts(operation: &Operation, errno: i32) -> bool {
    let accepted = operation.accepted;
    accepted[0] == ops::ANY || accepted.iter().any(|accepted| *accepted != 0 && i32::from(*accepted) == errno)
}

/// Succeeds if a descriptor is the object that was judged, and not one that was put in its place since.
fn same(handle: i32, device: u64, inode: u64) -> Result<i32, i32> {
    // The kernel's `stat` begins with both on every architecture here.
    let mut found = [0_u64; 18];
    // SAFETY: the kernel writes one `stat`, which is at most as large.
    result(unsafe { arch::call(number::FSTAT, [handle as usize, &raw mut found as usize, 0, 0, 0, 0]) })?;
    if found[0] == device && found[1] == inode { Ok(0) } else { Err(ESTALE) }
}

fn grant(ruleset: i32, beneath: i32, access: u64) -> Result<i32, i32> {
    #[repr(C, packed)]
    struct Beneath(u64, i32);
    const PATH_BENEATH: usize = 1;
    let rule = Beneath(access, beneath);
    let arguments = [ruleset as usize, PATH_BENEATH, &raw const rule as usize, 0, 0, 0];
    // SAFETY: for this kind of rule the kernel reads one packed `landlock_path_beneath_attr`, whose layout `Beneath` has.
    result(unsafe { arch::call(number::LANDLOCK_ADD_RULE, arguments) })
}

/// Sends messages to the kernel and reads the answers, which are all in when the messages are taken.
fn netlink(socket: i32, [bytes, length]: [usize; 2], acks: u64) -> Result<i32, i32> {
    const DONTWAIT: usize = 0x40;
    /// `NLMSG_ERROR`, in the lower half of the second word; the number of the error is the fifth.
    const ERROR: u32 = 2;
    let socket = socket as usize;
    // SAFETY: the script has as many bytes at this address.
    result(unsafe { arch::call(number::SENDTO, [socket, bytes, length, 0, 0, 0]) })?;
    let mut left = acks;
    while left > 0 {
        let mut answer = [0_u32; 16];
        let space = [&raw mut answer as usize, size_of_val(&answer)];
        // SAFETY: the kernel writes at most as many bytes as there is space for.
        result(unsafe { arch::call(number::RECVFROM, [socket, space[0], space[1], DONTWAIT, 0, 0]) })?;
        if answer[1] & 0xffff != ERROR {
            continue;
        }
        match answer[4].cast_signed() {
            0 => left -= 1,
            errno => return Err(-errno),
        }
    }
    Ok(1)
}

/// Binds the life of this process to the supervisor's. One that has ended before is seen by its handle.
fn lifeline(signal: usize, supervisor: i32) -> Result<i32, i32> {
    const SET_PDEATHSIG: usize = 1;
    const POLLIN: i16 = 1;
    #[repr(C)]
    struct Poll(i32, i16, i16);
    // SAFETY: no pointers.
    result(unsafe { arch::call(number::PRCTL, [SET_PDEATHSIG, signal, 0, 0, 0, 0]) })?;
    let (mut poll, now) = (Poll(supervisor, POLLIN, 0), [0_usize; 2]);
    let arguments = [&raw mut poll as usize, 1, &raw const now as usize, 0, 8, 0];
    // SAFETY: the kernel reads and writes one `pollfd` and reads one `timespec`.
    match result(unsafe { arch::call(number::PPOLL, arguments) })? {
        0 => Ok(0),
        _ => Err(ESRCH),
    }
}

/// Closes every descriptor from 3 on but a few.
fn keep(handles: [i32; 6]) -> Result<i32, i32> {
    let mut first = 3_u32;
    loop {
        let rest = handles.iter().filter(|handle| **handle >= 0).map(|handle| handle.cast_unsigned());
        let next = rest.filter(|handle| *handle >= first).min().unwrap_or(u32::MAX);
        if first < next {
            // SAFETY: no pointers; nothing here uses what is closed.
            result(unsafe {
                arch::call(number::CLOSE_RANGE, [first as usize, next as usize - 1, 0, 0, 0, 0])
            })?;
        }
        if next == u32::MAX {
            return Ok(0);
        }
        first = next + 1;
    }
}

fn report(control: i32, kind: u8, value: i32) {
    let [a, b, c, d] = value.to_le_bytes();
    write(control, &[kind, 0, 0, 0, a, b, c, d]);
}

fn write(control: i32, text: &[u8; 8]) {
    // SAFETY: the kernel reads eight bytes. A supervisor that is gone reads nothing any more.
    unsafe { arch::call(number::WRITE, [control as usize, text.as_ptr() as usize, text.len(), 0, 0, 0]) };
}

fn exit(status: usize) -> ! {
    NOTHING_EXECUTED.store(true, Ordering::Relaxed);
    loop {
        // SAFETY: takes a number and does not return.
        unsafe { arch::call(number::EXIT_GROUP, [status, 0, 0, 0, 0, 0]) };
    }
}

/// The result of a call that returns a small number.
fn result(result: isize) -> Result<i32, i32> {
    if (-4095..0).contains(&result) { Err(-result as i32) } else { Ok(result as i32) }
}

/// The result of a call that returns an address or a length.
fn result_of(result: isize) -> Result<usize, i32> {
    if (-4095..0).contains(&result) { Err(-result as i32) } else { Ok(result as usize) }
}

const ENOENT: i32 = 2;
const ESRCH: i32 = 3;
const EINTR: i32 = 4;
const E2BIG: i32 = 7;
const EACCES: i32 = 13;
const EFAULT: i32 = 14;
const EBUSY: i32 = 16;
const ENOTDIR: i32 = 20;
const EMFILE: i32 = 24;
const ENOSYS: i32 = 38;
const ESTALE: i32 = 116;

const SIGCHLD: usize = 17;

const CLONE_VM: usize = 0x100;
const CLONE_VFORK: usize = 0x4000;
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

const PROT_READ: usize = 1;
const PROT_WRITE: usize = 2;
const MAP_PRIVATE: usize = 2;
const MAP_ANONYMOUS: usize = 0x20;
const MAP_POPULATE: usize = 0x8000;
const MAP_STACK: usize = 0x2_0000;
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

/// The stack of a process in this memory, and the part of it that is not to be touched.
const STACK: usize = 0x2_0000;
const GUARD: usize = 0x1_0000;

/// Symbol that the core library refers to in parts that are never reached: nothing here unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Copies bytes for code that the compiler generates; there is no C library that has it.
///
/// # Safety
///
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for at in 0..count {
        // SAFETY: the caller's promise.
        unsafe { *to.add(at) = *from.add(at) };
    }
    to
}

/// As above.
///
/// # Safety
///
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    for at in 0..count {
        // SAFETY: the caller's promise.
        unsafe { *to.add(at) = value as u8 };
    }
    to
}
