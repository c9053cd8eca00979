//! One rule means one thing at every door: `run`, `check command`, `check tool`, and `exec` of the tools.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence::guard::{Abort, Answer, Approver, Question, Unanswered};
use ringfence::jail::{Layer, Level, Require};
use ringfence::{Sandbox, Session};
use serde_json::json;
use stage::{Stage, ended};
use tools::{ErrorKind, Output, ToolError, Toolbox};

/// Policies, each with a kind of rule that one door could forget.
const POLICIES: &[&str] = &[
    "",
    "commands.deny = [\"rm -rf\"]",
    "commands.approve = [\"rm\"]",
    "commands = { default = \"ask\", allow = [\"touch made\"] }",
    "commands = { default = \"deny\", allow = [\"touch\"] }",
    "commands = { approve = [\"*\"], allow = [\"touch\"], deny = [\"touch other\"] }",
    "commands.deny = [\"Bash(rm:*)\", \"Write(other)\"]",
    "files.write.deny = [\"other\"]",
    "tools.deny = [\"exec\"]",
    "tools.profile = \"minimal\"",
    "[[rules]]\ntool = \"exec\"\nargs = { command = 're:(?s).*rm\\s+-rf.*' }\naction = \"deny\"",
    "[[rules]]\ntool = \"exec\"\nargs = { command = 're:rm\\s+-rf' }\naction = \"ask\"",
    "[[rules]]\ntool = \"exec\"\nargs = { command = \"touch *\" }\naction = \"deny\"",
    "[[rules]]\nargs = { command = \"re:other\" }\naction = \"deny\"",
    "[[rules]]\ntool = \"exec\"\naction = \"ask\"\n[[rules]]\ntool = \"exec\"\nargs = { command = \"re:^touch made$\" }\naction = \"allow\"",
    "[[rules]]\ntool = \"exec\"\naction = \"deny\"",
    "[[rules]]\ntool = \"e*\"\naction = \"ask\"",
    "[[rules]]\ntool = \"read\"\naction = \"deny\"",
    "[[rules]]\ncommand = \"re:rm.*victim\"\naction = \"deny\"",
    "[[rules]]\ntool = \"exec\"\ncommand = \"rm\"\nargs = { command = \"re:victim\" }\naction = \"ask\"",
    "[[rules]]\npath = \"victim/**\"\naction = \"deny\"",
    "commands.findings = { RF-S020 = \"deny\" }",
];

/// Lines that every door takes as they are: no shell changes them.
const LINES: &[&str] =
    &["touch made", "touch other", "rm -rf victim", "rm -f -r victim/a", "git push --force"];

#[test]
fn every_door_says_the_same() {
    let Some(stage) = Stage::new() else { return };
    fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    let (mut differ, mut words) = (Vec::new(), Vec::new());
    for text in POLICIES {
        fs::write(stage.path("home/.config/ringfence/policy.toml"), format!("version = 1\n{text}\n"))
            .unwrap();
        for line in LINES {
            let said = doors(&stage, text, line);
            words.push(said[0].1);
            if said.iter().any(|(_, word)| *word != said[0].1) {
                differ.push(format!("{text}\n  {line}: {said:?}"));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(
        ["allow", "ask", "deny"].iter().all(|word| words.iter().filter(|other| other == &word).count() > 10)
    );
}

fn doors(stage: &Stage, text: &str, line: &str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("check command", check(stage, &["command", line])),
        ("check tool", check(stage, &["tool", "exec", "--arg", &format!("command={line}")])),
        ("run", run(stage, line)),
        ("exec", exec(stage, text, line)),
    ]
}

fn check(stage: &Stage, words: &[&str]) -> &'static str {
    match ended(stage.command().arg("check").args(words)).code {
        Some(0) => "allow",
        Some(3) => "ask",
        Some(4) => "deny",
        other => panic!("{words:?}: {other:?}"),
    }
}

fn arrange(stage: &Stage) {
    let _gone = fs::remove_file(stage.path("ws/made"));
    let _gone = fs::remove_file(stage.path("ws/other"));
    fs::create_dir_all(stage.path("ws/victim/a")).unwrap();
}

/// Returns true if something came of the line: what was refused left no trace.
fn has_run(stage: &Stage, line: &str) -> bool {
    let there = |name: &str| stage.path("ws").join(name).exists();
    match line {
        "touch made" => there("made"),
        "touch other" => there("other"),
        "rm -rf victim" => !there("victim"),
        _ => !there("victim/a"),
    }
}

fn run(stage: &Stage, line: &str) -> &'static str {
    arrange(stage);
    let came = ended(stage.command().args(["run", "--"]).args(line.split(' ')));
    let said = match came.code {
        Some(3) => "ask",
        Some(126) => "deny",
        Some(0) => "allow",
        // There is no repository.
        Some(128) if line.starts_with("git") => "allow",
        other => panic!("{line}: {other:?} {came:?}"),
    };
    assert!(line.starts_with("git") || has_run(stage, line) == (said == "allow"), "{line}: {came:?}");
    said
}

/// An approver that never answers, and counts the questions.
struct Counting(AtomicUsize);

impl Approver for Counting {
    fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(Unanswered::Nobody)
    }
}

