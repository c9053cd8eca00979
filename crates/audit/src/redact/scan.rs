//! One walk over the text that finds everything secret-shaped.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use policy::{TOKENS, TokenAlphabet, TokenFormat, TokenInText};

use super::keys;
use super::literal::percent;
use super::{Kind, Redactor, Span};

/// Finds what looks like a secret.
pub(super) fn find(text: &[u8], redactor: &Redactor, spans: &mut Vec<Span>) {
    let mut scan = Scan::new(text, redactor, spans);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let hooks = HOOKS[usize::from(byte)];
        if hooks & WORDS != 0 && at >= scan.word_end {
            scan.word(at);
        }
        at += if hooks & !WORDS == 0 { 1 } else { scan.look(at, hooks) };
    }
}

/// A walk over one text.
pub(super) struct Scan<'t> {
    pub(super) text: &'t [u8],
    pub(super) redactor: &'t Redactor,
    spans: &'t mut Vec<Span>,
    // End of the last token of each kind, so that nothing is walked twice.
    token_ends: [usize; TokenAlphabet::COUNT],
    jwt_end: usize,
    private_key_end: usize,
    word_end: usize,
    pub(super) plain_end: usize,
    pub(super) encoded_end: usize,
    pub(super) line_end: usize,
    credential_end: usize,
    /// End of the span that reaches furthest.
    pub(super) covered: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t [u8], redactor: &'t Redactor, spans: &'t mut Vec<Span>) -> Self {
        Self {
            text,
            redactor,
            spans,
            token_ends: [0; TokenAlphabet::COUNT],
            jwt_end: 0,
            private_key_end: 0,
            word_end: 0,
            plain_end: 0,
            encoded_end: 0,
            line_end: 0,
            credential_end: 0,
            covered: 0,
        }
    }

    /// Looks at one position, and says how far to go on.
    fn look(&mut self, at: usize, hooks: u8) -> usize {
        if hooks & MARKS != 0
            && let Some(length) = self.redactor.mark_at(&self.text[at..])
        {
            return length;
        }
        if hooks & PREFIXES != 0 && PAIRS.hold(&self.text[at..]) {
            self.token(at);
        }
        if hooks & SCHEMES != 0 {
            self.scheme(at);
        }
        if hooks & COLONS != 0 {
            self.url(at);
        }
        if hooks & DASHES != 0 {
            self.private_key(at);
        }
        1
    }

    pub(super) fn found(&mut self, start: usize, end: usize, kind: &'static str) {
        if start < end && self.redactor.mark_at(&self.text[start..]) != Some(end - start) {
            self.spans.push(Span { start, end, kind: Kind::Shape(kind) });
            self.covered = self.covered.max(end);
        }
    }

    /// A name begins here. Does a secret follow it?
    fn word(&mut self, at: usize) {
        self.word_end = at + run(&self.text[at..], is_word);
        keys::look(self, at, self.word_end);
        let escape = escape_before(self.text, at);
        if escape > 0 && at + escape < self.word_end {
            keys::look(self, at + escape, self.word_end);
        }
    }

    fn token(&mut self, at: usize) {
        for token in TOKENS.iter().filter(|token| self.text[at..].starts_with(token.prefix.as_bytes())) {
            let Some(form) = &token.in_text else { continue };
            if let Some(end) = self.token_end(at, token, form) {
                return self.found(at, end, form.name);
            }
        }
        if self.text[at..].starts_with(b"eyJ") {
            self.jwt(at);
        }
    }

    fn token_end(&mut self, at: usize, token: &TokenFormat, form: &TokenInText) -> Option<usize> {
        if !form.anywhere && !begins_word(self.text, at) {
            return None;
        }
        let start = at + token.prefix.len();
        let known = &mut self.token_ends[form.alphabet as usize];
        if *known < start {
            *known = start + run(&self.text[start..], |byte| form.alphabet.holds(byte));
        }
        let body = &self.text[start..*known];
        (body.len() >= token.minimum && (!form.random || looks_random(body))).then_some(*known)
    }

    /// Three parts, of which the last may be missing or empty.
    fn jwt(&mut self, at: usize) {
        if at < self.jwt_end {
            return;
        }
        let part = |from: usize| from + run(&self.text[from..], |byte| TokenAlphabet::Dash.holds(byte));
        let header = part(at);
        self.jwt_end = header;
        if header - at < 10 || self.text.get(header) != Some(&b'.') {
            return;
        }
        let claims = part(header + 1);
        if claims - header < 8 {
            return;
        }
        let end = if self.text.get(claims) == Some(&b'.') { part(claims + 1) } else { claims };
        self.jwt_end = end;
        self.found(at, end, "jwt");
    }

    /// `Bearer X` and `Basic X` without the header's name.
    fn scheme(&mut self, at: usize) {
        let (length, kind) = match &self.text[at..] {
            rest if starts_with(rest, b"bearer") => (6, "bearer"),
            rest if starts_with(rest, b"basic") => (5, "basic"),
            _ => return,
        };
        if !begins_word(self.text, at) {
            return;
        }
        let Some(start) = after_space(self.text, at + length) else { return };
        if self.credential_end <= start {
            self.credential_end = start + run(&self.text[start..], is_credential);
        }
        let end = self.credential_end;
        let value = &self.text[start..end];
        let secret = match kind {
            "bearer" => value.len() >= 8 && looks_random(value),
            _ => names_and_password(value),
        };
        if secret {
            self.found(start, end, kind);
        }
    }

    /// `://user:X@host`, also when the whole URL is percent-encoded.
    fn url(&mut self, at: usize) {
        let (encoded, mut start) = match &self.text[at..] {
            rest if rest.starts_with(b"://") => (false, at + 3),
            rest if starts_with(rest, b"%3a%2f%2f") => (true, at + 9),
            _ => return,
        };
        let end = start + authority(&self.text[start..], encoded);
        let Some(host) = last(&self.text[start..end], b'@', encoded).map(|at| start + at) else { return };
        match self.colon(start, host, encoded) {
            Some(colon) => start = colon + if encoded { width(&self.text[colon..]) } else { 1 },
            None if host - start >= 16 && looks_random(&self.text[start..host]) => {}
            None => return,
        }
        self.found(start, host, "url-password");
    }

    /// The first colon that is not part of a mark.
    fn colon(&self, start: usize, end: usize, encoded: bool) -> Option<usize> {
        let mut at = start;
        while at < end && !stands(&self.text[at..], b':', encoded) {
            at += self.redactor.mark_at(&self.text[at..]).unwrap_or(1);
        }
        (at < end).then_some(at)
    }

    /// From BEGIN to END, or to the end of the text if it was cut off.
    fn private_key(&mut self, at: usize) {
        let Some(rest) = self.text[at..].strip_prefix(b"-----BEGIN") else { return };
        let label = &rest[..rest.len().min(64)];
        let Some(label) = find_in(label, b"-----").map(|end| &label[..end]) else { return };
        if at < self.private_key_end
            || find_in(label, b"PRIVATE").is_none()
            || find_in(label, b"KEY").is_none()
        {
            return;
        }
        let end = find_in(rest, b"-----END").and_then(|end| {
            let footer = &rest[end + 8..];
            find_in(&footer[..footer.len().min(64)], b"-----").map(|close| end + 8 + close + 5)
        });
        self.private_key_end = end.map_or(self.text.len(), |end| at + 10 + end);
        self.found(at, self.private_key_end, "private-key");
    }
}

