//! Words with letters of another script that look like Latin ones.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::skeleton;
use crate::text::unit::ANYWHERE;
use crate::text::view::{Skill, View};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_LOOKALIKE",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "a word with letters that look like others",
    why: "The word reads like a command, an address or an instruction, and is another one to every search.",
    fix: "write the word in one script",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let came = skill.views.iter().filter(|view| view.is_as_it_came() && !view.text.is_ascii());
    came.flat_map(|view| found(view)).take(100).collect()
}

fn found(view: &View<'_>) -> Vec<SkillHit> {
    let words = skeleton::words(&view.text).into_iter();
    let pretending = words.filter_map(|(range, plain)| {
        let lower = plain.to_ascii_lowercase();
        let severity = if WORDS.contains(&lower.as_str()) || is_host(&view.text, range.end, &lower) {
            None
        } else if plain.is_ascii() && plain.len() >= 5 && has_cyrillic(&view.text[range.clone()]) {
            Some(Severity::Warning)
        } else {
            return None;
        };
        let note = Some(format!("it looks like \"{}\"", policy::Shown::text(&plain)));
        Some(SkillHit { entry: view.entry, span: view.back(range), note, severity })
    });
    pretending.take(20).collect()
}

/// Returns true if a word is a part of a host name.
fn is_host(text: &str, end: usize, plain: &str) -> bool {
    let rest = &text.as_bytes()[end..];
    plain.is_ascii()
        && [&b".com"[..], b".org", b".net", b".io", b".dev", b".ai"]
            .iter()
            .any(|ending| rest.starts_with(ending))
}

fn has_cyrillic(word: &str) -> bool {
    word.chars().any(|c| matches!(c, '\u{400}'..='\u{52f}'))
}

/// Commands, and words that hostile instructions are made of.
const WORDS: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "override",
    "previous",
    "prior",
    "instruction",
    "instructions",
    "system",
    "prompt",
    "secret",
    "password",
    "token",
    "credentials",
    "execute",
    "bash",
    "curl",
    "wget",
    "sudo",
    "powershell",
    "python",
    "python3",
    "eval",
    "base64",
    "http",
    "https",
    "chmod",
    "install",
    "download",
    "upload",
    "send",
    "user",
    "assistant",
    "admin",
    "root",
    "ssh",
];
