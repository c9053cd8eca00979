//! Output of programs as text that can be read: no escape sequences, nothing that was overwritten. Everything else that cannot be seen is
//! written out, so that it is not lost and hides nothing.
//!
//! **Invariant.** It makes no difference into which pieces the bytes were cut.
//! **Invariant.** Time is linear in the bytes, and memory does not depend on them.

use source::Escaper;

/// Cleans a stream piece by piece.
///
/// ```
/// let mut cleaner = ringfence::job::Cleaner::new();
/// let mut text = String::new();
/// cleaner.push(b" 10%\r 90%\r100%\n\x1b[1mdo", &mut text);
/// cleaner.push(b"ne\x1b[0m", &mut text);
/// assert_eq!((text.as_str(), cleaner.pending().as_str()), ("100%\n", "done"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
    state: State,
    /// Text that a carriage return can still take back.
    line: String,
    /// True if the next character overwrites the line.
    returned: bool,
    escaper: Escaper,
    /// Bytes that are no text: NUL, and what is not UTF-8.
    binary: u64,
}

/// State of the stream within an escape sequence.
#[derive(Debug, Clone, Copy, Default)]
enum State {
    /// In none.
    #[default]
    Ground,
    /// After the escape character.
    Escape,
    /// In a control sequence (`ESC [`), or one of the short ones.
    Sequence(usize),
    /// In a text for the terminal, such as a title (`ESC ]`).
    Told(usize),
}

impl State {
    /// Returns the next state when a character belongs to a sequence; `None` when it belongs to the text.
    const fn after(self, next: char) -> Option<Self> {
        Some(match (self, next) {
            (Self::Escape, '[') => Self::Sequence(0),
            (Self::Escape, ']' | 'P' | 'X' | '^' | '_') => Self::Told(0),
            // One of the short ones; what comes now may be its second part.
            (Self::Escape, ' '..='/') => Self::Sequence(LONGEST - 1),
            (Self::Ground | Self::Sequence(LONGEST) | Self::Told(LONGEST), _) => return None,
            (Self::Sequence(length), ' '..='?') => Self::Sequence(length + 1),
            (Self::Escape, '0'..='~')
            | (Self::Sequence(_), '@'..='~')
            | (Self::Told(_), '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}') => Self::Ground,
            // It may begin the end, which is one of the short ones, or another sequence.
            (Self::Told(_), ESCAPE) => Self::Escape,
            // A text for the terminal has one line. One that is never ended must not swallow the next.
            (Self::Told(_), '\n') | (Self::Escape | Self::Sequence(_), _) => return None,
            (Self::Told(length), _) => Self::Told(length + 1),
        })
    }
}

/// Maximum length of a line that can be taken back, in bytes. A longer one is passed on as it is.
const LINE: usize = 16 << 10;

/// Maximum length of a sequence. A longer one is none, and the rest of it is text: nothing hides the output that follows it.
const LONGEST: usize = 4096;

impl Cleaner {
    /// A stream at its beginning.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes, and adds to the text what nothing can change any more.
    pub fn push(&mut self, bytes: &[u8], text: &mut String) {
        if self.begun.is_empty() {
            return self.decode(bytes, text);
        }
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend(bytes);
        self.decode(&joined, text);
    }

    /// The line that is being written.
    #[must_use]
    pub fn pending(&self) -> String {
        let mut text = String::new();
        { self.escaper }.push(&self.line, &mut text);
        text
    }

    /// Returns the number of characters that were written out, in what was passed on and in the line that is being written.
    #[must_use]
    pub fn escaped(&self) -> u64 {
        let mut escaper = self.escaper;
        escaper.push(&self.line, &mut String::new());
        escaper.escaped()
    }

    /// Returns the number of bytes that were no text: NUL, and what is not UTF-8.
    #[must_use]
    pub const fn binary(&self) -> u64 {
        self.binary
    }

    /// Adds what is left at the end of the stream.
    pub fn finish(mut self, text: &mut String) {
        if !self.begun.is_empty() {
            self.step(char::REPLACEMENT_CHARACTER, text);
        }
        self.escaper.push(&self.line, text);
    }

