//! Workflows that run untrusted input with the rights of the repository.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{SETTINGS, as_shown};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::scan::compiled;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "WORKFLOW_UNTRUSTED",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a workflow that runs what a stranger wrote",
    why: "`pull_request_target` and events of issues run with the secrets of the repository. Whoever opens a request writes what is checked out, and the text that a shell would read.",
    fix: "use `pull_request`, and pass texts through environment variables",
    places: SETTINGS,
    anchors: words!["pull_request_target", "github.event.", "github.head_ref"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let target = memchr::memmem::find(text.as_bytes(), b"pull_request_target").is_some();
    let checkout = CHECKOUT.as_ref().and_then(|pattern| pattern.find(text.as_bytes())).filter(|_| target);
    let run = RUN.as_ref().and_then(|pattern| pattern.find(text.as_bytes()));
    let found = checkout.into_iter().chain(run);
    found.map(|found| Hit { range: found.range(), note: None, severity: as_shown(unit) }).collect()
}

/// Matches a checkout of the head of a pull request.
static CHECKOUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:ref|repository):\s*['\x22]?\$\{\{\s*(?:github\.event\.pull_request\.head\.|github\.head_ref)|\bgh\s+pr\s+checkout\b|refs/pull/\$\{\{",
    )
});

/// Matches untrusted text in a shell line: on the line of `run:`, or in the lines below it until the next key.
static RUN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\brun:(?:[^\n]*|\s*[|>][^\n]*(?:\n[ \t]+(?:[^\n:]|:[^ \n])*){1,40})\$\{\{\s*(?:github\.event\.(?:issue|comment|review|discussion|pull_request|commits|head_commit)\.?[\w.\[\]*]*(?:title|body|message|name|ref|label|email)\b|github\.head_ref)",
    )
});
