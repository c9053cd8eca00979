//! Histories that are made by chance, from a seed.

use std::collections::HashMap;

use super::changes::said_by_git;
use super::*;

/// Numbers by chance: the same ones for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const PATHS: &[&str] = &[".envrc", "a/.envrc", "a/b/c/.envrc", "a/b", "x", "CLAUDE.md"];
const CONTENTS: &[&str] = &["1\n", "2\n", "3\n", "4\n", "many lines\n\nof text\n"];

fn grow(sandbox: &mut Sandbox, chance: &mut Chance, steps: usize) {
    for step in 0..steps {
        match chance.below(10) {
            0 => drop(sandbox.attempt(&["switch", "-q", "-c", &format!("b{step}-{}", chance.below(1000))])),
            1 | 2 => {
                let branches = sandbox.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
                let branches: Vec<_> = branches.lines().collect();
                let branch = branches[chance.below(branches.len())];
                let words: &[&str] = if chance.below(2) == 0 {
                    &["switch", "-q", "-f"]
                } else {
                    &["merge", "-q", "-X", "ours", "--no-edit"]
                };
                if !sandbox.attempt(&[words, &[branch]].concat()).status.success() {
                    sandbox.git(&["reset", "-q", "--hard"]);
                }
            }
            3 => drop(sandbox.attempt(&["rm", "-q", "-r", "--ignore-unmatch", chance.one(PATHS)])),
            4 if step % 3 == 0 => drop(sandbox.git(&["gc", "-q"])),
            _ => {
                let path = chance.one(PATHS);
                let place = sandbox.top.join(path);
                let _gone =
                    (fs::remove_dir_all(&place).is_err(), fs::remove_file(sandbox.top.join("a/b")).is_err());
                sandbox.commit(path, chance.one(CONTENTS));
            }
        }
    }
}

/// Every blob that a commit has at a path, as git lists them.
fn listed(sandbox: &mut Sandbox) -> HashMap<String, BTreeSet<String>> {
    let mut blobs: HashMap<_, BTreeSet<_>> = HashMap::new();
    for commit in sandbox.git(&["rev-list", "--all"]).lines() {
        for line in sandbox.git(&["ls-tree", "-r", commit]).lines() {
            let (entry, path) = line.split_once('\t').unwrap();
            blobs.entry(path.to_owned()).or_default().insert(entry.split(' ').nth(2).unwrap().to_owned());
        }
    }
    blobs
}

#[test]
fn generated_histories_have_what_git_says_they_have() {
    for seed in 0..6 {
        let mut chance = Chance(seed * 7919 + 1);
        let mut sandbox = Sandbox::with(if seed % 3 == 2 { &["--object-format=sha256"] } else { &[] });
        sandbox.commit("x", "1\n");
        grow(&mut sandbox, &mut chance, 30);
        let mut history = sandbox.history();
        let (before, blobs) = (sandbox.tips(), listed(&mut sandbox));
        for path in PATHS {
            for content in CONTENTS {
                let id =
                    id_of(before.first().unwrap().format(), ObjectKind::Blob, content.as_bytes()).unwrap();
                let expected = blobs.get(*path).is_some_and(|ids| ids.contains(&id.to_string()));
                let found = history.had(path.as_bytes(), content.as_bytes(), later());
                assert_eq!(found, if expected { YES } else { Answer::No }, "seed {seed}: {path} {content:?}");
            }
        }
        grow(&mut sandbox, &mut chance, 20);
        let after = sandbox.tips();
        let mut said = said_by_git(&mut sandbox, &before);
        let found = sandbox.history_of(before).new_commits(&after, 1000, |_| true, later());
        let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
        let mut found: Vec<_> = found
            .commits
            .iter()
            .map(|commit| (commit.id.to_string(), commit.paths.iter().map(text).collect::<Vec<_>>()))
            .collect();
        said.sort();
        found.sort();
        assert_eq!(found, said, "seed {seed}");
    }
}
