//! A secret in a name that is looked up.

use crate::code::fact::{Channel, FactKind};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_LOOKED_UP",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "a secret is part of a name that is looked up",
    why: "Whoever answers for the domain reads every name that is asked for. Firewalls let such questions pass.",
    fix: "remove the lookup",
    places: ANYWHERE,
    anchors: words![
        "\\bdig ",
        "nslookup",
        "gethostbyname",
        "dns.",
        "getaddrinfo",
        "\\bhost ",
        "resolve-dnsname",
        "\\bping ",
    ],
    check: Check::Requiring(&[&NEAR], check),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases = Phrases::new(words![r"\$|environ|getenv|process\.env|\bcat\b|read|open\s*\("]);

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let flows = unit.reading().flowing().filter(|(source, sink, _)| {
        matches!(source.what, FactKind::ReadsSecret(_))
            && matches!(sink.what, FactKind::Sends { channel: Channel::Names, .. })
    });
    let mut hits: Vec<Hit> = flows.map(|(_, sink, _)| Hit::at(sink.range.clone())).collect();
    hits.dedup();
    hits
}
