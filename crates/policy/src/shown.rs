//! Text from outside, made safe to show.

use std::fmt::{self, Write as _};
use std::path::Path;

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
    c.is_control() || INVISIBLE.iter().any(|&(first, last)| (first..=last).contains(&u32::from(c)))
}

/// Ranges of characters that show nothing or reorder what is shown.
const INVISIBLE: &[(u32, u32)] = &[
    (0x00ad, 0x00ad),   // soft hyphen
    (0x034f, 0x034f),   // combining grapheme joiner
    (0x061c, 0x061c),   // Arabic letter mark
    (0x115f, 0x1160),   // Hangul fillers
    (0x17b4, 0x17b5),   // Khmer inherent vowels
    (0x180b, 0x180f),   // Mongolian variation selectors and vowel separator
    (0x200b, 0x200f),   // zero width space, joiners, direction marks
    (0x2028, 0x202e),   // line and paragraph separators, bidi embeddings and overrides
    (0x2060, 0x206f),   // word joiner, invisible operators, bidi isolates
    (0x2800, 0x2800),   // blank Braille pattern
    (0x3164, 0x3164),   // Hangul filler
    (0xfe00, 0xfe0f),   // variation selectors
    (0xfeff, 0xfeff),   // byte order mark
    (0xffa0, 0xffa0),   // halfwidth Hangul filler
    (0xfff0, 0xfffb),   // unassigned and interlinear annotation
    (0x1bca0, 0x1bca3), // shorthand format controls
    (0x1d173, 0x1d17a), // musical format controls
    (0xe0000, 0xe0fff), // tags and supplementary variation selectors
];

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
