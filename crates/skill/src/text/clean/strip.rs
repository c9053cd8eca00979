//! Characters that show nothing, and what steers a terminal.

use std::ops::Range;

use super::character::{Kind, is_emoji, is_ideograph, kind};
use super::{Counts, Step};

/// Maximum number of characters of one command to a terminal.
const MAX_COMMAND: usize = 256;

/// The only flags that are written with tags.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// The text without them, if there were any.
pub(super) fn stripped(text: &str, counts: &mut Counts) -> Option<Step> {
    let mut step = Step::with_capacity(0);
    let mut copied = 0;
    for taken in (Hidden { text, at: 0, before: None }) {
        if copied == 0 && step.text.is_empty() {
            step.text.reserve(text.len());
        }
        step.copy(text, copied..taken.range.start);
        match taken.kind {
            Kind::Tag => counts.tags += 1,
            Kind::Control => counts.controls += 1,
            _ => counts.invisible += 1,
        }
        if taken.kind == Kind::Blank {
            step.make(" ", taken.range.clone());
        }
        copied = taken.range.end;
    }
    if copied == 0 {
        return None;
    }
    step.copy(text, copied..text.len());
    Some(step)
}

/// The characters of a text that hide in it, with their places.
pub(crate) fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    Hidden { text, at: 0, before: None }.map(|taken| (taken.range.start, taken.c))
}

/// Iterator over what is taken out of a text.
struct Hidden<'a> {
    text: &'a str,
    at: usize,
    /// The last character that stays.
    before: Option<char>,
}

struct Taken {
    range: Range<usize>,
    c: char,
    kind: Kind,
}

impl Iterator for Hidden<'_> {
    type Item = Taken;

    fn next(&mut self) -> Option<Taken> {
        loop {
            let plain = plain(&self.text.as_bytes()[self.at..])?;
            if plain > 0 {
                self.before = self.text.as_bytes().get(self.at + plain - 1).map(|byte| char::from(*byte));
                self.at += plain;
            }
            let rest = &self.text[self.at..];
            let c = rest.chars().next()?;
            let (kind, start) = (kind(c), self.at);
            let stays = match kind {
                Kind::Plain if c == FLAG => flag(rest).or(Some(c.len_utf8())),
                Kind::Plain => Some(c.len_utf8()),
                Kind::Invisible if is_meant(self.before, c, &rest[c.len_utf8()..]) => Some(c.len_utf8()),
                _ => None,
            };
            if let Some(length) = stays {
                (self.at, self.before) = (start + length, Some(c));
                continue;
            }
            self.at += if kind == Kind::Control { command(c, rest) } else { c.len_utf8() };
            if kind == Kind::Blank {
                self.before = Some(' ');
            }
            return Some(Taken { range: start..self.at, c, kind });
        }
    }
}

/// The flag that tags can follow.
const FLAG: char = '\u{1f3f4}';

/// The text without anything that is not ASCII.
pub(super) fn all_but_ascii(text: &str, counts: &mut Counts) -> Option<Step> {
    let mut step = Step::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if c.is_ascii() {
            step.copy(text, at..at + 1);
        } else {
            counts.invisible += 1;
        }
    }
    (step.text != text).then_some(step)
}

/// Returns the number of leading bytes of characters that always stay; `None` if there are no others.
fn plain(bytes: &[u8]) -> Option<usize> {
    let blocks =
        bytes.chunks(BLOCK).take_while(|block| block.iter().fold(true, |all, byte| all & is_plain(*byte)));
    let skipped = (blocks.count() * BLOCK).min(bytes.len());
    Some(skipped + bytes[skipped..].iter().position(|byte| !is_plain(*byte))?)
}

/// Number of bytes that are looked at together: the compiler makes one comparison of them.
const BLOCK: usize = 64;

/// Returns true if a byte is a character that always stays.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

/// The length of a command to a terminal, or of a single control character.
fn command(c: char, text: &str) -> usize {
    let rest = &text[c.len_utf8()..];
    let (kind, skipped) = match (c, rest.as_bytes().first()) {
        ('\u{1b}', Some(&kind)) if kind.is_ascii_graphic() => (kind, c.len_utf8() + 1),
        ('\u{9b}', _) => (b'[', c.len_utf8()),
        ('\u{9d}', _) => (b']', c.len_utf8()),
        _ => return c.len_utf8(),
    };
    let body = &text[skipped..];
    skipped
        + match kind {
            b'[' => parameters(body),
            b']' | b'P' | b'^' | b'_' | b'X' => string(body),
            _ => 0,
        }
}

/// The length of numbers and the letter behind them.
fn parameters(body: &str) -> usize {
    let bytes = body.as_bytes();
    let numbers = bytes.iter().take(MAX_COMMAND).take_while(|byte| (0x20..0x40).contains(*byte)).count();
    numbers + usize::from(bytes.get(numbers).is_some_and(|byte| (0x40..0x7f).contains(byte)))
}

/// The length of a text for the terminal up to the end of it; nothing if it has none.
fn string(body: &str) -> usize {
    let end = body
        .char_indices()
        .take(MAX_COMMAND)
        .find(|(_, c)| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}' | '\n'));
    match end {
        Some((at, '\u{1b}')) if body[at..].starts_with("\u{1b}\\") => at + 2,
        Some((at, '\n' | '\u{1b}')) => at,
        Some((at, c)) => at + c.len_utf8(),
        None => 0,
    }
}

/// Returns true if an invisible character does something that can be seen.
fn is_meant(before: Option<char>, c: char, rest: &str) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{fe0f}' => is_emoji(before) || is_key(before) && rest.starts_with('\u{20e3}'),
        '\u{fe0e}' => is_emoji(before),
        '\u{200d}' => (is_emoji(before) || before == '\u{fe0f}') && rest.chars().next().is_some_and(is_emoji),
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(before),
        _ => false,
    }
}

/// Returns true if a character stands on a key of a telephone.
fn is_key(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

/// The length of a flag that is written with tags, with the black flag before them.
fn flag(text: &str) -> Option<usize> {
    let tags = &text[FLAG.len_utf8()..];
    let name: String =
        tags.chars().take(6).filter_map(|tag| char::from_u32(u32::from(tag).checked_sub(0xe0000)?)).collect();
    let (name, cancel) = name.split_at_checked(5)?;
    (FLAGS.contains(&name) && cancel == "\u{7f}").then_some(4 + 6 * 4)
}
