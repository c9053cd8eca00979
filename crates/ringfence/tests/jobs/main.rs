//! Commands of a session in real jails.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ended;
mod place;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod spilled;
