//! The records of one command in the ledger, for runs, learning and sessions alike. No record, no action.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use audit::{AuditError, By, Event, FilePath, Level, Name, Names, Outcome, Sink, Text, Written};
use jail::bridge::Port;
use jail::{Amount, End, Enforcement, Layer, Overrun, ProtectedCommit, Provider, RemovedInstruction, Spec};
use policy::{Code, Decision, Effect, Kind, RuleRef};
use rustix::process::Signal;

use crate::denied::DeniedAction;

/// Records one command. All its records carry one id, so that they can be found together.
pub struct Journal {
    sink: Arc<dyn Sink>,
    id: String,
    profile: String,
    session: Option<String>,
    agent: Option<String>,
}

/// A jail that was made, as it is recorded.
#[non_exhaustive]
pub struct StartedJail<'a> {
    /// Implementation that made it.
    pub provider: Provider,
    /// Program, without its arguments: those are in the record of the decision.
    pub program: &'a str,
    /// Enforcement of each layer.
    pub enforcement: &'a Enforcement,
    /// The jail.
    pub spec: &'a Spec,
    /// Bridged ports.
    pub ports: &'a [Port],
}

type Recorded = Result<(), AuditError>;

impl Journal {
    /// Creates the journal of a command. `profile` is the name of its profile in the records.
    pub fn new(sink: Arc<dyn Sink>, id: impl Into<String>, profile: impl Into<String>) -> Self {
        Self { sink, id: id.into(), profile: profile.into(), session: None, agent: None }
    }

    /// Names the session and the agent in every record.
    #[must_use]
    pub fn on_behalf_of(mut self, session: Option<&str>, agent: Option<&str>) -> Self {
        (self.session, self.agent) = (session.map(str::to_owned), agent.map(str::to_owned));
        self
    }

    /// Returns the sink, for records of the broker.
    #[cfg(feature = "policy-file")]
    pub(crate) fn sink(&self) -> Arc<dyn Sink> {
        Arc::clone(&self.sink)
    }

    /// Returns the names that records of the broker carry.
    #[cfg(feature = "policy-file")]
    pub(crate) fn origin(&self) -> broker::Origin {
        let Self { id, session, agent, .. } = self;
        broker::Origin { session: session.clone(), agent: agent.clone(), id: Some(id.clone()) }
    }

