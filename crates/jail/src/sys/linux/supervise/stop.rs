//! A word from another thread: the command shall end.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::sys::linux::calls;

/// Ends a command from another thread. The supervisor has one, too, and waits for it to become readable.
#[derive(Clone)]
pub(crate) struct Stop(Arc<OwnedFd>);

impl Stop {
    pub(crate) fn make() -> Result<Self, Errno> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(|handle| Self(Arc::new(handle)))
    }

    pub(crate) fn ask(&self) {
        // Fails only when it was asked more often than can be counted, and was asked thereby.
        let _asked = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    pub(crate) fn is_asked(&self) -> bool {
        calls::is_ready(self.0.as_fd())
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
