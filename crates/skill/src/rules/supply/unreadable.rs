//! Settings of agents that cannot be read.

use super::SETTINGS;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::json;
use crate::text::language::Language;
use crate::text::unit::{Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "SETTINGS_UNREADABLE",
    category: Category::SupplyChain,
    severity: Severity::Warning,
    title: "settings or a list of tools that cannot be read",
    why: "What is not read is not judged. Another reader may be more patient.",
    fix: "repair the file",
    places: SETTINGS,
    anchors: words!["\"mcpservers\"", "\"hooks\"", "\"inputschema\"", "\"tools\"", "\"scripts\""],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if unit.place == Place::Fence || unit.language != Language::Json {
        return Vec::new();
    }
    let at = match json::read(unit.text()) {
        Ok(_) => return Vec::new(),
        Err(json::JsonError::TooLarge) => 0,
        Err(json::JsonError::TooDeep(at) | json::JsonError::TooMany(at) | json::JsonError::Syntax(at)) => at,
    };
    vec![Hit::at(at..at)]
}
