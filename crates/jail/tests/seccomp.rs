//! The filters on the real kernel.
//!
//! A filter belongs to the thread that installs it and to what that thread starts. Every test therefore confines a thread of
//! its own, which takes the filter with it when it ends.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "seccomp/confined.rs"]
mod confined;
#[path = "seccomp/killed.rs"]
mod killed;
#[path = "seccomp/observed.rs"]
mod observed;
#[path = "seccomp/reference.rs"]
mod reference;
#[path = "seccomp/refused.rs"]
mod refused;
#[path = "../../../tests/skip.rs"]
mod skip;
#[path = "seccomp/works.rs"]
mod works;
