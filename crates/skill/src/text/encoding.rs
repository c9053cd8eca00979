//! The bytes of a file as text.

use std::borrow::Cow;
use std::path::Path;

use crate::text::language::Language;
use crate::text::map::Map;

/// Number of bytes at the beginning of a file that tell its kind.
const HEAD: usize = 8_192;

/// The text of a file, with the way back where it is not the bytes themselves. Files that are no text have none.
pub(crate) fn text_of<'a>(path: &Path, bytes: &'a [u8]) -> Option<(Cow<'a, str>, Option<Map>)> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => return Some(wide(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => return Some(wide(rest, u16::from_be_bytes)),
        _ => {}
    }
    if !is_named_text(path) && is_binary(bytes) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some((Cow::Borrowed(text), None)),
        Err(_) => Some(lossy(bytes)),
    }
}

/// Returns true if the name of a file says that it is text. Such a file is read with any content: a shell reads it too.
fn is_named_text(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    Language::named(extension).is_some()
}

/// Returns true if the beginning of a file is full of bytes that no text has.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let controls =
        head.iter().filter(|byte| **byte < 9 || (14..32).contains(*byte) && **byte != 0x1b).count();
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    10 * (controls + invalid) > head.len()
}

/// The text with a sign for every byte that is none.
fn lossy(bytes: &[u8]) -> (Cow<'_, str>, Option<Map>) {
    let (mut text, mut map, mut at) = (String::with_capacity(bytes.len()), Map::default(), 0);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        if !valid.is_empty() {
            map.copied(text.len(), at..at + valid.len());
            text.push_str(valid);
            at += valid.len();
        }
        if !chunk.invalid().is_empty() {
            map.made(text.len(), at..at + chunk.invalid().len());
            text.push(char::REPLACEMENT_CHARACTER);
            at += chunk.invalid().len();
        }
    }
    (Cow::Owned(text), Some(map))
}

/// A text in UTF-16, behind the mark that says so.
fn wide<'a>(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (Cow<'a, str>, Option<Map>) {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let (mut text, mut map, mut at) = (String::with_capacity(bytes.len() / 2), Map::default(), 2);
    for c in char::decode_utf16(units) {
        let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        let length = 2 * c.len_utf16();
        map.made(text.len(), at..at + length);
        text.push(c);
        at += length;
    }
    (Cow::Owned(text), Some(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_what_they_are() {
        let rows: [(&str, &[u8], Option<&str>); 6] = [
            ("SKILL.md", b"plain", Some("plain")),
            ("x", b"\xff\xfea\0b\0", Some("ab")),
            ("x", b"\xfe\xff\0a\0b", Some("ab")),
            ("a.md", b"a\xffb", Some("a\u{fffd}b")),
            ("x.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", None),
            ("x.sh", b"\x7fELF\0\0\0\0curl", Some("\x7fELF\0\0\0\0curl")),
        ];
        for (path, bytes, expected) in rows {
            let text = text_of(Path::new(path), bytes);
            assert_eq!(text.as_ref().map(|(text, _)| text.as_ref()), expected, "{path}");
        }
    }

    #[test]
    fn every_character_leads_back() {
        let (_, map) = lossy(b"a\xff\xfeb");
        assert_eq!(map.map(|map| (map.back(1..4), map.back(7..8))), Some((1..2, 3..4)));
        let (_, map) = wide(b"a\0b\0", u16::from_le_bytes);
        assert_eq!(map.map(|map| map.back(1..2)), Some(4..6));
    }
}
