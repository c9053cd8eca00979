//! `stratum://`: the protocol that miners speak.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRYPTO_STRATUM",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    title: "address of a mining pool",
    why: "Stratum is spoken between miners and their pools, and by nothing else.",
    fix: "remove the address; nothing in a skill needs to mine",
    places: ANYWHERE,
    anchors: words!["stratum"],
    check: Check::Pattern { finds: r"\bstratum[0-9]?(?:\+(?:tcp|ssl|tls))?://", unless: &[] },
};
