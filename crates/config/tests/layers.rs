//! Three layers: what each may say, and that the project's can only narrow.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use policy::{
    Arguments, Argv, Code, Effect, Execution, Finding, Invocation, Program, Request, Span, ToolName, Want,
    Word,
};
use proptest::prelude::*;
use ringfence_config::{Places, Problems, Sample, Scope, Settings, Source, from_sources};

fn places() -> Places {
    Places {
        workspace: PathBuf::from("/ws"),
        home: Some(PathBuf::from("/home/me")),
        state: Some(PathBuf::from("/home/me/.local/state")),
        run: Some("run-1".into()),
    }
}

fn load(layers: &[(Scope, &str)]) -> Result<Settings, Problems> {
    let source = |(scope, text): &(Scope, &str)| {
        let path = format!("{}.toml", scope.word());
        Source::new(*scope, Path::new(&path), format!("version = 1\n{text}\n"))
    };
    from_sources(layers.iter().map(source).collect(), &places())
}

fn decide(settings: &Settings, line: &str) -> Effect {
    settings.decide(&Sample::parse(line, &places()).unwrap().request()).effect()
}

/// Rows: the user's file, the project's file, and what the first problem says of it.
const WIDENING: &[(&str, &str, &str)] = &[
    ("", "jail.enabled = \"never\"", "`jail.enabled`: `\"never\"`"),
    ("", "jail.on-unavailable = \"run-unjailed\"", "`jail.on-unavailable`"),
    ("", "jail.provider = \"landlock\"", "`jail.provider`"),
    ("", "jail.secure-credential-home = false", "`jail.secure-credential-home`"),
    ("", "jail.read-only = [\"/opt\"]", "`jail.read-only`: `/opt`"),
    ("", "jail.shared = [\"/opt\"]", "`jail.shared`"),
    ("", "jail.unprotected = [\"CLAUDE.md\"]", "`jail.unprotected`: `CLAUDE.md`"),
    ("jail.unprotected = [\".vscode\"]", "jail.unprotected = [\".idea\"]", "`jail.unprotected`: `.idea`"),
    ("", "jail.ports-in = [\"3000\"]", "`jail.ports-in`"),
    ("jail.ports-out = [\"80\"]", "jail.ports-out = [\"80:81\"]", "`jail.ports-out`"),
    ("jail.toolchains = \"none\"", "jail.toolchains = \"auto\"", "`jail.toolchains`"),
    ("jail.toolchains = [\"go\"]", "jail.toolchains = [\"go\", \"rust\"]", "`jail.toolchains`"),
    ("jail.toolchains = \"none\"", "jail.toolchains = [\"rust\"]", "`jail.toolchains`"),
    ("jail.read-only = [\"/opt/a\"]", "jail.read-only = [\"/opt\"]", "`jail.read-only`: `/opt`"),
    ("jail.profile = \"readonly\"", "jail.profile = \"workspace-write\"", "`jail.profile`"),
    (
        "",
        "[profiles.x]\nextends = \"workspace-write\"\nnetwork = \"open\"\n[jail]\nprofile = \"x\"",
        "`jail.profile`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\nnetwork = \"none\"",
        "[profiles.x]\nextends = \"readonly\"\nnetwork = \"open\"",
        "`profiles.x.network`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"workspace-write\"",
        "`profiles.x.extends`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\nrequire = { files = \"full\" }",
        "[profiles.x]\nextends = \"readonly\"\nrequire = { files = \"none\" }",
        "`profiles.x.require.files`",
    ),
    // An inherited setting counts as if it were written in the profile.
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"readonly\"\nnetwork = \"open\"",
        "the profile `x`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"readonly\"\nrequire = { files = \"none\" }",
        "the profile `x`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"readonly\"\nread = [\"/root\"]",
        "the profile `x`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\nread = [\"/opt\"]",
        "[profiles.x]\nextends = \"readonly\"\nread = [\"/opt/a\", \"/root\"]",
        "`profiles.x.read`: `/root`",
    ),
    (
        "",
        "[profiles.x]\nextends = \"workspace-write\"\nread = [\"/root\"]\n[jail]\nprofile = \"x\"",
        "`jail.profile`",
    ),
    (
        "",
        "[profiles.x]\nextends = \"workspace-write\"\nrequire = { syscalls = \"partial\" }\n[jail]\nprofile = \"x\"",
        "`jail.profile`",
    ),
    (
        "[profiles.x]\nextends = \"workspace-write\"\nhide = [\"/ws/a\"]\n[jail]\nprofile = \"x\"",
        "jail.profile = \"workspace-write\"",
        "`jail.profile`",
    ),
    // Settings about one agent are bounded by those of wider layers about that agent.
    ("", "[agents.x.tools]\nallow = [\"browser\"]", "`tools`: `browser`"),
    ("", "[agents.x.tools]\nprofile = \"full\"", "`tools`: every tool"),
    ("", "[agents.x.limits]\nsteps = 151", "`limits.steps`"),
    (
        "",
        "[agents.x]\nprofile = \"y\"\n[profiles.y]\nextends = \"workspace-write\"\nnetwork = \"open\"",
        "`jail.profile`",
    ),
    ("[agents.x]\nprofile = \"readonly\"", "[agents.x]\nprofile = \"workspace-write\"", "`jail.profile`"),
    ("", "[[agents.x.rules]]\ncommand = \"ls\"\naction = \"allow\"", "`rules`: an allow rule"),
    ("tools.allow = [\"my_tool\"]", "tools.allow = [\"my_other\"]", "`tools`: `my_other`"),
    ("tools.allow = [\"my_tool\"]", "tools.allow = [\"my_*\"]", "`tools`: `my_*`"),
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\" }",
        "cannot widen",
    ),
    (
        "[profiles.r]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\" }\n[jail]\nprofile = \"readonly\"",
        "[profiles.p]\nextends = \"r\"\n[jail]\nprofile = \"p\"",
        "`jail.profile`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"readonly\"\nwrite = [\"${WORKSPACE}/a\"]",
        "the profile `x`",
    ),
    ("limits.memory = \"1GiB\"", "limits.memory = \"2GiB\"", "`limits.memory`: `\"2GiB\"`"),
    ("", "limits.steps = 151", "`limits.steps`"),
    ("", "limits.tokens.hour = 10_000_001", "`limits.tokens.hour`"),
    ("", "limits.breaker.failures = 6", "`limits.breaker.failures`"),
    ("limits.wall-clock = \"10m\"", "limits.wall-clock = \"601s\"", "`limits.wall-clock`"),
    ("limits.cpu = \"1m\"", "limits.cpu = \"61s\"", "`limits.cpu`"),
    ("", "limits.file-size = \"17GiB\"", "`limits.file-size`"),
    ("", "limits.memory = \"3GiB\"", "`limits.memory`"),
    ("", "limits.processes = 1025", "`limits.processes`"),
    ("limits.cost-usd.execution = 5.0", "limits.cost-usd.execution = 5.01", "`limits.cost-usd.execution`"),
    ("", "files.jail = false", "`files.jail`: `false`"),
    ("", "files.jail = \"ask\"", "`files.jail`"),
    ("files.absolute-paths = false", "files.absolute-paths = true", "`files.absolute-paths`"),
    ("files.read.default = \"deny\"", "files.read.default = \"ask\"", "`files.read.default`"),
    (
        "files.read = { default = \"ask\", allow = [\"src/**\"] }",
        "files.read.allow = [\"**\"]",
        "`files.read.allow`",
    ),
    (
        "files.write = { default = \"ask\", allow = [] }",
        "files.write.allow = [\"out/**\"]",
        "`files.write.allow`",
    ),
    ("", "files.read.allow = [\"/etc/**\"]", "`files.read.allow`: `/etc/**`"),
    ("", "[[rules]]\ntool = \"exec\"\ncommand = \"make\"\naction = \"allow\"", "`rules`: an allow rule"),
    ("", "network.allow = [\"github.com\"]", "`network.allow`: `github.com`"),
    ("network.allow = [\"*.example.org\"]", "network.allow = [\"example.org\"]", "`network.allow`"),
    ("network.unknown = \"deny\"", "network.unknown = \"ask\"", "`network.unknown`"),
    ("", "commands.mode = \"off\"", "`commands.mode`: `\"off\"`"),
    ("commands.mode = \"strict\"", "commands.mode = \"standard\"", "`commands.mode`"),
    ("commands.default = \"deny\"", "commands.default = \"ask\"", "`commands.default`"),
    ("", "commands.allow = [\"make\"]", "`commands.allow`: `make`"),
    ("commands.allow = [\"sed\"]", "commands.allow = [\"sed -i*\"]", "`commands.allow`: `sed -i*`"),
    ("", "commands.findings = { RF-S016 = \"allow\" }", "`commands.findings.RF-S016`: `\"allow\"`"),
    (
        "commands.mode = \"strict\"",
        "commands.findings = { RF-S004 = \"ask\" }",
        "`commands.findings.RF-S004`: `\"ask\"`",
    ),
    (
        "commands.findings = { RF-S004 = \"deny\" }",
        "commands.findings = { RF-S004 = \"ask\" }",
        "`commands.findings.RF-S004`",
    ),
    ("", "[[rules]]\nrule = \"Bash(make)\"\naction = \"allow\"", "`rules`: an allow rule"),
    (
        "[profiles.x]\nextends = \"readonly\"\ncommands = \"strict\"",
        "[profiles.x]\nextends = \"readonly\"\ncommands = \"off\"",
        "`profiles.x.commands`",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"",
        "[profiles.x]\nextends = \"readonly\"\ncommands = \"off\"",
        "the profile `x`",
    ),
    (
        "",
        "[profiles.x]\nextends = \"workspace-write\"\ncommands = \"off\"\n[jail]\nprofile = \"x\"",
        "`jail.profile`",
    ),
    ("", "[[secrets]]\nname = \"a\"\nhost = \"a.com\"\ninject = { bearer = true }", "`secrets`"),
    ("", "tools.profile = \"full\"", "`tools`: every tool"),
    ("", "tools.allow = [\"browser\"]", "`tools`: `browser`"),
    ("", "tools.allow = [\"mcp__a--*\"]", "`tools`: `mcp__a--*`"),
    ("tools.deny = [\"exec\"]", "tools = { profile = \"supervisor\" }", "`tools`"),
    ("", "skills.scan.enabled = false", "`skills.scan.enabled`"),
    ("", "skills.scan.block-on-critical = false", "`skills.scan.block-on-critical`"),
    ("", "skills.scan.oversize = \"truncate\"", "`skills.scan.oversize`"),
    ("", "skills.scan.max-chars = 20_001", "`skills.scan.max-chars`"),
    ("", "[[skills.scan.allow]]\nrule = \"X\"\npath = \"a\"\nreason = \"because\"", "`skills.scan.allow`"),
    ("", "sources.web_fetch.max-bytes = \"3MB\"", "`sources.web_fetch.max-bytes`"),
    ("", "sources.web_fetch.strategy = \"raw\"", "`sources.web_fetch.strategy`"),
    ("", "[mcp.servers.evil]\ncommand = [\"sh\"]", "`mcp.servers.evil.command`"),
    (
        "[mcp.servers.a]\ncommand = [\"a\"]\ntools = { allow = [\"read_*\"] }",
        "[mcp.servers.a]\ncommand = [\"a\"]\ntools = { allow = [\"*\"] }",
        "`mcp.servers.a.tools.allow`",
    ),
    ("", "audit.path = \"/tmp/x\"", "`audit.path`"),
];

