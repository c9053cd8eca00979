//! Reviewed tables, compiled in.

pub(crate) mod secrets;