const WORDS: u8 = 1;
const PREFIXES: u8 = 2;
const SCHEMES: u8 = 4;
const COLONS: u8 = 8;
const DASHES: u8 = 16;
const MARKS: u8 = 32;

/// Candidates that may begin with each byte. Most bytes of most texts begin a word at most.
static HOOKS: [u8; 256] = hooks();

const fn hooks() -> [u8; 256] {
    let mut hooks = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if is_word(byte) {
            hooks[byte as usize] |= WORDS;
        }
        byte += 1;
    }
    let mut row = 0;
    while row < TOKENS.len() {
        if TOKENS[row].in_text.is_some() {
            hooks[TOKENS[row].prefix.as_bytes()[0] as usize] |= PREFIXES;
        }
        row += 1;
    }
    hooks[b'e' as usize] |= PREFIXES;
    hooks[b'b' as usize] |= SCHEMES;
    hooks[b'B' as usize] |= SCHEMES;
    hooks[b':' as usize] |= COLONS;
    hooks[b'%' as usize] |= COLONS;
    hooks[b'-' as usize] |= DASHES;
    hooks[b'[' as usize] |= MARKS;
    hooks
}

/// The first two bytes of all prefixes: almost nothing in an ordinary text gets past this.
static PAIRS: Pairs = pairs();

const fn pairs() -> Pairs {
    let mut pairs = Pairs::none().with(b'e', b'y');
    let mut row = 0;
    while row < TOKENS.len() {
        let prefix = TOKENS[row].prefix.as_bytes();
        if TOKENS[row].in_text.is_some() {
            pairs = pairs.with(prefix[0], prefix[1]);
        }
        row += 1;
    }
    pairs
}

/// A set of pairs of ASCII characters, made when the program is compiled.
pub(super) struct Pairs([u128; 128]);

