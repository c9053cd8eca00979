use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use policy::Limits;

use super::instruction::running;
use super::*;
use crate::Spec;

/// A workspace with a repository; `rm` removes it, because the trees in it may be deeper than `remove_dir_all` goes.
struct Workspace(Option<tempfile::TempDir>);

impl Workspace {
    fn new() -> Self {
        let workspace = Self(Some(tempfile::tempdir().unwrap()));
        fs::create_dir(workspace.path(".git")).unwrap();
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.0.as_ref().unwrap().path()).unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| error.kind().to_string())
    }

    fn capture(&self) -> GitStateSnapshot {
        GitStateSnapshot::capture(&Spec::for_workspace(&self.path(""), Path::new("/home/me"), Limits::none()))
    }

    /// Nested directories, more than a path may have.
    fn nest(&self, name: &str, depth: usize) {
        fs::create_dir_all(self.path(name)).unwrap();
        let mut at = directory(rustix::fs::CWD, self.path(name).as_os_str()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&at, "d", Bits::from_raw_mode(0o755)).unwrap();
            at = directory(&at, OsStr::new("d")).unwrap();
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let path = self.0.take().unwrap().keep();
        let _opened = Command::new("chmod").args(["-R", "u+rwx"]).arg(&path).output();
        assert!(Command::new("rm").arg("-rf").arg(&path).status().unwrap().success());
    }
}

type Act<'a> = &'a dyn Fn(&Workspace);

const TODO: &str = ".git/rebase-merge/git-rebase-todo";

/// The user's own state stays as it was when nothing has touched it, however strange it is; what a command changed does not.
#[test]
fn only_new_instructions_are_removed() {
    let nothing: fn(&Workspace) = |_| {};
    let read_only = |workspace: &Workspace| {
        workspace.write(TODO, "exec own\n");
        fs::set_permissions(workspace.path(TODO), fs::Permissions::from_mode(0o444)).unwrap();
    };
    let closed = |workspace: &Workspace| {
        workspace.write(TODO, "exec own\n");
        fs::set_permissions(workspace.path(TODO), fs::Permissions::from_mode(0o000)).unwrap();
    };
    let link = |workspace: &Workspace| {
        workspace.write("list", "exec own\n");
        workspace.write(".git/rebase-merge/x", "");
        symlink("../../list", workspace.path(TODO)).unwrap();
    };
    let large = |workspace: &Workspace| workspace.write(TODO, &"exec own\n".repeat(2 << 20));
    let linked_state = |workspace: &Workspace| {
        workspace.write("state/git-rebase-todo", "exec own\n");
        symlink("../state", workspace.path(".git/rebase-merge")).unwrap();
    };
    let evil: fn(&Workspace) = |workspace| {
        let _opened = fs::set_permissions(workspace.path(TODO), fs::Permissions::from_mode(0o644));
        let text = workspace.read(TODO);
        workspace.write(TODO, &format!("{text}exec evil\n"));
    };
    let rows: &[(&str, Act<'_>, Act<'_>, &str)] = &[
        ("plain", &|workspace| workspace.write(TODO, "exec own\n"), &nothing, "exec own\n"),
        ("read-only", &read_only, &nothing, "exec own\n"),
        ("read-only, then changed", &read_only, &evil, "exec own\n# taken out by ringfence: exec evil\n"),
        ("unreadable", &closed, &nothing, "exec own\n"),
        ("a link", &link, &nothing, "exec own\n"),
        ("a linked state", &linked_state, &nothing, "exec own\n"),
        ("a new link", &nothing, &link, "entity not found"),
        ("a new linked state", &nothing, &linked_state, "entity not found"),
        ("large", &large, &nothing, "large"),
        ("newly large", &nothing, &large, "entity not found"),
        ("new and read-only", &nothing, &read_only, "# taken out by ringfence: exec own\n"),
    ];
    for (what, before, change, left) in rows {
        let workspace = Workspace::new();
        before(&workspace);
        let snapshot = workspace.capture();
        change(&workspace);
        let removed = snapshot.remove_new();
        let _opened = fs::set_permissions(workspace.path(TODO), fs::Permissions::from_mode(0o644));
        let now = workspace.read(TODO);
        let now = if now.len() > 1 << 20 { "large" } else { &now };
        assert_eq!(now, *left, "{what}: {removed:?}");
    }
}

