//! Secrets are read in one place of a file, and data is sent in another.

use crate::code::destination::{Destination, Kind};
use crate::code::fact::{Fact, FactKind, HostKind, SENDS};
use crate::code::secret::{Secret, Store};
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::link::leads_to;
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_READ_AND_SENT",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "secrets are read, and something is sent to a place for anybody",
    why: "One part reads what is secret, another sends to an address that shows nothing of who is behind it. Together they take it away.",
    fix: "remove both",
    places: ANYWHERE,
    anchors: super::store_sent::ANCHORS,
    check: Check::Skill(check),
};

/// Places of secrets and of senders, by file.
#[derive(Default)]
struct Found<'a> {
    reads: Vec<(&'a Unit<'a>, &'a Fact)>,
    sends: Vec<(&'a Unit<'a>, &'a Fact, HostKind)>,
}

/// Hosts at which any user can collect what is sent there.
static HOSTS: Phrases = Phrases::new(super::collector::HOSTS);

/// Chats that are open to posts from any sender, as code names them.
static CHATS: Phrases =
    Phrases::new(words![r"api\.telegram\.org|hooks\.slack\.com|discord\.com|discordapp\.com"]);

fn check(skill: &Skill<'_>) -> Vec<SkillHit> {
    // Parsing code is slow; without such a place there can be no hit.
    let drops = |to: &Destination| to.is_throwaway() || matches!(to.kind, Kind::Chat | Kind::Metadata);
    let named = |text: &[u8]| HOSTS.could_be_in(text) || CHATS.could_be_in(text);
    if !skill.views.iter().any(|view| named(view.text.as_bytes()) || leads_to(&view.text, drops)) {
        return Vec::new();
    }
    let mut found = Found::default();
    for unit in code(skill, |text| PATHS.could_be_in(text) || ENVIRONMENT.could_be_in(text)) {
        let taken = |fact: &&Fact| matches!(&fact.what, FactKind::ReadsSecret(secret) if is_taken(secret));
        found.reads.extend(unit.reading().facts.iter().filter(taken).map(|fact| (unit, fact)));
    }
    if found.reads.is_empty() {
        return Vec::new();
    }
    for unit in code(skill, |text| SENDS.could_be_in(text)) {
        for fact in &unit.reading().facts {
            if let FactKind::Sends { to, is_upload: true, .. } = &fact.what {
                found.sends.push((unit, fact, to.kind()));
            }
        }
    }
    let mut hits = Vec::new();
    for (unit, fact) in &found.reads {
        let same = |other: &Unit<'_>| other.view.entry == unit.view.entry;
        let here = found.sends.iter().any(|(other, _, kind)| same(other) && *kind == HostKind::Drop);
        let elsewhere = found.sends.iter().any(|(_, _, kind)| *kind == HostKind::Drop);
        if !here && !elsewhere {
            continue;
        }
        let range = unit.range.start + fact.range.start..unit.range.start + fact.range.end;
        hits.push(SkillHit {
            entry: unit.view.entry,
            span: unit.view.back(range),
            note: None,
            severity: (!here).then_some(Severity::Warning),
        });
    }
    hits
}

/// Returns the code of a skill that could hold a hit.
fn code<'s, 'a>(skill: &'s Skill<'a>, could: fn(&[u8]) -> bool) -> impl Iterator<Item = &'s Unit<'a>> {
    skill.all_units().filter(move |unit| is_code(unit) && could(unit.text().as_bytes()))
}

/// Phrases one of which occurs in every text that reads a store of secrets.
static PATHS: Phrases = Phrases::new(super::store_sent::ANCHORS);

/// Phrases one of which occurs in every text that reads the environment.
static ENVIRONMENT: Phrases =
    Phrases::new(words![r"\benv|environ|process\.env|printenv|export|declare|\bset\b"]);

fn is_taken(secret: &Secret) -> bool {
    match secret {
        Secret::Environment => true,
        Secret::File(store, _) => store.is_private() || *store == Store::Credential,
        Secret::Variable(_) => false,
    }
}

fn is_code(unit: &Unit<'_>) -> bool {
    use crate::text::unit::CODE;
    CODE.has(unit.place)
}
