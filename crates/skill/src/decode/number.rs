//! Texts written as lists of numbers: `[99, 117, 114, 108]`, `0x63, 0x75`, `99 117 114`.

use std::ops::Range;

use super::{Budget, Decoded, guessed};
use crate::map::Map;

/// How many numbers a list has at least.
const MIN: usize = 12;

/// How many bytes of one list are looked at.
const MAX_LIST: usize = 64 << 10;

/// Everything in a text that is a list of numbers and says something.
pub(super) fn decoded(text: &str, budget: &mut Budget) -> Vec<Decoded> {
    let bytes = text.as_bytes();
    let (mut found, mut end) = (Vec::new(), 0);
    for at in memchr::memchr3_iter(b'[', b'(', b'{', bytes) {
        if at < end
            || !bytes.get(at + 1).is_some_and(|next| next.is_ascii_digit() || next.is_ascii_whitespace())
        {
            continue;
        }
        let Some((range, said)) = list(bytes, at + 1) else { continue };
        end = range.end;
        if !budget.take(said.len()) {
            break;
        }
        let language = Some(guessed(&said));
        found.push(Decoded { text: said, map: Map::whole(range), from: "numbers", language });
    }
    found
}

/// The list that begins at a place, and what it says, if its numbers are letters.
fn list(bytes: &[u8], start: usize) -> Option<(Range<usize>, String)> {
    let rest = &bytes[start..bytes.len().min(start + MAX_LIST)];
    let length = rest
        .iter()
        .take_while(|byte| {
            byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || matches!(byte, b',' | b'x')
        })
        .count();
    let list = std::str::from_utf8(&rest[..length]).ok()?;
    let mut said = String::new();
    for number in list.split([',', ' ', '\n', '\t', '\r']).filter(|number| !number.is_empty()) {
        let value = match number.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        said.push(
            char::from_u32(value)
                .filter(|c| c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t' | '\r'))?,
        );
    }
    let letters = said.bytes().filter(u8::is_ascii_alphabetic).count();
    (said.len() >= MIN && 2 * letters >= said.len()).then_some((start..start + length, said))
}
