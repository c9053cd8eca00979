//! An unfinished operation of git in a jail runs nothing when it is continued outside; and git inside works as it does outside.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::process::Command;

use stage::{Ended, Stage, ended, skipped};

/// A stage with git's settings in its home; nothing where git or a jail is missing.
fn staged() -> Option<Stage> {
    if Command::new("git").arg("--version").output().is_err() {
        skipped("an unfinished rebase", "there is no git");
        return None;
    }
    let stage = Stage::new()?;
    let settings = "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[core]\n\teditor = true\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n";
    fs::write(stage.path("home/.gitconfig"), settings).unwrap();
    Some(stage)
}

fn outside(stage: &Stage, script: &str) -> Ended {
    let mut command = Command::new("/bin/sh");
    ended(stage.surround(&mut command).args(["-c", script]))
}

fn inside(stage: &Stage, options: &str, script: &str) -> Ended {
    ended(&mut stage.unseen(options, script))
}

/// Three commits on `main`; `side` has another one on top of the first, which touches the same file as the second.
const REPOSITORY: &str = r"
git init -q . && echo 1 > f && git add f && git commit -qm one && git branch side
echo 2 > f && git commit -qam two && echo 3 > g && git add g && git commit -qm three && echo 4 > h && git add h && git commit -qm four
git switch -q side && echo other > f && git commit -qam other && git switch -q main
";

/// Stops an interactive rebase before its rest, which is what `$1` says.
const STOP: &str = r#"stop() { GIT_SEQUENCE_EDITOR="sh -c 'printf \"break\n$1\n\" > \$1' x" git rebase -q -i HEAD~1; }
mkdir -p git-merge-x; printf '#!/bin/sh\ntouch CANARY\nexit 1\n' > evil; chmod +x evil
"#;

/// Fate of a plant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It works without a jail; after a run it is taken out, and told.
    Removed,
    /// It works without a jail; in one, the name is refused.
    Refused,
    /// It is told, with any effect.
    Told,
}

