//! A person is to paste something into a terminal.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::{Phrases, is_described, is_forbidden, section};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_PASTE",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "something from a stranger's page is to be pasted into a terminal",
    why: "What is pasted into a terminal runs with all the rights of whoever pastes it, and the page can change at any time.",
    fix: "do not paste it; a skill brings its commands along, where they can be read",
    places: PROSE,
    anchors: words![
        r"\bterminal",
        r"\bpowershell",
        r"\bcommand prompt",
        r"\bpaste",
        r"\brun dialog",
        r"\brun box",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

/// The user is told to move text from elsewhere into a terminal.
static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:copy|copies|paste|pasting|enter|insert|drop|run|execute|type)\b... (?:into|in|to|inside|within|on|via|using|from) (?:<any> ){0,4}(?:terminal|powershell|command prompt|cmd|console|run (?:dialog|box)|command line|iterm|shell)\b",
    r"\b(?:open|launch|start)(?:ing)? (?:<any> ){0,3}(?:terminal|powershell|command prompt|cmd|console|run (?:dialog|box)|iterm)\b... (?:paste|run|execute|enter|type|insert)\b",
]);

/// Text that is not readable by people.
static OPAQUE: Phrases = Phrases::new(words![
    r"[A-Za-z0-9+/]{44,}={0,2}",
    r"\bbase64\s+(?:-d|-D|--decode)\b",
    r"\\x[0-9a-f]{2}\\x[0-9a-f]{2}\\x[0-9a-f]{2}\\x",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges: Vec<_> = PHRASES
        .ranges(text)
        .into_iter()
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .collect();
    if ranges.is_empty() {
        return Vec::new();
    }
    let (before, after) = section(unit, 600);
    let strange = links(text).iter().any(Link::is_anybodys)
        || [before, after].iter().any(|part| links(part).iter().any(|link| link.to.is_throwaway()))
        || [before, text, after].iter().any(|part| OPAQUE.is_in(part));
    if strange || leads_away(unit) { ranges.into_iter().map(Hit::at).collect() } else { Vec::new() }
}

/// Number of bytes at the end of a text that are examined: addresses of links are there.
const END: usize = 4096;

/// Returns true if the text has a link whose address is at the end of the file and belongs to no accountable owner.
fn leads_away(unit: &Unit<'_>) -> bool {
    let text = &unit.view.text;
    let mut from = text.len().saturating_sub(END);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    unit.text().contains("][") && links(&text[from..]).iter().any(Link::is_anybodys)
}
