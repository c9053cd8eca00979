//! The builder: what it refuses, and what every policy keeps, regardless of its source.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ringfence::guard::{Abort, Config, Refusal};
use ringfence::jail::Mode;
use ringfence::policy::{
    Arguments, Code, Effect, Endpoint, HostName, Link, Reason, Request, ToolName, ToolSet, Want,
};
use ringfence::{BuildError, NotStarted, Preset, Sandbox, SandboxBuilder, Session};
use tempfile::TempDir;

/// A workspace, a state directory and a policy file, each beside the other.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        fs::write(dir.path().join("ws/.env"), "TOKEN=1").unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn builder(&self) -> SandboxBuilder {
        Sandbox::builder().workspace(self.path("ws")).state(self.path("state"))
    }

    /// A builder with a policy file, without a version line.
    fn with_file(&self, text: &str) -> SandboxBuilder {
        let file =
            (0..1000).map(|number| self.path(&format!("policy-{number}.toml"))).find(|file| !file.exists());
        let file = file.unwrap();
        fs::write(&file, format!("version = 1\n{text}\n")).unwrap();
        self.builder().policy_file(file)
    }
}

fn tool(name: &str) -> ToolName {
    ToolName::parse(name).unwrap()
}

/// The code that a line is refused with; `None` if the policy allows it.
fn refused_line(session: &Session, line: &str) -> Option<Code> {
    match session.run(line) {
        Err(NotStarted::Refused(Refusal::Denied(denied))) => Some(denied.code),
        _ => None,
    }
}

fn refused_call(session: &Session, name: &str) -> Option<Code> {
    match session.guard(&tool(name)).call(Arguments::NONE, &Abort::new()) {
        Err(Refusal::Denied(denied)) => Some(denied.code),
        _ => None,
    }
}

fn refused_host(session: &Session, address: [u8; 4]) -> Option<Code> {
    let endpoint = Endpoint { host: HostName::Address(address.into()), port: 80 };
    match session.guard(&tool("web_fetch")).connect(&endpoint, &Abort::new()) {
        Err(Refusal::Denied(denied)) => Some(denied.code),
        _ => None,
    }
}

/// A link that allows every request.
#[expect(clippy::unnecessary_wraps, reason = "the shape of a link")]
fn allow_everything(_: &Request<'_>) -> Option<(Effect, Reason)> {
    Some((Effect::Allow, Reason::new(Code::Rule, "the caller allows everything")))
}

#[test]
fn every_policy_keeps_the_floor() {
    type Give = fn(&Place) -> SandboxBuilder;
    let rows: [(&str, Give); 5] = [
        ("workspace", |place| place.builder().preset(Preset::Workspace)),
        ("daemon", |place| place.builder().preset(Preset::Daemon)),
        ("permissive", |place| place.builder().preset(Preset::Permissive)),
        ("file rules", |place| place.builder().file_rules(Config::default_in(&place.path("ws")))),
        ("policy file", |place| place.with_file("")),
    ];
    for (name, give) in rows {
        let place = Place::new();
        let sandbox = give(&place).policy(Link::new("everything", allow_everything)).build().unwrap();
        let session = sandbox.session("tester").unwrap();
        assert_eq!(refused_line(&session, "rm -rf /"), Some(Code::Destructive), "{name}");
        assert_eq!(refused_host(&session, [169, 254, 169, 254]), Some(Code::MetadataAddress), "{name}");
        assert_eq!(refused_call(&session, "read"), None, "{name}");
        assert!(refused_call(&session, "browser").is_some(), "{name}: not in the profile `coding`");
        // A finding asks, and an answer for everything does not answer it.
        assert_eq!(
            refused_line(&session, "git push --force origin main"),
            Some(Code::AskUnanswered),
            "{name}"
        );
    }
}

/// State and ledger are out of reach of file tools, also under policies that let every file be written.
#[test]
fn no_tool_writes_the_state_of_the_sandbox() {
    type Give = fn(&Place) -> SandboxBuilder;
    let rows: [Give; 2] = [
        |place| place.builder().preset(Preset::Permissive),
        |place| place.with_file("files.jail = false\nfiles.write.default = \"allow\""),
    ];
    for give in rows {
        let place = Place::new();
        let session = give(&place).build().unwrap().session("tester").unwrap();
        let write = |name: &str| match session.guard(&tool("write")).write(&place.path(name), &Abort::new()) {
            Err(Refusal::Denied(denied)) => Some(denied.code),
            _ => None,
        };
        assert_eq!(write("state/ledger.jsonl"), Some(Code::OwnPolicyFile));
        assert_eq!(write("state/new"), Some(Code::OwnPolicyFile));
        assert_eq!(write("beside"), None);
    }
}

/// A change of the jail holds for the jails of single agents and tools, and a tool without a profile has that of the policy.
#[test]
fn changes_of_the_jail_hold_for_every_agent_and_tool() {
    let place = Place::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let text = "agents.other.profile = \"readonly\"\ntools.allow = [\"corp\"]\n\
        [profiles.mine]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\", corp = \"mine2\" }\n\
        [profiles.mine2]\nextends = \"readonly\"\n[jail]\nprofile = \"mine\"";
    let notes = Arc::clone(&seen);
    let ws = place.path("ws");
    let builder = place.with_file(text).jail(move |spec| {
        notes.lock().unwrap().push(spec.mode_at(&ws));
        spec
    });
    builder.build().unwrap();
    let (read, write) = (Some(Mode::ReadOnly), Some(Mode::ReadWrite));
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_by_key(|mode| *mode == write);
    // The profile, `corp` and the agent's jail are read-only, `exec` is not.
    assert_eq!(seen, [read, read, read, write]);
}