/// Ways to leave something unfinished that runs a program: a script inside, what a person does outside, and what becomes of it.
const PLANTS: &[(&str, &str, &str, Fate)] = &[
    ("an exec line", "stop 'exec touch CANARY'", "git rebase --continue", Fate::Removed),
    ("its short form", "stop ' \tx touch CANARY'", "git rebase --continue", Fate::Removed),
    (
        "a line by hand",
        "stop noop; echo 'exec touch CANARY' >> .git/rebase-merge/git-rebase-todo",
        "git rebase --continue",
        Fate::Removed,
    ),
    (
        "no line end",
        "stop noop; printf 'exec touch CANARY' > .git/rebase-merge/git-rebase-todo",
        "git rebase --continue",
        Fate::Removed,
    ),
    (
        "a rebase that stops at a conflict",
        "git rebase -x 'touch CANARY' side",
        "git checkout -q --ours f; git add f; git rebase --continue; git rebase --skip",
        Fate::Removed,
    ),
    (
        "a list behind a link",
        "stop noop; echo 'exec touch CANARY' > list; ln -sf ../../list .git/rebase-merge/git-rebase-todo",
        "git rebase --continue",
        Fate::Refused,
    ),
    (
        "a state behind a link",
        "stop 'exec touch CANARY'; mv .git/rebase-merge state; ln -s ../state .git/rebase-merge",
        "git rebase --continue",
        Fate::Refused,
    ),
    (
        "a state made elsewhere",
        "stop 'exec touch CANARY'; mv .git/rebase-merge state; mv state .git/rebase-merge",
        "git rebase --continue",
        Fate::Removed,
    ),
    (
        "a list that cannot be written",
        "stop 'exec touch CANARY'; chmod 444 .git/rebase-merge/git-rebase-todo",
        "git rebase --continue",
        Fate::Removed,
    ),
    (
        "a strategy",
        "stop 'pick side'; printf x/../evil > .git/rebase-merge/strategy",
        "git rebase --continue",
        Fate::Removed,
    ),
    (
        "a strategy of a series of picks",
        "git switch -q side; git cherry-pick main~2 main~1 main; printf '[options]\\nstrategy = x/../evil\\n' > .git/sequencer/opts",
        "git checkout -q --ours f; git add f; git cherry-pick --continue; git cherry-pick --skip",
        Fate::Removed,
    ),
    (
        "options of a strategy that write a file",
        "stop \"pick $(git rev-parse side)\"; echo resolve > .git/rebase-merge/strategy; echo \"'--index-output=CANARY'\" > .git/rebase-merge/strategy_opts",
        "git rebase --continue",
        Fate::Removed,
    ),
    (
        "the same in a series of picks",
        "git switch -q side; git cherry-pick main~2 main~1 main; printf '[options]\\nstrategy = resolve\\nstrategy-option = index-output=CANARY\\n' > .git/sequencer/opts",
        "git checkout -q --ours f; git add f; git cherry-pick --continue; git cherry-pick --skip",
        Fate::Removed,
    ),
    ("an index with a path outside", "INDEX", "git checkout .", Fate::Removed),
    (
        "an index with a path to a hook",
        "NAME=.git/hooks/post-checkout INDEX",
        "git checkout .; git switch -q side",
        Fate::Removed,
    ),
    (
        "an index of a linked working tree",
        "git worktree add -q tree side; cd tree; INDEX",
        "cd tree && git checkout .",
        Fate::Removed,
    ),
    (
        "a shared index with a path outside",
        "INDEX; git update-index --split-index",
        "git checkout .",
        Fate::Removed,
    ),
    (
        "a resolution of a file outside",
        "RERERE; printf '%s\\t%s\\0' $h SECRET > .git/MERGE_RR",
        "git commit -qm x --allow-empty; test -e .git/rr-cache/$(printf %040d 1)/postimage && touch CANARY",
        Fate::Removed,
    ),
    (
        "a resolution of a file behind a link",
        "RERERE; ln -s SECRET link; printf '%s\\tlink\\0' $h > .git/MERGE_RR",
        "git commit -qm x --allow-empty; test -e .git/rr-cache/$(printf %040d 1)/postimage && touch CANARY",
        Fate::Removed,
    ),
    (
        "options of git am",
        "git format-patch -q -1 side; git am 0001*; printf \" '--build-fake-ancestor=CANARY'\" > .git/rebase-apply/apply-opt",
        "git am --continue",
        Fate::Told,
    ),
    (
        "a linked working tree",
        "git worktree add -q tree side; cd tree; stop 'exec touch CANARY'",
        "cd tree && git rebase --continue",
        Fate::Removed,
    ),
    (
        "a nested repository",
        "mkdir -p a/b; cd a/b; git clone -q ../.. .; stop 'exec touch CANARY'",
        "cd a/b && git rebase --continue",
        Fate::Removed,
    ),
    (
        "a repository further down",
        "mkdir -p a/b/c/d; git clone -q . a/b/c/d; cd a/b/c/d; stop 'exec touch CANARY'",
        "cd a/b/c/d && git rebase --continue",
        Fate::Refused,
    ),
    (
        "a repository among packages",
        "mkdir -p node_modules/x; git clone -q . node_modules/x; cd node_modules/x; stop 'exec touch CANARY'",
        "cd node_modules/x && git rebase --continue",
        Fate::Refused,
    ),
    (
        "a directory that cannot be listed",
        "mkdir -p a/b; git clone -q . a/b; cd a/b; stop 'exec touch CANARY'; cd ../..; chmod 311 a",
        "true",
        Fate::Told,
    ),
];

/// Writes an index of version 2 with an entry for the canary, or for `$NAME`, whose content is a script that makes the canary.
const INDEX: &str = r##"python3 -c '
import hashlib, os, struct, subprocess
def git(*words, data=None):
    return subprocess.run(("git",) + words, input=data, capture_output=True).stdout.strip().decode()
