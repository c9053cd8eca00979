//! The second step of a run: the decision about the command, recorded in any case, and the places for its changes.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use audit::{Durability, Ledger, Options as LedgerOptions};
use config::{JailSettings, Jailing, Settings, Wish};
use jail::{Choice, Command, Early, JailError, Network, Spec, Streams};
use policy::{Code, RuleRef};
use shell::Dialect;

use super::command_line::{self, CommandLine};
use super::consent::{self, Consent};
use super::error::RunError;
use super::held::{Held, Stage};
use super::kept_home;
use super::overlay::{self, RunOverlay};
use super::prepare::Prepared;
use crate::egress::{Authority, Egress};
use crate::jailed::{HeldJail, HoldError, NO_BROKER};
use crate::journal::{Journal, StartedJail};

/// A run that the policy allows. No process was started.
pub struct Authorized {
    pub(crate) run: Prepared,
    pub(crate) journal: Journal,
    pub(crate) ledger: Arc<Ledger>,
    /// Command as it was typed.
    pub(crate) line: String,
    pub(crate) overlay: Option<RunOverlay>,
}

impl Prepared {
    /// Decides about the command, with the consent of the caller, and records the decision.
    pub fn authorize(mut self, consent: Consent<'_>) -> Result<Authorized, RunError> {
        let (ledger, _) = Ledger::open(&self.ledger, LedgerOptions::new(Durability::Process))
            .map_err(|error| RunError::unrecorded(&error))?;
        let ledger = Arc::new(ledger);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let id = format!("run-{:x}-{:x}", std::process::id(), since.as_micros());
        let journal = Journal::new(Arc::clone(&ledger) as _, id, self.label.as_str());
        let journal = journal.on_behalf_of(None, self.host.agent.as_deref());
        let unrecorded = |error| RunError::unrecorded(&error);
        let line = self.decide(consent, &journal)?;
        self.notes.extend(self.missing_key()?);
        if let Some(kept) = &self.kept {
            self.spec = kept.put_into(self.spec)?;
            journal.record_overlay(&kept.home.id, &kept.path).map_err(unrecorded)?;
        }
        let state = self.host.places.state.as_deref();
        let wanted = self.options.overlay.as_ref();
        let overlay = wanted.map(|wanted| RunOverlay::begin(wanted, state, &mut self.spec, &line));
        let overlay = overlay.transpose()?;
        overlay.iter().try_for_each(|overlay| overlay.record(&journal)).map_err(unrecorded)?;
        Ok(Authorized { run: self, journal, ledger, line, overlay })
    }

    /// Returns the command as it was typed, if it may start.
    fn decide(&self, consent: Consent<'_>, journal: &Journal) -> Result<String, RunError> {
        let (line, skill) = (CommandLine::words(&self.options.command), self.options.skill.is_some());
        // No shell reads the words first; a shell among them is read in its own dialect.
        let place = command_line::surroundings(Dialect::ALL, &self.cwd, Some(&self.home), None);
        let (decision, invocation) = consent::decide(&self.policy, &line, line.read(&place), consent, skill)?;
        let typed = command_line::quote(&self.options.command);
        journal.record_decision(&decision, &typed).map_err(|error| RunError::unrecorded(&error))?;
        let place = command_line::locate(&self.policy, &line, &invocation, &decision);
        consent::refusal(&decision, &line, place).map_or(Ok(typed), Err)
    }
}

impl Authorized {
    /// Returns the policy that holds for the run.
    #[must_use]
    pub fn policy(&self) -> &Settings {
        &self.run.policy
    }

    /// Returns the settings of the jail.
    #[must_use]
    pub fn settings(&self) -> &JailSettings {
        &self.run.settings
    }