#[test]
fn the_project_cannot_widen() {
    for (user, project, expected) in WIDENING {
        let Err(problems) = load(&[(Scope::User, user), (Scope::Project, project)]) else {
            panic!("{project} was accepted on top of {user:?}");
        };
        let problem = &problems.0[0];
        assert_eq!(problem.code, Code::LayerWidens, "{problem}");
        assert!(problem.message.contains(expected), "{problem} does not say {expected}");
        let place = problem.place.as_ref().unwrap();
        assert_eq!(place.source.scope, Scope::Project);
        assert!(place.source.line(place.span.start).get() > 1, "{problem}");
    }
}

#[test]
fn the_user_may_say_what_the_project_may_not() {
    for (user, project, _) in WIDENING {
        // Everything that the project is refused, the user may set, if the rest of the user's file does not speak of it.
        if user.is_empty() {
            let loaded = load(&[(Scope::User, project)]);
            assert!(loaded.is_ok(), "{project}: {}", loaded.err().unwrap());
        }
    }
}

#[test]
fn the_user_cannot_widen_what_the_administrator_says() {
    for (managed, user, expected) in WIDENING.iter().filter(|(managed, _, _)| !managed.is_empty()) {
        let Err(problems) = load(&[(Scope::Managed, managed), (Scope::User, user)]) else {
            panic!("{user} was accepted on top of {managed}");
        };
        assert!(problems.0[0].message.contains(expected), "{problems}");
    }
}

