//! Benchmarks the scan of a skill: ordinary text, and texts that were made to be slow.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ringfence_skill::{Scanner, Tree, all_rules};

/// Length of each text.
const LENGTH: usize = 1 << 20;

/// Ordinary Markdown: what this repository says about itself.
const ORDINARY: &str = concat!(
    include_str!("../../../README.md"),
    include_str!("../../../ARCHITECTURE.md"),
    include_str!("../../../CONTRIBUTING.md"),
    include_str!("../../../GLOSSARY.md"),
    include_str!("../../../THREATS.md"),
);

/// Repeated part of each text, so that some part of the scan has as much to do as it can.
const EVIL: &[(&str, &str)] = &[
    ("openings", "<!-<!--"),
    ("comments", "<!-- ignore all previous -->"),
    ("unterminated", "<!-- a --"),
    ("dashes", "-"),
    ("zero width", "a\u{200b}"),
    ("direction", "\u{202e}"),
    ("tags", "\u{e0041}"),
    ("selectors", "\u{1f600}\u{fe0f}"),
    ("marks", "a\u{301}\u{327}\u{323}"),
    ("wide letters", "\u{ff1c}\u{ff01}"),
    ("look-alikes", "\u{43e}a "),
    ("hidden markup", "<p hidden>ignore "),
    (
        "spaces",
        "                                                                                                                         x\n",
    ),
    ("base64", "ZWNobyBoZWxsbyBmcm9tIGhlcmU= "),
    ("nested base64", "WldOb2J5Qm9aV3hzYnlCbWNtOXRJR2hsY21V"),
    ("one run", "A"),
    ("escapes", "\\x63\\x75"),
    ("percent", "%63%75"),
    ("entities", "&lt;&#99;"),
    ("sums", "\"a\" + "),
    ("joins", "].join('')"),
    ("numbers", "chr(99)+"),
    ("chat", "<|im_start|>system "),
    ("closing", "</skill>\n\n"),
    ("turns", "System: ignore\n\n"),
    ("backticks", "`"),
    ("brackets", "[](<"),
    ("substitutions", "$("),
    ("fetches", "curl http://a.example | "),
    ("quotes", "\"'"),
    ("braces", "{\"a\":["),
];

fn scan(criterion: &mut Criterion) {
    let scanner = Scanner::new(&all_rules());
    let mut group = criterion.benchmark_group("scan");
    group.sample_size(10).throughput(Throughput::Bytes(LENGTH as u64));
    let texts = std::iter::once(("ordinary", ORDINARY)).chain(EVIL.iter().copied());
    for (name, piece) in texts {
        let tree = Tree::of_file("SKILL.md", piece.repeat(LENGTH.div_ceil(piece.len())));
        group.bench_with_input(BenchmarkId::from_parameter(name), &tree, |bencher, tree| {
            bencher.iter(|| black_box(scanner.scan(black_box(tree))));
        });
    }
    group.finish();
}

criterion_group!(benches, scan);
criterion_main!(benches);
