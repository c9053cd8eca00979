//! A place in a text from outside, with carets below it.

use std::ops::Range;

use policy::Shown;
use unicode_width::UnicodeWidthStr as _;

/// The part of a line around a place, spelled out, and what stands below it. Both are measured as a terminal shows them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// The line, or the part of it around the place.
    pub(crate) text: String,
    /// As many blanks as columns stand before the place.
    pub(crate) before: String,
    /// As many carets as columns are in the place; one where it is empty.
    pub(crate) carets: String,
}

impl Window {
    /// Draws a place in a text. Of a text with several lines, the line in which the place begins is drawn.
    ///
    /// Only bytes near the place are looked at, so that many places in a long text take no longer than they must.
    pub(crate) fn new(text: &[u8], place: Range<usize>, width: usize) -> Self {
        let near = Near::new(text, place, 4 * width);
        let first = near.cells.partition_point(|cell| cell.end <= near.place.start);
        let whole = near.is_whole() && sum(&near.cells) <= width;
        // Two columns are for the marks that something was cut off.
        let (lead, room) =
            if whole { (usize::MAX, usize::MAX) } else { (width / 3, width.saturating_sub(2)) };
        let (head, tail) = near.cells.split_at(first);
        let head = &head[head.len() - fitting(head.iter().rev(), lead)..];
        let tail = &tail[..fitting(tail.iter(), room.saturating_sub(sum(head)))];
        let marked = tail.iter().take_while(|cell| cell.start < near.place.end);
        let cut = |cut: bool| if cut { "…" } else { "" };
        let left = cut(near.cut_before || head.len() < first);
        let right = cut(near.cut_after || tail.len() < near.cells.len() - first);
        let shown: String = head.iter().chain(tail).map(|cell| cell.shown.as_str()).collect();
        Self {
            text: format!("{left}{shown}{right}"),
            before: " ".repeat(left.chars().count() + sum(head)),
            carets: "^".repeat(marked.map(|cell| cell.width).sum::<usize>().max(1)),
        }
    }
}

/// Text near a place, on the same line.
struct Near {
    cells: Vec<Cell>,
    place: Range<usize>,
    cut_before: bool,
    cut_after: bool,
}

impl Near {
    fn new(text: &[u8], place: Range<usize>, reach: usize) -> Self {
        let start = place.start.min(text.len());
        let (before, after) = text.split_at(start);
        let near_before = &before[before.len().saturating_sub(reach)..];
        let near_after = &after[..after.len().min(reach)];
        let line_start = near_before.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        let line_end = near_after.iter().position(|&byte| byte == b'\n');
        let (cut_before, cut_after) = (
            line_start.is_none() && near_before.len() < before.len(),
            line_end.is_none() && near_after.len() < after.len(),
        );
        let from = start - near_before.len() + line_start.unwrap_or(0);
        let until = start + line_end.unwrap_or(near_after.len());
        let cells = cells(text, whole_characters(text, from..until, start));
        Self { cells, place: start..place.end.min(until), cut_before, cut_after }
    }

    fn is_whole(&self) -> bool {
        !self.cut_before && !self.cut_after
    }
}

/// A range that was cut anywhere, made smaller so that no character is cut. A character has at most four bytes.
fn whole_characters(text: &[u8], range: Range<usize>, place: usize) -> Range<usize> {
    let goes_on = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let from = (range.start..place).take(3).take_while(goes_on).count();
    let until = (place + 1..=range.end).rev().take(3).take_while(goes_on).count();
    range.start + from..range.end - until
}

/// One character as it is shown.
struct Cell {
    start: usize,
    end: usize,
    shown: String,
    width: usize,
}

fn cells(text: &[u8], range: Range<usize>) -> Vec<Cell> {
    let mut start = range.start;
    let mut cells = Vec::new();
    let mut push = |length: usize, shown: String, width: usize| {
        cells.push(Cell { start, end: start + length, shown, width });
        start += length;
    };
    for chunk in text[range].utf8_chunks() {
        for c in chunk.valid().chars() {
            let shown = Shown::text(c.encode_utf8(&mut [0; 4])).to_string();
            let width = shown.width();
            push(c.len_utf8(), shown, width);
        }
        for byte in chunk.invalid() {
            let shown = Shown::bytes(&[*byte]).to_string();
            let width = shown.len();
            push(1, shown, width);
        }
    }
    cells
}

fn sum(cells: &[Cell]) -> usize {
    cells.iter().map(|cell| cell.width).sum()
}

