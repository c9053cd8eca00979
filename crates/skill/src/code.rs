//! Reads code and commands: what scripts and shell commands read, send, fetch, run and keep.
//!
//! [`script`] reads Python, JavaScript and PowerShell, [`command`] reads shell commands. Both end as [`fact`]s in one vocabulary;
//! [`flow`] connects a fact that reads a [`secret`] with one that sends it to a [`destination`].

pub(crate) mod command;
pub(crate) mod destination;
pub(crate) mod embedded;
pub(crate) mod fact;
pub(crate) mod flow;
pub(crate) mod script;
pub(crate) mod secret;
