//! Characters written as numbers: `\x63`, `\u0063`, `\143`, `%63`, `&#99;`, `&lt;`.

use std::ops::Range;

use super::Replacement;

/// Minimum number of escapes that belong together before they count as a way to hide something.
const MIN: usize = 4;

/// Maximum number of other bytes between two that belong together.
const MAX_GAP: usize = 8;

/// A character, and where it is written as a number.
type Escape = (Range<usize>, char);

/// Everything in a text that is written as numbers.
pub(super) fn replacements(text: &str) -> Vec<Replacement> {
    let mut found = clusters(text, b'\\', backslash, "escapes");
    found.extend(clusters(text, b'%', percent, "percent escapes"));
    found.extend(entities(text));
    found
}

/// The escapes that stand close together, if most of them are letters that do not need an escape.
fn clusters(
    text: &str,
    sign: u8,
    read: fn(&[u8]) -> Option<(usize, char)>,
    from: &'static str,
) -> Vec<Replacement> {
    let (mut found, mut cluster): (Vec<Replacement>, Vec<Escape>) = (Vec::new(), Vec::new());
    let bytes = text.as_bytes();
    let mut end = 0;
    for at in memchr::memchr_iter(sign, bytes) {
        if at < end {
            continue;
        }
        let Some((length, c)) = read(&bytes[at + 1..]) else { continue };
        if cluster.last().is_some_and(|(last, _)| at > last.end + MAX_GAP) {
            flush(&mut cluster, from, &mut found);
        }
        end = at + 1 + length;
        cluster.push((at..end, c));
    }
    flush(&mut cluster, from, &mut found);
    found
}

fn flush(cluster: &mut Vec<Escape>, from: &'static str, found: &mut Vec<Replacement>) {
    let letters = cluster.iter().filter(|(_, c)| c.is_ascii_alphanumeric()).count();
    let hides = cluster.len() >= MIN && letters >= MIN.min(cluster.len()) && 2 * letters >= cluster.len();
    for (range, c) in cluster.drain(..) {
        if hides && (!c.is_control() || matches!(c, '\t' | '\n')) {
            found.push(Replacement { range, text: c.to_string(), from });
        }
    }
}

/// Returns what a backslash begins: the length behind it, and the character.
fn backslash(rest: &[u8]) -> Option<(usize, char)> {
    match rest.first()? {
        b'x' => Some((3, number(rest.get(1..3)?, 16)?)),
        b'u' if rest.get(1) == Some(&b'{') => {
            let digits = rest[2..].iter().take(7).take_while(|byte| byte.is_ascii_hexdigit()).count();
            (rest.get(2 + digits) == Some(&b'}')).then_some(())?;
            Some((3 + digits, number(&rest[2..2 + digits], 16)?))
        }
        b'u' => Some((5, number(rest.get(1..5)?, 16)?)),
        b'U' => Some((9, number(rest.get(1..9)?, 16)?)),
        b'0'..=b'3' => Some((3, number(rest.get(..3)?, 8)?)),
        _ => None,
    }
}

fn percent(rest: &[u8]) -> Option<(usize, char)> {
    Some((2, number(rest.get(..2)?, 16).filter(char::is_ascii)?))
}

fn number(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

/// The entities of HTML, if there is one that is needed for a tag.
fn entities(text: &str) -> Vec<Replacement> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut matters = false;
    for at in memchr::memchr_iter(b'&', bytes) {
        let Some((length, c)) = entity(&bytes[at + 1..]) else { continue };
        matters |= matches!(c, '<' | '>' | '[' | '|') || bytes.get(at + 1) == Some(&b'#');
        found.push(Replacement { range: at..at + 1 + length, text: c.to_string(), from: "entities" });
    }
    if matters { found } else { Vec::new() }
}

fn entity(rest: &[u8]) -> Option<(usize, char)> {
    let end = rest.iter().take(10).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(&rest[..end]).ok()?;
    let c = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits.as_bytes(), 16)?,
            None => number(digits.as_bytes(), 10)?,
        },
        None => ENTITIES.iter().find(|(entity, _)| *entity == name)?.1,
    };
    (!c.is_control() || matches!(c, '\t' | '\n')).then_some((end + 1, c))
}

const ENTITIES: &[(&str, char)] = &[
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("sol", '/'),
    ("lbrack", '['),
    ("lsqb", '['),
    ("rbrack", ']'),
    ("rsqb", ']'),
    ("vert", '|'),
    ("verbar", '|'),
    ("colon", ':'),
    ("period", '.'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("lpar", '('),
    ("rpar", ')'),
    ("grave", '`'),
    ("hyphen", '-'),
    ("lowbar", '_'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
];
