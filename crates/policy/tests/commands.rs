//! Laws of rules on commands, over made-up patterns and lines.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use proptest::prelude::*;
use ringfence_policy::{
    Arguments, Argv, Certainty, Code, CommandPattern, Decision, Effect, Execution, Invocation, Policy as _,
    Program, Reason, Request, Rule, RuleSet, Subject, ToolName, Want, Word,
};

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

/// One way to write an option: `-r`, `--recursive`, or as a part of a cluster.
#[derive(Debug, Clone, Copy)]
enum Form {
    Short,
    Long,
    Cluster,
}

/// A program with several spellings, and its options: the letter, the name, and whether it takes the value `v`.
struct Spelled {
    rule: &'static str,
    spellings: &'static [&'static str],
    options: &'static [(char, &'static str, bool)],
}

const SPELLED: &[Spelled] = &[
    Spelled {
        rule: "rm",
        spellings: &["rm", "/bin/rm"],
        options: &[
            ('r', "recursive", false),
            ('f', "force", false),
            ('v', "verbose", false),
            ('d', "dir", false),
        ],
    },
    Spelled {
        rule: "git push",
        spellings: &["git push", "git -C x push", "git --no-pager -c a=b push", "git --git-dir x push"],
        options: &[
            ('f', "force", false),
            ('d', "delete", false),
            ('u', "set-upstream", false),
            ('q', "quiet", false),
            ('o', "push-option", true),
        ],
    },
    Spelled {
        rule: "docker run",
        spellings: &["docker run", "docker -H x container run", "docker --debug run"],
        options: &[
            ('i', "interactive", false),
            ('t', "tty", false),
            ('P', "publish-all", false),
            ('v', "volume", true),
            ('u', "user", true),
        ],
    },
    Spelled {
        rule: "curl",
        spellings: &["curl", "/usr/bin/curl"],
        options: &[
            ('k', "insecure", false),
            ('s', "silent", false),
            ('L', "location", false),
            ('o', "output", true),
            ('X', "request", true),
        ],
    },
];

/// The words of options, each in a form of its own. Those with a value end their cluster.
fn words(options: &[((char, &str, bool), Form, bool)]) -> Vec<Vec<String>> {
    let mut words = Vec::new();
    let mut cluster = String::from("-");
    for ((letter, name, takes), form, attached) in options {
        let one = match (form, takes, attached) {
            (Form::Cluster, false, _) => {
                cluster.push(*letter);
                continue;
            }
            (Form::Short, false, _) => vec![format!("-{letter}")],
            (Form::Long, false, _) => vec![format!("--{name}")],
            (Form::Long, true, true) => vec![format!("--{name}=v")],
            (Form::Long, true, false) => vec![format!("--{name}"), "v".into()],
            (_, true, true) => vec![format!("-{letter}v")],
            (_, true, false) => vec![format!("-{letter}"), "v".into()],
        };
        words.push(one);
    }
    if cluster.len() > 1 {
        words.push(vec![cluster]);
    }
    words
}

type Written = Vec<((char, &'static str, bool), Form, bool)>;

prop_compose! {
    /// A program with some of its options in some order and form, twice: as the rule has them, and the same with more.
    fn spelled()(which in 0..SPELLED.len())(
        which in Just(which),
        order in Just(SPELLED[which].options.to_vec()).prop_shuffle(),
        again in any::<proptest::sample::Index>(),
        wanted in 1..=SPELLED[which].options.len(),
        given in 0..=SPELLED[which].options.len(),
        spelling in 0..SPELLED[which].spellings.len(),
        forms in proptest::collection::vec((proptest::sample::select(&[Form::Short, Form::Long, Form::Cluster][..]), any::<bool>()), 10),
    ) -> (usize, usize, Written, Written) {
        let written = |count: usize, from: usize| -> Written {
            let form = |(at, option): (usize, &(char, &'static str, bool))| (*option, forms[from + at].0, forms[from + at].1);
            order.iter().take(count).enumerate().map(form).collect()
        };
        let mut more = written(given.max(wanted), 5);
        let by = again.index(more.len());
        more.rotate_left(by);
        (which, spelling, written(wanted, 0), more)
    }
}

proptest! {
    /// Order, clusters, long names, values and further options change nothing for a restriction.
    #[test]
    fn a_restriction_holds_for_every_spelling(
        (which, spelling, wanted, given) in spelled(),
        operands in proptest::collection::vec(proptest::sample::select(&["a", "b", "origin"][..]), 0..3),
        place in any::<proptest::sample::Index>(),
    ) {
        let program = &SPELLED[which];
        let rule = format!("{} {}", program.rule, words(&wanted).concat().join(" "));
        let mut groups = words(&given);
        for operand in operands {
            groups.insert(place.index(groups.len() + 1), vec![operand.to_owned()]);
        }
        let line = format!("{} {}", program.spellings[spelling], groups.concat().join(" "));
        let argv = Argv::new(line.split(' ').map(Word::literal).collect()).unwrap();
        let pattern = CommandPattern::parse(&rule).unwrap();
        for effect in [Effect::Ask, Effect::Deny] {
            prop_assert!(pattern.matches(&Program::alone(argv.clone(), None), effect), "{rule} on {line}");
        }
    }
}

/// Commands that rules met when only the spelling of the rule counted. A restriction never becomes weaker.
#[test]
fn a_restriction_still_meets_what_it_met() {
    for row in include_str!("vectors/commands.jsonl").lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let (rule, line) = (row["rule"].as_str().unwrap(), row["line"].as_str().unwrap());
        let word = |text: &str| {
            let certainty = match text {
                _ if text.contains('$') => Certainty::Unknown,
                _ if text.contains('*') => Certainty::Pattern,
                _ => Certainty::Literal,
            };
            Word { certainty, ..Word::literal(text) }
        };
        let argv = Argv::new(line.split(' ').map(word).collect()).unwrap();
        let pattern = CommandPattern::parse(rule).unwrap();
        let pattern = if row["exact"].as_bool().unwrap() { pattern.exact() } else { pattern };
        assert!(pattern.matches(&Program::alone(argv, Some("/ws".into())), Effect::Deny), "{row}");
    }
}
