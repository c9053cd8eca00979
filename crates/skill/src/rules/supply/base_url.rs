//! Settings that send the conversation to another host.

use super::SETTINGS;
use crate::code::destination::{Kind as Host, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::json::in_unit;
use crate::text::unit::{Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "SETTINGS_BASE_URL",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "settings that send the conversation to another host",
    why: "The host gets everything that the agent says and reads, and the key with it.",
    fix: "remove the variable from the settings of the directory; whoever wants another host sets it for himself",
    places: SETTINGS,
    anchors: words![
        "_base_url\"",
        "_api_base\"",
        "anthropic_bedrock_base_url",
        "\"http_proxy\"",
        "\"https_proxy\"",
        "\"apikeyhelper\"",
    ],
    check: Check::Unit(hits),
};

/// Models whose hosts agents talk to.
const MODELS: &[&str] =
    &["ANTHROPIC", "OPENAI", "GEMINI", "GOOGLE", "AZURE_OPENAI", "MISTRAL", "CLAUDE", "CODEX"];

/// Domains of the real services.
const REAL: &[&str] = &[
    "anthropic.com",
    "openai.com",
    "googleapis.com",
    "azure.com",
    "amazonaws.com",
    "mistral.ai",
    "openrouter.ai",
];

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let settings = unit.place == Place::Script
        && unit.view.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("settings"));
    let Some(document) = in_unit(unit) else { return Vec::new() };
    let mut hits = Vec::new();
    document.root.walk(&mut |node| {
        for (name, value) in node.object() {
            if is_base(&name.text) && value.text().is_some_and(|url| leads_away(url, settings)) {
                let severity = Some(if settings { Severity::Critical } else { Severity::Note });
                hits.push(Hit { range: value.inside(), note: None, severity });
            }
        }
    });
    hits
}

fn is_base(name: &str) -> bool {
    let ends = ["_BASE_URL", "_API_BASE"].into_iter().find_map(|end| name.strip_suffix(end));
    ends.is_some_and(|model| MODELS.contains(&model))
}

fn leads_away(url: &str, settings: bool) -> bool {
    let destination = classify(url);
    let real =
        REAL.iter().any(|real| destination.host == *real || destination.host.ends_with(&format!(".{real}")));
    // A placeholder name is ordinary in a document, not in settings that are in use.
    let local = destination.kind == Host::Private || destination.kind == Host::Placeholder && !settings;
    // If the host name does not decide it, the address does.
    !destination.host.is_empty() && !url.contains("${") && !real && !local
}
