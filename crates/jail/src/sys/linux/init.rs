//! The supervisor's side of an init process: starts the program, sends it scripts, and reads its reports.
//!
//! `init/main.rs` at the top of the crate is the program itself.

pub(crate) mod control_channel;
#[expect(dead_code, reason = "init uses the rest")]
#[path = "../../../init/ops.rs"]
pub(crate) mod ops;
pub(crate) mod report;
pub(crate) mod script;

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CpuSet;

use super::calls::ResourceUsage;
use super::calls::spawn::{Process, Program};
use super::memory_file;
use super::provider::native::SetupError;
use super::provider::process_tree::ProcessTree;
use control_channel::ControlChannel;
use report::{Report, SetupStep};
use script::Script;

/// The program, as `build.rs` compiles it.
const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/init"));

/// The program as a file that can be executed: sealed, and therefore the same for every init process of this one.
fn image() -> Result<&'static OwnedFd, Errno> {
    static IMAGE_FILE: OnceLock<OwnedFd> = OnceLock::new();
    static MAKING: Mutex<()> = Mutex::new(());
    // One at a time: a file that another thread still has open for writing cannot be executed.
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(image) = IMAGE_FILE.get() {
        return Ok(image);
    }
    let made = memory_file::program(IMAGE)?;
    Ok(IMAGE_FILE.get_or_init(|| made))
}

/// An init process. Ended when dropped.
pub(crate) struct Init {
    process: Process,
    channel: ControlChannel,
    /// Scripts that it was told to run, to explain what failed.
    scripts: Vec<Script>,
}

impl Init {
    /// Starts one as the first process of new namespaces (`CLONE_NEW*`), or of none.
    pub(crate) fn start(namespaces: i32) -> Result<Self, SetupError> {
        let (channel, theirs) = ControlChannel::new().map_err(SetupError::NoProcess)?;
        let ourselves = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
        let ourselves = ourselves.map_err(SetupError::NoProcess)?;
        let image = image().map_err(|errno| SetupError::Step(SetupStep::Init, None, errno))?;
        // The third only keeps its number from being given to something else.
        let descriptors = [theirs.as_fd(), ourselves.as_fd(), ourselves.as_fd()];
        let process = Process::start(&Program { image: image.as_fd(), namespaces, descriptors });
        Ok(Self { process: process.map_err(SetupError::NoProcess)?, channel, scripts: Vec::new() })
    }

    /// See [`Process::run_elsewhere`].
    pub(crate) fn run_elsewhere(&self, processors: &CpuSet) {
        self.process.run_elsewhere(processors);
    }

    /// A script that comes after those that were run.
    pub(crate) fn script(&self) -> Script {
        Script::new(self.scripts.len() as u64)
    }

