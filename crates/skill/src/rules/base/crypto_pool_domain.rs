//! Names of mining pools.

use crate::rules::rule::{Category, Check, Rule, Severity, text};
use crate::text::unit::ANYWHERE;

pub(super) const RULE: Rule = Rule {
    id: "CRYPTO_POOL_DOMAIN",
    category: Category::CryptoMining,
    severity: Severity::Warning,
    title: "name of a mining pool",
    why: "Miners ask such hosts for work.",
    fix: "remove the address, or say what it is for",
    places: ANYWHERE,
    anchors: &[
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
    hits: &[text("pool.minehere.com"), text("Ask mining.pond.org for work."), text("`-o pool.x.io:3333`")],
    misses: &[
        text("pool.ntp.org"),
        text("0.de.pool.ntp.org"),
        text("`pool.query.then()`"),
        text("a pool. of cars"),
    ],
};
