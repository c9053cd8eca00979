//! Rules on arguments hold in every form that a call can take.

use std::fs;

use ringfence::guard::Answer;
use ringfence::policy::Effect;
use ringfence_tools::ErrorKind;
use serde_json::{Value, json};

use crate::stage::{Person, Stage};

const DELETE: &str = "*** Begin Patch\n*** Delete File: victim\n*** End Patch";

/// A call, and the rule that denies it: the name of an argument, and text that its value contains.
fn rows(workspace: &str) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let edit = |more: Value| {
        let mut arguments = json!({ "path": "victim" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    vec![
        ("exec", json!(["echo >made", null, null, null, {}, null, true, null, null]), "background", "true"),
        ("exec", json!({ "command": "echo >made", "background": true }), "background", "true"),
        ("exec", json!({ "command": "echo >made", "timeoutMs": 5000 }), "timeout_ms", "5000"),
        ("exec", json!({ "command": "echo >made", "idleTimeoutMs": 5000 }), "idle_timeout_ms", "5000"),
        ("exec", json!({ "command": "echo >made", "autoBackgroundMs": 5000 }), "auto_background_ms", "5000"),
        ("exec", json!({ "command": "echo >made", "env": { "TARGET": "PROD" } }), "env", "TARGET=PROD"),
        ("exec", json!({ "command": "echo >made", "input": "evil" }), "input", "evil"),
        ("exec", json!({ "command": "echo >made", "cwd": "./sub/" }), "cwd", "=sub"),
        ("exec", json!({ "command": "echo >made", "cwd": format!("{workspace}/sub") }), "cwd", "=sub"),
        ("apply_patch", json!({ "patch": DELETE }), "patch", "Delete File"),
        ("apply_patch", json!({ "input": DELETE }), "patch", "Delete File"),
        ("apply_patch", json!([DELETE]), "patch", "Delete File"),
        ("edit", edit(json!({ "old": "safe", "new": "evil" })), "new", "evil"),
        ("edit", edit(json!({ "old_string": "safe", "new_string": "evil" })), "new", "evil"),
        ("edit", edit(json!({ "oldText": "safe", "newText": "evil" })), "new", "evil"),
        ("edit", edit(json!({ "edits": [{ "old": "safe", "new": "evil" }] })), "new", "evil"),
        ("edit", edit(json!({ "edits": [{ "old_string": "safe", "newText": "evil" }] })), "new", "evil"),
        ("edit", edit(json!({ "edits": [["safe", "evil"]] })), "new", "evil"),
        ("edit", edit(json!({ "old": "safe", "new": "evil" })), "edits", "evil"),
        ("edit", edit(json!({ "old": "safe", "new": "e", "replaceAll": true })), "replace_all", "true"),
        ("edit", json!(["victim", [{ "old": "safe", "new": "evil" }], null, null, null]), "new", "evil"),
        ("edit", json!({ "file_path": "victim", "old": "safe", "new": "e" }), "path", "=victim"),
        ("write", json!({ "path": "victim", "content": "evil" }), "content", "evil"),
        ("write", json!(["victim", "evil", false, null]), "content", "evil"),
        ("write", json!({ "file_path": "victim", "content": "evil" }), "path", "=victim"),
        ("write", json!({ "path": "./victim", "content": "evil" }), "path", "=victim"),
        ("write", json!({ "path": "sub/../victim", "content": "evil" }), "path", "=victim"),
        ("write", json!({ "path": format!("{workspace}/victim"), "content": "evil" }), "path", "=victim"),
        ("write", json!({ "path": format!("{workspace}//./victim"), "content": "evil" }), "path", "=victim"),
        ("read", json!(["victim", null, null, null]), "path", "=victim"),
        ("read", json!({ "file_path": "victim" }), "path", "=victim"),
        ("ls", json!({ "file_path": "./sub" }), "path", "=sub"),
        (
            "find",
            json!([null, "sub", "any", false, false, null, null, null, null, null, null, "path"]),
            "path",
            "=sub",
        ),
        ("grep", json!({ "pattern": "x", "glob": "secret*" }), "glob", "=secret*"),
        ("grep", json!({ "pattern": "x", "glob": ["secret*"] }), "glob", "=secret*"),
        ("grep", json!({ "pattern": "x", "type": ["py", "rust"] }), "type", "=rust"),
        ("process", json!({ "action": "kill", "jobId": "job-1" }), "job", "job-1"),
        ("process", json!({ "action": "kill", "sessionId": "job-1" }), "job", "job-1"),
        ("process", json!(["kill", "job-1", null, null, null]), "action", "kill"),
        ("web_fetch", json!({ "url": "http://127.0.0.1:1/", "timeoutMs": 5000 }), "timeout_ms", "5000"),
        ("web_fetch", json!({ "url": "http://127.0.0.1:1/", "maxChars": 5000 }), "max_chars", "5000"),
        ("web_fetch", json!(["http://127.0.0.1:1/", null, false, null]), "url", "127.0.0.1"),
        // A rule may use another name, too.
        ("exec", json!({ "command": "echo >made", "timeout_ms": 5000 }), "timeoutMs", "5000"),
        ("apply_patch", json!({ "patch": DELETE }), "input", "Delete File"),
        ("edit", edit(json!({ "old": "safe", "new": "evil" })), "new_string", "evil"),
        ("edit", edit(json!({ "old": "safe", "newText": "evil" })), "old_string", "safe"),
        ("write", json!({ "path": "victim", "content": "evil" }), "file_path", "=victim"),
        ("process", json!({ "action": "kill", "job": "job-1" }), "sessionId", "job-1"),
        // An omitted parameter has its default value.
        ("exec", json!({ "command": "echo >made" }), "background", "false"),
        ("exec", json!({ "command": "echo >made" }), "timeout_ms", "=120000"),
        ("ls", json!({}), "path", "=."),
        ("read", json!({ "path": "victim", "offset": null }), "offset", "=1"),
    ]
}

#[test]
fn a_rule_on_an_argument_holds_in_every_form_of_a_call() {
    let mut wrong = Vec::new();
    for index in 0..rows("").len() {
        let (_, _, name, text) = rows("")[index].clone();
        let stage = Stage::new(
            |_| Person::saying(Answer::DenyOnce),
            move |request| {
                let mut values = request.want.arguments().unwrap().values(name);
                let holds =
                    values.any(|value| text.strip_prefix('=').map_or(value.contains(text), |it| value == it));
                if holds { Effect::Deny } else { Effect::Allow }
            },
        );
        stage.put("victim", "safe");
        let (tool, arguments, ..) =
            rows(stage.path("").to_str().unwrap().trim_end_matches('/'))[index].clone();
        let form = arguments.to_string();
        let kind = stage.call(tool, arguments).map_or_else(|error| Some(error.kind), |_| None);
        let refused = matches!(kind, Some(ErrorKind::PermissionDenied | ErrorKind::InvalidArguments));
        let list = form.starts_with('[');
        let intact = fs::read(stage.path("victim")).is_ok_and(|content| content == b"safe")
            && !["made", "sub/made"].iter().any(|name| stage.path(name).exists());
        if !refused || !intact || list != (kind == Some(ErrorKind::InvalidArguments)) {
            wrong.push(format!("{tool} {form}: {kind:?}, a rule on `{name}`"));
        }
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
}

/// A name that is given twice, by itself or by another name, is refused.
#[test]
fn one_argument_has_one_value() {
    let stage = Stage::new(|_| Person::saying(Answer::DenyOnce), |_| Effect::Allow);
    stage.put("victim", "safe");
    let rows = [
        ("write", json!({ "path": "a", "file_path": "victim", "content": "x" })),
        ("apply_patch", json!({ "patch": "", "input": DELETE })),
        ("exec", json!({ "command": "true", "timeout_ms": 100, "timeoutMs": 200 })),
        ("edit", json!({ "path": "victim", "old": "safe", "old_string": "safe", "new": "x" })),
        (
            "edit",
            json!({ "path": "victim", "edits": [{ "old": "safe", "new": "x" }], "old": "safe", "new": "y" }),
        ),
        ("process", json!({ "action": "list", "jobId": "a", "sessionId": "b" })),
        ("read", json!("victim")),
        ("read", json!(null)),
    ];
    for (tool, arguments) in rows {
        let form = arguments.to_string();
        assert_eq!(
            stage.call(tool, arguments).unwrap_err().kind,
            ErrorKind::InvalidArguments,
            "{tool} {form}"
        );
    }
    assert_eq!(fs::read_to_string(stage.path("victim")).unwrap(), "safe");
}
