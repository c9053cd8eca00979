//! The ledger: what happened, in a file that shows when it was changed.

mod redact;
mod tables;

pub use redact::{Redactor, UnfitSecret};
