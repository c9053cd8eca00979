//! Generated lines, as real shells run them and as the reader reads them.
//!
//! A program with its own `main`: it starts itself again as the process that is confined. `RINGFENCE_SEED` and
//! `RINGFENCE_LINES` choose other lines and more of them; `RINGFENCE_SECONDS` bounds the time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it does"
)]

mod arena;
mod contest;
mod driver;
#[path = "../generator/mod.rs"]
mod generator;
#[path = "../judged/mod.rs"]
mod judged;
mod known;
mod known_evaluated;
mod known_values;
#[path = "../../../../tests/runner.rs"]
mod runner;
mod shells;
#[path = "../../../../tests/skip.rs"]
mod skip;

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use arena::{Arena, Stage};
use contest::{Bounds, Tally, contest};
use shells::Shell;
use skip::skipped;

/// Percentage of plain lines that may be asked about.
const FALSE_ALARMS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &*arguments {
        [role, shell] if role == driver::ROLE => {
            driver::serve(shell);
            ExitCode::SUCCESS
        }
        _ => runner::run(TESTS, &arguments),
    }
}

const TESTS: &[(&str, fn())] = &[
    ("real_shells_run_nothing_that_was_not_read", real_shells_run_nothing_that_was_not_read),
    ("the_same_seed_gives_the_same_lines", the_same_seed_gives_the_same_lines),
];

fn real_shells_run_nothing_that_was_not_read() {
    let begun = Instant::now();
    let bounds = Bounds {
        seed: number("RINGFENCE_SEED", 4),
        lines: number("RINGFENCE_LINES", 1500),
        until: begun + Duration::from_secs(number("RINGFENCE_SECONDS", 40)),
    };
    println!("seed {}, {} lines for each shell", bounds.seed, bounds.lines);
    let tallies = std::thread::scope(|scope| {
        let fights: Vec<_> =
            Shell::ALL.iter().map(|shell| scope.spawn(move || fight(*shell, bounds))).collect();
        fights.into_iter().filter_map(|fight| fight.join().unwrap()).collect::<Vec<_>>()
    });
    for tally in &tallies {
        println!("{tally}");
    }
    println!("{:.1} s", begun.elapsed().as_secs_f32());
    for tally in tallies.iter().filter(|tally| tally.failed > 0) {
        println!("{}: {} failures:\n{}", tally.shell.name(), tally.failed, tally.failures.join("\n"));
    }
    tallies.iter().for_each(hold);
}

fn number(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |value| value.parse().unwrap())
}

fn fight(shell: Shell, bounds: Bounds) -> Option<Tally> {
    let stage = Stage::new();
    match Arena::open(&stage, shell) {
        Ok(mut arena) => Some(contest(&mut arena, shell, bounds)),
        Err(why) => {
            skipped(&format!("generated lines in {}", shell.name()), &why);
            None
        }
    }
}

fn hold(tally: &Tally) {
    let shell = tally.shell.name();
    assert!(tally.failures.is_empty(), "{shell}: {} failures", tally.failed);
    assert!(tally.ran * 5 >= tally.lines, "{shell}: the lines are too tame to show anything: {tally}");
    assert!(
        tally.alarms * 100 <= tally.quiet * FALSE_ALARMS,
        "{shell}: more than {FALSE_ALARMS} % false alarms: {tally}\n{}",
        tally.alarmed.join("\n")
    );
}

fn the_same_seed_gives_the_same_lines() {
    for seed in 0..200 {
        assert_eq!(generator::line(seed).text, generator::line(seed).text);
    }
    let different: std::collections::BTreeSet<_> = (0..200).map(|seed| generator::line(seed).text).collect();
    assert!(different.len() > 190, "only {} different lines", different.len());
}
