//! Output of a command so far: the beginning and the end as text, everything as bytes.

use std::sync::Arc;

use jail::Stream;

use super::clean::Cleaner;
use super::spill::{Record, Spills, TruncationCause};

/// One stream of a command.
#[derive(Debug)]
pub(super) struct Output {
    cleaner: Cleaner,
    ends: Ends,
    record: Record,
    total: u64,
    /// Reused for every piece.
    clean: String,
}

impl Output {
    pub(super) fn new(keep: usize, spills: Option<Arc<Spills>>) -> Self {
        Self {
            cleaner: Cleaner::new(),
            ends: Ends::new(keep),
            record: Record::new(keep, spills),
            total: 0,
            clean: String::new(),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.record.write(bytes);
        self.clean.clear();
        self.cleaner.push(bytes, &mut self.clean);
        self.ends.push(&self.clean);
    }

    /// Returns the output so far.
    pub(super) fn kept(&self) -> KeptOutput {
        let mut ends = self.ends.clone();
        ends.push(&self.cleaner.pending());
        let whole = ends.whole;
        let (head, tail) = ends.taken();
        let left_out = whole - Amount::of(&head) - Amount::of(&tail);
        let (escaped, binary) = (self.cleaner.escaped(), self.cleaner.binary());
        KeptOutput {
            head,
            tail,
            left_out,
            total: self.total,
            escaped,
            binary,
            spilled: self.record.is_spilled(),
        }
    }

    pub(super) const fn is_spilled(&self) -> bool {
        self.record.is_spilled()
    }

    /// The last lines that are still there, and which line of all the first of them is, counted from 1.
    pub(super) fn last(&self, lines: usize) -> LastLines {
        let KeptOutput { head, tail, left_out, .. } = self.kept();
        let before = Amount::of(&head) + left_out;
        let (before, text) =
            if left_out.chars == 0 { (Amount::default(), head + &tail) } else { (before, tail) };
        let body = text.strip_suffix('\n').unwrap_or(&text);
        let start = body.rmatch_indices('\n').nth(lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
        let start = if lines == 0 { text.len() } else { start };
        let skipped = before + Amount::of(&text[..start]);
        let missing = start == 0 && before.chars > 0;
        let text = text[start..].to_owned();
        let total =
            skipped.lines + Amount::of(&text).lines + u64::from(!text.is_empty() && !text.ends_with('\n'));
        LastLines { text, first: skipped.lines + 1, total, missing }
    }

    pub(super) fn read(&self, from: u64, most: usize) -> std::io::Result<Piece> {
        let bytes = self.record.read(from, most)?;
        let next = from.saturating_add(bytes.len() as u64);
        let cut = self.record.cut().cloned();
        Ok(Piece { bytes, next, recorded: self.record.size(), total: self.total, cut })
    }
}

/// Content of a stream so far, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptOutput {
    /// From the beginning.
    pub head: String,
    /// From the end.
    pub tail: String,
    /// Amount of text between the two that is not here. When there is none, the two together are everything.
    pub left_out: Amount,
    /// Number of bytes that were written.
    pub total: u64,
    /// Number of characters that are written out because they cannot be seen.
    pub escaped: u64,
    /// Number of bytes that were no text: NUL, and what is not UTF-8.
    pub binary: u64,
    /// True if all of them are in a file.
    pub spilled: bool,
}

impl KeptOutput {
    /// The beginning and the end, with a line between them that says what is left out.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { head, tail, left_out, .. } = self;
        if left_out.chars == 0 {
            return format!("{head}{tail}");
        }
        let line_end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let Amount { chars, lines } = left_out;
        format!("{head}{line_end}[{chars} characters in {lines} lines are left out here]\n{tail}")
    }

    /// Returns true if this is no text: one byte in ten, or more.
    #[must_use]
    pub const fn is_binary(&self) -> bool {
        self.binary > 0 && self.binary >= self.total / 10
    }
}

/// Amount of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Characters.
    pub chars: u64,
    /// Line ends.
    pub lines: u64,
}

impl Amount {
    /// Returns the amount of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        Self { chars: text.chars().count() as u64, lines: lines as u64 }
    }
}

impl std::ops::Add for Amount {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self { chars: self.chars + more.chars, lines: self.lines + more.lines }
    }
}

impl std::ops::Sub for Amount {
    type Output = Self;

    fn sub(self, part: Self) -> Self {
        Self { chars: self.chars.saturating_sub(part.chars), lines: self.lines.saturating_sub(part.lines) }
    }
}

/// The last lines of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastLines {
    /// The lines, as far as they are kept.
    pub text: String,
    /// The number of the first of them, counted from 1.
    pub first: u64,
    /// Number of lines in all.
    pub total: u64,
    /// True if more were asked for and written than are kept.
    pub missing: bool,
}

/// Part of the output from one offset on, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Offset at which the next piece begins.
    pub next: u64,
    /// Number of bytes that can be read so far.
    pub recorded: u64,
    /// Number of bytes that were written.
    pub total: u64,
    /// Why not all of them can be read, if so.
    pub cut: Option<TruncationCause>,
}

