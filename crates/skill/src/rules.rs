//! The rules, one in each file, in packs.

/// Expressions that the code of a rule uses, each compiled once: over bytes, ignoring case, with anchors at lines.
macro_rules! patterns {
    ($($name:ident = $pattern:expr;)*) => {$(
        static $name: std::sync::LazyLock<regex::bytes::Regex> = std::sync::LazyLock::new(|| $crate::rules::compiled($pattern));
    )*};
}
pub(crate) use patterns;

mod attack_tool;
mod base;
mod code;
mod credential;
mod destruction;
mod download;
mod exfiltration;
mod frame;
mod front;
mod hidden;
mod injection;
mod lure;
mod persistence;
mod privilege;
pub(crate) mod rule;
mod supply;
mod tree;

use crate::rules::rule::Rule;

/// Every pack.
const PACKS: &[&[&Rule]] = &[
    base::RULES,
    hidden::RULES,
    frame::RULES,
    injection::RULES,
    credential::RULES,
    exfiltration::RULES,
    persistence::RULES,
    download::RULES,
    lure::RULES,
    code::RULES,
    privilege::RULES,
    destruction::RULES,
    attack_tool::RULES,
    supply::RULES,
    tree::RULES,
    front::RULES,
];

/// A constant expression of a rule.
#[expect(
    clippy::expect_used,
    reason = "the expressions are constants, and the samples of each rule compile them"
)]
pub(crate) fn compiled(pattern: &str) -> regex::bytes::Regex {
    regex::bytes::RegexBuilder::new(pattern)
        .case_insensitive(true)
        .unicode(false)
        .multi_line(true)
        .build()
        .expect("a constant expression")
}

/// Every rule.
#[must_use]
pub fn all() -> Vec<&'static Rule> {
    PACKS.iter().flat_map(|pack| pack.iter().copied()).collect()
}

/// The eighteen base rules.
#[must_use]
pub fn base() -> Vec<&'static Rule> {
    base::RULES.to_vec()
}