    /// Has a script run, with descriptors for it.
    pub(crate) fn run(&mut self, script: Script, handles: &[BorrowedFd<'_>]) -> Result<(), SetupError> {
        let views = |errno| (errno == Errno::TOOBIG).then(|| "be given all its views".to_owned());
        let broken = |errno| SetupError::Step(SetupStep::Leave, views(errno), errno);
        self.channel.run(&script, handles).map_err(broken)?;
        self.scripts.push(script);
        Ok(())
    }

    pub(crate) const fn pid(&self) -> Pid {
        self.process.pid()
    }

    /// Readable when it has ended.
    pub(crate) const fn end(&self) -> &OwnedFd {
        self.process.handle()
    }

    pub(crate) fn kill(&self) {
        self.process.signal(Signal::KILL);
    }

    pub(crate) fn reap(&mut self) -> Option<ResourceUsage> {
        self.process.reap()
    }

    /// Waits for the next report; `None` at the end of the channel. What failed is an error.
    ///
    /// The end of the process counts as well: another process that has a copy of the other side of the channel, such as one
    /// that another thread is just starting, would keep its end from being seen.
    fn next_report(&self) -> Result<Option<(Report, Vec<OwnedFd>)>, SetupError> {
        use rustix::event::{PollFd, PollFlags, poll};
        let broken = |errno| SetupError::Step(SetupStep::Report, None, errno);
        let channel = self.channel.readable();
        let mut fds = [PollFd::new(&channel, PollFlags::IN), PollFd::new(self.end(), PollFlags::IN)];
        rustix::io::retry_on_intr(|| poll(&mut fds, None)).map_err(broken)?;
        let received =
            if fds[0].revents().is_empty() { None } else { self.channel.receive().map_err(broken)? };
        match received {
            None => {
                let failed = |errno| Err(SetupError::Step(SetupStep::Init, None, errno));
                self.process.failure().map_or(Ok(None), failed)
            }
            Some((Report::Failed { script, operation, errno }, _)) => {
                let script = self.scripts.get(usize::from(script));
                let part = script.map_or(SetupStep::Init, |script| script.step_of(operation));
                Err(SetupError::Step(part, None, errno.unwrap_or_else(|| part.errno_of_success())))
            }
            report => Ok(report),
        }
    }

    /// Waits until the command could start. Returns what was handed over, and what came with the last report.
    pub(crate) fn wait_until_ready(&self) -> Result<(Vec<OwnedFd>, Option<OwnedFd>), SetupError> {
        let mut handed = Vec::new();
        loop {
            match self.next_report()? {
                Some((Report::Handed, handles)) => handed = handles,
                Some((Report::Ready, handles)) => return Ok((handed, handles.into_iter().next())),
                _ => return Err(SetupError::Silent),
            }
        }
    }

    /// Waits until it has executed something else. Returns what it handed over before.
    pub(crate) fn wait_until_replaced(&self) -> Result<Vec<OwnedFd>, SetupError> {
        let mut handed = Vec::new();
        loop {
            match self.next_report()? {
                Some((Report::Handed, handles)) => handed = handles,
                None => return Ok(handed),
                Some(_) => return Err(SetupError::Silent),
            }
        }
    }
}

/// Means by which everything in a jail is ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The first process of a namespace is killed, and the kernel ends everything else in it.
    Kill,
    /// A subreaper is asked to end everything below it.
    Ask,
}

/// The processes of a jail: init, and below it a command.
pub(crate) struct Jail {
    pub(crate) init: Init,
    pub(crate) ending: Ending,
    /// The process of the command.
    pub(crate) command: OwnedFd,
    /// The root directory, and with it the jail's private space, if it is the jail's alone.
    pub(crate) root: Option<OwnedFd>,
    /// Kept for as long as the jail lives.
    #[expect(dead_code, reason = "held, not read")]
    pub(crate) kept: Box<dyn std::any::Any>,
}

impl ProcessTree for Jail {
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

    fn go(&self) -> Result<Result<(), Errno>, SetupError> {
        self.init.channel.release().map_err(|errno| SetupError::Step(SetupStep::Leave, None, errno))?;
        match self.init.next_report()? {
            Some((Report::Started, _)) => Ok(Ok(())),
            Some((Report::NotStarted(errno), _)) => Ok(Err(errno)),
            _ => Err(SetupError::Silent),
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

    fn reap(&mut self) -> Option<ResourceUsage> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd as _;
    use std::path::PathBuf;

    use super::*;
    use crate::sys::linux::init::ops;
    use crate::sys::linux::init::script::{Register, arguments};
    use crate::sys::linux::limits::cgroups::tests::skip::skipped;

    const COMMAND: Register = Register(8);
    const NOT_IN_CGROUP: Register = Register(9);

    /// A group of the unified hierarchy, removed with everything in it gone.
    struct Group(PathBuf);

    impl Group {
        fn new() -> Option<Self> {
            let mounts = fs::read_to_string("/proc/mounts").unwrap();
            let unified = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"))?;
            let path =
                PathBuf::from(unified.split(' ').nth(1)?).join(format!("rf-test-{}", std::process::id()));
            fs::create_dir(&path).ok()?;
            Some(Self(path))
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            let _removed = fs::remove_dir(&self.0);
        }
    }

    /// A script that spawns a process, in a group if there is one, which hands itself over and waits.
    fn spawning(init: &Init, into: Option<Register>, program: &std::ffi::CStr) -> Script {
        let mut script = init.script();
        script.add(ops::SPAWN, arguments![0, into.map_or(0, |into| into.0), NOT_IN_CGROUP.0]).into(COMMAND);
        let none = script.words(&[0]);
        script.add(ops::SEND, arguments![u64::from(ops::STARTED), none, 0]);
        script.add(ops::REAP, arguments![COMMAND.0]);
        script.begin_spawned();
        let list = script.bytes(&COMMAND.0.to_ne_bytes());
        script.call(libc::SYS_getpid, []).into(COMMAND);
        script.call(libc::SYS_pidfd_open, arguments![COMMAND, 0]).into(COMMAND);
        script.add(ops::SEND, arguments![u64::from(ops::HANDED), list, 1]);
        script.add(ops::WAIT, []);
        let (programs, none) = (script.texts(&[program.to_owned()]), script.words(&[0]));
        script.add(ops::START, arguments![programs, programs, none]);
        script
    }

    fn cgroup_of(process: &OwnedFd) -> String {
        let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd())).unwrap();
        let pid = told.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap().trim().to_owned();
        fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap()
    }

