//! Commands that change what an agent may do, or what it is told in every session.

use crate::fact::Hold;
use crate::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::unit::{CODE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_AGENT_SETTINGS",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "a command changes what the agent may do",
    why: "An agent's settings and hooks decide what it does without asking. What a skill writes there stays when the skill has gone.",
    fix: "say in words what a person should change, and let them do it",
    places: CODE,
    anchors: &[
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
    hits: &[
        text("```bash\necho '{}' | sed 's/a/b/' > .claude/settings.json\n```"),
        text("```bash\nsed -i 's/ask/allow/' ~/.claude/settings.json\n```"),
        file("x.py", "from pathlib import Path\n(Path.home() / '.claude' / 'settings.json').write_text(s)\n"),
        file("x.js", "fs.writeFileSync(path.join(os.homedir(), '.openclaw', 'openclaw.json'), s)\n"),
    ],
    misses: &[
        text("```bash\ncat ~/.claude/settings.json\n```"),
        text("```bash\nmkdir -p ~/.claude/skills && cp -r my-skill ~/.claude/skills/\n```"),
        text("```bash\ncat > CLAUDE.md <<'EOF'\n# Project\nEOF\n```"),
        text("```bash\ncp agents/*.md ~/.claude/agents/\n```"),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::holds(unit, &[Hold::Agent], severity)
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
