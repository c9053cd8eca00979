//! Decisions of policies about command lines.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;

use policy::{
    Arguments, Argv, Code, Direction, Effect, Execution, Finding, Invocation, Program, Redirect, Request,
    Span, ToolName, Want, Word,
};
use ringfence_config::{Places, Sample, Scope, Settings, Source, from_sources};
use serde_json::Value;

fn places() -> Places {
    let home = Some("/home/me".into());
    Places { workspace: "/ws".into(), state: home.clone(), home, run: None }
}

fn user(text: &str) -> Settings {
    let source = Source::new(Scope::User, Path::new("policy.toml"), format!("version = 1\n{text}\n"));
    from_sources(vec![source], &places()).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

/// Builds the result of a reader without one: programs between `;`, `(cd DIR)` for the directory of one (`(cd ?)`
/// when it is not known), `WRAPPER =>` for what starts it, `!` before a hazard, `>` before a file that is written.
fn invocation(line: &str, findings: &[Code]) -> Invocation {
    let finding = |code: &Code| Finding::new(*code, Span::default(), "noticed");
    let programs = line.split(';').map(|part| program(part.trim())).collect();
    Invocation { programs, findings: findings.iter().map(finding).collect() }
}

fn program(text: &str) -> Program {
    let (cwd, text) = match text.strip_prefix("(cd ").and_then(|rest| rest.split_once(')')) {
        Some((cwd, text)) => (Some(cwd).filter(|cwd| *cwd != "?"), text),
        None => (Some("/ws"), text),
    };
    let mut parts: Vec<_> = text.split("=>").map(str::trim).collect();
    let own = parts.pop().unwrap();
    let word = |text: &str| Word::literal(text.trim_start_matches(['!', '>']));
    let argv = |text: &str| {
        Argv::new(text.split_whitespace().filter(|text| !text.starts_with('>')).map(word).collect()).unwrap()
    };
    let written = own.split_whitespace().filter(|text| text.starts_with('>'));
    let redirect =
        |text: &str| Redirect { direction: Direction::Write, descriptor: Some(1), target: word(text) };
    let hazards = own.split_whitespace().enumerate().filter(|(_, text)| text.starts_with('!'));
    Program {
        through: parts.into_iter().map(argv).collect(),
        hazards: hazards.map(|(at, _)| u32::try_from(at).unwrap()).collect(),
        redirects: written.map(redirect).collect(),
        ..Program::alone(argv(own), cwd.map(Into::into))
    }
}

fn decide(settings: &Settings, line: &str, findings: &[Code]) -> (Effect, Code) {
    let (tool, invocation) = (ToolName::parse("exec").unwrap(), invocation(line, findings));
    let decision = settings.decide(&Request {
        tool: &tool,
        want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }),
    });
    (decision.effect(), decision.reason().code)
}

/// Rows of a line and what is decided, all by one policy.
fn check(text: &str, rows: &[(&str, Effect, Code)]) {
    let settings = user(text);
    for (line, effect, code) in rows {
        assert_eq!(decide(&settings, line, &[]), (*effect, *code), "{text}: {line}");
    }
}

#[test]
fn all_programs_are_allowed_or_none_and_one_is_enough_to_deny() {
    use Effect::{Allow, Ask, Deny};
    let lists =
        "allow = [\"git\", \"ls\", \"sed\", \"find\"]\napprove = [\"git push\"]\ndeny = [\"rm\", \"sudo\"]";
    let rows = [
        ("git status; ls", Allow, Allow, Allow),
        ("git status; make", Allow, Ask, Deny),
        ("git push; ls", Ask, Ask, Ask),
        // A program that no rule names is not opened by an ask about another one.
        ("git push; make", Ask, Ask, Deny),
        ("git status; rm x", Deny, Deny, Deny),
        ("make; rm x", Deny, Deny, Deny),
        ("sudo => ls", Deny, Deny, Deny),
        ("nice => ls", Allow, Allow, Allow),
        ("git => make", Allow, Ask, Deny),
        ("sed s/a/b/", Allow, Allow, Allow),
        ("sed !-i s/a/b/", Allow, Ask, Deny),
        ("find . !-delete", Allow, Ask, Deny),
        // A permission is for what starts and writes in the workspace.
        ("(cd /ws/sub) ls", Allow, Allow, Allow),
        ("(cd /) ls", Allow, Ask, Deny),
        ("(cd ?) ls", Allow, Ask, Deny),
        ("ls >out", Allow, Allow, Allow),
        ("ls >../out", Allow, Ask, Deny),
        ("ls >/dev/null", Allow, Allow, Allow),
    ];
    for (at, default) in ["allow", "ask", "deny"].iter().enumerate() {
        let settings = user(&format!("[commands]\ndefault = \"{default}\"\n{lists}"));
        for (line, allow, ask, deny) in rows {
            let expected = [allow, ask, deny][at];
            assert_eq!(decide(&settings, line, &[]).0, expected, "default {default}: {line}");
        }
    }
}

