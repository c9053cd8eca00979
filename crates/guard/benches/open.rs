//! Cost of a guarded open, beside `openat` and `close` of the same file.
//!
//! Promise: at most 3 times. All are done in turns, so that a busy machine slows all alike. The ledger is told apart: it is the price of a
//! record, which depends on the disk.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use audit::{AuditError, Durability, Event, Ledger, Options, Sink};
use policy::{Cover, ToolName};
use ringfence_guard::{Abort, Access, Config, Guard, Guards, Parts, Refuse};
use rustix::fs::{Mode, OFlags};

const ROUNDS: usize = 400;
const TIMES: u32 = 200;

struct Nothing;

impl Sink for Nothing {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

/// Name, action, durations.
type Row<'a> = (&'static str, Box<dyn FnMut() + 'a>, Vec<Duration>);

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let ws = directory.path().join("ws");
    fs::create_dir_all(ws.join("src/deep")).unwrap();
    fs::write(ws.join("src/deep/lib.rs"), "x").unwrap();
    std::os::unix::fs::symlink("src/deep/lib.rs", ws.join("link")).unwrap();
    let options = Options::new(Durability::Process);
    let (ledger, _) = Ledger::open(&directory.path().join("state/ledger"), options).unwrap();
    let unrecorded = guard(&ws, Arc::new(Nothing));
    let recorded = guard(&ws, Arc::new(ledger));
    let (path, link) = (Path::new("src/deep/lib.rs"), Path::new("link"));
    let (absolute, abort) = (ws.join(path), Abort::new());
    let mut rows: Vec<Row<'_>> = vec![
        ("openat + close", Box::new(|| drop(plain(&absolute))), vec![]),
        ("guarded", Box::new(|| drop(open(&unrecorded, path, &abort))), vec![]),
        ("guarded, through a link", Box::new(|| drop(open(&unrecorded, link, &abort))), vec![]),
        ("guarded, with the ledger", Box::new(|| drop(open(&recorded, path, &abort))), vec![]),
        ("can_access", Box::new(|| assert!(unrecorded.can_access(Access::Read(path)))), vec![]),
    ];
    for round in 0..ROUNDS {
        for (_, act, times) in &mut rows {
            let begin = Instant::now();
            (0..TIMES).for_each(|_| act());
            if round >= ROUNDS / 10 {
                times.push(begin.elapsed() / TIMES);
            }
        }
    }
    let base = median(&mut rows[0].2);
    for (name, _, times) in &mut rows {
        let time = median(times);
        let ratio = time.as_secs_f64() / base.as_secs_f64();
        println!("{name:<26} {:>7.2} µs   {ratio:.2} x", time.as_secs_f64() * 1e6);
    }
}

fn plain(path: &Path) -> File {
    File::from(rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap())
}

fn open(guard: &Guard, path: &Path, abort: &Abort) -> File {
    guard.read(path, abort).unwrap().file().unwrap()
}

fn guard(ws: &Path, sink: Arc<dyn Sink>) -> Guard {
    let config = Config::default_in(ws);
    let parts = Parts {
        workspace: ws.to_owned(),
        chain: config.chain().unwrap(),
        approver: Arc::new(Refuse),
        cover: Cover::Tool,
        sink,
        session: "bench".to_owned(),
        agent: "bench".to_owned(),
    };
    Guards::new(parts).unwrap().tool(&ToolName::parse("read").unwrap())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
