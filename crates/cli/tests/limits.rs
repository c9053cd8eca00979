//! Limits from outside: a command that reaches one ends with 124 and the name of the limit, and the machine is as before.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use stage::{Ended, LONG, Stage, has, within};

/// That a command was ended by a limit, which is named with the way to raise it, and that nothing of it is left.
#[track_caller]
fn assert_limited(stage: &Stage, limit: &str, allowed: &str, ended: &Ended) {
    assert_eq!(ended.code, Some(124), "{ended:?}");
    let told = format!("error[RF-J009]: limit reached: {limit} ({allowed}): ");
    assert!(ended.err.contains(&told), "{told}\n{}", ended.err);
    assert!(ended.err.contains(&format!("hint: `--limit {limit}=…` of this run set it\n")), "{}", ended.err);
    assert!(stage.is_empty_soon());
}

#[test]
fn time_ends() {
    let Some(stage) = Stage::new() else { return };
    let sleep = stage.sleep();
    let rows = [
        ("wall-clock", "300ms", format!("{sleep} & exec {sleep}")),
        (
            "wall-clock",
            "300ms",
            format!("trap '' TERM INT HUP; {sleep} & while :; do echo x; sleep 0.1; done"),
        ),
        ("idle", "300ms", format!("echo x; exec {sleep}")),
        ("idle", "300ms", "while :; do :; done".to_owned()),
    ];
    for (limit, allowed, script) in rows {
        let ended = stage.run(&format!("--limit {limit}={allowed}"), &script);
        assert_limited(&stage, limit, allowed, &ended);
    }
}

#[test]
fn who_speaks_is_not_idle() {
    let Some(stage) = Stage::new() else { return };
    let started = Instant::now();
    let ended = stage.run("--limit idle=2s", "for i in 1 2 3 4 5; do echo x; sleep 0.5; done");
    assert_eq!(ended.code, Some(0), "{ended:?} after {:?}", started.elapsed());
}

#[test]
fn a_fork_bomb_goes_off_in_the_jail() {
    let Some(stage) = Stage::new() else { return };
    if !has("bash", "a fork bomb") {
        return;
    }
    let sleep = stage.sleep();
    let rows = [
        format!("bomb() {{ bomb & bomb & exec {sleep}; }}; bomb"),
        format!("exec bash -c 'while :; do {sleep} & done'"),
        "exec bash -c 'b() { b | b & }; while :; do b; done'".to_owned(),
    ];
    for script in rows {
        let command = &mut stage.unseen("--limit processes=50", &script);
        let (ended, most) = watched(&stage, command.stdout(Stdio::null()).stderr(Stdio::piped()));
        assert_limited(&stage, "processes", "50", &ended);
        // Counting takes time, in which some end and others begin.
        assert!(most <= 60, "{most} at once");
    }
}

/// Returns the end of a command, and the largest number of its processes seen at once.
fn watched(stage: &Stage, command: &mut Command) -> (Ended, usize) {
    let mut child = command.spawn().unwrap();
    let mut most = 0;
    let over = within(LONG, || {
        most = most.max(stage.count());
        child.try_wait().unwrap().is_some()
    });
    assert!(over, "{command:?}");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (Ended { code: output.status.code(), out: String::new(), err }, most)
}

#[test]
fn as_many_processes_as_allowed_can_be_had() {
    let Some(stage) = Stage::new() else { return };
    let script = "i=0; while [ $i -lt 40 ]; do sleep 0.5 & i=$((i+1)); done; wait; echo done";
    let ended = stage.run("--limit processes=50", script);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "done\n"), "{ended:?}");
}

#[test]
fn memory_is_bounded_in_one_process_and_in_many() {
    if !has("perl", "a command that uses up memory") {
        return;
    }
    let Some(stage) = Stage::new() else { return };
    let rows = [
        "exec perl -e 'while (1) { $x .= \"x\" x 1000000 }'",
        // The first that fails is enough: a shell forgets those it does not wait for.
        "for i in 1 2 3 4 5 6; do perl -e '$x = \"x\" x 60000000; substr($x, 0, 1) = \"y\"; sleep 5' & p=\"$p $!\"; done; \
         for i in $p; do wait $i || exit 9; done",
    ];
    for script in rows {
        let started = Instant::now();
        let ended = stage.run("--limit memory=200MB", script);
        assert_limited(&stage, "memory", "200MB", &ended);
        assert!(started.elapsed() < LONG);
    }
}

