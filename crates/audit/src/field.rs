//! Values of event fields, and their encoding in the line.

use std::borrow::Cow;
use std::path::Path;

use policy::{Code, RuleRef};

use crate::record::Digest;
use crate::redact::Redactor;

/// A name from outside: redacted, and cut after 512 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Name<'a>(pub &'a str);

/// Text from outside: redacted, and cut after 12 KiB.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a>(pub &'a str);

/// Names from outside: each redacted and cut like a [`Name`], the list cut after 4 KiB.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a>(pub &'a [&'a str]);

/// A path from outside. Bytes that are not UTF-8 are written as `\xNN`.
#[derive(Debug, Clone, Copy)]
pub struct FilePath<'a>(pub &'a Path);

/// Arguments of a tool: as redacted text and, in a field of its own, as the SHA-256 of the whole.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a>(pub &'a str);

/// A type that a field can have.
pub(crate) trait Field {
    /// The type in the reference.
    const KIND: &'static str;
    /// The words it can hold, if they are few.
    const WORDS: &'static [&'static str] = &[];
    /// The most bytes that its value takes in a line.
    const MOST: usize;
    /// True if it may be absent.
    const OPTIONAL: bool = false;

    /// Adds the field to the line.
    fn put(&self, key: &str, body: &mut Body<'_>);
}

/// The part of a line that an event decides: its name and its fields, without braces.
pub(crate) struct Body<'a> {
    out: &'a mut Vec<u8>,
    redactor: &'a Redactor,
}

impl<'a> Body<'a> {
    /// Starts over with the name of the event.
    pub(crate) fn start(out: &'a mut Vec<u8>, redactor: &'a Redactor, event: &str) -> Self {
        out.clear();
        out.extend_from_slice(b"\"event\":\"");
        out.extend_from_slice(event.as_bytes());
        out.push(b'"');
        Self { out, redactor }
    }

    /// Adds text that is our own: a word, a hash, a code.
    pub(crate) fn plain_text(&mut self, key: &str, text: &str) {
        self.key(key);
        push_string(self.out, text, usize::MAX);
    }

    fn outside_text(&mut self, key: &str, text: &str, most: usize) {
        self.key(key);
        push_string(self.out, &self.redactor.redact(text), most);
    }

    fn bare(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.extend_from_slice(value.as_bytes());
    }

    fn key(&mut self, key: &str) {
        self.out.extend_from_slice(b",\"");
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}

const NAME: usize = 512;
const TEXT: usize = 12 * 1024;
const LIST: usize = 4 * 1024;
/// Room for `[cut: N bytes]` and the quotes.
const MARK: usize = 48;

impl Field for Name<'_> {
    const KIND: &'static str = "name";
    const MOST: usize = NAME + MARK;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.outside_text(key, self.0, NAME);
    }
}

impl Field for Text<'_> {
    const KIND: &'static str = "text";
    const MOST: usize = TEXT + MARK;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.outside_text(key, self.0, TEXT);
    }
}

impl Field for FilePath<'_> {
    const KIND: &'static str = "path";
    const MOST: usize = TEXT + MARK;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.outside_text(key, &spelled(self.0), TEXT);
    }
}

impl Field for &RuleRef {
    const KIND: &'static str = "rule";
    const MOST: usize = TEXT + MARK;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.outside_text(key, &self.to_string(), TEXT);
    }
}

impl Field for Arguments<'_> {
    const KIND: &'static str = "arguments";
    const MOST: usize = TEXT + MARK + 96;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.outside_text(key, self.0, TEXT);
        body.plain_text(&format!("{key}_sha256"), &Digest::of(self.0.as_bytes()).to_string());
    }
}

impl Field for Names<'_> {
    const KIND: &'static str = "names";
    const MOST: usize = LIST + NAME + 2 * MARK;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.key(key);
        body.out.push(b'[');
        let start = body.out.len();
        for (at, name) in self.0.iter().enumerate() {
            if at > 0 {
                body.out.push(b',');
            }
            if body.out.len() - start > LIST {
                push_string(body.out, &format!("[cut: {} names]", self.0.len() - at), usize::MAX);
                break;
            }
            push_string(body.out, &body.redactor.redact(name), NAME);
        }
        body.out.push(b']');
    }
}

impl Field for u64 {
    const KIND: &'static str = "number";
    const MOST: usize = 20;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.bare(key, &self.to_string());
    }
}

impl Field for i32 {
    const KIND: &'static str = "number";
    const MOST: usize = 11;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.bare(key, &self.to_string());
    }
}

impl Field for bool {
    const KIND: &'static str = "yes or no";
    const MOST: usize = 5;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.bare(key, if *self { "true" } else { "false" });
    }
}

impl Field for Code {
    const KIND: &'static str = "code";
    const MOST: usize = 16;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.plain_text(key, self.id());
    }
}

