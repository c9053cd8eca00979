//! Lines as they are shown: cut around what matches, and nothing in them that steers a terminal.

use std::fmt::Write as _;
use std::ops::Range;

use ringfence::source::Escaper;

/// Characters of a line that are shown.
const MAX_LINE: usize = 500;
/// Characters that are shown before the first match of a line that is too long.
const BEFORE: usize = 120;
/// Lines of one match that are shown.
const MAX_LINES: usize = 50;
/// Places in one match that are told.
const MAX_PLACES: usize = 100;
/// Mark at a cut in a line.
const CUT: char = '…';

/// A match, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// One line after the other.
    pub(super) lines: String,
    /// Ranges of the text that matched.
    pub(super) places: Vec<Range<usize>>,
    /// The column of the first match, in characters, from one.
    pub(super) column: usize,
    /// Number of characters that were escaped, because they are invisible.
    pub(super) escaped: u64,
}

impl Text {
    /// Lines without a match.
    pub(super) fn plain(bytes: &[u8]) -> Self {
        Self::new(bytes, &[])
    }

    /// Lines with what matched in them.
    pub(super) fn new(bytes: &[u8], matches: &[Range<usize>]) -> Self {
        let mut shown = Self { lines: String::new(), places: Vec::new(), column: 1, escaped: 0 };
        let mut begin = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if index == MAX_LINES {
                shown.lines.push('\n');
                shown.lines.push(CUT);
                break;
            }
            if index > 0 {
                shown.lines.push('\n');
            }
            let end = begin + line.len();
            let within = |range: &Range<usize>| {
                let (first, last) = (range.start.max(begin), range.end.min(end));
                (first < last).then(|| first - begin..last - begin)
            };
            let within: Vec<_> = matches.iter().filter_map(within).take(MAX_PLACES).collect();
            if index == 0 {
                shown.column = within.first().map_or(1, |first| characters(&line[..first.start]) + 1);
            }
            shown.line(trimmed(line), &within);
            begin = end;
        }
        shown
    }

    fn line(&mut self, line: &[u8], matches: &[Range<usize>]) {
        let window = window(line, matches.first().map_or(0, |first| first.start));
        if window.start > 0 {
            self.lines.push(CUT);
        }
        let mut at = window.start;
        for range in matches {
            let (first, last) = (range.start.clamp(at, window.end), range.end.clamp(at, window.end));
            self.piece(&line[at..first]);
            let begin = self.lines.len();
            self.piece(&line[first..last]);
            if self.places.len() < MAX_PLACES && first < last {
                self.places.push(begin..self.lines.len());
            }
            at = last;
        }
        self.piece(&line[at..window.end]);
        if window.end < line.len() {
            self.lines.push(CUT);
        }
    }

    /// Tabs stay what they are: code is copied from what is shown.
    fn piece(&mut self, bytes: &[u8]) {
        for (index, part) in bytes.split(|byte| *byte == b'\t').enumerate() {
            if index > 0 {
                self.lines.push('\t');
            }
            let mut escaper = Escaper::default();
            for chunk in part.utf8_chunks() {
                escaper.push(chunk.valid(), &mut self.lines);
                for byte in chunk.invalid() {
                    self.escaped += 1;
                    // Writing to a string does not fail.
                    let _written = write!(self.lines, "\\x{byte:02x}");
                }
            }
            self.escaped += escaper.escaped();
        }
    }
}

/// The part of a line that is shown: all of it, or some of it around a match.
fn window(line: &[u8], first: usize) -> Range<usize> {
    if line.len() <= MAX_LINE {
        return 0..line.len();
    }
    let boundary = |at: usize| line.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let mut start = if characters(&line[..first.min(line.len())]) < MAX_LINE - BEFORE {
        0
    } else {
        back(line, first.min(line.len()), BEFORE)
    };
    while start < line.len() && !boundary(start) {
        start += 1;
    }
    let mut end = start;
    for _ in 0..MAX_LINE {
        end += 1;
        while end < line.len() && !boundary(end) {
            end += 1;
        }
        if end >= line.len() {
            return start..line.len();
        }
    }
    start..end
}

