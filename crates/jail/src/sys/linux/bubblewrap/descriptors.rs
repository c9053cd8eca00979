//! Everything that bubblewrap is told, as descriptors.

use std::cell::RefCell;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use policy::Shown;
use rustix::fs::{MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use crate::plan::{Handle, Word};
use crate::seccomp::Instruction;
use crate::sys::linux::native::Broken;
use crate::sys::linux::report::Part;

/// Bubblewrap's ends, with the one its arguments come from at the end.
pub(super) struct Descriptors(Vec<OwnedFd>, OwnedFd);

/// Our ends.
pub(super) struct Ours {
    /// Where it is let go.
    pub(super) gate: OwnedFd,
    /// Closed by the other side when everything is mounted.
    mounted: OwnedFd,
    /// What it tells.
    status: OwnedFd,
    /// What it has told and nobody has asked for yet.
    told: RefCell<Vec<u8>>,
}

impl Descriptors {
    pub(super) fn open(words: &[Word], filter: &[Instruction]) -> Result<(Self, Ours), Broken> {
        let broken = |errno| Broken::Part(Part::Streams, None, errno);
        let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(broken);
        let ((gate, our_gate), (our_status, status), (our_last, last)) =
            (pipe()?, pipe()?, pair().map_err(broken)?);
        let mut ends =
            Ends { gate, keeper: our_gate.try_clone().map_err(|_| broken(Errno::MFILE))?, status, last };
        let (mut all, mut text) = (Vec::new(), Vec::new());
        for word in words {
            match word {
                Word::Plain(word) => text.extend(word.as_bytes()),
                Word::Handle(handle) => {
                    let opened = ends.open(handle, filter, &our_last)?;
                    let opened = rustix::io::fcntl_dupfd_cloexec(&opened, HIGH).map_err(broken)?;
                    text.extend(opened.as_raw_fd().to_string().bytes());
                    all.push(opened);
                }
            }
            text.push(0);
        }
        let arguments = memory(&text).and_then(|made| rustix::io::fcntl_dupfd_cloexec(&made, HIGH));
        let ours = Ours { gate: our_gate, mounted: our_last, status: our_status, told: RefCell::default() };
        Ok((Self(all, arguments.map_err(broken)?), ours))
    }

    /// The number of the one its arguments come from.
    pub(super) fn arguments(&self) -> RawFd {
        self.1.as_raw_fd()
    }

    pub(super) fn numbers(&self) -> Vec<RawFd> {
        self.0.iter().chain([&self.1]).map(AsRawFd::as_raw_fd).collect()
    }
}

/// Out of the way of the standard streams.
const HIGH: RawFd = 10;

struct Ends {
    gate: OwnedFd,
    keeper: OwnedFd,
    status: OwnedFd,
    last: OwnedFd,
}

impl Ends {
    fn open(
        &mut self,
        wanted: &Handle,
        filter: &[Instruction],
        our_last: &OwnedFd,
    ) -> Result<OwnedFd, Broken> {
        let broken = |errno| Broken::Part(Part::Streams, None, errno);
        let own = |end: &OwnedFd| end.try_clone().map_err(|_| broken(Errno::MFILE));
        match wanted {
            Handle::Text(text) => memory(text).map_err(broken),
            Handle::Filter => memory(&bytes(filter)).map_err(broken),
            Handle::View(path, id) => view(path, *id).map_err(|errno| {
                Broken::Part(Part::Root, Some(format!("show {}", Shown::path(path))), errno)
            }),
            Handle::Last(text) => say(our_last, text).map_err(broken).and_then(|()| own(&self.last)),
            Handle::Gate => own(&self.gate),
            Handle::Keeper => own(&self.keeper),
            Handle::Status => own(&self.status),
        }
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

/// All of a text, and that it is all.
fn say(to: &OwnedFd, text: &[u8]) -> Result<(), Errno> {
    // A list of users that does not fit into a socket is none of ours.
    rustix::fs::fcntl_setfl(to, OFlags::NONBLOCK)?;
    let written = rustix::io::write(to, text)?;
    rustix::fs::fcntl_setfl(to, OFlags::empty())?;
    rustix::net::shutdown(to, Shutdown::Write)?;
    if written == text.len() { Ok(()) } else { Err(Errno::FBIG) }
}

/// A text in memory, to be read from its beginning.
fn memory(text: &[u8]) -> Result<OwnedFd, Errno> {
    let made = rustix::fs::memfd_create(c"ringfence", MemfdFlags::CLOEXEC)?;
    let mut rest = text;
    while !rest.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(&made, rest))?;
        rest = &rest[written..];
    }
    rustix::fs::seek(&made, SeekFrom::Start(0))?;
    Ok(made)
}

/// The object that was judged, and not one that was put in its place since.
fn view(path: &Path, id: (u64, u64)) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    if (found.st_dev, found.st_ino) == id { Ok(opened) } else { Err(Errno::STALE) }
}

/// A filter as bubblewrap reads it: as the kernel has it in memory.
fn bytes(filter: &[Instruction]) -> Vec<u8> {
    let each = filter.iter().flat_map(|it| {
        let (code, k) = (it.code.to_ne_bytes(), it.k.to_ne_bytes());
        [code[0], code[1], it.jt, it.jf, k[0], k[1], k[2], k[3]]
    });
    each.collect()
}

impl Ours {
    /// The first thing it says, if it says anything before it ends.
    pub(super) fn first_word(&self) -> Option<String> {
        let mut told = self.told.borrow_mut();
        while !told.contains(&b'\n') && told.len() < MOST {
            self.read_more(&mut told)?;
        }
        let end = told.iter().position(|byte| *byte == b'\n')?;
        Some(String::from_utf8_lossy(&told.drain(..=end).collect::<Vec<_>>()).into_owned())
    }

    /// Everything else that it has said. To be asked when it has ended.
    pub(super) fn rest(&self) -> String {
        let mut told = self.told.borrow_mut();
        while told.len() < MOST && self.read_more(&mut told).is_some() {}
        String::from_utf8_lossy(&told).into_owned()
    }

    fn read_more(&self, told: &mut Vec<u8>) -> Option<()> {
        let mut space = [0; 512];
        let count = rustix::io::retry_on_intr(|| rustix::io::read(&self.status, &mut space)).ok()?;
        told.extend(&space[..count]);
        (count > 0).then_some(())
    }

    /// Until the last text was read and nobody has the other side any more.
    pub(super) fn wait_until_mounted(&self) {
        // Nothing comes but the end; an error is one as well, and what it means is seen by whether anybody is left.
        let _end = rustix::io::retry_on_intr(|| rustix::io::read(self.mounted.as_fd(), &mut [0]));
    }
}

/// More than it has any reason to say.
const MOST: usize = 64 << 10;
