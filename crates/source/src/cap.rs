//! Text that is too long, cut at boundaries, with a line that says what is missing.

use crate::json;
use crate::profile::{Profile, Strategy};

/// A result that fits its profile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CappedText {
    /// The text, with the lines that say what is missing.
    pub text: String,
    /// Size of the whole.
    pub whole: Size,
    /// Number of characters in `text`.
    pub returned: usize,
    /// Omitted part; `None` if it is complete.
    pub dropped: Option<Omission>,
    /// Number of characters that are escaped because they are invisible.
    pub escaped: u64,
}

/// Size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// In characters.
    pub chars: usize,
    /// In bytes.
    pub bytes: usize,
}

/// Omitted part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Omission {
    /// A piece of text.
    Text {
        /// Lines of which anything is missing.
        lines: usize,
        /// Characters that are missing.
        chars: usize,
    },
    /// Parts of a JSON value, which is still JSON.
    Values {
        /// Elements of arrays.
        elements: usize,
        /// Members of objects.
        members: usize,
        /// Strings that were shortened, and values that lay too deep.
        shortened: usize,
    },
    /// Everything: it was not text.
    Bytes(usize),
}

impl CappedText {
    /// Returns true if anything is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.dropped.is_some()
    }

    pub(crate) fn new(text: String, whole: &str, dropped: Option<Omission>) -> Self {
        let returned = text.chars().count();
        Self { text, whole: Size::of(whole), returned, dropped, escaped: 0 }
    }
}

impl Size {
    fn of(text: &str) -> Self {
        Self { chars: text.chars().count(), bytes: text.len() }
    }
}

/// Cuts a text to the characters that a profile permits. What fits is returned as it is.
///
/// Cuts lie between lines where that costs at most half of what could be kept, else between characters.
#[must_use]
pub fn cap(text: &str, profile: &Profile) -> CappedText {
    let max = profile.max_chars();
    if text.chars().nth(max).is_none() {
        return CappedText::new(text.to_owned(), text, None);
    }
    let structured = (profile.strategy() == Strategy::Structured).then(|| json::cut(text, max)).flatten();
    let (kept, dropped) = structured.unwrap_or_else(|| cut(text, max, profile.strategy()));
    CappedText::new(kept, text, dropped)
}

fn cut(text: &str, max: usize, strategy: Strategy) -> (String, Option<Omission>) {
    // The line about what is missing is shortest when nearly nothing is; it never grows beyond this one.
    let room = max - gap(text).chars().count() - 2;
    let (head, tail) = match strategy {
        Strategy::Tail => ("", tail(text, room)),
        Strategy::HeadTail => (head(text, room / 2), tail(text, room - room / 2)),
        _ => (head(text, room), ""),
    };
    let missing = &text[head.len()..text.len() - tail.len()];
    let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let after = if tail.is_empty() { "" } else { "\n" };
    let dropped = Omission::Text { lines: missing.lines().count(), chars: missing.chars().count() };
    (format!("{head}{before}{}{after}{tail}", gap(missing)), Some(dropped))
}

/// The beginning, up to so many characters. It ends with a line where that costs at most half of it.
#[must_use]
pub fn head(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    &text[..if line >= end / 2 { line } else { end }]
}

/// The end, up to so many characters. It begins with a line where that costs at most half of it.
#[must_use]
pub fn tail(text: &str, chars: usize) -> &str {
    let last = chars.checked_sub(1).and_then(|last| text.char_indices().nth_back(last));
    let start = last.map_or(if chars == 0 { text.len() } else { 0 }, |(at, _)| at);
    if text[..start].ends_with('\n') {
        return &text[start..];
    }
    let line = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
    &text[if line - start <= (text.len() - start) / 2 { line } else { start }..]
}

/// The line that stands for a piece of text.
fn gap(missing: &str) -> String {
    let lines = missing.lines().count();
    let chars = count(missing.chars().count(), "character");
    if lines > 1 {
        format!("[... {} ({chars}) left out ...]", count(lines, "line"))
    } else {
        format!("[... {chars} left out ...]")
    }
}