/// The administrator's word stands key by key: a default leaves room for exceptions, a denial does not.
#[test]
fn the_user_may_except_from_a_default_and_not_from_a_denial() {
    let managed = "files.write = { default = \"deny\", deny = [\"ops/**\"] }";
    let user =
        "files.write.allow = [\"src/**\", \"ops/**\"]\n[[rules]]\npath = \"ops/a\"\naction = \"allow\"";
    let settings = load(&[(Scope::Managed, managed), (Scope::User, user)]).unwrap();
    let rows =
        [("write src/a", Effect::Allow), ("write docs/a", Effect::Deny), ("write ops/a", Effect::Deny)];
    for (line, expected) in rows {
        assert_eq!(decide(&settings, line), expected, "{line}");
    }
}

#[test]
fn the_project_can_narrow() {
    let rows: &[(&str, &str, &str, Effect, Effect)] = &[
        ("", "files.forbidden = [\"docs/**\"]", "read docs/a", Effect::Allow, Effect::Deny),
        ("", "files.forbidden = [\"docs/**\"]", "read .env", Effect::Deny, Effect::Deny),
        ("", "files.read.deny = [\"a\"]", "read a", Effect::Allow, Effect::Deny),
        ("", "files.write.default = \"ask\"", "write a", Effect::Allow, Effect::Ask),
        (
            "",
            "files.write = { default = \"deny\", allow = [\"out/**\"] }",
            "write out/a",
            Effect::Allow,
            Effect::Allow,
        ),
        (
            "",
            "files.write = { default = \"deny\", allow = [\"out/**\"] }",
            "write src/a",
            Effect::Allow,
            Effect::Deny,
        ),
        (
            "files.write = { default = \"ask\", allow = [\"src/**\", \"out/**\"] }",
            "files.write.allow = [\"src/a/**\"]",
            "write out/a",
            Effect::Allow,
            Effect::Ask,
        ),
        (
            "network.allow = [\"*.a.com\", \"b.com\"]",
            "network.allow = [\"x.a.com\"]",
            "connect b.com",
            Effect::Allow,
            Effect::Ask,
        ),
        (
            "network.allow = [\"*.a.com\"]",
            "network.allow = [\"x.a.com\"]",
            "connect x.a.com",
            Effect::Allow,
            Effect::Allow,
        ),
        (
            "network.allow = [\"a.com\"]",
            "network.deny = [\"a.com\"]",
            "connect a.com",
            Effect::Allow,
            Effect::Deny,
        ),
        ("", "network.unknown = \"deny\"", "connect a.com", Effect::Ask, Effect::Deny),
        ("", "tools.deny = [\"exec\"]", "call exec", Effect::Allow, Effect::Deny),
        ("", "tools.profile = \"minimal\"", "call grep", Effect::Allow, Effect::Deny),
        ("", "[[rules]]\npath = \"a\"\naction = \"ask\"", "read a", Effect::Allow, Effect::Ask),
        ("files.jail = false", "files.jail = true", "read /etc/hosts", Effect::Allow, Effect::Deny),
        ("files.jail = false", "files.jail = \"ask\"", "read /etc/hosts", Effect::Allow, Effect::Ask),
        // If the project asks, a denial stays a denial.
        (
            "files.jail = false\nfiles.read.default = \"deny\"",
            "files.jail = \"ask\"",
            "read /etc/hosts",
            Effect::Deny,
            Effect::Deny,
        ),
        ("", "[[rules]]\ncommand = \"make\"\naction = \"ask\"", "exec make", Effect::Allow, Effect::Ask),
        ("", "commands.approve = [\"make\"]", "exec make", Effect::Allow, Effect::Ask),
        ("", "commands.deny = [\"Bash(make:*)\"]", "exec make all", Effect::Allow, Effect::Deny),
        ("", "commands.default = \"ask\"", "exec make", Effect::Allow, Effect::Ask),
        (
            "commands.default = \"deny\"",
            "commands.approve = [\"make\"]",
            "exec make",
            Effect::Deny,
            Effect::Deny,
        ),
        (
            "commands = { default = \"ask\", allow = [\"make\", \"git status\"] }",
            "commands.allow = [\"make\"]",
            "exec git status",
            Effect::Allow,
            Effect::Ask,
        ),
        // A finding that the project makes a question is no answer to what is denied.
        (
            "commands.default = \"deny\"",
            "commands.findings = { RF-R003 = \"ask\" }",
            "exec $X make",
            Effect::Deny,
            Effect::Deny,
        ),
        ("", "commands.findings = { RF-R003 = \"deny\" }", "exec $X make", Effect::Ask, Effect::Deny),
    ];
    for (user, project, line, before, after) in rows {
        let wide = load(&[(Scope::User, user)]).unwrap();
        let narrow = load(&[(Scope::User, user), (Scope::Project, project)])
            .unwrap_or_else(|e| panic!("{project}: {e}"));
        assert_eq!((decide(&wide, line), decide(&narrow, line)), (*before, *after), "{project}: {line}");
    }
}

