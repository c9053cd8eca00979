//! Contents at protected names: what the repository had before comes back by git, what is new stays out, in one run or in many.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::path::Path;
use std::process::Command;

use stage::{Ended, Stage, end_of, ended, has, skipped, within};

/// A stage with git's settings in its home and a repository with two branches; nothing where git or a jail is missing.
fn staged() -> Option<Stage> {
    if Command::new("git").arg("--version").output().is_err() {
        skipped("git beside protected names", "there is no git");
        return None;
    }
    let stage = Stage::new()?;
    let settings = "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n";
    fs::write(stage.path("home/.gitconfig"), settings).unwrap();
    outside(&stage, BRANCHES);
    Some(stage)
}

const BRANCHES: &str = "git init -q r && cd r && mkdir -p .vscode src && echo one > .vscode/tasks.json && echo a > src/a \
    && git add . && git commit -qm one && git switch -qc side && echo two > .vscode/tasks.json && git commit -qam two \
    && git switch -q main";

fn outside(stage: &Stage, script: &str) -> String {
    let mut command = Command::new("/bin/sh");
    stage.surround(&mut command).args(["-ec", script]);
    let ended = ended(&mut command);
    assert_eq!(ended.code, Some(0), "{script}: {ended:?}");
    ended.out
}

fn inside(stage: &Stage, options: &str, script: &str) -> Ended {
    ended(stage.unseen(options, script).current_dir(stage.path("ws/r")))
}

/// Makes a commit of a blob at the protected name, without a reference.
const COMMIT: &str = "git update-index --add --cacheinfo 100644,$b,.vscode/tasks.json; t=$(git write-tree); git read-tree HEAD; c=$(git commit-tree -p HEAD -m evil $t)";

fn tasks(stage: &Stage) -> Option<String> {
    fs::read_to_string(stage.path("ws/r/.vscode/tasks.json")).ok()
}

/// Every way to bring a new content to a name that programs act on, and what is there afterwards.
#[test]
fn new_contents_stay_out() {
    let Some(stage) = staged() else { return };
    let (one, none) = (Some("one\n"), None);
    let blob = "b=$(echo evil | git hash-object -w --stdin)";
    let rows = [
        // An old file stays after git has removed it.
        ("written", "echo evil > .vscode/tasks.json", one),
        ("below a name that instructs", "mkdir CLAUDE.md && echo evil > CLAUDE.md/.tool-versions", one),
        (
            "a repository that cannot be listed",
            &format!(
                "{blob}; {COMMIT}; chmod 311 .git; echo $c > .git/refs/heads/evil; chmod 755 .git; git checkout -q -f evil -- .vscode; true"
            ),
            one,
        ),
        (
            "a reference by a second name",
            &format!(
                "{blob}; {COMMIT}; echo x > junk; ln junk .git/EVIL_HEAD; echo $c > junk; rm junk; git checkout -q -f $c -- .vscode; true"
            ),
            one,
        ),
        (
            "mapped",
            "cat > map.py <<'END'\nimport ctypes, os\nctypes.CDLL(None).prctl(15, b'git')\nos.unlink('.vscode/tasks.json')\nfd = os.open('.vscode/tasks.json', os.O_RDWR | os.O_CREAT)\nEND\npython3 map.py; true",
            none,
        ),
        ("appended", "echo evil >> .vscode/tasks.json", one),
        ("moved there", "echo evil > x; mv x .vscode/tasks.json; true", one),
        ("linked there", "echo evil > x; rm .vscode/tasks.json; ln x .vscode/tasks.json; true", none),
        (
            "a symbolic link",
            "echo evil > x; rm .vscode/tasks.json; ln -s ../x .vscode/tasks.json; true",
            none,
        ),
        ("a directory", "mkdir new; echo evil > new/tasks.json; rm -r .vscode; mv new .vscode; true", none),
        (
            "checked out",
            &format!(
                "{blob}; git update-index --cacheinfo 100644,$b,.vscode/tasks.json; git checkout -f -- ."
            ),
            one,
        ),
        (
            "a commit",
            &format!(
                "{blob}; git update-index --cacheinfo 100644,$b,.vscode/tasks.json; git commit -qm evil; git reset -q --hard"
            ),
            one,
        ),
        ("known elsewhere", "rm .vscode/tasks.json; cp src/a .vscode/tasks.json; true", none),
        (
            "known elsewhere, checked out",
            "git update-index --cacheinfo 100644,$(git rev-parse HEAD:src/a),.vscode/tasks.json; git checkout -f -- .",
            one,
        ),
        (
            "applied",
            "printf 'diff --git a/.vscode/tasks.json b/.vscode/tasks.json\\n--- a/.vscode/tasks.json\\n+++ b/.vscode/tasks.json\\n@@ -1 +1 @@\\n-one\\n+evil\\n' | git apply",
            one,
        ),
        (
            "somebody who is called git",
            "cp /bin/sh git; rm .vscode/tasks.json; ./git -c 'echo evil > .vscode/tasks.json'; true",
            one,
        ),
        (
            "a descriptor that stays open",
            "cp /bin/bash git; rm .vscode/tasks.json; ./git -c 'exec 5>.vscode/tasks.json; echo one >&5; exec 6>/proc/self/fd/5; exec 5>&-; echo evil >&6; exec 6>&-; true'; true",
            one,
        ),
        (
            "a descriptor that is linked elsewhere",
            "cp /bin/bash git; rm .vscode/tasks.json; ./git -c 'exec 5>.vscode/tasks.json; echo one >&5; ln -L /proc/self/fd/5 second; exec 5>&-'; echo evil > second; true",
            one,
        ),
    ];
    for (what, script, expected) in rows {
        if what.contains("descriptor") && !has("bash", what) {
            continue;
        }
        let came = inside(&stage, "", script);
        let found = tasks(&stage);
        assert_eq!(found.as_deref(), expected, "{what}: {came:?}");
        outside(&stage, "rm -rf r && true");
        outside(&stage, BRANCHES);
    }
}

