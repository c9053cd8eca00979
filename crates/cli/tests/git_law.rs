//! Git inside a jail leaves the tree that git outside leaves, also where protected names are tracked; and a new content on a name
//! that programs act on stays out.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stage::{Ended, Stage, ended, skipped};

/// A stage with git's settings in its home; nothing where git or a jail is missing.
fn staged() -> Option<Stage> {
    if Command::new("git").arg("--version").output().is_err() {
        skipped("git beside protected names", "there is no git");
        return None;
    }
    let stage = Stage::new()?;
    let settings = "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n\
        [advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n";
    fs::write(stage.path("home/.gitconfig"), settings).unwrap();
    Some(stage)
}

fn outside(stage: &Stage, directory: &Path, script: &str) -> Ended {
    let mut command = Command::new("/bin/sh");
    stage.surround(&mut command).args(["-c", script]).current_dir(directory);
    ended(&mut command)
}

fn inside(stage: &Stage, directory: &Path, script: &str) -> Ended {
    ended(stage.unseen("", script).current_dir(directory))
}

/// A small generator, so that a history is known by its number.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn choose<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Names of both tiers at every depth, names of settings, and ordinary ones.
const NAMES: &[&str] = &[
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".claude/settings.json",
    "rust-toolchain.toml",
    ".pre-commit-config.yaml",
    ".husky/pre-commit",
    "pkg/a/.vscode/launch.json",
    "pkg/.tool-versions",
    "tools/bazel",
    ".githooks/pre-push",
    "CLAUDE.md",
    "pkg/AGENTS.md",
    ".github/workflows/ci.yml",
    "src/main.rs",
    "src/lib.rs",
    "README.md",
    "pkg/a/b/deep.txt",
    "Makefile",
];

/// The commits of a history as `git fast-import` reads them: a trunk and three branches, each commit with some files changed,
/// made executable or removed. A protected name belongs to one branch or to the trunk, so that no merge makes a new content.
fn history(random: &mut Random) -> String {
    let mut stream = String::new();
    let owners: Vec<usize> = NAMES.iter().map(|_| random.below(4)).collect();
    let mut mark = 0;
    let mut there = [[false; NAMES.len()]; 4];
    for (branch, name) in ["main", "one", "two", "three"].into_iter().enumerate() {
        for step in 0..2 + random.below(3) {
            mark += 1;
            writeln!(stream, "commit refs/heads/{name}\nmark :{mark}").unwrap();
            writeln!(stream, "committer A <a@example.org> {} +0000", 1_600_000_000 + mark).unwrap();
            let message = format!("{name} {step}");
            writeln!(stream, "data {}\n{message}", message.len()).unwrap();
            if step == 0 && branch > 0 {
                writeln!(stream, "from :{}", 1 + random.below(2)).unwrap();
                there[branch] = there[0];
            }
            for (at, path) in NAMES.iter().enumerate() {
                let own = owners[at] == branch || mark == 1;
                if !own || random.below(3) == 0 {
                    continue;
                }
                if there[branch][at] && random.below(5) == 0 {
                    writeln!(stream, "D {path}").unwrap();
                    there[branch][at] = false;
                } else {
                    let mode = if random.below(4) == 0 { "100755" } else { "100644" };
                    let text = format!("{path} of {name} {step} {}\n", random.below(1000));
                    writeln!(stream, "M {mode} inline {path}\ndata {}\n{text}", text.len()).unwrap();
                    there[branch][at] = true;
                }
            }
            // Every commit changes something.
            let text = format!("{mark}\n");
            writeln!(stream, "M 100644 inline log-{name}\ndata {}\n{text}", text.len()).unwrap();
            stream.push('\n');
        }
    }
    stream
}

