//! Table: every key of the policy file, with its type, its narrowing law and a sentence for people.

use super::{Key, Kind, Narrow, Text};

/// The top of the file.
pub static ROOT: &[Key] = &[
    Key::new("version", Kind::Count(1, 1), Narrow::Free, "The version of the file format.").required(),
    Key::new("jail", Kind::Table(JAIL), Narrow::Inside, "Kernel enforcement around every process."),
    Key::new(
        "profiles",
        Kind::Named(PROFILE),
        Narrow::Inside,
        "Your own jail profiles, on top of built-in ones.",
    ),
    Key::new("limits", Kind::Table(LIMITS), Narrow::Inside, "What a session may use up."),
    Key::new("files", Kind::Table(FILES), Narrow::Inside, "Which files may be read and written."),
    Key::new(
        "rules",
        Kind::Tables(RULE),
        Narrow::Add,
        "Rules on tools, commands, paths, hosts and arguments.",
    ),
    Key::new("commands", Kind::Table(COMMANDS), Narrow::Inside, "Which commands may start."),
    Key::new("network", Kind::Table(NETWORK), Narrow::Inside, "Which hosts may be connected to."),
    Key::new("secrets", Kind::Tables(SECRET), Narrow::Fixed, "Credentials that are added outside the jail."),
    Key::new("tools", Kind::Table(TOOLS), Narrow::Tools, "Which tools the agent may call."),
    Key::new(
        "agents",
        Kind::Named(AGENT),
        Narrow::Inside,
        "What is different for one agent, chosen by `--agent NAME`: it replaces what the same file says about everybody.",
    ),
    Key::new("skills", Kind::Table(SKILLS), Narrow::Inside, "How skills are loaded."),
    Key::new(
        "sources",
        Kind::Named(SOURCE),
        Narrow::Inside,
        "Caps on what comes back from outside, by tool.",
    )
    .later(),
    Key::new("mcp", Kind::Table(MCP), Narrow::Inside, "MCP servers.").later(),
    Key::new("audit", Kind::Table(AUDIT), Narrow::Inside, "The record of every decision."),
];

static JAIL: &[Key] = &[
    Key::new(
        "enabled",
        Kind::Choice(&["always", "never"]),
        Narrow::Order(&["never", "always"]),
        "Whether processes are jailed.",
    ),
    Key::new(
        "on-unavailable",
        Kind::Choice(&["refuse", "run-unjailed"]),
        Narrow::Order(&["run-unjailed", "refuse"]),
        "What happens where no jail can be made.",
    ),
    Key::new(
        "provider",
        Kind::Choice(&["auto", "native", "landlock", "bubblewrap", "seatbelt", "oci", "kubernetes"]),
        Narrow::Fixed,
        "Which implementation makes the jail.",
    ),
    Key::new(
        "profile",
        Kind::Text(Text::Profile),
        Narrow::Profile,
        "The profile of a jail unless a tool has its own.",
    ),
    Key::new(
        "read-only",
        Kind::List(Text::Path),
        Narrow::Within,
        "Directories outside the workspace that may be read.",
    ),
    Key::new(
        "shared",
        Kind::List(Text::Path),
        Narrow::Within,
        "Directories outside the workspace that may be written.",
    ),
    Key::new(
        "toolchains",
        Kind::ChoiceOrList(&["auto", "none"], jail::toolchain::NAMES),
        Narrow::Some,
        "Which installed toolchains a process sees: programs and caches, never credentials.",
    ),
    Key::new(
        "ports-in",
        Kind::List(Text::PortIn),
        Narrow::Within,
        "Ports of the host's loopback that lead to servers inside, as HOST or HOST:INSIDE.",
    ),
    Key::new(
        "ports-out",
        Kind::List(Text::PortOut),
        Narrow::Within,
        "Ports of the host's loopback that can be reached from inside, as HOST or HOST:INSIDE.",
    ),
    Key::new(
        "unprotected",
        Kind::List(Text::ProtectedName),
        Narrow::Within,
        "Protected names that may be changed all the same, as the reference of names writes them.",
    ),
    Key::new(
        "secure-credential-home",
        Kind::Flag,
        Narrow::Order(&["false", "true"]),
        "Whether agents' own credential files stay outside. They always do: `false` changes nothing.",
    )
    .inert(&["false"]),
];