/// A file that git reported as checked out and the tree lacks is told.
#[test]
fn what_was_withheld_is_told_and_can_be_taken() {
    let Some(stage) = staged() else { return };
    let script = "b=$(echo evil | git hash-object -w --stdin); git update-index --cacheinfo 100644,$b,.vscode/tasks.json; \
        git commit -qm 'new tasks'; git reset -q --hard; git log -1 --format=%h";
    let came = inside(&stage, "-v", script);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains(".vscode/tasks.json") && came.err.contains("git restore"), "{}", came.err);
    assert!(came.err.contains(came.out.trim()) && came.err.contains("new tasks"), "{came:?}");
    outside(&stage, "cd r && git restore .vscode");
    assert_eq!(tasks(&stage).as_deref(), Some("evil\n"));
}

/// Two runs do not do what one may not: by a branch, an object that nothing names, the log of stashes, a repository of its own.
#[test]
fn contents_of_earlier_runs_stay_out() {
    let Some(stage) = staged() else { return };
    let evil = format!("b=$(echo evil | git hash-object -w --stdin); {COMMIT}");
    let rows = [
        ("a branch", format!("{evil}; git branch evil $c"), "git switch -q -f evil"),
        ("a tag", format!("{evil}; git tag -a -m evil evil $c"), "git checkout -q -f evil"),
        ("the same branch", format!("{evil}; git update-ref refs/heads/main $c"), "git checkout -q -f ."),
        ("an object alone", format!("{evil}; echo $c > c"), "git checkout -q -f $(cat c)"),
        ("packed", format!("{evil}; git branch evil $c; git gc -q"), "git switch -q -f evil"),
        ("a detached head", format!("{evil}; git update-ref --no-deref HEAD $c"), "git checkout -q -f ."),
        ("the log of stashes", format!("{evil}; git stash store $c"), "git checkout -q -f stash"),
        (
            "a reference that cannot be read",
            format!("{evil}; git branch evil $c; chmod 0 .git/refs/heads/evil"),
            "chmod 644 .git/refs/heads/evil; git switch -q -f evil",
        ),
        (
            "a directory of references that cannot be listed",
            format!("{evil}; git branch h/evil $c; chmod 0 .git/refs/heads/h"),
            "chmod 755 .git/refs/heads/h; git switch -q -f h/evil",
        ),
        (
            "too many names",
            format!(
                "{evil}; for i in $(seq 12000); do echo .git/A$i; done | xargs touch; echo $c > .git/W_HEAD"
            ),
            "rm -f .git/A*; git checkout -q -f $(cat .git/W_HEAD)",
        ),
        (
            "a reference by a second name",
            format!("{evil}; echo x > junk; ln junk .git/EVIL_HEAD; echo $c > c"),
            "cat c > junk; rm junk; git checkout -q -f $(cat c)",
        ),
        (
            "behind one's own",
            format!("{evil}; git branch evil $(git commit-tree -p $c -m more HEAD^{{tree}})"),
            "git switch -q -f evil; git checkout -q -f evil~1",
        ),
    ];
    for (what, first, second) in rows {
        let came = inside(&stage, "", &first);
        assert_eq!(came.code, Some(0), "{what}: {came:?}");
        let came = inside(&stage, "", &format!("{second}; git log -1 --format=%s"));
        assert!(came.out.contains("evil"), "{what}: {came:?}");
        assert_ne!(tasks(&stage).as_deref(), Some("evil\n"), "{what}: {came:?}");
        // Files from before the first run still come.
        let came = inside(&stage, "", "git checkout -q -f side -- .vscode");
        assert_eq!(tasks(&stage).as_deref(), Some("two\n"), "{what}: {came:?}");
        outside(&stage, "rm -rf r && true");
        outside(&stage, BRANCHES);
    }
}