/// Everything that a command has written so far.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Standard output.
    pub output: KeptOutput,
    /// Standard error.
    pub error: KeptOutput,
}

/// The place of a stream in a pair.
pub(super) const fn index(stream: Stream) -> usize {
    match stream {
        Stream::Output => 0,
        Stream::Error => 1,
    }
}

/// The beginning and the end of a text.
#[derive(Debug, Clone)]
struct Ends {
    keep: usize,
    head: String,
    /// True if something went past the head.
    full: bool,
    /// Up to twice what is asked for, so that it is seldom moved.
    tail: String,
    /// Everything that was pushed.
    whole: Amount,
}

impl Ends {
    const fn new(keep: usize) -> Self {
        Self {
            keep,
            head: String::new(),
            full: false,
            tail: String::new(),
            whole: Amount { chars: 0, lines: 0 },
        }
    }

    fn push(&mut self, text: &str) {
        self.whole = self.whole + Amount::of(text);
        let mut rest = text;
        if !self.full {
            let (begin, later) =
                text.split_at(at_most(text, (self.keep / 2).saturating_sub(self.head.len())));
            self.head.push_str(begin);
            self.full = !later.is_empty();
            rest = later;
        }
        let most = self.most();
        let start = from_end(rest, most);
        if start > 0 {
            // The text that was there before does not join what is taken now.
            self.tail.clear();
        }
        self.tail.push_str(&rest[start..]);
        if self.tail.len() > 2 * most {
            self.trim();
        }
    }

    const fn most(&self) -> usize {
        self.keep - self.keep / 2
    }

    fn trim(&mut self) {
        let start = from_end(&self.tail, self.most());
        self.tail.drain(..start);
    }

    fn taken(mut self) -> (String, String) {
        self.trim();
        (self.head, self.tail)
    }
}

/// Returns the end of the first so many bytes of a text, without cutting a character.
fn at_most(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns the beginning of the last so many bytes of a text, without cutting a character.
fn from_end(text: &str, most: usize) -> usize {
    let least = text.len().saturating_sub(most);
    (least..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn output(keep: usize, pieces: &[&[u8]]) -> Output {
        let mut output = Output::new(keep, None);
        for piece in pieces {
            output.write(piece);
        }
        output
    }

    #[test]
    fn what_is_kept() {
        let rows: &[(usize, &str, (&str, &str, u64))] = &[
            (8, "", ("", "", 0)),
            (8, "1234", ("1234", "", 0)),
            (8, "12345678", ("1234", "5678", 0)),
            (8, "123456789", ("1234", "6789", 1)),
            (8, "123\u{20ac}56", ("123", "56", 1)),
            (0, "x", ("", "", 1)),
            (8, "0%\r1%\r2%", ("2%", "", 0)),
        ];
        for (keep, text, (head, tail, left_out)) in rows {
            let kept = output(*keep, &[text.as_bytes()]).kept();
            let total = text.len() as u64;
            let expected = KeptOutput {
                head: (*head).to_owned(),
                tail: (*tail).to_owned(),
                left_out: Amount { chars: *left_out, lines: 0 },
                total,
                escaped: 0,
                binary: 0,
                spilled: false,
            };
            assert_eq!(kept, expected, "{keep} {text}");
        }
    }

    #[test]
    fn last_lines() {
        let rows = [
            (100, "", 3, ("", 1, 0, false)),
            (100, "a\nb\nc\n", 2, ("b\nc\n", 2, 3, false)),
            (100, "a\nb\nc", 2, ("b\nc", 2, 3, false)),
            (100, "a\nb\nc\n", 9, ("a\nb\nc\n", 1, 3, false)),
            (100, "a\n\n", 1, ("\n", 2, 2, false)),
            (4, "a\nb\nc\nd\n", 9, ("d\n", 4, 4, true)),
            (4, "a\nb\nc\nd\n", 1, ("d\n", 4, 4, true)),
        ];
        for (keep, text, lines, (expected, first, total, missing)) in rows {
            let expected = LastLines { text: expected.to_owned(), first, total, missing };
            assert_eq!(output(keep, &[text.as_bytes()]).last(lines), expected, "{text:?}");
        }
        assert_eq!(output(100, &[b"a\nb"]).last(0).text, "");
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0_usize..64, size in 1_usize..50) {
            let pieces: Vec<_> = bytes.chunks(size).collect();
            let (one, many) = (output(keep, &[&bytes]), output(keep, &pieces));
            prop_assert_eq!(one.kept(), many.kept());
            prop_assert_eq!(one.read(0, 1000).unwrap(), many.read(0, 1000).unwrap());
            prop_assert!(one.kept().head.len() + one.kept().tail.len() <= keep);
            // The kept text and the text that is left out are the whole.
            let (kept, all) = (one.kept(), output(100_000, &[&bytes]).kept());
            let shown = Amount::of(&kept.head) + Amount::of(&kept.tail);
            prop_assert_eq!(shown + kept.left_out, Amount::of(&all.head) + Amount::of(&all.tail));
        }
    }
}
