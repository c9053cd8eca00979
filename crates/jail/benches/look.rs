//! Cost of the search for forbidden names, and of each mask.
//!
//! Promise: at most 1 ms for 1,000 directories with 20,000 files. `cargo bench -p ringfence-jail --bench look`, with
//! `-- --quick` for a first look.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use policy::floor::Forbidden;
use policy::{Limits, PathPattern, template_patterns};
use ringfence_jail::{Capture, Choice, Command, End, Provider, Spec, Streams, hold};

const PATTERNS: &[&str] = &[
    "**/.git/hooks/**",
    "**/.env*",
    "**/*.pem",
    "**/*.key",
    "**/id_rsa*",
    "**/id_ecdsa*",
    "**/id_ed25519*",
    "**/.ssh/**",
    "**/.gnupg/**",
    "**/.aws/credentials",
    "**/.netrc",
    "**/.npmrc",
    "**/.pypirc",
    "**/.git-credentials",
    "**/.docker/config.json",
    "**/.kube/config",
];

fn main() {
    let rounds = if std::env::args().any(|word| word == "--quick") { 20 } else { 200 };
    let forbidden = Arc::new(forbidden());
    for directories in [100, 1000, 10_000] {
        let place = tempfile::Builder::new().prefix("bench-").tempdir_in("/var/tmp").unwrap();
        fill(place.path(), directories);
        let time = median(rounds, || look(place.path(), &forbidden, None));
        println!("{directories:>6} directories, 20 files each, all listed {:>9.0} µs median", micros(time));
        // Recent changes are not trusted.
        std::thread::sleep(Duration::from_secs(4));
        let cache = tempfile::tempdir().unwrap();
        let time = median(rounds, || look(place.path(), &forbidden, Some(cache.path())));
        let promise = if directories == 1000 { promise(time) } else { "" };
        println!(
            "{directories:>6} directories, 20 files each, remembered {:>9.0} µs median{promise}",
            micros(time)
        );
    }
    for masks in [0, 1, 10, 100, 1000] {
        let place = tempfile::Builder::new().prefix("bench-").tempdir_in("/var/tmp").unwrap();
        (0..masks).for_each(|number| fs::write(place.path().join(format!("{number}.pem")), "").unwrap());
        let time = median(rounds / 10 + 5, || run_true(place.path(), &forbidden));
        println!("{masks:>6} masks, a jail for /bin/true {:>9.0} µs median", micros(time));
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn promise(time: Duration) -> &'static str {
    if time <= Duration::from_millis(1) {
        "    promised at most 1 ms: kept"
    } else {
        "    promised at most 1 ms: BROKEN"
    }
}

fn forbidden() -> Forbidden {
    let parse = |text: &str| PathPattern::parse(text).unwrap();
    let patterns: Vec<_> = PATTERNS.iter().map(|text| (parse(text), None)).collect();
    let exempt: Vec<_> = template_patterns().map(parse).collect();
    Forbidden::new(&patterns).unwrap().except(&exempt, |_| true).unwrap()
}

/// Directories in directories, each with twenty files.
fn fill(top: &Path, directories: usize) {
    for number in 0..directories {
        let directory = top.join(format!("module-{}/part-{}/{number}", number / 100, number / 10 % 10));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..20 {
            fs::write(directory.join(format!("source_file_{file}.rs")), "").unwrap();
        }
    }
    fs::write(top.join(".env"), "").unwrap();
}

fn spec(workspace: &Path, forbidden: &Arc<Forbidden>) -> Spec {
    let mut spec = Spec::for_workspace(workspace, "/home/agent".as_ref(), Limits::none());
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.forbidden = Some(Arc::clone(forbidden));
    spec
}

fn look(workspace: &Path, forbidden: &Arc<Forbidden>, cache: Option<&Path>) -> usize {
    let mut spec = spec(workspace, forbidden);
    spec.look(cache).unwrap();
    assert_eq!(spec.masks.len(), 1);
    spec.masks.len()
}

fn run_true(workspace: &Path, forbidden: &Arc<Forbidden>) -> usize {
    let streams = Streams::Captured(Capture::keeping(1024));
    let command = Command { argv: vec!["/bin/true".into()], cwd: workspace.into(), streams, observe: false };
    let held = hold(Choice::Only(Provider::Native), &spec(workspace, forbidden), &command).unwrap();
    let outcome = held.release().unwrap().wait().unwrap();
    assert_eq!(outcome.end, End::Exited(0));
    0
}

fn median(rounds: usize, mut run: impl FnMut() -> usize) -> Duration {
    let mut times: Vec<_> = (0..rounds + 3)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(run());
            start.elapsed()
        })
        .skip(3)
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}