/// Repositories that a run did not open at its start are recorded when a reference in them is written.
#[test]
fn contents_of_repositories_further_down_stay_out() {
    let Some(stage) = staged() else { return };
    outside(&stage, "mkdir -p a/b/c && mv r a/b/c/r");
    let commit = format!("b=$(echo evil | git hash-object -w --stdin); {COMMIT}; git branch -f evil $c");
    let deep = stage.path("ws/a/b/c/r");
    let found = || fs::read_to_string(deep.join(".vscode/tasks.json")).ok();
    let take = "git checkout -q -f evil -- .vscode; git log -1 --format=%s evil";
    let came = ended(&mut stage.unseen("", &format!("cd a/b/c/r; {commit}")));
    assert_eq!(came.code, Some(0), "{came:?}");
    let came = ended(stage.unseen("", take).current_dir(&deep));
    assert!(came.out == "evil\n" && found().as_deref() != Some("evil\n"), "{came:?}");
    // One that cannot be listed at the start of the run that writes.
    outside(&stage, "cd a/b/c/r && git branch -qD evil && git gc -q --prune=now && chmod 311 .git");
    let came = ended(stage.unseen("", &format!("chmod 755 .git; {commit}")).current_dir(&deep));
    assert_eq!(came.code, Some(0), "{came:?}");
    let came = ended(stage.unseen("", take).current_dir(&deep));
    assert!(came.out == "evil\n" && found().as_deref() != Some("evil\n"), "{came:?}");
}

/// A launcher that is root gives no content to the command that the owner of the workspace cannot read.
#[test]
fn contents_of_another_user_are_not_put_back() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    let Some(stage) = staged() else { return };
    if !rustix::process::geteuid().is_root() {
        return skipped("contents of another user", "only root can make them");
    }
    fs::set_permissions(stage.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    outside(&stage, "chown -R 12345:12345 r");
    let secret = stage.path("ws/r/.vscode/tasks.json");
    fs::write(&secret, "hush\n").unwrap();
    chown(&secret, Some(0), Some(0)).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let script = "cp /bin/sh git; rm -f .vscode/tasks.json; ./git -c 'echo evil > .vscode/tasks.json'; true; cat .vscode/tasks.json";
    let came = inside(&stage, "", script);
    assert!(!came.out.contains("hush"), "{came:?}");
    assert_eq!(tasks(&stage), None, "{came:?}");
}

