//! Cost of a jail for a small process and for one that holds a gibibyte: page tables must not be copied.
//!
//! Promise: at most 1.3 times. Two processes of this benchmark make jails in turns, so that a busy machine slows both
//! alike. `cargo bench -p ringfence-jail --bench hold`, with `-- --quick` for a first look.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use policy::Limits;
use ringfence_jail::{Capture, Choice, Command, End, Provider, Spec, Streams, hold};

const GIBIBYTE: usize = 1 << 30;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    match words.iter().find_map(|word| word.strip_prefix("--hold=")) {
        Some(bytes) => serve(bytes.parse().unwrap()),
        None => compare(if words.iter().any(|word| word == "--quick") { 20 } else { 150 }),
    }
}

fn compare(rounds: usize) {
    let mut makers = [Maker::new("small", 0), Maker::new("1 GiB", GIBIBYTE)];
    for round in 0..rounds + 5 {
        for maker in &mut makers {
            let time = maker.make_one();
            if round >= 5 {
                maker.times.push(time);
            }
        }
    }
    println!("hold, release and wait for /bin/true, {rounds} times each in turns");
    for maker in &mut makers {
        maker.times.sort_unstable();
        println!("  {:<20} {:>8.0} µs median {:>8.0} µs p90", maker.name, maker.at(50), maker.at(90));
    }
    let [small, big] = makers;
    for percent in [50, 90] {
        let ratio = big.at(percent) / small.at(percent);
        let verdict = if ratio <= 1.3 { "kept" } else { "BROKEN" };
        println!("  1 GiB / small, p{percent} {ratio:>12.2}    promised at most 1.3: {verdict}");
    }
    for maker in [small, big] {
        maker.end();
    }
}

/// Another process of this benchmark that makes a jail when told to.
struct Maker {
    name: &'static str,
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    times: Vec<Duration>,
}

impl Maker {
    fn new(name: &'static str, bytes: usize) -> Self {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.arg(format!("--hold={bytes}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { name, child, orders, answers, times: Vec::new() }
    }

    fn make_one(&mut self) -> Duration {
        self.orders.write_all(b"\n").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        Duration::from_nanos(line.trim().parse().unwrap())
    }

    /// Microseconds.
    fn at(&self, percent: usize) -> f64 {
        self.times[self.times.len() * percent / 100].as_secs_f64() * 1e6
    }

    fn end(mut self) {
        drop(self.orders);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Holds memory that is really there, and makes one jail a line.
fn serve(bytes: usize) {
    let held = vec![1_u8; bytes];
    let place = tempfile::Builder::new().prefix("bench-").tempdir_in("/var/tmp").unwrap();
    for line in io::stdin().lines() {
        line.unwrap();
        let start = Instant::now();
        run_true(place.path());
        println!("{}", start.elapsed().as_nanos());
    }
    black_box(&held);
    place.close().unwrap();
}

fn run_true(workspace: &Path) {
    let mut spec = Spec::for_workspace(workspace, "/home/agent".as_ref(), Limits::none());
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let streams = Streams::Captured(Capture::keeping(1024));
    let command = Command { argv: vec!["/bin/true".into()], cwd: workspace.into(), streams, observe: false };
    let held = hold(Choice::Only(Provider::Native), &spec, &command).unwrap();
    let outcome = held.release().unwrap().wait().unwrap();
    assert_eq!(outcome.end, End::Exited(0));
}
