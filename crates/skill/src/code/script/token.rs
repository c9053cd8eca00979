//! A text in tokens: names, texts, numbers, symbols and ends of lines. Comments are left out.
//!
//! A text with holes (`f"a{b}"`, `` `a${b}` ``) becomes a sum in brackets: `("a" + b)`.

use crate::text::language::Language;

/// Maximum depth of nested holes in texts.
const MAX_DEPTH: u32 = 8;

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    /// A text between quotes; `raw` says that a backslash in it is a backslash.
    Text {
        raw: bool,
    },
    Number,
    Symbol(u8),
    Line,
}

/// A token and its place. For a text, the place is what stands between the quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// All tokens of a text.
pub(super) fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0, language, tokens: Vec::new() };
    reader.until(None, 0);
    reader.tokens
}

/// The other bracket of each bracket. A closing bracket without an opening one has none.
pub(super) fn mates(tokens: &[Token]) -> Vec<u32> {
    let none = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
    let mut mates = vec![none; tokens.len()];
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Symbol(symbol @ (b'(' | b'[' | b'{')) => open.push((symbol, at)),
            TokenKind::Symbol(symbol @ (b')' | b']' | b'}')) => {
                let opening = match symbol {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                // A bracket also ends a few that were left open inside it.
                let found = open.iter().rev().take(4).position(|(last, _)| *last == opening);
                if let Some(found) = found {
                    open.truncate(open.len() - found);
                    let Some((_, start)) = open.pop() else { continue };
                    mates[start] = u32::try_from(at).unwrap_or(none);
                    mates[at] = u32::try_from(start).unwrap_or(none);
                }
            }
            _ => {}
        }
    }
    mates
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    language: Language,
    tokens: Vec<Token>,
}

