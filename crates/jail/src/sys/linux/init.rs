//! The supervisor's side of an init process: see `init/main.rs` for what it does.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;

use super::calls::Used;
use super::calls::spawn::{Process, Program};
use super::cell::Cell;
use super::control_channel::ControlChannel;
use super::memory_file;
use super::native::Broken;
use super::report::{Part, Report};
use super::script::Script;

/// The program, as `build.rs` compiles it.
const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/init"));

/// The program as a file that can be executed: sealed, and therefore the same for every init process of this one.
fn image() -> Result<&'static OwnedFd, Errno> {
    static IMAGE_FILE: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(image) = IMAGE_FILE.get() {
        return Ok(image);
    }
    let made = memory_file::program(IMAGE)?;
    Ok(IMAGE_FILE.get_or_init(|| made))
}

/// An init process. Ended when dropped.
pub(super) struct Init {
    process: Process,
    channel: ControlChannel,
    /// What it was told to do, to explain what failed.
    scripts: Vec<Script>,
}

impl Init {
    /// Starts one as the first process of new namespaces (`CLONE_NEW*`), or of none.
    pub(super) fn start(namespaces: i32) -> Result<Self, Broken> {
        let (channel, theirs) = ControlChannel::new().map_err(Broken::NoProcess)?;
        let ourselves = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
        let ourselves = ourselves.map_err(Broken::NoProcess)?;
        let image = image().map_err(|errno| Broken::Part(Part::Init, None, errno))?;
        // The third only keeps its number from being given to something else.
        let descriptors = [theirs.as_fd(), ourselves.as_fd(), ourselves.as_fd()];
        let process = Process::start(&Program { image: image.as_fd(), namespaces, descriptors });
        Ok(Self { process: process.map_err(Broken::NoProcess)?, channel, scripts: Vec::new() })
    }

    /// See [`Process::run_elsewhere`].
    pub(super) fn run_elsewhere(&self, processors: &CpuSet) {
        self.process.run_elsewhere(processors);
    }

    /// A script that comes after those that were run.
    pub(super) fn script(&self) -> Script {
        Script::new(self.scripts.len() as u64)
    }

    /// Has a script run, with descriptors for it.
    pub(super) fn run(&mut self, script: Script, handles: &[BorrowedFd<'_>]) -> Result<(), Broken> {
        let views = |errno| (errno == Errno::TOOBIG).then(|| "be given all its views".to_owned());
        let broken = |errno| Broken::Part(Part::Leave, views(errno), errno);
        self.channel.run(&script, handles).map_err(broken)?;
        self.scripts.push(script);
        Ok(())
    }

    pub(super) const fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Readable when it has ended.
    pub(super) const fn end(&self) -> &OwnedFd {
        self.process.handle()
    }

    pub(super) fn kill(&self) {
        self.process.signal(Signal::KILL);
    }

    pub(super) fn reap(&mut self) -> Option<Used> {
        self.process.reap()
    }

    /// Waits for the next report; `None` at the end of the channel. What failed is an error.
    ///
    /// The end of the process counts as well: another process that has a copy of the other side of the channel, such as one
    /// that another thread is just starting, would keep its end from being seen.
    fn next_report(&self) -> Result<Option<(Report, Vec<OwnedFd>)>, Broken> {
        use rustix::event::{PollFd, PollFlags, poll};
        let broken = |errno| Broken::Part(Part::Report, None, errno);
        let channel = self.channel.readable();
        let mut fds = [PollFd::new(&channel, PollFlags::IN), PollFd::new(self.end(), PollFlags::IN)];
        rustix::io::retry_on_intr(|| poll(&mut fds, None)).map_err(broken)?;
        if fds[0].revents().is_empty() {
            return self
                .process
                .failure()
                .map_or(Ok(None), |errno| Err(Broken::Part(Part::Init, None, errno)));
        }
        match self.channel.receive().map_err(broken)? {
            None if self.process.failure().is_some() => {
                Err(Broken::Part(Part::Init, None, self.process.failure().unwrap_or(Errno::IO)))
            }
            Some((Report::Failed { script, operation, errno }, _)) => {
                let script = self.scripts.get(usize::from(script));
                let part = script.map_or(Part::Init, |script| script.part_of(operation));
                Err(Broken::Part(part, None, errno.unwrap_or_else(|| part.errno_of_success())))
            }
            report => Ok(report),
        }
    }

    /// Waits until the command could start. Returns what was handed over, and what came with the last report.
    pub(super) fn wait_until_ready(&self) -> Result<(Vec<OwnedFd>, Option<OwnedFd>), Broken> {
        let mut handed = Vec::new();
        loop {
            match self.next_report()? {
                Some((Report::Handed, handles)) => handed = handles,
                Some((Report::Ready, handles)) => return Ok((handed, handles.into_iter().next())),
                _ => return Err(Broken::Silent),
            }
        }
    }

    /// Waits until it has executed something else. Returns what it handed over before.
    pub(super) fn wait_until_replaced(&self) -> Result<Vec<OwnedFd>, Broken> {
        let mut handed = Vec::new();
        loop {
            match self.next_report()? {
                Some((Report::Handed, handles)) => handed = handles,
                None => return Ok(handed),
                Some(_) => return Err(Broken::Silent),
            }
        }
    }
}

/// How everything in a jail is ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The first process of a namespace is killed, and the kernel ends everything else in it.
    Kill,
    /// A subreaper is asked to end everything below it.
    Ask,
}

