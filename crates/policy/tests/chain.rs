//! The fixed phases of the chain, and the laws that follow from them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use ringfence_policy::floor::{Border, Forbidden, NoAbsolute, NoMetadata, Root};
use ringfence_policy::{
    Answers, Arguments, Argv, Chain, Code, CommandPattern, Cover, Decision, Effect, Endpoint, Execution,
    Finding, HostPattern, Invocation, Kinds, Link, Location, PathPattern, Pattern, Phase, Policy as _,
    Position, Program, Reason, Remembered, Request, Rule, RuleSet, Span, Subject, ToolName, Want, Word,
};

const WORKSPACE: &str = "/ws";

/// A forbidding floor or not, effects of rules, default, answer of a person; phase and effect of the decision.
type PhaseRow = (bool, &'static [Effect], Option<Effect>, Option<Remembered>, Phase, Effect);
/// Answers of a person, each with its scope.
type SaidRow = &'static [(Remembered, Cover)];
/// Tool, arguments, effect of the decision.
type CallRow = (&'static str, &'static [(&'static str, &'static str)], Effect);

fn location(path: &str) -> Location {
    Location::new(Path::new(WORKSPACE), Path::new(path)).unwrap()
}

fn tool(name: &str) -> ToolName {
    ToolName::parse(name).unwrap()
}

fn reason(text: &str) -> Reason {
    Reason::new(Code::Rule, text)
}

fn rule(effect: Effect, subject: Subject) -> Rule {
    Rule { id: 0, effect, tool: None, subject, arguments: vec![], reason: reason(effect.word()) }
}

fn path_rule(effect: Effect, glob: &str) -> Rule {
    rule(effect, Subject::Path(PathPattern::parse(glob).unwrap(), Kinds::Both))
}

fn command_rule(effect: Effect, pattern: &str) -> Rule {
    rule(effect, Subject::Command(CommandPattern::parse(pattern).unwrap()))
}

fn default_to(effect: Effect) -> impl ringfence_policy::Policy {
    Link::new("default", move |_: &Request<'_>| Some((effect, reason("default"))))
}

fn forbidden(glob: &str) -> Box<Forbidden> {
    Box::new(Forbidden::new(&[(PathPattern::parse(glob).unwrap(), None)]).unwrap())
}

#[test]
fn a_forbidden_directory_is_forbidden_with_everything_in_it_and_an_exempt_name_is_not_meant() {
    let patterns = ["**/.env*", "**/keys/**", "a/b", "re:/vault$", "**/\u{e9}t\u{e9}"];
    let patterns = patterns.map(|text| (PathPattern::parse(text).unwrap(), None));
    let exempt = ["**/.env*.{example,sample}", "plain/.env", "/opt/view/.env"];
    let exempt = exempt.map(|text| PathPattern::parse(text).unwrap());
    let forbidden = Forbidden::new(&patterns).unwrap().beneath(["/opt/.envs".into()]);
    let forbidden = forbidden.except(&exempt, |id| id != 1).unwrap();
    let rows = [
        ("/ws/.env", true),
        ("/ws/.ENV", true),
        ("/ws/x/.env.local", true),
        ("/ws/.env.example", false),
        ("/ws/x/.env.local.sample", false),
        ("/ws/.envs/a/b", true),
        ("/ws/.envs/.env.example", true),
        ("/ws/plain/.env", false),
        ("/ws/plain/.env/x", false),
        ("/ws/plain/x/.env/y", true),
        ("/ws/a/b", true),
        ("/ws/a/b/c", true),
        ("/ws/a/bc", false),
        ("/ws/keys", true),
        ("/ws/keys/x", true),
        ("/ws/x/vault/y", true),
        ("/ws/x/vaulted/y", false),
        ("/ws/\u{c9}T\u{c9}/x", true),
        // Above and beside the workspace.
        ("/opt/.envs/x", false),
        ("/opt/.envs", false),
        ("/opt/.envs/x/.env/y", true),
        ("/opt/other/.env/y", true),
        ("/opt/view/.env", false),
    ];
    for (path, expected) in rows {
        assert_eq!(forbidden.holds(&location(path)), expected, "{path}");
    }
    let workspace = Path::new("/home/me/.envs/ws");
    for (name, expected) in [("a", false), (".env", true), ("x/keys/a", true)] {
        let place = Location::new(workspace, &workspace.join(name)).unwrap();
        assert_eq!(forbidden.holds(&place), expected, "{name}");
    }
}

/// Every phase beats the ones after it: each row adds one link and moves the decision up.
#[test]
fn the_phases_in_order() {
    use Effect::{Allow, Ask, Deny};
    let file = location("/ws/a");
    let read = tool("read");
    let request = Request { tool: &read, want: Want::Read(&file) };
    let answer = |remembered: Option<Remembered>| {
        let mut answers = Answers::none();
        if let Some(remembered) = remembered {
            answers.remember(&request, remembered, Cover::Tool);
        }
        answers
    };
    let rows: &[PhaseRow] = &[
        (false, &[], None, None, Phase::Nobody, Deny),
        (false, &[], Some(Allow), None, Phase::Default, Allow),
        (false, &[], Some(Ask), None, Phase::Default, Ask),
        (false, &[Allow], Some(Ask), None, Phase::RuleAllow, Allow),
        (false, &[Allow], Some(Deny), None, Phase::RuleAllow, Allow),
        (false, &[Allow, Ask], Some(Allow), None, Phase::RuleAsk, Ask),
        (false, &[Allow, Ask], Some(Allow), Some(Remembered::Allow), Phase::SessionAllow, Allow),
        (false, &[Allow, Ask, Deny], Some(Allow), Some(Remembered::Allow), Phase::RuleDeny, Deny),
        (false, &[Allow], Some(Allow), Some(Remembered::Deny), Phase::SessionDeny, Deny),
        (true, &[Allow], Some(Allow), Some(Remembered::Allow), Phase::FloorDeny, Deny),
    ];
    for (floor, effects, default, remembered, phase, effect) in rows {
        let mut chain = Chain::new(if *floor { vec![forbidden("a")] } else { vec![] });
        for effect in *effects {
            chain = chain.then(RuleSet::new(vec![path_rule(*effect, "a")]).unwrap());
        }
        if let Some(default) = default {
            chain = chain.otherwise(default_to(*default));
        }
        let trace = chain.explain(&request, &answer(*remembered));
        assert_eq!(
            (trace.phase, trace.decision.effect()),
            (*phase, *effect),
            "{effects:?} {default:?} {remembered:?}"
        );
    }
}

/// A layer that may only narrow turns allow into ask or deny, and nothing into allow.
#[test]
fn narrowing_links_only_narrow() {
    use Effect::{Allow, Ask, Deny};
    let (file, read) = (location("/ws/a"), tool("read"));
    let request = Request { tool: &read, want: Want::Read(&file) };
    let rows = [
        (Some(Allow), Allow, Allow),
        (Some(Allow), Ask, Ask),
        (Some(Allow), Deny, Deny),
        (Some(Ask), Allow, Ask),
        (Some(Ask), Deny, Deny),
        (Some(Deny), Ask, Deny),
        (None, Allow, Deny),
        (None, Ask, Deny),
    ];
    for (wide, narrowing, expected) in rows {
        let mut chain =
            Chain::new(vec![]).narrowed_by(RuleSet::new(vec![path_rule(narrowing, "a")]).unwrap());
        if let Some(wide) = wide {
            chain = chain.then(RuleSet::new(vec![path_rule(wide, "a")]).unwrap());
        }
        assert_eq!(chain.decide(&request, &Answers::none()).effect(), expected, "{wide:?} {narrowing:?}");
    }
}

#[test]
fn the_trace_names_every_link() {
    let chain = Chain::new(vec![forbidden("**/.env*"), Box::new(NoMetadata)])
        .then(RuleSet::new(vec![path_rule(Effect::Allow, "**")]).unwrap())
        .otherwise(default_to(Effect::Ask));
    let file = location("/ws/.env");
    let read = tool("read");
    let trace = chain.explain(&Request { tool: &read, want: Want::Read(&file) }, &Answers::none());
    let said: Vec<_> =
        trace.said.iter().map(|said| (&*said.link, said.decision.as_ref().map(Decision::effect))).collect();
    assert_eq!(
        said,
        [
            ("forbidden names", Some(Effect::Deny)),
            ("metadata services", None),
            ("session", None),
            ("rules", Some(Effect::Allow)),
            ("default", Some(Effect::Ask)),
        ]
    );
}

#[test]
fn an_answer_covers_only_its_request() {
    let chain = Chain::new(vec![]).otherwise(default_to(Effect::Ask));
    let (a, star, read, grep) = (location("/ws/a"), location("/ws/*"), tool("read"), tool("grep"));
    let mut answers = Answers::none();
    answers.remember(&Request { tool: &read, want: Want::Read(&star) }, Remembered::Allow, Cover::Tool);
    let decide = |tool, want| chain.decide(&Request { tool, want }, &answers).effect();
    assert_eq!(decide(&read, Want::Read(&star)), Effect::Allow);
    assert_eq!(decide(&read, Want::Write(&star)), Effect::Ask);
    assert_eq!(decide(&read, Want::Read(&a)), Effect::Ask, "a file named `*` covers only itself");
    assert_eq!(decide(&grep, Want::Read(&star)), Effect::Ask);
}

#[test]
fn an_answer_may_cover_every_tool_and_a_no_counts_whoever_it_was_said_to() {
    use Remembered::{Allow, Deny};
    let chain = Chain::new(vec![]).otherwise(default_to(Effect::Ask));
    let (file, read, grep) = (location("/ws/a"), tool("read"), tool("grep"));
    // Answers given to `read`, with their scopes, in this order; the effects then for `read` and for `grep`.
    let rows: [(SaidRow, [Effect; 2]); 5] = [
        (&[(Allow, Cover::Session)], [Effect::Allow, Effect::Allow]),
        (&[(Allow, Cover::Session), (Deny, Cover::Tool)], [Effect::Deny, Effect::Allow]),
        (&[(Deny, Cover::Session), (Allow, Cover::Tool)], [Effect::Deny, Effect::Deny]),
        (&[(Deny, Cover::Tool), (Allow, Cover::Session)], [Effect::Allow, Effect::Allow]),
        (&[(Deny, Cover::Tool)], [Effect::Deny, Effect::Ask]),
    ];
    for (said, expected) in rows {
        let mut answers = Answers::none();
        for (answer, cover) in said {
            answers.remember(&Request { tool: &read, want: Want::Read(&file) }, *answer, *cover);
        }
        let holds = |tool| chain.decide(&Request { tool, want: Want::Read(&file) }, &answers).effect();
        assert_eq!([holds(&read), holds(&grep)], expected, "{said:?}");
    }
}

#[test]
fn links_that_come_later_have_a_place_and_never_the_name_of_another() {
    let link = |name, effect| -> Arc<dyn ringfence_policy::Policy> {
        Arc::new(Link::new(name, move |_: &Request<'_>| Some((effect, reason(name)))))
    };
    let mut chain = Chain::new(vec![forbidden("**/.env*")])
        .then(RuleSet::new(vec![path_rule(Effect::Deny, "secret")]).unwrap())
        .otherwise(default_to(Effect::Ask));
    let base = chain.clone();
    chain.add(link("b", Effect::Allow), Position::Last).unwrap();
    chain.add(link("a", Effect::Allow), Position::Before("b")).unwrap();
    chain.add(link("c", Effect::Ask), Position::Before("nobody")).unwrap();
    for taken in ["forbidden names", "rules", "default"] {
        assert!(chain.add(link(taken, Effect::Allow), Position::Last).is_err(), "{taken}");
    }
    assert_eq!(chain.names().collect::<Vec<_>>(), ["forbidden names", "rules", "a", "b", "c", "default"]);
    assert_eq!(base.names().count(), 3, "a copy is not changed");
    chain.add(link("c", Effect::Allow), Position::Before("a")).unwrap();
    assert_eq!(chain.names().collect::<Vec<_>>(), ["forbidden names", "rules", "c", "a", "b", "default"]);
    let read = tool("read");
    let decide =
        |path| chain.decide(&Request { tool: &read, want: Want::Read(&location(path)) }, &Answers::none());
    assert_eq!(&*decide("/ws/a").reason().text, "c", "the first of equally strict ones is told");
    assert_eq!(decide("/ws/secret").effect(), Effect::Deny);
    assert_eq!(decide("/ws/.env").effect(), Effect::Deny);
}

#[test]
fn where_case_does_not_count_restrictions_ignore_it() {
    let rules = || {
        vec![
            path_rule(Effect::Deny, "Secret/**"),
            path_rule(Effect::Ask, "re:.*\\.Key"),
            path_rule(Effect::Allow, "Open.txt"),
        ]
    };
    let chain = Chain::new(vec![]).then(RuleSet::new(rules()).unwrap());
    let rows = [
        ("/ws/Secret/a", Effect::Deny, Effect::Deny),
        ("/ws/SECRET/A", Effect::Deny, Effect::Deny),
        ("/ws/a.key", Effect::Deny, Effect::Ask),
        ("/ws/Open.txt", Effect::Allow, Effect::Allow),
        ("/ws/open.txt", Effect::Deny, Effect::Deny),
    ];
    let read = tool("read");
    for (path, exact, folded) in rows {
        let (file, folding) = (location(path), location(path).folding_case());
        let decide = |file| chain.decide(&Request { tool: &read, want: Want::Read(file) }, &Answers::none());
        assert_eq!(decide(&file).effect(), exact, "{path}");
        assert_eq!(decide(&folding).effect(), folded, "{path}");
    }
    let decide = |file: &Location| {
        chain.decide(&Request { tool: &read, want: Want::Read(file) }, &Answers::none()).reason().code
    };
    assert_eq!(decide(&location("/ws/secret/a")), Code::NobodyAnswered);
    assert_eq!(decide(&location("/ws/secret/a").folding_case()), Code::Rule);
}

#[test]
fn the_floor() {
    let workspace = Path::new(WORKSPACE);
    let chain = Chain::new(vec![
        Box::new(NoAbsolute(None)),
        Box::new(Border::new(vec![Root { path: "/opt/data".into(), writable: false }], None)),
        forbidden("**/.env*"),
        Box::new(NoMetadata),
    ])
    .otherwise(default_to(Effect::Allow));
    let write = tool("write");
    let linked = location("/ws/notes").also(workspace, Path::new("/ws/.env")).unwrap();
    let rows: &[(Want<'_>, Option<Code>)] = &[
        (Want::Read(&location("/ws/a")), None),
        (Want::Read(&location("/ws/sub/.ENV.local")), Some(Code::ForbiddenName)),
        (Want::Read(&linked), Some(Code::ForbiddenName)),
        (Want::Read(&location("/etc/passwd")), Some(Code::OutsideWorkspace)),
        (Want::Read(&location("/ws-evil/a")), Some(Code::OutsideWorkspace)),
        (Want::Read(&location("/opt/data/a")), None),
        (Want::Read(&location("/opt/data-evil/a")), Some(Code::OutsideWorkspace)),
        (Want::Write(&location("/opt/data/a")), Some(Code::OutsideWorkspace)),
        (Want::Load(&location("/etc/skill")), Some(Code::OutsideWorkspace)),
        (Want::Read(&location("/ws/a").spelled_absolute()), Some(Code::AbsolutePath)),
        (Want::Connect(&Endpoint::parse("169.254.169.254", 80).unwrap()), Some(Code::MetadataAddress)),
        (Want::Connect(&Endpoint::parse("example.com", 80).unwrap()), None),
    ];
    for (want, expected) in rows {
        let decision = chain.decide(&Request { tool: &write, want: *want }, &Answers::none());
        let denied = (decision.effect() == Effect::Deny).then(|| decision.reason().code);
        assert_eq!(denied, *expected, "{want:?}");
    }
}

/// A link named like something allowed does not make its target allowed; one named like something denied denies it.
#[test]
fn other_names_only_restrict() {
    let file = location("/ws/b").also(Path::new(WORKSPACE), Path::new("/ws/a")).unwrap();
    let read = tool("read");
    let rows = [
        (Effect::Allow, "a", Effect::Deny),
        (Effect::Allow, "b", Effect::Allow),
        (Effect::Ask, "a", Effect::Ask),
        (Effect::Deny, "a", Effect::Deny),
    ];
    for (effect, glob, expected) in rows {
        let chain = Chain::new(vec![]).then(RuleSet::new(vec![path_rule(effect, glob)]).unwrap());
        let decision = chain.decide(&Request { tool: &read, want: Want::Read(&file) }, &Answers::none());
        assert_eq!(decision.effect(), expected, "{effect:?} {glob}");
    }
}

#[test]
fn a_command_line_is_judged_program_by_program() {
    let rules = RuleSet::new(vec![
        command_rule(Effect::Allow, "git status"),
        command_rule(Effect::Allow, "ls"),
        command_rule(Effect::Deny, "rm"),
        command_rule(Effect::Ask, "git push"),
    ])
    .unwrap();
    let chain = Chain::new(vec![]).then(rules);
    let exec = tool("exec");
    let rows: &[(&[&str], bool, Effect)] = &[
        (&["git status"], true, Effect::Allow),
        (&["git status", "ls -l"], true, Effect::Allow),
        (&["git status", "rm x"], true, Effect::Deny),
        (&["git status", "make"], true, Effect::Deny),
        (&["git status", "git push"], true, Effect::Ask),
        (&["git status"], false, Effect::Ask),
        (&["git status", "make"], false, Effect::Deny),
        (&["rm x"], false, Effect::Deny),
        (&[], true, Effect::Deny),
    ];
    for (lines, certain, expected) in rows {
        let programs = lines.iter().map(|line| program(line)).collect();
        let unprovable = || Finding::new(Code::Unprovable, Span::default(), "a value of run time");
        let findings = (!certain).then(unprovable).into_iter().collect();
        let invocation = Invocation { programs, findings };
        let request = Request {
            tool: &exec,
            want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }),
        };
        assert_eq!(chain.decide(&request, &Answers::none()).effect(), *expected, "{lines:?}");
    }
}

fn program(line: &str) -> Program {
    let argv = Argv::new(line.split(' ').map(Word::literal).collect()).unwrap();
    Program::alone(argv, Some("/ws".into()))
}

#[test]
fn conditions_on_tools_and_arguments() {
    let mut ask_main = rule(Effect::Ask, Subject::Any);
    ask_main.tool = Some(Pattern::parse("mcp__git--*").unwrap());
    ask_main.arguments = vec![("branch".into(), Pattern::parse("main*").unwrap())];
    let mut allow_dev = ask_main.clone();
    allow_dev.effect = Effect::Allow;
    allow_dev.arguments = vec![("branch".into(), Pattern::parse("dev*").unwrap())];
    let chain = Chain::new(vec![]).then(RuleSet::new(vec![ask_main, allow_dev]).unwrap());
    let rows: &[CallRow] = &[
        ("mcp__git--push", &[("branch", "dev-1")], Effect::Allow),
        ("mcp__git--push", &[("branch", "main")], Effect::Ask),
        ("mcp__git--push", &[("branch", "dev"), ("branch", "main")], Effect::Ask),
        ("mcp__git--push", &[("branch", "dev"), ("branch", "x")], Effect::Deny),
        ("mcp__git--push", &[("Branch", "dev")], Effect::Deny),
        ("mcp__git--push", &[], Effect::Deny),
        ("mcp__svn--push", &[("branch", "dev")], Effect::Deny),
    ];
    for (name, pairs, expected) in rows {
        let arguments =
            Arguments::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect());
        let name = tool(name);
        let request = Request { tool: &name, want: Want::Call(&arguments) };
        assert_eq!(chain.decide(&request, &Answers::none()).effect(), *expected, "{name} {pairs:?}");
    }
}

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Effect::Allow), Just(Effect::Ask), Just(Effect::Deny)]
}

