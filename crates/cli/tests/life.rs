//! `ringfence run` from its start to its end: codes, signals, streams, and nothing left behind.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use stage::{LONG, PROGRAM, Stage, end_of, ended, within};

/// A run that has said that it is ready.
fn started(command: &mut Command) -> (Child, BufReader<ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, out)
}

fn rest(mut out: BufReader<ChildStdout>) -> String {
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    text
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn every_exit_code_is_the_commands_own() {
    let Some(stage) = Stage::new() else { return };
    // 153 is what a shell says of a command that met the limit on file sizes, and so it is taken.
    for code in (0..=255).filter(|code| *code != 153) {
        assert_eq!(stage.run("", &format!("exit {code}")).code, Some(code));
    }
}

#[test]
fn a_signal_is_told_as_a_shell_tells_it() {
    let Some(stage) = Stage::new() else { return };
    for number in [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 31, 34, 64] {
        let ended = stage.run("", &format!("kill -{number} $$; sleep 100"));
        assert_eq!(ended.code, Some(128 + number), "{ended:?}");
        assert_eq!(ended.err, "", "{number}");
    }
}

#[test]
fn a_signal_to_the_launcher_is_one_to_the_command() {
    let rows = [
        ("TERM", Signal::TERM),
        ("HUP", Signal::HUP),
        ("INT", Signal::INT),
        ("QUIT", Signal::QUIT),
        ("USR1", Signal::USR1),
        ("USR2", Signal::USR2),
    ];
    for (name, number) in rows {
        let Some(stage) = Stage::new() else { return };
        let script = format!("trap 'echo cleaned; exit 5' {name}; echo ready; while :; do sleep 0.02; done");
        let (mut child, out) = started(&mut stage.script("", &script));
        signal(&child, number);
        assert_eq!((end_of(&mut child).code(), rest(out).as_str()), (Some(5), "cleaned\n"), "{name}");
    }
}

#[test]
fn who_does_not_end_when_asked_is_ended() {
    let Some(stage) = Stage::new() else { return };
    for number in [Signal::TERM, Signal::HUP] {
        let script =
            format!("trap '' TERM HUP; ({} &); echo ready; while :; do sleep 1; done", stage.sleep());
        let (mut child, out) = started(&mut stage.script("", &script));
        let asked = Instant::now();
        signal(&child, number);
        assert_eq!(end_of(&mut child).code(), Some(137));
        assert!(asked.elapsed() > Duration::from_millis(500), "it had a chance");
        rest(out);
        assert!(stage.is_empty_soon());
    }
}

#[test]
fn a_killed_launcher_takes_everything_with_it() {
    let Some(stage) = Stage::new() else { return };
    let sleep = stage.sleep();
    let script = format!("({sleep} &); (setsid {sleep} &); echo ready; exec {sleep}");
    for _ in 0..5 {
        let (mut child, out) = started(&mut stage.script("", &script));
        child.kill().unwrap();
        end_of(&mut child);
        assert!(stage.is_empty_soon());
        // A process that still lived inside would hold the pipe.
        assert_eq!(rest(out), "");
    }
}

#[test]
fn without_a_parent_it_ends() {
    let Some(stage) = Stage::new() else { return };
    let mut parent = Command::new("/bin/sh");
    let script = format!("echo ready; exec {}", stage.sleep());
    parent.args(["-c", "\"$RF\" run -- /bin/sh -c \"$0\"; :", &script]);
    let (mut parent, out) = started(stage.surround(&mut parent).stdin(Stdio::null()));
    parent.kill().unwrap();
    end_of(&mut parent);
    assert!(stage.is_empty_soon());
    assert_eq!(rest(out), "");
}

/// Processes that a command leaves behind end with it, and delay nothing.
#[test]
fn the_command_is_the_jail() {
    let Some(stage) = Stage::new() else { return };
    let sleep = stage.sleep();
    let rows = [
        format!("{sleep} & echo done"),
        format!("nohup {sleep} >/dev/null 2>&1 & echo done"),
        format!("(setsid sh -c '({sleep} &)' &); echo done"),
        format!("trap '' TERM HUP INT; (trap '' TERM HUP INT; {sleep}) & echo done"),
    ];
    for script in rows {
        let ended = stage.run("", &script);
        assert_eq!((ended.code, ended.out.as_str()), (Some(0), "done\n"), "{script}");
        assert!(stage.is_empty_soon(), "{script}");
    }
}

#[test]
fn closed_streams_stay_closed_or_empty() {
    let Some(stage) = Stage::new() else { return };
    let rows = [
        ("cat; exit 4", "<&-", 4, ""),
        ("echo out; exit 4", ">&-", 4, ""),
        ("echo err >&2; echo out; exit 4", "2>&-", 4, "out\n"),
        ("cat; echo out; echo err >&2; exit 4", "<&- >&- 2>&-", 4, ""),
        ("cat; exit 4", "</dev/null", 4, ""),
    ];
    for (script, redirection, code, out) in rows {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("\"$RF\" run -- /bin/sh -c \"$0\" {redirection}"), script]);
        let ended = ended(stage.surround(&mut shell).stdin(Stdio::null()));
        assert_eq!((ended.code, ended.out.as_str()), (Some(code), out), "{redirection}: {ended:?}");
    }
    // A file that we opened must not have become a standard stream.
    let ledger = fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
    assert!(ledger.lines().all(|line| line.starts_with('{')), "{ledger}");
}

