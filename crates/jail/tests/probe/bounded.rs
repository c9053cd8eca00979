//! A process that does not answer properly is no answer, and does not stay.

use std::io::pipe;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use ringfence_jail::probe::{Unmeasured, namespaces};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};

use super::role::{LIMIT, Role};

/// For processes that are to be killed: whether they have come far by then does not matter.
const SHORT: Duration = Duration::from_millis(50);

pub(crate) fn answers_that_do_not_count() {
    let exit = |code: i32| Unmeasured::Ended(ExitStatus::from_raw(code << 8));
    let rows = [
        (Role::Hang, SHORT, Unmeasured::TimedOut),
        (Role::Close, SHORT, Unmeasured::TimedOut),
        (Role::Linger, SHORT, Unmeasured::TimedOut),
        (Role::Flood, LIMIT, Unmeasured::TooMuch),
        (Role::Babble, LIMIT, Unmeasured::Malformed),
        (Role::Fail, LIMIT, exit(3)),
    ];
    for (role, limit, expected) in rows {
        assert_eq!(namespaces(role.command(), limit), Err(expected), "{role:?}");
    }
    let missing = namespaces(Command::new("/nonexistent"), LIMIT);
    assert!(matches!(missing, Err(Unmeasured::NotStarted(errno)) if errno.name() == Some("ENOENT")));
}

/// Every process started inherits one end of a pipe. The other end sees the last of them go.
pub(crate) fn nothing_is_left_behind() {
    for role in [Role::Hang, Role::Close, Role::Linger, Role::Flood, Role::Namespaces] {
        let (ours, theirs) = pipe().unwrap();
        fcntl_setfd(&theirs, FdFlags::empty()).unwrap();
        let answer = namespaces(role.command(), Duration::from_millis(300));
        drop(theirs);
        let patience = Timespec::try_from(LIMIT).unwrap();
        let gone = poll(&mut [PollFd::new(&ours.as_fd(), PollFlags::IN)], Some(&patience));
        assert_eq!(gone, Ok(1), "{role:?} left a process behind: {answer:?}");
    }
}

pub(crate) fn works_without_process_handles() {
    assert_eq!(Role::NoHandles.say(), "Err(Malformed)\nErr(TimedOut)\n");
}
