//! What `run` leaves in the ledger. No record, no action.

use std::path::Path;
use std::time::{Duration, SystemTime};

use audit::{
    AuditError, By, Durability, Event, FilePath, Head, Ledger, Level, Name, Names, Options, Outcome,
    Sink as _, Text, Written,
};
use jail::bridge::Port;
use jail::toolchain::Shown;
use jail::{Enforcement, Layer, ProtectedCommit};
use policy::{Code, Decision, Effect, Kind, RuleRef};

use super::denied::Denied;
use crate::failure::Failure;

/// The records of one run. They carry one id, so that they can be found together.
pub(crate) struct Journal {
    ledger: Ledger,
    id: String,
    profile: String,
    agent: Option<String>,
}

/// How a command came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    /// It ended by itself.
    Exited(u8),
    /// A signal ended it.
    Signaled(u8),
    /// A limit ended it.
    Limited,
}

/// A jail that stands.
pub(crate) struct Started<'a> {
    /// Who made it.
    pub(crate) provider: &'a str,
    /// The program.
    pub(crate) program: &'a str,
    /// What is enforced.
    pub(crate) reached: &'a Enforcement,
    /// What toolchains it sees.
    pub(crate) toolchains: &'a Shown,
    /// Which ports are bridged.
    pub(crate) ports: &'a [Port],
}

impl Journal {
    /// Opens the ledger.
    pub(crate) fn open(path: &Path, profile: &str) -> Result<Self, Failure> {
        let (ledger, _) =
            Ledger::open(path, Options::new(Durability::Process)).map_err(|error| failed(&error))?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let id = format!("run-{:x}-{:x}", std::process::id(), since.as_micros());
        Ok(Self { ledger, id, profile: profile.to_owned(), agent: None })
    }

    /// Names the agent in every record.
    pub(crate) fn of_agent(mut self, agent: Option<&str>) -> Self {
        self.agent = agent.map(str::to_owned);
        self
    }

    /// The newest record.
    pub(crate) fn head(&self) -> Head {
        self.ledger.head()
    }

    /// Whether the command may start.
    pub(crate) fn decided(&self, decision: &Decision, line: &str) -> Result<(), Failure> {
        let reason = decision.reason();
        self.record(&Event::RequestDecided {
            by: self.by(),
            kind: Kind::Exec,
            object: Text(line),
            tool: Some(Name("exec")),
            impact: None,
            decision: decision.effect(),
            code: reason.code,
            reason: Text(&reason.text),
            rule: reason.rule.as_ref(),
            remedy: reason.remedy.as_deref().map(Text),
            profile: Some(Name(&self.profile)),
            turn: None,
            sources: None,
        })
    }

    /// The jail stands, and the command is about to start.
    pub(crate) fn started(&self, started: &Started<'_>) -> Result<(), Failure> {
        let level = |layer| word(started.reached.reached(layer).level);
        let toolchains: Vec<_> = started.toolchains.found.iter().map(|found| found.name).collect();
        let ports: Vec<_> = started.ports.iter().map(ToString::to_string).collect();
        let ports: Vec<_> = ports.iter().map(String::as_str).collect();
        self.record(&Event::JailStarted {
            by: self.by(),
            provider: Name(started.provider),
            profile: Name(&self.profile),
            program: Text(started.program),
            files: level(Layer::Files),
            network: level(Layer::Network),
            syscalls: level(Layer::Syscalls),
            processes: level(Layer::Processes),
            resources: level(Layer::Resources),
            toolchains: (!toolchains.is_empty()).then_some(Names(&toolchains)),
            ports: (!ports.is_empty()).then_some(Names(&ports)),
        })
    }

    /// Changes of a directory go to an overlay.
    pub(crate) fn overlaid(&self, overlay: &str, path: &Path) -> Result<(), Failure> {
        let (overlay, path) = (Name(overlay), FilePath(path));
        self.record(&Event::OverlayBegun { by: self.by(), overlay, path })
    }

    /// No jail could be made.
    pub(crate) fn refused(&self, provider: &str, reason: &str) -> Result<(), Failure> {
        let (provider, profile) = (Name(provider), Name(&self.profile));
        self.record(&Event::JailRefused { by: self.by(), provider, profile, reason: Text(reason) })
    }

