//! The thread that makes a call: its directory, its descriptors, its memory and its umask.
//!
//! **Invariant.** Handle first, validity second, use third: the number of a caller that was killed can be given to a process
//! of the host. A handle of `/proc` or of the process is opened, then the notification is checked to be still valid, and
//! only then the handle is used. A result that was read by number is thrown away if the check fails.

use std::ffi::CString;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// The callers that a thread has met, the latest first: mostly it is the same again.
#[derive(Default)]
pub(super) struct Callers {
    known: Vec<Caller>,
    /// The umask that this thread has now.
    umask: Option<Mode>,
}

/// A thread of the jail.
pub(super) struct Caller {
    pid: u32,
    /// Its directory of `/proc`, which leads nowhere once it has ended.
    handle: OwnedFd,
}

/// Number of callers that are remembered.
const MOST: usize = 8;

impl Callers {
    /// The thread behind a number. One that has ended meanwhile is found out before anything is done.
    pub(super) fn find(&mut self, pid: u32) -> Result<&Caller, Errno> {
        if let Some(at) = self.known.iter().position(|caller| caller.pid == pid) {
            self.known.swap(0, at);
            return self.known.first().ok_or(Errno::SRCH);
        }
        let path = format!("/proc/{pid}");
        let handle =
            rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        self.known.truncate(MOST - 1);
        self.known.insert(0, Caller { pid, handle });
        self.known.first().ok_or(Errno::SRCH)
    }

    /// Forgets a caller whose number may belong to another process.
    pub(super) fn forget(&mut self, pid: u32) {
        self.known.retain(|caller| caller.pid != pid);
    }

    /// Makes files from now on with a umask.
    pub(super) fn take_on(&mut self, umask: Mode) {
        if self.umask != Some(umask) {
            rustix::process::umask(umask);
            self.umask = Some(umask);
        }
    }
}

impl Caller {
    /// Opens its working directory.
    pub(super) fn cwd(&self) -> Result<OwnedFd, Errno> {
        self.link(c"cwd")
    }

    /// Opens the object that it has open under a number.
    pub(super) fn descriptor(&self, number: i32) -> Result<OwnedFd, Errno> {
        let path = CString::new(format!("fd/{number}")).map_err(|_| Errno::BADF)?;
        self.link(&path).map_err(|errno| if errno == Errno::NOENT { Errno::BADF } else { errno })
    }

    /// Copies a socket that it has open under a number. `is_waiting` fails if the caller no longer waits.
    pub(super) fn socket(
        &self,
        number: i32,
        is_waiting: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<OwnedFd, Errno> {
        /// `PIDFD_THREAD`: threads may have descriptors of their own.
        const THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL.cast_unsigned());
        let object = rustix::fs::fstat(self.descriptor(number)?)?;
        let of = |number: u32| i32::try_from(number).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH);
        let process = match pidfd_open(of(self.pid)?, THREAD) {
            // Before Linux 6.9 there are handles of whole processes only.
            Err(Errno::INVAL) => pidfd_open(of(self.process()?)?, PidfdFlags::empty())?,
            opened => opened?,
        };
        is_waiting()?;
        let copy = pidfd_getfd(process, number, PidfdGetfdFlags::empty())?;
        let found = rustix::fs::fstat(&copy)?;
        // Else it was closed and opened again meanwhile, or the thread has descriptors of its own.
        if (found.st_dev, found.st_ino) == (object.st_dev, object.st_ino) {
            Ok(copy)
        } else {
            Err(Errno::BADF)
        }
    }

    /// The number of its process.
    fn process(&self) -> Result<u32, Errno> {
        let text = status(self.handle.as_fd())?;
        field(&text, "Tgid:").and_then(|number| number.trim().parse().ok()).ok_or(Errno::IO)
    }

    fn link(&self, name: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(self.handle.as_fd(), name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    /// Opens its memory. The handle stays with this address space, and fails once that is gone.
    pub(super) fn memory(&self) -> Result<Memory, Errno> {
        let opened =
            rustix::fs::openat(self.handle.as_fd(), c"mem", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        match opened {
            Err(Errno::NOENT) => Err(Errno::SRCH),
            opened => opened.map(Memory),
        }
    }

    /// The name of its program, as it calls itself.
    pub(super) fn program(&self) -> Result<Vec<u8>, Errno> {
        text(self.handle.as_fd(), c"comm").map(|name| name.trim_end().as_bytes().to_vec())
    }

    /// Its umask.
    pub(super) fn umask(&self) -> Result<Mode, Errno> {
        status(self.handle.as_fd()).and_then(|text| umask_of(&text).ok_or(Errno::IO))
    }

    /// The number of its process as the jail sees it.
    pub(super) fn process_inside(&self) -> Result<String, Errno> {
        let text = status(self.handle.as_fd())?;
        let number = field(&text, "NStgid:").and_then(|numbers| numbers.split_whitespace().last());
        number.map(str::to_owned).ok_or(Errno::IO)
    }

    /// The number of its controlling terminal, if it has one.
    pub(super) fn terminal(&self) -> Option<u32> {
        let text = text(self.handle.as_fd(), c"stat").ok()?;
        let after = text.rsplit_once(')')?.1;
        let device: u32 = after.split_whitespace().nth(4)?.parse::<i64>().ok()?.try_into().ok()?;
        let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00));
        (136..144).contains(&major).then(|| (major - 136) * 256 + minor)
    }
}

