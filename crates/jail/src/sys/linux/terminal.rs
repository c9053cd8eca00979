//! Standard streams and terminals: the pseudoterminal of a jail, the relay between it and the caller, and capture into memory.
//!
//! `crate::terminal` filters the bytes that reach the caller's terminal.

pub(crate) mod capture;
pub(crate) mod pty;
pub(crate) mod relay;