/// Root's command is another user inside, and its streams are still its own.
#[test]
fn streams_have_names() {
    let Some(stage) = Stage::new() else { return };
    let script = "cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr";
    for options in ["", "--limit idle=1m"] {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("echo in | \"$RF\" run {options} -- /bin/sh -c \"$0\""), script]);
        let ended = ended(stage.surround(&mut shell));
        assert_eq!((ended.out.as_str(), ended.err.as_str()), ("in\nout\n", "err\n"), "{options}: {ended:?}");
    }
    fs::write(stage.path("beside/in"), "in\n").unwrap();
    let mut command = stage.script("", script);
    command.stdin(File::open(stage.path("beside/in")).unwrap());
    command.stdout(File::create(stage.path("beside/out")).unwrap());
    command.stderr(File::create(stage.path("beside/err")).unwrap());
    assert_eq!(command.status().unwrap().code(), Some(0));
    let read = |name: &str| fs::read_to_string(stage.path(name)).unwrap();
    assert_eq!((read("beside/out").as_str(), read("beside/err").as_str()), ("in\nout\n", "err\n"));
}

#[test]
fn a_reader_that_leaves_ends_the_writer() {
    let Some(stage) = Stage::new() else { return };
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$RF\" run -- yes | head -1; echo ${PIPESTATUS[0]}"]);
    assert_eq!(ended(stage.surround(&mut shell).stdin(Stdio::null())).out, "y\n141\n");
}

/// Input that the command did not read is there for the next reader.
#[test]
fn only_what_is_read_is_taken() {
    let Some(stage) = Stage::new() else { return };
    fs::write(stage.path("beside/in"), "1\n2\n3\n").unwrap();
    let rows = [
        ("while read x; do \"$RF\" run -- true; echo $x; done < ../beside/in", "1\n2\n3\n"),
        ("cat ../beside/in | while read x; do \"$RF\" run -- true; echo $x; done", "1\n2\n3\n"),
        ("{ \"$RF\" run -- head -c 2; echo -; cat; } < ../beside/in", "1\n-\n2\n3\n"),
        ("cat ../beside/in | { \"$RF\" run -- head -c 2; echo -; cat; }", "1\n-\n2\n3\n"),
    ];
    for (script, out) in rows {
        let mut shell = Command::new("/bin/sh");
        let ended = ended(stage.surround(shell.args(["-c", script])));
        assert_eq!(ended.out, out, "{script}: {ended:?}");
    }
}

const MUCH: usize = 64 << 20;