    /// Records the decision about a command.
    pub fn record_decision(&self, decision: &Decision, line: &str) -> Recorded {
        let reason = decision.reason();
        self.sink.record(&Event::RequestDecided {
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

    /// Records that a jail was made and the command is about to start.
    pub fn record_start(&self, started: &StartedJail<'_>) -> Recorded {
        let level = |layer| level(started.enforcement.reached(layer).level);
        let toolchains: Vec<_> = started.spec.toolchains.found.iter().map(|found| found.name).collect();
        let ports: Vec<_> = started.ports.iter().map(ToString::to_string).collect();
        let ports: Vec<_> = ports.iter().map(String::as_str).collect();
        self.sink.record(&Event::JailStarted {
            by: self.by(),
            provider: Name(started.provider.word()),
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

    /// Records that the changes of a directory go to an overlay.
    pub fn record_overlay(&self, overlay: &str, path: &Path) -> Recorded {
        let (overlay, path) = (Name(overlay), FilePath(path));
        self.sink.record(&Event::OverlayBegun { by: self.by(), overlay, path })
    }

    /// Records that no jail was made.
    pub fn record_refusal(&self, provider: &str, reason: &str) -> Recorded {
        let (provider, profile) = (Name(provider), Name(&self.profile));
        self.sink.record(&Event::JailRefused { by: self.by(), provider, profile, reason: Text(reason) })
    }

    /// Records that the command is about to start without a jail.
    pub fn record_unjailed(&self, program: &str, rule: &RuleRef) -> Recorded {
        self.sink.record(&Event::JailSkipped { by: self.by(), program: Text(program), rule })
    }

    /// Records the end of the command, after the limit that it reached.
    pub fn record_end(&self, end: End, survived: Option<Overrun>, duration: Duration) -> Recorded {
        let overrun = if let End::Limit(overrun) = end { Some(overrun) } else { survived };
        overrun.map_or(Ok(()), |overrun| self.record_limit(&overrun))?;
        let (outcome, exit, signal) = match end {
            End::Exited(0) => (Outcome::Ok, Some(0), None),
            End::Exited(code) => (Outcome::Error, Some(i32::from(code)), None),
            End::Signaled(signal) => (Outcome::Error, None, Some(i32::from(signal))),
            End::Limit(_) => (Outcome::Limited, None, None),
            End::Stopped => (Outcome::Cancelled, None, None),
        };
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.sink.record(&Event::JailEnded { by: self.by(), outcome, exit, signal, duration_ms })
    }

    /// Records a command that was killed because it could not be followed to its end.
    pub fn record_lost(&self) -> Recorded {
        let (outcome, signal) = (Outcome::Error, Some(Signal::KILL.as_raw()));
        self.sink.record(&Event::JailEnded { by: self.by(), outcome, exit: None, signal, duration_ms: 0 })
    }

    /// Records an action that the jail refused.
    pub fn record_denial(&self, denied: &DeniedAction) -> Recorded {
        self.sink.record(&Event::RequestDecided {
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

    /// Records a change of a protected name that the jail did not permit.
    pub fn record_tripped(&self, path: &Path, reason: &str) -> Recorded {
        self.sink.record(&Event::JailTripped { by: self.by(), path: FilePath(path), reason: Text(reason) })
    }

    /// Records an instruction for the host's git that was removed after the end, or could not be.
    pub fn record_removed(&self, removed: &RemovedInstruction) -> Recorded {
        self.record_tripped(&removed.path, &removed.reason)
    }

    /// Records that a protected name was written or removed.
    pub fn record_write(&self, path: &Path, result: Written, change: Option<&str>, reason: &str) -> Recorded {
        let (path, change, reason) = (FilePath(path), change.map(Text), Text(reason));
        self.sink.record(&Event::JailWrote { by: self.by(), path, result, change, reason })
    }

    /// Records a commit that changes protected names.
    pub fn record_commit(&self, commit: &ProtectedCommit) -> Recorded {
        let paths: Vec<_> = commit.paths.iter().map(|(path, _)| path.to_string_lossy()).collect();
        let paths: Vec<_> = paths.iter().map(AsRef::as_ref).collect();
        self.sink.record(&Event::JailCommitted {
            by: self.by(),
            repository: FilePath(&commit.repository),
            commit: Name(&commit.id),
            subject: Text(&String::from_utf8_lossy(&commit.subject)),
            paths: Names(&paths),
        })
    }

    /// Records a note of the jail.
    pub fn record_note(&self, text: &str) -> Recorded {
        self.sink.record(&Event::JailNoted { by: self.by(), text: Text(text) })
    }

    fn record_limit(&self, overrun: &Overrun) -> Recorded {
        let (allowed, used) = (amount(overrun.allowed), amount(overrun.used.unwrap_or(overrun.allowed)));
        let limit = Name(overrun.limit.word());
        self.sink.record(&Event::LimitReached { by: self.by(), limit, allowed, used, window_ms: None })
    }

    fn by(&self) -> By<'_> {
        By { session: self.session.as_deref(), agent: self.agent.as_deref(), id: Some(&self.id) }
    }
}

/// Converts an amount to the number that is recorded; times are in milliseconds.
fn amount(amount: Amount) -> u64 {
    match amount {
        Amount::Bytes(number) | Amount::Count(number) => number,
        Amount::Time(time) => u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    }
}

fn level(level: jail::Level) -> Level {
    match level {
        jail::Level::None => Level::None,
        jail::Level::Partial => Level::Partial,
        jail::Level::Full => Level::Full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_recorded_in_milliseconds() {
        assert_eq!(amount(Amount::Time(Duration::from_secs(600))), 600_000);
        assert_eq!(amount(Amount::Bytes(7)), 7);
    }
}