static PROFILE: &[Key] = &[
    Key::new("extends", Kind::Text(Text::Profile), Narrow::Profile, "The profile it starts from.").required(),
    Key::new(
        "network",
        Kind::Choice(&["none", "broker", "open"]),
        Narrow::Order(&["open", "broker", "none"]),
        "Which network a process sees.",
    ),
    Key::new(
        "protect",
        Kind::Choice(&["acts", "all"]),
        Narrow::Order(&["acts", "all"]),
        "Which protected names a command cannot change: those that programs act on, or also those that people and agents read.",
    ),
    Key::new("commands", MODES, CLOSER, "How closely command lines are judged in it."),
    Key::new(
        "require",
        Kind::Table(REQUIRE),
        Narrow::Inside,
        "The least enforcement that is accepted, by layer.",
    ),
    Key::new(
        "read",
        Kind::List(Text::ViewPath),
        Narrow::Within,
        "Paths that are seen and not changed, also inside the workspace, as in `${WORKSPACE}/vendor`. `${RW1}` is the workspace, too; `${RW2}` and on are the directories of `jail.shared`.",
    ),
    Key::new("write", Kind::List(Text::ViewPath), Narrow::Within, "Paths that are seen and may be changed."),
    Key::new("hide", Kind::List(Text::ViewPath), Narrow::Add, "Paths that are empty for the process."),
    Key::new(
        "home",
        Kind::Choice(&["project", "private"]),
        Narrow::Order(&["project", "private"]),
        "The home directory: empty at every start, or kept for the next run in the same workspace.",
    ),
    Key::new(
        "tools",
        Kind::Map(Text::Profile),
        Narrow::Fixed,
        "Another profile for the commands of one tool, such as `exec`; `run` is the door of `exec`.",
    ),
];

const MODES: Kind = Kind::Choice(&["strict", "standard", "off"]);
const CLOSER: Narrow = Narrow::Order(&["off", "standard", "strict"]);
const EFFECTS: &[&str] = &["allow", "ask", "deny"];

static COMMANDS: &[Key] = &[
    Key::new("mode", MODES, CLOSER, "How closely command lines are judged."),
    Key::new(
        "default",
        Kind::Choice(EFFECTS),
        Narrow::Order(EFFECTS),
        "What happens to a program that no rule names.",
    ),
    Key::new(
        "findings",
        Kind::Findings(EFFECTS),
        Narrow::Each(EFFECTS),
        "What single findings mean, whatever the mode.",
    ),
    Key::new("deny", Kind::List(Text::CommandRule), Narrow::Add, "Commands that are denied."),
    Key::new("approve", Kind::List(Text::CommandRule), Narrow::Add, "Commands that a person approves."),
    Key::new("allow", Kind::List(Text::CommandRule), Narrow::Within, "Commands that are allowed."),
];

const LEVELS: Kind = Kind::Choice(&["none", "partial", "full"]);
const STRONGER: Narrow = Narrow::Order(&["none", "partial", "full"]);

static REQUIRE: &[Key] = &[
    Key::new("files", LEVELS, STRONGER, "Enforcement on files."),
    Key::new("network", LEVELS, STRONGER, "Enforcement on connections."),
    Key::new("syscalls", LEVELS, STRONGER, "Enforcement on system calls."),
    Key::new("processes", LEVELS, STRONGER, "Enforcement on processes."),
    Key::new("resources", LEVELS, STRONGER, "Enforcement on memory, processes and time."),
];

static LIMITS: &[Key] = &[
    Key::new("wall-clock", Kind::Time, Narrow::Smaller, "Time from start to end of a command."),
    Key::new("idle", Kind::Time, Narrow::Smaller, "Time a command may be silent."),
    Key::new("memory", Kind::Size, Narrow::Smaller, "Memory of all processes together."),
    Key::new("processes", Kind::Count(1, 1 << 22), Narrow::Smaller, "Processes and threads at once."),
    Key::new("cpu", Kind::Time, Narrow::Smaller, "Processor time of one process."),
    Key::new("open-files", Kind::Count(3, 1 << 30), Narrow::Smaller, "Open files of one process."),
    Key::new("file-size", Kind::Size, Narrow::Smaller, "Size of one file that is written."),
    Key::new("output", Kind::Size, Narrow::Smaller, "Output handed back; the rest is kept aside.")
        .unenforced(),
    Key::new("tmp", Kind::Size, Narrow::Smaller, "Size of the private temporary directory."),
    Key::new("tokens", Kind::Table(TOKENS), Narrow::Inside, "Tokens of the model.").unenforced(),
    Key::new("cost-usd", Kind::Table(COST), Narrow::Inside, "Money spent on the model.").unenforced(),
    Key::new("steps", Kind::Count(1, 1 << 30), Narrow::Smaller, "Steps of the agent.").unenforced(),
    Key::new("breaker", Kind::Table(BREAKER), Narrow::Inside, "When repeated failures switch a tool off.")
        .unenforced(),
];