    fn decode(&mut self, bytes: &[u8], text: &mut String) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (good, bad) = match std::str::from_utf8(rest) {
                Ok(good) => (good, Some(0)),
                Err(error) => {
                    let good = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default();
                    (good, error.error_len())
                }
            };
            self.characters(good, text);
            rest = &rest[good.len()..];
            match bad {
                Some(0) => {}
                Some(bad) => {
                    self.binary += bad as u64;
                    self.step(char::REPLACEMENT_CHARACTER, text);
                    rest = &rest[bad..];
                }
                None => {
                    self.begun = rest.to_vec();
                    return;
                }
            }
        }
    }

    /// Plain runs are taken at once, the rest one by one.
    fn characters(&mut self, mut good: &str, text: &mut String) {
        while let Some(first) = good.chars().next() {
            let plain = match self.state {
                State::Ground => good.bytes().take_while(|byte| (b' '..=b'~').contains(byte)).count(),
                _ => 0,
            };
            if plain > 0 {
                self.put_plain(&good[..plain], text);
                good = &good[plain..];
            } else {
                self.step(first, text);
                good = &good[first.len_utf8()..];
            }
        }
    }

    fn step(&mut self, next: char, text: &mut String) {
        self.binary += u64::from(next == '\0');
        match self.state.after(next) {
            Some(state) => self.state = state,
            None => self.ground(next, text),
        }
    }

    fn ground(&mut self, next: char, text: &mut String) {
        self.state = match next {
            ESCAPE => State::Escape,
            '\u{9b}' => State::Sequence(0),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => State::Told(0),
            _ => State::Ground,
        };
        match next {
            '\n' => {
                self.returned = false;
                self.escaper.push(&self.line, text);
                self.escaper.push("\n", text);
                self.line.clear();
            }
            '\r' => self.returned = true,
            '\u{8}' => drop(self.line.pop()),
            // These began a sequence, or nothing.
            ESCAPE | '\u{9b}' | '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {}
            _ => self.put(next, text),
        }
    }

    fn put(&mut self, next: char, text: &mut String) {
        self.overwrite();
        self.line.push(next);
        self.pass_on(text);
    }

    fn put_plain(&mut self, mut plain: &str, text: &mut String) {
        self.overwrite();
        while !plain.is_empty() {
            // A line that is too long is passed on at the same place, regardless of the pieces.
            let (now, later) = plain.split_at(plain.len().min(LINE.saturating_sub(self.line.len()).max(1)));
            self.line.push_str(now);
            self.pass_on(text);
            plain = later;
        }
    }

    fn overwrite(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.line.clear();
        }
    }

    fn pass_on(&mut self, text: &mut String) {
        if self.line.len() >= LINE {
            self.escaper.push(&self.line, text);
            self.line.clear();
        }
    }
}