#[test]
fn paths_are_resolved_where_the_program_starts() {
    use Effect::{Allow, Deny};
    let text = "commands.deny = [\"rm /etc/**\", \"rm ~/**\", \"cat ./secret/**\", \"cp ../other/**\"]";
    check(
        text,
        &[
            ("(cd /etc) rm hosts", Deny, Code::Rule),
            ("rm ../etc/hosts", Deny, Code::Rule),
            ("(cd ?) rm hosts", Deny, Code::Rule),
            ("rm hosts", Allow, Code::CommandDefault),
            ("(cd /home) rm -f x me/y", Deny, Code::Rule),
            ("(cd /home) rm -f x you/y", Allow, Code::CommandDefault),
            ("(cd /ws/sub) cat ../secret/a", Deny, Code::Rule),
            ("(cd /ws/sub) cat secret/a", Allow, Code::CommandDefault),
            ("(cd /other) cp a b", Deny, Code::Rule),
        ],
    );
}

#[test]
fn rules_on_files_hold_for_the_files_of_commands() {
    use Effect::{Allow, Ask, Deny};
    let text = "files.read.deny = [\"secrets/**\"]\nfiles.write.deny = [\"**/*.lock\"]\n[[rules]]\npath = \"db/**\"\naction = \"ask\"\n[[rules]]\nrule = \"Read(~/.config/**)\"\naction = \"deny\"";
    check(
        text,
        &[
            ("cat .env", Deny, Code::ForbiddenName),
            ("(cd /somewhere) cat .env", Deny, Code::ForbiddenName),
            ("cat < .env", Deny, Code::ForbiddenName),
            ("ls >.env", Deny, Code::ForbiddenName),
            ("ls >ringfence.toml", Deny, Code::OwnPolicyFile),
            ("rm ringfence.toml", Deny, Code::OwnPolicyFile),
            ("cat ringfence.toml", Allow, Code::CommandDefault),
            ("echo .env", Allow, Code::CommandDefault),
            ("git checkout feature/.env", Allow, Code::CommandDefault),
            ("cat secrets/a", Deny, Code::FilesRule),
            ("(cd /ws/secrets) cat a", Deny, Code::FilesRule),
            ("python3 secrets/a", Deny, Code::FilesRule),
            ("cat Cargo.lock", Allow, Code::CommandDefault),
            ("rm Cargo.lock", Deny, Code::FilesRule),
            ("ls >Cargo.lock", Deny, Code::FilesRule),
            ("cat db/a", Ask, Code::Rule),
            ("cat /home/me/.config/x", Deny, Code::Rule),
            // The border is the jail's business.
            ("cat /etc/hosts", Allow, Code::CommandDefault),
        ],
    );
    // A question about a file does not open what the default closes.
    let text = "commands.default = \"deny\"\n[[rules]]\npath = \"db/**\"\naction = \"ask\"";
    check(text, &[("cat db/a", Deny, Code::CommandDefault)]);
}