/// A number and what it counts: `1 line`, `1,234 lines`.
#[must_use]
pub fn count(number: usize, what: &str) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prop_assert, prop_assert_eq};

    fn capped(text: &str, max: usize, strategy: Strategy) -> CappedText {
        cap(text, &Profile::new(0, max, strategy, false))
    }

    fn numbered(lines: usize) -> String {
        (1..=lines).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect()
    }

    #[test]
    fn what_is_missing_is_said() {
        let text = numbered(1000);
        let rows = [
            (
                Strategy::Head,
                "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\n[... 993 lines (8,844 characters) left out ...]",
            ),
            (
                Strategy::Raw,
                "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\n[... 993 lines (8,844 characters) left out ...]",
            ),
            (
                Strategy::Tail,
                "[... 995 lines (8,847 characters) left out ...]\nline 996\nline 997\nline 998\nline 999\nline 1000\n",
            ),
            (
                Strategy::HeadTail,
                "line 1\nline 2\nline 3\n[... 995 lines (8,853 characters) left out ...]\nline 999\nline 1000\n",
            ),
        ];
        for (strategy, expected) in rows {
            assert_eq!(capped(&text, 100, strategy).text, expected, "{strategy:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        let text = "\u{1f980}".repeat(1000);
        let it = capped(&text, 100, Strategy::Head);
        assert_eq!(it.text, format!("{}\n[... 937 characters left out ...]", "\u{1f980}".repeat(63)));
        assert_eq!(it.whole, Size { chars: 1000, bytes: 4000 });
        assert_eq!((it.returned, it.dropped), (97, Some(Omission::Text { lines: 1, chars: 937 })));
        let it = capped(&text, 100, Strategy::Tail);
        assert_eq!(it.text, format!("[... 937 characters left out ...]\n{}", "\u{1f980}".repeat(63)));
    }

    #[test]
    fn what_fits_is_not_touched() {
        for text in ["", "a", "\r\n\0", &"\u{e9}".repeat(100)] {
            for strategy in Strategy::ALL {
                let it = capped(text, 100, *strategy);
                assert_eq!((it.text.as_str(), it.is_cut()), (text, false));
            }
        }
        assert!(capped(&"\u{e9}".repeat(101), 100, Strategy::Raw).is_cut());
    }

    #[test]
    fn numbers_are_grouped() {
        let rows = [
            (0, "0 lines"),
            (1, "1 line"),
            (999, "999 lines"),
            (1000, "1,000 lines"),
            (1_234_567, "1,234,567 lines"),
        ];
        for (number, expected) in rows {
            assert_eq!(count(number, "line"), expected);
        }
    }

    #[test]
    fn the_longest_line_about_a_gap_fits_the_least_cap() {
        let most = count(usize::MAX, "line").len() + count(usize::MAX, "character").len();
        assert!(most + "[...  () left out ...]".len() + 2 <= crate::profile::LEAST_CHARS);
    }

    fn texts() -> impl proptest::strategy::Strategy<Value = String> {
        proptest::prop_oneof![
            "\\PC{0,400}",
            "[a\n]{0,400}",
            "([a-z]{0,30}\n){0,40}",
            "\n{0,300}",
            "(\u{1f980}|\r\n|x){0,300}"
        ]
    }

    proptest::proptest! {
        #[test]
        fn never_longer_and_made_of_its_ends(text in texts(), max in 100_usize..300, which in 0_usize..6) {
            let strategy = Strategy::ALL[which];
            let it = capped(&text, max, strategy);
            prop_assert_eq!(it.returned, it.text.chars().count());
            prop_assert!(it.returned <= max);
            prop_assert_eq!(it.is_cut(), text.chars().count() > max);
            prop_assert_eq!(&capped(&it.text, max, strategy).text, &it.text);
            if let Some(Omission::Text { chars, .. }) = it.dropped {
                let said = it.text.lines().filter(|line| line.starts_with("[... ") && line.ends_with(" left out ...]"));
                prop_assert!(said.count() >= 1);
                let (head, rest) = it.text.split_once("[... ").unwrap();
                let tail = rest.split_once(" left out ...]").unwrap().1;
                let (head, tail) = (head.strip_suffix('\n').unwrap_or(head), tail.strip_prefix('\n').unwrap_or(tail));
                prop_assert!(text.starts_with(head), "{:?}", head);
                prop_assert!(text.ends_with(tail), "{:?}", tail);
                prop_assert!(chars > 0 && chars <= it.whole.chars);
            }
        }
    }
}