#[test]
fn what_is_used_up_is_named() {
    let Some(stage) = Stage::new() else { return };
    let rows = [
        ("cpu", "1s", "while :; do :; done"),
        ("cpu", "1s", "trap '' XCPU; while :; do :; done"),
        ("file-size", "1MB", "exec head -c 5M /dev/zero > big"),
        ("file-size", "1MB", "head -c 5M /dev/zero > big"),
        ("tmp", "5MB", "exec head -c 50M /dev/zero > /tmp/big"),
        ("tmp", "5MB", "head -c 50M /dev/zero > /dev/shm/big"),
        ("tmp", "5MB", "head -c 50M /dev/zero > ~/big"),
    ];
    for (limit, allowed, script) in rows {
        let ended = stage.run(&format!("--limit {limit}={allowed}"), script);
        assert_limited(&stage, limit, allowed, &ended);
    }
    assert_eq!(fs::metadata(stage.path("ws/big")).unwrap().len(), 1_000_000);
}

/// The program is told, and what it does then is its own affair.
#[test]
fn open_files_are_bounded() {
    let Some(stage) = Stage::new() else { return };
    let script = "ulimit -n 1000 2>/dev/null || echo no; ulimit -n; \
                  i=10; while [ $i -lt 64 ] && eval \"exec $i</dev/null\"; do i=$((i+1)); done; echo $i";
    let mut command = stage.command();
    let ended = stage::ended(command.args(["run", "--limit", "open-files=32", "--", "bash", "-c", script]));
    assert_eq!(ended.out, "no\n32\n32\n", "{ended:?}");
}

/// A command that succeeded has coped with every refusal.
#[test]
fn success_is_not_turned_into_failure() {
    let Some(stage) = Stage::new() else { return };
    let ended = stage.run("--limit tmp=5MB", "head -c 50M /dev/zero > /tmp/big; rm /tmp/big; echo fine");
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "fine\n"), "{ended:?}");
}

/// With every provider the launcher outlives a jail that runs out of memory, nothing is left of the jail, and the ledger has the
/// limit and the end. The OOM killer once took the launcher with the subreaper of the Landlock provider.
#[test]
fn memory_that_runs_out_is_contained_and_recorded_by_every_provider() {
    let Some(stage) = Stage::new() else { return };
    let policy = "version = 1\n[profiles.less]\nextends = \"workspace-write-no-network\"\n\
        require = { files = \"partial\", processes = \"partial\", network = \"partial\", resources = \"none\" }\n";
    fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    fs::write(stage.path("home/.config/ringfence/policy.toml"), policy).unwrap();
    let sleep = stage.sleep();
    let many = format!("i=0; while [ $i -lt 400 ]; do {sleep} & i=$((i+1)); done; wait");
    for provider in ["native", "landlock", "bubblewrap"] {
        let options = format!("-p less --provider {provider} --limit memory=24MB --limit processes=2000");
        let tried = stage.run(&format!("-p less --provider {provider}"), "true");
        if tried.code != Some(0) {
            stage::skipped("memory by another provider", &tried.err);
            continue;
        }
        let ended = stage.run(&options, &many);
        assert_limited(&stage, "memory", "24MB", &ended);
        let ledger = fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
        let tail: Vec<_> = ledger.lines().rev().take(2).collect();
        assert!(tail[0].contains("\"jail.ended\""), "{provider}: {tail:?}");
        assert!(tail[1].contains("memory"), "{provider}: {tail:?}");
    }
}

/// A command that copes with the end of its processes ends with success, and people and the ledger are told all the same. Where no
/// cgroup bounds the jail, the watchdog ends all of it.
#[test]
fn processes_that_the_kernel_killed_are_told() {
    if !has("perl", "a command that uses up memory") {
        return;
    }
    let Some(stage) = Stage::new() else { return };
    let script = "for i in 1 2 3 4 5 6; do perl -e '$x = \"x\" x 60000000; substr($x, 0, 1) = \"y\"; sleep 2' & done; wait; exit 0";
    let ended = stage.run("--limit memory=200MB", script);
    let ledger = fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
    assert!(matches!(ended.code, Some(0 | 124)), "{ended:?}");
    assert!(ended.err.contains("limit reached: memory (200MB)"), "{ended:?}");
    assert!(ledger.contains("limit.reached"), "{ledger}");
}
