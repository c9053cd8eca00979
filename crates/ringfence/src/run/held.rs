//! The third step of a run: the command is held, its start is recorded; then it is released and followed to its end.

use std::time::Instant;

use broker::Report;
use config::Scope;
use jail::bridge::Port;
use jail::{Denial, Enforcement, JailError, Network, Provider, RemovedInstruction, Spec};
use policy::{Code, Shown};

use super::authorize::{Authorized, JailWithEgress};
use super::error::RunError;
use super::host::Host;
use super::outcome::Outcome;
use super::overlay::{self, RunOverlay};
use super::summary::{Row, Summary, SummaryInput};
use super::tripwire::Tripwire;
use super::unjailed;
use crate::denied::DeniedAction;
use crate::egress::{Egress, RunningEgress};
use crate::jailed::{EndedJail, ReleaseError};
use crate::journal::Journal;

/// A command that is ready to start, with its start recorded. Dropping it ends the jail.
pub struct Held {
    pub(crate) run: Authorized,
    pub(crate) stage: Stage,
    pub(crate) overlay: Option<RunOverlay>,
}

pub(crate) enum Stage {
    /// The command waits in its jail.
    Jailed(Box<JailWithEgress>),
    /// The user's own file permits a run without a jail.
    Unjailed {
        /// Reason why no jail is available, if one was wanted.
        unavailable: Option<String>,
        warning: String,
    },
}

/// A jail that stands, for the caller.
#[non_exhaustive]
pub struct JailReport<'a> {
    /// Implementation that made it.
    pub provider: Provider,
    /// Name of the profile.
    pub profile: &'a str,
    /// The jail.
    pub spec: &'a Spec,
    /// Bridged ports.
    pub ports: &'a [Port],
    /// Enforcement of each layer.
    pub enforcement: &'a Enforcement,
}

impl Held {
    /// Describes the jail; `None` without one.
    #[must_use]
    pub fn jail(&self) -> Option<JailReport<'_>> {
        let Stage::Jailed(held) = &self.stage else { return None };
        let jail = &held.jail;
        let run = &self.run.run;
        Some(JailReport {
            provider: jail.provider(),
            profile: &run.settings.profile,
            spec: &held.spec,
            ports: &run.settings.ports,
            enforcement: jail.enforcement(),
        })
    }

    /// Returns notes and warnings for the caller, before the command is released.
    pub fn notes(&self) -> impl Iterator<Item = (Option<Code>, &str)> {
        let (note, warning) = match &self.stage {
            Stage::Jailed(held) => (held.note, None),
            Stage::Unjailed { unavailable, warning } => (unavailable.as_deref(), Some(warning.as_str())),
        };
        let warning = warning.map(|warning| (Some(Code::JailUnjailed), warning));
        let egress = match &self.stage {
            Stage::Jailed(held) => held.egress.as_ref(),
            Stage::Unjailed { .. } => None,
        };
        let secrets = egress.into_iter().flat_map(Egress::notes);
        note.into_iter().chain(secrets).map(|note| (None, note)).chain(warning)
    }

    /// Releases the command and follows it to its end. Everything is recorded when this returns.
    pub fn release_and_wait(self) -> Result<Outcome, RunError> {
        let Self { run, stage, overlay } = self;
        let ended = match stage {
            Stage::Jailed(jail) => run.follow(*jail),
            Stage::Unjailed { .. } => run.run_unjailed(),
        };
        match ended {
            Ok(outcome) => Ok(Outcome { overlay: overlay.map(RunOverlay::end), ..outcome }),
            Err(error) => Err(overlay::explain(error, overlay)),
        }
    }
}

impl Authorized {
    fn run_unjailed(&self) -> Result<Outcome, RunError> {
        let start = Instant::now();
        let end = unjailed::run(&self.run.options.command, &self.run.unjailed, &self.run.cwd)?;
        let duration = start.elapsed();
        let recorded = self.journal.record_end(end, None, duration);
        recorded.map_err(|error| RunError::unrecorded_end(&error))?;
        let ledger_head = self.ledger.head();
        Ok(Outcome { end, duration, summary: None, ledger_head, overlay: None, lost_output: false })
    }

