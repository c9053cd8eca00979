//! Tools of the caller: known by their own names, and narrowed by policies that they declare themselves.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ringfence::audit::Impact;
use ringfence::guard::Abort;
use ringfence::policy::{Code, Effect, Link, Policy, Reason, Request, ToolSet, Want};
use ringfence::{Preset, Sandbox, Session};
use ringfence_tools::{Call, ErrorKind, Reply, Tool, ToolError, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Writes a file, and declares that it writes to `out` only, for every request.
struct Publish;

#[derive(Deserialize, JsonSchema, serde::Serialize)]
struct PublishParameters {
    /// The file.
    path: PathBuf,
}

impl Tool for Publish {
    type Parameters = PublishParameters;
    const NAME: &'static str = "corp_publish";
    const DESCRIPTION: &'static str = "Publishes a file.";
    const IMPACT: Impact = Impact::Destroy;

    fn policies(&self) -> Vec<Arc<dyn Policy>> {
        let only_out = |request: &Request<'_>| {
            let reason = |text: &'static str| Reason::new(Code::Rule, text);
            match request.want {
                Want::Write(location) if !location.path().to_string_lossy().contains("/out/") => {
                    Some((Effect::Deny, reason("this tool writes to out")))
                }
                // A tool's permission for itself counts for nothing.
                Want::Write(_) => Some((Effect::Allow, reason("this tool writes everywhere"))),
                Want::Call(arguments) if arguments.values("path").any(|path| path.contains("never")) => {
                    Some((Effect::Deny, reason("this is never published")))
                }
                _ => None,
            }
        };
        vec![Arc::new(Link::new("out only", only_out))]
    }

    fn run(&self, call: &Call<'_>, parameters: PublishParameters) -> Result<Reply, ToolError> {
        call.guard
            .write(&parameters.path, call.abort)?
            .replace(b"x")
            .map_err(|refusal| ToolError::new(ErrorKind::System, format!("{refusal:?}")))?;
        Ok(Reply::new("published".to_owned(), json!({})))
    }
}

fn stage(allow: &str) -> (tempfile::TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("ws/out")).unwrap();
    let sandbox = Sandbox::builder()
        .preset(Preset::Workspace)
        .workspace(dir.path().join("ws"))
        .state(dir.path().join("state"))
        .tools(ToolSet::of_profile("coding").unwrap().allow(allow).unwrap())
        .build();
    let session = sandbox.unwrap().session("tester").unwrap();
    (dir, session)
}

#[test]
fn a_tool_is_narrowed_by_what_it_declares() {
    let (dir, session) = stage("corp_*");
    let toolbox = Toolbox::new().add(Publish);
    let rows = [
        ("corp_publish", json!({ "path": "out/a" }), None),
        ("corp_publish", json!({ "path": "b" }), Some("this tool writes to out")),
        ("corp_publish", json!({ "path": "out/never" }), Some("this is never published")),
        ("corp_publish", json!({ "path": "out/.env" }), Some("forbidden")),
        // Other tools are not concerned.
        ("write", json!({ "path": "b", "content": "x" }), None),
        ("write", json!({ "path": "never", "content": "x" }), None),
    ];
    for (tool, arguments, refused) in rows {
        let came = toolbox.call(&session, tool, arguments.clone(), &Abort::new());
        match (came, refused) {
            (Ok(_), None) => {}
            (Err(error), Some(text)) => {
                assert!(error.message.contains(text), "{tool} {arguments}: {error:?}");
            }
            (came, _) => panic!("{tool} {arguments}: {came:?}"),
        }
    }
    assert!(dir.path().join("ws/out/a").exists() && !dir.path().join("ws/out/never").exists());
    let ledger = fs::read_to_string(dir.path().join("state/ledger.jsonl")).unwrap();
    assert_eq!(ledger.matches("declared the policy `out only`").count(), 1, "recorded once");
}

#[test]
fn an_own_tool_is_called_only_if_the_set_has_it() {
    for (allow, there) in [("corp_publish", true), ("corp_*", true), ("corp_other", false)] {
        let (_dir, session) = stage(allow);
        let toolbox = Toolbox::new().add(Publish);
        assert_eq!(toolbox.of(&session).any(|tool| tool.name() == "corp_publish"), there, "{allow}");
        let came = toolbox.call(&session, "corp_publish", json!({ "path": "out/a" }), &Abort::new());
        assert_eq!(came.is_ok(), there, "{allow}: {came:?}");
    }
}