oid = git("hash-object", "-w", "--stdin", data=b"#!/bin/sh\ntouch CANARY\n")
def entry(name, oid, mode):
    name = name.encode()
    data = struct.pack(">10I", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + bytes.fromhex(oid) + struct.pack(">H", len(name)) + name
    return data + bytes(8 - len(data) % 8)
entries = sorted([(os.environ.get("NAME", "CANARY"), oid, 0o100755), ("f", git("rev-parse", "HEAD:f"), 0o100644)])
data = b"DIRC" + struct.pack(">II", 2, len(entries)) + b"".join(entry(*row) for row in entries)
open(git("rev-parse", "--git-path", "index"), "wb").write(data + hashlib.sha1(data).digest())
'"##;

/// Begins the record of a conflict.
const RERERE: &str = "h=$(printf %040d 1); mkdir -p .git/rr-cache/$h; echo x > .git/rr-cache/$h/preimage";

/// A workspace with a repository and nothing else.
fn fresh(stage: &Stage) {
    let _opened = Command::new("chmod").arg("755").arg(stage.path("ws/a")).output();
    fs::remove_dir_all(stage.path("ws")).unwrap();
    fs::create_dir(stage.path("ws")).unwrap();
    let made = outside(stage, REPOSITORY);
    assert_eq!(made.code, Some(0), "{made:?}");
}

#[test]
fn nothing_new_runs_when_git_goes_on_outside() {
    let Some(stage) = staged() else { return };
    let (canary, secret) = (stage.path("canary"), stage.path("secret"));
    fs::write(&secret, "secret\n").unwrap();
    for (what, plant, act, fate) in PLANTS {
        let filled = |script: &str| {
            let script = script.replace("INDEX", INDEX).replace("RERERE", RERERE);
            script.replace("CANARY", canary.to_str().unwrap()).replace("SECRET", secret.to_str().unwrap())
        };
        let (script, act) = (filled(&format!("{STOP}{plant}")), &filled(act));
        fresh(&stage);
        let planted = outside(&stage, &script);
        let acted = outside(&stage, act);
        // If it does nothing without a jail, it proves nothing either.
        assert!(*fate == Fate::Told || canary.exists(), "{what}, without a jail: {planted:?} {acted:?}");
        let _gone = fs::remove_file(&canary);
        fresh(&stage);
        let planted = inside(&stage, "", &script);
        let acted = outside(&stage, act);
        assert!(!canary.exists(), "{what}: {planted:?} {acted:?}");
        assert_eq!(planted.err.contains("RF-J013"), *fate != Fate::Refused, "{what}: {planted:?}");
    }
    let shown = ended(stage.command().args(["audit", "show"]));
    assert!(shown.out.contains("jail.tripped"), "{shown:?}");
    fresh(&stage);
}

/// Instructions at the top do not stay, and are not lost among rows, if there are more directories than may be open.
#[test]
fn many_directories_hide_nothing() {
    let Some(stage) = staged() else { return };
    fresh(&stage);
    fs::create_dir_all(stage.path("ws/.git/modules/a")).unwrap();
    let script = "mkdir .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo
        cd .git/modules/a && mkdir $(seq 1100) && echo made";
    let run = "ulimit -n 1024; exec \"$RF\" run --env SCRIPT=\"$SCRIPT\" -- /bin/sh -c 'eval \"$SCRIPT\"'";
    let mut command = Command::new("/bin/sh");
    stage.surround(&mut command).env("SCRIPT", script);
    let planted = ended(command.args(["-c", run]));
    assert_eq!(planted.out, "made\n", "{planted:?}");
    let todo = stage.path("ws/.git/rebase-merge/git-rebase-todo");
    assert_eq!(fs::read_to_string(&todo).unwrap(), "# taken out by ringfence: exec evil\n");
    let told = planted.err.matches("RF-J013").count();
    assert!(told == 1 && planted.err.contains("`exec evil`"), "{told} rows");
}

/// A rebase of the user that cannot be written, or read, is left alone.
#[test]
fn a_rebase_that_nothing_has_touched_is_left_alone() {
    let Some(stage) = staged() else { return };
    let todo = stage.path("ws/.git/rebase-merge/git-rebase-todo");
    for mode in ["444", "000"] {
        fresh(&stage);
        outside(&stage, &format!("{STOP}stop 'exec own'; chmod {mode} .git/rebase-merge/git-rebase-todo"));
        let ran = inside(&stage, "", "true");
        assert!(!ran.err.contains("RF-J013") && todo.exists(), "{mode}: {ran:?}");
        outside(&stage, "chmod 644 .git/rebase-merge/git-rebase-todo");
        assert_eq!(fs::read_to_string(&todo).unwrap(), "exec own\n", "{mode}");
    }
}

/// A command that is learned runs in a jail, too.
#[test]
fn learning_leaves_nothing_to_run_either() {
    let Some(stage) = staged() else { return };
    fresh(&stage);
    let canary = stage.path("canary");
    let script = format!("{STOP}stop 'exec touch CANARY'").replace("CANARY", canary.to_str().unwrap());
    fs::write(stage.path("ws/script"), script).unwrap();
    let learned = ended(stage.command().args(["learn", "--", "sh", "script"]));
    assert!(learned.err.contains("git runs this line"), "{learned:?}");
    let acted = outside(&stage, "git rebase --continue");
    assert!(!canary.exists(), "{acted:?}");
}

/// An operation that a person began stays as it was, and goes on.
#[test]
fn a_rebase_that_was_there_before_goes_on() {
    let Some(stage) = staged() else { return };
    fresh(&stage);
    let (own, canary) = (stage.path("own"), stage.path("canary"));
    let begun = outside(&stage, &format!("{STOP}stop 'exec touch {}'", own.display()));
    let line = format!("echo 'exec touch {}' >> .git/rebase-merge/git-rebase-todo", canary.display());
    let planted = inside(&stage, "", &line);
    assert!(planted.err.contains("it is commented out"), "{begun:?} {planted:?}");
    let acted = outside(&stage, "git rebase --continue");
    assert!(own.exists() && !canary.exists(), "{acted:?}");
}

/// Everything that keeps a state works inside, and leaves nothing to tell when it is finished.
#[test]
fn git_finishes_inside() {
    let Some(stage) = staged() else { return };
    let rows = [
        "git rebase -q -X theirs side",
        "GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' git rebase -q -i HEAD~2",
        "git rebase -q -x 'touch ran' HEAD~2 && test -e ran",
        "git rebase -q --apply HEAD~2",
        "git rebase side; git checkout -q --theirs f; git add f; git rebase --continue",
        "git rebase side; git rebase --abort",
        "git switch -q side && git cherry-pick main~1 main",
        "git switch -q side && ! git cherry-pick main~2 main && git checkout -q --ours f && git add f && git cherry-pick --skip",
        "git revert --no-edit HEAD HEAD~1",
        "git format-patch -q -2 && git reset -q --hard HEAD~2 && git am -q 000*",
        "git merge -q -X ours -m merged side",
        "git -c rerere.enabled=true merge -q side; test -s .git/MERGE_RR",
        "git update-index --split-index && echo x > f && git add f",
        "git update-index --index-version 4 && echo x > new && git add -N new",
        "git rebase -q -s resolve side; git checkout -q --theirs f; git add f; git rebase --continue",
        "echo x > f && git stash -q && git stash pop -q",
        "git worktree add -q tree side && cd tree && git rebase -q -X ours main",
        "mkdir -p a/b && git clone -q . a/b && cd a/b && git rebase -q -x true HEAD~2",
    ];
    for row in rows {
        fresh(&stage);
        let ended = inside(&stage, "", &format!("({row}) && echo done"));
        assert!(ended.out.ends_with("done\n"), "{row}: {ended:?}");
        assert!(!ended.err.contains("RF-J013"), "{row}: {ended:?}");
    }
}
