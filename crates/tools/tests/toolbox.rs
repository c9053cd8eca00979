//! All tools behind one call: permitted, recorded, capped.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ringfence::audit::{AuditError, Durability, Event, Ledger, Options, Sink};
use ringfence::guard::Abort;
use ringfence::policy::ToolSet;
use ringfence::{Preset, Sandbox, Session};
use ringfence_tools::{AnyTool, ErrorKind, Toolbox};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Keeps what matters of events, and fails from one of them on.
#[derive(Default)]
struct Kept {
    events: Mutex<Vec<String>>,
    /// Number of events that are still recorded; all, if there is no such number.
    room: Option<AtomicUsize>,
}

impl Sink for Kept {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let left = self
            .room
            .as_ref()
            .map(|room| room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)));
        if matches!(left, Some(Err(_))) {
            let options = Options::new(Durability::Process);
            return Err(Ledger::open(&PathBuf::from("/proc/nowhere/ledger"), options).unwrap_err());
        }
        let more = match event {
            Event::RequestDecided { kind, decision, .. } => format!(" {} {}", kind.word(), decision.word()),
            Event::ToolFinished { outcome, error_kind, cut, whole_chars, returned_chars, .. } => {
                let kind = error_kind.map_or("-", |kind| kind.0);
                assert!(returned_chars <= whole_chars || *cut);
                format!(" {} {kind} cut={cut}", outcome.word())
            }
            _ => String::new(),
        };
        self.events.lock().unwrap().push(format!("{}{more}", event.name()));
        Ok(())
    }
}

fn stage(profile: &str, room: Option<usize>) -> (TempDir, Session, Arc<Kept>) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ws")).unwrap();
    let kept = Arc::new(Kept { room: room.map(AtomicUsize::new), ..Kept::default() });
    let sandbox = Sandbox::builder()
        .preset(Preset::Workspace)
        .workspace(dir.path().join("ws"))
        .state(dir.path().join("state"))
        .tools(ToolSet::of_profile(profile).unwrap())
        .sink(Arc::clone(&kept) as _)
        .build();
    let session = sandbox.unwrap().session("tester").unwrap();
    (dir, session, kept)
}

#[test]
fn a_call_is_permitted_recorded_done_and_recorded() {
    let (_dir, session, kept) = stage("coding", None);
    let toolbox = Toolbox::new();
    let call = |name: &str, arguments: Value| toolbox.call(&session, name, arguments, &Abort::new());
    let kind = |name: &str, arguments: Value| call(name, arguments).unwrap_err().kind;
    assert_eq!(kind("no_such_tool", json!({})), ErrorKind::UnknownTool);
    assert_eq!(kind("not a name", json!({})), ErrorKind::UnknownTool);
    assert_eq!(kind("web_fetch", json!({ "url": "https://example.com" })), ErrorKind::PermissionDenied);
    let refused = call("web_fetch", json!({ "url": "https://example.com" })).unwrap_err();
    assert_eq!(refused.code, Some("RF-T002"), "not in the profile");
    assert_eq!(kind("process", json!({ "action": "dance" })), ErrorKind::InvalidArguments);
    assert_eq!(kind("process", json!([])), ErrorKind::InvalidArguments);
    assert_eq!(kind("process", json!({ "action": "list", "unknown": 1 })), ErrorKind::InvalidArguments);
    let twice = r#"{ "action": "list", "action": "kill" }"#;
    let error = toolbox.call_text(&session, "process", twice, &Abort::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
    call("process", json!({ "action": "list" })).unwrap();
    let events = kept.events.lock().unwrap().clone();
    let expected = [
        "session.opened",
        "request.decided call deny",
        "request.decided call deny",
        // A call that cannot be read is recorded, and requests nothing.
        "tool.started",
        "tool.finished error invalid_arguments cut=false",
        "tool.started",
        "tool.finished error invalid_arguments cut=false",
        "tool.started",
        "tool.finished error invalid_arguments cut=false",
        "tool.started",
        "tool.finished error invalid_arguments cut=false",
        "request.decided call allow",
        "tool.started",
        "tool.finished ok - cut=false",
    ];
    assert_eq!(events, expected);
}

#[test]
fn nothing_happens_that_is_not_recorded() {
    // Room for the opening of the session, then for one record more each time.
    for room in 1..=3 {
        let (dir, session, _) = stage("coding", Some(room));
        let toolbox = Toolbox::new();
        let arguments = json!({ "command": "echo x > made" });
        let error = toolbox.call(&session, "exec", arguments, &Abort::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unrecorded, "{room}: {error:?}");
        assert!(!dir.path().join("ws/made").exists(), "{room}");
    }
}

#[test]
fn a_session_has_the_tools_of_its_set() {
    let toolbox = Toolbox::new();
    let names = |profile: &str| -> Vec<&'static str> {
        let (_dir, session, _) = stage(profile, None);
        let mut names: Vec<_> = toolbox.of(&session).map(AnyTool::name).collect();
        names.sort_unstable();
        names
    };
    assert!(names("messaging").is_empty());
    assert!(names("full").contains(&"web_fetch"));
    assert!(names("coding").contains(&"exec") && !names("coding").contains(&"web_fetch"));
}

/// Checks the schema of every tool: each parameter has a sentence, and nothing is taken that is not listed.
#[test]
fn every_schema_says_what_it_takes() {
    let (_dir, session, _) = stage("full", None);
    for tool in Toolbox::new().of(&session) {
        let schema = tool.schema().to_value();
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name());
        assert!(tool.description().len() > 40, "{}", tool.name());
        for (name, parameter) in schema["properties"].as_object().unwrap() {
            let text = parameter["description"].as_str().unwrap_or_default();
            assert!(text.ends_with('.'), "{} {name}: {text:?}", tool.name());
        }
    }
}
