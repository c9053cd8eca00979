//! Random calls on protected names: the launcher ends in time, and nothing that a tool outside would run has changed.
//!
//! `RINGFENCE_STRESS` is how many calls each of four threads makes, `RINGFENCE_SEED` which ones.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use policy::{Act, Ground, Protected, Ruling, Surroundings};

const PYTHON: &str = "/usr/bin/python3";

/// Files that are there before, each with a text of its own.
const OLD: &[&str] = &[
    ".git/config",
    ".git/info/attributes",
    ".git/hooks/pre-commit",
    "bare/config",
    "bare/hooks/update",
    "deep/er/.envrc",
    "deep/repo/.git/config",
    "deep/repo/.git/hooks/pre-commit",
    "hooks/bare/config",
    ".mcp.json",
];
const REPOSITORIES: &[&str] = &[".git", "bare", "deep/repo/.git", "hooks/bare"];

#[test]
fn random_calls_change_no_protected_name() {
    if !Path::new(PYTHON).exists() {
        return skip::skipped("random calls", "/usr/bin/python3 is not installed");
    }
    let number =
        |name: &str, usual: u64| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (calls, seed) = (number("RINGFENCE_STRESS", 1500), number("RINGFENCE_SEED", 1));
    let place = tempfile::Builder::new().prefix("rf-stress-").tempdir_in("/var/tmp").unwrap();
    let top = place.path().canonicalize().unwrap().join("ws");
    prepare(&top);
    let before = Before::of(&top);
    let limit = Duration::from_secs(60 + calls / 100);
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
    command.env_clear().env("HOME", place.path()).env("PATH", "/usr/bin:/bin").current_dir(&top);
    command.args(["run", "--limit", &format!("wall-clock={}s", limit.as_secs()), "--", PYTHON, "stress.py"]);
    command.args([seed.to_string(), calls.to_string()]).stdin(Stdio::null());
    let (said, errors, took) = within(command, place.path(), limit + Duration::from_secs(30));
    println!("{said}{took:?}");
    assert!(took < limit && said.ends_with("end\n") && said.matches("calls ").count() == 2, "{said}{errors}");
    assert!(!errors.contains("supervisor of file names"), "{errors}");
    before.compare(&top, seed);
}

/// Returns the output of a launcher, and its duration. One that does not end in time is killed.
fn within(mut command: Command, place: &Path, limit: Duration) -> (String, String, Duration) {
    let start = Instant::now();
    let file = |name: &str| fs::File::create(place.join(name)).unwrap();
    let mut child = command.stdout(file("out")).stderr(file("err")).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the launcher does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = |name: &str| String::from_utf8_lossy(&fs::read(place.join(name)).unwrap()).into_owned();
    (text("out"), text("err"), start.elapsed())
}

fn prepare(top: &Path) {
    for (path, number) in OLD.iter().zip(0..) {
        fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
        fs::write(top.join(path), format!("# as it was {number}\n")).unwrap();
    }
    for repository in REPOSITORIES {
        for part in ["objects", "refs"] {
            fs::create_dir_all(top.join(repository).join(part)).unwrap();
        }
        fs::write(top.join(repository).join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    for directory in
        ["a/c", "b", "vendor/p", "node_modules", ".git/worktrees/w", ".git/modules/m", "half/objects"]
    {
        fs::create_dir_all(top.join(directory)).unwrap();
    }
    symlink("bare", top.join("link")).unwrap();
    fs::write(top.join("stress.py"), include_str!("names/stress.py")).unwrap();
}

/// Numbers of inodes are used again; the time when they were made is not.
type Identity = (u64, Option<SystemTime>);

fn identity(found: &fs::Metadata) -> Identity {
    (found.ino(), found.created().ok())
}

/// State before.
struct Before {
    directories: HashSet<Identity>,
    /// The texts of files that may not change.
    files: HashMap<Identity, Vec<u8>>,
}

impl Before {
    fn of(top: &Path) -> Self {
        let found = |path: &Path| identity(&fs::metadata(top.join(path)).unwrap());
        let files =
            OLD.iter().map(|path| (found(Path::new(path)), fs::read(top.join(path)).unwrap())).collect();
        let directories = all(top, Path::new("")).into_iter().filter(|path| top.join(path).is_dir());
        Self { directories: directories.map(|path| found(&path)).collect(), files }
    }

    /// Every protected name afterwards was there before, perhaps elsewhere, and files have their texts.
    fn compare(&self, top: &Path, seed: u64) {
        for path in all(top, Path::new("")) {
            let full = top.join(&path);
            let found = full.symlink_metadata().unwrap();
            let act = if found.is_dir() { Act::Directory } else { Act::File };
            let ruling = Protected::all().acting().rule(Ground::Tree, &path, act, &Disk(top));
            let was = self.files.get(&identity(&found));
            let is_old = was.is_some() || self.directories.contains(&identity(&found));
            let is_free = match ruling {
                Ruling::Free | Ruling::Told(_) => true,
                // The disk has cases: `Refs` is no part of a repository there.
                Ruling::Refused(row) if row.name == ".git" => {
                    !Disk(top).is_repository(path.parent().unwrap())
                }
                // Empty directories of a repository may be made, and moved together with it; and this one text of git's.
                _ if found.is_dir() => {
                    is_of_git(&path) && all(top, &path).iter().all(|path| top.join(path).is_dir())
                }
                Ruling::Common(_) => fs::read(&full).is_ok_and(|text| text == b"../..\n"),
                // Settings of a new repository are begun empty.
                Ruling::Settings(_) => fs::read(&full).is_ok_and(|text| text.is_empty()),
                _ => false,
            };
            assert!(is_free || is_old, "seed {seed}: {} {ruling:?} {found:?}", path.display());
            let is_new_repository = found.is_dir() && !is_old && Disk(top).is_repository(&path);
            assert!(
                !is_new_repository || may_be_repository(&path),
                "seed {seed}: {} is a repository: {:?}",
                path.display(),
                all(top, &path)
            );
            let same = was.is_none_or(|was| *was == fs::read(&full).unwrap());
            assert!(same, "seed {seed}: {} has another text", path.display());
        }
    }
}

/// Returns true if a path is a directory called `.git`, or lies in one.
fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

/// The disk as it is.
struct Disk<'a>(&'a Path);

impl Surroundings for Disk<'_> {
    fn has(&self, directory: &Path, name: &str) -> bool {
        self.0.join(directory).join(name).symlink_metadata().is_ok()
    }

    fn was_repository(&self, directory: &Path) -> bool {
        self.is_repository(directory)
    }
}

impl Disk<'_> {
    fn is_repository(&self, directory: &Path) -> bool {
        policy::is_repository(|name| self.has(directory, name))
    }
}

/// A command may make a repository called `.git`, which gets no settings that run something, and the part of a working tree.
fn may_be_repository(path: &Path) -> bool {
    let is = |path: Option<&Path>, name: &str| {
        path.and_then(Path::file_name).is_some_and(|last| last.eq_ignore_ascii_case(name))
    };
    is(Some(path), ".git") || is(path.parent(), "worktrees") && is_of_git(path)
}

/// Every path below a directory.
fn all(top: &Path, below: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(top.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = below.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            paths.extend(all(top, &path));
        }
        paths.push(path);
    }
    paths
}
