//! A session of an agent, and its calls.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::{Abort, Config, Jail};
use ringfence::jail::{Layer, Level, Require, Spec};
use ringfence::policy::{Code, Effect, Execution, Limits, Link, Reason, Request, ToolName, Want};
use ringfence::{Sandbox, Session};
use ringfence_tools::{AnyTool, Call, ErrorKind, Exec, Output, Process, ToolError};
use serde_json::Value;
use tempfile::TempDir;

use crate::skip::skipped;

/// A directory with a workspace, and a session in it.
pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) sink: Arc<Kept>,
    whole: TempDir,
}

/// The names of events, with the most important word.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Vec<String>>);

impl Sink for Kept {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let more = match event {
            Event::RequestDecided { decision, .. } => format!(" {}", decision.word()),
            Event::JailEnded { outcome, .. } => format!(" {}", outcome.word()),
            Event::ToolFinished { cut, whole_chars, returned_chars, .. } => {
                format!(" cut={cut} whole={whole_chars} returned={returned_chars}")
            }
            Event::LimitReached { limit, .. } => format!(" {}", limit.0),
            _ => String::new(),
        };
        self.0.lock().unwrap().push(format!("{}{more}", event.name()));
        Ok(())
    }
}

impl Kept {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Stage {
    /// `None` where no jail can be made, which is said.
    pub(crate) fn new(what: &str) -> Option<Self> {
        let whole = tempfile::tempdir().unwrap();
        fs::set_permissions(whole.path(), Permissions::from_mode(0o755)).unwrap();
        for (name, mode) in [("work", 0o755), ("work/sub", 0o755), ("out", 0o755), ("spill", 0o700)] {
            fs::create_dir(whole.path().join(name)).unwrap();
            fs::set_permissions(whole.path().join(name), Permissions::from_mode(mode)).unwrap();
        }
        let sink = Arc::new(Kept::default());
        let session = sandbox(&whole, Arc::clone(&sink), Jail::Closed).session("tester").unwrap();
        let stage = Self { session, sink, whole };
        match stage.exec(&serde_json::json!({ "command": "true" })) {
            Err(error)
                if error.kind == ErrorKind::NotStarted && error.code == Some(Code::JailUnavailable.id()) =>
            {
                skipped(what, &error.message);
                None
            }
            done => {
                assert_eq!(done.unwrap().data["exit_code"], 0);
                stage.sink.take();
                Some(stage)
            }
        }
    }

    /// Another session in the same place, with a border like this around the workspace.
    pub(crate) fn another(&self, border: Jail) -> Session {
        sandbox(&self.whole, Arc::clone(&self.sink), border).session("other").unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn exec(&self, arguments: &Value) -> Result<Output, ToolError> {
        self.call(&Exec, arguments, &Abort::new())
    }

    pub(crate) fn process(&self, arguments: &Value) -> Result<Output, ToolError> {
        self.call(&Process, arguments, &Abort::new())
    }

    pub(crate) fn call(
        &self,
        tool: &dyn AnyTool,
        arguments: &Value,
        abort: &Abort,
    ) -> Result<Output, ToolError> {
        call(&self.session, tool, arguments, abort)
    }

    /// The result of a line, which has to run.
    pub(crate) fn run(&self, line: &str) -> Value {
        self.exec(&serde_json::json!({ "command": line })).unwrap().data
    }
}

pub(crate) fn call(
    session: &Session,
    tool: &dyn AnyTool,
    arguments: &Value,
    abort: &Abort,
) -> Result<Output, ToolError> {
    let guard = session.guard(&ToolName::parse(tool.name()).unwrap());
    tool.call(&Call { session, guard: &guard, abort }, arguments.clone())
}

fn sandbox(whole: &TempDir, sink: Arc<Kept>, jail: Jail) -> Sandbox {
    let root = whole.path().canonicalize().unwrap();
    let workspace = root.join("work");
    let mut spec = Spec::for_workspace(&workspace, "/home/agent".as_ref(), Limits::none());
    spec.environment = [("PATH", "/usr/bin:/bin"), ("HOME", "/home/agent")]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
    spec.require = Require::FULL.with(Layer::Files, Level::Partial).with(Layer::Processes, Level::Partial);
    let files = Config { jail, allow_absolute_paths: jail == Jail::Open, ..Config::default_in(&workspace) };
    Sandbox::builder()
        .file_rules(files)
        .policy(Link::new("commands", commands))
        .workspace(workspace)
        .state(root.join("state"))
        .jail(move |_| spec.clone())
        .sink(sink)
        .build()
        .unwrap()
}

/// Everything but `sudo`.
fn commands(request: &Request<'_>) -> Option<(Effect, Reason)> {
    if let Want::Call(_) = request.want {
        return Some((Effect::Allow, Reason::new(Code::ToolGranted, "the test says so")));
    }
    let Want::Exec(Execution { invocation, .. }) = request.want else { return None };
    let sudo = invocation.programs.iter().any(|program| format!("{program:?}").contains("sudo"));
    let effect = if sudo { Effect::Deny } else { Effect::Allow };
    Some((effect, Reason::new(Code::CommandDefault, "the test says so")))
}
