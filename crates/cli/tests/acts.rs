//! Rows of tables/names.toml, tried: without a jail, the program that a row names acts on what is planted there.
//!
//! A row whose program does nothing any more is a row that protects nothing. Only programs that every developer has are tried
//! here; the table says in `tried` what was seen of the others.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::path::Path;
use std::process::Command;

use stage::{Stage, ended, skipped};

/// A name, the program that is tried, what is planted, and what a person does. `CANARY` is the file that must appear, `EVIL` a program
/// that makes it, `HERE` the workspace.
const ROWS: &[(&str, &str, &str, &str)] = &[
    (".git", "git", "git init -q sub; git -C sub config core.fsmonitor EVIL", "cd sub && git status"),
    (".git/hooks", "git", "git init -q; cp EVIL .git/hooks/pre-commit", "git commit --allow-empty -m x"),
    (".git/config", "git", "git init -q; git config core.fsmonitor EVIL", "git status"),
    (
        ".git/config.worktree",
        "git",
        "git init -q; git config extensions.worktreeConfig true; git config -f .git/config.worktree core.fsmonitor EVIL",
        "git status",
    ),
    (
        ".git/commondir",
        "git",
        "git init -q; cp -r .git other; git config -f other/config core.fsmonitor EVIL; echo ../other > .git/commondir",
        "git status",
    ),
    (
        ".git/info/attributes",
        "git",
        "git init -q; git config filter.x.clean EVIL; echo '* filter=x' > .git/info/attributes; echo > a",
        "git add a",
    ),
    (
        ".git/modules",
        "git",
        "git init -q; git init -q m; git -C m commit -q --allow-empty -m m; git -c protocol.file.allow=always submodule -q add ./m sub; \
         git config -f .git/modules/sub/config core.fsmonitor EVIL",
        "git status",
    ),
    (
        ".git/objects/info/alternates",
        "git",
        "git init -q; git init -q o; echo o > o/o; git -C o add o; echo HERE/o/.git/objects > .git/objects/info/alternates",
        "git cat-file -e $(git hash-object o/o) && touch CANARY",
    ),
    (
        ".git/rebase-merge",
        "git",
        "git init -q; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; \
         GIT_SEQUENCE_EDITOR='printf \"break\\nexec EVIL\\n\" >' git rebase -q -i HEAD~1",
        "git rebase --continue",
    ),
    (
        ".git/sequencer",
        "git",
        "git init -q; mkdir git-merge-x; cp EVIL evil; for i in a b c; do echo $i > $i; git add $i; git commit -qm $i; done; git switch -q -c side HEAD~2; \
         echo other > b; git add b; git commit -qm other; git cherry-pick main~1 main; printf '[options]\\nstrategy = x/../evil\\n' > .git/sequencer/opts",
        "git cherry-pick --skip",
    ),
    (
        ".gitconfig",
        "git",
        "git init -q; git config -f .gitconfig core.fsmonitor EVIL",
        "HOME=HERE git status",
    ),
    (
        ".githooks",
        "git",
        "git init -q; git config core.hooksPath .githooks; mkdir .githooks; cp EVIL .githooks/pre-commit",
        "git commit --allow-empty -m x",
    ),
    (".bashrc", "bash", "echo EVIL > .bashrc", "HOME=HERE bash -ic true"),
    (".bash_profile", "bash", "echo EVIL > .bash_profile", "HOME=HERE bash -lc true"),
    (".bash_login", "bash", "echo EVIL > .bash_login", "HOME=HERE bash -lc true"),
    (".bash_logout", "bash", "echo EVIL > .bash_logout", "echo exit | HOME=HERE bash -li"),
    (".profile", "bash", "echo EVIL > .profile", "HOME=HERE bash -lc true"),
    (
        ".pdbrc",
        "python3",
        "echo 'import os; os.system(\"EVIL\")' > .pdbrc; echo 1 > x.py",
        "python3 -m pdb x.py < /dev/null",
    ),
    (
        ".npmrc",
        "npm",
        "echo script-shell=EVIL > .npmrc; echo '{\"scripts\":{\"x\":\"true\"}}' > package.json",
        "npm run x",
    ),
    (
        ".cargo/config.toml",
        "cargo",
        "mkdir -p .cargo src; printf '[build]\\nrustc-wrapper = \"EVIL\"\\n' > .cargo/config.toml; printf '[package]\\nname = \"x\"\\n' > Cargo.toml; echo > src/lib.rs",
        "cargo check --offline",
    ),
    (
        "rust-toolchain.toml",
        "rustup",
        "mkdir -p tc/bin tc/lib; cp EVIL tc/bin/rustc; cp EVIL tc/bin/cargo; printf '[toolchain]\\npath = \"HERE/tc\"\\n' > rust-toolchain.toml",
        "cargo --version",
    ),
    (
        "rust-toolchain",
        "rustup",
        "mkdir -p tc/bin tc/lib; cp EVIL tc/bin/rustc; cp EVIL tc/bin/cargo; echo HERE/tc > rust-toolchain",
        "cargo --version",
    ),
];

