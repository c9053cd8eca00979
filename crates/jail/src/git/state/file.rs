//! Reads one state file, and removes the instructions in it that are new.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags, Stat};
use rustix::io::Errno;

use super::instruction::{Mend, StateFile, running};
use super::walk::Budget;

/// A state file before the command started.
#[derive(Debug)]
pub(super) struct FileSnapshot {
    identity: Option<FileIdentity>,
    /// Its instructions; nothing if it could not be read.
    running: Option<Vec<Vec<u8>>>,
}

/// Identifies a file with its content: every write changes `ctime`, and no system call sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
    ctime: (i64, i64),
    size: i64,
}

impl FileIdentity {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        clippy::cast_lossless,
        clippy::cast_possible_wrap,
        reason = "the types of the fields depend on the platform"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            size: stat.st_size as i64,
        }
    }

    /// It was written within two seconds of this time, or after it.
    pub(super) fn is_recent(&self, seconds: u64) -> bool {
        i64::try_from(seconds).is_ok_and(|now| self.ctime.0.saturating_add(2) >= now)
    }
}

/// An instruction that was found, and whether git would still run it.
pub(super) struct Finding {
    pub(super) remains: bool,
    pub(super) reason: String,
}

impl FileSnapshot {
    /// Reads a file; nothing if there is none.
    pub(super) fn capture(state: &OwnedFd, file: &StateFile, budget: &mut Budget) -> Option<Self> {
        Some(match Content::read(state, file, budget)? {
            Content::Text { stat, text, .. } => {
                Self { identity: Some(FileIdentity::of(&stat)), running: Some(running(file, &text)) }
            }
            Content::Irregular { stat, .. } => {
                Self { identity: Some(FileIdentity::of(&stat)), running: None }
            }
            Content::Unreadable { stat, .. } => {
                Self { identity: stat.as_ref().map(FileIdentity::of), running: None }
            }
        })
    }

    fn is_unread_and_same(&self, stat: &Stat) -> bool {
        self.running.is_none() && self.is_same(stat)
    }

    fn is_same(&self, stat: &Stat) -> bool {
        self.identity == Some(FileIdentity::of(stat))
    }
}

/// Inspects a file and removes the instructions that are not in the snapshot.
pub(super) fn remove_new(
    state: &OwnedFd,
    file: &StateFile,
    before: Option<&FileSnapshot>,
    budget: &mut Budget,
) -> Option<Finding> {
    let same = |stat: &Stat| before.is_some_and(|before| before.is_same(stat));
    match Content::read(state, file, budget)? {
        Content::Text { stat, .. } if before.is_some_and(|before| before.is_unread_and_same(&stat)) => None,
        Content::Text { handle, stat, text } => {
            let known = before.and_then(|before| before.running.as_deref()).unwrap_or_default();
            remove_instructions(state, file, &Opened { handle, stat, text }, known)
        }
        Content::Irregular { why, stat } if same(&stat) => {
            let link = FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
            let reason = format!("{why}, as before, so its target was not inspected: {LOOK}");
            link.then_some(Finding { remains: true, reason })
        }
        Content::Irregular { why, .. } => Some(remove(state, file, why)),
        Content::Unreadable { stat: Some(stat), .. } if same(&stat) => None,
        Content::Unreadable { errno, .. } => Some(Finding {
            remains: true,
            reason: format!("it cannot be read ({errno}), so it was not inspected: {LOOK}"),
        }),
    }
}

const LOOK: &str = "look at it before you continue";

struct Opened {
    handle: File,
    stat: Stat,
    text: Vec<u8>,
}

enum Content {
    Text {
        handle: File,
        stat: Stat,
        text: Vec<u8>,
    },
    /// Nothing that git leaves there.
    Irregular {
        why: &'static str,
        stat: Stat,
    },
    Unreadable {
        errno: Errno,
        stat: Option<Stat>,
    },
}

impl Content {
    fn read(state: &OwnedFd, file: &StateFile, budget: &mut Budget) -> Option<Self> {
        let stat = match rustix::fs::statat(state, file.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return None,
            Err(errno) => return Some(Self::Unreadable { errno, stat: None }),
            Ok(stat) => stat,
        };
        if let Some(why) = irregular(&stat, file, budget) {
            return Some(Self::Irregular { why, stat });
        }
        Some(match Self::open(state, file, budget) {
            Ok(content) => content,
            Err(error) => Self::Unreadable {
                errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
                stat: Some(stat),
            },
        })
    }