/// Bytes that differ from one another over any distance that a mistake is likely to move them.
fn much() -> Vec<u8> {
    (0_u64..MUCH as u64 / 8)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect()
}

#[test]
fn much_passes_through_pipes_both_ways() {
    let Some(stage) = Stage::new() else { return };
    let mut child =
        stage.script("", "exec cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut into = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || into.write_all(&much()).unwrap());
    let mut got = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut got).unwrap();
    writer.join().unwrap();
    assert!(got == much(), "{} bytes", got.len());
    assert_eq!(end_of(&mut child).code(), Some(0));
}

#[test]
fn much_passes_through_files_and_past_a_deadline() {
    let Some(stage) = Stage::new() else { return };
    fs::write(stage.path("beside/from"), much()).unwrap();
    // A limit on silence makes us copy even what could pass.
    for options in ["", "--limit idle=1m"] {
        let into = File::create(stage.path("beside/to")).unwrap();
        let from = File::open(stage.path("beside/from")).unwrap();
        let mut command = stage.script(options, "tee /dev/stderr");
        let error = into.try_clone().unwrap();
        let mut child = command.stdin(from).stdout(into).stderr(error).spawn().unwrap();
        assert_eq!(end_of(&mut child).code(), Some(0));
        assert_eq!(fs::metadata(stage.path("beside/to")).unwrap().len(), 2 * MUCH as u64);
    }
}

#[test]
fn both_outputs_to_one_file_stay_in_order() {
    let Some(stage) = Stage::new() else { return };
    let log = stage.path("beside/log");
    fs::write(&log, "before\n").unwrap();
    let open = || OpenOptions::new().append(true).open(&log).unwrap();
    let script = "i=0; while [ $i -lt 500 ]; do echo $i; echo $i >&2; i=$((i+1)); done";
    let same = open();
    let mut child = stage.script("", script).stdout(same.try_clone().unwrap()).stderr(same).spawn().unwrap();
    end_of(&mut child);
    let lines = (0..500).map(|number| format!("{number}\n{number}\n")).collect::<Vec<_>>().concat();
    assert!(fs::read_to_string(&log).unwrap() == format!("before\n{lines}"));
    let mut child = stage.script("", script).stdout(open()).stderr(open()).spawn().unwrap();
    end_of(&mut child);
    assert!(fs::read_to_string(&log).unwrap() == format!("before\n{lines}{lines}"));
}