/// A run that is killed has reported nothing about what it made.
#[test]
fn contents_of_a_run_that_was_killed_stay_out() {
    let Some(stage) = staged() else { return };
    let evil = "b=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$b,.vscode/tasks.json; \
        git commit -qm evil; touch made; sleep 1000";
    let mut child = stage.unseen("", evil).current_dir(stage.path("ws/r")).spawn().unwrap();
    let made = stage.path("ws/r/made");
    assert!(within(stage::LONG, || made.exists()));
    // Another run at the same time does not get it either.
    let take = "rm -f .vscode/tasks.json; git checkout -q -f main -- .; git log -1 --format=%s main";
    let came = inside(&stage, "", take);
    assert!(came.out.contains("evil") && tasks(&stage).as_deref() != Some("evil\n"), "{came:?}");
    child.kill().unwrap();
    end_of(&mut child);
    for _ in 0..2 {
        let came = inside(&stage, "", take);
        assert!(came.out.contains("evil") && tasks(&stage).as_deref() != Some("evil\n"), "{came:?}");
    }
    let came = inside(&stage, "", "git checkout -q -f side -- .vscode");
    assert_eq!(tasks(&stage).as_deref(), Some("two\n"), "{came:?}");
}

/// The locks of the supervisor are always taken in one order.
#[test]
fn nothing_waits_for_ever() {
    let Some(stage) = staged() else { return };
    if !has("python3", "calls at once") {
        return;
    }
    fs::write(stage.path("ws/r/pending.py"), include_str!("names/pending.py")).unwrap();
    let mut command = stage.command();
    let command =
        command.current_dir(stage.path("ws/r")).args(["run", "--", "/usr/bin/python3", "pending.py"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    assert!(end_of(&mut child).success());
    let said = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert_eq!(said, "end\n");
}

/// Uncommitted changes of a person are not lost, and nothing is committed as removed.
#[test]
fn changes_of_a_person_stay() {
    let Some(stage) = staged() else { return };
    fs::write(stage.path("ws/r/.vscode/tasks.json"), "mine\n").unwrap();
    let came = inside(
        &stage,
        "",
        "git stash -q && cat .vscode/tasks.json && git stash pop -q && git status --short",
    );
    assert_eq!((came.code, came.out.as_str()), (Some(0), "one\n M .vscode/tasks.json\n"), "{came:?}");
    assert_eq!(tasks(&stage).as_deref(), Some("mine\n"));
    outside(&stage, "cd r && git checkout -q .");
    let patch = "printf 'diff --git a/.vscode/tasks.json b/.vscode/tasks.json\\n--- a/.vscode/tasks.json\\n+++ b/.vscode/tasks.json\\n@@ -1 +1 @@\\n-one\\n+evil\\n' | git apply";
    let came = inside(
        &stage,
        "",
        &format!("{patch}; echo b > src/a; git commit -qam both && git show --stat --format= HEAD"),
    );
    assert!(came.code == Some(0) && !came.out.contains("tasks.json"), "{came:?}");
    assert_eq!(tasks(&stage).as_deref(), Some("one\n"));
}

/// Commits that a person makes outside count in the next run.
#[test]
fn contents_of_a_person_come() {
    let Some(stage) = staged() else { return };
    assert_eq!(inside(&stage, "", "echo b > src/b && git add . && git commit -qm inside").code, Some(0));
    outside(
        &stage,
        "cd r && git switch -qc mine && echo three > .vscode/tasks.json && git commit -qam three && git switch -q main",
    );
    let came = inside(&stage, "", "git switch -q mine && git status --short");
    assert_eq!((came.code, came.out.as_str()), (Some(0), ""), "{came:?}");
    assert_eq!(tasks(&stage).as_deref(), Some("three\n"));
}

/// Files that the settings of the repository name are tracked like any other.
#[test]
fn hooks_that_are_tracked_follow_the_branch() {
    let Some(stage) = staged() else { return };
    outside(
        &stage,
        "cd r && git config core.hooksPath tools/hooks && mkdir -p tools/hooks && echo 'exit 0' > tools/hooks/pre-push \
         && git add . && git commit -qm hooks && git switch -qc other && echo 'exit 1' > tools/hooks/pre-push && git commit -qam other",
    );
    let hook = || fs::read_to_string(stage.path("ws/r/tools/hooks/pre-push")).unwrap();
    let came = inside(&stage, "", "git switch -q main && git status --short");
    assert_eq!((came.code, came.out.as_str(), hook().as_str()), (Some(0), "", "exit 0\n"), "{came:?}");
    let came = inside(
        &stage,
        "",
        "echo evil > tools/hooks/pre-push; echo evil > tools/hooks/pre-commit; ls tools/hooks",
    );
    assert_eq!((came.out.as_str(), hook().as_str()), ("pre-push\n", "exit 0\n"), "{came:?}");
}

/// Programs find the repositories that they make, in every layout.
#[test]
fn repositories_are_made() {
    let Some(stage) = staged() else { return };
    outside(
        &stage,
        "mkdir bare && cd bare && git clone -q --bare ../r .bare && echo 'gitdir: ./.bare' > .git",
    );
    outside(&stage, "git init -q super && cd super && git submodule -q add ../r sub && git commit -qm sub");
    let rows = [
        ("r", "git worktree add -q ./tree side && cat tree/.vscode/tasks.json", "two\n"),
        ("r", "git clone -q . copy && git -C copy switch -q side && cat copy/.vscode/tasks.json", "two\n"),
        ("bare", "git worktree add -q main2 side && cat main2/.vscode/tasks.json", "two\n"),
        (
            "super",
            "git submodule -q update && git -C sub checkout -q origin/side && cat sub/.vscode/tasks.json",
            "two\n",
        ),
    ];
    for (directory, script, expected) in rows {
        let came = ended(stage.unseen("", script).current_dir(stage.path("ws").join(directory)));
        assert_eq!((came.code, came.out.as_str()), (Some(0), expected), "{directory}: {script}: {came:?}");
    }
}

#[test]
fn cargo_makes_a_package_with_its_repository() {
    let Some(stage) = staged() else { return };
    let Some(cargo) = std::env::var_os("CARGO") else { return skipped("cargo new", "there is no cargo") };
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".rustup"));
    let mut command = stage.command();
    command.args(["run", "--env"]).arg("CARGO_HOME=/tmp/cargo");
    if let Some(home) = home.filter(|home| home.is_dir()) {
        command.arg("--read").arg(home);
    }
    command.args(["--read".as_ref(), Path::new(&cargo).parent().unwrap().as_os_str()]).arg("--").arg(&cargo);
    let came = ended(command.args(["new", "--quiet", "hello"]));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(!came.err.contains("denied"), "{came:?}");
    outside(&stage, "cd hello && git status --short");
    let settings = fs::read_to_string(stage.path("ws/hello/.git/config")).unwrap();
    assert!(settings.contains("bare = false"), "{settings}");
}

