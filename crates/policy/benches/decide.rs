//! Cost of a decision against a thousand rules.
//!
//! Promise: at most 1 µs for a path, a host or a plain command.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark, not an interface")]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use ringfence_policy::{
    Act, Answers, Arguments, Argv, Chain, Code, CommandFiles, CommandPattern, Destructive, Effect, Endpoint,
    Execution, Findings, Ground, HostPattern, Invocation, Kinds, Link, Location, PathPattern, Program,
    Protected, Reason, Request, Rule, RuleSet, Subject, ToolName, Want, Word, finding, floor,
};

const RULES: usize = 1_000;

fn chain(subject: impl Fn(usize) -> Subject) -> Chain {
    let rule = |id| Rule {
        id,
        effect: [Effect::Deny, Effect::Ask, Effect::Allow][id % 3],
        tool: None,
        subject: subject(id),
        arguments: vec![],
        reason: Reason::new(Code::Rule, "a rule"),
    };
    let rules = RuleSet::new((0..RULES).map(rule).collect()).unwrap();
    let default = Link::new("default", |_: &Request<'_>| {
        Some((Effect::Ask, Reason::new(Code::FilesDefault, "default")))
    });
    Chain::new(vec![]).then(rules).otherwise(default)
}

fn path_subject(id: usize) -> Subject {
    let glob = match id % 5 {
        0 => format!("dir{id}/**"),
        1 => format!("**/name{id}*"),
        2 => format!("src/mod{id}/*.rs"),
        3 => format!("**/d{id}/**/*.e{id}"),
        _ => format!("some/literal/path/{id}.txt"),
    };
    Subject::Path(PathPattern::parse(&glob).unwrap(), Kinds::Both)
}

fn host_subject(id: usize) -> Subject {
    let pattern = if id.is_multiple_of(2) {
        format!("host{id}.example.com")
    } else {
        format!("*.domain{id}.example.org")
    };
    Subject::Host(HostPattern::parse(&pattern).unwrap())
}

fn paths(criterion: &mut Criterion) {
    let chain = chain(path_subject);
    let tool = ToolName::parse("read").unwrap();
    let path = |index: usize| match index % 4 {
        0 => format!("/home/me/project/dir{index}/a/b/file.rs"),
        1 => format!("/home/me/project/src/deep/er/name{index}.txt"),
        2 => format!("/home/me/project/src/mod{index}/lib.rs"),
        _ => format!("/home/me/project/target/debug/build/thing-{index}/out.o"),
    };
    let workspace = Path::new("/home/me/project");
    let locations: Vec<_> =
        (0..1_000).map(|i| Location::new(workspace, Path::new(&path(i))).unwrap()).collect();
    let mut next = locations.iter().cycle();
    criterion.bench_function("path against 1000 rules", |bench| {
        bench.iter(|| {
            let request = Request { tool: &tool, want: Want::Read(next.next().unwrap()) };
            black_box(chain.decide(&request, &Answers::none()))
        });
    });
}

fn hosts(criterion: &mut Criterion) {
    let chain = chain(host_subject);
    let tool = ToolName::parse("web_fetch").unwrap();
    let host = |index: usize| match index % 3 {
        0 => format!("host{index}.example.com"),
        1 => format!("a.b.domain{index}.example.org"),
        _ => format!("cdn{index}.static.unknown.net"),
    };
    let endpoints: Vec<_> = (0..1_000).map(|i| Endpoint::parse(&host(i), 443).unwrap()).collect();
    let mut next = endpoints.iter().cycle();
    criterion.bench_function("host against 1000 rules", |bench| {
        bench.iter(|| {
            let request = Request { tool: &tool, want: Want::Connect(next.next().unwrap()) };
            black_box(chain.decide(&request, &Answers::none()))
        });
    });
}

