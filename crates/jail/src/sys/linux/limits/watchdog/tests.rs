//! On real processes, which wait for the end of their input and so end with the test in every case.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

use super::*;

/// A shell whose children wait for the end of its input.
struct Shell(Child, BufReader<ChildStdout>);

impl Shell {
    /// Runs a script that writes a line when it is as it should be.
    fn start(script: &str) -> Self {
        Self::run(Command::new("sh"), script)
    }

    fn run(mut command: Command, script: &str) -> Self {
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut shell = Self(child, output);
        shell.listen();
        shell
    }

    fn listen(&mut self) {
        self.1.read_line(&mut String::new()).unwrap();
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

fn nothing_bounded() -> Cgroups {
    Cgroups::make(&Limits::none(), 0, |_| ()).0
}

/// The input has to be handed over: a shell gives those in the background an empty one.
const FIVE: &str = "exec 3<&0; for i in 1 2 3 4 5; do cat <&3 & done; echo ready; wait";

#[test]
fn finds_the_whole_tree_both_ways() {
    let shell = Shell::start(&format!("exec 4<&0; sh -c '{FIVE}' <&4 & wait"));
    let sorted = |mut ids: Vec<Pid>| {
        ids.sort_by_key(|id| id.as_raw_pid());
        ids
    };
    let found = sorted(members(shell.id()));
    assert_eq!(found.len(), 7, "the shell, a shell and five");
    assert_eq!(found, sorted(members_by_parent(shell.id())));
    assert_eq!(Tree::read(shell.id()).tasks, 6, "the root is not the command's");
}

#[test]
fn a_crowd_that_stays_is_ended_and_one_that_goes_is_not() {
    let shell = Shell::start(FIVE);
    let limits = Limits { processes: Some(5), ..Limits::none() };
    let (cgroups, start) = (nothing_bounded(), Instant::now());
    let mut watchdog = Watchdog::new(&limits, shell.id(), &cgroups).unwrap();
    assert_eq!(watchdog.look(&cgroups, start), None);
    assert_eq!(watchdog.look(&cgroups, start + Duration::from_millis(1_900)), None);
    let ended = watchdog.look(&cgroups, start + Duration::from_secs(2)).unwrap();
    assert_eq!((ended.limit, ended.allowed), (Limit::Processes, Amount::Count(5)));
    assert_eq!(watchdog.peak().processes, 5);
    let mut roomy = Watchdog::new(&Limits { processes: Some(6), ..limits }, shell.id(), &cgroups).unwrap();
    for seconds in 0..4 {
        assert_eq!(roomy.look(&cgroups, start + Duration::from_secs(seconds)), None);
    }
}

/// 40 MB in one process.
const HOARD: &str = "x=$(head -c 40000000 /dev/zero | tr '\\0' x); echo ready; cat";

#[test]
fn memory_counts_until_it_is_too_much() {
    let shell = Shell::start(HOARD);
    let look = |memory| {
        let cgroups = nothing_bounded();
        let limits = Limits { memory: Some(memory), ..Limits::none() };
        let mut watchdog = Watchdog::new(&limits, shell.id(), &cgroups).unwrap();
        (watchdog.look(&cgroups, Instant::now()), watchdog.peak().memory)
    };
    let (overrun, peak) = look(30_000_000);
    assert_eq!(overrun.unwrap().limit, Limit::Memory);
    assert!(peak >= 40_000_000, "{peak}");
    assert_eq!(look(1_000_000_000).0, None);
}

/// After a fork both processes hold the same pages: twice in the quick sum, once in the exact one.
#[test]
fn shared_memory_counts_once_in_the_end() {
    let shell = Shell::start(
        "x=$(head -c 40000000 /dev/zero | tr '\\0' x); exec 3<&0; (echo ready; read y <&3) & wait",
    );
    let tree = Tree::read(shell.id());
    let exact = tree.exact();
    assert!(tree.memory >= 80_000_000, "{tree:?}");
    assert!((40_000_000..70_000_000).contains(&exact), "{exact}");
    let cgroups = nothing_bounded();
    let limits = Limits { memory: Some(75_000_000), ..Limits::none() };
    let mut watchdog = Watchdog::new(&limits, shell.id(), &cgroups).unwrap();
    assert_eq!(watchdog.look(&cgroups, Instant::now()), None);
}

/// Two processes hold the same 40 MB open, and map none of it.
#[test]
fn memory_that_nobody_maps_is_seen() {
    let file = File::from(memfd_create("hoard", MemfdFlags::CLOEXEC).unwrap());
    let limits = Limits { memory: Some(30_000_000), ..Limits::none() };
    let (cgroups, mut command) = (nothing_bounded(), Command::new("sh"));
    command.stderr(file.try_clone().unwrap());
    let shell = Shell::run(command, "echo ready; cat");
    let mut watchdog = Watchdog::new(&limits, shell.id(), &cgroups).unwrap();
    assert_eq!(watchdog.look(&cgroups, Instant::now()), None);
    // As if no other process on the machine had any: theirs comes and goes.
    watchdog.before = 0;
    (&file).write_all(&vec![1; 40_000_000]).unwrap();
    let overrun = watchdog.look(&cgroups, Instant::now()).unwrap();
    assert_eq!(overrun.limit, Limit::Memory);
    assert!(watchdog.at_most(&Tree::default()) >= 40_000_000, "and is looked at as often as any other");
    let Some(Amount::Bytes(used)) = overrun.used else { panic!("{overrun:?}") };
    assert!((40_000_000..60_000_000).contains(&used), "once: {used}");
}

#[test]
fn what_is_gone_uses_nothing() {
    let shell = Shell::start("echo ready");
    let id = shell.id();
    drop(shell);
    assert_eq!(Tree::read(id).memory, 0);
    assert!(Watchdog::can_see());
    assert!(Watchdog::new(&Limits::none(), id, &nothing_bounded()).is_none(), "nothing to look after");
}

#[test]
fn reads_what_the_kernel_writes() {
    let status = "Name:\tsh\nThreads:\t3\nRssAnon:\t     100 kB\nRssFile:\t 9999 kB\nRssShmem:\t      20 kB\nVmSwap:\t 3 kB\n";
    assert_eq!(memory(status), 123 * 1024);
    assert_eq!(number(status, "Threads:"), Some(3));
    assert_eq!(memory(""), 0);
    for (text, expected) in [("", None), ("0", None), ("-1", None), ("x", None), ("7", Some(7))] {
        assert_eq!(pid(text).map(Pid::as_raw_pid), expected, "{text}");
    }
}
