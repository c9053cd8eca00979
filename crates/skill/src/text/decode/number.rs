//! Texts written as lists of numbers: `[99, 117, 114, 108]`, `0x63, 0x75`, `99 117 114`.

use std::ops::Range;

use super::{Budget, Decoded, guessed};
use crate::text::map::Map;

/// Minimum number of numbers in a list.
const MIN: usize = 12;

/// Maximum number of bytes of one list that are looked at.
const MAX_LIST: usize = 64 << 10;

/// Everything in a text that is a list of numbers and says something.
pub(super) fn decoded(text: &str, budget: &mut Budget) -> Vec<Decoded> {
    let bytes = text.as_bytes();
    // Numbers that are letters only after something is done to each of them are tried where something is.
    let is_turned = memchr::memchr(b'^', bytes).is_some() || memchr::memmem::find(bytes, b"xor").is_some();
    let (mut found, mut end) = (Vec::new(), 0);
    for at in memchr::memchr3_iter(b'[', b'(', b'{', bytes) {
        if at < end
            || !bytes.get(at + 1).is_some_and(|next| next.is_ascii_digit() || next.is_ascii_whitespace())
        {
            continue;
        }
        let Some((range, said)) = list(bytes, at + 1, is_turned) else { continue };
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
fn list(bytes: &[u8], start: usize, is_turned: bool) -> Option<(Range<usize>, String)> {
    let rest = &bytes[start..bytes.len().min(start + MAX_LIST)];
    let length = rest
        .iter()
        .take_while(|byte| {
            byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || matches!(byte, b',' | b'x')
        })
        .count();
    let list = std::str::from_utf8(&rest[..length]).ok()?;
    let mut values: Vec<u8> = Vec::new();
    for number in list.split([',', ' ', '\n', '\t', '\r']).filter(|number| !number.is_empty()) {
        values.push(match number.strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        });
    }
    let said = spoken(&values, 0).filter(|said| says_something(said));
    let said = said.or_else(|| (1..=u8::MAX).filter(|_| is_turned).find_map(|key| turned(&values, key)))?;
    Some((start..start + length, said))
}

/// Numbers as letters, each with a key taken out of it.
fn spoken(values: &[u8], key: u8) -> Option<String> {
    let letter = |value: &u8| {
        let c = char::from(value ^ key);
        (c.is_ascii_graphic() || matches!(c, ' ' | '\n' | '\t' | '\r')).then_some(c)
    };
    values.iter().map(letter).collect()
}

fn says_something(said: &str) -> bool {
    let letters = said.bytes().filter(u8::is_ascii_alphabetic).count();
    said.len() >= MIN && 2 * letters >= said.len()
}

/// Decodes numbers with a key, if the result is code.
fn turned(values: &[u8], key: u8) -> Option<String> {
    const CODE: &[&str] = &[
        "import ",
        "require(",
        "http://",
        "https://",
        "curl ",
        "wget ",
        "subprocess",
        "exec(",
        "eval(",
        "/bin/",
        "powershell",
        "os.system",
        "child_process",
        "socket",
    ];
    let said = spoken(values, key).filter(|said| says_something(said))?;
    CODE.iter().any(|word| said.contains(word)).then_some(said)
}
