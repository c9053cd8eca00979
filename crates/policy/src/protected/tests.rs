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

/// Verdicts when a file is made, a directory is made, and something is put there.
#[test]
fn names_in_a_tree() {
    let rows = [
        ("src/main.rs", "---"),
        (".envrc", "K-K"),
        ("a/b/.ENVRC", "K-K"),
        ("a/.vscode", "K-K"),
        ("a/.vscode/settings.json", "K-K"),
        (".github", "--K"),
        (".github/dependabot.yml", "---"),
        (".github/workflows", "K-K"),
        ("x/.github/workflows/ci.yml", "K-K"),
        (".cargo", "--K"),
        (".cargo/config.toml", "K-K"),
        (".cargo/bin", "---"),
        ("node_modules/a/.vscode/settings.json", "---"),
        ("node_modules/a/.git", "P-K"),
        (".vscode/node_modules/x", "K-K"),
        (".yarnrc.yml", "K-K"),
        ("a/My.Code-Workspace", "K-K"),
        (".code-workspac", "---"),
        (".hg", "--K"),
        (".hg/hgrc-not-shared", "K-K"),
        (".hg/store/data", "---"),
        ("tools/bazel", "K-K"),
        ("tools/bazel.sh", "---"),
        ("lefthook.yml", "K-K"),
        ("lefthook", "---"),
        (".aider.chat.history.md", "---"),
        (".husky/_/pre-commit", "K-K"),
        ("claude.md", "K-K"),
        (".claude.json", "---"),
        ("vendor/x/.github/workflows/ci.yml", "---"),
        (".yarn", "--K"),
        (".yarn/cache/x.zip", "---"),
        (".pnp.cjs", "---"),
        (".config/app/settings.json", "---"),
        ("Makefile", "---"),
        ("bare/rebase-merge/git-rebase-todo", "---"),
        ("bare/sequencer/todo", "---"),
        ("bare/info", "--r"),
        (".git", "P-K"),
        ("sub/.git", "P-K"),
        (".git/HEAD", "---"),
        (".git/index.lock", "---"),
        (".git/config", "SSS"),
        (".git/config.lock", "---"),
        (".git/hooks", "K-K"),
        (".git/hooks/pre-commit.sample", "-KK"),
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
        (".git/modules/a/config", "SSS"),
        (".git/modules/config/x", "KKK"),
        (".git/modules/a/b/hooks/post-checkout", "KKK"),
        (".git/modules/a/HEAD", "ccc"),
        (".git/modules/a/refs/heads/config", "---"),
        (".git/modules/a/refs/x/HEAD", "ccc"),
        (".git/worktrees/refs", "ccK"),
        (".git/modules/a/objects/info/alternates", "KKK"),
        (".git/modules/objects/x/HEAD", "ccc"),
        (".git/modules/a/refs/x/refs", "ccc"),
        ("x/HEAD", "ccc"),
        ("x/refs", "ccc"),
        ("x/config", "rrr"),
        ("src/hooks/use.ts", "rrr"),
        ("x.git/info/attributes", "rrr"),
    ];
    check_in_tree(&rows);
}

/// Old files of remotes, and what is only called like them.
#[test]
fn remotes_in_a_tree() {
    check_in_tree(&[
        // Older versions of git make an empty `branches`.
        (".git/branches", "K-K"),
        (".git/branches/origin", "KKK"),
        (".git/remotes", "K-K"),
        (".git/Remotes/a/b", "KKK"),
        (".git/refs/remotes/origin/main", "---"),
        (".git/refs/heads/branches", "---"),
        (".git/logs/refs/remotes/origin/main", "---"),
        (".git/worktrees/x/remotes/origin", "KKK"),
        (".git/modules/a/remotes/origin", "KKK"),
        (".git/modules/a/branches", "K-K"),
        (".git/modules/a/hooks", "K-K"),
        (".git/modules/hooks/branches", "KKK"),
        (".git/modules/a/branches/x", "KKK"),
        (".git/modules/a/refs/remotes/origin/main", "---"),
        ("x.git/remotes/origin", "rrr"),
        ("src/branches/a.rs", "rrr"),
    ]);
}

/// Each path with a letter for a file, for a directory and for what is put there.
fn check_in_tree(rows: &[(&str, &str)]) {
    let all = Protected::all();
    for (path, expected) in rows {
        let said: String = [Act::File, Act::Directory, Act::Placed]
            .into_iter()
            .map(|act| letter(all.judge(Ground::Tree, Path::new(path), act)))
            .collect();
        assert_eq!(said, *expected, "{path}");
    }
}

#[test]
fn what_is_left_out_is_free() {
    let mut names = Protected::all();
    assert!(names.leave_out(".vscode/") && !names.leave_out(".vscodium"));
    let judged = |path: &str| letter(names.judge(Ground::Tree, Path::new(path), Act::File));
    assert_eq!((judged(".vscode/x"), judged(".idea/x")), ('-', 'K'));
}

