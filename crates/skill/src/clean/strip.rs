//! Characters that show nothing, and what steers a terminal.

use super::character::{Kind, is_emoji, is_ideograph, kind};
use super::{Counts, Step};

/// How many characters one command to a terminal can have.
const MAX_COMMAND: usize = 256;

/// The only flags that are written with tags.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// The text without them, if there were any.
pub(super) fn stripped(text: &str, counts: &mut Counts) -> Option<Step> {
    if is_plain(text) {
        return None;
    }
    let mut step = Step::with_capacity(text.len());
    let (mut at, mut copied, mut before) = (0, 0, None);
    while let Some(c) = text[at..].chars().next() {
        let stays = match kind(c) {
            Kind::Plain => {
                let flag = if c == '\u{1f3f4}' { flag(&text[at..]) } else { None };
                flag.unwrap_or(c.len_utf8())
            }
            Kind::Invisible if is_meant(before, c, &text[at + c.len_utf8()..]) => c.len_utf8(),
            _ => 0,
        };
        if stays > 0 {
            before = Some(c);
            at += stays;
            continue;
        }
        step.copy(text, copied..at);
        let length = taken(c, &text[at..], counts);
        if kind(c) == Kind::Blank {
            step.make(" ", at..at + length);
            before = Some(' ');
        }
        at += length;
        copied = at;
    }
    step.copy(text, copied..at);
    (step.text != text).then_some(step)
}

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

/// Whether there is nothing to look at: the common case, and fast.
fn is_plain(text: &str) -> bool {
    text.is_ascii()
        && !text.bytes().any(|byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0x7f)
}

/// The length of what is taken out, and the count of it.
fn taken(c: char, text: &str, counts: &mut Counts) -> usize {
    match kind(c) {
        Kind::Tag => counts.tags += 1,
        Kind::Control => {
            counts.controls += 1;
            return command(c, text);
        }
        _ => counts.invisible += 1,
    }
    c.len_utf8()
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

/// Whether an invisible character does something that can be seen.
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

/// Whether a character stands on a key of a telephone.
fn is_key(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

/// The length of a flag that is written with tags, with the black flag before them.
fn flag(text: &str) -> Option<usize> {
    let tags = &text['\u{1f3f4}'.len_utf8()..];
    let name: String =
        tags.chars().take(6).filter_map(|tag| char::from_u32(u32::from(tag).checked_sub(0xe0000)?)).collect();
    let (name, cancel) = name.split_at_checked(5)?;
    (FLAGS.contains(&name) && cancel == "\u{7f}").then_some(4 + 6 * 4)
}
