//! What leads from a supervisor to the processes of its jail, and back.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
};
use rustix::pipe::PipeFlags;

use super::child::HANDLES;
use super::native::Broken;
use super::report::{Part, Report};

/// The supervisor's ends.
pub(super) struct Ours {
    pub(super) report: OwnedFd,
    gate: OwnedFd,
    /// Where the wait status of the command comes from.
    pub(super) status: OwnedFd,
}

/// The processes' ends. They have copies: once these are closed, the end of theirs is the processes' end.
pub(super) struct Theirs {
    pub(super) report: OwnedFd,
    pub(super) gate: OwnedFd,
    pub(super) status: OwnedFd,
}

/// Makes both.
pub(super) fn wire() -> Result<(Ours, Theirs), Errno> {
    let (our_report, report) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let ((gate, our_gate), (our_status, status)) = (pipe()?, pipe()?);
    let ours = Ours { report: our_report, gate: our_gate, status: our_status };
    Ok((ours, Theirs { report, gate, status }))
}

/// The ends of a pipe: to read from, and to write to.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
}

impl Ours {
    /// Lets whoever waits at the gate go on.
    pub(super) fn leave(&self) -> Result<(), Broken> {
        leave(&self.gate)
    }

    /// The next report and what came with it; `None` when nobody is left to report.
    pub(super) fn receive(&self) -> Result<Option<(Report, Vec<OwnedFd>)>, Broken> {
        receive(&self.report)
    }

    /// Lets the command go. Comes back when it runs, or with the reason why it could not be executed.
    pub(super) fn go(&self) -> Result<Result<(), Errno>, Broken> {
        self.leave()?;
        match self.receive()? {
            // Everybody has executed something, and shares our memory no more.
            None => Ok(Ok(())),
            Some((Report::NotStarted(errno), _)) => Ok(Err(errno)),
            Some((Report::Failed(part, errno), _)) => Err(Broken::Part(part, None, errno)),
            Some(_) => Err(Broken::Silent),
        }
    }
}

/// Lets whoever waits at a gate go on.
pub(super) fn leave(gate: &OwnedFd) -> Result<(), Broken> {
    rustix::io::write(gate, b"!").map(drop).map_err(|errno| Broken::Part(Part::Leave, None, errno))
}

/// The next report and what came with it; `None` when nobody is left to report.
pub(super) fn receive(from: &OwnedFd) -> Result<Option<(Report, Vec<OwnedFd>)>, Broken> {
    let broken = |errno| Broken::Part(Part::Report, None, errno);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0_u8; 8];
    let mut text = [rustix::io::IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| rustix::net::recvmsg(from, &mut text, &mut control, flags));
    if received.map_err(broken)?.bytes == 0 {
        return Ok(None);
    }
    let handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles.collect::<Vec<_>>()),
        _ => None,
    });
    let handles = handles.flatten().collect();
    let report = Report::read(bytes).ok_or(broken(Errno::PROTO))?;
    Ok(Some((report, handles)))
}
