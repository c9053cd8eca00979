//! The text of a policy file, and where things stand in it.

use std::num::NonZeroU32;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use policy::RuleRef;

/// A range of bytes in a file.
pub type Span = Range<usize>;

/// Author of a layer. Ordered: a later one may be narrower than an earlier one, never wider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Ringfence itself: the settings without any file.
    BuiltIn,
    /// The administrator: `/etc/ringfence/policy.toml`.
    Managed,
    /// The user.
    User,
    /// The project, whose files the agent can write.
    Project,
}

impl Scope {
    /// The word used in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// One policy file as it was read.
#[derive(Debug)]
pub struct Source {
    /// Author.
    pub scope: Scope,
    /// Path it was read from.
    pub path: Arc<Path>,
    /// Content.
    pub text: String,
    /// The first byte of every line.
    lines: Vec<usize>,
}

impl Source {
    /// Takes the text of a file.
    #[must_use]
    pub fn new(scope: Scope, path: &Path, text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { scope, path: path.into(), text, lines }
    }

    /// The line of a byte, counted from one.
    #[must_use]
    pub fn line(&self, at: usize) -> NonZeroU32 {
        let line = self.lines.partition_point(|&start| start <= at);
        u32::try_from(line).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
    }

    /// The column of a byte, counted in characters from one.
    #[must_use]
    pub fn column(&self, at: usize) -> usize {
        let start = self.line_start(at);
        self.text.get(start..at).map_or(1, |before| before.chars().count() + 1)
    }

    /// The whole line of a byte, without its line break, and where it starts.
    #[must_use]
    pub fn line_text(&self, at: usize) -> (&str, usize) {
        let start = self.line_start(at);
        let rest = self.text.get(start..).unwrap_or_default();
        (rest.lines().next().unwrap_or_default(), start)
    }

    fn line_start(&self, at: usize) -> usize {
        self.lines[self.lines.partition_point(|&start| start <= at).saturating_sub(1)]
    }

    /// The place of a byte, for a reason.
    #[must_use]
    pub fn place(&self, at: usize) -> RuleRef {
        RuleRef { file: Arc::clone(&self.path), line: self.line(at) }
    }
}
