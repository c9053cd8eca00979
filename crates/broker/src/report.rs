//! Totals of a broker, for the summary at the end of a run.

use policy::{Code, Endpoint};

/// Totals of a broker from start to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Connections that were allowed.
    pub connections: u64,
    /// Bytes from the jail to hosts.
    pub sent: u64,
    /// Bytes from hosts to the jail.
    pub received: u64,
    /// Refusals, one for each host, port and code, in the order of their first occurrence.
    pub refusals: Vec<RefusedHost>,
    /// Refusals that are not listed because there were too many different ones.
    pub unlisted: u64,
    /// Records of ended connections that could not be written.
    pub unrecorded: u64,
}

/// Refused connections or requests to one host for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedHost {
    /// Host and port; `None` if the request did not name one that could be read.
    pub endpoint: Option<Endpoint>,
    /// Cause.
    pub code: Code,
    /// One sentence.
    pub reason: String,
    /// The one line that would allow it.
    pub remedy: Option<String>,
    /// Number of times.
    pub count: u64,
}

/// Most refusals that are listed one by one.
const MAX_LISTED: usize = 256;

impl Report {
    pub(crate) fn add_refusal(&mut self, refused: RefusedHost) {
        let same = |listed: &RefusedHost| listed.endpoint == refused.endpoint && listed.code == refused.code;
        match self.refusals.iter().position(same) {
            Some(at) => self.refusals[at].count += 1,
            None if self.refusals.len() < MAX_LISTED => self.refusals.push(refused),
            None => self.unlisted += 1,
        }
    }
}
