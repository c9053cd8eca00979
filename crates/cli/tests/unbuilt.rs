//! A policy does not promise what nothing enforces: settings without effect are told, and `check host` answers what would happen.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may unwrap")]

mod stage;

use stage::{Ended, Stage, ended};

fn staged(policy: &str) -> Stage {
    let stage = Stage::bare();
    std::fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    std::fs::write(stage.path("home/.config/ringfence/policy.toml"), format!("version = 1\n{policy}\n"))
        .unwrap();
    stage
}

fn call(stage: &Stage, line: &str) -> Ended {
    ended(stage.command().args(line.split_whitespace()))
}

/// Rows: what the policy says, and what is told about it, with the line.
const TOLD: &[(&str, &[&str])] = &[
    ("limits.steps = 10", &["not enforced yet", "`limits.steps`", "policy.toml:2"]),
    ("limits.tokens.hour = 10", &["not enforced yet", "`limits.tokens.hour`"]),
    ("limits.cost-usd.day = 1.0", &["not enforced yet", "`limits.cost-usd.day`"]),
    ("limits.output = \"10KB\"", &["not enforced yet", "`limits.output`"]),
    ("limits.breaker.failures = 2", &["not enforced yet", "`limits.breaker.failures`"]),
    ("sources.web_fetch.max-chars = 100", &["not enforced yet", "`sources.web_fetch.max-chars`"]),
    ("jail.secure-credential-home = false", &["no effect yet", "`jail.secure-credential-home = false`"]),
    ("[mcp.servers.x]\ncommand = [\"a\"]", &["no effect yet", "`mcp.servers.x.command`", "policy.toml:3"]),
    (
        "network.allow = [\"a.com\"]\njail.profile = \"readonly\"",
        &["opens no host for commands", "`network.allow`", "policy.toml:2"],
    ),
    (
        "jail.profile = \"readonly\"\n[[rules]]\nhost = \"a.com\"\naction = \"allow\"",
        &["opens no host for commands", "policy.toml:3", "workspace-write"],
    ),
    (
        "network.deny = [\"a.com\"]\n[profiles.o]\nextends = \"readonly\"\nnetwork = \"open\"\n[jail]\nprofile = \"o\"",
        &["not enforced on commands", "`network.deny`", "policy.toml:2"],
    ),
];

/// Rows that nothing is told about.
const SILENT: &[&str] = &[
    "",
    "network.allow = [\"a.com\", \"@npm\"]",
    "[[secrets]]\nname = \"a\"\nhost = \"a.com\"\ninject = { bearer = true }",
    "jail.secure-credential-home = true",
    "limits.memory = \"2GB\"",
    "network.deny = [\"a.com\"]",
    "network.unknown = \"deny\"",
    "tools.allow = [\"web_fetch\"]",
];

#[test]
fn every_command_that_loads_the_policy_tells_what_has_no_effect() {
    let commands = ["check tool exec", "check path a", "check command ls", "policy show", "policy test"];
    for (policy, told) in TOLD {
        let stage = staged(policy);
        for command in commands {
            let ended = call(&stage, command);
            assert!(ended.err.contains("warning[RF-L005]"), "{policy}: {command}\n{}", ended.err);
            for text in *told {
                assert!(ended.err.contains(text), "{policy}: {command}: {text}\n{}", ended.err);
            }
            let json = call(&stage, &format!("--format json {command}"));
            let event: serde_json::Value = serde_json::from_str(json.err.lines().next().unwrap()).unwrap();
            assert_eq!((&event["event"], &event["code"]), (&"warning".into(), &"RF-L005".into()), "{policy}");
        }
    }
    for policy in SILENT {
        let stage = staged(policy);
        for command in commands {
            let ended = call(&stage, command);
            assert_eq!(ended.err, "", "{policy}: {command}");
        }
    }
}

#[test]
fn a_run_tells_what_has_no_effect_on_it() {
    let Some(_) = Stage::new() else { return };
    let rows = [
        ("limits.steps = 10", "", "not enforced yet"),
        ("network.allow = [\"a.com\"]", "", ""),
        ("network.allow = [\"a.com\"]", "--network none", "opens no host for commands"),
        ("network.allow = [\"a.com\"]", "--network open", ""),
        ("network.deny = [\"a.com\"]", "--network open", "not enforced on commands"),
        ("network.unknown = \"deny\"", "--network open", "not enforced on commands"),
        ("network.deny = [\"a.com\"]", "", ""),
    ];
    for (policy, options, told) in rows {
        let ended = staged(policy).run(options, "true");
        assert_eq!(ended.code, Some(0), "{policy} {options}\n{}", ended.err);
        assert_eq!(
            ended.err.contains("warning[RF-L005]"),
            !told.is_empty(),
            "{policy} {options}: {}",
            ended.err
        );
        assert!(ended.err.contains(told), "{policy} {options}: {}", ended.err);
    }
}

