//! Cost of loading a policy.
//!
//! Promise: at most 5 ms for a thousand rules, with the examples they carry.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark, not an interface")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use ringfence_config::{Places, Scope, Source, from_sources};

fn policy(rules: usize) -> String {
    let mut text = String::from("version = 1\n");
    for id in 0..rules {
        let subject = match id % 4 {
            0 => format!("path = \"dir{id}/**\"\nmatch = [\"dir{id}/a\"]"),
            1 => format!("path = \"**/name{id}*\"\nnot-match = [\"other\"]"),
            2 => format!("host = \"*.domain{id}.example.org\"\nmatch = [\"a.domain{id}.example.org\"]"),
            _ => format!(
                "tool = \"exec\"\ncommand = \"program{id} --flag*\"\nmatch = [\"program{id} --flag=1\"]"
            ),
        };
        let action = ["deny", "ask", "allow"][id % 3];
        write!(text, "[[rules]]\n{subject}\naction = \"{action}\"\nreason = \"rule number {id}\"\n").unwrap();
    }
    text
}

fn load(criterion: &mut Criterion) {
    let home = Some("/home/me".into());
    let places = Places { workspace: "/ws".into(), state: home.clone(), home, run: None };
    for (name, text) in [("built-in policy alone", policy(0)), ("policy of 1000 rules", policy(1_000))] {
        criterion.bench_function(name, |bench| {
            bench.iter_with_large_drop(|| {
                let source = Source::new(Scope::User, Path::new("policy.toml"), text.clone());
                black_box(from_sources(vec![source], &places).unwrap())
            });
        });
    }
}

criterion_group!(benches, load);
criterion_main!(benches);