#[test]
fn rule_strings() {
    use Effect::{Allow, Ask, Deny};
    let one = |action: &str, rule: &str| {
        user(&format!(
            "commands.default = \"ask\"\nfiles.jail = false\nfiles.read.default = \"ask\"\n[[rules]]\nrule = \"{rule}\"\naction = \"{action}\""
        ))
    };
    let rows = [
        ("allow", "Bash(git push:*)", "exec git push", Allow),
        ("allow", "Bash(git push:*)", "exec git push origin", Allow),
        ("allow", "Bash(git push:*)", "exec git pushx", Ask),
        ("allow", "Bash(git push *)", "exec git push origin", Allow),
        ("allow", "Bash(git push)", "exec git push", Allow),
        ("allow", "Bash(git push)", "exec git push origin", Ask),
        ("deny", "Bash(git push)", "exec git --no-pager push", Deny),
        ("deny", "Bash(git push)", "exec git push origin", Ask),
        ("allow", "Bash(npm run test:*)", "exec npm run test -- x", Allow),
        ("allow", "Bash(npm run test*)", "exec npm run test:unit", Allow),
        ("allow", "Bash(git * main)", "exec git push origin main", Allow),
        ("allow", "Bash(git * main)", "exec git push origin main x", Ask),
        ("deny", "Bash(git * main)", "exec /usr/bin/git push main", Deny),
        ("deny", "Bash(rm /etc/*)", "exec rm /etc/a/b", Deny),
        ("deny", "Bash(rm ~/.ssh/:*)", "exec rm /home/me/.ssh", Deny),
        ("allow", "Bash", "exec make all", Allow),
        ("allow", "Bash(*)", "exec make all", Allow),
        ("deny", "Bash", "exec make all", Deny),
        ("deny", "Read(~/.ssh/**)", "read ~/.ssh/config", Deny),
        ("deny", "Read(.envrc)", "read a/.envrc", Deny),
        ("deny", "Read(docs)", "read docs/a/b", Deny),
        ("deny", "Read(./docs)", "read a/docs/b", Ask),
        ("deny", "Read(/docs)", "read docs/b", Deny),
        ("deny", "Read(//opt/x/**)", "read /opt/x/y", Deny),
        ("deny", "Read", "read /opt/x/y", Deny),
        ("deny", "Edit(src/**)", "write src/a", Deny),
        ("deny", "Edit(src/**)", "read src/a", Ask),
        ("deny", "Write(src/**)", "write a/src/b", Deny),
        ("deny", "Grep(src/**)", "read src/a", Deny),
        ("allow", "Read(docs/**)", "read docs/a", Allow),
        ("allow", "Read(docs/**)", "read a/docs/a", Ask),
        ("allow", "WebFetch(domain:example.com)", "connect example.com", Allow),
        ("allow", "WebFetch(domain:*.example.com)", "connect a.example.com", Allow),
        ("allow", "WebFetch(domain:*.example.com)", "connect example.com", Ask),
        ("deny", "WebFetch(domain:example.com)", "connect example.com", Deny),
        ("deny", "WebFetch", "connect example.com", Deny),
        ("deny", "mcp__a", "call mcp__a--x", Deny),
        ("deny", "mcp__a__x", "call mcp__a__x", Deny),
        ("deny", "mcp__a__x", "call mcp__a--x", Deny),
        ("allow", "mcp__a__x", "call mcp__a--y", Deny),
    ];
    for (action, rule, line, expected) in rows {
        let decision = one(action, rule).decide(&Sample::parse(line, &places()).unwrap().request());
        assert_eq!(decision.effect(), expected, "{action} {rule}: {line} {:?}", decision.reason());
    }
}

#[test]
fn a_list_names_its_line() {
    let settings = user("[commands]\ndeny = [\n  \"rm\",\n  \"Bash(git push:*)\",\n]");
    let decision = settings.decide(&Sample::parse("exec git push", &places()).unwrap().request());
    assert_eq!(decision.reason().rule.as_ref().unwrap().to_string(), "policy.toml:5");
    assert_eq!(&*decision.reason().text, "denied by `Bash(git push:*)`");
}

