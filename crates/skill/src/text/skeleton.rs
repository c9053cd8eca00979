//! Words written with letters of another script that look like those of ours.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

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

/// Returns the plain letter that a letter of another script looks like.
fn looks_like(c: char) -> Option<char> {
    static PLAIN: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let rows = LOOK_ALIKES.lines().filter_map(|line| line.split_once(' '));
        rows.flat_map(|(plain, others)| {
            let others = others.split(' ').filter_map(|code| u32::from_str_radix(code, 16).ok());
            others.filter_map(char::from_u32).zip(plain.chars().cycle())
        })
        .collect()
    });
    if candidate(c) { PLAIN.get(&c).copied() } else { None }
}

/// Returns true if a letter belongs to a script with letters that look like ours.
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

/// Table: plain letters, and the code points that look like each. Those of UTS 39 that have one plain letter for a prototype, and some
/// that the standard likens to another letter, or to none, and that are used for these.
const LOOK_ALIKES: &str = "\
2 1a7 3e8
3 1b7 21c 417 4e0 545 2c9c 2cc4 2ccc
4 13ce ab9e
5 1bc
6 3ec 431 13ee 2cd2 2cd3 2cdc abbe
8 222 223
9 2cca 2ccb
A 391 410 13aa a4ee
B 392 412 13f4 2c82 a4d0
C 3f9 421 13df 2ca4 a4da
D 13a0 a4d3
E 395 415 13ac a4f0
F 3dc a4dd
G 50c 13c0 13f3 a4d6
H 397 41d 13bb 2c8e a4e7
I 399 406
J 37f 408 13ab a4d9
K 39a 41a 13e6 2c94 a4d7
L 13de 2cd0 a4e1
M 39c 3fa 41c 13b7 2c98 a4df
N 39d 2c9a a4e0
O 39f 41e 555 2c9e a4f3
P 3a1 420 13e2 2ca2 2cce a4d1
Q 51a
R 1a6 24c 13a1 13d2 a4e3
S 405 54f 13d5 13da a4e2
T 3a4 422 13a2 2ca6 a4d4
U 54d a4f4
V 474 13d9 a4e6
W 51c 13b3 13d4 a4ea
X 3a7 425 2cac a4eb
Y 3a5 3d2 423 4ae 13a9 13bd 2ca8 a4ec
Z 396 13c3 2c8c a4dc
a 251 3b1 430
b 184 42c 432 13cf
c 3f2 441 1d04 2ca5 abaf
d 501 13e7 a4d2
e 435 4bd
f 192 284 584
g 18d 261 581 1d83
h 43d 4ba 4bb 570 13c2
i 269 26a 3b9 456 582 13a5 2c93 ab75
j 237 3f3 458 575
k 3ba 43a
l 196 1c0 4c0 4cf 2c92 a4f2
m 43c
n 3b7 43f 578 57c
o 3bf 3c3 3ed 43e 585 1d0f 1d11 2c9f
p 1bf 3c1 3f1 3f8 440 2ca3 2ccf
q 51b 563 566
r 433 1d26 2c85 ab81
s 1bd 455 abaa
t 3c4 442
u 28b 3c5 438 57d 1d1c
v 3bd 475 1d20 aba9
w 26f 448 461 51d 561 1d21 2cbd ab83 aba4
x 445
y 263 28f 3b3 443 4af 1d8c 2ca9
z 1d22 2c8d ab93
";

/// Letters of the table that have another prototype in the standard, or none.
#[cfg(test)]
const ALSO: &[char] = &[
    '\u{406}', '\u{399}', '\u{43a}', '\u{3ba}', '\u{43c}', '\u{442}', '\u{3c4}', '\u{43d}', '\u{432}',
    '\u{433}', '\u{438}', '\u{43f}', '\u{3b7}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_standard() {
        for c in ('\0'..=char::MAX).filter(|c| !ALSO.contains(c)) {
            let mut letter = [0; 4];
            let prototype: Vec<char> = unicode_security::skeleton(c.encode_utf8(&mut letter)).collect();
            let plain = match prototype[..] {
                [plain] if candidate(c) && plain.is_ascii_alphanumeric() => Some(plain),
                _ => None,
            };
            assert_eq!(looks_like(c), plain, "{c:?}");
        }
        assert!(ALSO.iter().all(|c| looks_like(*c).is_some()));
    }

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
