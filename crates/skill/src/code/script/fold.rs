//! Constants put together: sums of texts, `join`, `chr`, base64, paths.

mod list;

use super::{Arg, Call, Script, TokenKind, Tokens};
use crate::text::decode;

/// Maximum depth of nested values.
const MAX_DEPTH: u32 = 8;

/// Maximum number of tokens of one value that are looked at.
const MAX_TOKENS: usize = 1024;

/// Maximum length of a value.
pub(super) const MAX_TEXT: usize = 1 << 16;

/// Replacement for an unknown part.
pub(crate) const HOLE: char = '\u{fffd}';

/// A value as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Its text, with [`HOLE`] for what is not known.
    pub(crate) text: String,
    /// True if all of it is known.
    pub(crate) is_known: bool,
    /// True if something in it had to be decoded.
    pub(crate) is_decoded: bool,
}

impl Folded {
    fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_known: true, is_decoded: false }
    }

    fn hole() -> Self {
        Self { text: HOLE.to_string(), is_known: false, is_decoded: false }
    }

    fn add(&mut self, other: &Self) {
        if self.text.len() + other.text.len() <= MAX_TEXT {
            self.text.push_str(&other.text);
        } else {
            self.is_known = false;
        }
        self.is_known &= other.is_known;
        self.is_decoded |= other.is_decoded;
    }
}

/// Methods that leave a text as it is, for what is looked for here.
const KEEPS: &[&str] = &[
    "decode",
    "encode",
    "toString",
    "strip",
    "trim",
    "expanduser",
    "resolve",
    "absolute",
    "as_posix",
    "rstrip",
    "read_text",
    "lstrip",
];