fn any_rule() -> impl Strategy<Value = (Effect, String)> {
    (any_effect(), "(\\*\\*/)?[ab*](/[ab*]){0,2}(/\\*\\*)?")
}

fn any_rules() -> impl Strategy<Value = Vec<(Effect, String)>> {
    proptest::collection::vec(any_rule(), 0..3)
}

fn decide(rules: &[(Effect, String)], path: &str) -> Effect {
    let rules = rules.iter().map(|(effect, glob)| path_rule(*effect, glob)).collect();
    let chain = Chain::new(vec![]).then(RuleSet::new(rules).unwrap());
    let file = location(path);
    let read = tool("read");
    chain.decide(&Request { tool: &read, want: Want::Read(&file) }, &Answers::none()).effect()
}

proptest! {
    #[test]
    fn a_new_restriction_never_allows_more(
        rules in proptest::collection::vec(any_rule(), 0..8),
        glob in "(\\*\\*/)?[ab*](/[ab*]){0,2}",
        effect in prop_oneof![Just(Effect::Ask), Just(Effect::Deny)],
        path in "/ws(/[ab]){1,4}",
    ) {
        let before = decide(&rules, &path);
        let more: Vec<_> = rules.into_iter().chain([(effect, glob)]).collect();
        // Without any rule the answer is deny already; an ask may then open a question, never an allow.
        let after = decide(&more, &path);
        prop_assert!(after >= before || (after == Effect::Ask && before == Effect::Deny));
        prop_assert!(after != Effect::Allow || before == Effect::Allow);
    }

    #[test]
    fn the_order_of_rules_decides_nothing(
        rules in proptest::collection::vec(any_rule(), 0..8),
        path in "/ws(/[ab]){1,4}",
    ) {
        let reversed: Vec<_> = rules.iter().rev().cloned().collect();
        prop_assert_eq!(decide(&rules, &path), decide(&reversed, &path));
    }

    #[test]
    fn a_yes_without_a_reason_is_a_yes_with_one(
        (rules, added) in (proptest::collection::vec(any_rule(), 0..4), any_rules()),
        (narrowing, defaults) in (any_rules(), any_rules()),
        forbidden in "[ab](/[ab]){0,2}",
        answer in proptest::option::of(prop_oneof![Just(Remembered::Allow), Just(Remembered::Deny)]),
        paths in proptest::collection::vec("/ws(/[ab]){1,4}", 1..8),
    ) {
        let set = |rules: &[(Effect, String)]| {
            RuleSet::new(rules.iter().map(|rule| path_rule(rule.0, &rule.1)).collect()).unwrap()
        };
        let forbidden = Forbidden::new(&[(PathPattern::parse(&forbidden).unwrap(), None)]).unwrap();
        let mut chain = Chain::new(vec![Box::new(forbidden)]).then(set(&rules));
        chain = chain.narrowed_by(set(&narrowing)).otherwise(set(&defaults));
        let added = Link::new("added", move |request: &Request<'_>| {
            let decision = set(&added).decide(request)?;
            Some((decision.effect(), decision.reason().clone()))
        });
        chain.add(Arc::new(added), Position::Last).unwrap();
        let read = tool("read");
        let files: Vec<_> = paths.iter().map(|path| location(path)).collect();
        let mut answers = Answers::none();
        if let Some(answer) = answer {
            answers.remember(&Request { tool: &read, want: Want::Read(&files[0]) }, answer, Cover::Tool);
        }
        for file in &files {
            let request = Request { tool: &read, want: Want::Read(file) };
            let decided = matches!(chain.decide(&request, &answers), Decision::Allow(_));
            prop_assert_eq!(chain.allows(&request, &answers), decided);
        }
    }

    #[test]
    fn many_rules_decide_as_each_alone(
        rules in proptest::collection::vec(any_rule(), 1..8),
        path in "/ws(/[ab]){1,4}",
    ) {
        let alone = rules.iter().filter_map(|rule| {
            let set = RuleSet::new(vec![path_rule(rule.0, &rule.1)]).unwrap();
            let (file, read) = (location(&path), tool("read"));
            set.deciding(&Request { tool: &read, want: Want::Read(&file) }).map(|rule| rule.effect)
        });
        let (decided, strictest) = (decide(&rules, &path), alone.max().unwrap_or(Effect::Deny));
        // Exceptions have laws of their own.
        prop_assert!(decided == strictest || (decided == Effect::Allow && strictest == Effect::Ask));
    }
}

