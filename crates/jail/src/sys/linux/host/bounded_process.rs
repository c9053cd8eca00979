//! A process that gets a limited time for a short answer, and leaves nothing behind.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as Raw;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::host::probe::{Errno, Unmeasured};

/// Returns what `command` writes to standard output, if it ends well within `limit`.
///
/// Its environment is empty and its working directory the root. All that it started in its process group is gone when this returns.
pub(crate) fn run_bounded(mut command: Command, limit: Duration) -> Result<Vec<u8>, Unmeasured> {
    let deadline = Instant::now() + limit;
    command.env_clear().current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| Unmeasured::NotStarted(Errno::from(&error)))?;
    let answer = listen(&mut child, deadline);
    let status = end(child)?;
    answer.and_then(|answer| if status.success() { Ok(answer) } else { Err(Unmeasured::Ended(status)) })
}

/// Reads until no process can write any more and the child has ended.
fn listen(child: &mut Child, deadline: Instant) -> Result<Vec<u8>, Unmeasured> {
    let answer = child.stdout.take().map_or(Ok(Vec::new()), |output| read_all(output, deadline))?;
    // Kernels before 5.3 and some filters have no such handle; there the end of the output has to do.
    if let Ok(process) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) {
        wait_until_ready(&process, deadline)?;
    }
    Ok(answer)
}

fn read_all(mut output: ChildStdout, deadline: Instant) -> Result<Vec<u8>, Unmeasured> {
    let mut answer = Vec::new();
    let mut buffer = [0; MOST];
    loop {
        wait_until_ready(&output, deadline)?;
        let count = output.read(&mut buffer).map_err(|error| Unmeasured::NotFollowed(Errno::from(&error)))?;
        answer.extend_from_slice(&buffer[..count]);
        match count {
            0 => return Ok(answer),
            _ if answer.len() > MOST => return Err(Unmeasured::TooMuch),
            _ => {}
        }
    }
}

/// Sleeps in the kernel until `source` can be read without blocking.
fn wait_until_ready(source: &impl AsFd, deadline: Instant) -> Result<(), Unmeasured> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| Unmeasured::NotFollowed(Raw::INVAL.into()))?;
        match poll(&mut [PollFd::new(source, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(Unmeasured::TimedOut),
            Ok(_) => return Ok(()),
            Err(Raw::INTR) => {}
            Err(errno) => return Err(Unmeasured::NotFollowed(errno.into())),
        }
    }
}

/// Kills what is left of the child's group, then reaps the child. In this order: until it is reaped, no other group can
/// get its number.
fn end(mut child: Child) -> Result<ExitStatus, Unmeasured> {
    match kill_process_group(Pid::from_child(&child), Signal::KILL) {
        Ok(()) | Err(Raw::SRCH) => {}
        // Waiting for a process that we cannot end could take for ever.
        Err(errno) => return Err(Unmeasured::NotFollowed(errno.into())),
    }
    child.wait().map_err(|error| Unmeasured::NotFollowed(Errno::from(&error)))
}

/// The longest answer we care for, in bytes.
const MOST: usize = 4096;
