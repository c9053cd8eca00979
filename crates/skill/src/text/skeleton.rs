//! Words written with letters of another script that look like those of ours.

use std::ops::Range;

use policy::{has_look_alikes, looks_like};

use crate::text::map::Map;

/// Maximum number of words of one text that are looked at. More than that is another language.
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
        if has_look_alikes(c) {
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

/// Returns the look of a word, if it differs from the word.
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

/// Returns true if the words next to a word are plain ones.
fn is_among_plain(text: &str, word: &Range<usize>) -> bool {
    let before = text[..word.start].bytes().rev().take(4).find(|byte| !byte.is_ascii_whitespace());
    let behind = text[word.end..].bytes().take(4).find(|byte| !byte.is_ascii_whitespace());
    let near = [before, behind];
    near.iter().flatten().all(u8::is_ascii) && near.iter().flatten().any(u8::is_ascii_alphanumeric)
}

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
