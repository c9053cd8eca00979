//! The processes of a jail as the supervisor uses them, the same for every provider.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use super::native::SetupError;
use crate::sys::linux::calls::ResourceUsage;

/// The processes of a jail. Ends them when dropped.
pub(crate) trait ProcessTree {
    /// Readable when the last process of the jail is gone.
    fn end(&self) -> BorrowedFd<'_>;

    /// Readable when there is news of the command.
    fn status(&self) -> BorrowedFd<'_>;

    /// The next wait status of the command, if there is news.
    fn news(&self) -> Option<i32>;

    /// The wait status of the command, where only the end of everything tells it.
    fn last_word(&self, _: Option<&ResourceUsage>) -> Option<i32> {
        None
    }

    /// Returns the process that gets the command's signals.
    fn command(&self) -> BorrowedFd<'_>;

    /// The file system that holds everything private, if it is the jail's alone.
    fn private_space(&self) -> Option<BorrowedFd<'_>>;

    /// Lets the command go. Comes back when it runs, or with the reason why it could not be executed.
    fn go(&self) -> Result<Result<(), Errno>, SetupError>;

    /// Ends everything in the jail.
    fn kill(&self);

    /// Waits for everything to be gone. Returns what all of it used; `None` where the kernel did not keep that for us.
    fn reap(&mut self) -> Option<ResourceUsage>;
}
