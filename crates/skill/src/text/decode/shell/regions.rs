//! Finds a shell's commands in a text, if something in it looks put together.

use std::ops::Range;

use crate::text::language::Language;

/// Maximum number of stretches of one text that are looked at.
const MAX_REGIONS: usize = 256;

/// The stretches of a text that are commands and have something in them that is put together.
pub(super) fn regions(text: &str, language: Language) -> Vec<Range<usize>> {
    let first = match language {
        Language::Shell | Language::Markdown | Language::Text => first(text.as_bytes()),
        _ => None,
    };
    let Some(first) = first else { return Vec::new() };
    if language == Language::Shell {
        return std::iter::once(0..text.len()).collect();
    }
    let mut found = blocks(text);
    found.retain(|range| range.end > first && is_put_together(&text.as_bytes()[range.clone()]));
    found.truncate(MAX_REGIONS);
    found
}

/// Returns true if something in a stretch looks put together.
fn is_put_together(bytes: &[u8]) -> bool {
    first(bytes).is_some()
}

/// The first place that looks put together.
fn first(bytes: &[u8]) -> Option<usize> {
    let dollar = memchr::memchr_iter(b'$', bytes).find(|at| is_joined(bytes, *at));
    let split =
        |pair: &[u8]| memchr::memmem::find_iter(bytes, pair).find(|at| is_inside(bytes, *at, *at + 2));
    let quotes = [split(b"''"), split(b"\"\"")];
    let slash = memchr::memchr_iter(b'\\', bytes)
        .find(|at| is_inside(bytes, *at, *at + 1) && is_first_word(bytes, *at));
    let prints = [memchr::memmem::find(bytes, b"`echo "), memchr::memmem::find(bytes, b"`printf ")];
    [dollar, slash].into_iter().chain(quotes).chain(prints).flatten().min()
}

/// Returns true if letters stand on both sides.
fn is_inside(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_lowercase);
    is_letter(start.checked_sub(1)) && is_letter(Some(end))
}

/// Returns true if nothing but letters and backslashes stands between a place and where a command begins.
fn is_first_word(bytes: &[u8], at: usize) -> bool {
    let before = bytes[at.saturating_sub(24)..at].iter().rev();
    let mut rest = before.skip_while(|byte| byte.is_ascii_lowercase() || **byte == b'\\');
    rest.next().is_none_or(|byte| b"\n;|&(`".contains(byte))
        || bytes[..at].iter().rev().take(24).any(|byte| *byte == b'\n' || *byte == b'|')
            && rest.next() == Some(&b'|')
}

/// Returns true if what a dollar begins is part of a larger word: `$a$b`, `cu$x`, `${a}b`; or is made on the spot.
fn is_joined(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at + 1..];
    let Some(next) = rest.first() else { return false };
    match next {
        b'\'' => rest.get(1) == Some(&b'\\') || rest.get(1).is_some_and(u8::is_ascii_lowercase),
        b'(' => {
            let inner = rest[1..].trim_ascii_start();
            [&b"echo "[..], b"printf ", b"tr ", b"rev", b"xxd ", b"base64 "]
                .iter()
                .any(|word| inner.starts_with(word))
        }
        b'{' => {
            let inside = rest[1..].iter().take(64).position(|byte| *byte == b'}');
            let Some(close) = inside else { return false };
            let behind = rest.get(close + 2);
            behind.is_some_and(|byte| *byte == b'$' || byte.is_ascii_lowercase())
                || rest[1..=close].contains(&b':')
        }
        byte if byte.is_ascii_alphanumeric() || *byte == b'_' => {
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            rest.get(name) == Some(&b'$') || before.is_some_and(u8::is_ascii_lowercase)
        }
        _ => false,
    }
}

/// The insides of fences for a shell, and code within lines.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut open): (Vec<Range<usize>>, usize, Option<(usize, bool)>) =
        (Vec::new(), 0, None);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches([' ', '\t', '>']);
        let mark = bare.starts_with("```") || bare.starts_with("~~~");
        match open {
            Some((start, wanted)) if mark => {
                if wanted {
                    found.push(start..at);
                }
                open = None;
            }
            None if mark => {
                let word =
                    bare.trim_start_matches(['`', '~']).split_ascii_whitespace().next().unwrap_or_default();
                let language = Language::named(word);
                open = Some((
                    at + line.len(),
                    matches!(language, None | Some(Language::Shell | Language::Text)),
                ));
            }
            None => spans(line, at, &mut found),
            Some(_) => {}
        }
        at += line.len();
    }
    found.extend(open.filter(|(_, wanted)| *wanted).map(|(start, _)| start..text.len()));
    found
}

/// Code within a line.
fn spans(line: &str, start: usize, found: &mut Vec<Range<usize>>) {
    let marks: Vec<usize> = memchr::memchr_iter(b'`', line.as_bytes()).take(64).collect();
    for pair in marks.chunks_exact(2) {
        if pair[1] > pair[0] + 4 {
            found.push(start + pair[0] + 1..start + pair[1]);
        }
    }
}
