//! Cost of judging every entry while walking through 100,000 files, beside walks that judge nothing.
//!
//! All walks take turns within one run, and what is measured is the time of the processor, so that a busy machine changes
//! little; what counts is the ratio. Everything is in memory, so nothing waits.
//! `cargo bench -p ringfence-guard --bench walk`, with `-- --quick` for a first look, and `-- --tree PATH` for another tree.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use audit::{AuditError, Event, Sink};
use policy::{Cover, ToolName};
use ringfence_guard::{Abort, Config, Directory, EntryKind, Guards, Parts, Refuse};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};

const DIRECTORIES: usize = 1_000;
const FILES: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds = if arguments.iter().any(|word| word == "--quick") { 5 } else { 41 };
    let place = tempfile::tempdir().unwrap();
    let tree = arguments.iter().position(|word| word == "--tree").and_then(|at| arguments.get(at + 1));
    let root = fs::canonicalize(tree.map_or(place.path(), Path::new)).unwrap();
    if tree.is_none() {
        plant(&root);
    }
    let entries = by_path(&root);
    let guards = guards(&root);
    let mut rows = [
        Row::new("std::fs, by path", by_path),
        Row::new("openat, by handle", |root| by_handle(&open(root))),
        Row::new("judged, by handle", |_| judged(&list(&guards))),
    ];
    take_turns(&mut rows, rounds, &root);
    println!("\nlooking through {entries} entries, {rounds} times in turns");
    rows.iter().for_each(Row::show);
    let [std, openat, ours] = &rows;
    // In a tree of others, some names may be forbidden.
    assert!(ours.seen == entries || (tree.is_some() && ours.seen * 10 > entries * 9), "{} seen", ours.seen);
    let over = |plain: &Row| ours.median().as_secs_f64() / plain.median().as_secs_f64() - 1.0;
    promise("added to std::fs, percent", over(std) * 100.0, 30.0);
    println!("  {:<34} {:>8.1}", "added to openat, percent", over(openat) * 100.0);
}

fn plant(root: &Path) {
    for directory in 0..DIRECTORIES {
        let path = root.join(format!("package-{:02}/module_{directory:03}", directory / 50));
        fs::create_dir_all(&path).unwrap();
        (0..FILES).for_each(|file| fs::write(path.join(format!("component_{file:02}.rs")), "").unwrap());
    }
}

fn by_path(directory: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        count += 1;
        if entry.file_type().unwrap().is_dir() {
            count += by_path(&entry.path());
        }
    }
    count
}

fn open(path: &Path) -> OwnedFd {
    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .unwrap()
}

fn by_handle(directory: &OwnedFd) -> usize {
    let mut count = 0;
    for entry in Dir::read_from(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name.to_bytes() == b"." || name.to_bytes() == b".." {
            continue;
        }
        count += 1;
        if entry.file_type() == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            count += by_handle(&rustix::fs::openat(directory, name, flags, Mode::empty()).unwrap());
        }
    }
    count
}

fn judged(directory: &Directory) -> usize {
    let mut count = 0;
    for entry in directory.entries().unwrap() {
        let entry = entry.unwrap();
        count += 1;
        if entry.kind() == EntryKind::Directory {
            count += judged(&directory.enter(&entry).unwrap());
        }
    }
    count
}

struct Nowhere;

impl Sink for Nowhere {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

fn guards(root: &Path) -> Guards {
    let config = Config::default_in(root);
    Guards::new(Parts {
        workspace: root.to_owned(),
        chain: config.chain().unwrap(),
        approver: Arc::new(Refuse),
        cover: Cover::Tool,
        sink: Arc::new(Nowhere),
        session: "s".to_owned(),
        agent: "a".to_owned(),
    })
    .unwrap()
}

fn list(guards: &Guards) -> Directory {
    guards.tool(&ToolName::parse("find").unwrap()).list(Path::new("."), &Abort::new()).unwrap()
}

/// One walk and the times it took.
struct Row<'a> {
    name: &'static str,
    walk: Box<dyn Fn(&Path) -> usize + 'a>,
    times: Vec<Duration>,
    seen: usize,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, walk: impl Fn(&Path) -> usize + 'a) -> Self {
        Self { name, walk: Box::new(walk), times: Vec::new(), seen: 0 }
    }

    fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[times.len() / 2]
    }

    fn show(&self) {
        println!("  {:<34} {:>8.2} ms median", self.name, self.median().as_secs_f64() * 1e3);
    }
}

/// Returns the processor time of this thread.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// The first round only warms up.
fn take_turns(rows: &mut [Row<'_>], rounds: usize, root: &Path) {
    for round in 0..=rounds {
        for row in rows.iter_mut() {
            let start = spent();
            let count = (row.walk)(root);
            let time = spent().saturating_sub(start);
            row.seen = count;
            if round > 0 {
                row.times.push(time);
            }
        }
    }
}

fn promise(what: &str, value: f64, most: f64) {
    let verdict = if value <= most { "kept" } else { "BROKEN" };
    println!("  {what:<34} {value:>8.1}    promised at most {most}: {verdict}");
}