#[test]
fn a_layer_knows_only_itself_and_wider_ones() {
    let user = "jail.profile = \"x\"";
    let project = "[profiles.x]\nextends = \"readonly\"";
    let Err(problems) = load(&[(Scope::User, user), (Scope::Project, project)]) else { panic!("accepted") };
    assert_eq!(problems.0[0].code, Code::UnknownName);
    let cycle = "[profiles.a]\nextends = \"b\"\n[profiles.b]\nextends = \"a\"";
    let Err(problems) = load(&[(Scope::User, cycle)]) else { panic!("accepted") };
    assert_eq!(problems.0[0].code, Code::BadValue);
    load(&[(Scope::User, "[profiles.a]\nextends = \"b\"\n[profiles.b]\nextends = \"readonly\"")]).unwrap();
    load(&[(Scope::Project, "[profiles.x]\nextends = \"readonly\"\n[jail]\nprofile = \"x\"")]).unwrap();
}

const FRAGMENTS: &[&str] = &[
    "[files.read]\ndefault = \"ask\"",
    "[files.read]\ndefault = \"deny\"\nallow = [\"src/**\", \"a\"]",
    "[files.read]\nallow = [\"**\"]",
    "[files.read]\nallow = [\"src/a\"]\ndeny = [\"src/**\"]",
    "[files.write]\ndefault = \"deny\"\nallow = [\"src/**\"]",
    "[files.write]\ndefault = \"ask\"\ndeny = [\"**/*.lock\"]",
    "[files]\njail = false",
    "[files]\njail = \"ask\"\nforbidden = [\"src/b\"]",
    "[network]\nallow = [\"*.a.com\", \"b.com\"]",
    "[network]\nallow = [\"x.a.com\"]\nunknown = \"deny\"",
    "[network]\ndeny = [\"b.com\"]",
    "[tools]\nprofile = \"full\"",
    "[tools]\nprofile = \"minimal\"\nallow = [\"exec\"]",
    "[tools]\ndeny = [\"group:coding\"]",
    "[tools]\nallow = [\"mcp__a--*\", \"browser\"]",
    "[[rules]]\npath = \"src/**\"\naction = \"ask\"",
    "[[rules]]\npath = \"src/**\"\naction = \"allow\"",
    "[[rules]]\ncommand = \"git push\"\naction = \"deny\"",
    "[[rules]]\ntool = \"exec\"\naction = \"allow\"",
    "[[rules]]\nhost = \"b.com\"\naction = \"ask\"",
    "[[rules]]\nrule = \"Bash(make:*)\"\naction = \"ask\"",
    "[[rules]]\nrule = \"Read(src/b)\"\naction = \"deny\"",
    "[commands]\ndefault = \"deny\"\nallow = [\"make\", \"Bash(git push:*)\"]",
    "[commands]\ndefault = \"ask\"\nallow = [\"make\"]\nfindings = { RF-S004 = \"deny\" }",
    "[commands]\nmode = \"off\"\nallow = [\"make\"]",
    "[commands]\nmode = \"strict\"\nfindings = { RF-R003 = \"deny\", RF-S016 = \"ask\" }",
    "[commands]\nmode = \"off\"\nallow = []",
    "[commands]\ndeny = [\"git push\"]\napprove = [\"make\", \"cat\"]",
    "[commands]\ndeny = [\"cat /ws/src/**\"]\nfindings = { RF-S016 = \"allow\" }",
    "[profiles.x]\nextends = \"workspace-write\"\ncommands = \"strict\"",
];