    fn report(init: &Init) -> Option<(Report, Vec<OwnedFd>)> {
        init.next_report().unwrap()
    }

    #[test]
    fn a_command_is_started_in_its_cgroup() {
        let Some(group) = Group::new() else {
            return skipped("a process started in a cgroup", "no unified hierarchy, or it is not ours");
        };
        let mut init = Init::start(0).unwrap();
        let script = spawning(&init, Some(Register::handle(0)), c"/bin/true");
        let handle = OwnedFd::from(fs::File::open(&group.0).unwrap());
        init.run(script, &[handle.as_fd()]).unwrap();
        let (handed, handles) = report(&init).unwrap();
        assert_eq!(handed, Report::Handed);
        let name = group.0.file_name().unwrap().to_str().unwrap();
        assert!(cgroup_of(&handles[0]).lines().any(|line| line.starts_with("0::") && line.ends_with(name)));
        assert!(!fs::read_to_string(format!("/proc/{}/cgroup", init.pid())).unwrap().contains(name));
        init.channel.release().unwrap();
        assert_eq!(report(&init).unwrap().0, Report::Started);
        assert_eq!(report(&init).unwrap().0, Report::Changed(0));
        assert_eq!(init.reap().unwrap().status, 0);
    }

    /// A failure in the spawned process is told with its place, and init ends.
    #[test]
    fn what_cannot_be_executed_is_told() {
        let mut init = Init::start(0).unwrap();
        let script = spawning(&init, None, c"/no/such/program");
        init.run(script, &[]).unwrap();
        assert_eq!(report(&init).unwrap().0, Report::Handed);
        init.channel.release().unwrap();
        assert_eq!(report(&init).unwrap().0, Report::NotStarted(Errno::NOENT));
        assert!(report(&init).is_none());
    }

    #[test]
    fn a_call_that_fails_is_told_by_its_place() {
        type Row = (fn(&mut Script), SetupStep, Errno);
        let fails: fn(&mut Script) = |script| {
            script.call(libc::SYS_close, arguments![999]);
        };
        let must_fail: fn(&mut Script) = |script| {
            script.refused(libc::SYS_getpid, []).accept_any();
        };
        let unknown: fn(&mut Script) = |script| {
            script.add(99, []);
        };
        let rows: [Row; 3] = [
            (fails, SetupStep::Cwd, Errno::BADF),
            (must_fail, SetupStep::HostVisible, Errno::EXIST),
            (unknown, SetupStep::Cwd, Errno::NOSYS),
        ];
        for (write, part, errno) in rows {
            let mut init = Init::start(0).unwrap();
            let mut script = init.script();
            script.step(SetupStep::Lifeline);
            script.call(libc::SYS_close, arguments![999]).accept(&[Errno::BADF]);
            script.step(part);
            write(&mut script);
            init.run(script, &[]).unwrap();
            let failed = init.next_report().unwrap_err();
            assert!(
                matches!(&failed, SetupError::Step(at, None, why) if *at == part && *why == errno),
                "{failed:?}"
            );
        }
    }

    /// A supervisor that is gone leaves no init behind.
    #[test]
    fn the_end_of_the_channel_is_the_end() {
        let Init { mut process, channel, .. } = Init::start(0).unwrap();
        drop(channel);
        assert_eq!(process.reap().unwrap().status, 0);
    }
}