/// Some characters before a place.
fn back(line: &[u8], mut at: usize, mut characters: usize) -> usize {
    while at > 0 && characters > 0 {
        at -= 1;
        characters -= usize::from(line[at] & 0xc0 != 0x80);
    }
    at
}

/// Returns the number of characters, counting each byte that is none as one.
fn characters(bytes: &[u8]) -> usize {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes, what matches in them, what is shown, where it matches there, the column of the first.
    type Row = (&'static [u8], &'static [(usize, usize)], &'static str, &'static [(usize, usize)], usize);

    fn ranges(pairs: &[(usize, usize)]) -> Vec<Range<usize>> {
        pairs.iter().map(|(start, end)| *start..*end).collect()
    }

    #[test]
    fn lines_are_cut_and_escaped() {
        let rows: &[Row] = &[
            (b"let a = 1;\n", &[(4, 5)], "let a = 1;", &[(4, 5)], 5),
            (b"\tx\r\n", &[(1, 2)], "\tx", &[(1, 2)], 2),
            (b"a\x1b[31mb", &[(6, 7)], "a\\u{1b}[31mb", &[(11, 12)], 7),
            (b"\xffab", &[(1, 3)], "\\xffab", &[(4, 6)], 2),
            ("äöü x".as_bytes(), &[(7, 8)], "äöü x", &[(7, 8)], 5),
            (b"one\ntwo\nthree\n", &[(2, 9)], "one\ntwo\nthree", &[(2, 3), (4, 7), (8, 9)], 3),
            (b"abab", &[(0, 2), (2, 4)], "abab", &[(0, 2), (2, 4)], 1),
            (b"", &[(0, 0)], "", &[], 1),
            (b"\n", &[(0, 0)], "", &[], 1),
        ];
        for (bytes, matches, text, places, column) in rows {
            let shown = Text::new(bytes, &ranges(matches));
            let expected = Text {
                lines: (*text).to_owned(),
                places: ranges(places),
                column: *column,
                escaped: shown.escaped,
            };
            assert_eq!(shown, expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let mut line = "ä".repeat(5000).into_bytes();
        line.extend_from_slice(b"needle");
        line.extend_from_slice("ö".repeat(5000).as_bytes());
        let shown = Text::new(&line, &ranges(&[(10_000, 10_006)]));
        assert_eq!(shown.lines.chars().count(), MAX_LINE + 2);
        assert_eq!(&shown.lines[shown.places[0].clone()], "needle");
        assert!(shown.lines.starts_with("…ä") && shown.lines.ends_with("ö…"));
        assert_eq!(shown.column, 5001);
        let many = "x\n".repeat(200);
        assert_eq!(Text::new(many.as_bytes(), &[]).lines.lines().count(), MAX_LINES + 1);
    }

    proptest::proptest! {
        #[test]
        fn nothing_shown_is_long_or_misleading(
            line in proptest::collection::vec(proptest::num::u8::ANY, 0..3000),
            ranges in proptest::collection::vec((0_usize..3000, 0_usize..50), 0..4),
        ) {
            let mut at = 0;
            let matches: Vec<_> = ranges.into_iter().filter_map(|(start, length)| {
                let start = start.max(at);
                at = start + length;
                (at <= line.len()).then_some(start..at)
            }).collect();
            let shown = Text::new(&line, &matches);
            proptest::prop_assert!(shown.places.iter().all(|place| shown.lines.get(place.clone()).is_some()));
            proptest::prop_assert!(shown.lines.lines().all(|line| line.len() <= (MAX_LINE + 2) * 10));
            let kept = |c: char| matches!(c, '\t' | '\n' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
            let steers = |c: char| ringfence::policy::misleads(c) && !kept(c);
            proptest::prop_assert!(!shown.lines.chars().any(steers));
        }
    }
}
