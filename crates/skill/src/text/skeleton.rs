//! Words written with letters of another script that look like those of ours.

use std::ops::Range;

use crate::text::map::Map;

/// How many words of one text are looked at. More than that is another language.
const MAX_WORDS: usize = 10_000;

/// The text with plain letters in such words, if there are any.
pub(crate) fn skeleton(text: &str) -> Option<(String, Map)> {
    let words = words(text);
    if words.is_empty() {
        return None;
    }
    let (mut plain, mut map, mut at) = (String::with_capacity(text.len()), Map::default(), 0);
    for (range, word) in words {
        map.copied(plain.len(), at..range.start);
        plain.push_str(&text[at..range.start]);
        map.made(plain.len(), range.clone());
        plain.push_str(&word);
        at = range.end;
    }
    map.copied(plain.len(), at..text.len());
    plain.push_str(&text[at..]);
    Some((plain, map))
}

/// The words that mix scripts, or are foreign among plain ones, with what they look like.
pub(crate) fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let mut at = 0;
    while let Some(word) = next_word(text, at) {
        at = word.end;
        if let Some(plain) = looked_at(text, &word) {
            found.push((word, plain));
            if found.len() == MAX_WORDS {
                break;
            }
        }
    }
    found
}

/// The next word with a letter that is not ASCII.
fn next_word(text: &str, mut at: usize) -> Option<Range<usize>> {
    loop {
        let foreign = at + text.as_bytes()[at..].iter().position(|byte| !byte.is_ascii())?;
        let c = text[foreign..].chars().next()?;
        if candidate(c) {
            let start = text[at..foreign].bytes().rposition(|byte| !byte.is_ascii_alphanumeric());
            let start = start.map_or(at, |before| at + before + 1);
            let length = text[foreign..].find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len() - foreign);
            if length > 0 {
                return Some(start..foreign + length);
            }
        }
        at = foreign + c.len_utf8();
    }
}

/// What a word looks like, if it is not what it looks like.
fn looked_at(text: &str, word: &Range<usize>) -> Option<String> {
    let written = &text[word.clone()];
    let plain: String = written.chars().map(|c| looks_like(c).unwrap_or(c)).collect();
    if plain == written {
        return None;
    }
    let mixed = written.bytes().any(|byte| byte.is_ascii_alphabetic());
    let foreign = plain.len() >= 3 && plain.is_ascii() && is_among_plain(text, word);
    (mixed || foreign).then_some(plain)
}

/// Whether the words next to a word are plain ones.
fn is_among_plain(text: &str, word: &Range<usize>) -> bool {
    let before = text[..word.start].bytes().rev().take(4).find(|byte| !byte.is_ascii_whitespace());
    let behind = text[word.end..].bytes().take(4).find(|byte| !byte.is_ascii_whitespace());
    let near = [before, behind];
    near.iter().flatten().all(u8::is_ascii) && near.iter().flatten().any(u8::is_ascii_alphanumeric)
}

/// The plain letter that a letter of another script looks like.
fn looks_like(c: char) -> Option<char> {
    if !candidate(c) {
        return None;
    }
    if let Some((_, plain)) = ALSO.iter().find(|(other, _)| *other == c) {
        return Some(*plain);
    }
    let mut letter = [0; 4];
    let mut prototype = unicode_security::skeleton(c.encode_utf8(&mut letter));
    let first = prototype.next().filter(char::is_ascii_alphanumeric)?;
    prototype.next().is_none().then_some(first)
}

/// Whether a letter belongs to a script with letters that look like ours.
fn candidate(c: char) -> bool {
    matches!(
        c,
        '\u{180}'..='\u{2af}'
            | '\u{370}'..='\u{58f}'
            | '\u{13a0}'..='\u{13ff}'
            | '\u{1d00}'..='\u{1dbf}'
            | '\u{2c80}'..='\u{2cff}'
            | '\u{a4d0}'..='\u{a4ff}'
            | '\u{ab70}'..='\u{abbf}'
    )
}

/// Letters that the standard likens to another one, or to none, and that are used for these.
const ALSO: &[(char, char)] = &[
    ('\u{406}', 'I'),
    ('\u{399}', 'I'),
    ('\u{43a}', 'k'),
    ('\u{3ba}', 'k'),
    ('\u{43c}', 'm'),
    ('\u{442}', 't'),
    ('\u{3c4}', 't'),
    ('\u{43d}', 'h'),
    ('\u{432}', 'b'),
    ('\u{433}', 'r'),
    ('\u{438}', 'u'),
    ('\u{43f}', 'n'),
    ('\u{3b7}', 'n'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_letters_become_plain_where_they_pretend() {
        let rows = [
            ("Ign\u{43e}re \u{430}ll previ\u{43e}us", Some("Ignore all previous")),
            ("run \u{441}\u{443}\u{440} here", Some("run cyp here")),
            ("\u{455}\u{443}\u{455}tem", Some("system")),
            ("\u{3bb}-calculus with \u{3b1} and \u{3b2}", None),
            ("\u{43d}\u{43e}\u{441} \u{440}\u{43e}\u{442}", None),
            ("\u{5e9}\u{5dc}\u{5d5}\u{5dd} world", None),
            ("caf\u{e9} na\u{ef}ve \u{845b}\u{57ce}", None),
            // Marks of such a script are no words.
            ("a \u{375} b \u{387} c\u{37e}", None),
        ];
        for (text, expected) in rows {
            assert_eq!(skeleton(text).map(|(plain, _)| plain).as_deref(), expected, "{text}");
        }
    }
}
