//! A token that publishes packages is read, and packages are published.

use crate::code::fact::{FactKind, Ran};
use crate::code::secret::Secret;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_SPREADS",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a person's publishing token is read and used",
    why: "Code that looks for publishing tokens and publishes with them spreads itself into other people's packages.",
    fix: "let a person publish with their own tool, which reads the token itself",
    places: ANYWHERE,
    anchors: words![".npmrc", ".pypirc", ".cargo/credentials", ".gem/credentials"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let facts = &unit.reading().facts;
    let publishes = facts.iter().any(|fact| match &fact.what {
        FactKind::Runs(Ran::Command { text, .. }) => {
            ["npm publish", "twine upload", "cargo publish", "gem push", "pnpm publish", "yarn publish"]
                .iter()
                .any(|command| text.contains(command))
        }
        _ => false,
    });
    let tokens = facts.iter().filter(|fact| match &fact.what {
        FactKind::ReadsSecret(Secret::File(_, path)) => {
            [".npmrc", ".pypirc", ".cargo/credentials", ".gem/credentials"]
                .iter()
                .any(|name| path.contains(name))
        }
        _ => false,
    });
    let hits = tokens.map(|fact| Hit::at(fact.range.clone()));
    if publishes { hits.collect() } else { Vec::new() }
}
