//! The error of a run: the failed step, its causes, and hints that help.

use std::error::Error;
use std::fmt;

use audit::AuditError;
use config::Problems;
use jail::JailError;
use jail::bridge::Closed;
use jail::plan::Conflict;
use policy::{Code, Shown, Span};

/// Explains why a run was refused, or could not be completed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunError {
    /// Class of the error.
    pub kind: RunErrorKind,
    /// Reason code, if the cause has a manual page.
    pub code: Option<Code>,
    /// The failure in one sentence.
    pub message: String,
    /// Causes, outermost first.
    pub causes: Vec<String>,
    /// Steps that would help.
    pub hints: Vec<String>,
}

/// Classifies a [`RunError`]. A front end maps it to its exit codes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// A step failed, and nothing was started.
    Failed,
    /// The options contradict each other.
    Usage,
    /// The policy has problems.
    Policy(Problems),
    /// The policy does not accept the wishes.
    Options {
        /// The problems.
        problems: Problems,
        /// True if a wish is understood and would widen the policy.
        widens: bool,
    },
    /// The policy denies the command, or a person did.
    Denied(Box<MarkedLine>),
    /// The policy wants a person to be asked, and there is none.
    NeedsApproval(Box<MarkedLine>),
    /// The policy or the jail refuses the run.
    Refused,
    /// No jail could be made.
    NoJail,
    /// The program does not exist.
    NotFound,
}

/// A command line and the part of it that a decision rests on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MarkedLine {
    /// Text of the line.
    pub text: Vec<u8>,
    /// The part.
    pub place: Option<Span>,
}

impl RunError {
    /// Creates an error with a message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let (message, causes, hints) = (message.into(), Vec::new(), Vec::new());
        Self { kind: RunErrorKind::Failed, code: None, message, causes, hints }
    }

    /// Creates an error with a reason code.
    pub(crate) fn coded(code: Code, message: impl Into<String>) -> Self {
        Self { code: Some(code), ..Self::new(message) }
    }

    /// Creates an error from the problems of a policy.
    pub(crate) fn policy(problems: Problems) -> Self {
        let count = problems.0.len();
        let message = format!("the policy has {count} {}", if count == 1 { "problem" } else { "problems" });
        Self { kind: RunErrorKind::Policy(problems), ..Self::new(message) }
    }

    /// Sets the class.
    pub(crate) fn kind(mut self, kind: RunErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Adds an error and its sources as causes.
    pub(crate) fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown::text(&self.message))?;
        self.causes.iter().try_for_each(|cause| write!(f, ": {}", Shown::text(cause)))?;
        let (RunErrorKind::Policy(problems) | RunErrorKind::Options { problems, .. }) = &self.kind else {
            return Ok(());
        };
        problems.0.iter().try_for_each(|problem| write!(f, ": {}", Shown::text(&problem.to_string())))
    }
}

impl Error for RunError {}

impl From<&overlay::OverlayError> for RunError {
    fn from(error: &overlay::OverlayError) -> Self {
        use overlay::OverlayError::{Ambiguous, Busy, Unknown};
        let failed = Self { code: error.code(), ..Self::new(error.to_string()) };
        let failed = match Error::source(error) {
            Some(cause) => failed.because(cause),
            None => failed,
        };
        match error {
            Unknown(_) | Ambiguous(_) => failed.hint("`ringfence review --list` lists them"),
            Busy(_) => failed.hint("wait for it, or take another one with --overlay=new"),
            _ => failed,
        }
    }
}

impl RunError {
    /// Creates the error of a start that could not be recorded and does not happen.
    pub(crate) fn unrecorded(error: &AuditError) -> Self {
        Self::coded(error.code(), "cannot write to the ledger, so the command was not started").because(error)
    }

    /// Creates the error of an end that could not be recorded.
    pub(crate) fn unrecorded_end(error: &AuditError) -> Self {
        Self::coded(error.code(), "the end cannot be recorded").because(error)
    }
}

impl From<&JailError> for RunError {
    fn from(error: &JailError) -> Self {
        let kind = match error {
            JailError::NotFound(_) => RunErrorKind::NotFound,
            JailError::NotExecutable(..) => RunErrorKind::Refused,
            _ => RunErrorKind::NoJail,
        };
        let mut failed = Self::coded(error.code(), error.to_string()).kind(kind);
        failed.hints.extend(error.hint());
        failed
    }
}

impl From<&Conflict> for RunError {
    fn from(conflict: &Conflict) -> Self {
        let failed = Self::coded(conflict.code(), conflict.to_string()).hint(conflict.hint());
        failed.kind(RunErrorKind::NoJail)
    }
}

impl From<&Closed> for RunError {
    fn from(closed: &Closed) -> Self {
        let failed = Self::coded(Code::JailConflict, format!("cannot open port {}", closed.port));
        failed.because(&closed.why).hint("stop the process that uses it, or map another: --port-in 8081:3000")
    }
}
