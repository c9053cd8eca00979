//! Settings of one agent, own tools, profiles of single tools and places in profiles.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may unwrap")]

mod stage;

use stage::{Ended, Stage, ended};

fn staged(user: &str, project: &str) -> Stage {
    let stage = Stage::bare();
    std::fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(stage.path(name), format!("version = 1\n{text}\n")).unwrap();
    };
    write("home/.config/ringfence/policy.toml", user);
    if !project.is_empty() {
        write("ws/ringfence.toml", project);
    }
    stage
}

fn call(stage: &Stage, line: &str) -> Ended {
    ended(stage.command().args(line.split_whitespace()))
}

const REVIEWER: &str = "tools.allow = [\"web_fetch\"]\n[agents.reviewer]\nprofile = \"readonly\"\n[agents.reviewer.tools]\n\
                        profile = \"minimal\"\nallow = []\n[[agents.reviewer.rules]]\ncommand = \"git push\"\naction = \"deny\"\n\
                        [agents.builder.tools]\nallow = [\"browser\"]";

/// Rows: the user's file, the project's, what is called, its exit code and a text of what is said.
const AGENTS: &[(&str, &str, &str, i32, &str)] = &[
    (REVIEWER, "", "check tool exec", 0, ""),
    (REVIEWER, "", "--agent reviewer check tool exec", 4, "RF-T002"),
    (REVIEWER, "", "--agent reviewer check tool read", 0, ""),
    (REVIEWER, "", "check --agent reviewer tool web_fetch", 4, ""),
    (REVIEWER, "", "check command -- git push", 0, ""),
    (REVIEWER, "", "check --agent reviewer command -- git push", 4, "policy.toml:8"),
    // The user's own file may give an agent more than others have.
    (REVIEWER, "", "check tool browser", 4, ""),
    (REVIEWER, "", "--agent builder check tool browser", 0, ""),
    (REVIEWER, "", "--agent builder check tool web_fetch", 4, ""),
    (REVIEWER, "", "--agent reviewer policy show", 0, "profile = \"readonly\""),
    (REVIEWER, "", "--agent reviewer policy test", 0, ""),
    // An agent that no file mentions is a misspelling.
    (REVIEWER, "", "--agent reviewr check tool read", 1, "did you mean `reviewer`"),
    ("", "", "--agent x check tool read", 1, "there is no agent `x`"),
    // The project narrows, for all agents or for one.
    (REVIEWER, "[agents.builder.tools]\ndeny = [\"exec\"]", "--agent builder check tool exec", 4, "RF-T003"),
    (REVIEWER, "[agents.builder.tools]\ndeny = [\"exec\"]", "check tool exec", 0, ""),
    (REVIEWER, "[agents.builder.tools]\ndeny = [\"exec\"]", "--agent builder check tool browser", 0, ""),
    (REVIEWER, "tools.deny = [\"browser\"]", "--agent builder check tool browser", 4, "RF-T003"),
    ("", "[agents.x]\nprofile = \"readonly\"", "--agent x policy show", 0, "profile = \"readonly\""),
    // And cannot widen, whichever agent is chosen.
    ("", "[agents.x.tools]\nallow = [\"browser\"]", "check tool read", 1, "RF-C010"),
    ("", "[agents.x.tools]\nallow = [\"browser\"]", "--agent x check tool read", 1, "RF-C010"),
    (
        "jail.profile = \"readonly\"",
        "[agents.x]\nprofile = \"workspace-write\"",
        "check tool read",
        1,
        "RF-C010",
    ),
    ("", "[agents.x.limits]\nmemory = \"4GB\"", "check tool read", 1, "RF-C010"),
    (
        "[agents.x.limits]\nmemory = \"1GB\"",
        "[agents.x.limits]\nmemory = \"2GB\"",
        "check tool read",
        1,
        "RF-C010",
    ),
    ("", "[[agents.x.rules]]\ncommand = \"ls\"\naction = \"allow\"", "check tool read", 1, "RF-C010"),
    ("[agents.x]\nprofile = \"raedonly\"", "", "check tool read", 1, "RF-C013"),
    // Tools of one's own.
    ("tools.allow = [\"my_tool\", \"corp_*\"]", "", "check tool my_tool", 0, ""),
    ("tools.allow = [\"my_tool\", \"corp_*\"]", "", "check tool corp_deploy", 0, ""),
    ("tools.allow = [\"my_tool\", \"corp_*\"]", "", "check tool other_tool", 4, "RF-T002"),
    ("tools.allow = [\"my_tool\"]\ntools.deny = [\"my_tool\"]", "", "check tool my_tool", 4, "RF-T003"),
    ("tools.allow = [\"corp_*\"]\ntools.deny = [\"corp_drop\"]", "", "check tool corp_drop", 4, "RF-T003"),
    ("tools.allow = [\"my_tool\"]", "tools.deny = [\"my_tool\"]", "check tool my_tool", 4, "RF-T003"),
    (
        "tools.allow = [\"my_tool\"]\n[[rules]]\ntool = \"my_tool\"\nargs = { target = \"prod\" }\naction = \"deny\"",
        "",
        "check tool my_tool --arg target=prod",
        4,
        "RF-R001",
    ),
    ("tools.allow = [\"exce\"]", "", "check tool read", 1, "did you mean `exec`"),
    ("tools.deny = [\"shell_run\"]", "", "check tool read", 1, "RF-C013"),
    ("", "tools.allow = [\"my_tool\"]", "check tool read", 1, "RF-C010"),
    ("tools.allow = [\"my_*\"]", "tools.allow = [\"my_tool\"]", "check tool my_tool", 0, ""),
    ("tools.allow = [\"my_tool\"]", "tools.allow = [\"my_*\"]", "check tool read", 1, "RF-C010"),
    // Places in profiles.
    (
        "[profiles.x]\nextends = \"readonly\"\nwrite = [\"${WORKSPACE}/out\", \"${RW1}/log\"]",
        "",
        "check tool read",
        0,
        "",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\nwrite = [\"${WORKPLACE}/out\"]",
        "",
        "check tool read",
        1,
        "${WORKSPACE}",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\nwrite = [\"${RW2}/out\"]\n[jail]\nprofile = \"x\"",
        "",
        "check tool read",
        1,
        "${RW2}",
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\nwrite = [\"${WORKSPACE}/../a\"]",
        "",
        "check tool read",
        1,
        "RF-C004",
    ),
    ("audit.path = \"${WORKSPACE}/ledger\"", "", "check tool read", 1, "RF-C004"),
    // A profile for one tool permits no more than the bounds do, and is not for tools that start nothing.
    (
        "[profiles.r]\nextends = \"readonly\"\ntools = { read = \"readonly\" }",
        "",
        "check tool read",
        1,
        "RF-C004",
    ),
    (
        "[profiles.r]\nextends = \"readonly\"\ntools = { excc = \"readonly\" }",
        "",
        "check tool read",
        1,
        "RF-C013",
    ),
    (
        "[profiles.r]\nextends = \"readonly\"\ntools = { exec = \"raedonly\" }",
        "",
        "check tool read",
        1,
        "RF-C013",
    ),
    (
        "[profiles.r]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\" }\n[jail]\nprofile = \"readonly\"",
        "jail.profile = \"r\"",
        "check tool read",
        1,
        "RF-C010",
    ),
    (
        "[profiles.r]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\" }\n[jail]\nprofile = \"readonly\"",
        "[profiles.p]\nextends = \"r\"\n[jail]\nprofile = \"p\"",
        "check tool read",
        1,
        "RF-C010",
    ),
];

#[test]
fn agents_tools_and_places() {
    for (user, project, line, code, told) in AGENTS {
        let stage = staged(user, project);
        let ended = call(&stage, line);
        let all = format!("{}{}", ended.out, ended.err);
        assert_eq!(ended.code, Some(*code), "{user}\n--\n{project}\n--\n{line}\n{all}");
        assert!(all.contains(told), "{user}\n--\n{project}\n--\n{line}: {told}\n{all}");
    }
}

/// Rows: the user's file, the project's, options, a script, and whether it succeeds in the jail.
const JAILS: &[(&str, &str, &str, &str, bool)] = &[
    ("", "", "", "echo x > a", true),
    ("[agents.r]\nprofile = \"readonly\"", "", "", "echo x > a", true),
    ("[agents.r]\nprofile = \"readonly\"", "", "--agent r", "echo x > a", false),
    ("", "[agents.r]\nprofile = \"readonly\"", "--agent r", "echo x > a", false),
    // Settings of the project about one agent bound the command line of that agent only.
    ("", "[agents.r]\nprofile = \"readonly\"", "-p workspace-write --agent r", "true", false),
    ("", "[agents.r]\nprofile = \"readonly\"", "-p workspace-write", "echo x > a", true),
    ("[agents.r.limits]\nfile-size = \"1KB\"", "", "--agent r", "head -c 5000 /dev/zero > a", false),
    ("[agents.r.limits]\nfile-size = \"1KB\"", "", "", "head -c 5000 /dev/zero > a", true),
    // The workspace and the writable roots by name.
    (
        "[profiles.x]\nextends = \"readonly\"\nwrite = [\"${WORKSPACE}/src\"]",
        "",
        "-p x",
        "echo x > src/a",
        true,
    ),
    ("[profiles.x]\nextends = \"readonly\"\nwrite = [\"${WORKSPACE}/src\"]", "", "-p x", "echo x > a", false),
    (
        "[profiles.x]\nextends = \"workspace-write\"\nread = [\"${RW1}/src\"]",
        "",
        "-p x",
        "echo x > src/a",
        false,
    ),
    ("[profiles.x]\nextends = \"workspace-write\"\nread = [\"${RW1}/src\"]", "", "-p x", "echo x > a", true),
    // `run` is the door of `exec`.
    (
        "[profiles.x]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\" }",
        "",
        "-p x",
        "echo x > a",
        true,
    ),
    (
        "[profiles.x]\nextends = \"workspace-write\"\ntools = { exec = \"readonly\" }",
        "",
        "-p x",
        "echo x > a",
        false,
    ),
    (
        "[profiles.x]\nextends = \"readonly\"\ntools = { exec = \"workspace-write\" }",
        "jail.profile = \"readonly\"",
        "-p x",
        "true",
        false,
    ),
];

#[test]
fn a_run_uses_the_agents_and_the_tools_profile() {
    let Some(_) = Stage::new() else { return };
    for (user, project, options, script, succeeds) in JAILS {
        let stage = staged(user, project);
        let ended = stage.run(options, script);
        assert_ne!(ended.code, Some(64), "{user}\n{}", ended.err);
        assert_eq!(
            ended.code == Some(0),
            *succeeds,
            "{user}\n--\n{project}\n--\n{options}: {script}\n{}",
            ended.err
        );
    }
}

#[test]
fn the_second_writable_root_is_the_first_shared_directory() {
    let Some(_) = Stage::new() else { return };
    let stage = Stage::bare();
    let shared = stage.path("beside");
    std::fs::create_dir_all(shared.join("kept")).unwrap();
    std::fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    let text = format!(
        "version = 1\njail.shared = [\"{}\"]\n[profiles.x]\nextends = \"workspace-write\"\nread = [\"${{RW2}}/kept\"]\n",
        shared.display()
    );
    std::fs::write(stage.path("home/.config/ringfence/policy.toml"), text).unwrap();
    let script = |name: &str| format!("echo x > {}/{name}", shared.display());
    assert_eq!(stage.run("-p x", &script("a")).code, Some(0));
    assert_ne!(stage.run("-p x", &script("kept/a")).code, Some(0));
}

#[test]
fn the_ledger_names_the_agent_and_the_profile() {
    let Some(_) = Stage::new() else { return };
    let stage = staged("[agents.r]\nprofile = \"readonly\"", "");
    assert_eq!(stage.run("--agent r", "true").code, Some(0));
    let ledger = std::fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
    assert!(ledger.contains("\"agent\":\"r\"") && ledger.contains("\"profile\":\"readonly\""), "{ledger}");
}
