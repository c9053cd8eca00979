//! Answers to an ask of the policy: by a person who typed the command, by words on the command line, or none.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::process::{Command, Stdio};

use stage::person::Person;
use stage::{Ended, PROGRAM, Stage, ended};

const RULE: &str =
    "version = 1\n[[rules]]\ncommand = \"touch\"\naction = \"ask\"\nreason = \"it makes files\"\n";
const DEFAULT: &str = "version = 1\ncommands.default = \"ask\"\n";
const OPEN: &str = "version = 1\n";

fn policy(stage: &Stage, text: &str) {
    fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    fs::write(stage.path("home/.config/ringfence/policy.toml"), text).unwrap();
}

fn ledger(stage: &Stage) -> String {
    fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap()
}

fn run(stage: &Stage, options: &[&str], words: &[&str]) -> Ended {
    ended(stage.command().arg("run").args(options).arg("--").args(words))
}

#[test]
fn a_question_without_anybody_is_a_no() {
    let Some(stage) = Stage::new() else { return };
    let rows: &[(&str, &[&str], i32)] = &[
        (RULE, &["touch", "made"], 3),
        (DEFAULT, &["touch", "made"], 3),
        // It is not certain what this starts, and something must not be started unasked.
        (RULE, &["sh", "-c", "$x made"], 3),
        (DEFAULT, &["sh", "-c", "$x made"], 3),
        // Nothing may not be started.
        (OPEN, &["sh", "-c", "x=touch; $x made"], 0),
        (OPEN, &["touch", "made"], 0),
        // Its effect is asked about under every policy.
        (OPEN, &["git", "push", "--force"], 3),
    ];
    for (text, words, expected) in rows {
        policy(&stage, text);
        let came = run(&stage, &[], words);
        assert_eq!(came.code, Some(*expected), "{text}{words:?}\n{came:?}");
        assert_eq!(stage.path("ws/made").exists(), *expected == 0, "{text}{words:?}");
        let _gone = fs::remove_file(stage.path("ws/made"));
        if *expected == 3 {
            assert!(
                came.err.contains("there is no terminal or approver to ask")
                    && came.err.contains("`--approve WORDS`"),
                "{came:?}"
            );
        }
    }
    assert!(!ledger(&stage).contains("a person typed"), "nobody did");
}

/// In a container that was entered, group and session of the first process are those of a process outside, and have no number.
#[test]
fn a_process_group_outside_of_the_namespace_is_nobody() {
    let Some(stage) = Stage::new() else { return };
    policy(&stage, RULE);
    let mut command = Command::new("unshare");
    stage.surround(&mut command).stdin(Stdio::null());
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    let came = ended(command.arg(PROGRAM).args(["run", "--", "touch", "made"]));
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.err.contains("there is no terminal or approver to ask"), "{came:?}");
}

#[test]
fn words_answer_a_question_and_are_kept() {
    let Some(stage) = Stage::new() else { return };
    for text in [RULE, DEFAULT] {
        policy(&stage, text);
        let came = run(&stage, &["--approve", "Ann said so: ticket 7"], &["touch", "made"]);
        assert_eq!(came.code, Some(0), "{came:?}");
        fs::remove_file(stage.path("ws/made")).unwrap();
    }
    let ledger = ledger(&stage);
    assert_eq!(ledger.matches("approved on the command line: Ann said so: ticket 7").count(), 2, "{ledger}");
    // A denial stays a denial, and an empty answer is none.
    policy(&stage, &RULE.replace("ask", "deny"));
    assert_eq!(run(&stage, &["--approve", "please"], &["touch", "made"]).code, Some(126));
    for nothing in ["", " "] {
        assert_eq!(run(&stage, &["--approve", nothing], &["touch", "made"]).code, Some(64));
    }
    assert!(!stage.path("ws/made").exists());
}

#[test]
fn a_person_at_the_terminal_answers() {
    let Some(stage) = Stage::new() else { return };
    for (text, answer, made) in [(RULE, Some("y\n"), true), (RULE, Some("\n"), false), (DEFAULT, None, true)]
    {
        policy(&stage, text);
        let Some(mut person) = Person::sits_down() else { return };
        person.opens_a_shell(&stage);
        person.types(&format!("{PROGRAM} run -- touch made; echo done=$?\n"));
        if let Some(answer) = answer {
            assert!(person.sees("run it? [y/N] ").contains("it makes files"));
            person.types(answer);
        }
        person.sees(if made { "done=0" } else { "done=126" });
        assert_eq!(stage.path("ws/made").exists(), made, "{text}{answer:?}");
        let _gone = fs::remove_file(stage.path("ws/made"));
    }
    assert!(ledger(&stage).contains("a person at the terminal was asked and said yes"));
}

/// A program that makes a terminal for its command is no person at it.
#[test]
fn a_terminal_alone_is_no_person() {
    let Some(stage) = Stage::new() else { return };
    policy(&stage, DEFAULT);
    for words in [&[PROGRAM, "run", "--", "touch", "made"][..], &["bash", "-c", "exec $RF run -- touch made"]]
    {
        let Some(mut person) = Person::sits_down() else { return };
        person.starts(&stage, words);
        person.sees("there is no terminal or approver to ask");
        assert!(!stage.path("ws/made").exists());
    }
}

/// A script has the terminal of its caller, and yet no person typed its commands.
#[test]
fn a_script_at_a_terminal_is_no_person() {
    let Some(stage) = Stage::new() else { return };
    fs::write(stage.path("ws/script"), format!("{PROGRAM} run -- touch made\necho \"done=$?\"\n")).unwrap();
    for text in [RULE, DEFAULT] {
        policy(&stage, text);
        let Some(mut person) = Person::sits_down() else { return };
        person.opens_a_shell(&stage);
        person.types("sh script\n");
        person.sees("done=3");
        assert!(!stage.path("ws/made").exists(), "{text}");
    }
}
