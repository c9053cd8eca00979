//! Why an access does not happen.

use std::path::Path;
use std::sync::Arc;

use audit::AuditError;
use policy::{Code, Kind, RuleRef, Shown};

use crate::trouble::Trouble;

/// Why an access does not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The policy or a person says no.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// It would be allowed, and cannot be done.
    #[error(transparent)]
    Failed(#[from] Failed),
    /// It cannot be recorded.
    #[error("it cannot be recorded, so it does not happen: {0}")]
    Unrecorded(#[from] AuditError),
}

/// An access that the policy or a person refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} ({code}): {object}: {reason}", violation.word())]
#[non_exhaustive]
pub struct Denied {
    /// The seven words that callers tell refusals apart by, and those for what is not a file.
    pub violation: Violation,
    /// The cause, with a manual page.
    pub code: Code,
    /// The object of the request, ready to be shown.
    pub object: String,
    /// The absolute path of a file, as it is on disk.
    pub path: Option<Box<Path>>,
    /// The rule that refused or asked, if a rule did.
    pub rule: Option<RuleRef>,
    /// The reason in one sentence.
    pub reason: Arc<str>,
    /// The change that would allow it; `None` if there is none.
    pub remedy: Option<Arc<str>>,
}

/// An access that would be allowed and cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{object}: {trouble}")]
#[non_exhaustive]
pub struct Failed {
    /// The fault of the path, or of the object that it leads to.
    #[source]
    pub trouble: Trouble,
    /// The object of the request, ready to be shown.
    pub object: String,
}

impl Failed {
    /// Creates an error about a path.
    #[must_use]
    pub fn new(trouble: Trouble, path: &Path) -> Self {
        Self { trouble, object: Shown::path(path).to_string() }
    }
}

/// The kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// Outside the workspace.
    Jail,
    /// Reading is denied.
    ReadDenied,
    /// Writing is denied.
    WriteDenied,
    /// The command is denied.
    ExecuteDenied,
    /// The connection is denied.
    ConnectDenied,
    /// The tool is denied.
    CallDenied,
    /// The name is forbidden.
    ForbiddenGlob,
    /// The path is written from the root.
    AbsolutePath,
    /// A person would have to be asked, and there is no approver.
    AskNoHandler,
    /// The question was called off, or could not be asked.
    AskAborted,
}

impl Violation {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Jail => "jail",
            Self::ReadDenied => "read-denied",
            Self::WriteDenied => "write-denied",
            Self::ExecuteDenied => "execute-denied",
            Self::ConnectDenied => "connect-denied",
            Self::CallDenied => "call-denied",
            Self::ForbiddenGlob => "forbidden-glob",
            Self::AbsolutePath => "absolute-path",
            Self::AskNoHandler => "ask-no-handler",
            Self::AskAborted => "ask-aborted",
        }
    }

    pub(crate) const fn of(code: Code, kind: Kind) -> Self {
        match (code, kind) {
            (Code::OutsideWorkspace | Code::MagicLink, _) => Self::Jail,
            (Code::AbsolutePath, _) => Self::AbsolutePath,
            (Code::ForbiddenName | Code::OwnPolicyFile, _) => Self::ForbiddenGlob,
            (Code::AskUnanswered, _) => Self::AskNoHandler,
            (Code::AskAborted, _) => Self::AskAborted,
            (_, Kind::Read | Kind::Load) => Self::ReadDenied,
            (_, Kind::Write) => Self::WriteDenied,
            (_, Kind::Exec) => Self::ExecuteDenied,
            (_, Kind::Connect) => Self::ConnectDenied,
            (_, Kind::Call) => Self::CallDenied,
        }
    }
}

impl Refusal {
    /// The kind of refusal, if the policy or a person refused.
    #[must_use]
    pub fn violation(&self) -> Option<Violation> {
        match self {
            Self::Denied(denied) => Some(denied.violation),
            Self::Failed(_) | Self::Unrecorded(_) => None,
        }
    }

    /// Returns the problem, if the access would be allowed.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Failed(failed) => Some(failed.trouble),
            Self::Denied(_) | Self::Unrecorded(_) => None,
        }
    }
}
