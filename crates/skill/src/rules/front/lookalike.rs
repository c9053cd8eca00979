//! A skill with a name that is nearly a known one.

use super::super::supply::nearest;
use super::names::{PRODUCTS, SKILLS, WORDS};
use super::skill_files;
use crate::front::{Front, Value};
use crate::rule::{Category, Check, Rule, Severity, SkillHit, text};
use crate::unit::ANYWHERE;
use crate::view::Skill;

pub(super) const RULE: Rule = Rule {
    id: "FRONT_LOOKALIKE",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a skill with a name that is nearly a known one",
    why: "Names that are one letter off are published to be installed by mistake.",
    fix: "look up the skill or the product by its right name",
    places: ANYWHERE,
    anchors: &["name:"],
    check: Check::Skill(hits),
    hits: &[
        text("---\nname: wedapp-testing\ndescription: b\n---\n"),
        text("---\nname: githbu-issues\ndescription: b\n---\n"),
        text("---\nname: todoist-cIi\ndescription: b\n---\n"),
    ],
    misses: &[
        text("---\nname: webapp-testing\ndescription: b\n---\n"),
        text("---\nname: github-issues\ndescription: b\n---\n"),
        text("---\nname: notions-of-style\ndescription: b\n---\n"),
        text("---\nname: analytic-tester\ndescription: b\n---\n"),
        text("---\nname: MyCIRunner\ndescription: b\n---\n"),
    ],
};

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    skill_files(skill)
        .filter_map(|view| {
            let front = Front::read(&view.text).ok()??;
            let value = front.get("name")?;
            let (known, severity) = resembles(Value::text(value)?.trim())?;
            let note = Some(format!("nearly `{known}`"));
            Some(SkillHit { entry: view.entry, span: value.span.clone(), note, severity: Some(severity) })
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

/// A word that is nearly another. One that only goes on, or stops earlier, is a word of its own, unless it ends in the same letter twice.
fn swapped(word: &str, list: &'static [&'static str]) -> Option<&'static str> {
    let known = nearest(word, list)?;
    let doubled = word.strip_prefix(known).is_some_and(|rest| known.ends_with(rest));
    let own = !doubled && (word.starts_with(known) || known.starts_with(word));
    (!own && word.len() >= 6).then_some(known)
}
