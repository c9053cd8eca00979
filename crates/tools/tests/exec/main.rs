//! `exec` and `process` in real jails, as an agent calls them.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod called;
mod shown;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod stage;