/// Modules deeper than any stack end neither look, and what is known is still inspected.
#[test]
fn nesting_does_not_overflow_the_stack() {
    let workspace = Workspace::new();
    workspace.nest(".git/modules/a", 18_000);
    let snapshot = workspace.capture();
    workspace.write(TODO, "exec evil\n");
    let removed = snapshot.remove_new();
    assert_eq!(workspace.read(TODO), "# taken out by ringfence: exec evil\n", "{removed:?}");
    assert!(removed.len() <= 2 && removed[0].path == workspace.path(TODO), "{removed:?}");
}

/// However many directories cannot be inspected, or hold instructions: the number of rows is limited, and the top comes first.
#[test]
fn rows_are_aggregated() {
    let workspace = Workspace::new();
    let snapshot = workspace.capture();
    workspace.write(TODO, "exec evil\n");
    for number in 0..200 {
        workspace.write(&format!(".git/modules/{number}/rebase-merge/git-rebase-todo"), "exec evil\n");
        let closed = workspace.path(&format!(".git/modules/closed/{number}"));
        fs::create_dir_all(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let removed = snapshot.remove_new();
    assert!(removed.len() < 40, "{} rows", removed.len());
    assert_eq!(removed[0].path, workspace.path(TODO));
    for number in 0..200 {
        let name = format!(".git/modules/{number}/rebase-merge/git-rebase-todo");
        assert_eq!(workspace.read(&name), "# taken out by ringfence: exec evil\n");
    }
}

/// A command that makes more directories than are inspected does not hide the repositories that were there before, and is told.
#[test]
fn known_repositories_are_inspected_beyond_the_limit() {
    let spent = std::time::Instant::now();
    let budget = Budget::new();
    let rows = [
        ("directories", Budget { directories: 20, ..budget }),
        ("entries", Budget { entries: 20, ..budget }),
        ("time", Budget { end: spent, ..budget }),
    ];
    for (what, budget) in rows {
        let workspace = Workspace::new();
        let names = ["modules/z", "modules/z/y", "worktrees/x", "worktrees/x/modules/w"];
        let names = names.map(|name| format!(".git/{name}/rebase-merge/git-rebase-todo"));
        for name in &names {
            workspace.write(name, "exec own\n");
        }
        let snapshot = workspace.capture();
        for number in 0..100 {
            fs::create_dir(workspace.path(&format!(".git/modules/{number}"))).unwrap();
            fs::create_dir(workspace.path(&format!("{number}"))).unwrap();
        }
        for name in names.iter().map(String::as_str).chain([TODO]) {
            workspace.write(name, "exec own\nexec evil\n");
        }
        let removed = snapshot.remove_new_within(budget);
        for name in &names {
            let text = "exec own\n# taken out by ringfence: exec evil\n";
            assert_eq!(workspace.read(name), text, "{what}: {removed:?}");
        }
        assert!(
            workspace.read(TODO).ends_with("# taken out by ringfence: exec evil\n"),
            "{what}: {removed:?}"
        );
        assert!(removed.last().unwrap().reason.contains("too many directories"), "{what}: {removed:?}");
    }
}

/// Files that together are too large to read are left alone if they are the same, and removed if not.
#[test]
fn the_bytes_that_are_read_are_limited() {
    let workspace = Workspace::new();
    let names: Vec<_> =
        (0..4).map(|number| format!(".git/modules/{number}/rebase-merge/git-rebase-todo")).collect();
    names[..2].iter().for_each(|name| workspace.write(name, "exec own\n"));
    let snapshot = workspace.capture();
    names[2..].iter().for_each(|name| workspace.write(name, "exec evil\n"));
    let removed = snapshot.remove_new_within(Budget { bytes: 3, ..Budget::new() });
    let texts: Vec<_> = names.iter().map(|name| workspace.read(name)).collect();
    assert_eq!(texts, ["exec own\n", "exec own\n", "entity not found", "entity not found"], "{removed:?}");
}

/// A file with a second name is removed, not written: the other name may be that of a protected file.
#[test]
fn a_file_with_two_names_is_not_written() {
    let workspace = Workspace::new();
    workspace.write("kept", "exec kept\n");
    let snapshot = workspace.capture();
    workspace.write(".git/rebase-merge/x", "");
    fs::hard_link(workspace.path("kept"), workspace.path(TODO)).unwrap();
    let removed = snapshot.remove_new();
    assert_eq!(
        (workspace.read(TODO), workspace.read("kept")),
        ("entity not found".into(), "exec kept\n".into()),
        "{removed:?}"
    );
}

/// A linked working tree keeps the repositories of its submodules below its own directory.
#[test]
fn submodules_of_a_linked_working_tree_are_inspected() {
    let workspace = Workspace::new();
    let snapshot = workspace.capture();
    let name = ".git/worktrees/x/modules/sub/rebase-merge/git-rebase-todo";
    workspace.write(name, "exec evil\n");
    let removed = snapshot.remove_new();
    assert_eq!(workspace.read(name), "# taken out by ringfence: exec evil\n", "{removed:?}");
}

/// The owner of a state that cannot be listed can still continue it.
#[test]
fn a_state_that_cannot_be_listed_is_inspected() {
    let workspace = Workspace::new();
    let snapshot = workspace.capture();
    workspace.write(TODO, "exec evil\n");
    fs::set_permissions(workspace.path(".git/rebase-merge"), fs::Permissions::from_mode(0o311)).unwrap();
    let removed = snapshot.remove_new();
    assert_eq!(workspace.read(TODO), "# taken out by ringfence: exec evil\n", "{removed:?}");
}

/// Git finds what it needs by its name, in directories that cannot be listed. Their modes stay, and what cannot be inspected is told.
#[test]
fn directories_that_cannot_be_listed_hide_nothing() {
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for closed in ["", ".git", "sub", "sub/.git", ".git/modules", ".git/modules/a"] {
        let names = ["", "sub/", ".git/modules/a/"].map(|top| match top {
            ".git/modules/a/" => format!("{top}rebase-merge/git-rebase-todo"),
            top => format!("{top}{TODO}"),
        });
        for (bits, inspected) in [(0o311, true), (0o111, true), (0o000, rustix::process::geteuid().is_root())]
        {
            let workspace = Workspace::new();
            fs::create_dir_all(workspace.path("sub/.git")).unwrap();
            fs::create_dir_all(workspace.path(".git/modules/a")).unwrap();
            let snapshot = workspace.capture();
            for name in &names {
                workspace.write(name, "exec evil\n");
            }
            workspace.write(".git/sharedindex.x", "no index");
            let top = workspace.path("");
            fs::set_permissions(top.join(closed), fs::Permissions::from_mode(bits)).unwrap();
            let removed = snapshot.remove_new();
            assert_eq!(mode(top.join(closed)), bits, "{closed}");
            fs::set_permissions(top.join(closed), fs::Permissions::from_mode(0o755)).unwrap();
            let evil = |name: &&String| fs::read_to_string(top.join(name)).unwrap() == "exec evil\n";
            let left: Vec<_> = names.iter().filter(evil).collect();
            assert!(left.is_empty() || !inspected, "{closed} {bits:o}: {left:?} {removed:?}");
            assert!(!left.is_empty() || inspected, "{closed} {bits:o}");
            let told =
                removed.iter().any(|row| row.path == top.join(closed) && row.reason.contains("an index"));
            assert_eq!(told, !inspected, "{closed} {bits:o}: {removed:?}");
            let shared = top.join(".git/sharedindex.x").exists();
            assert!(!shared || bits != 0o311, "{closed} {bits:o}: {removed:?}");
        }
    }
}

#[test]
fn instructions_that_run_a_program() {
    let rows: &[(&str, &str, bool)] = &[
        ("git-rebase-todo", "exec make", true),
        ("git-rebase-todo", " \tx make", true),
        ("git-rebase-todo", "x", true),
        ("git-rebase-todo", "exec\rmake", true),
        ("git-rebase-todo", "launch make", true),
        ("git-rebase-todo", "pick 1234 exec make", false),
        ("git-rebase-todo", "# exec make", false),
        ("git-rebase-todo", "; exec make", false),
        ("git-rebase-todo", "", false),
        ("git-rebase-todo", "merge -C 1234 side # Merge", false),
        ("git-rebase-todo", "update-ref refs/heads/x", false),
        ("strategy", "ort\n", false),
        ("strategy", "x/../evil", true),
        ("strategy", "ORT", true),
        ("gpg_sign_opt", "-S\n", false),
        ("gpg_sign_opt", "-Skey", true),
        ("apply-opt", "", false),
        ("apply-opt", " '-p2' '--whitespace=fix'\n", false),
        ("apply-opt", " '--build-fake-ancestor=/x'", true),
        ("apply-opt", " '--bu=/x'", true),
        ("opts", "[options]\n\tedit = true\n\tstrategy = ort\n", false),
        ("opts", "[options]\n\tstrategy = evil\n", true),
        ("opts", "[OPTIONS]\n\tSTRATEGY = evil\n", true),
        ("opts", "[options]\n\tgpg-sign = key\n", true),
        ("opts", "[options", true),
        ("opts", "[options]\n\tstrategy-option = theirs\n\tstrategy-option = subtree=a/b\n", false),
        ("opts", "[options]\n\tstrategy-option = index-output=/x\n", true),
        ("opts", "[options]\n\tstrategy = resolve\n", false),
        ("opts", "[options]\n\tstrategy-option = ours\n\tstrategy = resolve\n", true),
        ("strategy_opts", "", false),
        ("strategy_opts", " --theirs --diff-algorithm=histogram\n", false),
        ("strategy_opts", "\"--ours\" '--find-renames=50%'\n", false),
        ("strategy_opts", "'--index-output=/x'", true),
        ("strategy_opts", "--ours --ind=/x", true),
        ("strategy_opts", "--subtree=a'--index-output=/x'", true),
        ("strategy_opts", "--subtree=a\\ --x", true),
        ("strategy_opts", "-s", true),
        ("autostash", "0123456789abcdef0123456789abcdef01234567\n", false),
        ("autostash", "--x", true),
    ];
    for (name, text, runs) in rows {
        let file = FILES.iter().find(|file| file.name == *name).unwrap();
        assert_eq!(!running(file, text.as_bytes()).is_empty(), *runs, "{name}: {text:?}");
    }
}

#[test]
fn every_state_has_a_file_that_is_inspected() {
    for name in UNFINISHED {
        assert!(FILES.iter().any(|file| file.state == *name), "{name}");
    }
}

/// The length of object names comes from the repository's own settings, in a linked working tree too.
#[test]
fn an_index_with_long_object_names_stays() {
    let workspace = Workspace::new();
    let script = "git init -q --object-format=sha256 . && git -c user.name=A -c user.email=a commit -q --allow-empty -m x && git worktree add -q tree HEAD";
    let run = |script: &str| {
        Command::new("/bin/sh")
            .args(["-c", script])
            .current_dir(workspace.path(""))
            .status()
            .unwrap()
            .success()
    };
    if !run(script) {
        return;
    }
    let snapshot = workspace.capture();
    assert!(run("echo x > f && git add f && cd tree && echo y > g && git add g"));
    assert_eq!(snapshot.remove_new(), []);
    assert!(workspace.path(".git/index").exists() && workspace.path(".git/worktrees/tree/index").exists());
}

/// Links that were in `rr-cache` before stay; new ones do not.
#[test]
fn new_links_among_resolutions_are_removed() {
    let workspace = Workspace::new();
    workspace.write(".git/rr-cache/a/preimage", "");
    symlink("/own", workspace.path(".git/rr-cache/own")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3100));
    let snapshot = workspace.capture();
    symlink("/x", workspace.path(".git/rr-cache/x")).unwrap();
    symlink("/y", workspace.path(".git/rr-cache/a/postimage")).unwrap();
    let removed = snapshot.remove_new();
    let there = |name: &str| workspace.path(".git/rr-cache").join(name).is_symlink();
    assert!(removed.len() == 2 && there("own") && !there("x") && !there("a/postimage"), "{removed:?}");
}
