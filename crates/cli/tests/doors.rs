//! One rule means one thing at every door: `run`, `check command`, `check tool`, and `exec` of the tools.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::{Abort, Answer, Approver, Question, Unanswered};
use ringfence::jail::{Choice, Layer, Level, Require, Spec};
use ringfence::policy::{Cover, Limits};
use ringfence::{Parts, Sandbox};
use serde_json::json;
use stage::{Stage, ended};
use tools::Toolbox;

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
    fs::create_dir_all(stage.path("spill")).unwrap();
    fs::set_permissions(stage.path("spill"), fs::Permissions::from_mode(0o700)).unwrap();
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
    let check = |words: &[&str]| match ended(stage.command().arg("check").args(words)).code {
        Some(0) => "allow",
        Some(3) => "ask",
        Some(4) => "deny",
        other => panic!("{words:?}: {other:?}"),
    };
    vec![
        ("check command", check(&["command", line])),
        ("check tool", check(&["tool", "exec", "--arg", &format!("command={line}")])),
        ("run", run(stage, line)),
        ("exec", exec(stage, text, line)),
    ]
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

struct Silent;

impl Sink for Silent {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

/// An approver that never answers, and counts the questions.
struct Counting(AtomicUsize);

impl Approver for Counting {
    fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(Unanswered::Nobody)
    }
}

fn exec(stage: &Stage, text: &str, line: &str) -> &'static str {
    arrange(stage);
    let (workspace, home) = (stage.path("ws"), stage.path("home"));
    let places =
        config::Places { workspace: workspace.clone(), home: Some(home.clone()), state: None, run: None };
    let source =
        config::Source::new(config::Scope::User, "policy.toml".as_ref(), format!("version = 1\n{text}\n"));
    let settings = config::from_sources(vec![source], &places).unwrap();
    let mut spec = Spec::for_workspace(&workspace, &home, Limits::none());
    spec.environment = [("PATH", "/usr/bin:/bin"), ("HOME", "/tmp")]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
    spec.require = Require::FULL.with(Layer::Files, Level::Partial).with(Layer::Processes, Level::Partial);
    let approver = Arc::new(Counting(AtomicUsize::new(0)));
    let sandbox = Sandbox::new(Parts {
        workspace,
        chain: settings.chain.clone(),
        spec,
        tool_specs: Vec::new(),
        provider: Choice::Auto,
        tools: settings.tools.clone(),
        approver: Arc::clone(&approver) as Arc<dyn Approver>,
        cover: Cover::Tool,
        sink: Arc::new(Silent),
        spill: stage.path("spill"),
    });
    let session = sandbox.unwrap().session("tester").unwrap();
    let came = Toolbox::new().call(&session, "exec", json!({ "command": line }), &Abort::new());
    let asked = approver.0.load(Ordering::Relaxed);
    let said = match (&came, asked) {
        (Ok(_), 0) => "allow",
        (Err(_), 1) => "ask",
        (Err(error), 0) if error.code.is_some_and(|code| !code.starts_with("RF-J")) => "deny",
        _ => panic!("{text} {line}: asked {asked} times: {came:?}"),
    };
    assert!(line.starts_with("git") || has_run(stage, line) == (said == "allow"), "{line}: {came:?}");
    said
}
