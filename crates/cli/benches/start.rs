//! Cost of `ringfence check` from start to exit, beside `/bin/true`.
//!
//! Promise: at most 3 times `/bin/true`. Both are started in turns, so that a busy machine slows both alike.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 500;

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let ringfence = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.args(arguments).current_dir(directory.path()).env("HOME", directory.path());
        command
    };
    let mut rows = [
        ("/bin/true", Command::new("/bin/true"), Vec::new()),
        ("check path", ringfence(&["check", "path", "src/main.rs"]), Vec::new()),
        ("check host", ringfence(&["check", "host", "github.com"]), Vec::new()),
        ("check tool", ringfence(&["check", "tool", "exec"]), Vec::new()),
    ];
    for round in 0..ROUNDS + 20 {
        for (_, command, times) in &mut rows {
            let time = run(command);
            if round >= 20 {
                times.push(time);
            }
        }
    }
    let base = median(&mut rows[0].2);
    for (name, _, times) in &mut rows {
        let time = median(times);
        println!(
            "{name:<12} {:>7.0} µs   {:.2} x /bin/true",
            time.as_secs_f64() * 1e6,
            time.as_secs_f64() / base.as_secs_f64()
        );
    }
}

fn run(command: &mut Command) -> Duration {
    let start = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    start.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