/// Returns the number of cells that fit into some columns.
fn fitting<'a>(cells: impl Iterator<Item = &'a Cell>, columns: usize) -> usize {
    let mut left = columns;
    let fits = |cell: &&Cell| {
        let rest = left.checked_sub(cell.width);
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    cells.take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &[u8], place: Range<usize>, width: usize) -> String {
        let window = Window::new(text, place, width);
        format!("{}\n{}{}", window.text, window.before, window.carets)
    }

    fn around(text: &str, token: &str) -> Range<usize> {
        let start = text.find(token).unwrap();
        start..start + token.len()
    }

    #[test]
    fn the_caret_stands_under_the_token() {
        let rows = [
            ("echo \"$(id)\"", "$(id)", "echo \"$(id)\"\n      ^^^^^"),
            ("a\t$(b)", "$(b)", "a\\t$(b)\n   ^^^^"),
            ("echo 日本 $(b)", "$(b)", "echo 日本 $(b)\n          ^^^^"),
            ("echo $日 x", "$日", "echo $日 x\n     ^^^"),
            ("e\u{301}e\u{301} $(b)", "$(b)", "e\u{301}e\u{301} $(b)\n   ^^^^"),
            ("\u{1b}[2K$(b)", "$(b)", "\\u{1b}[2K$(b)\n         ^^^^"),
            ("x\u{202e}y", "\u{202e}", "x\\u{202e}y\n ^^^^^^^^"),
            ("one\ntwo $(b)\nthree", "$(b)", "two $(b)\n    ^^^^"),
            ("one\n$(a\nb)", "$(a\nb)", "$(a\n^^^"),
            ("one\r\n$(b)\r\n", "$(b)", "$(b)\\r\n^^^^"),
        ];
        for (text, token, expected) in rows {
            assert_eq!(drawn(text.as_bytes(), around(text, token), 80), expected, "{text:?}");
        }
    }

    #[test]
    fn odd_places_are_drawn_too() {
        let rows: &[(&[u8], Range<usize>, &str)] = &[
            (b"", 0..0, "\n^"),
            (b"ab", 2..2, "ab\n  ^"),
            (b"ab", 1..1, "ab\n ^"),
            (b"ab", 7..9, "ab\n  ^"),
            (b"ab", 1..900, "ab\n ^"),
            (b"a\nb", 1..2, "a\n ^"),
            (b"a\xff\xfeb", 2..3, "a\\xff\\xfeb\n     ^^^^"),
            // A place in the middle of a character is that character.
            ("a日b".as_bytes(), 2..3, "a日b\n ^^"),
            (b"\0$x", 1..3, "\\u{0}$x\n     ^^"),
        ];
        for (text, place, expected) in rows {
            assert_eq!(drawn(text, place.clone(), 80), *expected, "{text:?} {place:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_token() {
        let long = format!("{}$(b){}", "a".repeat(500), "z".repeat(500));
        insta::assert_snapshot!(drawn(long.as_bytes(), around(&long, "$(b)"), 30), @r"
        …aaaaaaaaaa$(b)zzzzzzzzzzzzzz…
                   ^^^^
        ");
        insta::assert_snapshot!(drawn(long.as_bytes(), 0..3, 30), @r"
        aaaaaaaaaaaaaaaaaaaaaaaaaaaa…
        ^^^
        ");
        insta::assert_snapshot!(drawn(long.as_bytes(), 2..900, 30), @r"
        aaaaaaaaaaaaaaaaaaaaaaaaaaaa…
          ^^^^^^^^^^^^^^^^^^^^^^^^^^
        ");
        let wide = format!("{}$(b){}", "日".repeat(500), "本".repeat(500));
        insta::assert_snapshot!(drawn(wide.as_bytes(), around(&wide, "$(b)"), 30), @r"
        …日日日日日$(b)本本本本本本本…
                   ^^^^
        ");
    }

    #[test]
    fn nothing_is_wider_than_allowed_and_carets_stay_below_the_text() {
        let texts =
            ["日本$x".repeat(400), "\u{1b}\n".repeat(300), "e\u{301}".repeat(900), "\u{e9}".repeat(99)];
        for (text, width) in texts.iter().flat_map(|text| [0, 1, 2, 9, 40].map(|width| (text, width))) {
            for start in (0..=text.len()).step_by(7) {
                let window = Window::new(text.as_bytes(), start..start + 5, width);
                let columns = window.text.width();
                assert!(columns <= width.max(2), "{columns} > {width}: {window:?}");
                let below = window.before.len() + window.carets.len();
                assert!(below <= columns + 1, "{width}: {window:?}");
            }
        }
    }
}