/// Runs a script outside a jail, with the toolchain of the user who runs the tests.
fn done(stage: &Stage, script: &str) -> String {
    let mut command = Command::new("/bin/bash");
    stage.surround(&mut command).args(["-c", script]);
    for name in ["PATH", "CARGO_HOME", "RUSTUP_HOME"] {
        let home = std::env::var_os("HOME").unwrap_or_default();
        let usual = match name {
            "CARGO_HOME" => Some(Path::new(&home).join(".cargo")),
            "RUSTUP_HOME" => Some(Path::new(&home).join(".rustup")),
            _ => None,
        };
        let value = std::env::var_os(name).or_else(|| usual.filter(|path| path.exists()).map(Into::into));
        command.envs(value.map(|value| (name, value)));
    }
    format!("{:?}", ended(&mut command))
}

/// A stage whose workspace is made anew for every row.
struct Trial {
    stage: Stage,
}

impl Trial {
    fn on(stage: Stage) -> Self {
        let settings = "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[core]\n\teditor = true\n";
        fs::write(stage.path("home/.gitconfig"), settings).unwrap();
        Self { stage }
    }

    /// An empty workspace, but for the program that makes the canary. Whether the program of a row works is found out there.
    fn begin(&self, name: &str, program: &str) -> bool {
        let here = self.stage.path("ws");
        fs::remove_dir_all(&here).unwrap();
        fs::create_dir(&here).unwrap();
        let works = done(&self.stage, &format!("{program} --version && echo works")).contains("works");
        if !works {
            skipped(&format!("what {program} does with {name}"), &format!("{program} does not work here"));
        }
        done(
            &self.stage,
            &self.filled("printf '#!/bin/sh\\ntouch CANARY\\nexit 1\\n' > EVIL; chmod +x EVIL"),
        );
        works
    }

    fn filled(&self, script: &str) -> String {
        let text = |name: &str| self.stage.path(name).to_str().unwrap().to_owned();
        let script = script.replace("CANARY", &text("canary")).replace("EVIL", &text("ws/evil.sh"));
        script.replace("HERE", &text("ws"))
    }

    fn has_run(&self) -> bool {
        fs::remove_file(self.stage.path("canary")).is_ok()
    }
}

#[test]
fn programs_act_on_the_names_of_the_table() {
    let trial = Trial::on(Stage::bare());
    for (name, program, plant, act) in ROWS {
        assert!(policy::Protected::names().any(|row| row.name == *name), "`{name}` is not in the table");
        if trial.begin(name, program) {
            let planted = done(&trial.stage, &trial.filled(plant));
            assert!(!trial.has_run(), "{name} acts before anything is done: {planted}");
            let acted = done(&trial.stage, &trial.filled(act));
            assert!(trial.has_run(), "{program} does nothing with {name}: {planted} {acted}");
        }
    }
}

#[test]
fn what_is_planted_in_a_jail_makes_no_program_act() {
    let Some(stage) = Stage::new() else { return };
    let trial = Trial::on(stage);
    for (name, program, plant, act) in ROWS {
        if trial.begin(name, program) {
            let planted =
                ended(&mut trial.stage.unseen("", &trial.filled(&format!("{plant}\ntouch HERE/ran"))));
            // A launcher that starts nothing leaves nothing, and proves nothing.
            let ran = trial.stage.path("ws/ran").exists();
            assert!(ran, "{name}: the script did not run to its end: {planted:?}");
            let acted = done(&trial.stage, &trial.filled(act));
            assert!(!trial.has_run(), "{program} acts on {name}: {planted:?} {acted}");
        }
    }
}
