//! `grep` beside ripgrep, on the same tree with the same settings.
//!
//! Both take turns within one run, so that a busy machine slows them alike; what counts is the ratio. The tree is the source of all
//! dependencies, or what `--tree PATH` names. `cargo bench -p ringfence-tools --bench grep`, with `-- --quick` for a first look.
//! ripgrep is looked for in `PATH`, or where `RG` says.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence::audit::{AuditError, Event, Sink};
use ringfence::guard::Abort;
use ringfence::policy::ToolName;
use ringfence::{Preset, Sandbox, Session};
use ringfence_tools::{AnyTool as _, Call, Grep};
use serde_json::Value;

/// Searches: a name, the arguments of `grep`, and those of ripgrep.
const ROWS: &[(&str, &str, &[&str])] = &[
    ("a rare literal", r#"{"pattern": "unlikely_to_be_written"}"#, &["-n", "unlikely_to_be_written"]),
    ("a common word, files", r#"{"pattern": "fn", "word": true, "mode": "files"}"#, &["-l", "-w", "fn"]),
    ("a common word, counted", r#"{"pattern": "let", "word": true, "mode": "count"}"#, &["-c", "-w", "let"]),
    (
        "an expression",
        r#"{"pattern": "fn\\s+\\w+_(from|into)_\\w+\\("}"#,
        &["-n", r"fn\s+\w+_(from|into)_\w+\("],
    ),
    (
        "without regard to case",
        r#"{"pattern": "mutexguard<", "case": "insensitive"}"#,
        &["-n", "-i", "mutexguard<"],
    ),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds = if arguments.iter().any(|word| word == "--quick") { 3 } else { 15 };
    let tree = arguments.iter().position(|word| word == "--tree").and_then(|at| arguments.get(at + 1));
    let tree = tree.map_or_else(sources, PathBuf::from).canonicalize().unwrap();
    let rg = std::env::var("RG").unwrap_or_else(|_| "rg".to_owned());
    let Ok(version) = Command::new(&rg).arg("--version").output() else {
        return println!("skipped: no rg: install ripgrep, or say where it is with RG");
    };
    let session = session(&tree);
    println!("in {}, {rounds} times in turns", tree.display());
    println!("beside {}", String::from_utf8_lossy(&version.stdout).lines().next().unwrap_or("rg"));
    for (name, ours, theirs) in ROWS {
        let ours: Value = serde_json::from_str(ours).unwrap();
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        let mut files = Value::Null;
        for round in 0..=rounds {
            let start = Instant::now();
            files = grep(&session, &ours)["files_searched"].clone();
            let our_time = start.elapsed();
            let start = Instant::now();
            ripgrep(&rg, &tree, theirs);
            let their_time = start.elapsed();
            // The first round only warms up.
            if round > 0 {
                our_times.push(our_time);
                their_times.push(their_time);
            }
        }
        let (ours, theirs) = (median(our_times), median(their_times));
        println!("\n{name}: {files} files searched");
        println!("  {:<26} {:>8.1} ms median", "rg", theirs.as_secs_f64() * 1e3);
        println!("  {:<26} {:>8.1} ms median", "grep", ours.as_secs_f64() * 1e3);
        promise("grep / rg", ours.as_secs_f64() / theirs.as_secs_f64(), 1.3);
    }
}

/// Returns cargo's directory for the source of dependencies.
fn sources() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    home.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cargo")).join("registry/src")
}

fn grep(session: &Session, arguments: &Value) -> Value {
    let guard = session.guard(&ToolName::parse("grep").unwrap());
    let call = Call { session, guard: &guard, abort: &Abort::new() };
    Grep.call(&call, arguments.clone()).unwrap().data
}

/// Hidden and ignored files are the same: no repository is required, and nothing above the tree counts.
fn ripgrep(rg: &str, tree: &Path, arguments: &[&str]) {
    let mut command = Command::new(rg);
    command.args([
        "--no-config",
        "--no-messages",
        "--no-require-git",
        "--no-ignore-parent",
        "--no-ignore-global",
    ]);
    command.args(["--smart-case", "--color=never"]).args(arguments).arg("./").current_dir(tree);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
}

struct Nowhere;

impl Sink for Nowhere {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

fn session(tree: &Path) -> Session {
    let state = std::env::temp_dir().join(format!("ringfence-bench-{}", std::process::id()));
    let sandbox = Sandbox::builder().preset(Preset::Workspace).workspace(tree).state(&state);
    let sandbox = sandbox.sink(Arc::new(Nowhere)).build();
    std::fs::remove_dir_all(state).unwrap();
    sandbox.unwrap().session("bench").unwrap()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn promise(what: &str, value: f64, most: f64) {
    let verdict = if value <= most { "kept" } else { "BROKEN" };
    println!("  {what:<26} {value:>8.2}    promised at most {most}: {verdict}");
}