/// The memory of a caller, by handle.
pub(super) struct Memory(OwnedFd);

impl Memory {
    /// Fills `into` from an address, or fails.
    pub(super) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        let length = into.len();
        complete(rustix::io::pread(&self.0, into, address), length)
    }

    /// Writes all of `from` to an address, or fails.
    pub(super) fn write(&self, address: u64, from: &[u8]) -> Result<(), Errno> {
        complete(rustix::io::pwrite(&self.0, from, address), from.len())
    }
}

fn complete(moved: Result<usize, Errno>, length: usize) -> Result<(), Errno> {
    match moved {
        Ok(count) if count == length => Ok(()),
        // The address space is gone.
        Ok(0) => Err(Errno::SRCH),
        Ok(_) | Err(Errno::IO | Errno::INVAL) => Err(Errno::FAULT),
        Err(errno) => Err(errno),
    }
}

fn status(of: BorrowedFd<'_>) -> Result<String, Errno> {
    text(of, c"status")
}

fn text(of: BorrowedFd<'_>, name: &std::ffi::CStr) -> Result<String, Errno> {
    let file = rustix::fs::openat(of, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = Vec::new();
    let read = File::from(file).take(1 << 16).read_to_end(&mut text);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

fn umask_of(text: &str) -> Option<Mode> {
    u32::from_str_radix(field(text, "Umask:")?.trim(), 8).ok().map(Mode::from_raw_mode)
}

/// The umask of this process, which the command starts with; 077 if it cannot be read.
pub(super) fn own_umask() -> Mode {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    umask_of(&text).unwrap_or(Mode::from_raw_mode(0o077))
}

/// The numbers of the mounts that a process sees, in order. A jailed process cannot change them.
pub(super) fn mounts(process: Pid) -> Vec<u64> {
    let text = std::fs::read(format!("/proc/{}/mountinfo", process.as_raw_pid())).unwrap_or_default();
    let first =
        |line: &[u8]| std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?.parse().ok();
    let mut numbers: Vec<u64> = text.split(|byte| *byte == b'\n').filter_map(first).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn memory_is_of_one_process_and_not_of_a_number() {
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut callers = Callers::default();
        let caller = callers.find(child.id()).unwrap();
        let maps = text(caller.handle.as_fd(), c"maps").unwrap();
        let stack = maps.lines().find(|line| line.ends_with("[stack]")).unwrap();
        let address = u64::from_str_radix(stack.split('-').next().unwrap(), 16).unwrap();
        let memory = caller.memory().unwrap();
        let mut read = [0; 4];
        assert_eq!(memory.write(address, b"text"), Ok(()));
        assert_eq!((memory.read(address, &mut read), &read), (Ok(()), b"text"));
        for nowhere in [0x10, u64::MAX - 64] {
            assert_eq!(memory.write(nowhere, b"text"), Err(Errno::FAULT), "{nowhere:#x}");
        }
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(memory.write(address, b"text"), Err(Errno::SRCH));
        assert_eq!(memory.read(address, &mut read), Err(Errno::SRCH));
        assert_eq!(caller.memory().err(), Some(Errno::SRCH));
    }

    #[test]
    fn a_handle_of_a_process_that_has_ended_is_reported_as_such() {
        let mut child = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut callers = Callers::default();
        let caller = callers.find(child.id()).unwrap();
        assert!(caller.cwd().is_ok() && caller.descriptor(0).is_ok() && caller.umask().is_ok());
        assert_eq!(caller.descriptor(77).err(), Some(Errno::BADF));
        child.kill().and_then(|()| child.wait()).unwrap();
        assert_eq!(caller.cwd().err(), Some(Errno::SRCH));
        assert_eq!(caller.descriptor(0).err(), Some(Errno::SRCH));
        assert_eq!(caller.umask().err(), Some(Errno::SRCH));
    }
}
