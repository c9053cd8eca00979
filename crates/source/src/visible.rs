//! Characters that cannot be seen, or that change how others are seen, written out.
//!
//! A model reads bytes that a person does not see. What it is shown is what a person would be shown: every control character but tab
//! and line feed, every character of direction, of no width and every tag becomes `\u{…}`. So nothing is hidden, and nothing is lost.
//!
//! **Emoji stay what they are**: one variation selector behind an emoji and one joiner behind that are kept. Tags (flags of regions of a
//! country) and joiners between letters are written out.

use std::fmt::Write as _;

use policy::CharacterClass;

/// Writes out a text piece by piece. It makes no difference into which pieces it was cut.
///
/// ```
/// let mut text = String::new();
/// let mut escaper = ringfence_source::Escaper::default();
/// escaper.push("a\u{202e}b", &mut text);
/// assert_eq!((text.as_str(), escaper.escaped()), (r"a\u{202e}b", 1));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Escaper {
    before: Before,
    escaped: u64,
}

/// State before the next character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    Emoji,
    /// An emoji with its variation selector.
    Selected,
}

impl Escaper {
    /// Adds a text to another, with everything written out that cannot be seen.
    pub fn push(&mut self, text: &str, out: &mut String) {
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            let (before, kept) = self.next(c);
            self.before = before;
            if kept {
                continue;
            }
            out.push_str(&text[plain..at]);
            plain = at + c.len_utf8();
            self.escaped += 1;
            write_out(c, out);
        }
        out.push_str(&text[plain..]);
    }

    /// Returns the number of characters escaped so far.
    #[must_use]
    pub const fn escaped(&self) -> u64 {
        self.escaped
    }

    /// Returns the state after this character, and true if the character stays as it is.
    fn next(self, c: char) -> (Before, bool) {
        match (c, self.before) {
            ('\u{fe0e}' | '\u{fe0f}', Before::Emoji) => (Before::Selected, true),
            ('\n' | '\t' | ' '..='~', _) | ('\u{200d}', Before::Emoji | Before::Selected) => {
                (Before::Other, true)
            }
            _ if policy::misleads(c) => (Before::Other, false),
            _ if is_emoji(c) => (Before::Emoji, true),
            _ => (Before::Other, true),
        }
    }
}

/// A text with everything written out that cannot be seen, and how many characters that were.
#[must_use]
pub fn visible(text: &str) -> (String, u64) {
    let (mut out, mut escaper) = (String::with_capacity(text.len()), Escaper::default());
    escaper.push(text, &mut out);
    (out, escaper.escaped())
}

fn write_out(c: char, out: &mut String) {
    if c == '\r' {
        return out.push_str("\\r");
    }
    // Writing to a string does not fail.
    if write!(out, "\\u{{{:x}}}", u32::from(c)).is_err() {
        out.push(char::REPLACEMENT_CHARACTER);
    }
}

/// Returns true for pictures, and for signs that a variation selector turns into one.
fn is_emoji(c: char) -> bool {
    CharacterClass::Emoji.contains(c) || CharacterClass::FoldedEmoji.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let heart = "\u{2764}\u{fe0f}\u{200d}\u{1f525}";
        let rows = [
            ("plain\n\ttext", "plain\n\ttext", 0),
            ("gr\u{fc}\u{df}e \u{4e2d}\u{6587}", "gr\u{fc}\u{df}e \u{4e2d}\u{6587}", 0),
            ("a\u{202e}b", r"a\u{202e}b", 1),
            ("a\u{200b}b\u{2066}", r"a\u{200b}b\u{2066}", 2),
            ("\u{e0041}\u{e007f}", r"\u{e0041}\u{e007f}", 2),
            ("\u{1b}[31m\0\u{7}\r\u{9b}", r"\u{1b}[31m\u{0}\u{7}\r\u{9b}", 5),
            ("\u{26a0}\u{fe0f} x", "\u{26a0}\u{fe0f} x", 0),
            // An arrow that no selector turns into a picture.
            ("\u{2190}\u{fe0f}", "\u{2190}\\u{fe0f}", 1),
            ("\u{2139}\u{fe0f}", "\u{2139}\u{fe0f}", 0),
            ("\u{13430}", r"\u{13430}", 1),
            (family, family, 0),
            (heart, heart, 0),
            ("a\u{200d}b\u{fe0f}", r"a\u{200d}b\u{fe0f}", 2),
            ("\u{1f600}\u{200d}\u{200d}", "\u{1f600}\u{200d}\\u{200d}", 1),
            ("\u{1f600}\u{fe0f}\u{fe0f}", "\u{1f600}\u{fe0f}\\u{fe0f}", 1),
            ("\u{1f3f4}\u{e0067}", "\u{1f3f4}\\u{e0067}", 1),
        ];
        for (text, expected, escaped) in rows {
            assert_eq!(visible(text), (expected.to_owned(), escaped), "{text:?}");
            assert_eq!(visible(expected), (expected.to_owned(), 0), "{text:?} again");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text in "(\\PC|\u{200d}|\u{fe0f}|\u{1f600}|\u{1b}|\u{202e}|\n){0,60}", at in 0_usize..60) {
            let (whole, escaped) = visible(&text);
            let cut = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let (mut out, mut escaper) = (String::new(), Escaper::default());
            escaper.push(&text[..cut], &mut out);
            escaper.push(&text[cut..], &mut out);
            prop_assert_eq!((out, escaper.escaped()), (whole.clone(), escaped));
            let kept = |c: char| matches!(c, '\n' | '\t' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
            let hidden = whole.chars().any(|c| policy::misleads(c) && !kept(c));
            prop_assert!(!hidden, "{:?}", whole);
        }
    }
}
