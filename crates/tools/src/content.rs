//! The content of a file, as far as a tool takes it.

use std::io::Read as _;

use ringfence::guard::{ReadableFile, Trouble, Version};

use crate::error::{ErrorKind, ToolError};

/// The longest file that is changed or compared.
pub(crate) const LONGEST: u64 = 10_000_000;

/// Content of a file, and the state of the file before it was read.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) version: Version,
}

impl Content {
    /// Reads all of it. A file that is longer, or grows beyond it, is an error.
    pub(crate) fn read(opened: &ReadableFile, longest: u64) -> Result<Self, ToolError> {
        let name = opened.location().to_string();
        let trouble = |trouble| ToolError::trouble(&name, trouble);
        if opened.is_directory() {
            return Err(trouble(Trouble::IsADirectory));
        }
        if opened.size() > longest {
            return Err(too_large(&name, opened.size(), longest));
        }
        let version = opened.version().map_err(trouble)?;
        let mut bytes = Vec::with_capacity(usize::try_from(opened.size()).unwrap_or(0));
        let file = opened.file().map_err(trouble)?;
        file.take(longest + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&name, &error))?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > longest { Err(too_large(&name, size, longest)) } else { Ok(Self { bytes, version }) }
    }
}

/// A file that cannot be read although it was opened.
pub(crate) fn unreadable(name: &str, error: &std::io::Error) -> ToolError {
    ToolError::new(ErrorKind::System, format!("{name}: system error: {error}"))
}

/// A file that is not what it was when it was read.
pub(crate) fn changed(name: &str) -> ToolError {
    ToolError::trouble(name, Trouble::Changed)
}

fn too_large(name: &str, size: u64, longest: u64) -> ToolError {
    ToolError::new(ErrorKind::TooLarge, format!("{name} has {size} bytes, and at most {longest} are taken"))
        .hint("`read` with an offset shows a part of it, a command changes it")
}

/// Returns the number of lines of a text; a part after the last line end is one.
pub(crate) fn lines(bytes: &[u8]) -> usize {
    let ends = bytes.split(|byte| *byte == b'\n').count() - 1;
    ends + usize::from(bytes.last().is_some_and(|&last| last != b'\n'))
}

/// A number with its noun.
pub(crate) fn count(number: impl ToString + Copy, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
