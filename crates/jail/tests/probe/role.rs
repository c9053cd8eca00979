//! Roles of this program when it starts itself again.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};

use ringfence_jail::probe::{self, Machine, Namespaces, Unmeasured};
use rustix::mount::{MountFlags, mount, mount_remount};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

/// Far more than any answer takes; only a defect makes a test wait for it.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub(crate) enum Role {
    /// Try namespaces and say what was met.
    Namespaces,
    /// Try the same with a second thread.
    Threads,
    /// Say nothing, stay.
    Hang,
    /// Say too much.
    Flood,
    /// Say something else.
    Babble,
    /// A proper answer, a bad end.
    Fail,
    /// A proper answer, then stay with the output closed.
    Close,
    /// Start another one that hangs, answer properly, end.
    Linger,
    /// Lower a limit inside a new user namespace, then try namespaces.
    Limited(String),
    /// Hide a part of `/proc` as container tools do, then try namespaces.
    Masked,
    /// Make `/proc` read-only, then try namespaces.
    Sealed,
    /// Forbid a call with an error number, then try namespaces.
    Filtered(i64, i32),
    /// Forbid a call with an error number, then say what Landlock and seccomp look like.
    FilteredMachine(i64, i32),
    /// Without process handles, ask one that answers and one that hangs.
    NoHandles,
    /// Be a bubblewrap that says what the file `answer` beside it says.
    Bwrap,
}

/// The role asked for on the command line; none when this is the test itself.
pub(crate) fn of_this_process(arguments: &[String]) -> Option<Role> {
    if arguments.first().is_some_and(|name| name == "bwrap") {
        return Some(Role::Bwrap);
    }
    let mut words = arguments.get(1)?.strip_prefix("role:")?.split(':');
    let mut next = || words.next().unwrap_or_default();
    Some(match next() {
        "namespaces" => Role::Namespaces,
        "threads" => Role::Threads,
        "hang" => Role::Hang,
        "flood" => Role::Flood,
        "babble" => Role::Babble,
        "fail" => Role::Fail,
        "close" => Role::Close,
        "linger" => Role::Linger,
        "limited" => Role::Limited(next().to_owned()),
        "masked" => Role::Masked,
        "sealed" => Role::Sealed,
        "filtered" => Role::Filtered(next().parse().unwrap(), next().parse().unwrap()),
        "machine" => Role::FilteredMachine(next().parse().unwrap(), next().parse().unwrap()),
        "no-handles" => Role::NoHandles,
        other => panic!("no such role: {other}"),
    })
}

impl Role {
    fn word(&self) -> String {
        match self {
            Self::Namespaces => "role:namespaces".into(),
            Self::Threads => "role:threads".into(),
            Self::Hang => "role:hang".into(),
            Self::Flood => "role:flood".into(),
            Self::Babble => "role:babble".into(),
            Self::Fail => "role:fail".into(),
            Self::Close => "role:close".into(),
            Self::Linger => "role:linger".into(),
            Self::Limited(name) => format!("role:limited:{name}"),
            Self::Masked => "role:masked".into(),
            Self::Sealed => "role:sealed".into(),
            Self::Filtered(call, errno) => format!("role:filtered:{call}:{errno}"),
            Self::FilteredMachine(call, errno) => format!("role:machine:{call}:{errno}"),
            Self::NoHandles => "role:no-handles".into(),
            Self::Bwrap => panic!("a bubblewrap is not started by us"),
        }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg(self.word());
        command
    }

    /// Returns the probe's reading of this role's answer.
    pub(crate) fn ask(&self) -> Result<Namespaces, Unmeasured> {
        probe::namespaces(self.command(), LIMIT)
    }

    /// Returns the output of this role, unread. A child that failed has said why on standard error.
    pub(crate) fn say(&self) -> String {
        let output = self.command().stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{self:?}: {}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn play(self) -> ExitCode {
        match self {
            Self::Namespaces => answer_from_a_clean_start(),
            Self::Threads => threads(),
            Self::Hang => hang(),
            Self::Flood => print!("{}", "x".repeat(100_000)),
            Self::Babble => println!("hello"),
            Self::Fail => {
                println!("{PROPER}");
                return ExitCode::from(3);
            }
            Self::Close => close_and_stay(),
            Self::Linger => linger(),
            Self::Limited(name) => limited(&name),
            Self::Masked => masked(),
            Self::Sealed => sealed(),
            Self::Filtered(call, errno) => {
                super::forbidden::install_filter(call, errno);
                answer();
            }
            Self::FilteredMachine(call, errno) => {
                super::forbidden::install_filter(call, errno);
                machine();
            }
            Self::NoHandles => no_handles(),
            Self::Bwrap => bwrap(),
        }
        ExitCode::SUCCESS
    }
}

/// An answer that would count.
pub(crate) const PROPER: &str = "ringfence-namespaces 2 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-";

/// Makes a command run as an ordinary user; possible only as root.
pub(crate) fn as_nobody(mut command: Command) -> Command {
    command.uid(65534).gid(65534);
    command
}

/// unshare(1) getting as far as a mount of its own.
pub(crate) fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "--mount", "mount", "-t", "tmpfs", "none", "/"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    command
}

