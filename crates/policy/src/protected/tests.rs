use super::*;

/// One letter for each verdict.
fn letter(verdict: Verdict) -> char {
    match verdict {
        Verdict::Free => '-',
        Verdict::Kept(_) => 'K',
        Verdict::KeptInRepository { .. } => 'r',
        Verdict::KeptIfComplete(_) => 'c',
        Verdict::Pointer(_) => 'P',
        Verdict::Common(_) => 'C',
        Verdict::Settings(_) => 'S',
    }
}

/// What is said when a file is made, a directory is made, and something is put there.
#[test]
fn names_in_a_tree() {
    let rows = [
        ("src/main.rs", "---"),
        (".envrc", "KKK"),
        ("a/b/.ENVRC", "KKK"),
        ("a/.vscode", "KKK"),
        ("a/.vscode/settings.json", "KKK"),
        (".github", "--K"),
        (".github/dependabot.yml", "---"),
        (".github/workflows", "KKK"),
        ("x/.github/workflows/ci.yml", "KKK"),
        (".cargo", "--K"),
        (".cargo/config.toml", "KKK"),
        (".cargo/bin", "---"),
        ("node_modules/a/.vscode/settings.json", "---"),
        ("node_modules/a/.git", "PKK"),
        (".vscode/node_modules/x", "KKK"),
        (".yarnrc.yml", "KKK"),
        ("Makefile", "---"),
        (".git", "PKK"),
        ("sub/.git", "PKK"),
        (".git/HEAD", "---"),
        (".git/index.lock", "---"),
        (".git/config", "SSS"),
        (".git/config.lock", "---"),
        (".git/hooks", "KKK"),
        (".git/hooks/pre-commit", "KKK"),
        ("sub/.GIT/hooks/pre-commit", "KKK"),
        (".git/info", "--K"),
        (".git/info/exclude", "---"),
        (".git/info/attributes", "KKK"),
        (".git/objects", "--K"),
        (".git/objects/ab/cd", "---"),
        (".git/objects/info/alternates", "KKK"),
        (".git/objects/info/commit-graph", "---"),
        (".git/refs/heads/config", "---"),
        (".git/refs/remotes/origin/HEAD", "ccc"),
        (".git/commondir", "KKK"),
        (".git/worktrees/x", "--K"),
        (".git/worktrees/x/commondir", "CCC"),
        (".git/worktrees/x/HEAD", "---"),
        (".git/worktrees/x/gitdir", "---"),
        (".git/worktrees/x/config.worktree", "KKK"),
        (".git/modules/a/config", "KKK"),
        (".git/modules/a/b/hooks/post-checkout", "KKK"),
        (".git/modules/a/HEAD", "ccc"),
        (".git/modules/a/refs/heads/config", "---"),
        (".git/modules/a/objects/info/alternates", "KKK"),
        ("x/HEAD", "ccc"),
        ("x/refs", "ccc"),
        ("x/config", "rrr"),
        ("src/hooks/use.ts", "rrr"),
        ("x.git/info/attributes", "rrr"),
    ];
    let all = Protected::all();
    for (path, expected) in rows {
        let said: String = [Act::File, Act::Directory, Act::Placed]
            .into_iter()
            .map(|act| letter(all.judge(Ground::Tree, Path::new(path), act)))
            .collect();
        assert_eq!(said, expected, "{path}");
    }
}

#[test]
fn what_is_left_out_is_free() {
    let mut names = Protected::all();
    assert!(names.leave_out(".vscode/") && !names.leave_out(".vscodium"));
    let judged = |path: &str| letter(names.judge(Ground::Tree, Path::new(path), Act::File));
    assert_eq!((judged(".vscode/x"), judged(".idea/x")), ('-', 'K'));
}

#[test]
fn every_row_has_a_reason_and_stands_once() {
    let mut seen = BTreeSet::new();
    for row in ROWS {
        assert!(row.because.len() > 10 && seen.insert(row.name), "{}", row.name);
    }
}
