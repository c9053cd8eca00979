//! A failure as a person sees it: message, causes, hints.

use std::error::Error;
use std::fmt;

use policy::Shown;

use crate::exit::Exit;

/// Why a command could not do its work, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// What went wrong, in one sentence.
    pub message: String,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What would help.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure with nothing but a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    /// Adds an error and everything behind it.
    #[must_use]
    pub fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Adds what would help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", Shown::text(&self.message))?;
        self.causes.iter().try_for_each(|cause| writeln!(f, "  because: {}", Shown::text(cause)))?;
        self.hints.iter().try_for_each(|hint| writeln!(f, "hint: {}", Shown::text(hint)))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new("cannot write the output").because(&error)
    }
}
