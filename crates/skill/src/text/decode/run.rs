//! Runs of base64 and hex.

use std::io::Read;
use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

use super::{Budget, Decoded, guessed};
use crate::text::map::Map;

/// Minimum length of a run, if something says that it is encoded.
const MIN: usize = 16;

/// Minimum length of a run, if nothing does.
const MIN_ALONE: usize = 24;

/// Maximum number of bytes that something compressed may become.
const MAX_INFLATED: u64 = 256 << 10;

/// Everything in a text that is base64 or hex and says something.
pub(super) fn decoded(text: &str, budget: &mut Budget) -> Vec<Decoded> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(run) = next(text.as_bytes(), at) {
        let run = lines(text.as_bytes(), run);
        at = run.end + 1;
        if let Some((range, plain, from)) = read(text, run) {
            if !budget.take(plain.len()) {
                break;
            }
            let language = Some(guessed(&plain));
            found.push(Decoded { text: plain, map: Map::whole(range), from, language });
        }
    }
    found
}

/// The next run that is long enough. It looks only at every sixteenth byte and back from there to the first that is none.
fn next(bytes: &[u8], mut at: usize) -> Option<Range<usize>> {
    while let Some(window) = bytes.get(at..at + MIN) {
        let Some(other) = window.iter().rposition(|byte| !IN_RUN[usize::from(*byte)]) else {
            let more = bytes[at + MIN..].iter().take_while(|byte| IN_RUN[usize::from(**byte)]).count();
            return Some(at..at + MIN + more);
        };
        at += other + 1;
    }
    None
}

/// A run with the lines below it that go on with it.
fn lines(bytes: &[u8], run: Range<usize>) -> Range<usize> {
    let mut end = run.end;
    let mut line = run.len();
    while line >= 60 && line.is_multiple_of(4) {
        let rest = &bytes[end..];
        let gap = rest.iter().take(16).take_while(|byte| byte.is_ascii_whitespace()).count();
        if gap == 0 || !rest[..gap].contains(&b'\n') {
            break;
        }
        let more = rest[gap..].iter().take_while(|byte| IN_RUN[usize::from(**byte)]).count();
        if more < 4 || more > line {
            break;
        }
        end += gap + more;
        line = more;
    }
    run.start..end
}

/// Decodes a run; also returns which part of it is encoded.
fn read(text: &str, run: Range<usize>) -> Option<(Range<usize>, String, &'static str)> {
    let bytes = text.as_bytes();
    if let Some(plain) = hex(&bytes[run.clone()]) {
        return Some((run, plain, "hex"));
    }
    // A path before it is no part of it.
    let last = memchr::memrchr(b'/', &bytes[run.clone()]).map_or(run.start, |slash| run.start + slash + 1);
    for start in [run.start, last] {
        let part = start..run.end;
        if part.len() < MIN || is_picture(&text[..start]) {
            continue;
        }
        if let Some((plain, from)) = base64(&bytes[part.clone()])
            && (part.len() >= MIN_ALONE || is_told(text, &part))
        {
            return Some((part, plain, from));
        }
    }
    None
}

/// Returns true if something around a run says that it is encoded.
fn is_told(text: &str, run: &Range<usize>) -> bool {
    let from = run.start.saturating_sub(48);
    let to = (run.end + 48).min(text.len());
    let around = text.as_bytes()[from..to].to_ascii_lowercase();
    [&b"base64"[..], b"b64", b"atob", b"-enc", b"decode"]
        .iter()
        .any(|word| memchr::memmem::find(&around, word).is_some())
}

/// Returns true if the text before a run says that it is a picture.
fn is_picture(before: &str) -> bool {
    let from = before.len().saturating_sub(40);
    let head = &before.as_bytes()[from..];
    head.ends_with(b";base64,") && memchr::memmem::find(head, b"data:image/").is_some()
}

fn hex(run: &[u8]) -> Option<String> {
    if run.len() < MIN_ALONE || run.len() % 2 == 1 || !run.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let bytes: Option<Vec<u8>> =
        run.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
    readable(&bytes?)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn base64(run: &[u8]) -> Option<(String, &'static str)> {
    let head = bytes_of(&run[..12.min(run.len())]);
    let packed = matches!(head.as_slice(), [0x1f, 0x8b, 8, ..] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..]);
    let wide = head.len() >= 8 && head[1..8].iter().step_by(2).all(|byte| *byte == 0);
    if !packed && !wide && !is_text(&head, true) {
        return None;
    }
    let bytes = bytes_of(run);
    if packed {
        return Some((readable(&inflated(&bytes)?)?, "base64 and gzip"));
    }
    if wide {
        let units: Vec<u16> =
            bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        return Some((readable(String::from_utf16(&units).ok()?.as_bytes())?, "base64 and UTF-16"));
    }
    Some((readable(&bytes)?, "base64"))
}

/// Decodes base64 of either alphabet, without regard to other bytes between its letters. A rest of less than a byte is left out.
pub(crate) fn bytes_of(run: &[u8]) -> Vec<u8> {
    let letter = |byte: &u8| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        b'+' | b'/' => Some(*byte),
        _ => byte.is_ascii_alphanumeric().then_some(*byte),
    };
    let mut letters: Vec<u8> = run.iter().filter_map(letter).collect();
    letters.truncate(letters.len() - usize::from(letters.len() % 4 == 1));
    LENIENT.decode(letters).unwrap_or_default()
}

/// Ignores the bits of a last letter that make no byte.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let read = if bytes.first() == Some(&0x1f) {
        flate2::read::MultiGzDecoder::new(bytes).take(MAX_INFLATED).read_to_end(&mut plain)
    } else {
        flate2::read::ZlibDecoder::new(bytes).take(MAX_INFLATED).read_to_end(&mut plain)
    };
    // The output before an error is worth reading too.
    (read.is_ok() || !plain.is_empty()).then_some(plain)
}

/// The bytes as text, if that is what they are.
fn readable(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.len() < 6 || !is_text(bytes, false) {
        return None;
    }
    String::from_utf8(bytes.to_vec()).ok()
}

/// Returns true if bytes are text; `cut` if the last character may lack its end.
fn is_text(bytes: &[u8], cut: bool) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if cut && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !valid.is_empty() && !valid.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{1b}'))
}

/// The letters of base64, the other ones of its form for addresses, and those of hex.
const IN_RUN: [bool; 256] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
    let (mut table, mut at) = ([false; 256], 0);
    while at < letters.len() {
        table[letters[at] as usize] = true;
        at += 1;
    }
    table
};