const REQUESTS: &[&str] = &[
    "read src/a",
    "read src/b",
    "read a",
    "read /etc/hosts",
    "write src/a",
    "write Cargo.lock",
    "write /etc/hosts",
    "write ringfence.toml",
    "connect x.a.com",
    "connect a.com",
    "connect b.com",
    "connect c.com",
    "connect 10.0.0.1",
    "call read",
    "call exec",
    "call browser",
    "call mcp__a--x",
    "exec git push",
    "exec make",
    "exec $X make",
    "exec cat src/a",
    "exec cat src/b",
    "exec rm Cargo.lock",
];

/// Lines of several programs, and what was noticed in them.
const LINES: &[(&[&str], &[Code])] = &[
    (&["git push", "make"], &[]),
    (&["make", "cat src/b"], &[]),
    (&["git push", "ls"], &[]),
    (&["make"], &[Code::CommandSubstitution]),
    (&["make"], &[Code::EnvironmentOverride, Code::Unprovable]),
    (&["ls"], &[Code::Unprovable]),
    (&["ls"], &[Code::EnvironmentOverride]),
    (&[], &[Code::Unreadable]),
    (&[], &[]),
];

fn decide_line(settings: &Settings, programs: &[&str], findings: &[Code]) -> Effect {
    let program = |line: &&str| {
        let words = line.split(' ').map(Word::literal).collect();
        Program::alone(Argv::new(words).unwrap(), Some("/ws".into()))
    };
    let finding = |code: &Code| Finding::new(*code, Span::default(), "noticed");
    let invocation = Invocation {
        programs: programs.iter().map(program).collect(),
        findings: findings.iter().map(finding).collect(),
    };
    let tool = ToolName::parse("exec").unwrap();
    settings
        .decide(&Request {
            tool: &tool,
            want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }),
        })
        .effect()
}

