//! Cost of reading a command line.
//!
//! Promise: at most 2 µs for a simple line with the decision against 100 rules, 20 µs for ten segments; a megabyte of
//! hostile text takes at most 2.3 times as long as half of it, and at most ten times its size in memory.
//!
//! Memory is measured from outside: this program starts itself again with one text, and the kernel's own record of the
//! largest size of that process is read before and after.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

#[path = "../tests/hostile/mod.rs"]
mod hostile;

use std::env;
use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::Criterion;
use hostile::{SHAPES, Shape};
use policy::{
    Answers, Arguments, Chain, Code, CommandPattern, Effect, Execution, Invocation, Link, Reason, Request,
    Rule, RuleSet, Subject, ToolName, Want,
};
use ringfence_shell::{Dialect, Surroundings};

const RULES: usize = 100;
const MEGABYTE: usize = 1 << 20;
/// The first argument of the process whose memory is measured.
const ROLE: &str = "--memory-of";

const SIMPLE: &str = "git status --porcelain";
const SEGMENTS: &str = "cd src && git status --porcelain | grep -v '^??' | sort -u > \"out.txt\"; \
    for f in a b; do echo \"$f\"; done && cargo build --release 2>&1 | tail -n 20 || echo failed; ls -la";

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, role, name] = &*arguments
        && role == ROLE
    {
        return report_memory(name);
    }
    let mut criterion = Criterion::default().configure_from_args();
    lines(&mut criterion);
    criterion.final_summary();
    // `cargo test --benches` and `--list` only want to know that it starts.
    if arguments.iter().any(|argument| argument == "--bench")
        && !arguments.iter().any(|argument| argument == "--list")
    {
        hostile_texts();
    }
}

fn lines(criterion: &mut Criterion) {
    let chain = chain();
    let tool = ToolName::parse("exec").unwrap();
    let rows: [(&str, &str, &[Dialect]); 4] = [
        ("simple line and decision, bash", SIMPLE, &[Dialect::Bash]),
        ("simple line and decision, any shell", SIMPLE, Dialect::ALL),
        ("ten segments and decision, bash", SEGMENTS, &[Dialect::Bash]),
        ("ten segments and decision, any shell", SEGMENTS, Dialect::ALL),
    ];
    for (name, line, dialects) in rows {
        criterion.bench_function(name, |bench| {
            bench.iter(|| {
                let read = read(black_box(line), dialects);
                let request = Request {
                    tool: &tool,
                    want: Want::Exec(Execution { invocation: &read, arguments: Arguments::NONE }),
                };
                black_box(chain.decide(&request, &Answers::none()))
            });
        });
    }
}

fn chain() -> Chain {
    let words = |id: usize| match id % 4 {
        0 => format!("git sub{id}"),
        1 => format!("tool{id} --flag{id}"),
        2 => format!("npm run task{id}*"),
        _ => format!("program{id}"),
    };
    let rule = |id| Rule {
        id,
        effect: [Effect::Deny, Effect::Ask, Effect::Allow][id % 3],
        tool: None,
        subject: Subject::Command(CommandPattern::parse(&words(id)).unwrap()),
        arguments: vec![],
        reason: Reason::new(Code::Rule, "a rule"),
    };
    let rules = RuleSet::new((0..RULES).map(rule).collect()).unwrap();
    let default = Link::new("default", |_: &Request<'_>| {
        Some((Effect::Ask, Reason::new(Code::FilesDefault, "default")))
    });
    Chain::new(vec![]).then(rules).otherwise(default)
}

fn read(line: &str, dialects: &[Dialect]) -> Invocation {
    let around = Surroundings { dialects, cwd: Some("/ws"), home: Some("/home/me"), stdin: None };
    ringfence_shell::read(line.as_bytes(), &around)
}

/// Prints time for half a megabyte and a whole one, their ratio, and memory by size of the text. A broken promise is marked.
fn hostile_texts() {
    println!("\n{:<36} {:>10} {:>10} {:>6} {:>8}", "hostile text", "512 KiB", "1 MiB", "ratio", "memory");
    for (name, shape) in SHAPES {
        let (half, whole) = (fastest(*shape, MEGABYTE / 2), fastest(*shape, MEGABYTE));
        let ratio = whole.as_secs_f64() / half.as_secs_f64();
        let memory = memory(name);
        // A text that is refused at once is too quick for its ratio to mean anything.
        let slow = ratio > 2.3 && whole > Duration::from_micros(200);
        let mark = if slow || memory.is_some_and(|times| times > 10.0) { "  BROKEN" } else { "" };
        let memory = memory.map_or("unknown".to_owned(), |times| format!("{times:.1} x"));
        println!("{name:<36} {half:>10.1?} {whole:>10.1?} {ratio:>6.2} {memory:>8}{mark}");
    }
}

fn fastest(shape: Shape, size: usize) -> Duration {
    let text = shape(size);
    let once = || {
        let begun = Instant::now();
        black_box(read(black_box(&text), Dialect::ALL));
        begun.elapsed()
    };
    (0..7).map(|_| once()).min().unwrap()
}

/// Returns the growth of a process that read a text, as a multiple of its size; `None` where the kernel does not tell.
fn memory(name: &str) -> Option<f64> {
    let output = Command::new(env::current_exe().unwrap()).args([ROLE, name]).output().unwrap();
    assert!(output.status.success(), "{name}: reading ended badly");
    String::from_utf8(output.stdout).unwrap().trim().parse().ok()
}

fn report_memory(name: &str) {
    let shape = SHAPES.iter().find(|(known, _)| *known == name).unwrap().1;
    let text = shape(MEGABYTE);
    // Making the text may have needed more than it keeps. Against the present size the growth is rather too large.
    let before = size("VmRSS:");
    let read = black_box(read(black_box(&text), Dialect::ALL));
    let after = size("VmHWM:");
    drop(read);
    if let (Some(before), Some(after)) = (before, after) {
        let grown = u32::try_from(after.saturating_sub(before)).unwrap();
        println!("{}", f64::from(grown) * 1024.0 / f64::from(u32::try_from(text.len()).unwrap()));
    }
}

/// A size of this process, in kibibytes: now (`VmRSS:`) or the largest so far (`VmHWM:`).
fn size(which: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(which))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
