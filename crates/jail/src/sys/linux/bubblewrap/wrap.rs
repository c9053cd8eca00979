//! The process that becomes bubblewrap.
//!
//! **Invariant.** As in `child`: it shares the supervisor's memory until it executes something, so that nothing here allocates,
//! panics, or uses the C library.

use std::os::fd::{AsFd, RawFd};

use rustix::io::FdFlags;

use crate::sys::linux::calls::confine::{self, Words, handle};
use crate::sys::linux::child::{At, Tried, join, open_terminal, send, streams, tell};
use crate::sys::linux::report::{Part, Report};

/// What it is given.
pub(super) struct Wrapping {
    pub(super) report: RawFd,
    pub(super) program: RawFd,
    pub(super) words: Words,
    /// The descriptors that bubblewrap is told about.
    pub(super) passed: Vec<RawFd>,
    pub(super) cgroups: Vec<RawFd>,
    /// Resource, soft limit, hard limit.
    pub(super) limits: Vec<(u32, u64, u64)>,
    /// The standard streams; `None` is a terminal of the jail's own.
    pub(super) streams: [Option<RawFd>; 3],
    /// The signals that waited before we made all of them wait.
    pub(super) mask: u64,
}

pub(super) extern "C" fn wrap(wrapping: &Wrapping) -> ! {
    let errno =
        prepare(wrapping).map(|()| confine::execute_handle(handle(wrapping.program), &wrapping.words));
    let (part, errno) = errno.map_or_else(|failed| failed, |errno| (Part::Command, errno));
    tell(handle(wrapping.report), Report::Failed(part, errno));
    confine::end(1)
}

fn prepare(wrapping: &Wrapping) -> Tried<()> {
    confine::die_with_parent().at(Part::Lifeline)?;
    wrapping.cgroups.iter().try_for_each(|entrance| join(*entrance)).at(Part::Cgroup)?;
    if wrapping.streams.contains(&None) {
        let (master, slave) = open_terminal()?;
        send(handle(wrapping.report), Report::Handles, &[master.as_fd()]).at(Part::Report)?;
        streams(&wrapping.streams, Some(slave.as_fd())).at(Part::Streams)?;
    } else {
        rustix::process::setsid().at(Part::Session)?;
        streams(&wrapping.streams, None).at(Part::Streams)?;
    }
    let mut passed = wrapping.passed.iter();
    passed.try_for_each(|fd| rustix::io::fcntl_setfd(handle(*fd), FdFlags::empty())).at(Part::Streams)?;
    let mut limits = wrapping.limits.iter();
    limits.try_for_each(|(what, soft, hard)| confine::limit(*what, *soft, *hard)).at(Part::Limits)?;
    confine::reset_signals().and_then(|()| confine::block_signals(wrapping.mask).map(drop)).at(Part::Command)
}