const TOKEN_COUNT: Kind = Kind::Count(0, 1 << 50);

static TOKENS: &[Key] = &[
    Key::new("execution", TOKEN_COUNT, Narrow::Smaller, "Tokens in one execution.").unenforced(),
    Key::new("hour", TOKEN_COUNT, Narrow::Smaller, "Tokens in a rolling hour.").unenforced(),
    Key::new("day", TOKEN_COUNT, Narrow::Smaller, "Tokens in a rolling day.").unenforced(),
];

static COST: &[Key] = &[
    Key::new("execution", Kind::Money, Narrow::Smaller, "Dollars in one execution.").unenforced(),
    Key::new("hour", Kind::Money, Narrow::Smaller, "Dollars in a rolling hour.").unenforced(),
    Key::new("day", Kind::Money, Narrow::Smaller, "Dollars in a rolling day.").unenforced(),
];

static BREAKER: &[Key] = &[
    Key::new("failures", Kind::Count(1, 1000), Narrow::Smaller, "Failures in a row until the breaker opens.")
        .unenforced(),
    Key::new("cooldown", Kind::Time, Narrow::Fixed, "Time until one probe is let through.").unenforced(),
];

static FILES: &[Key] = &[
    Key::new(
        "jail",
        Kind::FlagOr(&["ask"]),
        Narrow::Order(&["false", "ask", "true"]),
        "Whether file tools stay in the workspace: true, false, or ask at the border.",
    ),
    Key::new(
        "absolute-paths",
        Kind::Flag,
        Narrow::Order(&["true", "false"]),
        "Whether a path may be written from the root.",
    ),
    Key::new(
        "forbidden",
        Kind::List(Text::PathPattern),
        Narrow::Add,
        "Names that nothing overrules, in any case and spelling; with everything in a directory of such a name. What exists when a command starts is unreadable in its jail.",
    ),
    Key::new(
        "exempt",
        Kind::List(Text::PathPattern),
        Narrow::Within,
        "Names that `forbidden` does not mean, such as templates without secrets.",
    ),
    Key::new("read", Kind::Table(ACCESS), Narrow::Inside, "What may be read."),
    Key::new("write", Kind::Table(ACCESS), Narrow::Inside, "What may be written."),
];

static ACCESS: &[Key] = &[
    Key::new(
        "default",
        Kind::Choice(&["allow", "ask", "deny"]),
        Narrow::Order(&["allow", "ask", "deny"]),
        "What happens to a file that no pattern names.",
    ),
    Key::new("allow", Kind::List(Text::PathPattern), Narrow::Within, "Files that are allowed."),
    Key::new("deny", Kind::List(Text::PathPattern), Narrow::Add, "Files that are denied."),
];

static RULE: &[Key] = &[
    Key::new(
        "rule",
        Kind::Text(Text::RuleString),
        Narrow::Free,
        "A rule string, such as `Bash(git push:*)` or `Read(~/.ssh/**)`, instead of the next four keys.",
    ),
    Key::new("tool", Kind::Text(Text::Tool), Narrow::Free, "The tool that asks; `*` is a wildcard."),
    Key::new(
        "command",
        Kind::Text(Text::CommandPattern),
        Narrow::Free,
        "Globs on the words of a command, or `re:` and a regular expression.",
    ),
    Key::new(
        "path",
        Kind::Text(Text::PathPattern),
        Narrow::Free,
        "A path pattern, or `re:` and a regular expression.",
    ),
    Key::new(
        "host",
        Kind::Text(Text::HostPattern),
        Narrow::Free,
        "A host pattern, or `re:` and a regular expression.",
    ),
    Key::new(
        "args",
        Kind::Map(Text::Pattern),
        Narrow::Free,
        "Patterns on the arguments of a tool call, by name.",
    ),
    Key::new(
        "action",
        Kind::Choice(&["allow", "ask", "deny"]),
        Narrow::Free,
        "What happens when the rule matches.",
    )
    .required(),
    Key::new(
        "reason",
        Kind::Text(Text::Words),
        Narrow::Free,
        "Why, in words that are shown to people and agents.",
    ),
    Key::new(
        "match",
        Kind::List(Text::Example),
        Narrow::Free,
        "Examples the rule must match, checked when the file is loaded.",
    ),
    Key::new("not-match", Kind::List(Text::Example), Narrow::Free, "Examples the rule must not match."),
];

