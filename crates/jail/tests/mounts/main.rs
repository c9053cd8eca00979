//! Contents and end of a jail, on the real kernel: the cases that a mount plan has to keep.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contents;
mod ended;
mod enforced;
mod layered;
mod place;
mod refused;
mod shown;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod streams;