#[test]
fn two_runs_in_one_directory_leave_each_other_alone() {
    let Some(stage) = Stage::new() else { return };
    let first = "echo mine > /tmp/x; touch a; until test -e b; do sleep 0.02; done; cat /tmp/x; exit 3";
    let second =
        "until test -e a; do sleep 0.02; done; cat /tmp/x; trap '' TERM; kill -TERM -1; touch b; exit 4";
    let mut runs = [first, second].map(|script| {
        stage.unseen("", script).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let codes = runs.each_mut().map(|run| end_of(run).code());
    assert_eq!(codes, [Some(3), Some(4)]);
    let outs = runs.map(|run| rest(BufReader::new(run.stdout.unwrap())));
    assert_eq!(outs, ["mine\n", ""]);
}

#[test]
fn a_run_inside_a_run_works_or_says_why_not() {
    let Some(stage) = Stage::new() else { return };
    let options = format!("--read {PROGRAM} --env RF={PROGRAM}");
    let refused = stage.run(&options, "\"$RF\" run -- touch ran");
    assert_eq!(refused.code, Some(125), "{refused:?}");
    assert!(
        refused.err.starts_with(
            "error[RF-J004]: the profile requires full enforcement of files, and this machine offers partial"
        ),
        "{}",
        refused.err
    );
    assert!(!stage.path("ws/ran").exists());
    let policy = "version = 1\n[profiles.nested]\nextends = \"workspace-write\"\n\
                  require = { files = \"partial\", processes = \"none\", network = \"partial\", resources = \"none\" }";
    fs::write(stage.path("beside/policy.toml"), policy).unwrap();
    let script = "mkdir -p ~/.config/ringfence; cp \"$P\" ~/.config/ringfence/; \
                  \"$RF\" run -p nested -- sh -c 'echo inner; exit 6'";
    let policy = stage.path("beside/policy.toml");
    let options = format!("{options} --read {} --env P={}", policy.display(), policy.display());
    let worked = ended(&mut stage.unseen(&options, script));
    assert_eq!((worked.code, worked.out.as_str()), (Some(6), "inner\n"), "{worked:?}");
}

#[test]
fn it_starts_where_it_was_called_if_that_is_seen() {
    let Some(stage) = Stage::new() else { return };
    let rows = [("ws", "ws"), ("ws/src", "ws/src"), ("beside", "ws"), ("home", "ws")];
    for (from, to) in rows {
        let mut command = stage.command();
        command.current_dir(stage.path(from)).arg("--workspace").arg(stage.path("ws"));
        let ended = ended(command.args(["run", "--", "/bin/pwd"]));
        assert_eq!(ended.out.trim_end(), stage.path(to).to_str().unwrap(), "{from}: {ended:?}");
    }
}

#[test]
fn two_hundred_runs_leave_nothing() {
    let Some(stage) = Stage::new() else { return };
    let sleep = stage.sleep();
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    let before = (mounts(), files(&stage));
    let mut numbers = Vec::new();
    for _ in 0..200 {
        let mut child = stage.script("", &format!("{sleep} & : > /tmp/x; exit 3")).spawn().unwrap();
        numbers.push(child.id());
        assert_eq!(end_of(&mut child).code(), Some(3));
    }
    assert!(stage.is_empty_soon());
    assert_eq!((mounts(), files(&stage)), before);
    let named: Vec<_> = numbers.iter().map(|number| format!("ringfence-{number}-")).collect();
    let left = || cgroups().into_iter().filter(|name| named.iter().any(|own| name.starts_with(own))).count();
    assert!(within(LONG, || left() == 0), "{} cgroups", left());
}

/// Everything on the stage but the ledger.
fn files(stage: &Stage) -> Vec<String> {
    let mut found = Vec::new();
    walk(&stage.path(""), &mut |path| found.push(path.to_string_lossy().into_owned()), 9);
    found.sort();
    found
}

/// The names of all cgroups, as deep as ours can be.
fn cgroups() -> Vec<String> {
    let mut found = Vec::new();
    let mut name = |path: &std::path::Path| {
        found.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    };
    walk("/sys/fs/cgroup".as_ref(), &mut name, 6);
    found
}

fn walk(directory: &std::path::Path, see: &mut dyn FnMut(&std::path::Path), depth: usize) {
    for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
        see(&entry.path());
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), see, depth - 1);
        }
    }
}

/// Files are opened in the command's place: one that was opened while the launcher was stopped is still the one that was meant.
#[test]
fn a_launcher_that_is_stopped_and_goes_on_gives_what_was_opened() {
    let Some(stage) = Stage::new() else { return };
    // A descriptor that is not the file's would be the shell's standard input, and gone afterwards.
    let script = "echo ready; i=0; while [ $i -lt 30000 ]; do : > f$((i % 100)); i=$((i + 1)); done; \
                  [ -e /proc/$$/fd/0 ] && echo kept";
    let (mut child, out) = started(stage.script("", script).stdin(Stdio::null()));
    for _ in 0..300 {
        signal(&child, Signal::STOP);
        signal(&child, Signal::CONT);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((end_of(&mut child).code(), rest(out).as_str()), (Some(0), "kept\n"));
}

/// The command has run: its exit code is the answer although what there is to say about it cannot be written.
#[test]
fn a_full_standard_error_changes_no_exit_code() {
    let Some(stage) = Stage::new() else { return };
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for code in [0, 3] {
        let mut command = stage.script("", &format!("echo x >&2; exit {code}"));
        let status = command.stderr(full()).stdout(std::process::Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(code));
    }
}