impl Script<'_> {
    /// The value of a range, as far as it is a constant.
    pub(crate) fn fold(&self, tokens: &Tokens) -> Folded {
        self.sum(tokens, 0)
    }

    fn sum(&self, tokens: &Tokens, depth: u32) -> Folded {
        if depth > MAX_DEPTH || tokens.len() > MAX_TOKENS || tokens.is_empty() {
            return Folded::hole();
        }
        let mut whole = Folded::known("");
        let mut at = tokens.start;
        while at < tokens.end {
            match self.kind(at) {
                TokenKind::Symbol(b'+' | b'.') | TokenKind::Line => at += 1,
                // `Path.home() / "x"`
                TokenKind::Symbol(b'/') => {
                    whole.add(&Folded::known("/"));
                    at += 1;
                }
                _ => {
                    let (part, next) = self.term(at, tokens.end, depth);
                    whole.add(&part);
                    at = next.max(at + 1);
                }
            }
        }
        whole
    }

    /// One part of a sum, and where it ends.
    fn term(&self, at: usize, end: usize, depth: u32) -> (Folded, usize) {
        let (mut value, mut next) = match self.kind(at) {
            TokenKind::Text { raw } => (Folded::known(unescaped(self.token(at), raw)), at + 1),
            TokenKind::Number => (Folded::known(self.token(at)), at + 1),
            TokenKind::Symbol(b'(') => {
                let close = self.mate(at).min(end);
                (self.sum(&(at + 1..close), depth + 1), close + 1)
            }
            TokenKind::Symbol(b'[') => {
                let close = self.mate(at).min(end);
                self.joined(at + 1..close, end, depth)
            }
            TokenKind::Name if self.token(at) == "await" || self.token(at) == "new" => {
                (Folded::known(""), at + 1)
            }
            TokenKind::Name => self.named(at, end, depth),
            _ => (Folded::hole(), at + 1),
        };
        // `.method(…)` and `[::-1]` behind it.
        for _ in 0..16 {
            if next + 2 < end
                && self.is_symbol(next, b'.')
                && self.is_name(next + 1)
                && self.is_symbol(next + 2, b'(')
            {
                let close = self.mate(next + 2).min(end);
                value = self.method(value, self.token(next + 1), next + 3..close, depth);
                next = close + 1;
            } else if next < end && self.is_symbol(next, b'[') {
                let close = self.mate(next).min(end);
                let reverse = self.source(&(next..close + 1)) == "[::-1]";
                value = if reverse { reversed(&value) } else { Folded::hole() };
                next = close + 1;
            } else {
                break;
            }
        }
        (value, next)
    }

    /// A list that is written out, and where it ends: `["a", "b"]`, `["a", "b"].join(".")`.
    fn joined(&self, inside: Tokens, end: usize, depth: u32) -> (Folded, usize) {
        let close = inside.end;
        let joins = close + 3 < end
            && self.is_symbol(close + 1, b'.')
            && self.token(close + 2) == "join"
            && self.is_symbol(close + 3, b'(');
        let between = close + 4..self.mate(close + 3).min(end);
        let given = Some(&between).filter(|_| joins).map(|between| self.sum(between, depth + 1));
        match given.filter(|given| given.is_known) {
            Some(given) => (self.list(&inside, &given.text, depth + 1), between.end + 1),
            None => (self.list(&inside, "", depth + 1), close + 1),
        }
    }

    /// A name: a constant, or a call of something that makes one.
    fn named(&self, at: usize, end: usize, depth: u32) -> (Folded, usize) {
        let mut last = at;
        while last + 2 < end && self.is_symbol(last + 1, b'.') && self.is_name(last + 2) && last < at + 16 {
            let method = self.is_symbol(last + 3, b'(') && self.constants.contains_key(self.token(at));
            if method {
                break;
            }
            last += 2;
        }
        let Some((name, _)) = self.name_before(last + 1) else { return (Folded::hole(), last + 1) };
        if last + 1 < end && self.is_symbol(last + 1, b'(') {
            let close = self.mate(last + 1).min(end);
            let args = self.parts(last + 2..close);
            return (self.called_value(&self.resolved(&name), &args, depth), close + 1);
        }
        if last + 1 < end && self.is_symbol(last + 1, b'[') {
            let close = self.mate(last + 1).min(end);
            if let Some(item) = self.item(&name, &(last + 2..close)) {
                return (Folded::known(item), close + 1);
            }
            let key = self.sum(&(last + 2..close), depth + 1);
            return (home(&format!("{}.{}", self.resolved(&name), key.text)), close + 1);
        }
        match self.constants.get(&name) {
            Some(value) => (Folded::known(value.clone()), last + 1),
            None => (home(&self.resolved(&name)), last + 1),
        }
    }

    fn called_value(&self, name: &str, args: &[Tokens], depth: u32) -> Folded {
        let first = || args.first().map_or_else(Folded::hole, |arg| self.sum(arg, depth + 1));
        let last = name.rsplit('.').next().unwrap_or(name);
        match last {
            "chr" | "fromCharCode" | "fromCodePoint" | "unichr" => self.characters(args, depth),
            "b64decode" | "atob" | "urlsafe_b64decode" | "decodebytes" | "FromBase64String"
            | "base64_decode" | "standard_b64decode" => base64(&first()),
            "fromhex" | "unhexlify" | "hex2bin" => hex(&first()),
            "decode" if name == "codecs.decode" => {
                let how = args.get(1).map(|arg| self.sum(arg, depth + 1).text).unwrap_or_default();
                match how.as_str() {
                    "rot13" | "rot_13" | "rot-13" => rotated(&first()),
                    "hex" | "hex_codec" => hex(&first()),
                    "base64" | "base64_codec" => base64(&first()),
                    _ => first(),
                }
            }
            "bytes" | "bytearray" if args.len() == 1 && self.letters(&args[0], depth).is_some() => {
                let text: String = self.letters(&args[0], depth).unwrap_or_default();
                Folded { is_decoded: true, ..Folded::known(text) }
            }
            "from" if name == "Buffer.from" || name == "buffer.Buffer.from" => {
                let how = args.get(1).map(|arg| self.sum(arg, depth + 1).text);
                match how.as_deref() {
                    Some("base64" | "base64url") => base64(&first()),
                    Some("hex") => hex(&first()),
                    _ => first(),
                }
            }
            "join" if name.contains("path") => self.list_of(args, "/", depth),
            "Path" | "PurePath" | "resolve" | "Join-Path" => self.list_of(args, "/", depth),
            "expanduser" | "expandvars" | "str" | "String" | "bytes" | "bytearray" | "quote"
            | "normalize" | "realpath" | "abspath" | "fileURLToPath" | "encodeURIComponent" => first(),
            "homedir" | "home" if args.is_empty() => Folded::known("~"),
            "getenv" | "get" if name.ends_with("getenv") || name.ends_with("environ.get") => {
                home(&format!("os.environ.{}", first().text))
            }
            _ => Folded::hole(),
        }
    }

    fn list_of(&self, args: &[Tokens], between: &str, depth: u32) -> Folded {
        let mut whole = Folded::known("");
        for (number, arg) in args.iter().enumerate() {
            if number > 0 {
                whole.add(&Folded::known(between));
            }
            whole.add(&self.sum(arg, depth + 1));
        }
        whole
    }

    fn list(&self, tokens: &Tokens, between: &str, depth: u32) -> Folded {
        if depth > MAX_DEPTH || tokens.len() > MAX_TOKENS {
            return Folded::hole();
        }
        self.list_of(&self.parts(tokens.clone()), between, depth)
    }

    fn characters(&self, args: &[Tokens], depth: u32) -> Folded {
        let mut whole = Folded::known("");
        for arg in args {
            let parts = if self.is_symbol(arg.start, b'[') {
                self.parts(arg.start + 1..self.mate(arg.start).min(arg.end))
            } else {
                vec![arg.clone()]
            };
            for part in parts {
                let text = self.sum(&part, depth + 1).text;
                let number = match text.strip_prefix("0x") {
                    Some(digits) => u32::from_str_radix(digits, 16).ok(),
                    None => text.parse().ok(),
                };
                let character = number.and_then(char::from_u32);
                whole.add(&character.map_or_else(Folded::hole, |c| Folded::known(c.to_string())));
            }
        }
        whole.is_decoded = true;
        whole
    }

    fn method(&self, value: Folded, method: &str, args: Tokens, depth: u32) -> Folded {
        match method {
            _ if KEEPS.contains(&method) => value,
            "join" if value.is_known && self.items(&args, depth).is_some() => {
                let items = self.items(&args, depth).unwrap_or_default();
                Folded { is_decoded: value.is_decoded, ..Folded::known(items.join(&value.text)) }
            }
            "join" | "joinpath" => {
                let parts = self.parts(args);
                let list = parts.first().filter(|part| self.is_symbol(part.start, b'['));
                match list {
                    Some(part) => {
                        let inside = part.start + 1..self.mate(part.start).min(part.end);
                        self.list(&inside, &value.text, depth + 1)
                    }
                    // `['a', 'b'].join('')`: the list was put together already.
                    None if value.is_known && parts.len() <= 1 => value,
                    None => Folded::hole(),
                }
            }
            "replace" | "replaceAll" => {
                let parts = self.parts(args);
                let [from, to] = parts.as_slice() else { return Folded::hole() };
                let (from, to) = (self.sum(from, depth + 1), self.sum(to, depth + 1));
                let ready = value.is_known && from.is_known && to.is_known && !from.text.is_empty();
                if ready && value.text.len() <= 4096 && to.text.len() <= 64 {
                    Folded {
                        is_decoded: value.is_decoded,
                        ..Folded::known(value.text.replace(&from.text, &to.text))
                    }
                } else {
                    Folded::hole()
                }
            }
            "split" if self.parts(args).len() == 1 => value,
            "reverse" => reversed(&value),
            "format" => Folded { is_known: false, ..value },
            _ => Folded::hole(),
        }
    }

    /// The value of an argument.
    pub(crate) fn value(&self, arg: &Arg) -> Folded {
        self.fold(&arg.tokens)
    }

    /// The value of the first argument of a call that has no name.
    pub(crate) fn first(&self, call: &Call) -> Option<Folded> {
        call.args.iter().find(|arg| arg.key.is_none()).map(|arg| self.value(arg))
    }
}