    fn open(state: &OwnedFd, file: &StateFile, budget: &mut Budget) -> io::Result<Self> {
        let handle = File::from(rustix::fs::openat(state, file.name, OFlags::RDONLY | SAFE, Bits::empty())?);
        let stat = rustix::fs::fstat(&handle)?;
        if let Some(why) = irregular(&stat, file, budget) {
            return Ok(Self::Irregular { why, stat });
        }
        let mut text = Vec::new();
        let size = (&handle).take(file.longest() + 1).read_to_end(&mut text)? as u64;
        budget.bytes = budget.bytes.saturating_sub(size);
        if size > file.longest() {
            return Ok(Self::Irregular { why: LARGE, stat });
        }
        Ok(Self::Text { handle, stat, text })
    }
}

/// Neither follows a link nor waits for the other end of a pipe.
pub(super) const SAFE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

const LARGE: &str = "larger than any that git writes";

fn irregular(stat: &Stat, file: &StateFile, budget: &Budget) -> Option<&'static str> {
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => Some("a link"),
        FileType::RegularFile if size > file.longest() => Some(LARGE),
        FileType::RegularFile if size > budget.bytes => Some("the states are too large to read all of them"),
        FileType::RegularFile => None,
        _ => Some("not a regular file"),
    }
}

fn remove_instructions(
    state: &OwnedFd,
    file: &StateFile,
    opened: &Opened,
    known: &[Vec<u8>],
) -> Option<Finding> {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for part in known {
        *left.entry(part).or_default() += 1;
    }
    let mut fresh = |part: &[u8]| {
        let why = (file.runs)(part)?;
        match left.get_mut(part) {
            Some(count) if *count > 0 => {
                *count -= 1;
                None
            }
            _ => Some(why),
        }
    };
    if file.mend == Mend::Remove {
        return fresh(&opened.text).map(|why| remove(state, file, why));
    }
    let mut first = None;
    let mut new = Vec::with_capacity(opened.text.len());
    for (number, line) in opened.text.split(|byte| *byte == b'\n').enumerate() {
        new.extend((number > 0).then_some(b'\n'));
        if let Some(why) = fresh(line) {
            first.get_or_insert((why, line));
            new.extend(COMMENT);
        }
        new.extend(line);
    }
    let (why, line) = first?;
    let line = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    let why = format!("{why}: `{line}`");
    Some(match rewrite(state, file, opened, &new) {
        Ok(()) => Finding { remains: false, reason: format!("{why}; it is commented out") },
        Err(error) => remove(state, file, &format!("{why}; it could not be commented out ({error})")),
    })
}

const COMMENT: &[u8] = b"# taken out by ringfence: ";
/// Bytes of an instruction that are told.
const SHOWN: usize = 200;

fn remove(state: &OwnedFd, file: &StateFile, why: &str) -> Finding {
    match rustix::fs::unlinkat(state, file.name, AtFlags::empty()) {
        Ok(()) => Finding { remains: false, reason: format!("{why}; it is removed") },
        Err(errno) => {
            Finding { remains: true, reason: format!("{why}; it could not be removed ({errno}): {LOOK}") }
        }
    }
}

/// Writes a text into the file that was read. A file with other names is not written: they may be names of anything.
fn rewrite(state: &OwnedFd, file: &StateFile, opened: &Opened, text: &[u8]) -> io::Result<()> {
    if opened.stat.st_nlink > 1 {
        return Err(io::Error::other("it has more than one name"));
    }
    let open = || rustix::fs::openat(state, file.name, OFlags::WRONLY | SAFE, Bits::empty());
    let mode = Bits::from_raw_mode(opened.stat.st_mode);
    let handle = match open() {
        Err(Errno::ACCESS) => {
            rustix::fs::fchmod(&opened.handle, mode | Bits::WUSR)?;
            let handle = open();
            rustix::fs::fchmod(&opened.handle, mode)?;
            handle?
        }
        handle => handle?,
    };
    let now = rustix::fs::fstat(&handle)?;
    if (now.st_dev, now.st_ino) != (opened.stat.st_dev, opened.stat.st_ino) {
        return Err(io::Error::other("another file has taken its place"));
    }
    let mut handle = File::from(handle);
    handle.set_len(0)?;
    handle.write_all(text)
}
