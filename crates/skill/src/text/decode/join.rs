//! Texts that a program puts together: `"cu" + "rl"`, `["cu", "rl"].join("")`, `chr(99)`, `"lruc"[::-1]`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use super::Replacement;
use crate::text::language::Language;

/// Maximum number of bytes of a list, or of blanks, that are looked at.
const MAX_LIST: usize = 1_024;
const MAX_BLANKS: usize = 80;

/// Everything in a text that is put together out of pieces.
pub(super) fn replacements(text: &str, language: Language) -> Vec<Replacement> {
    let mut found = sums(text);
    if WORDS.as_ref().is_none_or(|words| words.is_match(text)) {
        found.extend(lists(text));
        found.extend(codes(text));
        found.extend(reversed(text));
    }
    if language == Language::Python {
        found.extend(neighbours(text));
    }
    found
}

/// Words of which one is in everything that is put together but for sums: one search for all of it.
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = [
        ".join(",
        "fromCharCode(",
        "bytes([",
        "bytearray([",
        "chr(",
        "[char]",
        "[::-1]",
        "| rev",
        "|rev",
        ".reverse()",
    ];
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words).ok()
});

/// `"a" + "b"`: what stands between the two texts is taken out.
fn sums(text: &str) -> Vec<Replacement> {
    let bytes = text.as_bytes();
    let joints = memchr::memchr_iter(b'+', bytes).filter_map(|plus| {
        let start = quote_before(bytes, plus)?;
        let end = quote_behind(bytes, plus + 1)?;
        Some(Replacement { range: start..end + 1, text: String::new(), from: "pieces" })
    });
    joints.collect()
}

/// `"a" "b"`, as Python joins them.
fn neighbours(text: &str) -> Vec<Replacement> {
    let bytes = text.as_bytes();
    let joints = memchr::memchr2_iter(b'"', b'\'', bytes).filter_map(|quote| {
        let next = bytes.get(quote + 1).filter(|byte| byte.is_ascii_whitespace())?;
        let end = quote_behind(bytes, quote + 1)?;
        (bytes[end] == bytes[quote] && (*next != b'\n' || end > quote + 2)).then_some(Replacement {
            range: quote..end + 1,
            text: String::new(),
            from: "pieces",
        })
    });
    // Every second pair of quotes is a text of blanks, not a joint; both readings would be needed to tell, so only short ones count.
    joints.filter(|joint| joint.range.len() <= MAX_BLANKS).collect()
}

/// Returns the position of a quote before a place, with only blanks between.
fn quote_before(bytes: &[u8], at: usize) -> Option<usize> {
    let from = at.saturating_sub(MAX_BLANKS);
    let last = from + bytes[from..at].iter().rposition(|byte| !byte.is_ascii_whitespace())?;
    is_quote(bytes[last]).then_some(last)
}

/// Returns the position of a quote behind a place, with only blanks between.
fn quote_behind(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..(at + MAX_BLANKS).min(bytes.len())];
    let first = at + rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'\\')?;
    is_quote(bytes[first]).then_some(first)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// `["a", "b"].join("")` and `"".join(["a", "b"])`.
fn lists(text: &str) -> Vec<Replacement> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for at in memmem::find_iter(bytes, b".join(") {
        let behind = at + ".join(".len();
        let one = if at > 0 && bytes[at - 1] == b']' {
            let from = at.saturating_sub(MAX_LIST);
            let open = memchr::memrchr(b'[', &bytes[from..at]).map(|open| from + open);
            let empty =
                bytes.get(behind..behind + 2).is_some_and(|quotes| quotes == b"''" || quotes == b"\"\"");
            open.filter(|_| empty)
                .and_then(|open| Some((open..behind + 3, pieces(text.get(open + 1..at - 1)?)?)))
        } else if at > 1
            && is_quote(bytes[at - 1])
            && bytes[at - 2] == bytes[at - 1]
            && bytes.get(behind) == Some(&b'[')
        {
            let to = (behind + MAX_LIST).min(bytes.len());
            let close = memchr::memchr(b']', &bytes[behind..to]).map(|close| behind + close);
            close.and_then(|close| Some((at - 2..close + 2, pieces(text.get(behind + 1..close)?)?)))
        } else {
            None
        };
        if let Some((range, text)) =
            one.filter(|(range, _)| text.is_char_boundary(range.end) && range.end <= bytes.len())
        {
            found.push(Replacement { range, text: format!("\"{text}\""), from: "pieces" });
        }
    }
    found
}

/// The texts of a list, put together.
fn pieces(list: &str) -> Option<String> {
    let parts: Option<Vec<&str>> = list
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let quote = part.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
            part.strip_prefix(quote)?.strip_suffix(quote)
        })
        .collect();
    parts.filter(|parts| parts.len() > 1).map(|parts| parts.concat())
}

/// `String.fromCharCode(99, 117)`, `bytes([99, 117])`, `chr(99)`, `[char]99`.
fn codes(text: &str) -> Vec<Replacement> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (word, close, before) in [
        (&b"fromCharCode("[..], &b")"[..], 7),
        (b"bytes([", b"])", 0),
        (b"bytearray([", b"])", 0),
        (b"chr(", b")", 0),
        (b"[char]", b"", 0),
    ] {
        for at in memmem::find_iter(bytes, word) {
            let list = at + word.len();
            let to = (list + MAX_LIST).min(bytes.len());
            let numbers = bytes[list..to].iter().take_while(|byte| is_of_numbers(**byte)).count();
            let Some(said) = text.get(list..list + numbers).and_then(characters) else { continue };
            let end = list + numbers;
            if !bytes[end..].starts_with(close) {
                continue;
            }
            let start = if bytes[..at].ends_with(b"String.") { at - before } else { at };
            found.push(Replacement {
                range: start..end + close.len(),
                text: format!("\"{said}\""),
                from: "numbers",
            });
        }
    }
    found
}

fn is_of_numbers(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || matches!(byte, b',' | b'x')
}

fn characters(list: &str) -> Option<String> {
    let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
    let characters = numbers.map(|number| {
        let value = match number.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(value).filter(|c| !c.is_control() || matches!(c, '\t' | '\n'))
    });
    characters.collect::<Option<String>>().filter(|said| !said.is_empty())
}

/// `"lruc"[::-1]` and `echo 'lruc' | rev`.
fn reversed(text: &str) -> Vec<Replacement> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for word in [&b"[::-1]"[..], b"| rev", b"|rev", b".split('').reverse()", b".split(\"\").reverse()"] {
        for at in memmem::find_iter(bytes, word) {
            let Some(close) = quote_before(bytes, at) else { continue };
            let from = close.saturating_sub(MAX_LIST);
            let Some(open) = memchr::memrchr(bytes[close], &bytes[from..close]) else { continue };
            let Some(said) = text.get(from + open + 1..close) else { continue };
            let said: String = said.chars().rev().collect();
            found.push(Replacement { range: from + open + 1..close, text: said, from: "reversed text" });
        }
    }
    found
}