/// Variables that say where the home directory is.
fn home(name: &str) -> Folded {
    let variable = name.rsplit('.').next().unwrap_or(name).trim_start_matches('$').trim_start_matches("env:");
    match variable {
        "HOME" | "USERPROFILE" => Folded::known("~"),
        "APPDATA" => Folded::known("~/AppData/Roaming"),
        "LOCALAPPDATA" => Folded::known("~/AppData/Local"),
        _ => Folded::hole(),
    }
}

fn reversed(value: &Folded) -> Folded {
    let text = value.text.chars().rev().collect();
    Folded { text, is_known: value.is_known, is_decoded: true }
}

/// Letters thirteen places on.
fn rotated(value: &Folded) -> Folded {
    let turn = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        _ => c,
    };
    Folded { text: value.text.chars().map(turn).collect(), is_known: value.is_known, is_decoded: true }
}

fn base64(value: &Folded) -> Folded {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+-/_=\n\r ".contains(&byte);
    if !value.text.bytes().all(is_base64) {
        return Folded { is_decoded: true, ..Folded::hole() };
    }
    decoded(value, &decode::bytes_of(value.text.as_bytes()))
}

fn hex(value: &Folded) -> Folded {
    let digits: Vec<u8> = value.text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit =
        |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0);
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    decoded(value, &bytes)
}

fn decoded(from: &Folded, bytes: &[u8]) -> Folded {
    match (from.is_known, std::str::from_utf8(bytes)) {
        (true, Ok(text)) => Folded { is_decoded: true, ..Folded::known(text) },
        _ => Folded { is_decoded: true, ..Folded::hole() },
    }
}

/// A text without its escapes.
fn unescaped(text: &str, raw: bool) -> String {
    if raw || memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text.chars().take(MAX_TEXT).collect();
    }
    let mut out = String::with_capacity(text.len().min(MAX_TEXT));
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (character, length) = escape(&rest[at + 1..]);
        out.extend(character);
        rest = rest.get(at + 1 + length..).unwrap_or_default();
        if out.len() > MAX_TEXT {
            return out;
        }
    }
    out.push_str(rest);
    out
}

/// Returns the character that an escape stands for, and its length without the backslash.
fn escape(rest: &str) -> (Option<char>, usize) {
    let number = |from: usize, to: usize, radix: u32| {
        let digits = rest.get(from..to)?;
        char::from_u32(u32::from_str_radix(digits, radix).ok()?)
    };
    match rest.bytes().next() {
        Some(b'n') => (Some('\n'), 1),
        Some(b't') => (Some('\t'), 1),
        Some(b'r') => (Some('\r'), 1),
        Some(b'\n') => (None, 1),
        Some(b'x') => (number(1, 3, 16), 3),
        Some(b'u') if rest.starts_with("u{") => {
            let end = rest.find('}').unwrap_or(2).min(9);
            (number(2, end, 16), end + 1)
        }
        Some(b'u') => (number(1, 5, 16), 5),
        Some(b'0'..=b'7') => {
            let length = rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            (number(0, length, 8), length)
        }
        _ => (rest.chars().next(), rest.chars().next().map_or(0, char::len_utf8)),
    }
}
