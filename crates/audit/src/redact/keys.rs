//! `name=value`, `"name": "value"`, `--name value`: a secret because of the name it is given.

use super::literal::percent;
use super::scan::{Pairs, Scan, begins_word, looks_random, run};
use crate::redact::row::{Key, Variable};
use crate::tables::secrets::{KEYS, NOT_KEYS, NOT_VALUES, QUALIFIERS};

/// Separator between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// `name=value`
    Tight,
    /// `name: value`, `name = value`
    Loose,
    /// `--name value`
    Flag,
    /// `name%3Dvalue`
    Encoded,
    /// `"--name", "value"`
    Listed,
}

/// Separator and value after a name.
struct Joined {
    join: Join,
    /// Start of the value, its quotes included.
    at: usize,
    /// True if something closed the name first, as in `"name": …`.
    closed: bool,
}

/// A value, without its quotes.
struct Value {
    start: usize,
    end: usize,
    quoted: bool,
}

/// Looks at the word `start..end`: if it is the name of a secret, its value is one.
pub(super) fn look(scan: &mut Scan<'_>, start: usize, end: usize) {
    let named = end - qualified(&scan.text[start..end]);
    if !may_be_a_name(&scan.text[start..named]) {
        return;
    }
    if let Some(header) = header(&scan.text[start..end]) {
        look_at_header(scan, start, end, header);
    } else if let Some(key) = key(scan.text, start, named) {
        look_at_key(scan, start, end, key);
    }
}

fn look_at_key(scan: &mut Scan<'_>, start: usize, end: usize, key: &'static Key) {
    // Once everything up to the end is covered, there is nothing left to find.
    if scan.covered == scan.text.len() {
        return;
    }
    let Some(joined) = joined(scan.text, start, end) else { return };
    let Some(value) = value(scan, start, &joined) else { return };
    let text = &scan.text[value.start..value.end];
    let careful = key.cautious && !value.quoted && matches!(joined.join, Join::Loose | Join::Flag);
    if is_ordinary(text, &value, key) || (careful && !looks_secret(scan, &value)) {
        return;
    }
    scan.found(value.start, value.end, key.name);
}

fn look_at_header(scan: &mut Scan<'_>, start: usize, end: usize, header: Header) {
    let Some(joined) = joined(scan.text, start, end) else { return };
    // Within a header's value there is no other header.
    if matches!(joined.join, Join::Listed | Join::Flag) || joined.at < scan.covered {
        return;
    }
    let value = quoted(scan.text, joined.at).unwrap_or_else(|| line(scan, joined.at, joined.join));
    let text = scan.text[value.start..value.end].trim_ascii_end();
    if is_listed(NOT_VALUES, text) || (header == Header::Cookie && !names_a_cookie(text)) {
        return;
    }
    scan.found(value.start, value.start + text.len(), "authorization");
}

fn value(scan: &mut Scan<'_>, name: usize, joined: &Joined) -> Option<Value> {
    if let Some(value) = quoted(scan.text, joined.at) {
        // In `grep "token="` the quote ends the text that the name stands in; it begins no value.
        let ends_text = !joined.closed && name > 0 && scan.text[name - 1] == scan.text[value.start - 1];
        return (!ends_text).then_some(value);
    }
    match joined.join {
        Join::Listed => None,
        Join::Encoded => Some(encoded(scan, joined.at)),
        Join::Flag if scan.text[joined.at..].starts_with(b"--") => None,
        Join::Tight | Join::Loose | Join::Flag => Some(plain(scan, joined.at)),
    }
}

/// The last two letters tell almost every other word apart.
fn may_be_a_name(word: &[u8]) -> bool {
    let [.., before, last] = *word else { return false };
    ENDS.hold(&[before.to_ascii_lowercase(), last.to_ascii_lowercase()])
}

static ENDS: Pairs = ends();

const fn ends() -> Pairs {
    let mut pairs = Pairs::none().with(b'o', b'n').with(b'i', b'e');
    let mut row = 0;
    while row < KEYS.len() {
        let word = KEYS[row].word.as_bytes();
        pairs = pairs.with(word[word.len() - 2], word[word.len() - 1]);
        row += 1;
    }
    pairs
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Authorization,
    Cookie,
}

fn header(word: &[u8]) -> Option<Header> {
    let ends = |name: &str| {
        let start = word.len().checked_sub(name.len());
        start.is_some_and(|start| {
            word[start..].eq_ignore_ascii_case(name.as_bytes())
                && (start == 0 || !word[start - 1].is_ascii_alphanumeric())
        })
    };
    if ends("authorization") {
        Some(Header::Authorization)
    } else if ends("cookie") {
        Some(Header::Cookie)
    } else {
        None
    }
}

/// The row whose word the name ends with.
fn key(text: &[u8], start: usize, end: usize) -> Option<&'static Key> {
    let word = &text[start..end];
    let variable = is_variable(word);
    let key = KEYS.iter().find(|key| {
        let longer = !key.whole || (variable && key.variable == Variable::Also);
        let counts = variable || key.variable != Variable::Only;
        counts
            && ends_with(word, key.word.as_bytes()).is_some_and(|at| longer || starts_apart(text, start + at))
    })?;
    (!is_exception(word)).then_some(key)
}

