//! A spec in kernel terms, on machines that are made up here: nothing of the real one is looked at.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conflicts;
mod laws;
mod machine;
mod whole;
