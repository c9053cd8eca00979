//! Programs that mine.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRYPTO_MINER_BINARY",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    title: "a program that mines",
    why: "Miners use the machine for somebody else's money.",
    fix: "remove it; nothing in a skill needs to mine",
    places: ANYWHERE,
    anchors: words!["miner", "xmrig", "t-rex", "xmr-stak", "cpuminer", "xmr_stak"],
    check: Check::Pattern {
        finds: r"\b(?:xmrig|cgminer|bfgminer|ethminer|nbminer|phoenixminer|lolminer|teamredminer|srbminer|nanominer|cpuminer|xmr[-_]stak|trexminer|t-rex-miner|gminer)\b|\bminerd\s+-|(?:\./|/)t-rex\b|\bt-rex(?:\.exe|\s+-[ao]\b)",
        unless: &[],
    },
};
