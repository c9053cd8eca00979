//! One replacement in a text. It finds lines however they end, and leaves the ends as they are.

use std::borrow::Cow;

use crate::content::LONGEST;

/// Reason why a replacement was not made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// There is nothing to look for.
    Empty,
    /// It would change nothing.
    Same,
    /// It is not there.
    Missing,
    /// It is there more than once: how often, and on which lines at first.
    NotUnique(usize, Vec<usize>),
    /// The text would become too long.
    TooLarge,
}

/// Number of lines that are named.
const NAMED: usize = 10;

/// Replaces `old`, which has to be there once, or every occurrence. Returns the text and the number of replacements.
pub(crate) fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), Unfit> {
    let (old, new) = (plain(old), plain(new));
    if old.is_empty() {
        return Err(Unfit::Empty);
    }
    if old == new {
        return Err(Unfit::Same);
    }
    let plain = Plain::of(text);
    let places = if all { plain.apart(&old) } else { plain.only(&old)? };
    if places.is_empty() {
        return Err(Unfit::Missing);
    }
    let breaks = new.matches('\n').count();
    let longest = (new.len() + breaks).saturating_mul(places.len()).saturating_add(text.len());
    if longest
        > usize::try_from(LONGEST)
            .unwrap_or(usize::MAX)
            .saturating_add(old.len().saturating_mul(places.len()))
    {
        return Err(Unfit::TooLarge);
    }
    Ok((plain.with(text, &places, (&old, &new)), places.len()))
}

/// A text in which all lines end in LF, and where they did not.
struct Plain<'a> {
    text: Cow<'a, str>,
    /// The places of those LF that a CR stood before.
    crlf: Vec<usize>,
}

/// The text with LF at the ends of lines.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    Plain::of(text).text
}

impl<'a> Plain<'a> {
    fn of(text: &'a str) -> Self {
        if !text.contains("\r\n") {
            return Self { text: Cow::Borrowed(text), crlf: Vec::new() };
        }
        let mut plain = String::with_capacity(text.len());
        let mut crlf = Vec::new();
        for (number, piece) in text.split("\r\n").enumerate() {
            if number > 0 {
                crlf.push(plain.len());
                plain.push('\n');
            }
            plain.push_str(piece);
        }
        Self { text: Cow::Owned(plain), crlf }
    }

    /// The place where something is, and an error if it is in several; they may overlap.
    fn only(&self, old: &str) -> Result<Vec<usize>, Unfit> {
        let Some(first) = self.text.find(old) else { return Ok(Vec::new()) };
        let step = old.chars().next().map_or(1, char::len_utf8);
        if !self.text[first + step..].contains(old) {
            return Ok(vec![first]);
        }
        let all = self.apart(old);
        // Those that overlap count once; that there are two is certain.
        let lines = self.lines(&all);
        Err(Unfit::NotUnique(all.len().max(2), lines))
    }

    /// The places where something is, one behind the other.
    fn apart(&self, old: &str) -> Vec<usize> {
        self.text.match_indices(old).map(|(at, _)| at).collect()
    }

    fn lines(&self, places: &[usize]) -> Vec<usize> {
        let (mut from, mut line) = (0, 1);
        let number = |at: &usize| {
            line += self.text[from..*at].matches('\n').count();
            from = *at;
            line
        };
        let mut lines: Vec<usize> = places.iter().take(NAMED).map(number).collect();
        lines.dedup();
        lines
    }

    /// The original with something else at these places.
    fn with(&self, original: &str, places: &[usize], (old, new): (&str, &str)) -> String {
        let long = if new.contains('\n') { new.replace('\n', "\r\n") } else { new.to_owned() };
        let mut text = String::with_capacity(original.len());
        let mut from = 0;
        for &at in places {
            text.push_str(&original[from..self.original(at)]);
            text.push_str(if self.ends_long(at) { &long } else { new });
            from = self.original(at + old.len());
        }
        text.push_str(&original[from..]);
        text
    }

    fn original(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|&lf| lf < at)
    }

    /// Returns true if the line there ends in CRLF. The last line, without an end, is like the one before.
    fn ends_long(&self, at: usize) -> bool {
        if self.crlf.is_empty() {
            return false;
        }
        let after = self.text[at..].find('\n').map(|further| at + further);
        let end = after.or_else(|| self.text[..at].rfind('\n'));
        end.is_some_and(|end| self.crlf.binary_search(&end).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_once_or_everywhere() {
        type Row<'a> = (&'a str, &'a str, &'a str, bool, Result<&'a str, Unfit>);
        let rows: &[Row<'_>] = &[
            ("a b c", "b", "x", false, Ok("a x c")),
            ("a b c", "d", "x", false, Err(Unfit::Missing)),
            ("a b c", "d", "x", true, Err(Unfit::Missing)),
            ("a b c", "b", "b", false, Err(Unfit::Same)),
            ("a b c", "", "b", false, Err(Unfit::Empty)),
            ("b b\nb", "b", "x", false, Err(Unfit::NotUnique(3, vec![1, 2]))),
            ("b b\nb", "b", "x", true, Ok("x x\nx")),
            ("aaa", "aa", "x", false, Err(Unfit::NotUnique(2, vec![1]))),
            ("aaa", "aa", "x", true, Ok("xa")),
            ("\u{e9}\u{e9}", "\u{e9}", "e", false, Err(Unfit::NotUnique(2, vec![1]))),
            // Ends of lines.
            ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false, Ok("x\r\ny\r\nz\r\nc\r\n")),
            ("a\r\nb\r\nc", "c", "c\nd", false, Ok("a\r\nb\r\nc\r\nd")),
            ("a\r\nb\r\nc", "\nb", "", false, Ok("a\r\nc")),
            ("a\r\nb\r\nc", "a\n", "", false, Ok("b\r\nc")),
            ("a\nb\n", "a\r\nb", "x\r\ny", false, Ok("x\ny\n")),
            ("a\r\nb\nc\n", "a\nb\nc", "x\ny", false, Ok("x\r\ny\n")),
            ("a\r\nb\nc\n", "b\nc", "x\ny", false, Ok("a\r\nx\ny\n")),
            ("a\r\n", "a\r\n", "a\n", false, Err(Unfit::Same)),
            ("a\rb", "a\rb", "c", false, Ok("c")),
        ];
        for (text, old, new, all, wanted) in rows {
            let got = replace(text, old, new, *all).map(|(text, _)| text);
            assert_eq!(got.as_deref(), wanted.as_ref().map(|text| *text), "{text:?}: {old:?} -> {new:?}");
        }
    }

    #[test]
    fn no_text_grows_beyond_what_is_taken() {
        let text = "a".repeat(1_000_000);
        assert_eq!(replace(&text, "a", &"b".repeat(11), true), Err(Unfit::TooLarge));
        assert!(replace(&text, "a", &"b".repeat(10), true).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn lines_keep_their_ends(lines in proptest::collection::vec("[ab]{0,3}", 0..8), crlf: bool, old in "[ab\n]{1,4}") {
            let end = if crlf { "\r\n" } else { "\n" };
            let text: String = lines.iter().map(|line| line.clone() + end).collect();
            // A text that is replaced by itself and a letter changes by that letter alone.
            if let Ok((changed, times)) = replace(&text, &old, &format!("{old}x"), true) {
                proptest::prop_assert_eq!(changed.len(), text.len() + times);
            }
            if let Ok((changed, _)) = replace(&text, &old, "x", true) {
                let back = plain(&changed).replace('x', &old);
                proptest::prop_assert_eq!(back, plain(&text).into_owned());
            }
        }
    }
}
