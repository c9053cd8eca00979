//! Cost of a record (redaction, lock, hash and one write, on the local disk), and of verifying a ledger.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run should say why and end")]

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput};
use policy::{Code, Effect, Kind, RuleRef};
use ringfence_audit::{By, Durability, Event, Ledger, Name, Options, Redactor, Sink, Text, verify};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    append(&mut criterion, "append", Durability::Process);
    append(&mut criterion, "append to disk", Durability::Disk);
    redact(&mut criterion);
    verify_all(&mut criterion);
    criterion.final_summary();
}

fn decided<'a>(object: &'a str, rule: &'a RuleRef) -> Event<'a> {
    Event::RequestDecided {
        by: By { session: Some("4f1c2e9a"), agent: Some("claude"), id: Some("req-1234") },
        kind: Kind::Exec,
        object: Text(object),
        tool: Some(Name("exec")),
        impact: None,
        decision: Effect::Allow,
        code: Code::Rule,
        reason: Text("a rule allows `cargo test` in this workspace"),
        rule: Some(rule),
        remedy: None,
        profile: Some(Name("workspace-write")),
        turn: None,
        sources: None,
    }
}

fn rule() -> RuleRef {
    RuleRef {
        file: Path::new("/home/bob/.config/ringfence/policy.toml").into(),
        line: std::num::NonZeroU32::MIN,
    }
}

const COMMAND: &str =
    "cd crates/audit && RUST_BACKTRACE=1 cargo test --release -- --nocapture ledger::tests 2>&1 | tail -50";

/// The ledger lies in the target directory, on the same disk as the build; `/tmp` may be in memory.
fn ledger(dir: &Path, durability: Durability) -> Ledger {
    Ledger::open(&dir.join("ledger.jsonl"), Options::new(durability)).expect("a ledger for the benchmark").0
}

fn room() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory for the benchmark")
}

fn append(criterion: &mut Criterion, name: &str, durability: Durability) {
    let room = room();
    let ledger = ledger(room.path(), durability);
    let rule = rule();
    let event = decided(COMMAND, &rule);
    criterion.bench_function(name, |bencher| bencher.iter(|| ledger.record(&event).expect("a record")));
}

fn redact(criterion: &mut Criterion) {
    let redactor = Redactor::new();
    let text = COMMAND.repeat(100);
    let mut group = criterion.benchmark_group("redact");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("text without secrets", |bencher| {
        bencher.iter(|| black_box(redactor.redact(&text)).len());
    });
    group.finish();
}

fn verify_all(criterion: &mut Criterion) {
    let room = room();
    let ledger = ledger(room.path(), Durability::Process);
    let rule = rule();
    let event = decided(COMMAND, &rule);
    (0..20_000).for_each(|_| ledger.record(&event).expect("a record"));
    let path = room.path().join("ledger.jsonl");
    let bytes = std::fs::metadata(&path).expect("the ledger").len();
    let mut group = criterion.benchmark_group("verify");
    group.throughput(Throughput::Bytes(bytes)).sample_size(20);
    group.bench_function("20,000 records", |bencher| {
        bencher.iter(|| verify(&path, None).expect("in order").records);
    });
    group.finish();
}
