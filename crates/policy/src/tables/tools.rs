//! Table: the tools of agents, their groups and the seven profiles.

/// Every tool that has a name of its own. Tools of MCP servers are known by their shape, `mcp__server--tool`.
pub(crate) const TOOLS: &[&str] = &[
    "agents_manage",
    "apply_patch",
    "browser",
    "channels_manage",
    "cron",
    "ctx_expand",
    "ctx_inspect",
    "ctx_recall",
    "ctx_search",
    "discord_action",
    "discover",
    "edit",
    "exec",
    "find",
    "grep",
    "heartbeat_manage",
    "ls",
    "mcp_manage",
    "memory_get",
    "memory_manage",
    "memory_search",
    "memory_store",
    "message",
    "models_manage",
    "obs_query",
    "pipeline",
    "process",
    "read",
    "session_search",
    "session_status",
    "sessions_history",
    "sessions_list",
    "sessions_manage",
    "sessions_send",
    "sessions_spawn",
    "skills_manage",
    "slack_action",
    "subagents",
    "telegram_action",
    "tokens_manage",
    "web_fetch",
    "web_search",
    "whatsapp_action",
    "write",
];

/// Other names that agents use for the same tools. Denying one denies the other.
pub(crate) const ALIASES: &[(&str, &str)] =
    &[("read_file", "read"), ("write_file", "write"), ("list_dir", "ls"), ("discover_tools", "discover")];

const CODING: &[&str] = &["read", "edit", "write", "grep", "find", "ls", "apply_patch", "exec", "process"];
const SUPERVISOR: &[&str] = &[
    "agents_manage",
    "obs_query",
    "sessions_manage",
    "memory_manage",
    "channels_manage",
    "tokens_manage",
    "models_manage",
    "skills_manage",
    "mcp_manage",
    "heartbeat_manage",
];

/// What `group:NAME` stands for.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("coding", CODING),
    ("web", &["web_fetch", "web_search", "browser"]),
    ("browser", &["browser"]),
    ("memory", &["memory_search", "memory_get", "memory_store"]),
    ("scheduling", &["cron"]),
    ("messaging", &["message"]),
    (
        "sessions",
        &[
            "sessions_list",
            "sessions_history",
            "sessions_send",
            "sessions_spawn",
            "session_status",
            "session_search",
            "subagents",
            "pipeline",
        ],
    ),
    ("platform_actions", &["discord_action", "telegram_action", "slack_action", "whatsapp_action"]),
    ("supervisor", SUPERVISOR),
    ("context", &["ctx_search", "ctx_inspect", "ctx_recall"]),
    ("context_expand", &["ctx_expand", "ctx_inspect"]),
];

/// The seven profiles; `None` is every tool there is.
pub(crate) const PROFILES: &[(&str, Option<&[&str]>)] = &[
    ("minimal", Some(&["read", "write"])),
    ("coding", Some(CODING)),
    ("messaging", Some(&["message", "session_status"])),
    ("supervisor", Some(SUPERVISOR)),
    ("full", None),
    (
        "cron-minimal",
        Some(&[
            "web_search",
            "message",
            "read",
            "write",
            "ls",
            "memory_store",
            "memory_search",
            "cron",
            "discover",
        ]),
    ),
    ("heartbeat-minimal", Some(&["message", "memory_store", "memory_search", "discover"])),
];
