//! Errors, told so that a model can do something about them.

use ringfence::guard::{Refusal, Trouble, Violation};
use ringfence::policy::{Code, Shown};
use ringfence::source;
use serde::Serialize;
use serde_json::Value;

/// An error: kind, message, remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ToolError {
    /// Kind of error.
    pub kind: ErrorKind,
    /// The error in a sentence.
    pub message: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The code of the manual page, if the policy refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The word for the refusal, if the policy refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<&'static str>,
    /// The absolute path of the file, if the policy refused one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<str>>,
    /// The rule that refused, as `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Box<str>>,
}

/// The kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The arguments do not fit the schema.
    InvalidArguments,
    /// There is no such tool.
    UnknownTool,
    /// The path is outside the workspace or written from the root.
    OutsideWorkspace,
    /// The policy or a person says no.
    PermissionDenied,
    /// The call was called off.
    Aborted,
    /// There is no such file, or no such job.
    NotFound,
    /// It is a directory, a pipe, or something else that the tool does not take.
    WrongType,
    /// It is not text.
    Binary,
    /// There is too much of it.
    TooLarge,
    /// The text to be replaced is not there.
    NoMatch,
    /// The text to be replaced is there more than once.
    NotUnique,
    /// Another program changed it meanwhile, or it is not what was expected.
    Conflict,
    /// A pattern, a patch or an address cannot be read.
    Malformed,
    /// The command could not be started.
    NotStarted,
    /// The network did not give it.
    Network,
    /// The operating system refuses.
    System,
    /// It cannot be recorded, so it does not happen.
    Unrecorded,
}

impl ErrorKind {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> String {
        serde_json::to_value(self).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl ToolError {
    /// An error without more to say.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            code: None,
            violation: None,
            path: None,
            rule: None,
        }
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the error as a model and a program read it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|_| Value::String(self.message.clone()))
    }

    /// The same with everything written out that cannot be seen: messages and hints quote files.
    pub(crate) fn visible(mut self) -> Self {
        self.message = source::visible(&self.message).0;
        self.hint = self.hint.map(|hint| source::visible(&hint).0);
        self
    }

    pub(crate) fn arguments(error: &serde_json::Error) -> Self {
        Self::new(ErrorKind::InvalidArguments, format!("the arguments do not fit: {error}"))
            .hint("look at the schema of the tool's parameters")
    }

    /// Describes a problem with a file.
    #[must_use]
    pub fn trouble(object: &str, trouble: Trouble) -> Self {
        let kind = match trouble {
            Trouble::NotFound => ErrorKind::NotFound,
            Trouble::IsADirectory | Trouble::NotADirectory | Trouble::Special => ErrorKind::WrongType,
            Trouble::Changed | Trouble::Gone => ErrorKind::Conflict,
            Trouble::Empty | Trouble::Nul | Trouble::TooLong | Trouble::Loop | Trouble::NoName => {
                ErrorKind::InvalidArguments
            }
            _ => ErrorKind::System,
        };
        let message = if object.is_empty() { trouble.to_string() } else { format!("{object}: {trouble}") };
        let error = Self::new(kind, message);
        match trouble {
            Trouble::NotFound => error.hint("`find` or `ls` shows what is there"),
            Trouble::IsADirectory => error.hint("`ls` lists a directory"),
            Trouble::Changed => error.hint("read it again and repeat the change"),
            _ => error,
        }
    }
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Denied(denied) => Self {
                kind: match denied.violation {
                    Violation::Jail | Violation::AbsolutePath => ErrorKind::OutsideWorkspace,
                    Violation::AskAborted => ErrorKind::Aborted,
                    _ => ErrorKind::PermissionDenied,
                },
                message: format!("{}: {}", denied.object, denied.reason),
                hint: denied.remedy.as_deref().map(|remedy| format!("what would allow it: {remedy}")),
                code: Some(denied.code.id()),
                violation: Some(denied.violation.word()),
                path: denied.path.as_deref().map(|path| Shown::path(path).to_string().into()),
                rule: denied.rule.map(|rule| rule.to_string().into()),
            },
            Refusal::Failed(failed) => Self::trouble(&failed.object, failed.trouble),
            other => Self {
                code: Some(Code::LedgerUnwritable.id()),
                ..Self::new(ErrorKind::Unrecorded, other.to_string())
            },
        }
    }
}