#[test]
fn findings_by_mode_and_by_code() {
    use Effect::{Allow, Ask, Deny};
    let (substitution, environment) = (Code::CommandSubstitution, Code::EnvironmentOverride);
    let rows = [
        ("", substitution, Allow, Code::CommandDefault),
        ("commands.mode = \"strict\"", substitution, Deny, substitution),
        ("commands.findings = { RF-S004 = \"ask\" }", substitution, Ask, substitution),
        ("commands.findings = { rf-s004 = \"deny\" }", substitution, Deny, substitution),
        ("", environment, Ask, environment),
        ("commands.mode = \"off\"", environment, Allow, Code::CommandDefault),
        ("commands.findings = { RF-S016 = \"allow\" }", environment, Allow, Code::CommandDefault),
        (
            "commands.mode = \"strict\"\ncommands.findings = { RF-S016 = \"allow\" }",
            environment,
            Allow,
            Code::CommandDefault,
        ),
        // A permission does not speak of findings.
        ("commands.allow = [\"make\"]", environment, Ask, environment),
        ("commands.default = \"deny\"", environment, Deny, Code::CommandDefault),
        ("commands.mode = \"off\"", Code::Unreadable, Deny, Code::Unreadable),
        ("commands.mode = \"off\"", Code::Destructive, Deny, Code::Destructive),
        ("commands.mode = \"off\"\ncommands.allow = [\"make\"]", Code::Unprovable, Ask, Code::Unprovable),
        ("commands.mode = \"off\"", Code::Unprovable, Ask, Code::Unprovable),
    ];
    for (text, code, effect, by) in rows {
        assert_eq!(decide(&user(text), "make", &[code]), (effect, by), "{text}: {code}");
    }
}

#[test]
fn a_policy_in_another_mode() {
    let settings =
        user("").in_mode(policy::finding::Mode::Strict).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(decide(&settings, "make", &[Code::Backtick]), (Effect::Deny, Code::Backtick));
    assert_eq!(settings.mode, policy::finding::Mode::Strict);
}

fn list(row: &Value, key: &str) -> String {
    let entries: Vec<_> = row[key].as_array().unwrap().iter().map(Value::to_string).collect();
    entries.join(", ")
}

/// Lines that other products were beaten with.
#[test]

fn vectors() {
    let mut failed = Vec::new();
    for row in include_str!("vectors/rules.jsonl").lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let text = format!(
            "[commands]\ndefault = \"ask\"\nallow = [{}]\ndeny = [{}]",
            list(&row, "allow"),
            list(&row, "deny")
        );
        let (line, verdict) = (row["command"].as_str().unwrap(), row["verdict"].as_str().unwrap());
        let said = match Sample::parse(&format!("exec {line}"), &places()) {
            Ok(sample) => user(&text).decide(&sample.request()).effect().word(),
            Err(_) => "unread",
        };
        // An error is a denial that says why.
        let accepted = verdict.replace("error", "deny");
        if !accepted.split("-or-").any(|word| word == said) {
            failed.push(format!("{} wants {verdict}, got {said}: {line:?}", row["id"]));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The chain of a run is compiled in the mode that its profile and the bounding layers want.
#[test]
fn a_run_is_loaded_in_the_mode_of_its_profile() {
    use policy::finding::Mode;
    use ringfence_config::{Files, Places, Wish, load_for_run};
    let rows = [
        ("", "", None, Mode::Standard),
        ("profiles.x = { extends = \"workspace-write\", commands = \"strict\" }", "", None, Mode::Standard),
        (
            "profiles.x = { extends = \"workspace-write\", commands = \"strict\" }",
            "",
            Some("x"),
            Mode::Strict,
        ),
        (
            "jail.profile = \"x\"\nprofiles.x = { extends = \"workspace-write\", commands = \"strict\" }",
            "",
            None,
            Mode::Strict,
        ),
        ("", "commands.mode = \"strict\"", None, Mode::Strict),
        ("", "", Some("unknown"), Mode::Standard),
    ];
    for (user, project, profile, expected) in rows {
        let place = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(place.path()).unwrap();
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(top.join(name)).unwrap();
            let path = top.join(name).join("ringfence.toml");
            std::fs::write(&path, format!("version = 1\n{text}\n")).unwrap();
            Some(path)
        };
        let files = Files { managed: None, user: write("home", user), project: write("ws", project) };
        let places =
            Places { workspace: top.join("ws"), home: Some(top.join("home")), state: None, run: None };
        let settings = load_for_run(&files, &places, None, profile).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(settings.mode, expected, "{user} {project} {profile:?}");
        let wish = Wish { profile: profile.map(str::to_owned), ..Wish::default() };
        // The settings of the jail want the same mode, so that nothing is compiled again.
        assert!(settings.jail(&wish).map_or(profile == Some("unknown"), |jail| jail.commands == expected));
    }
}