/// PWD is a directory and BYPASS a switch; `MYSQL_PWD` is neither.
fn is_exception(word: &[u8]) -> bool {
    NOT_KEYS.iter().any(|exception| match *exception {
        "PWD" | "OLDPWD" => word == exception.as_bytes(),
        other => word.ends_with(other.as_bytes()),
    })
}

/// A variable of the environment, as they are usually written.
fn is_variable(word: &[u8]) -> bool {
    let capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    word.first().is_some_and(|byte| !byte.is_ascii_digit()) && word.iter().all(capital)
}

/// The length of what stands behind the name proper in `DB_PASSWORD_PROD` and `TOKEN_2`.
fn qualified(word: &[u8]) -> usize {
    if !is_variable(word) {
        return 0;
    }
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        let before = &word[..word.len() - digits];
        return digits + usize::from(before.ends_with(b"_"));
    }
    let ends = |qualifier: &&str| {
        word.strip_suffix(qualifier.as_bytes()).is_some_and(|before| before.ends_with(b"_"))
    };
    QUALIFIERS.iter().find(|qualifier| ends(qualifier)).map_or(0, |qualifier| qualifier.len() + 1)
}

/// Returns the start of the word that `name` ends with, ignoring `_` and `-`.
fn ends_with(name: &[u8], word: &[u8]) -> Option<usize> {
    let mut at = name.len();
    for &wanted in word.iter().rev() {
        loop {
            at = at.checked_sub(1)?;
            match name[at] {
                // Never at the very end: `token-` is not a token.
                b'_' | b'-' if at + 1 < name.len() => {}
                byte if byte.eq_ignore_ascii_case(&wanted) => break,
                _ => return None,
            }
        }
    }
    Some(at)
}

/// At the beginning of a word, or of a hump as in `dbPass`.
fn starts_apart(text: &[u8], at: usize) -> bool {
    begins_word(text, at) || (text[at].is_ascii_uppercase() && text[at - 1].is_ascii_lowercase())
}

/// Finds the separator that joins the name `start..end` to a value.
fn joined(text: &[u8], start: usize, end: usize) -> Option<Joined> {
    let (closed, at) = past_closing(text, end);
    let (blank, at) = past_blanks(text, at);
    let (join, at) = match &text[at..] {
        [b'=', b'>', ..] | [b':', b'=', ..] => (Join::Loose, at + 2),
        [b'=', b'=', ..] => (Join::Loose, at + run(&text[at..], |byte| byte == b'=')),
        [b'=', ..] => (if blank { Join::Loose } else { Join::Tight }, at + 1),
        [b':', b':', ..] => return None,
        [b':', ..] => (Join::Loose, at + 1),
        [b',', ..] if closed && is_flag(text, start) => (Join::Listed, at + 1),
        [b'%', b'3', b'D' | b'd' | b'A' | b'a', ..] => (Join::Encoded, at + 3),
        _ if blank && !closed && is_flag(text, start) => (Join::Flag, at),
        _ => return None,
    };
    let (blank, at) = past_blanks(text, at);
    let join = if blank && join == Join::Tight { Join::Loose } else { join };
    Some(Joined { join, at, closed })
}

/// Past what closes a name: quotes, brackets, escaped or encoded.
fn past_closing(text: &[u8], mut at: usize) -> (bool, usize) {
    let start = at;
    while at < start + 8 {
        at += match &text[at..] {
            [b'"' | b'\'' | b'`' | b']', ..] => 1,
            [b'\\', ..] if closes_after_backslashes(&text[at..]) => 1,
            [b'%', b'2', b'2' | b'7', ..] | [b'%', b'5', b'D' | b'd', ..] => 3,
            _ => break,
        };
    }
    (at > start, at)
}

fn closes_after_backslashes(text: &[u8]) -> bool {
    let backslashes = run(&text[..text.len().min(8)], |byte| byte == b'\\');
    matches!(text.get(backslashes), Some(b'"' | b'\''))
}

fn past_blanks(text: &[u8], at: usize) -> (bool, usize) {
    let mut next = at;
    loop {
        next += match &text[next..] {
            [b' ' | b'\t', ..] => 1,
            [b'%', b'2', b'0', ..] => 3,
            _ => break,
        };
    }
    (next > at, next)
}

/// `--name` or `-name`.
fn is_flag(text: &[u8], start: usize) -> bool {
    text.get(start) == Some(&b'-')
}

/// A quoted value, from its opening quote to the closing one, or to the end of the text if that was cut off.
///
/// A quote inside a quoted text is escaped: `\"` opens here, and `\"` closes.
fn quoted(text: &[u8], at: usize) -> Option<Value> {
    if let Some(quote @ (b'"' | b'\'')) = percent(&text[at..]) {
        let start = at + 3;
        let close = (start..text.len()).find(|&at| percent(&text[at..]) == Some(quote));
        return Some(Value { start, end: close.unwrap_or(text.len()), quoted: true });
    }
    // Languages put letters before a string: `b"…"`, `rb'…'`, `$'…'`.
    let prefix = run(&text[at..text.len().min(at + 2)], |byte| {
        matches!(byte, b'a'..=b'z' | b'L' | b'$' | b'@' | b'&')
    });
    let backslashes = run(&text[at + prefix..], |byte| byte == b'\\');
    let open = at + prefix + backslashes;
    let &quote = text.get(open).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    let start = open + 1;
    let end = closing(text, start, quote, backslashes);
    Some(Value { start, end, quoted: true })
}

