//! The address where a cloud hands out credentials, written so that it is not recognised.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRED_DISGUISED_ADDRESS",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "an inner address in disguise",
    why: "Nobody writes an address of the machine or of its cloud in another notation, except to get past whoever compares names.",
    fix: "write the address as it is, or remove it",
    places: ANYWHERE,
    anchors: words!["ffff:", "0xa9fe", "2852039166", "0251.0376", "0x7f00", "2130706433"],
    check: Check::Pattern {
        finds: r"https?://(?:\[?(?:[0:]{2,20}):?ffff:(?:a9fe:a9fe|7f00:0?1|169\.254|127\.0|10\.|192\.168|[0-9a-f]{1,4}:[0-9a-f]{1,4})|2852039166|2130706433|0xa9fea9fe|0x7f000001|0251\.0376\.)",
        unless: &[],
    },
};
