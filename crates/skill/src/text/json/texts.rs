//! The texts in a JSON document, with their places. From text that is not JSON, all that can be read is returned.

use std::ops::Range;

use crate::text::map::Map;

/// Maximum depth to which a document is followed for the names of its values.
const MAX_DEPTH: usize = 64;

/// A text in a document: a value, or a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// Range without its quotes.
    pub(crate) range: Range<usize>,
    /// True if something in it is escaped.
    pub(crate) escaped: bool,
    /// The way to it, as a JSON pointer; only of those that are escaped.
    pub(crate) pointer: Option<String>,
}

/// All texts of a document.
pub(crate) fn texts(json: &str) -> Vec<Text> {
    let bytes = json.as_bytes();
    let (mut found, mut walk, mut at) = (Vec::new(), Walk { json, steps: Vec::new(), last: 0..0 }, 0);
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' {
            let (end, escaped) = end_of(bytes, at + 1);
            let range = at + 1..end;
            let pointer = escaped.then(|| walk.pointer());
            found.push(Text { range: range.clone(), escaped, pointer });
            walk.last = range;
            at = end;
        } else {
            walk.sign(byte);
        }
        at += 1;
    }
    found
}

/// The text without its escapes.
pub(crate) fn unescaped(written: &str) -> (String, Map) {
    let (mut text, mut map, mut at) = (String::with_capacity(written.len()), Map::default(), 0);
    while let Some(found) = memchr::memchr(b'\\', &written.as_bytes()[at..]) {
        map.copied(text.len(), at..at + found);
        text.push_str(&written[at..at + found]);
        at += found;
        let (length, c) = escape(&written.as_bytes()[at..]);
        let end = (at + length).min(written.len());
        map.made(text.len(), at..end);
        text.push(c);
        at = end;
        while !written.is_char_boundary(at) {
            at += 1;
        }
    }
    map.copied(text.len(), at..written.len());
    text.push_str(&written[at..]);
    (text, map)
}

/// The length of an escape, and what it stands for.
fn escape(rest: &[u8]) -> (usize, char) {
    match rest.get(1) {
        Some(b'n') => (2, '\n'),
        Some(b't') => (2, '\t'),
        Some(b'r') => (2, '\r'),
        Some(b'b') => (2, '\u{8}'),
        Some(b'f') => (2, '\u{c}'),
        Some(b'u') => unit(&rest[2..]).map_or((2, 'u'), |high| pair(rest, high)),
        Some(&other) => (2, char::from(other)),
        None => (1, '\\'),
    }
}

/// A character out of one unit or two.
fn pair(rest: &[u8], high: u16) -> (usize, char) {
    let low = rest.get(6..8).filter(|sign| *sign == b"\\u").and_then(|_| unit(&rest[8..]));
    let units = [high, low.unwrap_or_default()];
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => (if c.len_utf16() == 2 { 12 } else { 6 }, c),
        _ => (6, char::REPLACEMENT_CHARACTER),
    }
}

fn unit(digits: &[u8]) -> Option<u16> {
    u16::from_str_radix(std::str::from_utf8(digits.get(..4)?).ok()?, 16).ok()
}

/// Returns the end of a text, and true if something in it is escaped.
fn end_of(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut escaped = false;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return (at, escaped);
        }
        escaped = true;
        at += 2;
    }
    (bytes.len(), escaped)
}

/// The way to where one is.
struct Walk<'a> {
    json: &'a str,
    steps: Vec<Step>,
    last: Range<usize>,
}

#[derive(Debug, Clone)]
enum Step {
    Name(Range<usize>),
    Number(usize),
}

impl Walk<'_> {
    fn sign(&mut self, byte: u8) {
        match byte {
            b'{' if self.steps.len() < MAX_DEPTH => self.steps.push(Step::Name(0..0)),
            b'[' if self.steps.len() < MAX_DEPTH => self.steps.push(Step::Number(0)),
            b'}' | b']' => drop(self.steps.pop()),
            b':' => {
                if let Some(Step::Name(name)) = self.steps.last_mut() {
                    *name = self.last.clone();
                }
            }
            b',' => {
                if let Some(Step::Number(number)) = self.steps.last_mut() {
                    *number += 1;
                }
            }
            _ => {}
        }
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.steps {
            pointer.push('/');
            match step {
                Step::Name(name) => {
                    let name = self.json.get(name.clone()).unwrap_or_default();
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                Step::Number(number) => pointer.push_str(&number.to_string()),
            }
        }
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_its_place() {
        let json = r#"{"a": {"b/c": ["x", "y\nz"]}, "d": "\u0063url \ud83d\ude00"}"#;
        let found: Vec<(&str, Option<String>)> =
            texts(json).into_iter().map(|text| (&json[text.range], text.pointer)).collect();
        let expected = [
            ("a", None),
            ("b/c", None),
            ("x", None),
            (r"y\nz", Some(String::from("/a/b~1c/1"))),
            ("d", None),
            (r"\u0063url \ud83d\ude00", Some(String::from("/d"))),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn escapes_lead_back() {
        let written = r"a\u0063\ud83d\ude00\n\q\";
        let (text, map) = unescaped(written);
        assert_eq!(text, "ac\u{1f600}\nq\\");
        assert_eq!((map.back(1..2), map.back(2..6), map.back(0..2)), (1..7, 7..19, 0..7));
    }
}