/// Fragments that share a table cannot stand in one file; such files are not TOML and are left out.
fn file() -> impl Strategy<Value = String> {
    proptest::sample::subsequence(FRAGMENTS, 0..4).prop_map(|fragments| fragments.join("\n"))
}

proptest! {
    /// The law behind all rows above: no project file makes anything more allowed.
    #[test]
    fn no_project_file_allows_more(user in file(), project in file()) {
        let Ok(wide) = load(&[(Scope::User, &user)]) else { return Ok(()) };
        let Ok(narrow) = load(&[(Scope::User, &user), (Scope::Project, &project)]) else { return Ok(()) };
        for line in REQUESTS {
            let (before, after) = (decide(&wide, line), decide(&narrow, line));
            prop_assert!(after >= before, "{line}: {before:?} became {after:?}\n--- user\n{user}\n--- project\n{project}");
        }
        for (programs, findings) in LINES {
            let (before, after) =
                (decide_line(&wide, programs, findings), decide_line(&narrow, programs, findings));
            prop_assert!(after >= before, "{programs:?} {findings:?}: {before:?} became {after:?}\n--- user\n{user}\n--- project\n{project}");
        }
    }
}

#[test]
fn limits_are_read_in_their_units() {
    let text = "limits = { wall-clock = \"1m\", cpu = \"90s\", memory = \"1GiB\", file-size = \"2KB\" }";
    let limits = load(&[(Scope::User, text)]).unwrap().limits();
    assert_eq!(
        (limits.wall_clock, limits.cpu),
        (Some(Duration::from_secs(60)), Some(Duration::from_secs(90)))
    );
    assert_eq!((limits.memory, limits.file_size, limits.idle), (Some(1 << 30), Some(2_000), None));
    assert_eq!((limits.processes, limits.tmp), (Some(1024), Some(1_000_000_000)), "built in");
}