    /// The command is about to start without a jail.
    pub(crate) fn skipped(&self, program: &str, rule: &RuleRef) -> Result<(), Failure> {
        self.record(&Event::JailSkipped { by: self.by(), program: Text(program), rule })
    }

    /// The command ended.
    pub(crate) fn ended(&self, came: Came, duration: Duration) -> Result<(), Failure> {
        let (outcome, exit, signal) = match came {
            Came::Exited(0) => (Outcome::Ok, Some(0), None),
            Came::Exited(code) => (Outcome::Error, Some(i32::from(code)), None),
            Came::Signaled(signal) => (Outcome::Error, None, Some(i32::from(signal))),
            Came::Limited => (Outcome::Limited, None, None),
        };
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.afterwards(&Event::JailEnded { by: self.by(), outcome, exit, signal, duration_ms })
    }

    /// Something was refused inside.
    pub(crate) fn denied(&self, denied: &Denied) -> Result<(), Failure> {
        self.afterwards(&Event::RequestDecided {
            by: self.by(),
            kind: denied.kind,
            object: Text(&denied.object),
            tool: None,
            impact: None,
            decision: Effect::Deny,
            code: Code::JailDenied,
            reason: Text(&denied.by),
            rule: None,
            remedy: Some(Text(&denied.allow)),
            profile: Some(Name(&self.profile)),
            turn: None,
            sources: None,
        })
    }

    /// A protected name has changed.
    pub(crate) fn tripped(&self, path: &Path, reason: &str) -> Result<(), Failure> {
        self.afterwards(&Event::JailTripped { by: self.by(), path: FilePath(path), reason: Text(reason) })
    }

    /// A protected name was written or removed.
    pub(crate) fn wrote(
        &self,
        path: &Path,
        result: Written,
        change: Option<&str>,
        reason: &str,
    ) -> Result<(), Failure> {
        let (change, reason) = (change.map(Text), Text(reason));
        self.afterwards(&Event::JailWrote { by: self.by(), path: FilePath(path), result, change, reason })
    }

    /// A commit changes protected names.
    pub(crate) fn committed(&self, commit: &ProtectedCommit) -> Result<(), Failure> {
        let paths: Vec<_> = commit.paths.iter().map(|(path, _)| path.to_string_lossy()).collect();
        let paths: Vec<_> = paths.iter().map(AsRef::as_ref).collect();
        self.afterwards(&Event::JailCommitted {
            by: self.by(),
            repository: FilePath(&commit.repository),
            commit: Name(&commit.id),
            subject: Text(&String::from_utf8_lossy(&commit.subject)),
            paths: Names(&paths),
        })
    }

    /// Something else is told.
    pub(crate) fn noted(&self, text: &str) -> Result<(), Failure> {
        self.afterwards(&Event::JailNoted { by: self.by(), text: Text(text) })
    }

    /// A limit was reached.
    pub(crate) fn limit(&self, limit: &str, allowed: u64, used: u64) -> Result<(), Failure> {
        let limit = Name(limit);
        self.afterwards(&Event::LimitReached { by: self.by(), limit, allowed, used, window_ms: None })
    }

    fn afterwards(&self, event: &Event<'_>) -> Result<(), Failure> {
        let lost =
            |error: AuditError| Failure::coded(error.code(), "the end cannot be recorded").because(&error);
        self.ledger.record(event).map_err(lost)
    }

    fn by(&self) -> By<'_> {
        By { id: Some(&self.id), agent: self.agent.as_deref(), ..By::default() }
    }

    fn record(&self, event: &Event<'_>) -> Result<(), Failure> {
        self.ledger.record(event).map_err(|error| failed(&error))
    }
}

fn failed(error: &AuditError) -> Failure {
    Failure::coded(error.code(), "the run cannot be recorded, so it does not happen").because(error)
}

fn word(level: jail::Level) -> Level {
    match level {
        jail::Level::None => Level::None,
        jail::Level::Partial => Level::Partial,
        jail::Level::Full => Level::Full,
    }
}
