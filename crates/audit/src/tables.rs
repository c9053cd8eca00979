//! Reviewed tables, compiled in.

pub(crate) mod events;
pub(crate) mod secrets;
