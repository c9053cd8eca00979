//! The seeds of the fuzz targets and small damage to them, without a fuzzer: reading ends, soon, and says the same again.
//!
//! `RINGFENCE_SEED` chooses other damage, `RINGFENCE_SECONDS` how long it goes on.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod generator;
mod hostile;

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use generator::{Chance, mutate};
use policy::{Invocation, Span};
use ringfence_shell::{Dialect, Surroundings};

/// Largest number of damaged texts.
const MOST: usize = 40_000;
/// Time limit of one short text. Far more than it needs, far less than a text that explodes.
const SLOW: Duration = Duration::from_secs(2);
/// A text grows no longer than this.
const LONGEST: usize = 4_000;

#[test]
fn damaged_seeds_are_read_to_the_end() {
    let seeds = seeds();
    assert!(seeds.len() >= 60, "only {} seeds", seeds.len());
    let number = |name: &str, otherwise| env::var(name).map_or(otherwise, |value| value.parse().unwrap());
    let (seed, until) =
        (number("RINGFENCE_SEED", 4), Instant::now() + Duration::from_secs(number("RINGFENCE_SECONDS", 15)));
    for text in &seeds {
        hold(text);
    }
    let (mut chance, mut pool, mut count) = (Chance::new(seed), seeds, 0);
    while count < MOST && Instant::now() < until {
        let at = chance.below(pool.len());
        let text = damaged(&pool[at], &pool, &mut chance);
        hold(&text);
        // Damage to damage goes deeper than damage to seeds alone.
        if chance.one_in(4) && text.len() <= LONGEST {
            pool[at] = text;
        }
        count += 1;
    }
    println!("seed {seed}: {count} damaged texts read");
}

/// The promise on time is measured by the benchmark; this catches what explodes, in a slow build, too.
#[test]
fn a_megabyte_of_anything_is_read_soon() {
    for (name, shape) in hostile::SHAPES {
        let text = shape(1 << 20);
        let begun = Instant::now();
        let read = read(&text, Dialect::ALL);
        let took = begun.elapsed();
        println!("{name}: {took:?}, {} programs, {} findings", read.programs.len(), read.findings.len());
        assert!(took < Duration::from_secs(10), "{name}: {took:?}");
    }
}

/// Every seed of every target that reads shell.
fn seeds() -> Vec<String> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut files: Vec<_> = ["shell_parse", "shell_read", "check_command"]
        .iter()
        .flat_map(|target| fs::read_dir(fuzz.join(target)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()).collect()
}

/// A few small changes, and now and then the head of one text with the tail of another.
fn damaged(text: &str, others: &[String], chance: &mut Chance) -> String {
    let mut text = text.to_owned();
    if chance.one_in(5) {
        let other = &others[chance.below(others.len())];
        text = head(&text, chance).chars().chain(tail(other, chance).chars()).collect();
    }
    for _ in 0..=chance.below(4) {
        text = mutate(&text, chance);
    }
    text
}

fn head(text: &str, chance: &mut Chance) -> String {
    let length = chance.below(text.chars().count() + 1);
    text.chars().take(length).collect()
}

fn tail(text: &str, chance: &mut Chance) -> String {
    let length = chance.below(text.chars().count() + 1);
    text.chars().skip(length).collect()
}

fn hold(text: &str) {
    for dialects in [&[Dialect::Sh][..], &[Dialect::Bash], &[Dialect::Zsh], Dialect::ALL] {
        let begun = Instant::now();
        let first = read(text, dialects);
        assert!(begun.elapsed() < SLOW, "{:?} for {text:?} as {dialects:?}", begun.elapsed());
        assert_eq!(first, read(text, dialects), "{text:?} as {dialects:?}");
        let whole = Span::new(0, u32::try_from(text.len()).unwrap());
        assert!(
            first.findings.iter().all(|finding| whole.contains(finding.span)),
            "{text:?} as {dialects:?}"
        );
        assert!(
            first.programs.iter().all(|program| whole.contains(program.span)),
            "{text:?} as {dialects:?}"
        );
    }
}

fn read(text: &str, dialects: &[Dialect]) -> Invocation {
    let around = Surroundings { dialects, cwd: Some("/ws"), home: Some("/home/me"), stdin: None };
    ringfence_shell::read(text.as_bytes(), &around)
}
