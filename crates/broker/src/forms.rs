//! The forms in which a value turns up in requests and responses.

use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// Fewest bytes of a form. A shorter one would match ordinary text.
const MIN_FORM: usize = 8;

/// Returns a value as it is and as encoders write it, the value itself first: percent-encoded, in JSON, in hexadecimal
/// digits, and in base64 behind any other text.
pub(crate) fn forms(value: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let mut all = vec![Zeroizing::new(value.to_vec())];
    let mut add = |form: Vec<u8>| {
        let form = Zeroizing::new(form);
        if form.len() >= MIN_FORM && !all.contains(&form) {
            all.push(form);
        }
    };
    add(percent_encoded(value, Digits::Upper));
    add(percent_encoded(value, Digits::Lower));
    add(in_json(value, b""));
    add(in_json(value, b"/"));
    add(in_digits(value, Digits::Lower));
    add(in_digits(value, Digits::Upper));
    for before in 0..3 {
        add(in_base64(value, before, &BASE64_STANDARD_NO_PAD));
        add(in_base64(value, before, &BASE64_URL_SAFE_NO_PAD));
    }
    all
}

/// Letters of hexadecimal digits.
#[derive(Clone, Copy)]
pub(crate) enum Digits {
    Upper,
    Lower,
}

impl Digits {
    fn of(self, byte: u8) -> [u8; 2] {
        let digits = match self {
            Self::Upper => b"0123456789ABCDEF",
            Self::Lower => b"0123456789abcdef",
        };
        [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
    }
}

/// Encodes everything but letters, digits and `-._~`.
pub(crate) fn percent_encoded(value: &[u8], digits: Digits) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(value.len() * 3);
    for byte in value {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(*byte);
        } else {
            encoded.push(b'%');
            encoded.extend(digits.of(*byte));
        }
    }
    encoded
}

/// Writes a value as in a JSON string. Some writers escape `/` as well.
fn in_json(value: &[u8], also: &[u8]) -> Vec<u8> {
    let escape = |byte: &u8| matches!(byte, b'"' | b'\\') || also.contains(byte);
    let mut text = Vec::with_capacity(value.len() * 2);
    for byte in value {
        if escape(byte) {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text
}

/// Writes a value in hexadecimal digits.
pub(crate) fn in_digits(value: &[u8], digits: Digits) -> Vec<u8> {
    value.iter().flat_map(|byte| digits.of(*byte)).collect()
}

/// Returns the characters of a base64 text that the value alone decides, when so many bytes (modulo 3) stand before it.
fn in_base64(value: &[u8], before: usize, engine: &impl base64::Engine) -> Vec<u8> {
    let padded = Zeroizing::new([&[0, 0][..before], value].concat());
    let text = Zeroizing::new(engine.encode(&*padded));
    let certain = padded.len() * 8 / 6;
    let unknown = (before * 8).div_ceil(6);
    text.as_bytes().get(unknown..certain).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    proptest::proptest! {
        #[test]
        fn base64_behind_and_before_any_bytes_holds_a_form(
            before in proptest::collection::vec(proptest::num::u8::ANY, 0..7),
            value in proptest::collection::vec(33_u8..127, 12..40),
            after in proptest::collection::vec(proptest::num::u8::ANY, 0..5),
        ) {
            let all = forms(&value);
            let bytes = [&before[..], &value, &after].concat();
            for text in [BASE64_STANDARD_NO_PAD.encode(&bytes), BASE64_URL_SAFE_NO_PAD.encode(&bytes)] {
                let held = |form: &Zeroizing<Vec<u8>>| text.as_bytes().windows(form.len()).any(|part| part == &form[..]);
                proptest::prop_assert!(all.iter().any(held));
            }
        }
    }

    #[test]
    fn forms_of_a_value() {
        let all: Vec<_> =
            forms(b"p/w \"x+1=").iter().map(|form| String::from_utf8(form.to_vec()).unwrap()).collect();
        for form in [
            "p/w \"x+1=",
            "p%2Fw%20%22x%2B1%3D",
            "p%2fw%20%22x%2b1%3d",
            "p/w \\\"x+1=",
            "p\\/w \\\"x+1=",
            "702f77202278 2b313d",
        ] {
            assert!(all.contains(&form.replace("78 2b", "782b")), "{form}");
        }
    }
}
