//! `stratum://`: the protocol that miners speak.

use crate::rules::rule::{Category, Check, Rule, Severity, text};
use crate::text::unit::ANYWHERE;

pub(super) const RULE: Rule = Rule {
    id: "CRYPTO_STRATUM",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    title: "address of a mining pool",
    why: "Stratum is spoken between miners and their pools, and by nothing else.",
    fix: "remove the address; nothing in a skill needs to mine",
    places: ANYWHERE,
    anchors: &["stratum"],
    check: Check::Pattern { finds: r"\bstratum[0-9]?(?:\+(?:tcp|ssl|tls))?://", unless: &[] },
    hits: &[
        text("Use stratum+tcp://pool.example:3333"),
        text("stratum+ssl://x:1"),
        text("stratum2+tcp://x:1"),
    ],
    misses: &[text("The stratum of the rock is old."), text("an NTP stratum 1 server")],
};
