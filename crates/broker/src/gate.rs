//! The interface to the policy and to a person.

use std::path::PathBuf;

use policy::{Decision, Endpoint, Reason};

/// Decides about hosts. Implemented outside of the broker with the policy and an approver.
pub trait Gate: Send + Sync {
    /// Decides about a connection to a host and port. Pure and quick; includes answers that were given in this run.
    fn decide(&self, endpoint: &Endpoint) -> Decision;

    /// Returns true if the permission names this port, so that a protocol that the broker cannot read may pass.
    fn names_port(&self, endpoint: &Endpoint) -> bool;

    /// Puts a question to a person after `decide` said [`Decision::Ask`]. Blocks, on a thread of its own. The broker asks one question
    /// per host at a time and stops waiting after [`Limits::answer`](crate::Limits::answer).
    fn ask(&self, question: &Question<'_>) -> Result<(), Reason>;
}

/// A question about a host.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Host and port.
    pub endpoint: &'a Endpoint,
    /// Program that opened the connection, if it could be found.
    pub program: Option<&'a Program>,
    /// Reason why a person has to decide.
    pub reason: &'a Reason,
}

/// A program inside the jail that opened a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Process id inside the jail.
    pub pid: u32,
    /// Executable, as the jail sees it.
    pub executable: PathBuf,
}
