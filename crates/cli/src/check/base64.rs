//! Base64, only one way: bytes that are no text, as JSON carries them.

/// Decodes standard Base64. `None` for any other text, also for one whose last bits are not used and not zero: a text
/// has one spelling.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let complete = text.len().is_multiple_of(4) && padding <= 2;
    let mut bytes = Vec::with_capacity(body.len() / 4 * 3 + 2);
    for group in body.as_bytes().chunks(4) {
        let bits = group.iter().try_fold(0_u32, |bits, &letter| Some(bits << 6 | value(letter)?))?;
        let [_, all @ ..] = (bits << (24 - 6 * group.len())).to_be_bytes();
        let (used, unused) = all.split_at(group.len() * 6 / 8);
        if unused.iter().any(|&byte| byte != 0) {
            return None;
        }
        bytes.extend_from_slice(used);
    }
    complete.then_some(bytes)
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_one_spelling() {
        let rows: &[(&str, Option<&[u8]>)] = &[
            ("", Some(b"")),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYg==", Some(b"foob")),
            ("AP/+", Some(b"\0\xff\xfe")),
            ("Zg", None),
            ("Zg=", None),
            ("Zg===", None),
            ("Z===", None),
            ("=", None),
            ("====", None),
            ("Zh==", None),
            ("Zm9=", None),
            ("Zm 9v", None),
            ("Zm-_", None),
            ("Zg==Zg==", None),
            ("日本", None),
        ];
        for (text, bytes) in rows {
            assert_eq!(decode(text).as_deref(), *bytes, "{text}");
        }
    }
}
