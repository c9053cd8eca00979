//! An allow that is provably narrower than an ask of the same layer is an exception to it, and nothing else is.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use ringfence_policy::{
    Arguments, Argv, Certainty, Code, CommandPattern, Effect, Endpoint, Execution, HostPattern, Invocation,
    Kinds, Location, PathPattern, Pattern, Policy as _, Program, Reach, Reason, Request, Rule, RuleRef,
    RuleSet, Subject, ToolName, Want, Word,
};

fn rule(effect: Effect, subject: Subject, file: &str) -> Rule {
    let place = RuleRef { file: Arc::from(Path::new(file)), line: NonZeroU32::MIN };
    let reason = Reason::new(Code::Rule, "a rule").by(Some(place));
    Rule { id: 0, effect, tool: None, subject, arguments: vec![], reason }
}

fn command(text: &str) -> Subject {
    Subject::Command(CommandPattern::parse(text).unwrap())
}

fn path(text: &str) -> Subject {
    Subject::Path(PathPattern::parse(text).unwrap(), Kinds::Both)
}

fn host(text: &str) -> Subject {
    Subject::Host(HostPattern::parse(text).unwrap())
}

fn program(line: &str) -> Program {
    Program::alone(Argv::new(line.split(' ').map(Word::literal).collect()).unwrap(), Some("/ws".into()))
}

fn exec(rules: Vec<Rule>, line: &str) -> Option<Effect> {
    let unknown = |word: &Word| word.text.starts_with('$');
    let mut programs: Vec<_> = line.split(" ; ").map(program).collect();
    for program in &mut programs {
        let certainty = |word: &Word| if unknown(word) { Certainty::Unknown } else { Certainty::Literal };
        let words =
            program.argv.words().iter().map(|word| Word { certainty: certainty(word), ..word.clone() });
        program.argv = Argv::new(words.collect()).unwrap();
    }
    let invocation = Invocation { programs, findings: vec![] };
    let arguments = Arguments::command(line);
    let want = Want::Exec(Execution { invocation: &invocation, arguments: &arguments });
    let decided = RuleSet::new(rules).unwrap().decide(&Request { tool: &ToolName::exec(), want });
    decided.map(|decision| decision.effect())
}

fn connect(rules: Vec<Rule>, name: &str) -> Option<Effect> {
    let endpoint = Endpoint::parse(name, 443).unwrap();
    let tool = ToolName::parse("web_fetch").unwrap();
    let request = Request { tool: &tool, want: Want::Connect(&endpoint) };
    RuleSet::new(rules).unwrap().decide(&request).map(|decision| decision.effect())
}

fn read(rules: Vec<Rule>, name: &str) -> Option<Effect> {
    let location = Location::new(Path::new("/ws"), &Path::new("/ws").join(name)).unwrap();
    let tool = ToolName::parse("read").unwrap();
    let request = Request { tool: &tool, want: Want::Read(&location) };
    RuleSet::new(rules).unwrap().decide(&request).map(|decision| decision.effect())
}

/// Rules as `effect subject`, in both orders.
fn both_orders(rows: &[(Effect, Subject)], decide: impl Fn(Vec<Rule>) -> Option<Effect>) -> Option<Effect> {
    let rules: Vec<_> =
        rows.iter().map(|(effect, subject)| rule(*effect, subject.clone(), "/user")).collect();
    let reversed = rules.iter().rev().cloned().collect();
    let (one, other) = (decide(rules), decide(reversed));
    assert_eq!(one, other, "the order of {rows:?}");
    one
}

/// Rules, a line, and what comes of it.
type Row = (&'static [(Effect, &'static str)], &'static str, Option<Effect>);