    fn follow(&self, jail: JailWithEgress) -> Result<Outcome, RunError> {
        let spec = jail.spec.clone();
        let wire = Tripwire::set(&spec);
        // Everything is recorded before anything is told: standard error may be closed.
        let (outcome, mut summary, refused) =
            self.release_and_wait(jail, |outcome, removed, connections| {
                let mut summary = self.summarise((&spec, &wire), outcome, removed);
                if let Some(report) = &connections {
                    summary.add_connections(report);
                }
                summary.record(&self.journal);
                let recorded = self.journal.record_end(outcome.end, outcome.survived, outcome.duration);
                if let Err(error) = recorded {
                    summary.add(Row::Unrecorded(RunError::unrecorded_end(&error)));
                }
                summary
            })?;
        if let Some(note) = refused {
            let unrecorded = self.journal.record_note(&note).err();
            summary.add(Row::Note(note));
            if let Some(error) = unrecorded {
                summary.add(Row::Unrecorded(RunError::unrecorded_end(&error)));
            }
        }
        let jail::Outcome { end, duration, lost_output, .. } = outcome;
        let (ledger_head, lost_output) = (self.ledger.head(), lost_output.is_some());
        Ok(Outcome { end, duration, summary: Some(summary), ledger_head, overlay: None, lost_output })
    }

    /// Releases the command and follows it, for a caller that wants to know the paths and hosts that it uses.
    pub(crate) fn observe(&self, jail: JailWithEgress) -> Result<(jail::Outcome, Option<Report>), RunError> {
        self.record_lack(&jail)?;
        let lack = jail.note.map(str::to_owned);
        let (mut outcome, last, refused) = self.release_and_wait(jail, |outcome, removed, connections| {
            let end = self.journal.record_end(outcome.end, outcome.survived, outcome.duration);
            (end, record_removed(&self.journal, &removed), connections)
        })?;
        let (end, removed, connections) = last;
        end.map_err(|error| removed.iter().fold(RunError::unrecorded_end(&error), RunError::hint))?;
        outcome
            .notes
            .extend(removed.into_iter().chain(outcome.lost_output.clone()).chain(refused).chain(lack));
        Ok((outcome, connections))
    }

    /// Releases the command and follows it; `last` runs before signals reach this process again. Also returns the note of the
    /// ports.
    fn release_and_wait<T>(
        &self,
        jail: JailWithEgress,
        last: impl FnOnce(&jail::Outcome, Vec<RemovedInstruction>, Option<Report>) -> T,
    ) -> Result<(jail::Outcome, T, Option<String>), RunError> {
        self.run.host.protect_memory().map_err(|error| self.refuse(error))?;
        let JailWithEgress { jail, egress, spec, .. } = jail;
        let open = |held: &mut jail::Held| egress.map(|egress| egress.open(held, &self.journal)).transpose();
        let running = jail.release(&spec, open).map_err(|error| {
            self.refuse(match error {
                ReleaseError::Egress(error) => error,
                ReleaseError::Ports(error) => RunError::new("ports cannot be bridged").because(&error),
                ReleaseError::Jail(error) => RunError::from(&error),
            })
        })?;
        let EndedJail { outcome, last, refused_connections } =
            running.wait_then(|waited, removed, egress| match waited {
                Ok(outcome) => Ok(last(outcome, removed, egress.map(RunningEgress::stop))),
                Err(error) => Err(record_lost(&self.journal, error, &removed)),
            });
        let last = last?;
        Ok((outcome.map_err(|error| RunError::from(&error))?, last, refused_connections))
    }

