//! Loops that outlive the scripts: reaping, subreaping, removing cgroups.

use crate::arch::{self, number};
use crate::{EBUSY, EINTR, exit, ops, report, result, unmap};

/// Reaps until the command has ended. The end of this process is then the end of everything in its namespace.
pub(super) fn reap(control: i32, command: i32, scripts: u64) -> Result<i32, i32> {
    unmap(scripts);
    loop {
        match wait_for_any(WUNTRACED) {
            Ok((pid, status)) if pid == command => {
                report(control, ops::CHANGED, status);
                if !is_stopped(status) {
                    dismiss();
                    exit(0)
                }
            }
            Ok(_) | Err(EINTR) => {}
            Err(_) => exit(0),
        }
    }
}

/// Asks what the command has left behind to end, and gives it a moment. Where nothing is left, this is one call.
fn dismiss() {
    if !has_children() {
        return;
    }
    for signal in [SIGTERM, SIGCONT] {
        // SAFETY: no pointers. To the first process of a namespace, -1 is everything else in it.
        unsafe { arch::call(number::KILL, [usize::MAX, signal as usize, 0, 0, 0, 0]) };
    }
    for _ in 0..LOOKS {
        let pause = [0_usize, 5_000_000];
        // SAFETY: the kernel reads one `timespec`.
        unsafe { arch::call(number::NANOSLEEP, [&raw const pause as usize, 0, 0, 0, 0, 0]) };
        if !has_children() {
            return;
        }
    }
}

/// Returns true if children are left after those that have ended are reaped.
///
/// It reaps no more of them than can be counted, because they may multiply.
fn has_children() -> bool {
    for _ in 0..4096 {
        match wait_for_any(WNOHANG) {
            Ok((0, _)) => return true,
            Ok(_) | Err(EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Reaps until the command has ended or is asked to end, and ends everything below this process.
pub(super) fn subreap(control: i32, command: i32, children: i32, scripts: u64) -> Result<i32, i32> {
    unmap(scripts);
    while reap_ended(control, command, WNOHANG | WUNTRACED) {
        match next_signal() {
            Ok(SIGCHLD) | Err(EINTR) => {}
            _ => break,
        }
    }
    loop {
        end_children(children);
        // One at least; what it leaves behind is ours then, and ended next.
        match wait_for_any(0) {
            Ok((pid, status)) if pid == command => report(control, ops::CHANGED, status),
            Ok(_) | Err(EINTR) => {}
            Err(_) => exit(0),
        }
        reap_ended(control, command, WNOHANG);
    }
}

/// Takes notice of every child that has changed. Returns whether there is still a command to wait for.
fn reap_ended(control: i32, command: i32, how: usize) -> bool {
    loop {
        match wait_for_any(how) {
            Ok((0, _)) => return true,
            Ok((pid, status)) if pid == command => {
                report(control, ops::CHANGED, status);
                if !is_stopped(status) {
                    return false;
                }
            }
            Ok(_) | Err(EINTR) => {}
            Err(_) => return false,
        }
    }
}

fn wait_for_any(how: usize) -> Result<(i32, i32), i32> {
    let mut status = 0_i32;
    // SAFETY: the kernel writes one int; usage is not asked for.
    let pid =
        unsafe { arch::call(number::WAIT4, [usize::MAX, &raw mut status as usize, how | WALL, 0, 0, 0]) };
    result(pid).map(|pid| (pid, status))
}

const fn is_stopped(status: i32) -> bool {
    status & 0xff == 0x7f
}

/// Sleeps until a child has changed or this process is asked to end. Both signals are blocked.
fn next_signal() -> Result<i32, i32> {
    let wanted = 1_u64 << (SIGCHLD - 1) | 1 << (SIGTERM - 1);
    // SAFETY: the kernel reads one set of signals of eight bytes; null pointers mean no details and no time limit.
    result(unsafe { arch::call(number::RT_SIGTIMEDWAIT, [&raw const wanted as usize, 0, 0, 8, 0, 0]) })
}

/// Ends the children of this process and their process groups, which the kernel ends in one step, however fast they
/// multiply.
///
/// Only children: while this process does not wait for one, its number is not reused. What is below becomes a child in
/// turn.
fn end_children(children: i32) {
    let mut list = [0_u8; 4096];
    let arguments = [children as usize, &raw mut list as usize, list.len(), 0, 0, 0];
    // SAFETY: the kernel writes at most as many bytes as the buffer has.
    let Ok(length) = result(unsafe { arch::call(number::PREAD, arguments) }) else { return };
    let mut child = 0_i32;
    for byte in list.iter().take(length as usize) {
        if byte.is_ascii_digit() {
            child = child.wrapping_mul(10).wrapping_add(i32::from(byte - b'0'));
        } else {
            // A number that the buffer cuts off has nothing behind it, and waits for the next look.
            if child > 0 {
                end_group(child);
            }
            child = 0;
        }
    }
}

fn end_group(child: i32) {
    const SIGKILL: usize = 9;
    let group_of = |pid: i32| {
        // SAFETY: no pointers.
        result(unsafe { arch::call(number::GETPGID, [pid as usize, 0, 0, 0, 0, 0]) })
    };
    let kill = |whom: i32| {
        // SAFETY: no pointers. Fails only for a child that has ended already.
        unsafe { arch::call(number::KILL, [whom as isize as usize, SIGKILL, 0, 0, 0, 0]) };
    };
    kill(child);
    if let (Ok(group), Ok(own)) = (group_of(child), group_of(0))
        && group != own
    {
        kill(-group);
    }
}

/// Waits until no process can give orders any more, and removes directories: cgroups, which are busy until the last process in
/// them is gone.
pub(super) fn sweep(directories: u64) -> Result<i32, i32> {
    let mut byte = 0_u8;
    // SAFETY: the kernel writes one byte at most.
    let mut read = || result(unsafe { arch::call(number::READ, [0, &raw mut byte as usize, 1, 0, 0, 0]) });
    while let Ok(1) | Err(EINTR) = read() {}
    for _ in 0..500 {
        if !remove_all(directories as *const usize) {
            break;
        }
        let pause = [0_usize, 10_000_000];
        // SAFETY: the kernel reads one `timespec`.
        unsafe { arch::call(number::NANOSLEEP, [&raw const pause as usize, 0, 0, 0, 0, 0]) };
    }
    exit(0)
}

/// Removes every directory of a list. Returns whether one of them is still busy.
fn remove_all(mut directories: *const usize) -> bool {
    const HERE: usize = -100_isize as usize;
    const REMOVEDIR: usize = 0x200;
    let mut busy = false;
    loop {
        // SAFETY: the list of the script ends with 0, which ends the loop.
        let directory = unsafe { *directories };
        if directory == 0 {
            return busy;
        }
        // SAFETY: the script has a text there.
        let removed = result(unsafe { arch::call(number::UNLINKAT, [HERE, directory, REMOVEDIR, 0, 0, 0]) });
        busy |= removed == Err(EBUSY);
        // SAFETY: the end of the list was not reached.
        directories = unsafe { directories.add(1) };
    }
}

/// So often is looked whether they have ended: a quarter of a second in all.
const LOOKS: usize = 50;

const SIGTERM: i32 = 15;
const SIGCHLD: i32 = 17;
const SIGCONT: i32 = 18;

const WNOHANG: usize = 1;
const WUNTRACED: usize = 2;
const WALL: usize = 0x4000_0000;
