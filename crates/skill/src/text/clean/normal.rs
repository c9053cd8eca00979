//! One way to write each letter: NFKC.

use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::{Counts, Step};

/// The text in its plain form, if it was not.
pub(super) fn normalised(text: &str, counts: &mut Counts) -> Option<Step> {
    if runs(text).all(|run| is_nfkc_quick(text[run].chars()) == IsNormalized::Yes) {
        return None;
    }
    let mut step = Step::with_capacity(text.len());
    let mut copied = 0;
    for run in runs(text) {
        // The letter before it can become one with what follows.
        let mut from = run.start.saturating_sub(1).max(copied);
        step.copy(text, copied..from);
        for (at, c) in text[run.clone()].char_indices() {
            let at = run.start + at;
            if at > from && begins(c) {
                piece(&mut step, text, from..at, counts);
                from = at;
            }
        }
        piece(&mut step, text, from..run.end, counts);
        copied = run.end;
    }
    step.copy(text, copied..text.len());
    (step.text != text).then_some(step)
}

/// The stretches of a text that are not ASCII. What is has only one form, and begins anew.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let blocks = bytes[at..].chunks(BLOCK).take_while(|block| block.is_ascii());
        let from = (at + blocks.count() * BLOCK).min(bytes.len());
        let start = from + bytes[from..].iter().position(|byte| !byte.is_ascii())?;
        at = bytes[start..].iter().position(u8::is_ascii).map_or(bytes.len(), |length| start + length);
        Some(start..at)
    })
}

/// Number of bytes that are looked at together.
const BLOCK: usize = 64;

/// Returns true if letters are written in an unusual form. Signs that people type, and that are no letters in any form, do not count.
pub(crate) fn is_unusual(text: &str) -> bool {
    runs(text).any(|run| is_nfkc_quick(text[run].chars().filter(|c| !is_usual(*c))) != IsNormalized::Yes)
}

/// Dots, signs, small numbers and fractions; nothing that a word or a command could be written with.
fn is_usual(c: char) -> bool {
    matches!(
        c,
        '\u{2026}' | '\u{2122}' | '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{bc}'..='\u{be}' | '\u{b5}' | '\u{2074}'..='\u{2079}' | '\u{2080}'..='\u{2089}' | '\u{2460}'..='\u{2473}' | '\u{2103}'
    )
}

/// One stretch that nothing before or behind it has to do with.
fn piece(step: &mut Step, text: &str, range: Range<usize>, counts: &mut Counts) {
    let from = &text[range.clone()];
    if from.is_ascii() || is_nfkc_quick(from.chars()) == IsNormalized::Yes {
        step.copy(text, range);
        return;
    }
    let normal: String = from.nfkc().collect();
    if normal == from {
        step.copy(text, range);
    } else {
        counts.normalised += 1;
        step.make(&normal, range);
    }
}

/// Returns true if a character never becomes one with what stands before it.
fn begins(c: char) -> bool {
    if c.is_ascii() {
        return true;
    }
    let first = std::iter::once(c).nfkd().next().unwrap_or(c);
    canonical_combining_class(first) == 0 && is_nfkc_quick(std::iter::once(first)) == IsNormalized::Yes
}
