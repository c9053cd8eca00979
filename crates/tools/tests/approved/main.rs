//! An approved call is done as approved: calls in every form they can take, and questions that are answered once.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod forms;
mod questions;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod stage;
