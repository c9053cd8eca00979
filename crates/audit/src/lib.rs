//! The ledger: what happened, in a file that shows when it was changed.
//!
//! Every decision and every effect is one [`Event`]. A [`Sink`] records events; the [`Ledger`] is the sink that counts.
//! It appends one line of JSON per event, each carrying the hash of the line before, so that a change, a removal or a
//! new order shows ([`verify`]). `docs/events.md` describes the line well enough to check it with ten lines of Python.
//!
//! **Invariant.** No record, no action: [`Sink::record`] returns `Ok` only when the whole line is in the file. A caller
//! that gets an error does not act. After an error the file is as it was before.
//!
//! **Invariant.** One event is one `write`, made under an exclusive lock. Several processes may share one ledger.
//!
//! **Invariant.** Nothing secret-shaped reaches the file: every text passes the [`Redactor`] first.
//!
//! **Invariant.** The ledger is held by handle. A link in its place, a file of another user, a file or directory that
//! others can write: refused, never repaired.
//!
//! **Absent on purpose.** There is no way to rewrite or delete a record, no buffer that a crash could lose, and no mode
//! that goes on without a ledger. A chain shows order, not completeness: a process that can write the file can cut its end.
//! Publish the [`Head`] elsewhere and give it to [`verify`] to notice that, too.

mod chain;
mod error;
mod event;
pub mod export;
mod field;
mod filter;
mod ledger;
mod lines;
mod place;
mod record;
mod records;
mod redact;
mod rotate;
mod tables;
mod tail;
mod verify;
mod word;

pub use error::{AuditError, Damage, VerifyError};
pub use event::{By, Class, EVENTS, EventShape, FieldShape, Severity};
pub use field::{Arguments, FilePath, Name, Names, Text};
pub use filter::{Filter, SinceError, since};
pub use jiff::Timestamp;
pub use ledger::{Durability, Ledger, OpenReport, Options, Recovery};
pub use record::{Digest, Head, HeadError, MAX_RECORD, Record};
pub use records::Records;
pub use redact::{Redactor, UnfitSecret};
pub use tables::events::Event;
pub use verify::{Verification, verify, verify_reader};
pub use word::{
    Answered, Answerer, Applied, Asked, Ended, FindingLevel, Impact, Level, Outcome, Scope, SecretUse,
    Written,
};

/// Records events.
///
/// `record` returns `Ok` only once the event would survive the end of this process; see [`Durability`]. Without an
/// `Ok`, the action that was to be recorded must not happen.
pub trait Sink: Send + Sync {
    /// Records one event, or says why it could not.
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError>;
}
