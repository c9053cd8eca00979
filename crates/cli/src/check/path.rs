//! A path, looked up and judged as the guard of a tool does it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use audit::{AuditError, Event, Sink};
use config::Settings;
use guard::{EntryKind, Failed, Guard, Guards, Judgement, Parts, Refuse};
use policy::{Cover, Decision, Kind, Shown, ToolName};
use ringfence::run::Host;
use serde_json::{Value, json};

use super::verdict::Verdict;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// A decision about a file, with what was found.
pub(super) struct Found {
    pub(super) verdict: Verdict,
    judged: Judgement,
}

/// Looks a path up and judges it. Nothing is opened, asked or recorded.
pub(super) fn judge(
    path: &Path,
    kind: Kind,
    tool: &ToolName,
    around: &Host,
    settings: &Settings,
) -> Result<Found, Failure> {
    let guard = guard(tool, around, settings)?;
    let judged = guard.judge(path, &around.cwd, kind).map_err(|failed| refused(&failed))?;
    // A denied path is denied even if something is wrong with it; any other is not known to be allowed.
    if let (Some(trouble), false) = (judged.trouble, matches!(judged.trace.decision, Decision::Deny(_))) {
        return Err(refused(&Failed::new(trouble, path)));
    }
    let names = judged.location.names().map(|name| Shown::bytes(name).to_string()).collect();
    let object = judged.location.to_string();
    let verdict = Verdict { kind: kind.word(), object, names, trace: judged.trace.clone() };
    Ok(Found { verdict, judged })
}

impl Found {
    /// Prints the target of the path, and every name it was judged by.
    pub(super) fn text(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let path = Shown::path(self.judged.location.path());
        writeln!(terminal.out, "  object: {}, {path}", self.what())?;
        writeln!(terminal.out, "  names judged: {}", self.verdict.names.join("  "))?;
        match self.judged.trouble {
            Some(trouble) => writeln!(terminal.out, "  note: it could not be looked up: {trouble}"),
            None => Ok(()),
        }
    }

    pub(super) fn json(&self) -> Value {
        let mut json = self.verdict.json();
        json["resolved"] = json!({
            "path": self.judged.location.path().to_string_lossy(),
            "kind": self.judged.kind.map(EntryKind::word),
            "inside": self.judged.location.is_inside(),
            "has-other-names": self.judged.location.is_shared(),
            "trouble": self.judged.trouble.map(|trouble| trouble.to_string()),
        });
        json
    }

    fn what(&self) -> &'static str {
        match self.judged.kind {
            None if self.judged.trouble.is_some() => "not known",
            None => "nothing yet",
            Some(EntryKind::File) if self.judged.location.is_shared() => "file with other names",
            Some(EntryKind::Special) => "pipe, socket or device",
            Some(kind) => kind.word(),
        }
    }
}

fn guard(tool: &ToolName, around: &Host, settings: &Settings) -> Result<Guard, Failure> {
    let parts = Parts {
        workspace: around.places.workspace.clone(),
        chain: settings.chain.clone(),
        approver: Arc::new(Refuse),
        cover: Cover::Tool,
        sink: Arc::new(NoLedger),
        session: "check".to_owned(),
        agent: "check".to_owned(),
    };
    Ok(Guards::new(parts).map_err(|failed| refused(&failed))?.tool(tool))
}

/// Nothing is done, so nothing is recorded.
struct NoLedger;

impl Sink for NoLedger {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

fn refused(failed: &Failed) -> Failure {
    let message = format!("the path {} cannot be judged", failed.object);
    match failed.trouble {
        guard::Trouble::Empty => Failure::usage("the path is empty"),
        trouble => Failure::new(message).because(&trouble),
    }
}
