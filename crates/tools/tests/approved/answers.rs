//! One question for one execution, and an answer for exactly what was asked.

use std::fs;
use std::os::unix::fs::symlink;

use ringfence::guard::Answer;
use ringfence::policy::{Effect, Kind};
use ringfence_tools::ErrorKind;
use serde_json::{Value, json};

use crate::stage::{Person, Stage};

#[test]
fn one_execution_is_one_request_and_one_question() {
    let stage = Stage::new(|_| Person::saying(Answer::AllowOnce), |_| Effect::Ask);
    let Some(done) = stage.exec("one request", json!({ "command": "true", "background": false })) else {
        return;
    };
    done.unwrap();
    let asked: Vec<_> = stage.person.asked.lock().unwrap().iter().map(|question| question.kind).collect();
    assert_eq!(asked, [Kind::Exec]);
    let events = stage.events();
    let names: Vec<_> = events.iter().map(|event| event.split(" {").next().unwrap()).collect();
    let expected = [
        "request.decided exec ask",
        "approval.asked",
        "approval.answered",
        "tool.started",
        "jail.started",
        "jail.ended",
        "tool.finished",
    ];
    assert_eq!(names, expected);
    assert!(events[3].contains(r#""command":"true""#), "{}", events[3]);
}

/// A call that fails before it is judged has records as well, and one that is denied has its decision.
#[test]
fn a_call_that_is_not_admitted_is_recorded() {
    let started = |event: &String| event.starts_with("tool.started");
    let rows = [
        (json!({ "command": " " }), ErrorKind::InvalidArguments, true),
        (json!({ "command": "true", "env": { "HOME": "/x" } }), ErrorKind::InvalidArguments, true),
        (json!({ "command": "true", "cwd": "file" }), ErrorKind::WrongType, true),
        (json!({ "command": "true", "cwd": "absent" }), ErrorKind::NotFound, true),
        (json!({ "command": "true" }), ErrorKind::PermissionDenied, false),
    ];
    for (arguments, kind, recorded) in rows {
        let stage = Stage::new(|_| Person::saying(Answer::DenyOnce), |_| Effect::Deny);
        stage.put("file", "");
        let form = arguments.to_string();
        assert_eq!(stage.call("exec", arguments).unwrap_err().kind, kind, "{form}");
        let events = stage.events();
        assert_eq!(events.iter().any(started), recorded, "{form}: {events:?}");
        assert_eq!(
            events.last().is_some_and(|event| event == "tool.finished"),
            recorded,
            "{form}: {events:?}"
        );
        assert!(recorded || events == ["request.decided exec deny"], "{form}: {events:?}");
    }
}

/// Pairs of calls: a yes for the session to the first says nothing about the second.
#[test]
fn an_answer_for_the_session_covers_only_what_was_asked() {
    let line = |line: &str| json!({ "command": line });
    let with = |line: &str, name: &str, value: Value| json!({ "command": line, name: value });
    let rows = [
        (with("python3 -", "input", json!("print(1)")), with("python3 -", "input", json!("print(2)"))),
        (
            with("make -f -", "input", json!("all:\n\ttrue")),
            with("make -f -", "input", json!("all:\n\tfalse")),
        ),
        (with("xargs rm", "input", json!("a")), with("xargs rm", "input", json!("b"))),
        (
            with("read v; eval \"$v\"", "input", json!("true")),
            with("read v; eval \"$v\"", "input", json!("false")),
        ),
        (
            with("true", "env", json!({ "TARGET": "staging" })),
            with("true", "env", json!({ "TARGET": "PROD" })),
        ),
        (with("true", "env", json!({ "A": "b" })), line("true")),
        (with("true", "cwd", json!("sub")), with("true", "cwd", json!("evil"))),
        (with("true", "timeout_ms", json!(1000)), with("true", "timeout_ms", json!(2000))),
        (line("true && true"), line("true || true")),
        (line("true & true"), line("true ; true")),
        (line("case a in a) true;; esac"), line("case b in a) true;; esac")),
        (line("true"), line("! true")),
    ];
    for (first, second) in rows {
        let stage = Stage::new(|_| Person::saying(Answer::AllowForSession), |_| Effect::Ask);
        for (call, asked) in [(&first, 1), (&first, 1), (&second, 2), (&first, 2)] {
            if stage.exec("answers for the session", call.clone()).is_none() {
                return;
            }
            assert_eq!(stage.asked(), asked, "{first} then {second}, at {call}");
        }
    }
    // The purpose of a command changes nothing about it.
    let stage = Stage::new(|_| Person::saying(Answer::AllowForSession), |_| Effect::Ask);
    for why in ["one", "two"] {
        stage.exec("answers for the session", with("true", "description", json!(why)));
    }
    assert_eq!(stage.asked(), 1);
}

/// The program that was approved is the program that runs, also later in the session.
#[test]
fn an_answer_does_not_cover_a_program_that_changed() {
    let stage = Stage::new(|_| Person::saying(Answer::AllowForSession), |_| Effect::Ask);
    let write = |text: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        stage.put("sub/run", text);
        fs::set_permissions(stage.path("sub/run"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("#!/bin/sh\necho one\n");
    let call = json!({ "command": "./run", "cwd": "sub" });
    for _ in 0..2 {
        let Some(ran) = stage.exec("programs that change", call.clone()) else { return };
        assert_eq!(ran.unwrap().data["stdout"], "one\n");
    }
    assert_eq!(stage.asked(), 1);
    write("#!/bin/sh\necho three\n");
    stage.exec("programs that change", call).unwrap().unwrap();
    assert_eq!(stage.asked(), 2);
}

/// While the person reads the question, the directory or the program becomes another.
#[test]
fn what_is_swapped_during_the_question_does_not_run() {
    type Swap = fn(&std::path::Path);
    let directory: Swap = |work| {
        fs::rename(work.join("sub"), work.join("old")).unwrap();
        symlink("evil", work.join("sub")).unwrap();
    };
    let program: Swap = |work| fs::rename(work.join("evil/run"), work.join("sub/run")).unwrap();
    let rows = [
        ("sh run", "sub", directory),
        ("./run", "sub", directory),
        ("./run", "sub", program),
        ("sub/run", ".", program),
        ("cd sub && ./run", ".", program),
    ];
    for (line, cwd, swap) in rows {
        let stage = Stage::new(
            |work| Person::saying(Answer::AllowOnce).meanwhile(move || swap(&work)),
            |_| Effect::Ask,
        );
        for (name, text) in
            [("sub/run", "#!/bin/sh\necho fine"), ("evil/run", "#!/bin/sh\n: > ../sprung\n: > sprung")]
        {
            use std::os::unix::fs::PermissionsExt as _;
            stage.put(name, text);
            fs::set_permissions(stage.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let Some(done) = stage.exec("swaps", json!({ "command": line, "cwd": cwd })) else { return };
        assert!(stage.asked() >= 1, "{line}");
        let sprung = ["sprung", "evil/sprung", "sub/sprung"].iter().any(|name| stage.path(name).exists());
        assert!(!sprung, "{line} in {cwd}: {done:?}");
        assert_eq!(done.unwrap_err().kind, ErrorKind::Conflict, "{line} in {cwd}");
    }
}
