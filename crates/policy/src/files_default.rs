//! Default for files that no pattern names.

use crate::chain::Policy;
use crate::decision::{Decision, Effect, Reason};
use crate::request::{Kind, Request};

/// The last link for files: one answer for reading and one for writing.
#[derive(Debug, Clone)]
pub struct FilesDefault {
    /// For reading, and for loading skills. `None`: it says nothing.
    pub read: Option<(Effect, Reason)>,
    /// For writing. `None`: it says nothing.
    pub write: Option<(Effect, Reason)>,
}

impl FilesDefault {
    fn of(&self, request: &Request<'_>) -> Option<&(Effect, Reason)> {
        match request.want.kind() {
            Kind::Read | Kind::Load => self.read.as_ref(),
            Kind::Write => self.write.as_ref(),
            Kind::Exec | Kind::Connect | Kind::Call => None,
        }
    }
}

impl Policy for FilesDefault {
    fn name(&self) -> &'static str {
        "files default"
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        self.of(request).map(|(effect, reason)| Decision::new(*effect, reason.clone()))
    }

    fn effect(&self, request: &Request<'_>) -> Option<Effect> {
        self.of(request).map(|(effect, _)| *effect)
    }
}