/// Directories without protected names can be moved, under any name.
#[test]
fn directories_without_protected_names_move() {
    let Some(stage) = staged() else { return };
    let rows = [
        ("mkdir tools && touch tools/x && mv tools other && ls other", Some("x\n")),
        ("mkdir tools2 && touch tools2/y && mv tools2 tools && ls tools", Some("y\n")),
        ("mv .vscode elsewhere", None),
    ];
    for (script, expected) in rows {
        let came = inside(&stage, "", script);
        assert_eq!((came.code == Some(0)).then_some(came.out.as_str()), expected, "{script}: {came:?}");
    }
}

/// Names that people and agents read may be changed, unless the profile says otherwise.
#[test]
fn names_that_instruct_follow_the_profile() {
    let Some(stage) = staged() else { return };
    let came = inside(&stage, "-v", "echo read me > CLAUDE.md");
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("CLAUDE.md"), "{}", came.err);
    let policy = "version = 1\n[profiles.close]\nextends = \"workspace-write\"\nprotect = \"all\"\n";
    fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
    fs::write(stage.path("home/.config/ringfence/policy.toml"), policy).unwrap();
    let came = inside(&stage, "--profile close", "echo more >> CLAUDE.md");
    assert_ne!(came.code, Some(0), "{came:?}");
    assert_eq!(fs::read_to_string(stage.path("ws/r/CLAUDE.md")).unwrap(), "read me\n");
}
