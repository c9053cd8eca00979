//! A session whose policy is one function, and a person who answers as told.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::{Abort, Answer, Approver, Config, Question, Unanswered};
use ringfence::jail::{Layer, Level, Require, Spec};
use ringfence::policy::{Code, Effect, Limits, Link, Reason, Request, ToolSet};
use ringfence::{Sandbox, Session};
use ringfence_tools::{ErrorKind, Output, ToolError, Toolbox};
use serde_json::Value;
use tempfile::TempDir;

use crate::skip::skipped;

/// Keeps the names of events, with the kind and decision of requests.
#[derive(Default)]
pub(crate) struct Events(Mutex<Vec<String>>);

impl Sink for Events {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let more = match event {
            Event::RequestDecided { kind, decision, .. } => format!(" {} {}", kind.word(), decision.word()),
            Event::ToolStarted { arguments, .. } => format!(" {}", arguments.0),
            _ => String::new(),
        };
        self.0.lock().unwrap().push(format!("{}{more}", event.name()));
        Ok(())
    }
}

/// Keeps the questions, and answers all of them in the same way after doing something.
pub(crate) struct Person {
    pub(crate) asked: Mutex<Vec<Question>>,
    answer: Answer,
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Person {
    pub(crate) fn saying(answer: Answer) -> Self {
        Self { asked: Mutex::default(), answer, meanwhile: Box::new(|| ()) }
    }

    pub(crate) fn meanwhile(self, act: impl Fn() + Send + Sync + 'static) -> Self {
        Self { meanwhile: Box::new(act), ..self }
    }
}

impl Approver for Person {
    fn approve(&self, question: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.asked.lock().unwrap().push(question.clone());
        (self.meanwhile)();
        Ok(self.answer)
    }
}

pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) person: Arc<Person>,
    pub(crate) events: Arc<Events>,
    dir: TempDir,
}

impl Stage {
    /// A session that decides about calls and commands with a function.
    pub(crate) fn new(
        person: impl FnOnce(PathBuf) -> Person,
        decide: impl Fn(&Request<'_>) -> Effect + Send + Sync + 'static,
    ) -> Self {
        Self::with(person, decide, |_| ())
    }

    /// A session that allows calls, and asks before a file is written.
    pub(crate) fn asking_to_write(person: Person) -> Self {
        Self::with(|_| person, |_| Effect::Allow, |config| config.write.default = Effect::Ask)
    }

    fn with(
        person: impl FnOnce(PathBuf) -> Person,
        decide: impl Fn(&Request<'_>) -> Effect + Send + Sync + 'static,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for (name, mode) in [("work", 0o755), ("work/sub", 0o755), ("work/evil", 0o755), ("spill", 0o700)] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let root = dir.path().canonicalize().unwrap();
        let workspace = root.join("work");
        let person = Arc::new(person(workspace.clone()));
        let mut spec = Spec::for_workspace(&workspace, "/home/agent".as_ref(), Limits::none());
        spec.environment = [("PATH", "/usr/bin:/bin"), ("HOME", "/home/agent")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec();
        spec.require =
            Require::FULL.with(Layer::Files, Level::Partial).with(Layer::Processes, Level::Partial);
        let judge = move |request: &Request<'_>| {
            // Files are for the config to judge.
            request.want.arguments()?;
            Some((decide(request), Reason::new(Code::Rule, "the test says so")))
        };
        let events = Arc::new(Events::default());
        let mut config = Config::default_in(&workspace);
        change(&mut config);
        let session = Sandbox::builder()
            .file_rules(config)
            .policy(Link::new("calls", judge))
            .workspace(workspace)
            .state(root.join("state"))
            .jail(move |_| spec.clone())
            .tools(ToolSet::of_profile("full").unwrap())
            .approver(Arc::clone(&person) as _)
            .sink(Arc::clone(&events) as _)
            .build();
        let session = session.unwrap().session("tester").unwrap();
        events.0.lock().unwrap().clear();
        Self { session, person, events, dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("work").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<Output, ToolError> {
        Toolbox::new().call(&self.session, tool, arguments, &Abort::new())
    }

    /// Runs a command; `None` where no jail can be made, which is said.
    pub(crate) fn exec(&self, what: &str, arguments: Value) -> Option<Result<Output, ToolError>> {
        match self.call("exec", arguments) {
            Err(error)
                if error.kind == ErrorKind::NotStarted && error.code == Some(Code::JailUnavailable.id()) =>
            {
                skipped(what, &error.message);
                None
            }
            done => Some(done),
        }
    }

    pub(crate) fn asked(&self) -> usize {
        self.person.asked.lock().unwrap().len()
    }

    pub(crate) fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.events.0.lock().unwrap())
    }
}
