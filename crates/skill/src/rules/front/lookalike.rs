//! A skill with a name that is nearly a known one.

use super::super::supply::nearest;
use super::names::{PRODUCTS, SKILLS, WORDS};
use super::{name_in, skill_files};
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::{Words, words};

pub(super) const RULE: Rule = Rule {
    id: "FRONT_LOOKALIKE",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a skill with a name that is nearly a known one",
    why: "Names that are one letter off are published to be installed by mistake.",
    fix: "look up the skill or the product by its right name",
    places: ANYWHERE,
    anchors: words!["\nname:"],
    check: Check::Skill(hits),
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    skill_files(skill)
        .filter_map(|view| {
            let name = name_in(&view.text)?;
            let (known, severity) = resembles(&view.text[name.clone()])?;
            let note = Some(format!("nearly `{known}`"));
            Some(SkillHit { entry: view.entry, span: name, note, severity: Some(severity) })
        })
        .collect()
}

fn resembles(name: &str) -> Option<(&'static str, Severity)> {
    // A capital among small letters that looks like a small one.
    let words = || name.split(['-', '_', ' ']);
    let hidden = |word: &str| {
        let small = word.chars().filter(char::is_ascii_lowercase).count();
        word.len() >= 3 && small + 1 == word.len() && word.find('I').is_some_and(|at| at > 0)
    };
    if words().any(hidden) && words().all(|word| !word.starts_with(|c: char| c.is_ascii_uppercase())) {
        return Some(("l", Severity::Critical));
    }
    let name = name.to_ascii_lowercase();
    let product = || words().find_map(|word| swapped(&word.to_ascii_lowercase(), PRODUCTS));
    if let Some(known) = nearest(&name, SKILLS).or_else(product) {
        return Some((known, Severity::Critical));
    }
    let word = words().find_map(|word| swapped(&word.to_ascii_lowercase(), WORDS));
    word.map(|known| (known, Severity::Warning))
}

/// Finds the word that this one misspells: two letters swapped, one doubled, a digit for the letter that it looks like.
/// A letter for another is no error but a word: `motion` is not `notion`.
fn swapped(word: &str, list: Words) -> Option<&'static str> {
    if word.len() < 6 || list.contains(word) {
        return None;
    }
    list.iter().find(|known| is_typo(word.as_bytes(), known.as_bytes()))
}

fn is_typo(word: &[u8], known: &[u8]) -> bool {
    let same = word.iter().zip(known).take_while(|(a, b)| a == b).count();
    let (Some(rest), Some(right)) = (word.get(same..), known.get(same..)) else { return false };
    let swap = rest.len() == right.len()
        && rest.len() >= 2
        && (rest[0], rest[1]) == (right[1], right[0])
        && rest[0] != rest[1]
        && rest[2..] == right[2..];
    let twice = same > 0 && rest.len() == right.len() + 1 && rest[0] == word[same - 1] && rest[1..] == *right;
    let alike = [(b'0', b'o'), (b'1', b'l'), (b'1', b'i'), (b'3', b'e'), (b'5', b's'), (b'4', b'a')];
    let digit = rest.len() == right.len()
        && !rest.is_empty()
        && alike.contains(&(rest[0], right[0]))
        && rest[1..] == right[1..];
    swap || twice || digit
}
