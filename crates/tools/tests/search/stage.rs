//! A workspace with files, a session in it, and its calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::{Abort, Config};
use ringfence::policy::ToolName;
use ringfence::{Sandbox, Session};
use ringfence_tools::{AnyTool, Call, Find, Grep, Ls, Output, ToolError};
use serde_json::Value;
use tempfile::TempDir;

/// A workspace, with something beside it that must not be seen.
pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) sink: Arc<Kept>,
    pub(crate) root: PathBuf,
    pub(crate) ws: PathBuf,
    _whole: TempDir,
}

/// Records: kind and object of each decision.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Vec<String>>);

impl Sink for Kept {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        if let Event::RequestDecided { kind, object, decision, .. } = event {
            let text = format!("{} {} {}", kind.word(), object.0, decision.word());
            self.0.lock().unwrap().push(text);
        }
        Ok(())
    }
}

impl Kept {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Stage {
    /// Plants files with what is in them.
    pub(crate) fn plant(files: &[(&str, &str)]) -> Self {
        Self::with(files, Config::default_in)
    }

    /// The same under another policy.
    pub(crate) fn with(files: &[(&str, &str)], config: impl Fn(&Path) -> Config) -> Self {
        Self::new(tempfile::tempdir().unwrap(), files, config)
    }

    /// A place for many files: in memory, where there is such a place.
    pub(crate) fn roomy() -> Self {
        let whole = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self::new(whole, &[], Config::default_in)
    }

    fn new(whole: TempDir, files: &[(&str, &str)], config: impl Fn(&Path) -> Config) -> Self {
        let root = whole.path().canonicalize().unwrap();
        let ws = root.join("work");
        for directory in [&ws, &root.join("out"), &root.join("spill")] {
            fs::create_dir(directory).unwrap();
        }
        fs::write(root.join("out/secret.txt"), "SECRET needle\n").unwrap();
        let sink = Arc::new(Kept::default());
        let session = sandbox(&root, &config(&ws), Arc::clone(&sink)).session("tester").unwrap();
        let stage = Self { session, sink, root, ws, _whole: whole };
        for (name, text) in files {
            stage.write(name, text.as_bytes());
        }
        stage
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.ws.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn call(
        &self,
        tool: &dyn AnyTool,
        arguments: &Value,
        abort: &Abort,
    ) -> Result<Output, ToolError> {
        let guard = self.session.guard(&ToolName::parse(tool.name()).unwrap());
        tool.call(&Call { session: &self.session, guard: &guard, abort }, arguments.clone())
    }

    pub(crate) fn grep(&self, arguments: &Value) -> Output {
        self.call(&Grep, arguments, &Abort::new()).unwrap()
    }

    pub(crate) fn find(&self, arguments: &Value) -> Output {
        self.call(&Find, arguments, &Abort::new()).unwrap()
    }

    pub(crate) fn ls(&self, arguments: &Value) -> Output {
        self.call(&Ls, arguments, &Abort::new()).unwrap()
    }

    /// The paths of the files that `find` finds, sorted.
    pub(crate) fn found(&self, arguments: &Value) -> Vec<String> {
        let found = self.find(arguments).data["found"].clone();
        found.as_array().unwrap().iter().map(|item| item["path"].as_str().unwrap().to_owned()).collect()
    }
}

fn sandbox(root: &Path, config: &Config, sink: Arc<Kept>) -> Sandbox {
    Sandbox::builder()
        .file_rules(config.clone())
        .workspace(&config.cwd)
        .state(root.join("state"))
        .sink(sink)
        .build()
        .unwrap()
}
