//! A guard around a directory, for tests.

use std::path::Path;
use std::sync::Arc;

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::{Config, Guard, Guards, Parts, Refuse};
use ringfence::policy::{Cover, ToolName};

/// A ledger without a reader.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

/// The guard of a tool that works in a directory, without an approver.
pub(crate) fn guard(dir: &Path, tool: &str) -> Guard {
    let parts = Parts {
        workspace: dir.to_owned(),
        chain: Config::default_in(dir).chain().unwrap(),
        approver: Arc::new(Refuse),
        cover: Cover::Tool,
        sink: Arc::new(Nowhere),
        session: "s".to_owned(),
        agent: "a".to_owned(),
    };
    Guards::new(parts).unwrap().tool(&ToolName::parse(tool).unwrap())
}
