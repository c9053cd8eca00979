//! Ignored files, compared with git and ripgrep on generated trees.

use std::fs;
use std::path::Path;
use std::process::Command;

use ringfence::guard::Config;
use serde_json::json;

use crate::skip::skipped;
use crate::stage::Stage;

/// A policy that lets `.git` be seen, so that what a repository excludes can be read.
fn open(ws: &Path) -> Config {
    Config { forbidden_globs: Vec::new(), ..Config::default_in(ws) }
}

#[test]
fn each_file_counts_where_it_stands() {
    let files = &[
        (".gitignore", "*.log\n/build\n!keep.log\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("build/x", ""),
        ("sub/build/x", ""),
        ("sub/.gitignore", "x\n!a.log\n"),
        ("sub/a.log", ""),
        ("sub/deep/x", ""),
        ("sub/deep/y", ""),
        ("ig/.ignore", "*\n!y\n"),
        ("ig/.gitignore", "y\n"),
        ("ig/x", ""),
        ("ig/y", ""),
        ("rg/.rgignore", "!x.log\n"),
        ("rg/x.log", ""),
        ("un/.gitignore", "!.shown\n"),
        ("un/.shown", ""),
        ("un/.not", ""),
        (".git/info/exclude", "excluded\n"),
        ("excluded", ""),
        ("sub/excluded", ""),
    ];
    let stage = Stage::with(files, open);
    let top = ["ig/y", "keep.log", "rg/x.log", "sub/a.log", "sub/deep/y", "un/.shown"];
    assert_eq!(stage.found(&json!({ "kind": "file" })), top);
    // Rules above count for every start of the search.
    assert_eq!(stage.found(&json!({ "kind": "file", "path": "sub" })), ["sub/a.log", "sub/deep/y"]);
    assert_eq!(stage.found(&json!({ "kind": "file", "path": "sub/deep" })), ["sub/deep/y"]);
    // A caller that names a directory wants to see it.
    assert_eq!(stage.found(&json!({ "kind": "file", "path": "build" })), ["build/x"]);
    let all = stage.found(&json!({ "kind": "file", "no_ignore": true, "hidden": true }));
    assert_eq!(all.len(), files.len());
    // Under a policy that hides `.git`, what it excludes is not known.
    let stage = Stage::plant(files);
    assert_eq!(stage.found(&json!({ "pattern": "excluded" })), ["excluded", "sub/excluded"]);
}

#[test]
fn hostile_files_to_ignore_do_no_harm() {
    let long = format!("{}\nx\n", "*a".repeat(600_000));
    let many = "a*b*c*d*e*[0-9]\n".repeat(20_000);
    let stage = Stage::plant(&[
        ("long/.gitignore", &long),
        ("long/x", ""),
        ("many/.gitignore", &many),
        ("many/x", ""),
        ("bad/.gitignore", "[\n{a\n\\\n/\n**\\\nx\n"),
        ("bad/x", ""),
        ("bad/y", ""),
        ("bom/.gitignore", "\u{feff}x\n"),
        ("bom/x", ""),
    ]);
    stage.write("bytes/.gitignore", b"\xff\xfe\nx\n\0\n");
    stage.write("bytes/x", b"");
    fs::create_dir_all(stage.ws.join("dir/.gitignore")).unwrap();
    stage.write("dir/x", b"");
    std::os::unix::fs::symlink(stage.root.join("out/secret.txt"), stage.ws.join("bad/.ignore")).unwrap();
    assert_eq!(stage.found(&json!({ "kind": "file" })), ["bad/y", "dir/x", "long/x", "many/x"]);
}

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const NAMES: &[&str] = &["a", "b", "ab", "c.txt", "d.log", ".h", "e f", "x-y", "A"];
const PATTERNS: &[&str] = &[
    "a",
    "/a",
    "a/",
    "!a",
    "*.txt",
    "!*.txt",
    "/*",
    "!/b/",
    "**/c.txt",
    "a/**",
    "a/*",
    "b/**/c.txt",
    "?",
    "[ab]",
    "[!a]*",
    "*.log",
    "\\#x",
    "# comment",
    "",
    "a/b",
    "!a/b",
    "/ab/",
    "e f",
    "e\\ f",
    ".h",
    "!.h",
    "x-*",
    "**/b/",
    "*",
    "!*/",
    "ab/**/d.log",
];

/// A tree with files to ignore in it.
fn generate(stage: &Stage, numbers: &mut Numbers, files: &[&str]) {
    for _ in 0..60 {
        let depth = 1 + numbers.below(4);
        let parts: Vec<_> = (0..depth).map(|_| numbers.one(NAMES)).collect();
        let path = stage.ws.join(parts.join("/"));
        // A name may be a file in one place on the way and a directory in another.
        if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
            fs::write(&path, "").unwrap();
        }
    }
    let mut directories = vec![stage.ws.clone()];
    let mut next = 0;
    while let Some(directory) = directories.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            }
        }
        for file in files {
            if next == 1 || numbers.below(4) == 0 {
                let lines: Vec<_> = (0..=numbers.below(3)).map(|_| numbers.one(PATTERNS)).collect();
                fs::write(directory.join(file), lines.join("\n")).unwrap();
            }
        }
    }
}

fn lines(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    let mut lines: Vec<String> = output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
        .map(|line| String::from_utf8(line.to_vec()).unwrap())
        .collect();
    lines.sort();
    lines
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn ignores_as_git_does() {
    if !is_installed("git") {
        return skipped("what is ignored, held against git", "git is not installed");
    }
    for seed in 0..25 {
        let stage = Stage::plant(&[]);
        generate(&stage, &mut Numbers(seed), &[".gitignore"]);
        let git = || {
            let mut git = Command::new("git");
            git.current_dir(&stage.ws).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &stage.root);
            git
        };
        assert!(git().args(["init", "-q"]).status().unwrap().success());
        let expected = lines(git().args(["ls-files", "-co", "--exclude-standard", "-z"]));
        let mut found = stage.found(&json!({ "kind": "file", "hidden": true }));
        found.sort();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn ignores_as_ripgrep_does() {
    if !is_installed("rg") {
        return skipped("what is ignored, held against ripgrep", "ripgrep is not installed");
    }
    for seed in 100..125 {
        let stage = Stage::plant(&[]);
        generate(&stage, &mut Numbers(seed), &[".gitignore", ".ignore", ".rgignore"]);
        for hidden in [false, true] {
            let mut rg = Command::new("rg");
            rg.current_dir(&stage.ws).env("HOME", &stage.root);
            rg.args([
                "--files",
                "--no-require-git",
                "--no-ignore-global",
                "--no-ignore-parent",
                "--no-config",
                "-0",
            ]);
            if hidden {
                rg.arg("--hidden");
            }
            let mut found = stage.found(&json!({ "kind": "file", "hidden": hidden }));
            found.sort();
            assert_eq!(found, lines(&mut rg), "seed {seed}, hidden {hidden}");
        }
    }
}