/// Rows: the policy, what is asked, the exit code, and what the answer says.
const HOSTS: &[(&str, &str, i32, &[&str])] = &[
    // With the broker the rules decide about commands, too.
    ("network.allow = [\"a.com\"]", "a.com", 0, &["allow connect", "web_fetch", "exec"]),
    ("network.allow = [\"a.com\"]", "a.com --tool exec", 0, &["RF-N"]),
    ("network.allow = [\"@npm\"]", "registry.npmjs.org --tool exec", 0, &["`@npm` (packages of JavaScript)"]),
    ("", "registry.npmjs.org --tool exec", 3, &["add \"@npm\" to `network.allow`"]),
    ("network.unknown = \"deny\"", "registry.npmjs.org --tool exec", 4, &["add \"@npm\""]),
    // The rules allow it, and nothing can reach it: the tool is not in the set, and commands have no network.
    (
        "network.allow = [\"a.com\"]\njail.profile = \"readonly\"",
        "a.com",
        4,
        &["deny connect", "nothing can reach", "web_fetch", "exec"],
    ),
    (
        "network.allow = [\"a.com\"]\njail.profile = \"readonly\"",
        "a.com --tool exec",
        4,
        &["RF-J005", "no network", "workspace-write"],
    ),
    ("network.allow = [\"a.com\"]\njail.profile = \"readonly\"", "a.com --tool process", 4, &["RF-J005"]),
    ("network.allow = [\"a.com\"]", "a.com --tool web_fetch", 4, &["RF-T002"]),
    (
        "network.allow = [\"a.com\"]\ntools.allow = [\"web_fetch\"]\njail.profile = \"readonly\"",
        "a.com",
        0,
        &["web_fetch", "RF-J005"],
    ),
    ("network.allow = [\"a.com\"]\ntools.allow = [\"web_fetch\"]", "a.com --tool web_fetch", 0, &[]),
    ("tools.allow = [\"web_fetch\"]", "b.com", 3, &["RF-N005"]),
    ("tools.allow = [\"web_fetch\"]\nnetwork.deny = [\"b.com\"]", "b.com", 4, &["b.com"]),
    // With the host's network, rules about hosts hold for no command: it is reached in every case.
    (
        "network.deny = [\"b.com\"]\n[profiles.o]\nextends = \"readonly\"\nnetwork = \"open\"\n[jail]\nprofile = \"o\"",
        "b.com --tool exec",
        0,
        &["not enforced", "host's network"],
    ),
    (
        "network.deny = [\"b.com\"]\n[profiles.o]\nextends = \"readonly\"\nnetwork = \"open\"\n[jail]\nprofile = \"o\"",
        "b.com",
        0,
        &["not enforced", "web_fetch"],
    ),
    // A port that is bridged is reached.
    ("jail.ports-out = [\"5432\"]", "127.0.0.1:5432 --tool exec", 0, &["jail.ports-out"]),
    ("jail.ports-out = [\"5432\"]", "127.0.0.1:5433 --tool exec", 4, &[]),
    ("", "169.254.169.254 --tool exec", 4, &[]),
];

#[test]
fn check_host_answers_what_would_happen() {
    for (policy, line, code, told) in HOSTS {
        let stage = staged(policy);
        let ended = call(&stage, &format!("check host {line}"));
        assert_eq!(ended.code, Some(*code), "{policy}: {line}\n{}{}", ended.out, ended.err);
        for text in *told {
            assert!(ended.out.contains(text), "{policy}: {line}: {text}\n{}", ended.out);
        }
        let json = call(&stage, &format!("--format json check host {line}")).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let word = ["allow", "", "", "ask", "deny"][usize::try_from(*code).unwrap()];
        assert_eq!(json["decision"], word, "{json}");
        assert!(!json["doors"].as_array().unwrap().is_empty(), "{json}");
    }
}

#[test]
fn check_host_shows_every_host_of_a_set() {
    let stage = staged("network.allow = [\"@npm\"]\nnetwork.deny = [\"nodejs.org\"]");
    let ended = call(&stage, "check host @npm --tool exec");
    assert_eq!(ended.code, Some(4), "{}{}", ended.out, ended.err);
    assert!(
        ended.out.starts_with("@npm: packages of JavaScript\nallow registry.npmjs.org:443, shared: "),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("deny nodejs.org:443: "), "{}", ended.out);
    let json = call(&stage, "--format json check host @npm").out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["set"], &json["hosts"][0]["shared"]), (&"npm".into(), &true.into()), "{json}");
    let unknown = call(&stage, "check host @nmp");
    assert_eq!(unknown.code, Some(64), "{}", unknown.err);
    assert!(
        unknown.err.contains("there is no host set `@nmp`") && unknown.err.contains("@pypi"),
        "{}",
        unknown.err
    );
}
