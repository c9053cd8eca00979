//! A process that removes what would be left behind if this one were killed.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, WaitOptions};

use super::calls::clone::{Stack, spawn_in_our_memory};
use super::calls::confine::{self, Words, handle};

/// Lives until we end, however that happens, and then removes directories.
pub(super) struct Sweeper {
    pid: Pid,
    lifeline: Option<OwnedFd>,
    /// What the process shares with us until it has executed its program; dropped after it has ended.
    _shared: (Box<Sweeping>, Stack),
}

/// What the new process is given.
struct Sweeping {
    input: RawFd,
    image: RawFd,
    words: Words,
}

impl Sweeper {
    /// Starts one for these directories; without any there is nothing to do.
    ///
    /// If it cannot be started, what is left is found by whoever starts the next jail.
    pub(super) fn start(directories: &[CString]) -> Option<Self> {
        if directories.is_empty() { None } else { Self::spawn(directories).ok() }
    }

    /// Tells it that nothing is left to be removed. It ends while we go on.
    pub(super) fn dismissed(mut self) -> Self {
        self.lifeline = None;
        self
    }

    fn spawn(directories: &[CString]) -> Result<Self, Errno> {
        let (input, lifeline) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let image = rustix::fs::memfd_create(c"ringfence", MemfdFlags::CLOEXEC)?;
        rustix::io::write(&image, &super::init::image())?;
        let words = [c"ringfence".to_owned()].into_iter().chain(directories.iter().cloned());
        let words = Words::new(words.collect());
        let sweeping = Box::new(Sweeping { input: input.as_raw_fd(), image: image.as_raw_fd(), words });
        let mut stack = Stack::new();
        // SAFETY: the stack and `sweeping` are kept with the process until it has ended, and nobody changes them; `sweep` makes
        // system calls only. Its descriptors are a copy, so that ours may be closed.
        let pid = unsafe { spawn_in_our_memory(0, stack.top(), sweep, &*sweeping) };
        Ok(Self { pid: pid?, lifeline: Some(lifeline), _shared: (sweeping, stack) })
    }
}

extern "C" fn sweep(sweeping: &Sweeping) -> ! {
    let ready = confine::duplicate(handle(sweeping.input), 0);
    (1..3).for_each(confine::close);
    if ready.and_then(|()| confine::close_on_exec_from(1)).is_ok() {
        let _not_executed = confine::execute_handle(handle(sweeping.image).as_fd(), &sweeping.words);
    }
    confine::end(1)
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        // The end of its input is its cue; by now there is nothing left to remove.
        drop(self.lifeline.take());
        let _reaped =
            rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(self.pid), WaitOptions::empty()));
    }
}
