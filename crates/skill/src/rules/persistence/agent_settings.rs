//! Commands that change what an agent may do, or what it is told in every session.

use std::ops::Range;

use policy::{Direction, Program};

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{CODE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_AGENT_SETTINGS",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a command changes what the agent may do",
    why: "An agent's settings and hooks decide what it does without asking. What a skill writes there stays when the skill has gone.",
    fix: "say in words what a person should change, and let them do it",
    places: CODE,
    anchors: words![
        ".claude",
        ".codex",
        ".gemini",
        ".cursor",
        ".openclaw",
        ".clawdbot",
        "claude.md",
        "agents.md",
        "memory.md",
        "soul.md",
        "identity.md",
        "heartbeat.md",
        "claude_desktop_config",
    ],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let mut hits = super::holds(unit, &[Hold::Agent], severity);
    for hit in &mut hits {
        if hit.severity != Some(Severity::Critical) && hides_orders(written(unit, &hit.range)) {
            hit.severity = None;
        }
    }
    hits
}

patterns! {
    COVERT = concat!(
        r"\b(?:do not|don't|never|need not|no need to|without) (?:mention|tell|inform|disclos|reveal|report|show|discuss|question|announc)\w*\b[^.\n]{0,20}?\b(?:it|this|that|these|them|the (?:step|command|call|baseline|rule|user|person)|anyone|anybody)\b",
        r"|\bleave (?:it|this|them|that) out of\b|\b(?:keep|kept) (?:it|this|them) (?:quiet|secret|hidden|out of)\b|\bsilently\b|\bin the background without\b",
        r"|\b(?:pre-?approved|approved by the (?:user|security|team|owner|admin)\w*|already (?:been )?(?:approved|authori[sz]ed))\b|\bknown false (?:alarm|positive)"
    );
    ORDERS = r"\b(?:run|execute|call|invoke|send|post|upload|fetch|download|append|include)\b[^\n]{0,80}(?:`|https?://|\bnpx\b|\bcurl\b|\bbash\b|\bpython|\bnode\b|~/|\.env\b|\.sh\b)";
}

/// Returns true if the text orders to run or send something, and to keep quiet about it.
fn hides_orders(text: &str) -> bool {
    let (hushed, orders) = (COVERT.find(text.as_bytes()), ORDERS.find(text.as_bytes()));
    hushed.zip(orders).is_some_and(|(hushed, orders)| hushed.start().abs_diff(orders.start()) < 800)
}

/// Returns the text that is written: the input of a command, or the content of the call; all of a script that keeps it elsewhere.
fn written<'u>(unit: &'u Unit<'_>, range: &Range<usize>) -> &'u str {
    let text = unit.text();
    if !crate::code::fact::is_shell(unit) {
        return text;
    }
    let is_here = |program: &&Program| program.span.start as usize == range.start;
    let program = unit.commands().programs.iter().find(is_here);
    let given = program
        .and_then(|program| program.redirects.iter().find(|redirect| redirect.direction == Direction::Text));
    given.map_or_else(|| text.get(range.clone()).unwrap_or_default(), |given| given.target.text.as_str())
}

fn severity(path: &str, _: &str) -> Severity {
    const SETTINGS: &[&str] = &[
        ".claude/settings",
        ".claude/hooks",
        ".codex/config",
        ".gemini/settings",
        ".openclaw/openclaw.json",
        ".clawdbot/clawdbot.json",
    ];
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let told =
        ["soul.md", "identity.md", "heartbeat.md", "memory.md"].iter().any(|name| path.ends_with(name));
    let at_home = path.starts_with('~') || path.starts_with("/home/") || path.starts_with("/users/");
    if SETTINGS.iter().any(|part| path.contains(part)) {
        Severity::Critical
    } else if told
        || at_home
            && path.rsplit('.').next() == Some("md")
            && !path.contains("/agents/")
            && !path.contains("/commands/")
    {
        Severity::Warning
    } else {
        Severity::Note
    }
}
