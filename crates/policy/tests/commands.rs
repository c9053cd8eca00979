//! Laws of rules on commands, over made-up patterns and lines.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use policy::{
    Arguments, Argv, Certainty, Code, CommandPattern, Decision, Effect, Execution, Invocation, Policy as _,
    Program, Reason, Request, Rule, RuleSet, Subject, ToolName, Want, Word,
};
use proptest::prelude::*;

const PATTERNS: &[&str] = &[
    "git",
    "git push",
    "git * -f",
    "git push --force*",
    "git --force push",
    "rm -r",
    "rm -r /etc/**",
    "rm /ws/**",
    "*",
    "g* p*",
    "re:git .*",
    "re:git push( .*)?|rm .*",
    "re:.*force.*",
    "rm --opt=*",
    "git push -f x",
    "/bin/rm x",
];
const WORDS: &[&str] = &[
    "git",
    "rm",
    "/usr/bin/git",
    "/bin/rm",
    "push",
    "x",
    "-f",
    "-rf",
    "--force",
    "--opt=x",
    "--opt",
    "/etc/x",
    "a",
    "../etc",
    "--",
    "$",
    "p*",
    "*",
];

fn word(text: &str) -> Word {
    let certainty = match text {
        "$" => Certainty::Unknown,
        _ if text.contains('*') => Certainty::Pattern,
        _ => Certainty::Literal,
    };
    Word { certainty, ..Word::literal(text) }
}

prop_compose! {
    fn program()(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 1..6),
        through in proptest::option::of(proptest::sample::select(WORDS)),
        hazard in proptest::option::of(0..4_u32),
        cwd in proptest::sample::select(&[None, Some("/ws"), Some("/etc")][..]),
    ) -> Program {
        let argv = Argv::new(words.into_iter().map(word).collect()).unwrap();
        let through = through.and_then(|text| Argv::new(vec![word(text)])).into_iter().collect();
        let hazards = hazard.filter(|at| (*at as usize) < argv.words().len()).into_iter().collect();
        Program { through, hazards, ..Program::alone(argv, cwd.map(Into::into)) }
    }
}

fn pattern() -> impl Strategy<Value = CommandPattern> {
    let plain = proptest::sample::select(PATTERNS);
    (plain, any::<bool>()).prop_map(|(text, exact)| {
        let pattern = CommandPattern::parse(text).unwrap();
        if exact { pattern.exact() } else { pattern }
    })
}

fn rule((pattern, effect): (CommandPattern, Effect)) -> Rule {
    let reason = Reason::new(Code::Rule, pattern.as_str().to_owned());
    Rule { id: 0, effect, tool: None, subject: Subject::Command(pattern), arguments: vec![], reason }
}

fn effect() -> impl Strategy<Value = Effect> {
    proptest::sample::select(&[Effect::Allow, Effect::Ask, Effect::Deny][..])
}

proptest! {
    #[test]
    fn what_a_pattern_permits_it_also_restricts(pattern in pattern(), program in program()) {
        let permits = pattern.matches(&program, Effect::Allow);
        prop_assert!(!permits || pattern.matches(&program, Effect::Deny), "{} on {program:?}", pattern.as_str());
    }

    /// The index finds what trying every rule finds, and the rules of each program add up.
    #[test]
    fn many_rules_decide_like_each_of_them(
        rules in proptest::collection::vec((pattern(), effect()), 0..8),
        programs in proptest::collection::vec(program(), 1..3),
    ) {
        let fits = |program: &Program| {
            let hits = rules.iter().filter(|(pattern, effect)| pattern.matches(program, *effect));
            hits.map(|(_, effect)| *effect).max()
        };
        let each: Vec<_> = programs.iter().map(fits).collect();
        let expected = match each.iter().copied().flatten().max() {
            Some(Effect::Allow) if each.contains(&None) => None,
            strictest => strictest,
        };
        let set = RuleSet::new(rules.iter().cloned().map(rule).collect()).unwrap();
        let (tool, invocation) = (ToolName::parse("exec").unwrap(), Invocation { programs, findings: vec![] });
        let decided = set.decide(&Request { tool: &tool, want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }) });
        let decided = decided.as_ref().map(Decision::effect);
        // Exceptions have laws of their own.
        prop_assert!(decided == expected || (expected == Some(Effect::Ask) && decided != Some(Effect::Deny)));
    }
}