    /// Returns notes for the caller, before the command starts.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.run.notes
    }

    /// Makes the jail and records the start. `early` is a jail whose namespaces are being made already.
    pub fn hold(mut self, early: Early) -> Result<Held, RunError> {
        let overlay = self.overlay.take();
        match self.hold_beside(early, overlay.is_some()) {
            Ok(stage) => Ok(Held { run: self, stage, overlay }),
            Err(error) => Err(overlay::explain(error, overlay)),
        }
    }

    fn hold_beside(&mut self, early: Early, overlay: bool) -> Result<Stage, RunError> {
        let jailing = self.run.settings.jailing.clone();
        // Changes that a jail keeps apart are not left to a command without one.
        let apart = overlay || self.run.kept.is_some();
        match &jailing {
            Jailing::Never(rule) if self.run.kept.is_some() => {
                return Err(self.refuse(kept_home::needs_a_jail(rule)));
            }
            Jailing::Never(rule) if overlay => return Err(self.refuse(overlay::needs_a_jail(rule))),
            Jailing::Never(rule) => return self.go_unjailed(rule, None),
            Jailing::Always | Jailing::WhereAvailable(_) => {}
        }
        self.find_forbidden()?;
        match (self.make_jail(early), &jailing) {
            (Ok(held), _) => self.record_held(&held).map(|()| Stage::Jailed(Box::new(held))),
            (Err(HoldFailure::Unavailable(error)), Jailing::WhereAvailable(rule)) if !apart => {
                self.go_unjailed(rule, Some(error.message))
            }
            (Err(HoldFailure::Unavailable(error) | HoldFailure::Refused(error)), _) => {
                Err(self.refuse(error))
            }
        }
    }

    /// Finds forbidden names in the visible directories.
    pub(crate) fn find_forbidden(&mut self) -> Result<(), RunError> {
        let looks = self.run.host.places.state.as_deref().map(|state| state.join("ringfence/looks"));
        let looked = self.run.spec.look(looks.as_deref());
        looked.map_err(|conflict| self.refuse(RunError::from(&conflict)))
    }

    /// Makes the jail without recording it. Where no provider can have the broker's network, and only a built-in profile wants it, the
    /// command has no network, and a note says so.
    pub(crate) fn make_jail(&self, early: Early) -> Result<JailWithEgress, HoldFailure> {
        let (mut spec, mut note) = (self.run.spec.clone(), None);
        match self.make_jail_with(early, &mut spec) {
            Err(HoldError::Jail(error)) if error.needs_broker() && self.run.is_broker_implied() => {
                spec = self.run.spec.clone();
                spec.network = Network::None;
                note = Some(NO_BROKER);
                self.make_jail_with(Early::begin(), &mut spec)
            }
            made => made,
        }
        .map(|(jail, egress)| JailWithEgress { jail, egress, spec, note })
        .map_err(|error| match error {
            HoldError::Jail(error @ JailError::Unavailable { .. }) => {
                HoldFailure::Unavailable(RunError::from(&error))
            }
            HoldError::Jail(error) => HoldFailure::Refused(RunError::from(&error)),
            HoldError::Port(closed) => HoldFailure::Refused(RunError::from(&closed)),
            HoldError::Run(error) => HoldFailure::Refused(error),
        })
    }

    fn make_jail_with(
        &self,
        early: Early,
        spec: &mut Spec,
    ) -> Result<(HeldJail, Option<Egress>), HoldError<RunError>> {
        let command = Command {
            argv: self.run.options.command.clone(),
            cwd: self.run.cwd.clone(),
            streams: Streams::Inherit,
            observe: self.run.options.observe,
        };
        let choice = choice(&self.run.settings.provider).map_err(HoldError::Run)?;
        let egress = self.run.egress(spec).map_err(HoldError::Run)?;
        let jail = HeldJail::make(Some(early), choice, spec, &command, &self.run.settings.ports)?;
        Ok((jail, egress))
    }

    /// Records the start, and what the jail lacks.
    fn record_held(&self, held: &JailWithEgress) -> Result<(), RunError> {
        self.record_start_of(&held.jail, &held.spec)?;
        self.record_lack(held)
    }

    /// Records what the jail lacks.
    pub(crate) fn record_lack(&self, held: &JailWithEgress) -> Result<(), RunError> {
        let recorded = held.note.map(|note| self.journal.record_note(note)).transpose();
        recorded.map(drop).map_err(|error| RunError::unrecorded(&error))
    }

    /// Records the start. Not recorded is not released: dropping the jail ends it.
    pub(crate) fn record_start(&self, jail: &HeldJail) -> Result<(), RunError> {
        self.record_start_of(jail, &self.run.spec)
    }

    fn record_start_of(&self, jail: &HeldJail, spec: &Spec) -> Result<(), RunError> {
        let started = StartedJail {
            provider: jail.provider(),
            program: &self.program(),
            enforcement: jail.enforcement(),
            spec,
            ports: &self.run.settings.ports,
        };
        self.journal.record_start(&started).map_err(|error| RunError::unrecorded(&error))
    }

    /// Records that no process is started, and why.
    pub(crate) fn refuse(&self, error: RunError) -> RunError {
        let recorded = self.journal.record_refusal(&self.run.settings.provider, &error.message);
        // The run fails in both cases; both reasons are told.
        match recorded {
            Ok(()) => error,
            Err(unrecorded) => error.hint(RunError::unrecorded(&unrecorded).message),
        }
    }

    fn go_unjailed(&self, rule: &RuleRef, unavailable: Option<String>) -> Result<Stage, RunError> {
        let recorded = self.journal.record_unjailed(&self.program(), rule);
        recorded.map_err(|error| RunError::unrecorded(&error))?;
        let warning = format!("running without a jail, because {rule} says so: {}", self.line);
        Ok(Stage::Unjailed { unavailable, warning })
    }

    fn program(&self) -> Cow<'_, str> {
        let program = self.run.options.command.first();
        program.map(|program| program.to_string_lossy()).unwrap_or_default()
    }
}

