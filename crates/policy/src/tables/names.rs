//! Table: names that make a tool outside run or trust something later, with a reason on every row.

use crate::protected::{ProtectedName, Standing};

const fn never(name: &'static str, because: &'static str) -> ProtectedName {
    ProtectedName { name, standing: Standing::Never, in_stores: false, because }
}

const fn ask(name: &'static str, because: &'static str) -> ProtectedName {
    ProtectedName { name, standing: Standing::Ask, in_stores: false, because }
}

const fn git(name: &'static str, because: &'static str) -> ProtectedName {
    ProtectedName { name, standing: Standing::Never, in_stores: true, because }
}

/// Directories into which package managers unpack what others publish: nobody opens them as a project of their own.
pub(crate) const STORES: &[&str] = &["node_modules", "site-packages", "bower_components", ".pnpm-store"];

/// The names. Those below `.git/` count in every directory of a repository, whatever it is called.
pub(crate) const ROWS: &[ProtectedName] = &[
    git(".git", "a repository of its own brings settings and hooks along, and git runs them"),
    git(".git/hooks", "git runs what lies there"),
    git(".git/config", "core.fsmonitor, core.hooksPath, filters, aliases, include: git runs what they name"),
    git(".git/config.worktree", "read like config where extensions.worktreeConfig is set"),
    git(".git/commondir", "says where config and hooks are taken from"),
    git(".git/info/attributes", "chooses filters and drivers, which git runs"),
    git(".git/objects/info/alternates", "objects are taken from wherever it points"),
    git(".git/modules", "repositories of submodules, with settings and hooks of their own"),
    never(".gitmodules", "git takes addresses and ways to update submodules from it"),
    never(".envrc", "direnv runs it on entering the directory"),
    never(".bashrc", "a shell with this home directory runs it"),
    never(".bash_profile", "a shell with this home directory runs it"),
    never(".profile", "a shell with this home directory runs it"),
    never(".zshrc", "a shell with this home directory runs it"),
    never(".zshenv", "a shell with this home directory runs it"),
    never(".ripgreprc", "may name a program that rg runs on every file"),
    never(".vscode", "tasks, debuggers and paths of programs that the editor starts"),
    never(".idea", "run configurations and paths of programs that the editor starts"),
    never(".devcontainer", "commands that the editor runs on the host and in containers"),
    never(".devcontainer.json", "commands that the editor runs on the host and in containers"),
    never(".claude", "hooks, commands and permissions of an agent"),
    ask("CLAUDE.md", "instructions that an agent follows"),
    never(".mcp.json", "servers that an agent starts"),
    never(".cursor", "servers, rules and hooks of an agent"),
    never(".codex", "settings of an agent"),
    never(".gemini", "settings of an agent"),
    ask("AGENTS.md", "instructions that an agent follows"),
    never(".npmrc", "registries, script shells and credentials of npm"),
    never(".cargo/config", "runners, wrappers and linkers that cargo starts"),
    never(".cargo/config.toml", "runners, wrappers and linkers that cargo starts"),
    never(".yarnrc*", "names the program that yarn starts in its place"),
    never(".pre-commit-config.yaml", "hooks that pre-commit runs"),
    never(".husky", "hooks that git runs through husky"),
    ask(".github/workflows", "runs in CI with the secrets of the repository"),
    never("ringfence.toml", "the policy of this project"),
];
