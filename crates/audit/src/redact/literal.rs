//! Secrets given by the caller, in the forms in which they turn up.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::{Kind, Span, UnfitSecret};

/// The secrets themselves, and every form to look for.
#[derive(Default)]
pub(super) struct Literals {
    names: Vec<String>,
    forms: Vec<Form>,
    /// Which bytes a form can begin with: one bit each.
    first: [u64; 4],
}

struct Form {
    bytes: Vec<u8>,
    secret: usize,
}

/// Overwrites the secret in memory. The compiler must not know that the bytes are never read again.
impl Drop for Form {
    fn drop(&mut self) {
        self.bytes.fill(0);
        std::hint::black_box(&self.bytes);
    }
}

const SHORTEST: usize = 6;
const LONGEST_NAME: usize = 64;

impl Literals {
    pub(super) fn add(&mut self, name: &str, value: &str) -> Result<(), UnfitSecret> {
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if value.chars().count() < SHORTEST {
            return Err(UnfitSecret::TooShort);
        }
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(harmless) || name.contains(value)
        {
            return Err(UnfitSecret::BadName);
        }
        let secret = self.names.len();
        self.names.push(name.to_owned());
        for bytes in forms(value.as_bytes()) {
            self.first[usize::from(bytes[0] >> 6)] |= 1 << (bytes[0] & 63);
            self.forms.push(Form { bytes, secret });
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or("", String::as_str)
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Finds every form of every secret. `mark_at` tells the marks that are already there; they are not looked into.
    pub(super) fn find(&self, text: &[u8], mark_at: impl Fn(&[u8]) -> Option<usize>, spans: &mut Vec<Span>) {
        if self.forms.is_empty() {
            return;
        }
        self.find_in(text, &mark_at, |at| at, spans);
        if text.contains(&b'%') {
            let decoded = Decoded::of(text);
            self.find_in(&decoded.bytes, &mark_at, |at| decoded.offsets[at], spans);
        }
    }

    fn find_in(
        &self,
        text: &[u8],
        mark_at: impl Fn(&[u8]) -> Option<usize>,
        place: impl Fn(usize) -> usize,
        spans: &mut Vec<Span>,
    ) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            if byte == b'['
                && let Some(length) = mark_at(&text[at..])
            {
                at += length;
                continue;
            }
            if self.first[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1 {
                let forms = self.forms.iter().filter(|form| text[at..].starts_with(&form.bytes));
                spans.extend(forms.map(|form| {
                    let (start, end) = (place(at), place(at + form.bytes.len()));
                    Span { start, end, kind: Kind::Literal(form.secret) }
                }));
            }
            at += 1;
        }
    }
}

/// Text with its percent-encoding undone, and where each byte stood before.
struct Decoded {
    bytes: Vec<u8>,
    /// One more than there are bytes: the last is the end of the text.
    offsets: Vec<usize>,
}

impl Decoded {
    fn of(text: &[u8]) -> Self {
        let (mut bytes, mut offsets) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        let mut at = 0;
        while at < text.len() {
            let (byte, width) = percent(&text[at..]).map_or((text[at], 1), |byte| (byte, 3));
            bytes.push(byte);
            offsets.push(at);
            at += width;
        }
        offsets.push(at);
        Self { bytes, offsets }
    }
}

/// The byte that a percent escape at the beginning stands for.
pub(super) fn percent(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = *text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// The ways in which a secret turns up in text. Percent-encoding is not among them: there are too many ways to do it, so
/// the text is decoded instead.
fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms =
        vec![value.to_vec(), hex(value, b"0123456789abcdef"), hex(value, b"0123456789ABCDEF"), json(value)];
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        forms.extend((0..3).map(|shift| base64_inside(value, shift, &engine)));
    }
    forms.sort();
    forms.dedup();
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn hex(value: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    value.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

/// As it stands inside a JSON string.
fn json(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in value {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            byte => out.push(byte),
        }
    }
    out
}

/// The base64 characters that depend on nothing but the value, when `shift` bytes stand before it in the same group of
/// three. What stands before and after decides the characters at the edges.
fn base64_inside(value: &[u8], shift: usize, engine: &GeneralPurpose) -> Vec<u8> {
    let bits = shift * 8..(shift + value.len()) * 8;
    // A form, so that this copy of the secret is overwritten.
    let shifted = Form { bytes: [&[0; 2][..shift], value].concat(), secret: 0 };
    let mut encoded = engine.encode(&shifted.bytes).into_bytes();
    encoded.truncate(bits.end / 6);
    encoded.drain(..bits.start.div_ceil(6));
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_that_depends_on_the_value_alone() {
        // Base64 text that "secretyy", "xsecretyy" and "xxsecretyy" share with every other text around it, by another program.
        let rows = [(0, "c2VjcmV0"), (1, "NlY3Jld"), (2, "zZWNyZX")];
        for (shift, inside) in rows {
            assert_eq!(
                String::from_utf8(base64_inside(b"secret", shift, &STANDARD_NO_PAD)).unwrap(),
                inside,
                "{shift}"
            );
        }
        assert_eq!(base64_inside(b"\xfb\xff\xfe", 0, &URL_SAFE_NO_PAD), b"-__-");
        assert_eq!(base64_inside(b"\xfb\xff\xfe", 0, &STANDARD_NO_PAD), b"+//+");
    }

    #[test]
    fn percent_escapes() {
        let rows: &[(&[u8], Option<u8>)] = &[
            (b"%41", Some(b'A')),
            (b"%7e~", Some(b'~')),
            (b"%7E", Some(b'~')),
            (b"%4", None),
            (b"%zz", None),
            (b"A", None),
            (b"%+1", None),
        ];
        for (text, wanted) in rows {
            assert_eq!(percent(text), *wanted, "{text:?}");
        }
    }
}