/// State of an unfinished operation of git may be written at paths that are looked at afterwards, and at no others.
#[test]
fn what_is_unfinished() {
    let rows = [
        (".git/rebase-merge/git-rebase-todo", true, false),
        ("a/b/.git/rebase-merge/git-rebase-todo", true, false),
        ("a/b/c/.git/rebase-merge/git-rebase-todo", true, true),
        ("a/b/c/.git/rebase-apply", true, true),
        ("a/b/c/.git/worktrees/x/sequencer/opts", true, true),
        ("a/b/c/.git/modules/x/y/rebase-merge/done", true, true),
        ("node_modules/.git/rebase-merge/done", true, true),
        (".git/worktrees/x/REBASE-MERGE/done", true, false),
        (".git/modules/x/y/rebase-merge/done", true, false),
        ("a/b/c/.git/refs/heads/rebase-merge", false, false),
        ("a/b/c/.git/index", false, false),
        ("rebase-merge/git-rebase-todo", false, false),
    ];
    let all = Protected::all();
    for (path, unfinished, kept) in rows {
        let path = Path::new(path);
        assert_eq!(all.unfinished(Ground::Tree, path).is_some(), unfinished, "{path:?}");
        let verdict = all.judge(Ground::Tree, path, Act::File);
        assert_eq!(matches!(verdict, Verdict::Kept(_)), kept, "{path:?}: {verdict:?}");
    }
    assert!(all.unfinished(Ground::Repository, Path::new("sequencer/opts")).is_some());
    // Mounting them read-only would end every rebase.
    assert!(all.in_repository().all(|name| !UNFINISHED.contains(&name)));
    let mut free = Protected::all();
    assert!(free.leave_out(".git/rebase-merge"));
    assert_eq!(free.unfinished(Ground::Tree, Path::new(".git/rebase-merge/done")), None);
}

#[test]
fn what_is_exempt() {
    let rows = [
        ("src/a", false),
        ("node_modules", true),
        ("a/node_modules/b", true),
        ("a/.git/b", true),
        ("git", false),
    ];
    for (path, expected) in rows {
        assert_eq!(Protected::is_exempt(Ground::Tree, Path::new(path)), expected, "{path}");
        assert!(Protected::is_exempt(Ground::Repository, Path::new(path)));
    }
}

#[test]
fn what_lies_among_modules() {
    let rows = [
        (".git/modules/a/b", true),
        ("x/.GIT/MODULES/a", true),
        (".git/modules", false),
        ("modules/a", false),
        (".git/x/modules/a", false),
    ];
    for (path, expected) in rows {
        assert_eq!(Protected::is_in_modules(Ground::Tree, Path::new(path)), expected, "{path}");
    }
    assert!(Protected::is_in_modules(Ground::Repository, Path::new("modules/a")));
}

#[test]
fn every_row_has_a_reason_and_stands_once() {
    let mut seen = BTreeSet::new();
    for row in ROWS {
        assert!(row.because.len() > 10 && seen.insert(row.name), "{}", row.name);
    }
}

/// The look-up by the first component finds what trying every row finds.
mod law {
    use super::*;
    use proptest::prelude::*;

    fn plainly(parts: &[&[u8]], act: Act) -> bool {
        let rows = || ROWS.iter().filter(|row| !is_of_git(row));
        let below = |row: &ProtectedName| parts.windows(row.parts.len()).any(|run| fits(row.parts, run));
        let above = |row: &ProtectedName| {
            let counts = 1..row.parts.len().min(parts.len() + 1);
            act == Act::Placed
                && counts.into_iter().any(|count| fits(&row.parts[..count], &parts[parts.len() - count..]))
        };
        rows().any(|row| below(row) || above(row))
    }

    fn part() -> impl Strategy<Value = String> {
        let known: Vec<String> =
            ROWS.iter().flat_map(|row| row.parts).map(|part| part.replace('*', "x")).collect();
        prop_oneof![
            proptest::sample::select(known.clone()),
            proptest::sample::select(known).prop_map(|name| name.to_uppercase()),
            "[.a-z]{1,8}"
        ]
    }

    proptest! {
        #[test]
        fn every_row_counts(path in proptest::collection::vec(part(), 1..5), placed: bool) {
            let act = if placed { Act::Placed } else { Act::File };
            let parts: Vec<&[u8]> = path.iter().map(String::as_bytes).collect();
            let found = (0..parts.len()).any(|at| from(&parts[at..], act, &|_| true).is_some());
            prop_assert_eq!(found, plainly(&parts, act), "{:?}", path);
        }

        #[test]
        fn any_path_is_judged(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let path = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&bytes);
            for ground in [Ground::Tree, Ground::Repository] {
                for act in [Act::File, Act::Directory, Act::Placed] {
                    prop_assert_eq!(
                        Protected::all().judge(ground, Path::new(path), act),
                        Protected::all().judge(ground, Path::new(path), act)
                    );
                }
            }
        }
    }
}
