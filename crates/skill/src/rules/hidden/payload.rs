//! Long runs of characters that show nothing: a message in itself.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::clean::{is_bidi, is_tag};
use crate::text::unit::ANYWHERE;
use crate::text::view::{Hidden, Skill};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_RUN",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "a run of characters that show nothing",
    why: "Variation selectors and characters without a width can spell out any text, behind a single letter.",
    fix: "remove the run",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(check),
};

/// Number of such characters in a row that is no accident.
const MANY: usize = 8;

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    skill.hidden().iter().flat_map(runs).take(100).collect()
}

fn runs(hidden: &Hidden<'_>) -> Vec<SkillHit> {
    let mut hits = Vec::new();
    let mut run: Vec<(usize, char)> = Vec::new();
    let counted = |c: char| !c.is_control() && !is_tag(c) && !is_bidi(c) && c != '\u{2800}';
    let characters = hidden.characters.iter().copied().filter(|(_, c)| counted(*c));
    for (at, c) in characters.chain([(usize::MAX, ' ')]) {
        if run.last().is_some_and(|(last, c)| last + c.len_utf8() != at) {
            hits.extend(hit(hidden, &run));
            run.clear();
        }
        run.push((at, c));
    }
    hits
}

fn hit(hidden: &Hidden<'_>, run: &[(usize, char)]) -> Option<SkillHit> {
    let (first, last) = (run.first()?, run.last()?);
    let said: String = run.iter().filter_map(|(_, c)| selected(*c)).map(char::from).collect();
    let says = said.len() >= 4 && said.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    let note = says
        .then(|| format!("it says: {}", policy::Shown::text(&said.chars().take(200).collect::<String>())));
    let span = hidden.view.back(first.0..last.0 + last.1.len_utf8());
    (run.len() >= MANY).then_some(SkillHit { entry: hidden.view.entry, span, note, severity: None })
}

/// Returns the byte that a variation selector encodes in a hidden message.
fn selected(c: char) -> Option<u8> {
    match u32::from(c) {
        number @ 0xfe00..=0xfe0f => u8::try_from(number - 0xfe00).ok(),
        number @ 0xe0100..=0xe01ef => u8::try_from(number - 0xe0100 + 16).ok(),
        _ => None,
    }
}