/// A jail that stands, and its way out, which opens when the command is released.
pub(crate) struct JailWithEgress {
    pub(crate) jail: HeldJail,
    pub(crate) egress: Option<Egress>,
    /// The spec with everything that the way out adds.
    pub(crate) spec: Spec,
    /// What the jail lacks, for the caller and the ledger.
    pub(crate) note: Option<&'static str>,
}

impl Prepared {
    /// Returns true if only a built-in profile wants the broker's network, and no person has asked for it.
    fn is_broker_implied(&self) -> bool {
        let Wish { network, allow, .. } = &self.options.wish;
        self.settings.network_rule.is_none() && network.is_none() && allow.is_empty()
    }

    /// Prepares the way out of a jail that has the broker's network, and adds to the spec what programs need for it.
    fn egress(&self, spec: &mut Spec) -> Result<Option<Egress>, RunError> {
        if spec.network != Network::Broker {
            return Ok(None);
        }
        let recipe = self.recipe_routes()?;
        let authority = self.options.host_approver.clone().map_or(Authority::Policy, Authority::Terminal);
        let caller = (&self.host, self.options.variables.as_slice());
        Egress::prepare(&self.policy, caller, recipe, authority, spec).map(Some)
    }
}

/// Explains why there is no jail around the command.
pub(crate) enum HoldFailure {
    /// No provider works on this machine.
    Unavailable(RunError),
    /// Any other cause. No fallback applies.
    Refused(RunError),
}

fn choice(word: &str) -> Result<Choice, RunError> {
    Choice::parse(word).ok_or_else(|| {
        RunError::coded(Code::JailUnavailable, format!("the provider `{word}` is not built yet"))
    })
}

#[cfg(test)]
mod tests {
    use jail::Provider;

    use super::*;

    #[test]
    fn only_known_providers_are_chosen() {
        assert_eq!(choice("auto").ok(), Some(Choice::Auto));
        for provider in Provider::ALL {
            assert_eq!(choice(provider.word()).ok(), Some(Choice::Only(provider)));
        }
        assert!(["seatbelt", "oci", "kubernetes", ""].iter().all(|word| choice(word).is_err()));
    }
}
