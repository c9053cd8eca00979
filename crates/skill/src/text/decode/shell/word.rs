//! One word as a shell reads it: its value, as far as that is written there, and how it is put together.

use std::ops::Range;

use super::{MAX_DEPTH, MAX_VALUE, Reader, print};

/// Maximum distance to the end of a substitution.
const MAX_INNER: usize = 4096;

/// Maximum number of unclosed brackets that are looked at.
const MAX_UNCLOSED: u32 = 64;

/// Maximum length of what stands between `${` and `}`.
const MAX_NAME: usize = 256;

/// A word, and what became of it.
#[derive(Default)]
pub(super) struct Word {
    pub(super) end: usize,
    /// Its value, if all of it is known.
    pub(super) value: Option<String>,
    /// Number of pieces it is made of.
    pub(super) pieces: usize,
    /// Number of pieces that are variables.
    pub(super) expanded: usize,
    /// True if a piece is what another command prints.
    pub(super) printed: bool,
    /// Replacement for each variable and each command in it.
    pub(super) spelled: Vec<(Range<usize>, String)>,
    /// The pieces as they are written.
    literals: Vec<String>,
}

impl Word {
    /// Returns true if a name stands in it in one piece.
    pub(super) fn is_written(&self, name: &str) -> bool {
        // A version behind a name hides nothing.
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.literals.iter().any(|literal| literal.contains(name))
    }
}

/// Reads the word that begins at a place and ends before another.
pub(super) fn read(reader: &Reader<'_>, within: Range<usize>, depth: u32) -> Word {
    let text = reader.text.get(..within.end).unwrap_or(reader.text);
    let start = within.start;
    let mut state =
        State { reader, text, depth, word: Word { value: Some(String::new()), ..Word::default() } };
    let end = state.until(start, false);
    state.word.end = end;
    state.word
}

struct State<'r, 't> {
    reader: &'r Reader<'t>,
    /// Text that is read: nothing behind it belongs to the word.
    text: &'t str,
    depth: u32,
    word: Word,
}

impl State<'_, '_> {
    /// Reads to the end of a word, or to the quote that closes.
    fn until(&mut self, start: usize, quoted: bool) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start;
        let mut plain = start;
        while let Some(&byte) = bytes.get(at) {
            let ends = if quoted { byte == b'"' } else { b" \t\r\n;|&()<>".contains(&byte) };
            if ends {
                break;
            }
            let next = match byte {
                b'\'' if !quoted => self.quote(at),
                b'"' if !quoted => Some(self.double(at)),
                b'\\' => Some(self.escape(at, quoted)),
                b'$' => self.dollar(at, quoted),
                b'`' => self.backtick(at),
                _ => None,
            };
            match next {
                Some((end, value)) => {
                    self.literal(plain..at);
                    self.add(value);
                    (at, plain) = (end.max(at + 1), end.max(at + 1));
                }
                None => at += 1,
            }
        }
        self.literal(plain..at);
        at
    }

    /// Adds what stands there as it is.
    fn literal(&mut self, range: Range<usize>) {
        if let Some(text) = self.text.get(range).filter(|text| !text.is_empty()) {
            self.word.literals.push(text.to_owned());
            self.add(Some(text.to_owned()));
        }
    }

    fn add(&mut self, value: Option<String>) {
        // A quoted part comes with its own pieces.
        let Some(value) = value else {
            self.word.value = None;
            return;
        };
        self.word.pieces += 1;
        if let Some(whole) = &mut self.word.value {
            if whole.len() + value.len() > MAX_VALUE {
                self.word.value = None;
            } else {
                whole.push_str(&value);
            }
        }
    }

    fn quote(&mut self, at: usize) -> Option<(usize, Option<String>)> {
        let rest = self.text.get(at + 1..)?;
        let end = rest.find('\'')?;
        let inner = rest[..end].to_owned();
        self.word.literals.push(inner.clone());
        Some((at + end + 2, Some(inner)))
    }

    fn double(&mut self, at: usize) -> (usize, Option<String>) {
        let before = self.word.value.replace(String::new());
        let end = self.until(at + 1, true);
        let inner = std::mem::replace(&mut self.word.value, before);
        (end + 1, inner)
    }

    fn escape(&mut self, at: usize, quoted: bool) -> (usize, Option<String>) {
        let next = self.text.get(at + 1..).and_then(|rest| rest.chars().next());
        match next {
            Some('\n') => (at + 2, Some(String::new())),
            Some(c) if !quoted || "$`\"\\".contains(c) => (at + 1 + c.len_utf8(), Some(c.to_string())),
            _ => (at + 1, Some(String::from("\\"))),
        }
    }

    fn dollar(&mut self, at: usize, quoted: bool) -> Option<(usize, Option<String>)> {
        let rest = self.text.get(at + 1..)?;
        let found = match rest.bytes().next()? {
            b'\'' if !quoted => {
                let end = rest[1..].find('\'')? + 1;
                self.word.pieces += usize::from(rest[1..end].contains('\\'));
                (at + end + 2, Some(print::unescaped(&rest[1..end])))
            }
            b'(' if rest.starts_with("((") => return None,
            b'(' if self.reader.unclosed.get() > MAX_UNCLOSED => return None,
            b'(' => {
                let Some(length) = closing(&rest[1..]) else {
                    self.reader.unclosed.set(self.reader.unclosed.get() + 1);
                    return None;
                };
                let value = self.substituted(at + 2..at + 2 + length);
                self.word.printed |= value.is_some();
                (at + length + 3, value)
            }
            b'{' => {
                let end = rest.bytes().take(MAX_NAME).position(|byte| byte == b'}')?;
                let value = self.reader.parameter(&rest[1..end]);
                self.word.expanded += usize::from(value.is_some());
                (at + end + 2, value)
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length =
                    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                let value = self.reader.variables.get(&rest[..length]).cloned();
                self.word.expanded += usize::from(value.is_some());
                (at + 1 + length, value)
            }
            _ => return Some((at + 1, None)),
        };
        if let Some(value) = &found.1 {
            let shown = if quoted { value.replace('"', "\\\"") } else { value.clone() };
            self.word.spelled.push((at..found.0, shown));
        }
        Some(found)
    }

    fn backtick(&mut self, at: usize) -> Option<(usize, Option<String>)> {
        let rest = self.text.get(at + 1..)?;
        let end = rest.bytes().take(MAX_INNER).position(|byte| byte == b'`')?;
        let value = self.substituted(at + 1..at + 1 + end);
        self.word.printed |= value.is_some();
        if let Some(value) = &value {
            self.word.spelled.push((at..at + end + 2, value.clone()));
        }
        Some((at + end + 2, value))
    }

    /// Returns the output of the commands in a substitution.
    fn substituted(&self, inner: Range<usize>) -> Option<String> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        print::printed(self.reader, inner, self.depth + 1)
    }
}