/// Returns the start of the closing quote, its backslashes included.
pub(super) fn closing(text: &[u8], start: usize, quote: u8, most: usize) -> usize {
    let mut backslashes = 0;
    for (at, &byte) in text.iter().enumerate().skip(start) {
        if byte == quote && backslashes <= most {
            return at - backslashes;
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
    }
    text.len()
}

/// A value without quotes: as far as a shell would take it for one word.
fn plain(scan: &mut Scan<'_>, start: usize) -> Value {
    if scan.plain_end <= start {
        scan.plain_end = plain_end(scan.text, start);
    }
    Value { start, end: scan.plain_end, quoted: false }
}

fn plain_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        at += match byte {
            b'\\' if matches!(text.get(at + 1), Some(b'"' | b'\'' | b'n' | b'r' | b't') | None) => break,
            b'\\' => 2,
            b'"' | b'\'' | b'`' | b'&' | b';' | b'|' | b'<' | b'>' | b'(' | b')' => break,
            byte if byte.is_ascii_whitespace() => break,
            _ => 1,
        };
    }
    at.min(text.len())
}

/// A value in a text that is percent-encoded as a whole: it ends at an encoded separator, too.
fn encoded(scan: &mut Scan<'_>, start: usize) -> Value {
    if scan.encoded_end <= start {
        let plain = plain_end(scan.text, start);
        let separates =
            |&at: &usize| percent(&scan.text[at..]).is_some_and(|byte| b"& \"',;\n\r}".contains(&byte));
        scan.encoded_end = (start..plain).find(separates).unwrap_or(plain);
    }
    Value { start, end: scan.encoded_end, quoted: false }
}

/// The rest of the line, or of the quoted text that the line stands in.
fn line(scan: &mut Scan<'_>, start: usize, join: Join) -> Value {
    if scan.line_end <= start {
        scan.line_end = line_end(scan.text, start, join == Join::Encoded);
    }
    Value { start, end: scan.line_end, quoted: false }
}

fn line_end(text: &[u8], start: usize, encoded: bool) -> usize {
    let ends = |at: &usize| match text[*at..] {
        [b'\n' | b'\r' | b'"' | b'\'' | b'`', ..] | [b'\\', b'n' | b'r' | b'"' | b'\'', ..] => true,
        [b'%', ..] if encoded => matches!(percent(&text[*at..]), Some(b'\n' | b'\r' | b'"' | b'\'')),
        _ => false,
    };
    (start..text.len()).find(ends).unwrap_or(text.len())
}

/// The name of a cookie is short.
fn names_a_cookie(text: &[u8]) -> bool {
    text.iter().take(256).any(|&byte| byte == b'=')
}

/// Words that are common in prose and code need more than a neighbour to be believed.
fn looks_secret(scan: &Scan<'_>, value: &Value) -> bool {
    let text = &scan.text[value.start..value.end];
    text.len() >= 8 && looks_random(&without_marks(scan, text))
}

/// Removes marks that we left: they are not random, under any name.
fn without_marks(scan: &Scan<'_>, value: &[u8]) -> Vec<u8> {
    let value = &value[..value.len().min(512)];
    let mut out = Vec::new();
    let mut at = 0;
    while at < value.len() {
        let mark = scan.redactor.mark_at(&value[at..]);
        out.extend(mark.is_none().then_some(value[at]));
        at += mark.unwrap_or(1);
    }
    out
}

/// Returns true for values that are no secret under any name: a switch, a type, a small number, a variable that holds it.
fn is_ordinary(text: &[u8], value: &Value, key: &Key) -> bool {
    let after = text.iter().rev().take(8).take_while(|byte| b",;:.?)]}".contains(byte)).count();
    let bare = &text[..text.len() - after];
    let small = key.cautious && bare.len() < 6 && bare.iter().all(u8::is_ascii_digit);
    bare.is_empty() || small || is_listed(NOT_VALUES, bare) || is_reference(text, value.quoted)
}

/// A variable or a substitution holds the secret; the text does not.
pub(super) fn is_reference(text: &[u8], quoted: bool) -> bool {
    let variable = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    match text {
        [b'$', b'{', inner @ .., b'}'] => {
            inner.iter().all(|byte| variable(byte) || byte.is_ascii_lowercase())
        }
        [b'$', b'(', ..] => quoted,
        // The value of `name=$(command)` ends at the bracket.
        [b'$'] => !quoted,
        [b'$', rest @ ..] => rest.iter().all(variable),
        _ => false,
    }
}

fn is_listed(list: &[&str], text: &[u8]) -> bool {
    list.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(text))
}
