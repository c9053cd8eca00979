//! The socket between a supervisor and its init process: scripts and descriptors one way, reports the other.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::ops;
use super::report::Report;
use super::script::Script;

/// The supervisor's end.
pub(crate) struct ControlChannel(OwnedFd);

impl ControlChannel {
    /// Makes both ends. The second is for init.
    pub(crate) fn new() -> Result<(Self, OwnedFd), Errno> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok((Self(ours), theirs))
    }

    /// Readable when there is a report, or no process left to make one.
    pub(crate) fn readable(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Has a script run, with descriptors for it. An init process that does not take it has ended, and has said why.
    pub(crate) fn run(&self, script: &Script, handles: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        if handles.len() >= ops::MOST_HANDLES {
            return Err(Errno::TOOBIG);
        }
        let file = script.file()?;
        let mut rest = handles;
        while rest.len() >= ops::HANDLES_AT_ONCE {
            let (some, others) = rest.split_at(ops::HANDLES_AT_ONCE);
            self.send(ops::MORE, some)?;
            rest = others;
        }
        let last: Vec<_> = rest.iter().copied().chain([file.as_fd()]).collect();
        self.send(ops::RUN, &last)
    }

    /// Lets the command start that waits for its release.
    pub(crate) fn release(&self) -> Result<(), Errno> {
        self.send(ops::RELEASE, &[])
    }

    fn send(&self, kind: u8, handles: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut space = vec![MaybeUninit::uninit(); SendAncillaryMessage::ScmRights(handles).size()];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !handles.is_empty() && !control.push(SendAncillaryMessage::ScmRights(handles)) {
            return Err(Errno::NOBUFS);
        }
        let text = [kind];
        let text = [rustix::io::IoSlice::new(&text)];
        match rustix::net::sendmsg(&self.0, &text, &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
            sent => sent.map(drop),
        }
    }

    /// Waits for the next report and the descriptors that come with it; `None` when no process is left to report.
    pub(crate) fn receive(&self) -> Result<Option<(Report, Vec<OwnedFd>)>, Errno> {
        self.receive_with(RecvFlags::empty())
    }

    /// The next report, if there is one already.
    pub(crate) fn poll(&self) -> Option<Report> {
        self.receive_with(RecvFlags::DONTWAIT).ok().flatten().map(|(report, _)| report)
    }

    fn receive_with(&self, flags: RecvFlags) -> Result<Option<(Report, Vec<OwnedFd>)>, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(ops::HANDLES_AT_ONCE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0_u8; 8];
        let mut receive = || {
            let mut text = [rustix::io::IoSliceMut::new(&mut bytes)];
            rustix::net::recvmsg(&self.0, &mut text, &mut control, flags | RecvFlags::CMSG_CLOEXEC)
        };
        let received = loop {
            match receive() {
                // A peer that ended with messages unread resets the connection. That is told once, and before what it
                // had said: its last reports are still queued.
                Err(Errno::INTR | Errno::CONNRESET) => {}
                received => break received?,
            }
        };
        if received.bytes == 0 {
            return Ok(None);
        }
        let handles = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(handles) => Some(handles.collect::<Vec<_>>()),
            _ => None,
        });
        let handles = handles.flatten().collect();
        Report::read(bytes).map(|report| Some((report, handles))).ok_or(Errno::PROTO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a reset connection comes before the reports that the peer had sent.
    #[test]
    fn the_last_report_of_a_peer_that_left_messages_unread_is_read() {
        let (ours, theirs) = ControlChannel::new().unwrap();
        ours.release().unwrap();
        rustix::io::write(&theirs, &[ops::CHANGED, 0, 0, 0, 7, 0, 0, 0]).unwrap();
        drop(theirs);
        let report = ours.receive().unwrap().map(|(report, _)| report);
        assert_eq!(report, Some(Report::Changed(7)));
        assert!(ours.receive().unwrap().is_none());
        ours.release().unwrap();
    }
}