const ESCAPE: char = '\u{1b}';

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cleaned(pieces: &[&[u8]]) -> String {
        let mut cleaner = Cleaner::new();
        let mut text = String::new();
        for piece in pieces {
            cleaner.push(piece, &mut text);
        }
        cleaner.finish(&mut text);
        text
    }

    #[test]
    fn rows() {
        let rows: &[(&[u8], &str)] = &[
            (b"plain\n\ttext", "plain\n\ttext"),
            (b"a\r\nb\r\r\nc", "a\nb\nc"),
            (b"one\rtwo", "two"),
            (b"kept\r", "kept"),
            (b"first\none\rtwo\rthree\nlast", "first\nthree\nlast"),
            (b"50%\r\x1b[K100%\n", "100%\n"),
            (b"\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mand\x1b[m", "red and"),
            (b"\x1b]0;title\x07shown", "shown"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b]0;never ended\nshown", "\nshown"),
            (b"\x1bPq#0\x1b\\shown\x1b_x\x1b\\!", "shown!"),
            (b"\x1b(B\x1b)0\x1b#8\x1b=\x1b7x\x1b8\x1bM\x1bcy", "xy"),
            (b"\x1b[12\nshown", "\nshown"),
            (b"\x1b\x1b[1mx\x1b", "x"),
            (b"b\x08bo\x08ol\x08ld", "bold"),
            (b"\x08\x08x", "x"),
            (b"a\0b\x01c\x7fd\x0ee\x0c", r"a\u{0}b\u{1}c\u{7f}d\u{e}e\u{c}"),
            (b"\xc2\x9b1mx\xc2\x9d0;t\xc2\x9cy\xc2\x85z", r"xy\u{85}z"),
            ("a\u{202e}b\u{200b}c\u{e0041}".as_bytes(), r"a\u{202e}b\u{200b}c\u{e0041}"),
            (
                "\u{26a0}\u{fe0f} \u{1f468}\u{200d}\u{1f469}".as_bytes(),
                "\u{26a0}\u{fe0f} \u{1f468}\u{200d}\u{1f469}",
            ),
            (b"tool\x07 rings", r"tool\u{7} rings"),
            (b"\xff\xfe\xc3", "\u{fffd}\u{fffd}\u{fffd}"),
            ("gr\u{fc}\u{df}e \u{1f600}".as_bytes(), "gr\u{fc}\u{df}e \u{1f600}"),
            (b"\xe2\x82", "\u{fffd}"),
            (b"\x1b[\xe2\x82\xac", "\u{20ac}"),
        ];
        for (bytes, expected) in rows {
            assert_eq!(cleaned(&[bytes]), *expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_sequence_without_end_hides_little() {
        for begin in ["\x1b]", "\x1b[", "\x1bP", "\u{9d}"] {
            let text = format!("{begin}{}after", "1".repeat(2 * LONGEST));
            assert!(cleaned(&[text.as_bytes()]).ends_with("11after"), "{begin:?}");
        }
    }

    #[test]
    fn a_long_line_is_passed_on() {
        let mut cleaner = Cleaner::new();
        let mut text = String::new();
        for _ in 0..100 {
            cleaner.push(&[b'x'; 10_000], &mut text);
            assert!(cleaner.pending().len() < LINE);
        }
        assert_eq!(text.len() + cleaner.pending().len(), 1_000_000);
    }

    #[test]
    fn bombs_cost_no_more_than_text() {
        let bombs = ["\r", "x\r", "\x1b", "\x1b[", "\x1b]x", "\x08", "\x1b]\x1b", "\u{fffd}\r", "\x1b[1m"];
        for bomb in bombs {
            let bytes = bomb.repeat(2_000_000 / bomb.len());
            let mut cleaner = Cleaner::new();
            let mut text = String::new();
            cleaner.push(bytes.as_bytes(), &mut text);
            assert!(text.len() <= 9 * bytes.len() && cleaner.line.capacity() <= 2 * LINE, "{bomb:?}");
        }
    }

    /// Pieces of what terminals are sent, so that sequences meet often.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            "\r", "\n", "\x1b", "[", "]", "1;2", "m", "K", "\x07", "\\", "\x08", "text", "\u{9b}",
            "\u{20ac}", "\x1b[0m", "\x1b]0;",
        ]);
        let piece = prop_oneof![
            3 => known.prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..6),
            1 => (0..3_usize, any::<u8>()).prop_map(|(times, byte)| vec![byte; times * 6000]),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(bytes in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(cleaned(&pieces), cleaned(&[&bytes]));
            let single: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(cleaned(&single), cleaned(&[&bytes]));
        }

        #[test]
        fn clean_stays_clean(bytes in stream()) {
            let once = cleaned(&[&bytes]);
            prop_assert!(once.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert_eq!(cleaned(&[once.as_bytes()]), once);
        }

        #[test]
        fn text_is_decoded_as_everywhere(text in prop::collection::vec(any::<u8>().prop_filter("no controls", |b| *b >= 0x20 && !(0x7f..=0x9f).contains(b) && *b != 0xc2), 0..300)) {
            prop_assert_eq!(cleaned(&[&text]), source::visible(&String::from_utf8_lossy(&text)).0);
        }
    }
}
