//! A person sees what is asked.

use ringfence::guard::{Answer, Detail};
use ringfence::policy::Effect;
use serde_json::{Value, json};

use crate::stage::{Person, Stage};

const PATCH: &str = "*** Begin Patch\n*** Add File: made\n+evil\n*** End Patch";

fn shown(details: &[Detail], name: &str) -> Vec<String> {
    details.iter().filter(|detail| detail.name == name).map(|detail| detail.value.clone()).collect()
}

#[test]
fn a_question_about_a_call_shows_its_arguments() {
    let rows = [
        ("write", json!({ "path": "made", "content": "one\ntwo\u{1b}[2J" }), "content", r"one\ntwo\u{1b}[2J"),
        (
            "apply_patch",
            json!({ "input": PATCH }),
            "patch",
            r"*** Begin Patch\n*** Add File: made\n+evil\n*** End Patch",
        ),
        ("edit", json!({ "path": "a", "old_string": "x", "newText": "evil" }), "new", "evil"),
        ("exec", json!({ "command": "cat && echo", "input": "evil" }), "command", "cat && echo"),
        ("exec", json!({ "command": "cat", "input": "evil\n" }), "input", r"evil\n"),
        ("exec", json!({ "command": "cat", "env": { "TARGET": "PROD" } }), "env", "TARGET=PROD"),
        ("exec", json!({ "command": "cat", "cwd": "./sub" }), "cwd", "sub"),
        ("exec", json!({ "command": "cat" }), "cwd", "."),
    ];
    for (tool, arguments, name, expected) in rows {
        let stage = Stage::new(|_| Person::saying(Answer::DenyOnce), |_| Effect::Ask);
        let form = arguments.to_string();
        assert!(stage.call(tool, arguments).is_err());
        let asked = stage.person.asked.lock().unwrap();
        let values = shown(&asked[0].arguments, name);
        assert!(values.iter().any(|value| value == expected), "{tool} {form}: {values:?}");
        assert!(
            asked[0].arguments.iter().all(|detail| !detail.value.chars().any(ringfence::policy::misleads))
        );
    }
}

/// A question about a file that a call writes shows what the call would write.
#[test]
fn a_question_about_a_file_shows_the_call() {
    let stage = Stage::asking_to_write(Person::saying(Answer::DenyOnce));
    stage.put("a", "x");
    let long = "evil ".repeat(10_000);
    let rows: [(&str, Value, &str, &str, usize); 4] = [
        ("write", json!({ "path": "made", "content": "evil" }), "content", "evil", 0),
        ("write", json!({ "path": "made", "content": long }), "content", &long[..3_000], 46_000),
        ("edit", json!({ "path": "a", "old": "x", "new": "evil" }), "new", "evil", 0),
        ("apply_patch", json!({ "patch": PATCH }), "patch", &PATCH.replace('\n', r"\n"), 0),
    ];
    for (tool, arguments, name, expected, hidden) in rows {
        let error = stage.call(tool, arguments).unwrap_err();
        let question = stage.person.asked.lock().unwrap().pop().unwrap();
        assert_eq!(question.kind, ringfence::policy::Kind::Write, "{tool}");
        let detail = question.arguments.iter().find(|detail| detail.name == name).unwrap();
        assert_eq!((detail.value.as_str(), detail.hidden), (expected, hidden), "{tool}");
        let file = stage.path(if tool == "edit" { "a" } else { "made" });
        assert_eq!(error.path.as_deref(), file.to_str(), "{tool}");
    }
}