#[test]
fn the_tool_set_is_stated_once() {
    let place = Place::new();
    let coding = || ToolSet::of_profile("coding").unwrap();
    let own = || coding().allow("corp_publish").unwrap();
    // The builder, a tool, and if it is listed and may be called.
    let rows = [
        (place.builder().preset(Preset::Workspace), "read", true),
        (place.builder().preset(Preset::Workspace), "corp_publish", false),
        (place.builder().preset(Preset::Workspace).tools(own()), "corp_publish", true),
        (place.builder().preset(Preset::Workspace).tools(coding().deny("read").unwrap()), "read", false),
        (place.with_file("tools.allow = [\"corp_publish\"]"), "corp_publish", true),
        (place.with_file("tools.allow = [\"corp_publish\"]").tools(coding()), "corp_publish", false),
        (place.with_file("tools.allow = [\"corp_publish\"]").tools(own()), "corp_publish", true),
        (place.with_file("").tools(own()), "corp_publish", false),
        (place.with_file("tools.deny = [\"read\"]").tools(own()), "read", false),
        (place.with_file("tools.profile = \"minimal\"").tools(own()), "grep", false),
    ];
    for (number, (builder, name, there)) in rows.into_iter().enumerate() {
        let session = builder.build().unwrap().session("tester").unwrap();
        assert_eq!(session.tools().contains(&tool(name)), there, "row {number}: {name} is listed");
        assert_eq!(refused_call(&session, name).is_none(), there, "row {number}: {name} may be called");
    }
}

#[test]
fn a_policy_file_says_who_may_do_what_and_where() {
    let place = Place::new();
    let text = "commands.deny = [\"cargo publish *\"]\ncommands.approve = [\"git push *\"]\nfiles.write.deny = [\"docs/**\"]\n\
                [agents.reviewer]\ntools.deny = [\"write\"]";
    let sandbox = place.with_file(text).build().unwrap();
    let builder = sandbox.session("builder").unwrap();
    assert_eq!(refused_line(&builder, "cargo publish --dry-run"), Some(Code::Rule));
    assert_eq!(refused_line(&builder, "git push origin main"), Some(Code::AskUnanswered));
    assert_eq!(refused_line(&builder, "cat .env"), Some(Code::ForbiddenName));
    let write = |session: &Session, path: &str| {
        session.guard(&tool("write")).write(Path::new(path), &Abort::new()).map(drop).is_ok()
    };
    assert!(write(&builder, "src/new.rs") && !write(&builder, "docs/new.md"));
    let reviewer = sandbox.session("reviewer").unwrap();
    assert!(reviewer.tools().contains(&tool("read")) && !reviewer.tools().contains(&tool("write")));
    assert_eq!(refused_call(&reviewer, "write"), Some(Code::ToolDenied));
    assert_eq!(refused_call(&builder, "write"), None);
    // The ledger is where the policy file says.
    assert!(place.path("state/ringfence/ledger.jsonl").exists());
}

/// The project's file narrows, as everywhere.
#[test]
fn the_projects_file_narrows_the_policy_file() {
    let place = Place::new();
    fs::write(place.path("ws/ringfence.toml"), "version = 1\ncommands.deny = [\"make *\"]\n").unwrap();
    let session = place.with_file("").build().unwrap().session("tester").unwrap();
    assert_eq!(refused_line(&session, "make all"), Some(Code::Rule));
    assert!(session.guard(&tool("write")).write(Path::new("ringfence.toml"), &Abort::new()).is_err());
}

#[test]
fn what_is_missing_or_contradicts_is_refused() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    fs::write(place.path("broken.toml"), "version = 1\ncommands.dney = []\n").unwrap();
    let preset = || place.builder().preset(Preset::Workspace);
    let rows = [
        (place.builder(), "the sandbox has no preset"),
        (Sandbox::builder().preset(Preset::Workspace).state(place.path("s")), "the sandbox has no workspace"),
        (
            Sandbox::builder().preset(Preset::Workspace).workspace(place.path("ws")),
            "the sandbox has no state",
        ),
        (preset().preset(Preset::Daemon), "the sandbox has 2 policies"),
        (preset().workspace(place.path("none")), "cannot use the directory"),
        (preset().state(place.path("ws/state")), "can be seen in the jail"),
        (place.builder().file_rules(Config::default_in(&place.path("other"))), "the file rules are for"),
        (place.builder().policy_file(place.path("none.toml")), "none.toml does not exist"),
        (place.builder().policy_file(place.path("broken.toml")), "dney"),
        (place.with_file("").state(place.path("ws/state")), "ws"),
    ];
    for (number, (builder, expected)) in rows.into_iter().enumerate() {
        let Err(error) = builder.build() else { panic!("row {number}: built") };
        assert!(error.to_string().contains(expected), "row {number}: {error}");
    }
    let Err(error) = preset().workspace(place.path("none")).build() else { panic!("built") };
    assert!(matches!(&error, BuildError::Directory { .. }) && error.source().is_some(), "{error:?}");
}

#[test]
fn a_link_of_the_caller_is_one_of_the_chain() {
    let place = Place::new();
    let only_tests = |request: &Request<'_>| {
        let Want::Exec(execution) = request.want else { return None };
        let tests =
            execution.invocation.programs.iter().all(|program| format!("{program:?}").contains("test"));
        (!tests).then(|| (Effect::Deny, Reason::new(Code::Rule, "only tests")))
    };
    let link = Link::new("only tests", only_tests);
    let session =
        place.builder().preset(Preset::Workspace).policy(link).build().unwrap().session("a").unwrap();
    assert_eq!(refused_line(&session, "ls"), Some(Code::Rule));
    assert_eq!(refused_line(&session, "test -e x"), None);
    assert!(session.guard(&tool("exec")).policies().contains(&"only tests".to_owned()));
}