impl Pairs {
    pub(super) const fn none() -> Self {
        Self([0; 128])
    }

    pub(super) const fn with(mut self, first: u8, second: u8) -> Self {
        self.0[first as usize] |= 1 << second;
        self
    }

    /// Returns true if the first two bytes are one of the pairs.
    pub(super) fn hold(&self, text: &[u8]) -> bool {
        let [first @ 0..128, second @ 0..128, ..] = *text else { return false };
        self.0[usize::from(first)] >> second & 1 == 1
    }
}

/// Names are made of these.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

const fn is_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

/// Returns the number of leading bytes of one kind.
pub(super) fn run(text: &[u8], of: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !of(byte)).unwrap_or(text.len())
}

fn starts_with(text: &[u8], lower: &[u8]) -> bool {
    text.get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower))
}

/// Returns true if a word begins here: the byte before is no letter or digit, or only the end of an escape such as `%3D`,
/// `\n` or `\u003d`.
pub(super) fn begins_word(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let Some(last) = before.last() else { return true };
    !last.is_ascii_alphanumeric() || ends_escape(text, at)
}

fn ends_escape(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    let escape = |length: usize| before.len().checked_sub(length).map(|from| &before[from..]);
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    matches!(escape(2), Some([b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0']))
        || escape(3).is_some_and(|escape| escape[0] == b'%' && hex(&escape[1..]))
        || escape(4).is_some_and(|escape| escape.starts_with(b"\\x") && hex(&escape[2..]))
        || escape(6).is_some_and(|escape| escape.starts_with(b"\\u") && hex(&escape[2..]))
}

/// Returns the number of characters at the start of a word that belong to an escape, such as `20` of `%20`.
fn escape_before(text: &[u8], at: usize) -> usize {
    let escaped = at > 0 && matches!(text[at - 1], b'%' | b'\\');
    if escaped {
        (1..6).find(|&length| ends_escape(text, text.len().min(at + length))).unwrap_or(0)
    } else {
        0
    }
}

/// Returns true if this is unlikely as a word or a name: digits among letters, or capitals after the first letter. A
/// long value is judged by its beginning.
pub(super) fn looks_random(value: &[u8]) -> bool {
    let value = &value[..value.len().min(256)];
    let any = |of: fn(&u8) -> bool| value.iter().any(of);
    let (lower, digit) = (any(u8::is_ascii_lowercase), any(u8::is_ascii_digit));
    let upper_inside = value.iter().skip(1).any(u8::is_ascii_uppercase);
    (digit && any(u8::is_ascii_alphabetic)) || (upper_inside && lower) || (digit && value.len() >= 16)
}

/// Returns true if a group of a base64 text has a colon in it.
fn names_and_password(value: &[u8]) -> bool {
    let letter = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        _ => byte,
    };
    let value = &value[..value.len().min(512)];
    value.len() >= 8
        && value.chunks(4).any(|group| {
            let (mut letters, mut bytes) = ([b'='; 4], [0; 3]);
            letters.iter_mut().zip(group).for_each(|(to, from)| *to = letter(*from));
            LENIENT.decode_slice(letters, &mut bytes).is_ok() && bytes.contains(&b':')
        })
}

const LENIENT: GeneralPurpose = {
    let config = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&STANDARD, config.with_decode_padding_mode(DecodePaddingMode::Indifferent))
};

/// Past at least one blank, which may be encoded or escaped, and past a quote.
fn after_space(text: &[u8], at: usize) -> Option<usize> {
    let mut next = at;
    loop {
        next += match &text[next..] {
            [b' ' | b'\t' | b'+', ..] => 1,
            [b'\\', b' ', ..] => 2,
            [b'%', b'2', b'0', ..] => 3,
            _ => break,
        };
    }
    let quote = usize::from(matches!(text.get(next), Some(b'"' | b'\'')));
    (next > at).then_some(next + quote)
}

/// The length of what stands between `://` and the path.
fn authority(text: &[u8], encoded: bool) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let byte = if encoded { percent(&text[at..]).unwrap_or(byte) } else { byte };
        if byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
        {
            break;
        }
        at += if encoded { width(&text[at..]) } else { 1 };
    }
    at
}

fn width(text: &[u8]) -> usize {
    if percent(text).is_some() { 3 } else { 1 }
}

fn last(text: &[u8], wanted: u8, encoded: bool) -> Option<usize> {
    (0..text.len()).rev().find(|&at| stands(&text[at..], wanted, encoded))
}

fn stands(text: &[u8], wanted: u8, encoded: bool) -> bool {
    text[0] == wanted || (encoded && percent(text) == Some(wanted))
}

fn find_in(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
