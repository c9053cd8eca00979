//! Problems of a policy: cause, place, and remedy.

use std::fmt;
use std::sync::Arc;

use policy::{Code, Shown};

use crate::source::{Source, Span};

/// One thing wrong with a policy file. Nothing runs with a broken policy.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The cause.
    pub code: Code,
    /// The problem in one sentence.
    pub message: String,
    /// Place in the text of a file, if it has one.
    pub place: Option<Place>,
    /// Remedies.
    pub hints: Vec<String>,
}

/// A range in a file, with a word about it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// The range.
    pub span: Span,
    /// Text under the caret.
    pub label: String,
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: None, hints: Vec::new() }
    }

    /// Points at the text.
    #[must_use]
    pub fn at(mut self, source: &Arc<Source>, span: Span, label: impl Into<String>) -> Self {
        self.place = Some(Place { source: Arc::clone(source), span, label: label.into() });
        self
    }

    /// Adds what would help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, Shown::text(&self.message))?;
        let Some(place) = &self.place else { return Ok(()) };
        let (line, column) = (place.source.line(place.span.start), place.source.column(place.span.start));
        write!(f, " ({}:{line}:{column})", Shown::path(&place.source.path))
    }
}

/// Everything wrong with a policy, in the order of the files.
#[derive(Debug, Clone)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|problem| writeln!(f, "{problem}"))
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// The name nearest to a misspelled one, if any is near.
#[must_use]
pub(crate) fn nearest<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Long input cannot be a misspelling of a short name, and comparing it would take long.
    let written = written.get(..written.len().min(64))?.to_lowercase().replace('_', "-");
    names
        .map(|name| (strsim::damerau_levenshtein(&written, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(3) / 3)
        .min()
        .map(|(_, name)| name)
}
