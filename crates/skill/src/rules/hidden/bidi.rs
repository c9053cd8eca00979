//! Characters that change the direction of displayed text.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::clean::is_bidi;
use crate::text::unit::ANYWHERE;
use crate::text::view::{Hidden, Skill};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_DIRECTION",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "characters that change the order of what is shown",
    why: "With them a line shows something else than a program or a model reads.",
    fix: "remove them; text in Hebrew or Arabic needs none of them",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

/// Maximum number of lines of one file that are reported.
const MAX_LINES: usize = 20;

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    skill.hidden().iter().flat_map(lines).collect()
}

/// One hit for each line.
fn lines(hidden: &Hidden<'_>) -> Vec<SkillHit> {
    let view = hidden.view;
    let (mut hits, mut end): (Vec<SkillHit>, usize) = (Vec::new(), 0);
    for (at, _) in hidden.characters.iter().filter(|(_, c)| is_bidi(*c)) {
        if *at < end {
            continue;
        }
        let bytes = view.text.as_bytes();
        end = memchr::memchr(b'\n', &bytes[*at..]).map_or(bytes.len(), |line| at + line);
        let line = &view.text[*at..end];
        hits.push(SkillHit {
            entry: view.entry,
            span: view.back(*at..end),
            note: None,
            severity: severity(line),
        });
        if hits.len() == MAX_LINES {
            break;
        }
    }
    hits
}

/// Lowers lines with a right-to-left script: there an isolate serves its purpose, and an override is odd.
fn severity(line: &str) -> Option<Severity> {
    let leftward =
        line.chars().take(500).any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'));
    let overrides = line.chars().take(500).any(|c| matches!(c, '\u{202d}' | '\u{202e}'));
    match (leftward, overrides) {
        (true, true) => Some(Severity::Warning),
        (true, false) => Some(Severity::Note),
        (false, _) => None,
    }
}
