//! On the real kernel, as far as it lets us make groups.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Instant;

use super::super::watchdog::Watchdog;
use super::*;
use crate::resources::Limit;

#[path = "../../../../../../../tests/skip.rs"]
pub(crate) mod skip;

fn limits(memory: u64, processes: u64) -> Limits {
    Limits { memory: Some(memory), processes: Some(processes), ..Limits::none() }
}

/// Groups for both limits, if this machine lets us.
fn groups(what: &str, limits: &Limits) -> Option<Cgroups> {
    let (made, missing) = Cgroups::make(limits, 1, |_| ());
    if let Some(missing) = missing {
        skip::skipped(what, &missing.to_string());
        return None;
    }
    Some(made)
}

/// A shell in the groups: it joins as the first process of a jail does, and only then runs the script.
fn start_inside(groups: &Cgroups, script: &str) -> (Child, ChildStdout) {
    let join = entrances(groups).map(|file| format!("echo 0 > {file}; ")).collect::<Vec<_>>().concat();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{join}{script}")]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    (child, stdout)
}

/// Its input ends when no process holds its output any more.
fn run_inside(groups: &Cgroups, script: &str) -> Output {
    let (child, mut output) = start_inside(groups, script);
    let mut stdout = Vec::new();
    output.read_to_end(&mut stdout).unwrap();
    Output { stdout, ..child.wait_with_output().unwrap() }
}

fn entrances(groups: &Cgroups) -> impl Iterator<Item = String> {
    groups
        .directories
        .iter()
        .zip(&groups.groups)
        .map(|(directory, group)| format!("{}/{}", directory.to_str().unwrap(), group.version.entrance()))
}

/// Forty processes that stay until the input ends, unless the shell is refused one and gives up.
const BOMB: &str = "exec 3<&0; for i in $(seq 40); do (read x <&3) > /dev/null & done; echo survived";

fn exists(directory: &CString) -> bool {
    Path::new(directory.to_str().unwrap()).exists()
}

#[test]
fn a_memory_bomb_is_ended_by_the_kernel() {
    let Some(groups) = groups("a memory bomb in a cgroup", &limits(32 << 20, 50)) else { return };
    let output = run_inside(&groups, "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo survived");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    let usage = groups.usage();
    assert!(usage.oom_kills >= 1, "{usage:?}");
    assert!(usage.held.unwrap() >= 28 << 20, "{usage:?}");
    assert_eq!(usage.refused, 0);
}

#[test]
fn a_fork_bomb_is_refused_and_counted() {
    let Some(groups) = groups("a fork bomb in a cgroup", &limits(200 << 20, 20)) else { return };
    let output = run_inside(&groups, BOMB);
    let usage = groups.usage();
    assert!(usage.refused >= 1 && output.stdout.is_empty(), "{usage:?} {output:?}");
    assert_eq!(usage.oom_kills, 0);
}

#[test]
fn what_stays_within_its_limits_notices_nothing() {
    let Some(groups) = groups("a command in a cgroup", &limits(200 << 20, 20)) else { return };
    let output = run_inside(&groups, "seq 3 | cat");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n2\n3\n");
    let Usage { oom_kills, refused, .. } = groups.usage();
    assert_eq!((oom_kills, refused), (0, 0));
    assert_eq!(groups.bounds(&limits(1, 1), false, None).memory, Means::Cgroup);
}

/// The first process of a jail is in another user namespace and has no particular user: what counts is who opened the file.
#[test]
fn a_process_joins_from_its_own_user_namespace() {
    let Some(groups) = groups("joining a cgroup from a user namespace", &limits(200 << 20, 20)) else {
        return;
    };
    let each =
        |line: fn((String, u8)) -> String| entrances(&groups).zip(7..).map(line).collect::<Vec<_>>().concat();
    let open = each(|(file, number)| format!("{number}> {file} "));
    let join = each(|(_, number)| format!("echo 0 >&{number}; "));
    let script = format!("exec {open}; unshare --user sh -c '{join} cat /proc/self/cgroup'");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).matches("/ringfence-").count();
    assert_eq!(seen, groups.groups.len(), "{output:?}");
}

/// Refusals that go on, as far as the clock that is passed in is concerned, and refusals that stop.
#[test]
fn a_fork_bomb_that_goes_on_is_ended() {
    let Some(groups) = groups("a fork bomb under watch", &limits(200 << 20, 10)) else { return };
    let limits = limits(200 << 20, 10);
    let (mut watchdog, start) = (Watchdog::new(&limits, getpid(), &groups).unwrap(), Instant::now());
    let mut look = |milliseconds| watchdog.look(&groups, start + Duration::from_millis(milliseconds));
    let bomb = || run_inside(&groups, BOMB);
    for milliseconds in [0, 400, 800, 1_200, 1_600] {
        bomb();
        assert_eq!(look(milliseconds), None);
    }
    bomb();
    assert_eq!(look(2_000).unwrap().limit, Limit::Processes);
    assert_eq!(look(2_500), None, "nothing new was refused");
}