/// Random steps between existing commits. A step that fails, fails outside as well.
fn script(random: &mut Random) -> String {
    const BRANCHES: &[&str] = &["main", "one", "two", "three"];
    // Commits have the same names in every place.
    let mut script = String::from(
        "exec 2>&1\nexport GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'\n",
    );
    for at in 0..4 {
        let (branch, other) = (random.choose(BRANCHES), random.choose(BRANCHES));
        let step = match random.below(10) {
            0 | 1 => format!("git switch -q {branch}"),
            2 => format!("git switch -q {branch} && git merge -q -m merged {other}"),
            3 => format!("git switch -q {branch} && git rebase -q {other}"),
            4 => format!(
                "git switch -q {branch} && echo {at} >> log-main && git add . && git stash -q && git switch -q {other} && git stash pop -q; git reset -q --hard"
            ),
            5 => format!("git switch -q {branch} && git cherry-pick {other} >/dev/null"),
            6 => format!(
                "git bisect start -q {branch} $(git rev-list --max-parents=0 {branch}) >/dev/null && git bisect good >/dev/null; git bisect reset -q; git switch -q {branch}"
            ),
            7 => format!("git worktree add -q ./tree-{at} {branch} --detach"),
            8 => format!("git clone -q . ./clone-{at} && git -C clone-{at} checkout -q origin/{branch}"),
            _ => format!("git checkout -q {branch} -- . && git reset -q --hard"),
        };
        writeln!(script, "{step}\nfor undone in merge rebase cherry-pick; do git $undone --abort 2>/dev/null; done; git status --short --branch").unwrap();
    }
    script.push_str("git worktree list | wc -l\n");
    script
}

/// Everything in a directory, with what git says about it. Repositories are told by what git says of them.
fn tree(stage: &Stage, top: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![PathBuf::new()];
    while let Some(below) = left.pop() {
        for entry in fs::read_dir(top.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            let about = entry.path().symlink_metadata().unwrap();
            if entry.file_name() == ".git" {
                let directory = top.join(&below);
                let said = outside(
                    stage,
                    &directory,
                    "git status --porcelain --branch; git ls-files -s; git for-each-ref; git rev-parse HEAD; git stash list",
                );
                found.insert(path, said.out);
            } else if about.is_dir() {
                left.push(path.clone());
                found.insert(path, "directory".to_owned());
            } else {
                let text = fs::read_to_string(entry.path()).unwrap();
                found.insert(path, format!("{:o} {text}", about.permissions().mode()));
            }
        }
    }
    found
}

/// Histories of one test: there are four, so that they run at the same time.
const HISTORIES: u64 = 50;
/// An ordinary user tries some of them again: the same supervisor does the same calls.
const OF_USERS: usize = 5;

fn law(first: u64) {
    let Some(stage) = staged() else { return };
    let numbers = match std::env::var("RINGFENCE_HISTORY").ok().and_then(|number| number.parse().ok()) {
        Some(number) => number..number + 1,
        None => first..first + HISTORIES,
    };
    let step = if rustix::process::geteuid().is_root() { 1 } else { OF_USERS };
    for number in numbers.step_by(step) {
        let mut random = Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (stream, steps) = (history(&mut random), script(&mut random));
        // The same path outside and inside: git writes it into what it makes.
        let (place, kept) = (stage.path("ws/repository"), stage.path("ws/kept"));
        fs::create_dir(&place).unwrap();
        let mut import = Command::new("/bin/sh");
        let make = "git init -q . && git fast-import --quiet && git reset -q --hard main && git gc -q";
        let make = if random.below(2) == 0 { make } else { make.trim_end_matches("&& git gc -q") };
        stage.surround(&mut import).args(["-ec", make]).current_dir(&place).stdin(Stdio::piped());
        let mut import = import.spawn().unwrap();
        std::io::Write::write_all(&mut import.stdin.take().unwrap(), stream.as_bytes()).unwrap();
        assert!(import.wait().unwrap().success(), "history {number}: {stream}");
        assert!(Command::new("cp").arg("-a").args([&place, &kept]).status().unwrap().success());
        let said = outside(&stage, &place, &steps);
        let expected = tree(&stage, &place);
        fs::remove_dir_all(&place).unwrap();
        fs::rename(&kept, &place).unwrap();
        let came = inside(&stage, &place, &steps);
        let found = tree(&stage, &place);
        let differs: Vec<_> = expected
            .keys()
            .chain(found.keys())
            .filter(|path| expected.get(*path) != found.get(*path))
            .map(|path| (path, expected.get(path), found.get(path)))
            .collect();
        assert!(
            differs.is_empty() && said.out == came.out,
            "history {number}\n{steps}\n{differs:#?}\noutside: {}\ninside: {}\n{}",
            said.out,
            came.out,
            came.err
        );
        fs::remove_dir_all(&place).unwrap();
    }
}

#[test]
fn histories_of_the_first_quarter() {
    law(0);
}

#[test]
fn histories_of_the_second_quarter() {
    law(HISTORIES);
}

#[test]
fn histories_of_the_third_quarter() {
    law(2 * HISTORIES);
}

#[test]
fn histories_of_the_fourth_quarter() {
    law(3 * HISTORIES);
}