#[test]
fn sets_are_shared_between_threads() {
    let rules = Arc::new(RuleSet::new(vec![path_rule(Effect::Allow, "a/**")]).unwrap());
    let read = tool("read");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for index in 0..500 {
                    let file = location(&format!("/ws/a/{index}"));
                    assert!(rules.deciding(&Request { tool: &read, want: Want::Read(&file) }).is_some());
                }
            });
        }
    });
}

#[test]
fn hosts_are_judged_by_the_strictest_pattern() {
    let host = |effect, text: &str| rule(effect, Subject::Host(HostPattern::parse(text).unwrap()));
    let rules = RuleSet::new(vec![
        host(Effect::Allow, "**.github.com"),
        host(Effect::Deny, "gist.github.com"),
        host(Effect::Ask, "api.github.com:443"),
    ])
    .unwrap();
    let chain = Chain::new(vec![]).then(rules);
    let fetch = tool("web_fetch");
    let rows = [
        ("github.com", Effect::Allow),
        ("GIST.github.com.", Effect::Deny),
        ("a.gist.github.com", Effect::Deny),
        ("api.github.com", Effect::Ask),
        ("api.github.com:80", Effect::Allow),
        ("example.com", Effect::Deny),
    ];
    for (text, expected) in rows {
        let endpoint = Endpoint::parse(text, 443).unwrap();
        let request = Request { tool: &fetch, want: Want::Connect(&endpoint) };
        assert_eq!(chain.decide(&request, &Answers::none()).effect(), expected, "{text}");
    }
}
