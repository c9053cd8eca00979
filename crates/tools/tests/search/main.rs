//! `grep`, `find` and `ls` on real trees, as an agent calls them.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod find;
mod grep;
mod hostile;
mod ignored;
mod ls;
mod pages;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod stage;
