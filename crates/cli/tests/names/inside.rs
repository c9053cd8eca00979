//! Files that a command can leave in a repository for git outside.

use super::*;

fn has_git() -> bool {
    let there = Command::new("git").arg("--version").output().is_ok();
    if !there {
        skip::skipped("names in repositories", "git is not installed");
    }
    there
}

#[test]
fn no_directory_moves_between_the_lookup_of_a_name_and_its_use() {
    if !has_python() || !has_git() {
        return;
    }
    let place = Place::new();
    place.outside("git init -q --bare holder/bare; rm -f holder/bare/hooks/*");
    let ended = place.script("races.py", include_str!("races.py"), &[]);
    let said = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    assert!(said.contains("end\n") && !said.contains("won"), "{said}");
}

/// Runs each row in a new place: a command in the jail, and true if it succeeds.
fn check(prepare: &str, rows: &[(&str, bool)]) {
    if !has_git() {
        return;
    }
    for (script, expected) in rows {
        let place = Place::new();
        place.outside(prepare);
        let ended = place.run(&["/bin/sh", "-ec", script]);
        assert_eq!(ended.status.success(), *expected, "{script}: {}", text(&ended.stderr));
    }
}

/// Git outside would write through a link to any target.
#[test]
fn no_link_gets_into_a_repository() {
    check(
        "git init -q; git init -q --bare bare; mkdir -p sub dir; ln -s ../victim dir/link; ln -s x .git/old; ln -s ../victim link",
        &[
            ("ln -s ../../victim .git/COMMIT_EDITMSG", false),
            ("mkdir -p .git/logs; ln -s ../../../victim .git/logs/HEAD", false),
            ("ln -s ../../victim .git/FETCH_HEAD", false),
            ("ln -s ../../victim .git/index", false),
            ("ln -s ../../victim .git/packed-refs", false),
            ("mv .git/refs/heads .git/refs/old; ln -s ../../../victim .git/refs/heads", false),
            ("mkdir .git/lfs; ln -s ../../../victim .git/lfs/tmp", false),
            ("ln -s ../../victim bare/FETCH_HEAD", false),
            ("ln -s ../../../victim bare/refs/heads/x", false),
            ("rm -r bare/refs; ln -s ../../victim bare/FETCH_HEAD", false),
            ("mv link .git/FETCH_HEAD", false),
            ("mv link bare/FETCH_HEAD", false),
            ("ln -P link .git/FETCH_HEAD", false),
            ("ln -P link bare/FETCH_HEAD", false),
            ("mv .git/old .git/FETCH_HEAD", false),
            ("python3 -c 'import os; os.rename(\"dir\", \".git/logs\")'", false),
            ("python3 -c 'import os; os.rename(\"dir\", \"bare/logs\")'", false),
            // Git itself creates this link to detect support for symbolic links.
            ("ln -s testing .git/tAbC012; rm .git/tAbC012", true),
            ("ln -s testing .git/tAbC012; mv .git/tAbC012 .git/index", false),
            ("ln -s testing .git/testing", false),
            ("ln -s testing .git/refs/tAbC012", false),
            ("git init -q new; ! grep symlinks new/.git/config", true),
            (
                "ln -s ../victim sub/link; mv link sub/other; mv dir sub/dir; mv .git/refs/heads .git/refs/old",
                true,
            ),
            ("echo x > sub/f; mv sub/f .git/f; ln .git/f .git/g; mv .git/f bare/f; ln .git/g bare/g", true),
        ],
    );
}

#[test]
fn repositories_of_any_name_and_their_working_trees_stay_where_they_are() {
    check(
        "git init -q --bare .bare; echo 'gitdir: ./.bare' > .git; mkdir -p .bare/worktrees/main evil/a plain/b
         echo ../.. > .bare/worktrees/main/commondir; echo ref: refs/heads/x > .bare/worktrees/main/HEAD",
        &[
            ("mv .bare/worktrees/main evil/a/b", false),
            ("mv .bare/worktrees evil/a/b", false),
            ("mv evil/a .bare/worktrees/other", false),
            ("rm -r .bare/worktrees/main; ln -s ../../evil/a .bare/worktrees/main", false),
            ("rm -r .bare/worktrees/main; mv evil/a .bare/worktrees/main", false),
            ("mv .bare moved", false),
            ("rm -r .bare/refs; mv .bare moved", false),
            ("rm -r .bare/worktrees/main; mv plain moved; mkdir .bare/x; mv .bare/x .bare/y", true),
        ],
    );
}

/// A line that ends in a backslash continues on the next line.
#[test]
fn nothing_is_put_into_a_value_of_several_lines() {
    let to = "mv .git/config.lock .git/config";
    check(
        "git init -q; printf '[alias]\\n\\tup = !git fetch \\\\\\n\\n[user]\\n\\tname = n\\n' >> .git/config",
        &[
            (
                &format!(
                    "sed '/fetch/a [branch \"; touch PWNED ; : \"]' .git/config > .git/config.lock; {to}"
                ),
                false,
            ),
            (&format!("(cat .git/config; echo '[branch \"x\"]') > .git/config.lock; {to}"), false),
        ],
    );
    check(
        "git init -q",
        &[(&format!("(cat .git/config; echo '[branch \"x\"]') > .git/config.lock; {to}"), true)],
    );
}

/// The settings are the user's, and git runs the files that they name as soon as they exist.
#[test]
fn nothing_is_made_where_settings_name_something() {
    check(
        "git init -q; git config core.hooksPath tools/hooks; git config core.fsmonitor './bin/watch -v'
         git config include.path ../project.gitconfig; git config alias.x '!sh scripts/x.sh'; git config alias.y 'log a/b'
         git config core.attributesFile attr; git config filter.f.clean 'python3 lib/clean.py %f'; mkdir made",
        &[
            ("mkdir -p tools/hooks", true),
            ("mkdir tools; echo x > tools/hooks", false),
            ("mkdir -p made/hooks; echo x > made/hooks/x; mv made tools", false),
            ("ln -s made tools", false),
            ("mkdir tools; echo x > made/x; mv made tools/hooks", false),
            ("mkdir bin; echo x > bin/watch", false),
            ("mkdir bin; echo x > y; mv y bin/WATCH", false),
            ("echo x > project.gitconfig", false),
            ("mkdir scripts; echo x > scripts/x.sh", false),
            ("echo x > attr", false),
            ("mkdir lib; echo x > y; ln y lib/clean.py", false),
            ("mkdir tools bin a; echo x > tools/x; echo x > bin/y; echo x > a/b; mkdir log; mv made made2", true),
            ("mkdir lib scripts; echo x > lib/x; echo x > scripts/y; git status", true),
        ],
    );
}