/// Returns the state outside that a careless probe would change.
pub(crate) fn outside() -> (Vec<String>, String, String) {
    let names = ["user", "net", "mnt", "pid", "ipc", "uts", "cgroup"];
    let namespaces = names.map(|name| fs::read_link(format!("/proc/self/ns/{name}")).unwrap());
    let namespaces = namespaces.iter().map(|link| link.display().to_string()).collect();
    let read = |path: &str| fs::read_to_string(path).unwrap();
    (namespaces, read("/proc/self/mountinfo"), read("/proc/sys/user/max_user_namespaces"))
}

fn answer() {
    print!("{}", probe::namespaces_here().unwrap());
}

/// The probe starts us with nothing that an attacker could have set.
fn answer_from_a_clean_start() {
    assert_eq!(env::vars_os().count(), 0, "the environment is not empty");
    assert_eq!(env::current_dir().unwrap(), Path::new("/"));
    answer();
}

fn threads() {
    let before = outside();
    let parked = thread::spawn(thread::park);
    assert_eq!(probe::namespaces_here(), Err(Unmeasured::NotAlone(2)));
    assert_eq!(outside(), before);
    parked.thread().unpark();
    println!("{PROPER}");
}

fn hang() {
    loop {
        thread::park();
    }
}

fn close_and_stay() {
    println!("{PROPER}");
    // SAFETY: standard output is not used again in this process, which only waits to be killed.
    unsafe { libc::close(1) };
    hang();
}

/// The other one shares our standard output and our process group.
#[expect(clippy::zombie_processes, reason = "to be left behind is its purpose")]
fn linger() {
    Role::Hang.command().stdin(Stdio::null()).spawn().unwrap();
    println!("{PROPER}");
}

fn limited(name: &str) {
    let outside = fs::read_link("/proc/self/ns/user").unwrap();
    enter(UnshareFlags::NEWUSER);
    assert_ne!(fs::read_link("/proc/self/ns/user").unwrap(), outside, "still in the host's user namespace");
    let setting = format!("/proc/sys/user/{name}");
    // A new user namespace starts without limits of its own: what we see is not the host's setting.
    assert_eq!(fs::read_to_string(&setting).unwrap().trim(), i32::MAX.to_string());
    fs::write(&setting, "0").unwrap();
    answer();
}

fn masked() {
    enter(UnshareFlags::NEWUSER | UnshareFlags::NEWNS);
    mount("none", "/proc/sys", "tmpfs", MountFlags::RDONLY, None).unwrap();
    answer();
}

fn sealed() {
    enter(UnshareFlags::NEWUSER | UnshareFlags::NEWNS);
    let flags =
        MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount_remount("/proc", flags, "").unwrap();
    answer();
}

/// Enters namespaces as their root.
fn enter(flags: UnshareFlags) {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: the contract concerns CLONE_FILES alone, which no caller passes.
    unsafe { rustix::thread::unshare_unsafe(flags) }.unwrap();
    fs::write("/proc/self/setgroups", "deny").unwrap();
    fs::write("/proc/self/uid_map", format!("0 {uid} 1")).unwrap();
    fs::write("/proc/self/gid_map", format!("0 {gid} 1")).unwrap();
}

fn machine() {
    let found = Machine::measure(Path::new("/"), Command::new("/nonexistent"));
    println!("{:?}", found.landlock);
    println!("{:?}", found.actions.errno.is_ok());
    println!("{:?}", found.facts.confined);
}

fn no_handles() {
    super::forbidden::install_filter(libc::SYS_pidfd_open, libc::ENOSYS);
    println!("{:?}", Role::Babble.ask());
    println!("{:?}", probe::namespaces(Role::Hang.command(), Duration::from_millis(50)));
}

fn bwrap() {
    let program = fs::read_link("/proc/self/exe").unwrap();
    let text = fs::read_to_string(program.with_file_name("answer")).unwrap();
    let arguments: Vec<_> = env::args_os().collect();
    let in_jail = arguments.get(1).is_some_and(|first| first == OsStr::new("--unshare-all"));
    let (introduction, jail) = text.split_once('|').unwrap();
    io::stdout().write_all(if in_jail { jail } else { introduction }.as_bytes()).unwrap();
}
