//! A system call that a listener is told of, as the program made it.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use rustix::io::Errno;

use crate::sys::linux::calls::notify;

/// A call that waits for leave to go on.
pub(crate) struct Notice {
    pub(crate) id: u64,
    pub(crate) pid: u32,
    pub(crate) number: libc::c_long,
    pub(crate) arguments: [u64; 6],
}

/// Operation that a call is about.
pub(super) enum Call {
    Execute(PathBuf),
    Open { path: PathBuf, writes: bool },
    Connect(Vec<u8>),
}

/// The next call; `None` when every process that could make one has ended.
pub(crate) fn next(listener: &OwnedFd) -> Option<Notice> {
    loop {
        if !ends_by_itself() && notify::has_ended(listener.as_fd()) {
            return None;
        }
        match notify::receive(listener.as_fd()) {
            Ok(told) => {
                return Some(Notice {
                    id: told.id,
                    pid: told.pid,
                    number: told.data.nr.into(),
                    arguments: told.data.args,
                });
            }
            Err(Errno::INTR) => {}
            // The process that made it has ended meanwhile, or all have.
            Err(Errno::NOENT) if !notify::has_ended(listener.as_fd()) => {}
            Err(_) => return None,
        }
    }
}

/// Returns true if the kernel ends the wait for the next call when no process is left to make one. Else one thread at most
/// may wait, and it has to look first.
pub(crate) fn ends_by_itself() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let system = rustix::system::uname();
        let release = system.release().to_string_lossy();
        let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 11)
    })
}

impl Notice {
    /// Returns what it is about, as far as the memory of the program tells now.
    pub(super) fn call(&self) -> Option<Call> {
        let [a, b, c, ..] = self.arguments;
        let writes = |flags| int(flags) & (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) != 0;
        match self.number {
            libc::SYS_execve => self.path(a).map(Call::Execute),
            libc::SYS_execveat => self.path(b).map(Call::Execute),
            libc::SYS_openat => Some(Call::Open { path: self.path(b)?, writes: writes(c) }),
            libc::SYS_connect => self.memory(b, usize::try_from(c).ok()?.min(ADDRESS)).map(Call::Connect),
            libc::SYS_sendto => {
                let [.., address, length] = self.arguments;
                self.memory(address, usize::try_from(length).ok()?.min(ADDRESS)).map(Call::Connect)
            }
            other => self.old_call(other, writes),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn old_call(&self, number: libc::c_long, writes: impl Fn(u64) -> bool) -> Option<Call> {
        let [path, flags, ..] = self.arguments;
        match number {
            libc::SYS_open => Some(Call::Open { path: self.path(path)?, writes: writes(flags) }),
            libc::SYS_creat => Some(Call::Open { path: self.path(path)?, writes: true }),
            _ => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn old_call(&self, _: libc::c_long, _: impl Fn(u64) -> bool) -> Option<Call> {
        None
    }

    /// The number of the call.
    pub(super) const fn number(&self) -> libc::c_long {
        self.number
    }

    /// A path as the program would resolve it, by its text alone.
    pub(super) fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let directory = matches!(self.number, libc::SYS_openat | libc::SYS_execveat).then_some(0);
        self.plain(directory, path)
    }

    /// A path that an argument points at, beneath the directory that another one names.
    pub(super) fn path_at(&self, directory: Option<usize>, path: usize) -> Option<PathBuf> {
        self.plain(directory, &self.path(*self.arguments.get(path)?)?)
    }

    fn plain(&self, directory: Option<usize>, path: &Path) -> Option<PathBuf> {
        let from = if path.is_absolute() { PathBuf::new() } else { self.directory(directory)? };
        let mut plain = PathBuf::from("/");
        for part in from.join(path).components() {
            match part {
                Component::Normal(name) => plain.push(name),
                Component::ParentDir => drop(plain.pop()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Some(plain)
    }

    /// Returns the working directory of the program, or the directory that it has open and means instead.
    fn directory(&self, argument: Option<usize>) -> Option<PathBuf> {
        let opened =
            argument.map(|argument| int(self.arguments[argument])).filter(|fd| *fd != libc::AT_FDCWD);
        let link = match opened {
            Some(fd) => format!("/proc/{}/fd/{fd}", self.pid),
            None => format!("/proc/{}/cwd", self.pid),
        };
        std::fs::read_link(link).ok().filter(|path| path.is_absolute())
    }

    fn path(&self, address: u64) -> Option<PathBuf> {
        let text = self.text(address).ok().filter(|text| !text.is_empty())?;
        Some(PathBuf::from(OsString::from_vec(text)))
    }

    /// A text that an argument points to. It is read once, a piece at a time: most are short.
    pub(crate) fn text(&self, address: u64) -> Result<Vec<u8>, Errno> {
        const LONGEST: usize = libc::PATH_MAX.cast_unsigned() as usize;
        const PAGE: u64 = 4096;
        let mut text = Vec::with_capacity(PIECE);
        while text.len() < LONGEST {
            let from = address.checked_add(text.len() as u64).ok_or(Errno::FAULT)?;
            // The bytes on the next page need not be there.
            let left = usize::try_from(PAGE - from % PAGE).unwrap_or(PIECE);
            let start = text.len();
            text.resize(start + left.min(PIECE), 0);
            let count = notify::read_memory(self.pid, from, &mut text[start..])?;
            text.truncate(start + count);
            if let Some(end) = text[start..].iter().position(|byte| *byte == 0) {
                text.truncate(start + end);
                return Ok(text);
            }
            if count == 0 {
                return Err(Errno::FAULT);
            }
        }
        Err(Errno::NAMETOOLONG)
    }

    /// The address of a socket that an argument points to, read once, as long as the caller says.
    pub(crate) fn socket_address(&self, address: u64, length: i32) -> Result<Vec<u8>, Errno> {
        let length = usize::try_from(length).ok().filter(|length| *length <= ADDRESS).ok_or(Errno::INVAL)?;
        let mut bytes = vec![0; length];
        let count = if length == 0 { 0 } else { notify::read_memory(self.pid, address, &mut bytes)? };
        if count == length { Ok(bytes) } else { Err(Errno::FAULT) }
    }

    /// Up to so much of the program's memory; less at the end of what it has.
    fn memory(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        let count = notify::read_memory(self.pid, address, &mut bytes).ok().filter(|count| *count > 0)?;
        bytes.truncate(count);
        Some(bytes)
    }
}

/// An argument that is an int: the kernel looks at no more of the word.
#[expect(clippy::cast_possible_truncation, reason = "as the kernel does it")]
pub(crate) const fn int(argument: u64) -> libc::c_int {
    argument as libc::c_int
}

/// As much of a text as is read at once.
const PIECE: usize = 256;

/// The longest address of a socket.
const ADDRESS: usize = 128;
