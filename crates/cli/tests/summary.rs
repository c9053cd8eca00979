//! Summary of `run` at the end of its command: everything that was denied or lost, nothing else, and the exit
//! code is never changed by it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs::{self, File, OpenOptions};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::Value;
use stage::person::Person;
use stage::{Ended, Stage, end_of, ended, has};

/// Returns the records of a stage's ledger, as text.
fn ledger(stage: &Stage) -> String {
    fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap()
}

/// Parses each line of standard error as a JSON document.
fn documents(ended: &Ended) -> Vec<Value> {
    ended.err.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{ended:?}"))).collect()
}

/// Creates a stage with a file that no view shows, and a script that reads it.
fn staged() -> Option<(Stage, String)> {
    let stage = Stage::new()?;
    let file = stage.path("beside/file");
    fs::write(&file, "x").unwrap();
    Some((stage, format!("cat {} 2>/dev/null", file.display())))
}

#[test]
fn a_person_reads_it_after_the_output() {
    let Some((stage, denied)) = staged() else { return };
    let Some(mut person) = Person::sits_down() else { return };
    person.runs(&stage, "--explain-denials", &format!("{denied}; echo said"));
    let (status, shown) = person.waits();
    assert_eq!(status.code(), Some(0));
    let file = stage.path("beside/file");
    let expected = format!(
        "said\r\ndenied[RF-J011]: read {0}: no view of profile `workspace-write` shows it; to allow it: --read {0}, or \
         jail.read-only\r\n",
        file.display()
    );
    assert_eq!(shown, expected);
    // Nothing to report, so no output.
    let Some(mut person) = Person::sits_down() else { return };
    person.runs(&stage, "", "echo said; exit 4");
    let (status, shown) = person.waits();
    assert_eq!((status.code(), shown.as_str()), (Some(4), "said\r\n"));
}

/// Files lost with the private home are reported, except in the directories that programs use for their own
/// data.
#[test]
fn a_person_is_told_of_files_that_are_gone() {
    let Some(stage) = Stage::new() else { return };
    let rows = [
        (
            "echo x >~/notes; mkdir -p ~/a/b; echo x >~/a/b/c; ln -s / ~/link",
            "2 files in the private home are gone",
        ),
        ("mkdir ~/.local; echo x >~/.local/x", "1 file in the private home is gone"),
        ("echo x >~/.bash_history; mkdir ~/.cache; echo x >~/.cache/x; echo x >/tmp/x; : >~/empty", ""),
    ];
    for (script, said) in rows {
        let Some(mut person) = Person::sits_down() else { return };
        person.runs(&stage, "", script);
        let (status, shown) = person.waits();
        let line = format!("lost: {said}; to keep such files: --write DIRECTORY\r\n");
        let expected = if said.is_empty() { "" } else { &line };
        assert_eq!((status.code(), shown.as_str()), (Some(0), expected), "{script}");
        assert_eq!(stage.run("", script).err, "", "{script}");
    }
}

#[test]
fn a_protected_name_is_refused_in_the_same_form() {
    let Some(stage) = Stage::new() else { return };
    let ended = ended(&mut stage.unseen("", "mkdir -p a; echo x 2>/dev/null >a/.envrc; exit 0"));
    let expected = format!(
        "denied[RF-J011]: write {}: `.envrc` is protected: direnv runs it on entering the directory; to allow it: \
         --unprotect .envrc, or jail.unprotected\n",
        stage.path("ws/a/.envrc").display()
    );
    assert!(ended.err.ends_with(&expected), "{ended:?}");
}

/// Creates a full pipe that is never read.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (read, write) = rustix::pipe::pipe().unwrap();
    let flags = fcntl_getfl(&write).unwrap();
    fcntl_setfl(&write, flags | OFlags::NONBLOCK).unwrap();
    while rustix::io::write(&write, &[b'x'; 4096]).is_ok() {}
    while rustix::io::write(&write, b"x").is_ok() {}
    fcntl_setfl(&write, flags).unwrap();
    (read, write)
}

#[test]
fn nobody_has_to_read_what_is_said() {
    let Some((stage, denied)) = staged() else { return };
    let rows = [
        ("--explain-denials", format!("{denied}; exit 5"), 5),
        ("--limit wall-clock=200ms", "exec sleep 60".to_owned(), 124),
        ("--overlay --explain-denials", format!("{denied}; echo x >file; exit 6"), 6),
    ];
    for (options, script, code) in &rows {
        let (unread, full) = full_pipe();
        let mut child = stage.script(options, script).stderr(Stdio::from(full)).spawn().unwrap();
        assert_eq!(end_of(&mut child).code(), Some(*code), "{options} {script}");
        drop(unread);
        // A closed pipe does not change the exit code either.
        let (gone, closed) = rustix::pipe::pipe().unwrap();
        drop(gone);
        let mut child = stage.script(options, script).stderr(Stdio::from(closed)).spawn().unwrap();
        assert_eq!(end_of(&mut child).code(), Some(*code), "{options} {script}");
    }
}

fn onto(path: &str) -> File {
    OpenOptions::new().write(true).open(path).unwrap()
}

#[test]
fn output_that_was_lost_is_a_failure() {
    let Some(stage) = Stage::new() else { return };
    for (script, code) in [("echo x", 1), ("true", 0), ("echo x; exit 3", 3)] {
        let told = ended_with(stage.script("", script).stdout(onto("/dev/full")));
        let lost = "lost: output could not be written: No space left on device (os error 28)\n";
        let expected = if script == "true" { "" } else { lost };
        assert_eq!((told.code, told.err.as_str()), (Some(code), expected), "{script}");
    }
    assert!(ledger(&stage).contains("\"event\":\"jail.noted\",\"id\""), "{}", ledger(&stage));
    assert!(ledger(&stage).contains("output could not be written"), "{}", ledger(&stage));
}

