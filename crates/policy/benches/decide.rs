//! What a decision costs against a thousand rules.
//!
//! Promise: at most 1 µs for a path or a host.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark, not an interface")]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use policy::{
    Answers, Chain, Code, Effect, Endpoint, HostPattern, Kinds, Link, Location, PathPattern, Reason, Request,
    Rule, RuleSet, Subject, ToolName, Want,
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

criterion_group!(benches, paths, hosts);
criterion_main!(benches);
