//! Shared code of `grep`, `find` and `ls`: paths as they are shown, pages, and words for omitted results.

use std::fmt::Write as _;

use ringfence::guard::{Abort, EntryMetadata};
use ringfence::policy::Shown;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{ErrorKind, ToolError};

/// Texts, of which one alone may be written without a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct OneOrMany(pub Vec<String>);

impl OneOrMany {
    pub(crate) fn all(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            One(String),
            Many(Vec<String>),
        }
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::One(one) => vec![one],
            Written::Many(many) => many,
        }))
    }
}

/// A page of a long list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

/// Results that are kept at most, so that memory is bounded.
const MAX_RESULTS: usize = 20_000;

impl Page {
    /// A page, with a limit that is neither nothing nor too much.
    pub(crate) fn new(offset: usize, limit: usize) -> Result<Self, ToolError> {
        let page = Self { offset, limit: limit.max(1) };
        if page.end() <= MAX_RESULTS {
            return Ok(page);
        }
        let message = format!("`offset` and `limit` reach beyond {MAX_RESULTS} results");
        Err(ToolError::new(ErrorKind::InvalidArguments, message).hint("narrow the search down"))
    }

    /// Returns the number of results that have to be known.
    pub(crate) fn end(self) -> usize {
        self.offset.saturating_add(self.limit)
    }
}

/// A path as it is shown. The directory that was asked for is a dot.
pub(crate) fn path(path: &[u8]) -> String {
    if path.is_empty() { ".".to_owned() } else { Shown::bytes(path).to_string() }
}

/// The line above a list. A name in it may look like one, but only the first is ours.
pub(crate) fn entries(total: usize) -> String {
    format!("[{total} {}]\n", if total == 1 { "entry" } else { "entries" })
}

/// Adds a line.
pub(crate) fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    if writeln!(text, "{line}").is_err() {
        text.push('\n');
    }
}

/// Adds a line about something that was left out, if there was any.
pub(crate) fn left_out(text: &mut String, number: usize, one: &str, many: &str) {
    match number {
        0 => {}
        1 => line(text, format_args!("[1 {one}]")),
        number => line(text, format_args!("[{number} {many}]")),
    }
}

/// Says that a call was called off, if it was.
pub(crate) fn unless_aborted(abort: &Abort) -> Result<(), ToolError> {
    if abort.is_aborted() {
        return Err(ToolError::new(ErrorKind::Aborted, "the call was cancelled"));
    }
    Ok(())
}

/// Metadata of an entry, for a program.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) size: u64,
    pub(crate) modified: String,
    pub(crate) mode: String,
}

impl From<EntryMetadata> for Known {
    fn from(look: EntryMetadata) -> Self {
        Self { size: look.size, modified: time(look.modified), mode: mode(look.mode) }
    }
}

/// A time in UTC, as RFC 3339 has it.
pub(crate) fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string())
}

/// The nine bits as `ls` shows them, with those above them.
fn mode(mode: u32) -> String {
    let bits = |shift: u32, special: u32, on: char| {
        let has = |bit: u32| mode >> shift & bit != 0;
        let last = match (mode & special != 0, has(1)) {
            (false, false) => '-',
            (false, true) => 'x',
            (true, true) => on,
            (true, false) => on.to_ascii_uppercase(),
        };
        [if has(4) { 'r' } else { '-' }, if has(2) { 'w' } else { '-' }, last]
    };
    [bits(6, 0o4000, 's'), bits(3, 0o2000, 's'), bits(0, 0o1000, 't')].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_times_are_as_people_write_them() {
        let rows = [
            (0o644, "rw-r--r--"),
            (0o755, "rwxr-xr-x"),
            (0o4755, "rwsr-xr-x"),
            (0o1777, "rwxrwxrwt"),
            (0o2640, "rw-r-S---"),
            (0, "---------"),
        ];
        for (bits, expected) in rows {
            assert_eq!(mode(bits), expected);
        }
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(1_700_000_000), "2023-11-14T22:13:20Z");
        assert_eq!(time(i64::MAX), "-");
    }
}
