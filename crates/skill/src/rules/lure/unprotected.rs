//! Protection is to be switched off so that something can be started.

use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::{Phrases, is_described, is_forbidden, section};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_UNPROTECTED",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "protection against malware is to be switched off",
    why: "What runs only while nobody looks for malware is malware until shown otherwise.",
    fix: "leave the protection on",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bantivirus",
        r"\banti-virus",
        r"\bdefender",
        r"\bsmartscreen",
        r"\bgatekeeper",
        r"\bsecurity warning",
        r"\bmalware warning",
        r"\breal-time protection",
        r"\bquarantine",
        r"\bspctl",
        r"\bxattr",
        r"\bedr",
        r"\bfalse positive",
        r"\bset-mppreference",
        r"\bsecurity software",
    ],
    check: Check::Phrases(&[&PHRASES, &EXCUSES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:disabl(?:e|ing)|turn(?:ing)? off|paus(?:e|ing)|deactivat(?:e|ing)|switch(?:ing)? off|stop|uninstall|kill) (?:<any> ){0,3}(?:antivirus|anti-virus|windows defender|microsoft defender|defender|smartscreen|macos gatekeeper|real-time (?:protection|scanning)|security software|edr)\b",
    r"\b(?:turn|switch) (?:<any> ){0,4}(?:antivirus|anti-virus|defender|smartscreen|real-time (?:protection|scanning)|virus protection|security software)(?: <any>){0,2} off\b",
    r"\b(?:add|create|set) (?:<any> ){0,3}(?:exclusion|exception)s? (?:<any> ){0,4}(?:antivirus|anti-virus|defender)\b",
    r"\bset-mppreference\b[^\n]{0,60}(?:-disable\w+ (?:\$true|1)|-exclusion)",
    r"\badd-mppreference\b[^\n]{0,40}-exclusion",
    r"\bspctl\s+--(?:master|global)-disable\b",
]);

/// Claims that a warning means nothing, and what takes the mark of a download away.
static EXCUSES: Phrases = Phrases::new(words![
    r"\b(?:get past|get around|bypass|ignore|dismiss|skip|click through|allow (?:it|<any>)? ?(?:through|in|past)) (?:<any> ){0,3}(?:gatekeeper|smartscreen|security warnings?|malware warnings?)\b",
    r"\b(?:antivirus|anti-virus|defender|smartscreen|gatekeeper|security software|windows|macos)\b... (?:may|might|could|will|can)... (?:flag|warn|block|detect|quarantine|delete|complain)\w*...\b(?:false positive|ignore|safe|run anyway|allow|harmless)\b",
    r"\bfalse positive\b... (?:antivirus|anti-virus|defender|smartscreen)\b",
    r"\bxattr\s+-(?:c|cr|rc|d|dr|rd)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let said =
        |range: &std::ops::Range<usize>| !is_forbidden(text, range.start) && !is_described(text, range.start);
    let mut found: Vec<Hit> = PHRASES.ranges(text).into_iter().filter(said).map(Hit::at).collect();
    let excuses: Vec<_> = EXCUSES.ranges(text).into_iter().filter(said).collect();
    if !excuses.is_empty() {
        let (before, after) = section(unit, 400);
        let strange = |link: &Link<'_>| link.is_anybodys() || link.is_program();
        let parts = [before, text, after];
        let named = || {
            let packed = parts.iter().any(|part| PACKED.is_in(part));
            packed && parts.iter().any(|part| ASKS.is_in(part)) && parts.iter().any(|part| is_fetched(part))
        };
        if parts.iter().any(|part| links(part).iter().any(strange)) || named() {
            found.extend(excuses.into_iter().map(Hit::at));
        }
    }
    found
}

/// The name of a program that is fetched, where its address does not say so.
static PACKED: Phrases = Phrases::new(words![r"\b[\w-]+\.(?:dmg|pkg|exe|msi|app|iso|zip|scr)\b"]);

/// It wants a password, or all rights.
static ASKS: Phrases = Phrases::new(words![
    r"\basks? (?:<any> ){0,2}for (?:<any> ){0,2}password\b|\b(?:enter|type|give) (?:<any> ){0,3}password\b|\bas (?:an? )?administrator\b",
]);

/// Returns true if something comes from a host without a known owner.
fn is_fetched(text: &str) -> bool {
    links(text).iter().any(|link| {
        !link.to.host.is_empty() && !matches!(link.to.kind, Kind::Vendor | Kind::UserContent | Kind::Private)
    })
}
