//! Table: places that make something run or count again later.

/// Kind of place that keeps something alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Hold {
    /// A timer: cron, systemd, launchd, the scheduler of Windows.
    Timer,
    /// Run by a shell when it starts.
    Shell,
    /// Run by git.
    GitHook,
    /// Run by a desktop or Windows at login.
    Login,
    /// Keys that may log in.
    Keys,
    /// Instructions, memory or permissions of an agent.
    Agent,
    /// Run by an editor.
    Editor,
    /// Loaded by every program.
    Loader,
}

impl Hold {
    /// Returns its name in a sentence.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Timer => "a timer or a system's unit",
            Self::Shell => "what a shell runs when it starts",
            Self::GitHook => "a hook of git",
            Self::Login => "what runs at login",
            Self::Keys => "the keys that may log in",
            Self::Agent => "an agent's memory or settings",
            Self::Editor => "settings of an editor",
            Self::Loader => "what every program loads",
        }
    }
}

use Hold::{Agent, Editor, GitHook, Keys, Loader, Login, Shell, Timer};

/// Fragments of paths, in lower case, whole names only.
const PATHS: &[(&str, Hold)] = &[
    ("etc/cron.d", Timer),
    ("etc/cron.daily", Timer),
    ("etc/cron.hourly", Timer),
    ("etc/crontab", Timer),
    ("var/spool/cron", Timer),
    ("etc/systemd/system", Timer),
    ("usr/lib/systemd/system", Timer),
    (".config/systemd/user", Timer),
    ("library/launchagents", Timer),
    ("library/launchdaemons", Timer),
    ("etc/init.d", Timer),
    ("etc/rc.local", Timer),
    (".bashrc", Shell),
    (".zshrc", Shell),
    (".zshenv", Shell),
    (".zprofile", Shell),
    (".profile", Shell),
    (".bash_profile", Shell),
    (".bash_login", Shell),
    (".config/fish/config.fish", Shell),
    ("etc/profile", Shell),
    ("etc/profile.d", Shell),
    ("etc/bash.bashrc", Shell),
    (".git/hooks", GitHook),
    (".config/git/hooks", GitHook),
    (".config/autostart", Login),
    ("start menu/programs/startup", Login),
    ("currentversion/run", Login),
    ("currentversion/runonce", Login),
    (".ssh/authorized_keys", Keys),
    (".ssh/authorized_keys2", Keys),
    (".claude/settings.json", Agent),
    (".claude/settings.local.json", Agent),
    (".claude/claude.md", Agent),
    (".claude/hooks", Agent),
    (".claude/agents", Agent),
    (".claude/commands", Agent),
    (".claude.json", Agent),
    (".codex/config.toml", Agent),
    (".codex/agents.md", Agent),
    (".gemini/settings.json", Agent),
    (".gemini/gemini.md", Agent),
    (".cursor/mcp.json", Agent),
    (".cursor/rules", Agent),
    (".cursorrules", Agent),
    (".windsurfrules", Agent),
    (".openclaw/openclaw.json", Agent),
    (".openclaw/workspace", Agent),
    (".clawdbot", Agent),
    (".github/copilot-instructions.md", Agent),
    ("claude_desktop_config.json", Agent),
    ("claude.md", Agent),
    ("agents.md", Agent),
    ("memory.md", Agent),
    ("soul.md", Agent),
    ("identity.md", Agent),
    ("heartbeat.md", Agent),
    (".vscode/tasks.json", Editor),
    (".vscode/settings.json", Editor),
    (".vscode/extensions", Editor),
    ("code/user/settings.json", Editor),
    ("etc/ld.so.preload", Loader),
    ("sitecustomize.py", Loader),
    ("usercustomize.py", Loader),
];

/// Returns what a path keeps alive, if it does.
pub(crate) fn of_path(path: &str) -> Option<Hold> {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let is_part = |at: usize, end: usize| {
        let before = at == 0
            || matches!(path.as_bytes()[at - 1], b'/' | b'~')
            || path[..at].ends_with(crate::code::script::HOLE);
        let after = path.as_bytes().get(end).is_none_or(|byte| *byte == b'/');
        before && after
    };
    let row = PATHS
        .iter()
        .find(|(fragment, _)| path.rfind(fragment).is_some_and(|at| is_part(at, at + fragment.len())));
    row.map(|row| row.1)
}