/// Like [`ended`], with standard output left as it was set.
fn ended_with(command: &mut Command) -> Ended {
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), out: String::new(), err }
}

#[test]
fn programs_get_one_document_for_the_end_and_one_for_an_error() {
    let Some((stage, denied)) = staged() else { return };
    let ended_run = stage.run("--format json --explain-denials", &format!("{denied}; exit 3"));
    let lines = documents(&ended_run);
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["started", "ended"]);
    let summary = lines[1]["summary"].as_array().unwrap();
    assert_eq!(summary.len(), 1, "{summary:?}");
    assert_eq!(
        (&summary[0]["kind"], &summary[0]["object"], &summary[0]["act"]),
        (&"denied".into(), &stage.path("beside/file").to_str().unwrap().into(), &"read".into())
    );
    let quiet = documents(&stage.run("--format json", "true"));
    assert_eq!(quiet[1]["summary"], Value::Array(Vec::new()));
    fs::write(stage.path("ws/ringfence.toml"), "version = 1\n[commands]\ndeny = [\"git push\"]\n").unwrap();
    let rows: [(&[&str], i32, &str, &str); 5] = [
        (&["run", "--format", "json", "--", "nosuch"], 127, "RF-J007", "nosuch is not found inside the jail"),
        (&["--format", "json", "run", "--", "git", "push"], 126, "RF-R001", "the policy denies: git push"),
        (&["run", "--format=json", "--read", "/nosuch", "true"], 125, "RF-J002", ""),
        (&["run", "--format=json", "--nonsense", "true"], 64, "", "unexpected argument '--nonsense' found"),
        (&["run", "--format=json", "--limit", "x", "true"], 64, "", "`x` is not NAME=VALUE"),
    ];
    for (words, code, name, message) in rows {
        let failed = ended(stage.command().args(words));
        let lines = documents(&failed);
        let error = lines.last().unwrap();
        assert_eq!((failed.code, &error["event"]), (Some(code), &"error".into()), "{words:?} {failed:?}");
        assert_eq!(error["exit"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
        assert_eq!(error["code"].as_str().unwrap_or_default(), name, "{error}");
    }
}

/// The kernel refuses an allocation beyond the limit and leaves no record of it.
#[test]
fn a_limit_on_memory_that_a_program_ran_into_is_said() {
    if !has("perl", "a command that uses up memory") {
        return;
    }
    let Some(stage) = Stage::new() else { return };
    let script = "exec perl -e '$x = \"x\" x 1000000000'";
    let told = stage.run("--limit memory=200MB", script);
    assert!(!matches!(told.code, Some(0)), "{told:?}");
    let limited = told.code == Some(124) && told.err.contains("limit reached: memory (200MB)");
    let said = "limit: each process was limited to 200MB of memory; ";
    assert!(limited || told.err.contains(said), "{told:?}");
    assert!(told.err.contains("limits.memory") || told.err.contains("--limit memory="), "{told:?}");
    // Commands that succeed, or fail without such a limit, print nothing.
    assert_eq!(stage.run("--limit memory=200MB", "true").err, "");
    assert_eq!(stage.run("", "exit 1").err, "");
}

/// Runs git outside; it must succeed.
fn git(directory: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b"]);
    let output = command.args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Git changes `HEAD`, `objects` and `refs` of repositories that existed before. That raises no alarm.
#[test]
fn git_at_work_in_submodules_and_bare_repositories_is_no_surprise() {
    if !has("git", "git at work") {
        return;
    }
    let Some(stage) = Stage::new() else { return };
    let (ws, beside) = (stage.path("ws"), stage.path("beside"));
    git(&beside, &["init", "-q", "-b", "main", "lib"]);
    git(&beside.join("lib"), &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&ws, &["init", "-q", "-b", "main", "."]);
    git(&ws, &["submodule", "add", "-q", beside.join("lib").to_str().unwrap(), "libs/lib"]);
    git(&ws, &["clone", "-q", "--bare", beside.join("lib").to_str().unwrap(), "store/lib.git"]);
    git(&ws, &["init", "-q", "-b", "main", "source"]);
    git(&ws.join("source"), &["commit", "-q", "--allow-empty", "-m", "second"]);
    let author = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; set -e; ";
    let rows = [
        "cd libs/lib; echo x >new; git add new; git commit -qm new; git switch -qc topic; git branch more/deep",
        "git -C store/lib.git fetch -q ../../source main:new/one; git -C store/lib.git symbolic-ref HEAD refs/heads/new/one",
    ];
    for script in rows {
        let told = stage.run("", &format!("{author}{script}"));
        assert_eq!((told.code, told.err.as_str()), (Some(0), ""), "{script}");
    }
    assert!(!ledger(&stage).contains("jail.tripped"));
}

/// Processes that a command leaves running are asked to end before they are killed; those that ignore it are
/// killed soon.
#[test]
fn what_is_left_running_is_asked_to_end() {
    let Some(stage) = Stage::new() else { return };
    let left = "(trap 'echo >asked; exit' TERM; echo >ready; while :; do sleep 0.01; done) & \
                while [ ! -e ready ]; do sleep 0.01; done; exit 3";
    // On a busy machine the grace period may be too short for the process to react.
    let asked = (0..10).any(|_| {
        drop(fs::remove_file(stage.path("ws/ready")));
        let ended = stage.run("", left);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        stage.path("ws/asked").exists()
    });
    assert!(asked);
    let deaf = format!("(trap '' TERM; {0}; {0}) & {0} & exit 4", stage.sleep());
    assert_eq!(stage.run("", &deaf).code, Some(4));
    assert!(stage.is_empty_soon());
}
