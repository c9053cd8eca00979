//! Rules as other engines write them (some denials, some permissions, one question for the rest) give the answers they document,
//! or a stricter one where that is said.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;

use ringfence_config::{Places, Sample, Scope, Settings, Source, from_sources};

const RULES: &str = r#"
version = 1

[[rules]]
tool = "exec"
args = { command = 're:^(git (status|log|diff|show|stash list|shortlog|describe|blame|ls-files|ls-tree|rev-parse|config --get)|(ls|cat|echo|pwd|which|file|head|tail|wc|diff|grep|du|df|ps|env)\b)[^;&|`$<>\r\n]*$' }
action = "allow"

[[rules]]
tool = "exec"
args = { command = 're:rm -rf|sudo |mkfs|dd if=' }
action = "deny"

[[rules]]
tool = "exec"
action = "ask"

[[rules]]
tool = "web_fetch"
host = "**.github.com"
action = "allow"

[[rules]]
tool = "web_fetch"
host = "**.wikipedia.org"
action = "allow"

[[rules]]
tool = "web_fetch"
host = "localhost"
action = "deny"

[[rules]]
tool = "web_fetch"
host = "re:.*"
action = "ask"

[[rules]]
tool = "write"
action = "allow"
"#;

/// The line, what the engine documents, and what we say where it is stricter.
const ROWS: &[(&str, &str, &str)] = &[
    ("exec ls -la", "allow", ""),
    ("exec ls", "allow", ""),
    ("exec pwd", "allow", ""),
    ("exec cat f", "allow", ""),
    ("exec cat src/main.rs", "allow", ""),
    ("exec head -n 5 f", "allow", ""),
    ("exec tail f", "allow", ""),
    ("exec wc -l f", "allow", ""),
    ("exec grep -r x .", "allow", ""),
    ("exec diff a b", "allow", ""),
    ("exec du -sh .", "allow", ""),
    ("exec df -h", "allow", ""),
    ("exec ps aux", "allow", ""),
    ("exec echo hello", "allow", ""),
    ("exec which git", "allow", ""),
    ("exec file a", "allow", ""),
    ("exec git status", "allow", ""),
    ("exec git status -s", "allow", ""),
    ("exec git log --oneline", "allow", ""),
    ("exec git diff HEAD", "allow", ""),
    ("exec git show HEAD", "allow", ""),
    ("exec git stash list", "allow", ""),
    ("exec git blame a", "allow", ""),
    ("exec git rev-parse HEAD", "allow", ""),
    ("exec git config --get user.name", "allow", ""),
    // Programs that it starts or files that it writes are hazards: the permission does not name them.
    ("exec env bash -c id", "allow", "ask"),
    ("exec env FOO=1 make", "allow", "ask"),
    ("exec env rm -rf build", "allow", "deny"),
    ("exec git log --output=f", "allow", "ask"),
    ("exec git diff --ext-diff", "allow", "ask"),
    // Credentials are never read.
    ("exec cat ~/.ssh/id_rsa", "allow", "deny"),
    ("exec tail -n 1 /etc/shadow", "allow", "deny"),
    ("exec cat .env", "allow", "deny"),
    // The question for the rest.
    ("exec npm test", "ask", ""),
    ("exec find . -name x", "ask", ""),
    ("exec cat a | wc", "ask", ""),
    ("exec make", "ask", ""),
    ("exec git push", "ask", ""),
    ("exec git commit -m x", "ask", ""),
    ("exec rm build", "ask", ""),
    ("exec git stash", "ask", ""),
    ("exec cargo build", "ask", ""),
    ("exec python3 a.py", "ask", ""),
    ("exec ls; make", "ask", ""),
    ("exec ls > out", "ask", ""),
    ("exec ls && git push", "ask", ""),
    ("exec ls ${HOME}", "ask", ""),
    ("exec ls 'a;b'", "ask", ""),
    // Denials come first, by what was searched for.
    ("exec rm -rf build", "deny", ""),
    ("exec ls; rm -rf build", "deny", ""),
    ("exec sudo ls", "deny", ""),
    ("exec xsudo ls", "deny", ""),
    ("exec mkfs.ext4 x", "deny", ""),
    ("exec dd if=a of=b", "deny", ""),
    ("exec rm -rf /", "deny", ""),
    ("exec rm -r -f build", "ask", ""),
    // Hosts.
    ("connect api.github.com", "allow", ""),
    ("connect github.com", "allow", ""),
    ("connect notgithub.com", "ask", ""),
    ("connect en.wikipedia.org", "allow", ""),
    ("connect example.com", "ask", ""),
    ("connect localhost", "deny", ""),
    ("connect 169.254.169.254", "deny", ""),
    ("write src/a.rs", "allow", ""),
];

fn settings() -> Settings {
    let source = Source::new(Scope::User, Path::new("policy.toml"), RULES.to_owned());
    from_sources(vec![source], &places()).unwrap()
}

fn places() -> Places {
    let home = Some("/home/me".into());
    Places { workspace: "/ws".into(), state: home.clone(), home, run: None }
}

#[test]
fn rules_of_another_engine_give_their_documented_answers() {
    let settings = settings();
    let mut wrong = Vec::new();
    for (line, documented, stricter) in ROWS {
        let expected = if stricter.is_empty() { documented } else { stricter };
        let decision = settings.decide(&Sample::parse(line, &places()).unwrap().request());
        if decision.effect().word() != *expected {
            wrong.push(format!(
                "{line}: {expected} expected, {} came: {}",
                decision.effect().word(),
                decision.reason().text
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_exception_says_what_it_is_one_to() {
    let decision = settings().decide(&Sample::parse("exec git status", &places()).unwrap().request());
    let reason = decision.reason();
    let line = |place: Option<&policy::RuleRef>| place.map(|place| place.line.get());
    let lines = [line(reason.rule.as_ref()), line(reason.exception_to.as_deref())];
    assert_eq!(lines, [Some(4), Some(14)], "{reason:?}");
}
