//! Names of mining pools.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRYPTO_POOL_DOMAIN",
    category: Category::CryptoMining,
    severity: Severity::Warning,
    title: "name of a mining pool",
    why: "Miners ask such hosts for work.",
    fix: "remove the address, or say what it is for",
    places: ANYWHERE,
    anchors: words![
        "mining.",
        "pool.",
        "hashrate.",
        "minexmr",
        "supportxmr",
        "2miners",
        "hashvault",
        "nanopool",
        "unmineable",
        "ethermine",
    ],
    check: Check::Pattern {
        finds: r"(?:^|[^\w./-])(?:[\w-]+\.)?(?:mining|pool|hashrate)\.[a-z0-9][a-z0-9-]*\.(?:com|org|net|io|pro|xyz|stream|me|eu|cc|to|info|online|pool|test|top|ru|cn|ws|club|live|dev)\b|://(?:[\w-]+\.)*(?:mining|pool|hashrate)\.[a-z0-9][a-z0-9-]*\.[a-z]{2,}\b|\b(?:minexmr|supportxmr|2miners|hashvault|nanopool|unmineable|ethermine)\.(?:com|org|pro)\b",
        unless: &[r"pool\.ntp\.org|\.pool\.|pool\.sks-keyservers"],
    },
};
