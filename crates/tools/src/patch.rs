//! Patches: a text, read into what is to be done to which files, and done all together or not at all.
//!
//! Two forms are read: the envelope that models write (`*** Begin Patch`), and unified diffs as `diff -u` and git write them.
//! [`parse`] does no I/O and takes time in proportion to the text.

mod commit;
mod envelope;
mod place;
mod plan;
mod tool;
mod unified;

use std::path::PathBuf;

pub use tool::{ApplyPatch, PatchParameters};

/// A patch as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patch {
    /// Format.
    pub form: Form,
    /// Changes to each file, in the order of the text.
    pub sections: Vec<Section>,
}

/// Format of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Between `*** Begin Patch` and `*** End Patch`. Places are found by the lines themselves, and how a file ends is not said.
    Envelope,
    /// With `---`, `+++` and line numbers.
    Unified,
}

/// Change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The line of the patch where it begins, counted from 1.
    pub line: usize,
    /// The change.
    pub action: Action,
}

/// Change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Add {
        /// Path.
        path: PathBuf,
        /// With what in it.
        content: String,
    },
    /// It is removed.
    Delete {
        /// Path.
        path: PathBuf,
        /// Required content, if the patch states it.
        content: Option<String>,
    },
    /// It is changed, moved, or both.
    Update {
        /// Path.
        path: PathBuf,
        /// New path.
        to: Option<PathBuf>,
        /// The changes, from top to bottom. None, if it only moves.
        hunks: Vec<Hunk>,
    },
}

/// One change in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The line of the patch where it begins, counted from 1.
    pub line: usize,
    /// Lines that stand somewhere before it, one after the other.
    pub anchors: Vec<String>,
    /// Number of lines of the old file before it, if the patch states it.
    pub start: Option<usize>,
    /// True if it reaches to the end of the file.
    pub at_end: bool,
    /// The lines of the hunk.
    pub lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Sign.
    pub sign: Sign,
    /// The line with its end, if it has one.
    pub text: String,
}

/// Sign of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
    /// It is new.
    Add,
}

/// A patch that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {text}")]
#[non_exhaustive]
pub struct PatchError {
    /// The line of the patch, counted from 1.
    pub line: usize,
    /// Description of the mistake.
    pub text: String,
}

/// Reads a patch in either form. A here-document around it is taken off.
pub fn parse(text: &str) -> Result<Patch, PatchError> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let mut cursor = Cursor { lines, at: 0 };
    cursor.skip_blank();
    unwrap(&mut cursor)?;
    // A sender of headers that end in CR sends everything so.
    if cursor.peek().is_some_and(|line| line.ends_with('\r')) {
        for line in &mut cursor.lines {
            *line = line.strip_suffix('\r').unwrap_or(line);
        }
    }
    if cursor.peek().is_some_and(|line| line.trim() == envelope::BEGIN) {
        Ok(Patch { form: Form::Envelope, sections: envelope::sections(&mut cursor)? })
    } else {
        Ok(Patch { form: Form::Unified, sections: unified::sections(&mut cursor)? })
    }
}

/// Takes off `apply_patch <<'EOF'` and the `EOF` that belongs to it.
fn unwrap(cursor: &mut Cursor<'_>) -> Result<(), PatchError> {
    let Some(word) = cursor.peek().and_then(here_document) else { return Ok(()) };
    let end = cursor.lines.iter().rposition(|line| !line.trim().is_empty()).filter(|end| *end > cursor.at);
    let Some(end) = end.filter(|end| cursor.lines[*end].trim() == word) else {
        return Err(cursor.malformed(format!("the here-document does not end in `{word}`")));
    };
    cursor.lines.truncate(end);
    cursor.at += 1;
    cursor.skip_blank();
    Ok(())
}

fn here_document(line: &str) -> Option<&str> {
    let (command, word) = line.trim().split_once("<<")?;
    let word = word.strip_prefix('-').unwrap_or(word).trim();
    let quoted = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    let word = quoted('\'').or_else(|| quoted('"')).unwrap_or(word);
    let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (matches!(command.trim(), "" | "apply_patch" | "cat" | "git apply" | "patch") && plain).then_some(word)
}

/// A place in the lines of a patch.
struct Cursor<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn peek_next(&self) -> Option<&'a str> {
        self.lines.get(self.at + 1).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
    }

    /// The number of the line that comes next.
    fn number(&self) -> usize {
        self.at + 1
    }

    /// Something is wrong with the line that comes next.
    fn malformed(&self, text: impl Into<String>) -> PatchError {
        PatchError { line: self.number(), text: text.into() }
    }
}

impl Line {
    fn new(sign: Sign, text: &str) -> Self {
        Self { sign, text: format!("{text}\n") }
    }
}

/// Applies the first section of a patch to a text.
#[cfg(test)]
pub(crate) fn applied(content: &str, patch: &Patch) -> Option<String> {
    let Action::Update { hunks, .. } = &patch.sections[0].action else { return None };
    let applied = place::apply(content.as_bytes(), patch.form, hunks, &mut place::STEPS.clone()).ok()?;
    String::from_utf8(applied.content).ok()
}