#[test]
fn commands() {
    use Effect::{Allow, Ask, Deny};
    let rows: &[Row] = &[
        (&[(Ask, "git *"), (Allow, "git status")], "git status", Some(Allow)),
        (&[(Ask, "git *"), (Allow, "git status")], "git status -s", Some(Allow)),
        (&[(Ask, "git *"), (Allow, "git status")], "git push", Some(Ask)),
        (&[(Ask, "git"), (Allow, "git status")], "git status", Some(Allow)),
        (&[(Ask, "*"), (Allow, "git status")], "git status", Some(Allow)),
        (&[(Ask, "git *"), (Allow, "git st*")], "git status", Some(Allow)),
        (&[(Ask, "git push"), (Allow, "git push --dry-run")], "git push --dry-run", Some(Allow)),
        (&[(Ask, "git push"), (Allow, "git push --dry-run")], "git push", Some(Ask)),
        // Never against a denial.
        (&[(Deny, "git *"), (Allow, "git status")], "git status", Some(Deny)),
        (&[(Ask, "git *"), (Allow, "git push"), (Deny, "git push --force")], "git push --force", Some(Deny)),
        // Not narrower: the same, wider, or only overlapping.
        (&[(Ask, "git status"), (Allow, "git status")], "git status", Some(Ask)),
        (&[(Ask, "git status"), (Allow, "git *")], "git status", Some(Ask)),
        (&[(Ask, "git status"), (Allow, "git")], "git status", Some(Ask)),
        (&[(Ask, "git * --force"), (Allow, "git push")], "git push --force", Some(Ask)),
        (&[(Ask, "rm -r"), (Allow, "rm build")], "rm build -r", Some(Ask)),
        (&[(Ask, "cat /etc/**"), (Allow, "cat passwd")], "cat passwd", Some(Allow)),
        // Every question needs its exception.
        (&[(Ask, "git *"), (Ask, "* status"), (Allow, "git status")], "git status", Some(Allow)),
        (&[(Ask, "git *"), (Ask, "git * -s"), (Allow, "git status")], "git status -s", Some(Ask)),
        // Each program for itself.
        (&[(Ask, "git *"), (Allow, "git status")], "git status ; git push", Some(Ask)),
        (&[(Ask, "git *"), (Allow, "git status"), (Allow, "ls")], "git status ; ls", Some(Allow)),
        (&[(Ask, "sed"), (Allow, "sed -i*")], "sed -i.bak x", Some(Allow)),
        (&[(Ask, "rm"), (Allow, "rm /ws/target/**")], "rm /ws/target/a", Some(Allow)),
        // Expressions.
        (&[(Ask, "re:^git "), (Allow, "re:^git status$")], "git status", Some(Allow)),
        (&[(Ask, "re:^git "), (Allow, "re:^git")], "git status", Some(Ask)),
        (&[(Ask, "re:^git status"), (Allow, "git status")], "git status", Some(Ask)),
    ];
    for (rules, line, expected) in rows {
        let rules: Vec<_> = rules.iter().map(|(effect, text)| (*effect, command(text))).collect();
        assert_eq!(both_orders(&rules, |rules| exec(rules, line)), *expected, "{rules:?} on {line}");
    }
}

#[test]
fn hosts() {
    use Effect::{Allow, Ask};
    let rows: &[(&str, &str, &str, Effect)] = &[
        ("*.example.com", "api.example.com", "api.example.com", Allow),
        ("*.example.com", "api.example.com", "www.example.com", Ask),
        ("**.example.com", "*.example.com", "www.example.com", Allow),
        ("*.example.com", "**.example.com", "www.example.com", Ask),
        ("*.example.com", "*.a.example.com", "x.a.example.com", Allow),
        ("example.com", "example.com", "example.com", Ask),
        ("example.com", "example.com:443", "example.com:443", Allow),
        ("example.com:443", "example.com", "example.com:443", Ask),
        ("re:.*", "example.com", "example.com", Allow),
        ("re:example", "api.example.com", "api.example.com", Allow),
        ("re:^api", "re:^api\\.example\\.com$", "api.example.com", Allow),
        ("re:^api\\.example\\.com$", "re:^api", "api.example.com", Ask),
    ];
    for (ask, allow, name, expected) in rows {
        let rules = [(Ask, host(ask)), (Allow, host(allow))];
        let decided = both_orders(&rules, |rules| connect(rules, name));
        assert_eq!(decided, Some(*expected), "ask {ask}, allow {allow} on {name}");
    }
}

#[test]
fn paths() {
    use Effect::{Allow, Ask};
    let rows: &[(&str, &str, &str, Effect)] = &[
        ("src/**", "src/gen/**", "src/gen/a.rs", Allow),
        ("src/**", "src/gen/**", "src/a.rs", Ask),
        ("**", "docs/*.md", "docs/a.md", Allow),
        ("docs/*.md", "**", "docs/a.md", Ask),
        ("**/*.lock", "Cargo.lock", "Cargo.lock", Allow),
        ("*.lock", "**/*.lock", "Cargo.lock", Ask),
        ("src/{a,b}/*", "src/a/*", "src/a/x", Allow),
        ("src/a/*", "src/{a,b}/*", "src/a/x", Ask),
        ("src/[a-c]", "src/b", "src/b", Allow),
        ("re:^src/", "src/b", "src/b", Allow),
    ];
    for (ask, allow, name, expected) in rows {
        let rules = [(Ask, path(ask)), (Allow, path(allow))];
        let decided = both_orders(&rules, |rules| read(rules, name));
        assert_eq!(decided, Some(*expected), "ask {ask}, allow {allow} on {name}");
    }
}

