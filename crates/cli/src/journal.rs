//! The ledger, as commands write to it. No record, no action.

use ::audit::{AuditError, Durability, Event, Ledger, Options, Sink as _};
use config::Settings;
use ringfence::run::Host;

use crate::failure::Failure;
use crate::report;

/// The ledger of the policy.
pub(crate) struct Journal(Ledger);

impl Journal {
    /// Opens the ledger of the policy that holds here.
    pub(crate) fn open(around: &Host) -> Result<Self, Failure> {
        let settings = around.load().map_err(|problems| report::failure(&problems))?;
        Self::of(&settings)
    }

    /// Opens the ledger of a policy.
    pub(crate) fn of(settings: &Settings) -> Result<Self, Failure> {
        let path = settings.ledger().ok_or_else(|| {
            Failure::new("cannot determine the ledger path: HOME and XDG_STATE_HOME are unset")
                .hint("set HOME or XDG_STATE_HOME")
        })?;
        let opened = Ledger::open(&path, Options::new(Durability::Process));
        opened.map(|(ledger, _)| Self(ledger)).map_err(|error| unrecorded(&error))
    }

    /// Records something, or says why it does not happen.
    pub(crate) fn record(&self, event: &Event<'_>) -> Result<(), Failure> {
        self.0.record(event).map_err(|error| unrecorded(&error))
    }
}

fn unrecorded(error: &AuditError) -> Failure {
    Failure::coded(error.code(), "cannot write to the ledger, so nothing was done").because(error)
}