    fn summarise(
        &self,
        (spec, wire): (&Spec, &Tripwire),
        outcome: &jail::Outcome,
        removed: Vec<RemovedInstruction>,
    ) -> Summary {
        let (run, wish) = (&self.run, &self.run.options.wish);
        let denied = |denial| DeniedAction::of(denial, spec, &run.settings.profile);
        // The broker says by itself what it refuses, and why.
        let brokered = spec.network == Network::Broker;
        let own = |denial: &&Denial| !(brokered && matches!(denial, Denial::Connection(_)));
        let typed = wish.limits.iter().any(|(name, _)| name == "memory");
        let input = SummaryInput {
            outcome,
            denials: outcome.denials.iter().filter(own).map(denied).collect(),
            wire,
            hits: wire.check(outcome.duration, &outcome.protected_writes).with(removed),
            memory: spec.limits.memory.filter(|_| typed),
            raise: &|name| self.how_to_raise(name),
            unprotected: &wish.unprotected,
        };
        Summary::new(input, &run.cwd)
    }

    /// Names the place where a limit is set, and the way to raise it.
    fn how_to_raise(&self, name: &str) -> String {
        if self.run.options.wish.limits.iter().any(|(set, _)| set == name) {
            return format!("`--limit {name}=…` of this run set it");
        }
        match self.run.settings.limit_places.iter().find(|(set, ..)| set == name) {
            Some((_, Scope::Managed, place)) => format!("the administrator set limits.{name} at {place}"),
            Some((_, Scope::User, place)) => {
                format!("raise limits.{name} at {place}, or with `--limit {name}=…`")
            }
            Some((_, Scope::Project, place)) => format!("the project lowers limits.{name} at {place}"),
            Some((_, Scope::BuiltIn, _)) | None => {
                format!("it is the built-in default: set limits.{name} in your policy, or `--limit {name}=…`")
            }
        }
    }
}

impl Host {
    /// Denies other processes of this user access to the memory of this one, core dumps included. For a caller that reads a secret.
    pub fn protect_memory(&self) -> Result<(), RunError> {
        let denied = crate::sys::deny_memory_access();
        denied.map_err(|errno| RunError::new("cannot make the supervisor non-dumpable").because(&errno))
    }
}

/// Records instructions that were removed, and returns a line for each.
fn record_removed(journal: &Journal, removed: &[RemovedInstruction]) -> Vec<String> {
    let line = |removed: &RemovedInstruction| {
        let RemovedInstruction { path, reason } = removed;
        let line = format!("{} has changed while the command ran: {reason}", Shown::path(path));
        match journal.record_removed(removed) {
            Ok(()) => line,
            Err(error) => format!("{line} (not recorded: {})", RunError::unrecorded_end(&error).message),
        }
    };
    removed.iter().map(line).collect()
}

/// Records a command that could not be followed any more and was killed.
fn record_lost(journal: &Journal, error: &JailError, removed: &[RemovedInstruction]) -> RunError {
    let unrecorded = journal.record_lost().err();
    let unrecorded = unrecorded.map(|error| RunError::unrecorded_end(&error).message).into_iter();
    unrecorded.chain(record_removed(journal, removed)).fold(RunError::from(error), RunError::hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use audit::{Durability, Ledger, Options};

    use super::*;

    #[test]
    fn a_lost_command_leaves_its_end_and_what_was_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("ledger");
        let (ledger, _) = Ledger::open(&path, Options::new(Durability::Process)).unwrap();
        let journal = Journal::new(Arc::new(ledger), "run-1", "test");
        let error = JailError::BadCommand("lost");
        let removed = RemovedInstruction { path: "/ws/todo".into(), reason: "git runs this line".to_owned() };
        let hints = record_lost(&journal, &error, &[removed]).hints.join("\n");
        assert!(hints.contains("/ws/todo has changed while the command ran: git runs this line"), "{hints}");
        drop(journal);
        let ledger = std::fs::read_to_string(path).unwrap();
        let events = ["jail.ended", "\"signal\":9", "jail.tripped", "/ws/todo", "git runs this line"];
        assert!(events.iter().all(|event| ledger.contains(event)), "{ledger}");
    }
}
