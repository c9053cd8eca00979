//! Text from outside, made safe to show.

use std::fmt::{self, Write as _};
use std::path::Path;

use crate::characters::CharacterClass;

/// Text from outside, ready for a terminal: characters that would steer it, hide in it or reorder it are escaped.
///
/// ```
/// use ringfence_policy::Shown;
/// assert_eq!(Shown::text("rm \u{202e}txt\u{1b}[2K").to_string(), r"rm \u{202e}txt\u{1b}[2K");
/// ```
pub struct Shown<'a>(&'a [u8]);

impl<'a> Shown<'a> {
    /// Shows text that claims to be UTF-8.
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        Self(text.as_bytes())
    }

    /// Shows bytes; those that are not UTF-8 appear as `\xNN`.
    #[must_use]
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Shows a path, byte for byte.
    #[must_use]
    pub fn path(path: &'a Path) -> Self {
        Self(path.as_os_str().as_encoded_bytes())
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nearly every name is of this kind.
        if let (Ok(text), true) = (std::str::from_utf8(self.0), self.0.iter().all(|byte| is_plain(*byte))) {
            return f.write_str(text);
        }
        for chunk in self.0.utf8_chunks() {
            chunk.valid().chars().try_for_each(|c| show_char(f, c))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

/// A letter, digit or sign that shows itself.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn show_char(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        c if misleads(c) => write!(f, "\\u{{{:x}}}", u32::from(c)),
        c => f.write_char(c),
    }
}

/// Returns true if a character steers a terminal, is invisible, or changes the order in which others are read.
///
/// Such characters have no place in a name that a person is asked to judge.
#[must_use]
pub fn misleads(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control() || CharacterClass::Misleading.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_out_what_would_steer_a_terminal() {
        let rows: &[(&[u8], &str)] = &[
            (b"plain.rs", "plain.rs"),
            ("caf\u{e9} \u{4e2d}".as_bytes(), "caf\u{e9} \u{4e2d}"),
            (b"a\nb\tc\rd", r"a\nb\tc\rd"),
            (b"\x1b]0;owned\x07", r"\u{1b}]0;owned\u{7}"),
            (b"nul\0", r"nul\u{0}"),
            ("\u{9b}31m".as_bytes(), r"\u{9b}31m"),
            ("\u{202e}\u{2066}\u{200b}\u{feff}".as_bytes(), r"\u{202e}\u{2066}\u{200b}\u{feff}"),
            ("\u{e0041}\u{fe0f}\u{3164}".as_bytes(), r"\u{e0041}\u{fe0f}\u{3164}"),
            ("\u{13430}".as_bytes(), r"\u{13430}"),
            (b"\xff\xfe", r"\xff\xfe"),
            (b"cut \xe2\x82", r"cut \xe2\x82"),
        ];
        for (raw, shown) in rows {
            assert_eq!(Shown::bytes(raw).to_string(), *shown);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_never_misleads(raw in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let shown = Shown::bytes(&raw).to_string();
            proptest::prop_assert!(!shown.chars().any(misleads), "{shown:?}");
        }
    }
}