impl Field for Digest {
    const KIND: &'static str = "SHA-256";
    const MOST: usize = 66;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        body.plain_text(key, &self.to_string());
    }
}

impl<T: Field> Field for Option<T> {
    const KIND: &'static str = T::KIND;
    const WORDS: &'static [&'static str] = T::WORDS;
    const MOST: usize = T::MOST;
    const OPTIONAL: bool = true;

    fn put(&self, key: &str, body: &mut Body<'_>) {
        if let Some(value) = self {
            value.put(key, body);
        }
    }
}

fn spelled(path: &Path) -> Cow<'_, str> {
    if let Some(text) = path.to_str() {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|&byte| out.extend(['\\', 'x', hex(byte >> 4), hex(byte & 15)]));
    }
    Cow::Owned(out)
}

fn hex(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('?')
}

/// Writes a JSON string of at most `most` bytes between the quotes, plus a mark that counts what was cut.
fn push_string(out: &mut Vec<u8>, text: &str, most: usize) {
    out.push(b'"');
    let kept = push_escaped(out, text, most);
    if kept < text.len() {
        out.extend_from_slice(format!("[cut: {} bytes]", text.len() - kept).as_bytes());
    }
    out.push(b'"');
}

/// Returns how many bytes of `text` found room.
fn push_escaped(out: &mut Vec<u8>, text: &str, most: usize) -> usize {
    let (mut at, mut room) = (0, most);
    loop {
        let rest = &text[at..];
        let plain =
            rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
        let fits = whole_characters(rest, plain.min(room));
        out.extend_from_slice(&rest.as_bytes()[..fits]);
        (at, room) = (at + fits, room - fits);
        let Some(escape) = rest.as_bytes().get(fits).copied().and_then(escape_of) else { return at };
        if fits < plain || escape.as_bytes().len() > room {
            return at;
        }
        out.extend_from_slice(escape.as_bytes());
        (at, room) = (at + 1, room - escape.as_bytes().len());
    }
}

/// The longest beginning of at most `most` bytes that ends between two characters.
fn whole_characters(text: &str, most: usize) -> usize {
    (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

enum Escape {
    Short([u8; 2]),
    Long([u8; 6]),
}

impl Escape {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Long(bytes) => bytes,
        }
    }
}

fn escape_of(byte: u8) -> Option<Escape> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' | b'\\' => Some(Escape::Short([b'\\', byte])),
        b'\n' => Some(Escape::Short(*b"\\n")),
        b'\r' => Some(Escape::Short(*b"\\r")),
        b'\t' => Some(Escape::Short(*b"\\t")),
        0..0x20 => Some(Escape::Long([
            b'\\',
            b'u',
            b'0',
            b'0',
            HEX[usize::from(byte >> 4)],
            HEX[usize::from(byte & 15)],
        ])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pushed(text: &str, most: usize) -> String {
        let mut out = Vec::new();
        push_string(&mut out, text, most);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_cut_between_characters_and_escapes() {
        let rows = [
            ("abc", 3, "\"abc\""),
            ("abcd", 3, "\"abc[cut: 1 bytes]\""),
            ("a\nb", 3, "\"a\\n[cut: 1 bytes]\""),
            ("a\nb", 2, "\"a[cut: 2 bytes]\""),
            ("\u{1}\u{2}", 7, "\"\\u0001[cut: 1 bytes]\""),
            ("aé", 2, "\"a[cut: 2 bytes]\""),
            ("é", 0, "\"[cut: 2 bytes]\""),
            ("é\"", 2, "\"é[cut: 1 bytes]\""),
            ("", 0, "\"\""),
        ];
        for (text, most, wanted) in rows {
            assert_eq!(pushed(text, most), wanted, "{text:?} {most}");
        }
    }

    #[test]
    fn paths_that_are_not_utf8_are_spelled_out() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff/\xe2\x82b"));
        assert_eq!(spelled(path), r"a\xff/\xe2\x82b");
    }

    proptest! {
        #[test]
        fn a_string_reads_back_as_it_was(text in any::<String>()) {
            prop_assert_eq!(serde_json::from_str::<String>(&pushed(&text, usize::MAX)).unwrap(), text);
        }

        #[test]
        fn a_cut_string_is_short_valid_and_counts_right(text in any::<String>(), most in 0usize..40) {
            let json = pushed(&text, most);
            prop_assert!(json.len() <= most + MARK);
            let read: String = serde_json::from_str(&json).unwrap();
            if read != text {
                let (kept, mark) = read.rsplit_once("[cut: ").unwrap();
                prop_assert!(text.starts_with(kept));
                prop_assert_eq!(mark, format!("{} bytes]", text.len() - kept.len()));
            }
        }
    }
}
