//! Settings that answer approval prompts for the user.

use super::SETTINGS;
use super::as_shown;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::json::{Kind, Name, Node, in_unit};
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "SETTINGS_APPROVE",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "settings that approve everything without asking",
    why: "Settings in a directory are read by the agent that is opened there. With these, nobody is asked before a command runs.",
    fix: "remove the setting; approve what is needed when it is asked for",
    places: SETTINGS,
    anchors: words![
        "autoapprove",
        "alwaysallow",
        "enableallprojectmcpservers",
        "\"dangerously",
        "bypasspermissions",
        "skippermissions",
        "\"yolo",
        "\"autorun",
        "chat.tools.auto",
        "defaultmode",
        "\"trust\"",
    ],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let Some(document) = in_unit(unit) else { return Vec::new() };
    let mut hits = Vec::new();
    document.root.walk(&mut |node| {
        for (name, value) in node.object() {
            if let Some(worst) = approves(name, value) {
                let severity = as_shown(unit).or(Some(worst));
                hits.push(Hit { range: name.span.start..value.span.end, note: None, severity });
            }
        }
    });
    hits
}

/// Returns the severity of a setting, if it approves anything.
fn approves(name: &Name<'_>, value: &Node<'_>) -> Option<Severity> {
    let bare: String =
        name.text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let on = matches!(value.kind, Kind::Bool(true));
    let text = value.text().unwrap_or_default().to_ascii_lowercase();
    let all =
        value.list().iter().any(|entry| entry.text().is_some_and(|entry| entry == "*" || entry == "Bash(*)"));
    let answers = bare.ends_with("autoapprove") || bare.ends_with("alwaysallow") || bare.ends_with("autorun");
    let everything = ["enableallprojectmcpservers", "yolo", "yolomode", "autoapproveall", "skippermissions"];
    if answers || everything.contains(&&*bare) || bare.starts_with("dangerously") {
        let whole = on || all || ["*", "all", "always", "true"].contains(&&*text);
        return whole.then_some(Severity::Critical);
    }
    (bare == "defaultmode" && text == "bypasspermissions").then_some(Severity::Critical)
}
