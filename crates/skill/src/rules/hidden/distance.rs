//! Text that is so far away that a reader does not scroll there.

use super::spoken;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::{Skill, View};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_FAR_AWAY",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "an instruction pushed out of sight",
    why: "Behind hundreds of spaces, or below a screen of empty lines, nobody who reads the file sees it.",
    fix: "remove the blanks, and see what stands behind them",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

/// Number of spaces, or of line ends, that no author writes in ordinary text.
const SPACES: usize = 120;
const LINES: usize = 30;

/// Number of bytes after them that are examined.
const MAX_TEXT: usize = 2_000;

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    let came = skill.views.iter().filter(|view| view.is_as_it_came());
    came.flat_map(found).collect()
}

fn found(view: &View<'_>) -> Vec<SkillHit> {
    let mut hits = Vec::new();
    for (blank, least) in [(b' ', SPACES), (b'\t', SPACES / 4), (b'\n', LINES)] {
        let run = vec![blank; least];
        let (bytes, mut at) = (view.text.as_bytes(), 0);
        while let Some(found) = memchr::memmem::find(&bytes[at..], &run) {
            let start = at + found;
            at = start + bytes[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            // Up to the next run at most, so that nothing is examined twice.
            let next = memchr::memmem::find(&bytes[at..(at + MAX_TEXT).min(bytes.len())], &run);
            let end = next.map_or((at + MAX_TEXT).min(bytes.len()), |next| at + next);
            let text = String::from_utf8_lossy(&bytes[at..end]);
            let text = if blank == b'\n' { &text } else { text.lines().next().unwrap_or_default() };
            if let Some(severity) = spoken::severity(text) {
                let span = view.back(at..at + 1);
                hits.push(SkillHit { entry: view.entry, span, note: None, severity: Some(severity) });
            }
        }
    }
    hits
}