static NETWORK: &[Key] = &[
    Key::new(
        "allow",
        Kind::TextsOrTables(Text::HostEntry, HOST_RULE),
        Narrow::Within,
        "Hosts that may be connected to: a host, a pattern, a set such as `@npm`, or a table that also names methods and paths.",
    ),
    Key::new(
        "deny",
        Kind::List(Text::HostEntry),
        Narrow::Add,
        "Hosts that may not, with everything below them; also sets.",
    ),
    Key::new(
        "unknown",
        Kind::Choice(&["ask", "deny"]),
        Narrow::Order(&["ask", "deny"]),
        "What happens to a host that no rule names.",
    ),
    Key::new(
        "hosts",
        Kind::Map(Text::HostAddress),
        Narrow::Fixed,
        "Fixed addresses of names, which may be private, as in `\"registry.corp\" = \"10.0.0.7\"`; a port replaces the one that was asked for.",
    ),
    Key::new(
        "proxy",
        Kind::Text(Text::Proxy),
        Narrow::Fixed,
        "The proxy through which connections leave: `http://HOST:PORT` or `socks5h://HOST:PORT`.",
    ),
    Key::new(
        "proxy-secret",
        Kind::Text(Text::Name),
        Narrow::Fixed,
        "The secret with `USER:PASSWORD` for the proxy, kept by `ringfence secret set`.",
    ),
    Key::new(
        "ca",
        Kind::List(Text::Path),
        Narrow::Fixed,
        "Files with certificates of authorities (PEM) that are trusted besides those of the system.",
    ),
];

static HOST_RULE: &[Key] = &[
    Key::new("host", Kind::Text(Text::HostPattern), Narrow::Free, "The host or host pattern.").required(),
    Key::new(
        "methods",
        Kind::List(Text::Method),
        Narrow::Free,
        "The only methods that are permitted, such as `GET`; all, if not given. TLS to the host is intercepted.",
    ),
    Key::new(
        "paths",
        Kind::List(Text::UrlPath),
        Narrow::Free,
        "The only paths that are permitted, such as `/repos/*`; all, if not given. TLS to the host is intercepted.",
    ),
];

static SECRET: &[Key] = &[
    Key::new(
        "preset",
        Kind::Text(Text::Preset),
        Narrow::Fixed,
        "A well-known service, which fills in the keys that are not given.",
    ),
    Key::new("name", Kind::Text(Text::Name), Narrow::Fixed, "The name of the secret."),
    Key::new(
        "host",
        Kind::Text(Text::Endpoint),
        Narrow::Fixed,
        "The host it is sent to, with its port if that is not 443.",
    ),
    Key::new(
        "scheme",
        Kind::Choice(&["https", "http"]),
        Narrow::Fixed,
        "The protocol it is sent over; `https`, if not given.",
    ),
    Key::new(
        "methods",
        Kind::List(Text::Method),
        Narrow::Fixed,
        "The methods it is sent with; all, if not given. Other requests to the host are refused.",
    ),
    Key::new(
        "paths",
        Kind::List(Text::UrlPath),
        Narrow::Fixed,
        "The paths it is sent to; all, if not given. Other requests to the host are refused.",
    ),
    Key::new(
        "from",
        Kind::Text(Text::Source),
        Narrow::Fixed,
        "Where the value comes from: `env:NAME`, `cmd:PROGRAM ARGUMENT…` or `file:PATH#/JSON/POINTER`; kept by Ringfence, if not given.",
    ),
    Key::new("inject", Kind::Table(INJECT), Narrow::Fixed, "How it is added to a request: exactly one way."),
    Key::new(
        "placeholder",
        Kind::Text(Text::Variable),
        Narrow::Fixed,
        "The variable that programs inside see, with a worthless value.",
    ),
];