impl Reader<'_> {
    /// Reads to the end, or to the brace that closes a hole, or to the quote around it.
    fn until(&mut self, quote: Option<u8>, depth: u32) {
        let mut braces = 0u32;
        while let Some(&byte) = self.bytes.get(self.at) {
            if let Some(quote) = quote {
                match byte {
                    b'}' | b')' if braces == 0 => return,
                    b'\n' if quote != b'`' => return,
                    _ if byte == quote => return,
                    b'{' | b'(' => braces += 1,
                    b'}' | b')' => braces -= 1,
                    _ => {}
                }
            }
            self.one(byte, depth);
        }
    }

    fn one(&mut self, byte: u8, depth: u32) {
        match byte {
            b'\n' => {
                self.push(TokenKind::Line, self.at, self.at + 1);
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'\\' if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 2,
            b'#' if self.language != Language::JavaScript => self.line_comment(),
            b'<' if self.starts_with(b"<#") && self.language == Language::PowerShell => {
                self.block_comment(b"#>");
            }
            b'/' if self.has_slashes() && self.starts_with(b"//") => self.line_comment(),
            b'/' if self.has_slashes() && self.starts_with(b"/*") => self.block_comment(b"*/"),
            b'/' if self.language == Language::JavaScript && self.may_be_expression() => self.expression(),
            b'@' if self.language == Language::PowerShell
                && (self.starts_with(b"@\"") || self.starts_with(b"@'")) =>
            {
                self.here_string();
            }
            b'"' | b'\'' => self.text(byte, false, false, depth),
            b'`' if self.language != Language::PowerShell && self.language != Language::Python => {
                self.text(byte, false, true, depth);
            }
            b'0'..=b'9' => self.number(),
            _ if is_name(byte) || byte == b'$' => self.name(depth),
            _ => {
                self.push(TokenKind::Symbol(byte), self.at, self.at + 1);
                self.at += 1;
            }
        }
    }

    fn has_slashes(&self) -> bool {
        !matches!(self.language, Language::Python | Language::PowerShell)
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.tokens.push(Token { kind, start: place(start), end: place(end.min(self.bytes.len())) });
    }

    fn starts_with(&self, what: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(what))
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    fn block_comment(&mut self, end: &[u8]) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memmem::find(rest, end).map_or(rest.len(), |at| at + end.len());
    }

    /// A slash begins a regular expression where no value stands before it.
    fn may_be_expression(&self) -> bool {
        let Some(last) = self.tokens.last() else { return true };
        match last.kind {
            TokenKind::Symbol(b')' | b']' | b'}') | TokenKind::Number | TokenKind::Text { .. } => false,
            TokenKind::Name => {
                matches!(
                    self.bytes.get(last.start as usize..last.end as usize),
                    Some(b"return" | b"typeof" | b"case")
                )
            }
            TokenKind::Symbol(_) | TokenKind::Line => true,
        }
    }

    /// A regular expression, left out: up to its slash on the same line.
    fn expression(&mut self) {
        let mut class = false;
        let mut at = self.at + 1;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\n' => break,
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.push(TokenKind::Text { raw: true }, self.at + 1, at);
                    self.at = at + 1;
                    return;
                }
                _ => {}
            }
            at += 1;
        }
        self.push(TokenKind::Symbol(b'/'), self.at, self.at + 1);
        self.at += 1;
    }

    fn number(&mut self) {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|&byte| is_name(byte) || byte == b'.') {
            self.at += 1;
        }
        self.push(TokenKind::Number, start, self.at);
    }

    fn name(&mut self, depth: u32) {
        let start = self.at;
        let dash = self.language == Language::PowerShell;
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            // The dash belongs to the names of commands: `Invoke-Expression`.
            let inner_dash = dash && byte == b'-' && self.bytes[start] != b'$';
            let inner_dash = inner_dash && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_alphabetic);
            let scope =
                dash && byte == b':' && self.bytes.get(self.at + 1).is_some_and(|&next| is_name(next));
            if !(is_name(byte) || byte == b'$' || inner_dash || scope) {
                break;
            }
            self.at += 1;
        }
        let quote = self.bytes.get(self.at).copied();
        let prefix = &self.bytes[start..self.at];
        if self.language == Language::Python
            && let Some(quote @ (b'"' | b'\'')) = quote
            && prefix.len() <= 2
            && prefix.iter().all(|byte| b"rRbBfFuUtT".contains(byte))
        {
            let has = |letters: &[u8]| prefix.iter().any(|byte| letters.contains(byte));
            let (raw, holes) = (has(b"rR"), has(b"fFtT"));
            self.text(quote, raw, holes, depth);
            return;
        }
        self.push(TokenKind::Name, start, self.at);
    }

    /// `@"` to `"@`, both at the ends of lines.
    fn here_string(&mut self) {
        let quote = self.bytes[self.at + 1];
        let start = self.at + 2;
        let end = [b'\n', quote, b'@'];
        let rest = &self.bytes[start.min(self.bytes.len())..];
        let length = memchr::memmem::find(rest, &end).unwrap_or(rest.len());
        self.push(TokenKind::Text { raw: true }, start, start + length);
        self.at = (start + length + end.len()).min(self.bytes.len());
    }

    /// A text, from its quote on. With holes, the pieces become a sum in brackets.
    fn text(&mut self, quote: u8, raw: bool, holes: bool, depth: u32) {
        let power = self.language == Language::PowerShell;
        let triple = self.language == Language::Python && self.starts_with(&[quote; 3]);
        let width = if triple { 3 } else { 1 };
        let raw = raw || power && quote == b'\'';
        let opened = self.tokens.len();
        let mut from = self.at + width;
        let mut at = from;
        while let Some(&byte) = self.bytes.get(at) {
            let rest = &self.bytes[at..];
            match byte {
                b'\\' if !power => at += 2,
                b'`' if power => at += 2,
                _ if byte == quote && rest.starts_with(&[quote; 3][..width]) => break,
                // A text that is never closed ends with its line, so that one quote does not hide the rest.
                b'\n' if !triple && quote != b'`' && !power => break,
                _ => {
                    let open = hole(rest, quote, holes, power).filter(|_| depth < MAX_DEPTH);
                    let Some(open) = open else {
                        at += 1 + usize::from(holes && rest.starts_with(b"{{"));
                        continue;
                    };
                    if self.tokens.len() == opened {
                        self.push(TokenKind::Symbol(b'('), at, at);
                    }
                    self.push(TokenKind::Text { raw }, from, at);
                    self.push(TokenKind::Symbol(b'+'), at, at);
                    self.push(TokenKind::Symbol(b'('), at, at);
                    self.at = at + open.len();
                    if open.is_empty() {
                        self.at += 1;
                        self.variable(at);
                    } else {
                        self.until(Some(if triple { b'`' } else { quote }), depth + 1);
                        let closed = self.bytes.get(self.at).is_some_and(|byte| matches!(byte, b'}' | b')'));
                        self.at += usize::from(closed);
                    }
                    self.push(TokenKind::Symbol(b')'), self.at, self.at);
                    self.push(TokenKind::Symbol(b'+'), self.at, self.at);
                    (from, at) = (self.at, self.at);
                }
            }
        }
        let at = at.min(self.bytes.len());
        self.push(TokenKind::Text { raw }, from.min(at), at);
        self.at = if self.bytes.get(at) == Some(&quote) { at + width } else { at };
        if self.tokens.len() > opened + 1 {
            self.push(TokenKind::Symbol(b')'), self.at, self.at);
        }
    }

    /// A variable in a text of PowerShell, from its dollar on.
    fn variable(&mut self, start: usize) {
        while self.bytes.get(self.at).is_some_and(|&byte| is_name(byte) || byte == b':') {
            self.at += 1;
        }
        self.push(TokenKind::Name, start, self.at);
    }
}

/// Returns what opens a hole at the start of this, if something does. Empty: a bare variable.
fn hole(rest: &[u8], quote: u8, holes: bool, power: bool) -> Option<&'static [u8]> {
    let bare = rest.get(1).is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_');
    match quote {
        b'`' if holes && rest.starts_with(b"${") => Some(b"${"),
        b'"' if power && rest.starts_with(b"$(") => Some(b"$("),
        b'"' if power && rest.starts_with(b"${") => Some(b"${"),
        b'"' if power && rest[0] == b'$' && bare => Some(b""),
        b'"' | b'\'' if holes && rest[0] == b'{' && !rest.starts_with(b"{{") => Some(b"{"),
        _ => None,
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
