//! One run of a command, from a policy and options to an outcome.
//!
//! [`Prepared`] → [`Authorized`] → [`Held`] → [`Outcome`]: each can only be made from the one before. Nothing is read from the
//! process environment; [`Host`] carries the facts, and [`Consent`] the way to ask a person.
//!
//! **Invariant.** A decision is recorded whether or not it allows the command.
//! **Invariant.** Not recorded is not released.
//! **Invariant.** Everything is recorded before the caller learns of the end.

mod authorize;
pub mod command_line;
mod consent;
mod error;
mod git;
mod held;
mod host;
mod host_spec;
mod kept_home;
mod outcome;
mod overlay;
mod prepare;
mod recipe;
mod skill;
mod spec;
mod summary;
mod tripwire;
mod unjailed;

pub use crate::denied::DeniedAction;
pub use crate::egress::{HostAnswer, HostApprover, HostQuestion, host_entry};
pub use crate::journal::{Journal, StartedJail};
pub use authorize::Authorized;
pub use consent::{Ask, Consent};
pub use error::{MarkedLine, RunError, RunErrorKind};
pub use held::{Held, JailReport};
pub use host::Host;
pub use outcome::{Outcome, OverlayOutcome};
pub use prepare::{Options, Prepared, Purpose};
pub use skill::SkillConfinement;
pub use summary::{Audience, Row, Summary, SummaryInput, subject};
pub use tripwire::{Change, Tripwire, TripwireHits};

pub(crate) use authorize::{HoldFailure, JailWithEgress};
pub(crate) use host_spec::{HostSpec, Inside, filter_variables};