static INJECT: &[Key] = &[
    Key::new("header", Kind::Text(Text::Name), Narrow::Fixed, "In this header."),
    Key::new("bearer", Kind::Flag, Narrow::Fixed, "As a bearer token."),
    Key::new("basic", Kind::Text(Text::Words), Narrow::Fixed, "As the password of this user."),
    Key::new("query", Kind::Text(Text::Name), Narrow::Fixed, "In this query parameter."),
    Key::new(
        "replace",
        Kind::Flag,
        Narrow::Fixed,
        "In place of the placeholder, where the program put it in headers and query.",
    ),
    Key::new(
        "aws-sigv4",
        Kind::Flag,
        Narrow::Fixed,
        "By signing the request anew; the value is `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`.",
    ),
];

static TOOLS: &[Key] = &[
    Key::new(
        "profile",
        Kind::Choice(&[
            "minimal",
            "coding",
            "messaging",
            "supervisor",
            "full",
            "cron-minimal",
            "heartbeat-minimal",
        ]),
        Narrow::Free,
        "The tools it starts from.",
    ),
    Key::new("allow", Kind::List(Text::ToolEntry), Narrow::Free, "Tools and groups that are added."),
    Key::new(
        "deny",
        Kind::List(Text::ToolEntry),
        Narrow::Add,
        "Tools and groups that are taken away. Deny wins.",
    ),
];

static AGENT: &[Key] = &[
    Key::new("profile", Kind::Text(Text::Profile), Narrow::Profile, "The profile of its jail."),
    Key::new("limits", Kind::Table(LIMITS), Narrow::Inside, "What its session may use up."),
    Key::new("rules", Kind::Tables(RULE), Narrow::Add, "Rules on top of those for everybody."),
    Key::new("tools", Kind::Table(TOOLS), Narrow::Tools, "Which tools it may call."),
];

static SKILLS: &[Key] = &[Key::new("scan", Kind::Table(SCAN), Narrow::Inside, "How skills are scanned.")];

static SCAN: &[Key] = &[
    Key::new("enabled", Kind::Flag, Narrow::Order(&["false", "true"]), "Whether skills are scanned."),
    Key::new(
        "block-on-critical",
        Kind::Flag,
        Narrow::Order(&["false", "true"]),
        "Whether a critical finding blocks the skill.",
    ),
    Key::new(
        "oversize",
        Kind::Choice(&["refuse", "truncate"]),
        Narrow::Order(&["truncate", "refuse"]),
        "What happens to a skill that is too long.",
    ),
    Key::new("max-chars", Kind::Count(1, 10_000_000), Narrow::Smaller, "The longest skill, in characters."),
    Key::new("allow", Kind::Tables(SCAN_ALLOW), Narrow::Fixed, "Findings that were reviewed and accepted."),
];

static SCAN_ALLOW: &[Key] = &[
    Key::new("rule", Kind::Text(Text::Name), Narrow::Fixed, "The rule of the finding.").required(),
    Key::new("path", Kind::Text(Text::PathPattern), Narrow::Fixed, "The files it is accepted in.").required(),
    Key::new("reason", Kind::Text(Text::Words), Narrow::Fixed, "Who reviewed it and why it is fine.")
        .required(),
];

static SOURCE: &[Key] = &[
    Key::new("max-bytes", Kind::Size, Narrow::Smaller, "Bytes read from outside.").unenforced(),
    Key::new("max-chars", Kind::Count(100, 500_000), Narrow::Smaller, "Characters handed to the agent.")
        .unenforced(),
    Key::new(
        "strategy",
        Kind::Choice(&["readability", "structured", "head", "tail", "head-tail", "raw"]),
        Narrow::Fixed,
        "What is kept of a long result.",
    )
    .unenforced(),
];

static MCP: &[Key] = &[Key::new("servers", Kind::Named(SERVER), Narrow::Inside, "Servers by name.").later()];

static SERVER: &[Key] = &[
    Key::new("command", Kind::List(Text::Argument), Narrow::Fixed, "The program and its arguments.")
        .required()
        .later(),
    Key::new("profile", Kind::Text(Text::Profile), Narrow::Profile, "The profile of its jail.").later(),
    Key::new("tools", Kind::Table(SERVER_TOOLS), Narrow::Inside, "Which of its tools are passed on.").later(),
];

static SERVER_TOOLS: &[Key] = &[
    Key::new("allow", Kind::List(Text::Pattern), Narrow::Within, "Tools that are passed on.").later(),
    Key::new("deny", Kind::List(Text::Pattern), Narrow::Add, "Tools that are not. Deny wins.").later(),
];

static AUDIT: &[Key] = &[Key::new("path", Kind::Text(Text::Path), Narrow::Fixed, "The file of the ledger.")];