/// Deny and ask for words with options, allow for the first words of a program, and a few without a name to go by.
fn command_rules() -> Vec<Rule> {
    let pattern = |id: usize| match id % 10 {
        0 => format!("git push --force{id}*"),
        1 => format!("program{id} sub --option"),
        2 => format!("git sub{id}"),
        3 => format!("rm -r /dir{id}/**"),
        4 => format!("re:tool{id} .*"),
        5 => "git status".to_owned(),
        6 => "cargo test".to_owned(),
        _ => format!("tool{id} run test"),
    };
    let rule = |id| Rule {
        id,
        effect: match id % 10 {
            0..4 => Effect::Deny,
            4 => Effect::Ask,
            _ => Effect::Allow,
        },
        tool: None,
        subject: Subject::Command(CommandPattern::parse(&pattern(id)).unwrap()),
        arguments: vec![],
        reason: Reason::new(Code::Rule, "a rule"),
    };
    (0..100).map(rule).collect()
}

/// The chain as a policy makes it: floor, rules, findings, files of commands, default.
fn command_chain() -> Chain {
    let workspace = Path::new("/home/me/project");
    let names = ["**/.env*", "**/*.pem", "**/id_rsa*", "**/.git/hooks/**"];
    let names = names.map(|glob| (PathPattern::parse(glob).unwrap(), None));
    let forbidden = floor::Forbidden::new(&names).unwrap().in_workspace(workspace);
    let rules = std::sync::Arc::new(RuleSet::new(command_rules()).unwrap().in_workspace(workspace));
    let default = Link::new("default", |request: &Request<'_>| {
        (request.want.kind() == ringfence_policy::Kind::Exec)
            .then(|| (Effect::Ask, Reason::new(Code::CommandDefault, "default")))
    });
    let own = RuleSet::new(command_rules()).unwrap().in_workspace(workspace);
    Chain::new(vec![Box::new(forbidden), Box::new(Destructive)])
        .then(own)
        .narrowed_by(Findings::new(finding::Mode::Standard, None))
        .narrowed_by(CommandFiles(rules))
        .otherwise(default)
}

fn invocation(line: &str) -> Invocation {
    let program = |line: &str| {
        let words = line.split_whitespace().map(Word::literal).collect();
        Program::alone(Argv::new(words).unwrap(), Some("/home/me/project".into()))
    };
    Invocation { programs: line.split("&&").map(program).collect(), findings: vec![] }
}

fn commands(criterion: &mut Criterion) {
    let chain = command_chain();
    let tool = ToolName::parse("exec").unwrap();
    let rows = [
        ("allowed", "git status --porcelain"),
        ("unnamed", "make all"),
        ("with a path", "cat src/main.rs"),
        ("with options", "rm -v --force build/out"),
        ("with a subcommand", "git -C web push origin main -q"),
        (
            "of ten programs",
            "git status && cargo test && make && ls && git status && cargo test && make && ls && git log && true",
        ),
    ];
    for (name, line) in rows {
        let invocation = invocation(line);
        let request = Request {
            tool: &tool,
            want: Want::Exec(Execution { invocation: &invocation, arguments: Arguments::NONE }),
        };
        criterion.bench_function(&format!("command {name} against 100 rules"), |bench| {
            bench.iter(|| black_box(chain.decide(black_box(&request), &Answers::none())));
        });
    }
}

/// A name is judged whenever a file is made. Promise: at most 300 ns.
fn names(criterion: &mut Criterion) {
    let protected = Protected::all();
    let rows = [
        ("source", "crates/policy/src/tables/names.rs"),
        ("module", "web/node_modules/@scope/package/dist/esm/index.js"),
        ("object", ".git/objects/ab/cdef0123456789abcdef0123456789abcdef01"),
        ("hidden", "a/b/.cache/config/hooks/HEAD"),
        ("protected", "a/b/c/.vscode/settings.json"),
    ];
    for (name, path) in rows {
        criterion.bench_function(&format!("name of {name}"), |bencher| {
            bencher.iter(|| protected.judge(Ground::Tree, black_box(Path::new(path)), Act::File));
        });
    }
}

criterion_group!(benches, paths, hosts, commands, names);
criterion_main!(benches);
