//! Divides a Markdown text, so that each part alone reads as it does in the whole.
//!
//! A heading or a paragraph at the very beginning of a line, behind an empty one, ends every list, quote, table and paragraph before
//! it. Only a fence, a comment or other HTML can go on across it. Those are followed as long as there is no doubt about them; where
//! there is, the rest of the text is one part.

use std::ops::Range;

/// Minimum number of bytes of a part: smaller ones are not worth the trouble.
const SHORTEST: usize = 512;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) range: Range<usize>,
    /// The headings above it, with their levels.
    pub(super) headings: Vec<(u8, Range<usize>)>,
}

impl Section {
    pub(crate) fn whole(text: &str) -> Self {
        Self { range: 0..text.len(), headings: Vec::new() }
    }
}

/// The parts of a text. What is divided begins at a place, behind the front matter; the first part has that too.
pub(super) fn sections(text: &str, from: usize) -> Vec<Section> {
    let mut found = Vec::new();
    let mut open = Section::whole(text);
    let mut headings: Vec<(u8, Range<usize>)> = Vec::new();
    for border in borders(text.as_bytes(), from) {
        if border.start - open.range.start >= SHORTEST {
            open.range.end = border.start;
            let next = Section { range: border.start..text.len(), headings: headings.clone() };
            found.push(std::mem::replace(&mut open, next));
        }
        if border.level > 0 {
            headings.retain(|(above, _)| *above < border.level);
            headings.push((border.level, border.start..border.end));
        }
    }
    found.push(open);
    found
}

/// A line at which the text can be divided.
struct Border {
    start: usize,
    end: usize,
    /// The level of the heading, if it is one.
    level: u8,
}

/// Construct that can go on across such a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// A fence that so many of these signs opened.
    Fence(u8, usize),
    Comment,
    /// Maybe HTML, which an empty line ends.
    Html,
}

/// Returns the places where the text can be divided.
fn borders(bytes: &[u8], from: usize) -> Vec<Border> {
    let mut found = Vec::new();
    // A carriage return alone ends a line too.
    if memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n')) {
        return found;
    }
    let (mut inside, mut empty, mut start) = (Inside::Nothing, false, from);
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let line = &bytes[start..end];
        if empty
            && inside == Inside::Nothing
            && let Some(level) = level(line)
        {
            found.push(Border { start, end, level });
        }
        let Some(next) = behind(inside, line) else { return found };
        inside = next;
        empty = is_blank(line);
        start = end + 1;
    }
    found
}

/// Returns what is open behind a line; `None` if that takes reading everything.
fn behind(inside: Inside, line: &[u8]) -> Option<Inside> {
    match inside {
        Inside::Fence(sign, count) if closes(line, sign, count) => Some(Inside::Nothing),
        Inside::Comment if memchr::memmem::find(line, b"-->").is_some() => Some(Inside::Nothing),
        Inside::Fence(..) | Inside::Comment => Some(inside),
        Inside::Html if is_blank(line) => Some(Inside::Nothing),
        Inside::Html | Inside::Nothing => {
            let known = inside == Inside::Nothing;
            match opened(line) {
                Opened::Nothing => Some(inside),
                Opened::Html => Some(Inside::Html),
                Opened::Fence(sign, count) if known => Some(Inside::Fence(sign, count)),
                Opened::Comment if known => Some(Inside::Comment),
                Opened::ClosedComment if known => Some(inside),
                _ => None,
            }
        }
    }
}

/// Construct that a line opens.
enum Opened {
    Nothing,
    Fence(u8, usize),
    Comment,
    ClosedComment,
    Html,
    Unknown,
}

fn opened(line: &[u8]) -> Opened {
    match line.first() {
        Some(sign @ (b'`' | b'~')) => fence(line, *sign),
        Some(b'<') => html(line),
        // Below a list or in a quote, what opens something may belong to that.
        Some(b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'0'..=b'9') => {
            let marks = line.iter().take_while(|byte| is_mark(**byte)).count();
            match line[marks..] {
                [b'`', b'`', b'`', ..] | [b'~', b'~', b'~', ..] => Opened::Unknown,
                [b'<', ..] if is_verbatim(&line[marks..]) => Opened::Unknown,
                [b'<', ..] => Opened::Html,
                _ => Opened::Nothing,
            }
        }
        _ => Opened::Nothing,
    }
}

/// Returns true if a byte can stand before the text of a line in a list or quote.
fn is_mark(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9')
}

fn fence(line: &[u8], sign: u8) -> Opened {
    let count = line.iter().take_while(|byte| **byte == sign).count();
    match count {
        0..3 => Opened::Nothing,
        // Backticks behind backticks: no fence, but code in a line, or unknown.
        _ if sign == b'`' && memchr::memchr(b'`', &line[count..]).is_some() => Opened::Unknown,
        _ => Opened::Fence(sign, count),
    }
}

fn html(line: &[u8]) -> Opened {
    if !is_verbatim(line) {
        Opened::Html
    } else if !line.starts_with(b"<!--") || line.starts_with(b"<!-->") || line.starts_with(b"<!--->") {
        Opened::Unknown
    } else if memchr::memmem::find(&line[4..], b"-->").is_some() {
        Opened::ClosedComment
    } else {
        Opened::Comment
    }
}

/// Returns true if HTML begins that an empty line does not end.
fn is_verbatim(line: &[u8]) -> bool {
    let begins = |word: &[u8]| line.get(1..=word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    matches!(line.get(1), Some(b'!' | b'?'))
        || [&b"script"[..], b"pre", b"style", b"textarea"].iter().any(|word| begins(word))
}

/// Returns true if a line closes a fence.
fn closes(line: &[u8], sign: u8, count: usize) -> bool {
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    let signs = line[indent..].iter().take_while(|byte| **byte == sign).count();
    indent < 4 && signs >= count && is_blank(&line[indent + signs..])
}

/// The level of a heading; nought for the first line of a paragraph.
fn level(line: &[u8]) -> Option<u8> {
    match line.first()? {
        b'#' => {
            let signs = line.iter().take(7).take_while(|byte| **byte == b'#').count();
            let ends = line.get(signs).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
            u8::try_from(signs).ok().filter(|signs| *signs <= 6 && ends)
        }
        byte => byte.is_ascii_alphabetic().then_some(0),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}
