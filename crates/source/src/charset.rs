//! Bytes -> text, in the encodings that pages still have.

use std::borrow::Cow;

/// Number of bytes of a page in which its own declaration of the encoding is looked for.
const PRESCAN: usize = 1024;

/// Decodes bytes: as UTF-8, as UTF-16 where a byte order mark or the header says so, or as windows-1252 where the header or else the page says
/// latin 1.
///
/// Bytes that are invalid in the encoding become U+FFFD. A byte order mark is stronger than either declaration.
#[must_use]
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(rest);
    }
    let header = content_type.and_then(|it| label(it.as_bytes()));
    if let Some((rest, unit)) = utf16(bytes, header.as_deref()) {
        let (pairs, odd) = rest.as_chunks::<2>();
        let units = pairs.iter().map(|pair| unit(*pair)).chain((!odd.is_empty()).then_some(0xfffd));
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        return text.collect::<String>().into();
    }
    let label = header.or_else(|| label(&bytes[..bytes.len().min(PRESCAN)]));
    if label.is_some_and(|label| LATIN.contains(&label.as_str())) {
        return bytes.iter().map(|&byte| western(byte)).collect::<String>().into();
    }
    String::from_utf8_lossy(bytes)
}

/// The bytes behind the mark, and how two of them are one unit, if this is UTF-16. A page cannot say so in its own text: that would be read
/// already.
#[expect(clippy::type_complexity, reason = "it is taken apart where it is returned")]
fn utf16<'a>(bytes: &'a [u8], header: Option<&str>) -> Option<(&'a [u8], fn([u8; 2]) -> u16)> {
    match (bytes, header) {
        ([0xff, 0xfe, rest @ ..], _) => Some((rest, u16::from_le_bytes)),
        ([0xfe, 0xff, rest @ ..], _) => Some((rest, u16::from_be_bytes)),
        (all, Some("utf-16" | "utf-16le" | "ucs-2" | "unicode")) => Some((all, u16::from_le_bytes)),
        (all, Some("utf-16be")) => Some((all, u16::from_be_bytes)),
        _ => None,
    }
}

/// Finds the label behind the first `charset=`, in a header or in a `meta` element.
fn label(text: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"charset";
    let at = text.windows(KEY.len()).position(|it| it.eq_ignore_ascii_case(KEY))? + KEY.len();
    let value = text[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte));
    let value = &value[..value.iter().position(ends).unwrap_or(value.len())];
    Some(String::from_utf8_lossy(value).to_ascii_lowercase())
}

fn western(byte: u8) -> char {
    match byte {
        0x80..=0x9f => C1[usize::from(byte - 0x80)],
        byte => byte.into(),
    }
}

/// Names of latin 1, which on the web means windows-1252.
const LATIN: &[&str] = &[
    "windows-1252",
    "cp1252",
    "x-cp1252",
    "iso-8859-1",
    "iso8859-1",
    "iso_8859-1",
    "latin1",
    "latin-1",
    "l1",
    "us-ascii",
    "ascii",
];

/// Characters of windows-1252 at the positions of latin 1's control characters.
const C1: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let rows: &[(&[u8], Option<&str>, &str)] = &[
            ("caf\u{e9}".as_bytes(), None, "caf\u{e9}"),
            ("\u{feff}caf\u{e9}".as_bytes(), Some("text/html; charset=latin1"), "caf\u{e9}"),
            (b"caf\xe9", None, "caf\u{fffd}"),
            (b"caf\xe9 \x80", Some("text/html; Charset=\"ISO-8859-1\""), "caf\u{e9} \u{20ac}"),
            (b"caf\xe9", Some("text/plain;charset = windows-1252;x=y"), "caf\u{e9}"),
            (b"<meta charset=cp1252>\x99", Some("text/html"), "<meta charset=cp1252>\u{2122}"),
            (
                b"<meta charset=latin1>\xc3\xa9",
                Some("text/html; charset=utf-8"),
                "<meta charset=latin1>\u{e9}",
            ),
            (b"<meta content='a; charset=l1'>\xe9", None, "<meta content='a; charset=l1'>\u{e9}"),
            (b"\xe9 charset", None, "\u{fffd} charset"),
            (b"\x82\xa0", Some("text/html; charset=shift_jis"), "\u{fffd}\u{fffd}"),
            (b"", Some("charset="), ""),
            (b"\xff\xfeh\0i\0", None, "hi"),
            (b"\xfe\xff\0h\0i", Some("text/html; charset=utf-8"), "hi"),
            (b"h\0i\0", Some("text/html; charset=UTF-16LE"), "hi"),
            (b"\0h\0i", Some("text/html; charset=utf-16be"), "hi"),
            (b"\xff\xfe\x00\xd8h\0i", None, "\u{fffd}h\u{fffd}"),
        ];
        for (bytes, content_type, expected) in rows {
            assert_eq!(decode(bytes, *content_type), *expected, "{content_type:?}");
        }
        let late = [&[b' '; PRESCAN][..], b"<meta charset=latin1>\xe9"].concat();
        assert!(decode(&late, None).ends_with('\u{fffd}'));
    }
}