#[test]
fn tools_and_arguments() {
    use Effect::{Allow, Ask};
    type Conditions = (Option<&'static str>, &'static [(&'static str, &'static str)]);
    let rows: &[(Conditions, Conditions, &str, Effect)] = &[
        ((Some("*"), &[]), (Some("exec"), &[]), "ls", Allow),
        ((Some("exec"), &[]), (Some("*"), &[]), "ls", Ask),
        ((Some("exec"), &[]), (Some("exec"), &[]), "ls", Ask),
        ((Some("exec"), &[]), (Some("exec"), &[("command", "re:^git (status|log)\\b")]), "git log", Allow),
        ((Some("exec"), &[]), (Some("exec"), &[("command", "re:^git (status|log)\\b")]), "git push", Ask),
        // Text that was searched for covers one program, not what stands behind it.
        ((Some("exec"), &[]), (Some("exec"), &[("command", "re:^git status")]), "git status ; rm x", Ask),
        ((Some("exec"), &[]), (Some("exec"), &[("command", "re:^find ")]), "find . $x", Ask),
        ((Some("exec"), &[]), (Some("exec"), &[("command", "git status ; ls")]), "git status ; ls", Allow),
        (
            (Some("exec"), &[("command", "git*")]),
            (Some("exec"), &[("command", "git s*")]),
            "git status",
            Allow,
        ),
        ((Some("exec"), &[("command", "git*")]), (Some("exec"), &[("cwd", "x")]), "git status", Ask),
    ];
    let make = |effect, (tool, arguments): &Conditions| {
        let pattern = |text: &str| Pattern::parse(text).unwrap();
        let arguments = arguments.iter().map(|(name, text)| ((*name).to_owned(), pattern(text))).collect();
        Rule { tool: tool.map(pattern), arguments, ..rule(effect, Subject::Any, "/user") }
    };
    for (ask, allow, line, expected) in rows {
        let decided = exec(vec![make(Ask, ask), make(Allow, allow)], line);
        assert_eq!(decided, Some(*expected), "ask {ask:?}, allow {allow:?} on {line}");
    }
}

#[test]
fn other_layers_make_no_exceptions() {
    for (ask, allow, expected) in [
        ("/user", "/user", Effect::Allow),
        ("/managed", "/user", Effect::Ask),
        ("/user", "/project", Effect::Ask),
    ] {
        let rules =
            vec![rule(Effect::Ask, command("git *"), ask), rule(Effect::Allow, command("git status"), allow)];
        assert_eq!(exec(rules, "git status"), Some(expected), "ask in {ask}, allow in {allow}");
    }
}

/// Every path of up to three names.
fn universe() -> Vec<String> {
    let mut all = vec![String::new()];
    for _ in 0..3 {
        let longer: Vec<_> =
            all.iter().flat_map(|path| ["a", "b", "ab"].map(|name| format!("{path}/{name}"))).collect();
        all.extend(longer);
    }
    all.iter().filter_map(|path| path.strip_prefix('/')).map(str::to_owned).collect()
}

proptest! {
    /// A proven inclusion holds for every path.
    #[test]
    fn a_proof_is_true(narrow in "(\\*\\*/)?[ab*?]{1,2}(/[ab*]{1,2}){0,2}(/\\*\\*)?", wide in "(\\*\\*/)?[ab*?]{1,2}(/[ab*]{1,2}){0,2}(/\\*\\*)?") {
        let (Ok(narrow), Ok(wide)) = (PathPattern::parse(&narrow), PathPattern::parse(&wide)) else { return Ok(()) };
        if narrow.is_within(&wide) {
            for path in universe() {
                let (narrow, wide) = (narrow.matches(path.as_bytes(), Reach::Narrow), wide.matches(path.as_bytes(), Reach::Wide));
                prop_assert!(!narrow || wide, "{path}");
            }
        }
    }

    /// A pattern is within what only adds wildcards to it.
    #[test]
    fn a_wildcard_contains_what_it_stands_for(start in "[a-c]{1,4}", middle in "[a-c*]{0,4}", end in "[a-c]{0,3}") {
        let narrow = Pattern::parse(&format!("{start}{middle}{end}")).unwrap();
        let wide = Pattern::parse(&format!("{start}*{end}")).unwrap();
        prop_assert!(narrow.is_within(&wide));
        prop_assert!(!wide.is_within(&narrow) || middle.chars().any(|c| c == '*'));
    }
}
