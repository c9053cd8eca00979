//! Text between `$'` and `'`.

/// Decodes the escapes; `None` when the bytes they stand for are no text.
///
/// The shells differ in what follows an unknown escape. Where they do, the backslash stays.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(rest.get(..at)?.as_bytes());
        rest = escape(rest.get(at + 1..)?, &mut out)?;
    }
    out.extend_from_slice(rest.as_bytes());
    // The value ends at a NUL; the rest is dropped.
    if let Some(end) = out.iter().position(|&byte| byte == 0) {
        out.truncate(end);
    }
    String::from_utf8(out).ok()
}

/// Decodes one escape, whose backslash has been read, and returns what follows it.
fn escape<'a>(rest: &'a str, out: &mut Vec<u8>) -> Option<&'a str> {
    let Some(c) = rest.chars().next() else {
        out.push(b'\\');
        return Some(rest);
    };
    let after = rest.get(c.len_utf8()..)?;
    let simple = match c {
        'a' => Some(7),
        'b' => Some(8),
        'e' | 'E' => Some(27),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        '\\' | '\'' | '"' | '?' => u8::try_from(c).ok(),
        _ => None,
    };
    if let Some(byte) = simple {
        out.push(byte);
        return Some(after);
    }
    match c {
        'x' => byte(after, rest, 16, 2, out),
        '0'..='7' => byte(rest, rest, 8, 3, out),
        'u' => character(after, rest, 4, out),
        'U' => character(after, rest, 8, out),
        'c' => {
            let control = after.chars().next()?;
            out.push(u8::try_from(control).ok()? & 0x1f);
            after.get(control.len_utf8()..)
        }
        _ => {
            out.push(b'\\');
            Some(rest)
        }
    }
}

fn byte<'a>(digits: &'a str, whole: &'a str, radix: u32, most: usize, out: &mut Vec<u8>) -> Option<&'a str> {
    let (value, after) = number(digits, radix, most);
    if let Some(value) = value {
        out.push(u8::try_from(value & 0xff).ok()?);
    } else {
        out.push(b'\\');
        return Some(whole);
    }
    Some(after)
}

fn character<'a>(digits: &'a str, whole: &'a str, most: usize, out: &mut Vec<u8>) -> Option<&'a str> {
    let (value, after) = number(digits, 16, most);
    let Some(value) = value else {
        out.push(b'\\');
        return Some(whole);
    };
    let c = char::from_u32(value)?;
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    Some(after)
}

/// The number at the beginning, of at most so many digits, and what follows it.
fn number(text: &str, radix: u32, most: usize) -> (Option<u32>, &str) {
    let count = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (digits, after) = text.split_at(count);
    (u32::from_str_radix(digits, radix).ok(), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let rows = [
            ("pwn", Some("pwn")),
            (r"\x70wn", Some("pwn")),
            (r"\160\167\156", Some("pwn")),
            (r"p\u0077n", Some("pwn")),
            (r"\U0001F600", Some("\u{1f600}")),
            (r"\'\\", Some("'\\")),
            (r"a\tb\e", Some("a\tb\u{1b}")),
            (r"\cA", Some("\u{1}")),
            (r"\q", Some("\\q")),
            (r"\x", Some("\\x")),
            (r"a\0b", Some("a")),
            (r"\xff", None),
            (r"\ud800", None),
            ("\\", Some("\\")),
        ];
        for (text, expected) in rows {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
    }
}
