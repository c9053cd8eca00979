//! A person is led through keystrokes that start a program.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::{Phrases, is_described, section};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_RUN_DIALOG",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "a person is led to paste something where it runs at once",
    why: "Proofs of being human and updates do not need the Run dialog. Malware does.",
    fix: "do not follow the steps",
    places: PROSE,
    anchors: words![
        r"\bwin+r",
        r"\bwin + r",
        r"\bwindows+r",
        r"\bwindows + r",
        r"\bwindows key",
        r"\bwin key",
        r"\bhuman",
        r"\brobot",
        r"\bcaptcha",
        r"\bsuper+r",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:win(?:dows)?(?: key)?|super) ?\+ ?r\b",
    r"\bwin(?:dows)? key (?:and|\+) (?:press |hit )?r\b",
    r"\b(?:verify|prove|confirm)(?: that)? you(?:<'>re| are) (?:<any> ){0,2}(?:human|a robot)\b",
    r"\b(?:complete|solve) the (?:captcha|verification)\b",
]);

static PASTED: Phrases =
    Phrases::new(words![r"\b(?:paste|ctrl ?\+ ?v|cmd ?\+ ?v|powershell|mshta|terminal|command prompt)\b"]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let (before, after) = section(unit, 200);
    if ![before, text, after].iter().any(|part| PASTED.is_in(part)) {
        return Vec::new();
    }
    PHRASES.ranges(text).into_iter().filter(|range| !is_described(text, range.start)).map(Hit::at).collect()
}