/// A session of the library with the policy file of the stage, and the approver that counts its questions.
fn session(stage: &Stage) -> (Session, Arc<Counting>) {
    let approver = Arc::new(Counting(AtomicUsize::new(0)));
    let variables = [("PATH", "/usr/bin:/bin".into()), ("HOME", stage.path("home").into_os_string())];
    let sandbox = Sandbox::builder()
        .policy_file(stage.path("home/.config/ringfence/policy.toml"))
        .workspace(stage.path("ws"))
        .state(stage.path("library"))
        .environment(variables.map(|(name, value)| (name.into(), value)))
        .approver(Arc::clone(&approver) as Arc<dyn Approver>)
        .jail(|mut spec| {
            spec.require =
                Require::FULL.with(Layer::Files, Level::Partial).with(Layer::Processes, Level::Partial);
            spec
        })
        .build();
    (sandbox.unwrap().session("tester").unwrap(), approver)
}

/// The decision about a call: a question that nobody answers is an ask.
fn decision(came: &Result<Output, ToolError>, asked: usize) -> &'static str {
    match (came, asked) {
        (Ok(_), 0) => "allow",
        (Err(_), 1) => "ask",
        (Err(error), 0) if error.code.is_some_and(|code| !code.starts_with("RF-J")) => "deny",
        // Allowed, and there is no such file.
        (Err(error), 0) if error.kind == ErrorKind::NotFound => "allow",
        _ => panic!("asked {asked} times: {came:?}"),
    }
}

fn exec(stage: &Stage, text: &str, line: &str) -> &'static str {
    arrange(stage);
    let (session, approver) = session(stage);
    let came = Toolbox::new().call(&session, "exec", json!({ "command": line }), &Abort::new());
    let said = decision(&came, approver.0.load(Ordering::Relaxed));
    assert!(line.starts_with("git") || has_run(stage, line) == (said == "allow"), "{text} {line}: {came:?}");
    said
}

/// Files and calls: the toolbox of a library with a policy file decides as `ringfence check` does.
#[test]
fn the_library_decides_as_check_does() {
    let stage = Stage::bare();
    fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    for name in ["ws/docs", "ws/src"] {
        fs::create_dir_all(stage.path(name)).unwrap();
    }
    for name in ["ws/docs/a.md", "ws/src/a.rs", "ws/.env", "ws/ringfence.toml"] {
        fs::write(stage.path(name), if name.ends_with("toml") { "version = 1\n" } else { "x\n" }).unwrap();
    }
    let policies = [
        "",
        "files.write.deny = [\"docs/**\"]",
        "files.write = { default = \"ask\", allow = [\"src/**\"] }",
        "files.read = { default = \"deny\", allow = [\"src/**\"] }",
        "tools.deny = [\"write\"]",
        "tools.profile = \"minimal\"",
        "[[rules]]\ntool = \"read\"\npath = \"docs/**\"\naction = \"ask\"",
        "[[rules]]\ntool = \"write\"\naction = \"ask\"",
        "[[rules]]\ntool = \"grep\"\nargs = { pattern = \"secret*\" }\naction = \"deny\"",
        "files.jail = \"ask\"\nfiles.absolute-paths = true",
    ];
    let files = ["docs/a.md", "src/a.rs", ".env", "ringfence.toml", "/etc/hostname"];
    let (mut differ, mut words) = (Vec::new(), Vec::new());
    for text in policies {
        fs::write(stage.path("home/.config/ringfence/policy.toml"), format!("version = 1\n{text}\n"))
            .unwrap();
        let (session, approver) = session(&stage);
        let toolbox = Toolbox::new();
        let call = |tool: &str, arguments: serde_json::Value| {
            approver.0.store(0, Ordering::Relaxed);
            let came = toolbox.call(&session, tool, arguments, &Abort::new());
            decision(&came, approver.0.load(Ordering::Relaxed))
        };
        let mut compare = |row: String, checked: [&'static str; 2], called: &'static str| {
            // A call of a tool is two requests, first the call and then the file.
            let [file, call] = checked;
            let expected = if call == "allow" { file } else { call };
            words.push(called);
            if expected != called {
                differ.push(format!("{text}\n  {row}: check {checked:?}, library {called}"));
            }
        };
        for file in files {
            let checked = [
                check(&stage, &["path", file]),
                check(&stage, &["tool", "read", "--arg", &format!("path={file}")]),
            ];
            compare(format!("read {file}"), checked, call("read", json!({ "path": file })));
            let checked = [
                check(&stage, &["path", "--write", file]),
                check(&stage, &["tool", "write", "--arg", &format!("path={file}")]),
            ];
            if !file.starts_with('/') {
                compare(
                    format!("write {file}"),
                    checked,
                    call("write", json!({ "path": file, "content": "x\n" })),
                );
            }
        }
        for pattern in ["secret words", "words"] {
            let checked = [
                check(&stage, &["path", "src", "--tool", "grep"]),
                check(&stage, &["tool", "grep", "--arg", &format!("pattern={pattern}")]),
            ];
            compare(
                format!("grep {pattern}"),
                checked,
                call("grep", json!({ "pattern": pattern, "path": "src" })),
            );
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(
        ["allow", "ask", "deny"].iter().all(|word| words.iter().filter(|other| other == &word).count() > 4),
        "{words:?}"
    );
}