/// The bracket that closes what was opened before a text.
fn closing(rest: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0u32, None);
    for (at, byte) in rest.bytes().enumerate().take(MAX_INNER) {
        match (byte, quote) {
            (b'\'' | b'"', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (_, Some(b'\'')) => {}
            (b'(', _) => depth += 1,
            (b')', _) if depth == 0 => return Some(at),
            (b')', _) => depth -= 1,
            _ => {}
        }
    }
    None
}

impl Reader<'_> {
    /// Expands what stands between `${` and `}`: a variable, a part of it, an item of a list.
    fn parameter(&self, inner: &str) -> Option<String> {
        let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, rest) = inner.split_at(length);
        if let Some(index) = rest.strip_prefix('[') {
            let items = self.lists.get(name)?;
            let index = index.strip_suffix(']')?;
            return if matches!(index, "@" | "*") {
                Some(items.join(" "))
            } else {
                items.get(index.parse::<usize>().ok()?).cloned()
            };
        }
        let value = self.variables.get(name)?;
        if rest.is_empty() {
            return Some(value.clone());
        }
        if let Some(part) =
            rest.strip_prefix(':').filter(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        {
            let (from, count) = part.split_once(':').unwrap_or((part, "4096"));
            let (from, count): (usize, usize) = (from.trim().parse().ok()?, count.trim().parse().ok()?);
            return Some(value.chars().skip(from).take(count).collect());
        }
        match rest {
            "^^" => return Some(value.to_uppercase()),
            ",," => return Some(value.to_lowercase()),
            _ => {}
        }
        let (all, change) = match rest.strip_prefix("//") {
            Some(change) => (true, change),
            None => (false, rest.strip_prefix('/')?),
        };
        let (from, to) = change.split_once('/').unwrap_or((change, ""));
        let from = from.trim_matches(['"', '\'']);
        if from.is_empty() || from.contains(['*', '?', '[', '$']) || to.contains('$') {
            return None;
        }
        Some(if all { value.replace(from, to) } else { value.replacen(from, to, 1) })
            .filter(|made| made.len() <= MAX_VALUE)
    }
}
