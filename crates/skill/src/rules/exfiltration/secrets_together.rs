//! Secrets of several owners are put into one text.

use std::collections::BTreeMap;

use crate::code::fact::{FactKind, HostKind, Part};
use crate::code::flow::owner_word;
use crate::code::secret::{Secret, owner_hosts, stays_at_home};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_SECRETS_TOGETHER",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "secrets of several owners are put into one text",
    why: "Each key goes to its own service. Whoever writes several of them into one text wants to take them along.",
    fix: "read each key where it is used, and nowhere else",
    places: ANYWHERE,
    anchors: words!["environ", "process.env", "getenv", "$env:"],
    check: Check::Requiring(&[&TAKES], check),
};

/// Phrases one of which occurs in every text that puts data together or sends it.
static TAKES: Phrases = Phrases::new(words![
    r"stringify|dump|serial|encode|post|\bput|upload|send|request|fetch|axios|\bgot\b|urlopen|urllib|http\.|https\.|httpx|aiohttp|ajax|socket|connect|invoke-|\biwr\b|\birm\b|curl|wget|\$\.",
]);

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let reading = unit.reading();
    let mut owners: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for flow in &reading.flows {
        let (Some(source), Some(sink)) = (reading.facts.get(flow.source), reading.facts.get(flow.sink))
        else {
            continue;
        };
        let FactKind::ReadsSecret(Secret::Variable(name)) = &source.what else { continue };
        let takes = match &sink.what {
            FactKind::Serialises => !owner_hosts(name).is_empty() || stays_at_home(name),
            FactKind::Sends { to, .. } => flow.part != Part::Header && to.kind() != HostKind::Local,
            _ => false,
        };
        let word = owner_word(name);
        let word = if word.is_empty() && stays_at_home(name) { name } else { word };
        let word = if word.eq_ignore_ascii_case("gh") { "GITHUB" } else { word };
        if takes && !word.is_empty() {
            owners.entry(flow.sink).or_default().push(word);
        }
    }
    let mut hits = Vec::new();
    for (sink, mut words) in owners {
        words.sort_unstable();
        words.dedup();
        if words.len() > 1 {
            let fact = &reading.facts[sink];
            // An address that is computed may go with the key: one for each provider.
            let computed = matches!(&fact.what, FactKind::Sends { to, .. } if to.kind() == HostKind::Unknown);
            let severity = computed.then_some(Severity::Warning);
            hits.push(Hit { severity, ..Hit::at(fact.range.clone()) });
        }
    }
    hits
}