/// The processes of a jail: init, and below it a command.
pub(super) struct Jail {
    pub(super) init: Init,
    pub(super) ending: Ending,
    /// The process of the command.
    pub(super) command: OwnedFd,
    /// The root directory, and with it the jail's private space, if it is the jail's alone.
    pub(super) root: Option<OwnedFd>,
    /// Kept for as long as the jail lives.
    #[expect(dead_code, reason = "held, not read")]
    pub(super) kept: Box<dyn std::any::Any>,
}

impl Cell for Jail {
    fn end(&self) -> BorrowedFd<'_> {
        self.init.process.handle().as_fd()
    }

    fn status(&self) -> BorrowedFd<'_> {
        self.init.channel.readable()
    }

    fn news(&self) -> Option<i32> {
        while let Some(report) = self.init.channel.poll() {
            if let Report::Changed(status) = report {
                return Some(status);
            }
        }
        None
    }

    fn command(&self) -> BorrowedFd<'_> {
        self.command.as_fd()
    }

    fn private_space(&self) -> Option<BorrowedFd<'_>> {
        self.root.as_ref().map(std::os::fd::AsFd::as_fd)
    }

    fn go(&self) -> Result<Result<(), Errno>, Broken> {
        self.init.channel.leave().map_err(|errno| Broken::Part(Part::Leave, None, errno))?;
        match self.init.next_report()? {
            Some((Report::Started, _)) => Ok(Ok(())),
            Some((Report::NotStarted(errno), _)) => Ok(Err(errno)),
            _ => Err(Broken::Silent),
        }
    }

    fn kill(&self) {
        match self.ending {
            Ending::Kill => self.init.process.signal(Signal::KILL),
            Ending::Ask => {
                self.init.process.signal(Signal::TERM);
                self.init.process.signal(Signal::CONT);
                // While the command waits for leave, the subreaper sleeps until it has ended.
                let _ended = rustix::process::pidfd_send_signal(&self.command, Signal::KILL);
            }
        }
    }

    fn reap(&mut self) -> Option<Used> {
        self.init.process.reap()
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        // Killing a subreaper would leave everything below it.
        if self.ending == Ending::Ask && !self.init.process.is_reaped() {
            self.kill();
            self.init.process.reap();
        }
    }
}