/// A shell that waits before it tries again, and one that never tried.
#[test]
fn a_crowd_that_was_refused_and_stays_is_ended() {
    for (processes, refused) in [(30, true), (50, false)] {
        let limits = limits(200 << 20, processes);
        let Some(groups) = groups("a crowd under watch", &limits) else { return };
        let (mut watchdog, start) = (Watchdog::new(&limits, getpid(), &groups).unwrap(), Instant::now());
        let (mut shell, crowd) = start_inside(&groups, BOMB);
        std::io::read_to_string(crowd).unwrap();
        let mut look = |seconds| watchdog.look(&groups, start + Duration::from_secs(seconds));
        let found = [look(0), look(1), look(2)];
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(found.map(|overrun| overrun.is_some()), [false, false, refused], "{processes}");
    }
}

#[test]
fn groups_are_private_and_removed() {
    let Some(groups) = groups("removal of cgroups", &limits(32 << 20, 20)) else { return };
    let directories = groups.directories().to_vec();
    for directory in &directories {
        assert_eq!(fs::metadata(directory.to_str().unwrap()).unwrap().mode() & 0o7777, 0o700);
    }
    groups.remove().unwrap();
    assert!(!directories.iter().any(exists));
    let Some(groups) = self::groups("removal of cgroups", &limits(32 << 20, 20)) else { return };
    let directories = groups.directories().to_vec();
    drop(groups);
    assert!(!directories.iter().any(exists), "whoever forgets to remove them");
}

/// A process that ends another one does not know when that has left its group.
#[test]
fn a_process_that_is_ending_does_not_keep_its_group() {
    let Some(groups) = groups("a cgroup of an ending process", &limits(32 << 20, 20)) else { return };
    let mut child = waiting();
    move_into(&groups, &child);
    child.kill().unwrap();
    let result = groups.remove();
    child.wait().unwrap();
    assert_eq!(result, Ok(()));
}

/// A process that is still in a group makes its removal fail, and not for ever.
#[test]
fn a_busy_group_is_given_up() {
    let Some(groups) = groups("a busy cgroup", &limits(32 << 20, 20)) else { return };
    let mut child = waiting();
    move_into(&groups, &child);
    let directories = groups.directories().to_vec();
    let result = groups.remove();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(result, Err(Errno::BUSY));
    for directory in &directories {
        remove_directory(directory, None).unwrap();
    }
}

fn move_into(groups: &Cgroups, child: &Child) {
    for group in &groups.groups {
        set(&group.handle, "cgroup.procs", &child.id().to_string()).unwrap();
    }
}

fn waiting() -> Child {
    Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// Names: of a process that is gone, of one that lives, and of none we know.
#[test]
fn only_orphans_are_swept() {
    let Some(groups) = groups("sweeping cgroups", &limits(32 << 20, 20)) else { return };
    let parent = Path::new(groups.directories()[0].to_str().unwrap()).parent().unwrap().to_owned();
    let mut child = waiting();
    let gone = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    let make = |name: String| {
        fs::create_dir(parent.join(&name)).unwrap();
        parent.join(name)
    };
    let orphan = make(format!("ringfence-{gone}-test"));
    let locked = make(format!("ringfence-{gone}-locked"));
    let living = make(format!("ringfence-{}-test", std::process::id()));
    let other = make(format!("other-{gone}-test"));
    let lock = fs::File::open(&locked).unwrap();
    lock.lock_shared().unwrap();
    groups.sweep();
    let left = [&orphan, &locked, &living, &other].map(|path| path.exists());
    drop(lock);
    for path in [orphan, locked, living, other].iter().filter(|path| path.exists()) {
        fs::remove_dir(path).unwrap();
    }
    assert_eq!(left, [false, true, true, true]);
}

#[test]
fn without_limits_no_group_is_made() {
    let (groups, missing) = Cgroups::make(&Limits::none(), 0, |_| ());
    assert!(groups.directories().is_empty() && missing.is_none());
    assert_eq!(groups.entrances().count(), 0);
    assert_eq!(groups.usage(), Usage::default());
    let bounds = groups.bounds(&limits(1, 1), true, Some(&Unavailable::NotMounted(Controller::Pids)));
    assert_eq!((bounds.memory, bounds.processes), (Means::Watchdog, Means::Watchdog));
    assert_eq!(bounds.why.as_deref(), Some("no pids cgroup is mounted"));
}

/// A directory that is no cgroup takes no limits, and does not stay.
#[test]
fn what_is_no_cgroup_is_refused() {
    let tree = tempfile::tempdir().unwrap();
    let mut groups = Cgroups { groups: Vec::new(), directories: Vec::new(), others: 0 };
    let place = Place {
        directory: tree.path().to_owned(),
        version: Version::Unified,
        controllers: vec![Controller::Memory],
    };
    let refused = groups.add(place, "ringfence-1-x", &limits(1, 1)).unwrap_err();
    assert!(refused.to_string().starts_with("setting its limits in /"), "{refused}");
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 0);
}

#[test]
fn reads_what_the_kernel_counts() {
    let rows = [
        ("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n", "oom_kill", Some(2)),
        ("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "oom_kill", Some(3)),
        ("max 5\n", "max", Some(5)),
        ("max many\n", "max", None),
        ("", "max", None),
    ];
    for (text, key, expected) in rows {
        assert_eq!(field(text, key), expected, "{text:?}");
    }
}
