use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A machine with working trees of every kind, made as git makes them.
struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap().join(path)
    }

    fn directory(&self, path: &str) -> &Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("{top}", self.path("").to_str().unwrap().trim_end_matches('/')))
            .unwrap();
        self
    }

    fn repository(&self, path: &str, settings: &str) -> &Self {
        self.directory(&format!("{path}/objects")).directory(&format!("{path}/refs"));
        self.file(&format!("{path}/HEAD"), "ref: refs/heads/main\n");
        self.file(&format!("{path}/config"), settings)
    }

    /// The answer, without what is the same for all paths.
    fn found(&self, workspace: &str) -> String {
        let top = format!("{}/", self.path("").to_str().unwrap().trim_end_matches('/'));
        format!("{:?}", repository(&self.path(workspace))).replace(&top, "")
    }
}

#[test]
fn plain_ones_lie_inside() {
    let stage = Stage::new();
    stage.directory("ws/.git").directory("ws/sub").directory("other");
    assert_eq!(stage.found("ws"), "Inside(\"ws/.git\")");
    assert_eq!(stage.found("ws/sub"), "Above(\"ws\")");
    assert_eq!(stage.found("other"), "None");
    stage.file("ws/sub/.git", "gitdir: ../.git/modules/sub\n");
    assert_eq!(stage.found("ws/sub"), "Unclaimed(\"ws/sub/../.git/modules/sub\", NotThere)");
}

#[test]
fn a_linked_working_tree_has_to_be_named_by_its_repository() {
    let stage = Stage::new();
    let git = |claims: &str, common: &str| {
        stage.repository("m/.git", "[core]\n\tbare = false\n");
        stage.file("m/.git/worktrees/x/commondir", common).file("m/.git/worktrees/x/gitdir", claims);
        stage.file("m/.git/worktrees/x/HEAD", "ref: refs/heads/x\n");
        stage.file("ws/.git", "gitdir: {top}/m/.git/worktrees/x\n").found("ws")
    };
    assert_eq!(git("{top}/ws/.git\n", "../..\n"), "Outside(\"m/.git\")");
    assert_eq!(git("../../../../ws/.git\n", "../..\n"), "Outside(\"m/.git\")");
    assert_eq!(git("{top}/other/.git\n", "../..\n"), "Unclaimed(\"m/.git\", Another)");
    assert_eq!(git("{top}/ws/sub/.git\n", "../..\n"), "Unclaimed(\"m/.git\", Another)");
    stage.repository("n/.git", "");
    assert_eq!(git("{top}/ws/.git\n", "../../../../n/.git\n"), "Unclaimed(\"n/.git\", Another)");
    assert_eq!(git("{top}/ws/.git\n", "/nowhere\n"), "Unclaimed(\"m/.git/worktrees/x\", NotThere)");
    // A working tree that keeps its own part brings the claim itself.
    stage
        .file("ws/.git", "gitdir: .own/worktrees/x\n")
        .file("ws/.own/worktrees/x/commondir", "{top}/m/.git\n");
    stage.file("ws/.own/worktrees/x/gitdir", "{top}/ws/.git\n");
    assert_eq!(stage.found("ws"), "Inside(\"ws/.own/worktrees/x\")");
}

#[test]
fn a_repository_elsewhere_names_the_working_tree_or_nobody() {
    let rows = [
        ("m/.git/modules/a", "[core]\nworktree = ../../../../ws\n", "Outside(\"m/.git/modules/a\")"),
        ("m/.git/modules/a", "[core]\nworktree = {top}/other\n", "Unclaimed(\"m/.git/modules/a\", Another)"),
        ("m/.git/modules/a", "[core]\nbare = false\n", "Unclaimed(\"m/.git/modules/a\", Another)"),
        ("git/a", "[core]\nbare = false\n", "Outside(\"git/a\")"),
        ("git/a", "[core]\nbare = true\n", "Unclaimed(\"git/a\", Another)"),
        ("git/a", "[core]\nworktree = /\n", "Unclaimed(\"git/a\", Another)"),
        ("git/a", "[include]\npath = x\n", "Unclaimed(\"git/a\", Unsure)"),
        ("git/a", "[core\n", "Unclaimed(\"git/a\", Unsure)"),
        ("other/.git", "[core]\nbare = false\n", "Unclaimed(\"other/.git\", Another)"),
        ("git/a", "[extensions]\nworktreeConfig\n", "Outside(\"git/a\")"),
    ];
    for (path, settings, expected) in rows {
        let stage = Stage::new();
        stage.directory("other").directory("ws").repository(path, settings);
        stage.file("ws/.git", &format!("gitdir: {{top}}/{path}\n"));
        assert_eq!(stage.found("ws"), expected, "{settings}");
        fs::remove_file(stage.path("ws/.git")).unwrap();
        symlink(stage.path(path), stage.path("ws/.git")).unwrap();
        assert_eq!(stage.found("ws"), expected, "by a link: {settings}");
    }
}

#[test]
fn what_lies_in_another_working_tree_may_be_a_part_of_it() {
    let stage = Stage::new();
    stage.directory("other/.git").repository("other/build/repo", "[core]\nbare = false\n");
    stage.file("ws/.git", "gitdir: {top}/other/build/repo\n");
    assert_eq!(stage.found("ws"), "Unclaimed(\"other/build/repo\", Unsure)");
}

#[test]
fn nothing_odd_is_followed_or_waited_for() {
    let stage = Stage::new();
    stage.directory("ws").repository("git/a", "[core]\nbare = false\n");
    for text in ["", "gitdir: ", "gitdir: \n", "gitdir:x\n", "gitdir: a\0b\n"] {
        assert_eq!(stage.file("ws/.git", text).found("ws"), "None", "{text:?}");
    }
    stage.file("ws/.git", &format!("gitdir: {}\n", "a/".repeat(1 << 20)));
    assert_eq!(stage.found("ws"), "None");
    fs::remove_file(stage.path("ws/.git")).unwrap();
    rustix::fs::mknodat(CWD, stage.path("ws/.git"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert_eq!(stage.found("ws"), "None");
    // The settings of a repository are not read through a link.
    stage.file("real", "[core]\nbare = false\n").repository("git/b", "");
    fs::remove_file(stage.path("git/b/config")).unwrap();
    symlink(stage.path("real"), stage.path("git/b/config")).unwrap();
    fs::remove_file(stage.path("ws/.git")).unwrap();
    stage.file("ws/.git", "gitdir: {top}/git/b\n");
    assert_eq!(stage.found("ws"), "Unclaimed(\"git/b\", Unsure)");
}
