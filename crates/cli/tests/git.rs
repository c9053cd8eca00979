//! Git inside a jail works in every kind of repository; git outside runs nothing afterwards that was not there before.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use stage::{Ended, Stage, ended, skipped};

/// Everyday commands of git. Every step has to work.
const DAY: &str = r#"
set -e
git status --short
echo one > one && git add one && git commit -qm one
git branch side && git switch -q side
echo two > two && git add two && git commit -qm two
git switch -q -
echo three > three && git add three && git commit -qm three
git merge -q -m merged side
git switch -q -c other HEAD~1
echo four > four && git add four && git commit -qm four
git rebase -q -
echo more >> one && git stash -q && git stash pop -q && git checkout -q one
git tag light && git tag -a -m heavy heavy
git worktree add -q ./second
(cd second && echo five > five && git add five && git commit -qm five && git status --short)
git worktree remove second
git branch --set-upstream-to=side other
git fetch -q . side
git gc -q
test "$(git log --oneline | wc -l)" -ge 5
echo done
"#;

/// A stage with git's settings in its home; nothing where git or a jail is missing.
fn staged() -> Option<Stage> {
    if Command::new("git").arg("--version").output().is_err() {
        skipped("git in a jail", "there is no git");
        return None;
    }
    let stage = Stage::new()?;
    let settings = "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n";
    fs::write(stage.path("home/.gitconfig"), settings).unwrap();
    Some(stage)
}

/// A script outside, as the user.
fn outside(stage: &Stage, directory: &str, script: &str) -> String {
    let mut command = Command::new("/bin/sh");
    stage.surround(&mut command).args(["-ec", script]).current_dir(stage.path(directory));
    let ended = ended(&mut command);
    assert_eq!(ended.code, Some(0), "{script}: {ended:?}");
    ended.out
}

fn inside(stage: &Stage, directory: &str, options: &str, script: &str) -> Ended {
    let mut command = stage.unseen(options, script);
    ended(command.current_dir(stage.path(directory)))
}

const COMMIT: &str = "echo a > a && git add a && git commit -qm first";

#[test]
fn a_day_with_git_in_every_kind_of_repository() {
    let Some(stage) = staged() else { return };
    let plain = |name: &str| {
        outside(&stage, "", &format!("git init -q {name} && cd {name} && {COMMIT}"));
    };
    plain("plain");
    plain("main");
    outside(&stage, "main", "git worktree add -q ../linked");
    outside(&stage, "", &format!("git init -q --separate-git-dir kept apart && cd apart && {COMMIT}"));
    plain("library");
    plain("super");
    outside(&stage, "super", "git submodule -q add ../library sub && git commit -qm sub");
    plain("project");
    symlink(stage.path("project"), stage.path("alias")).unwrap();
    for directory in ["plain", "linked", "apart", "super/sub", "alias"] {
        let ended = inside(&stage, directory, "", DAY);
        assert!(ended.out.ends_with("done\n"), "{directory}: {ended:?}");
        assert!(!ended.err.contains("note:"), "{directory}: {ended:?}");
        outside(&stage, directory, "git fsck --no-progress && git status --short && git log -1 --format=%s");
    }
    assert_eq!(outside(&stage, "main", "git log -1 --format=%s linked"), "merged\n");
}

#[test]
fn root_works_in_the_repository_of_somebody_else() {
    let Some(stage) = staged() else { return };
    if !rustix::process::geteuid().is_root() {
        return skipped("root in a repository of somebody else", "only root can make one");
    }
    fs::set_permissions(stage.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    outside(
        &stage,
        "",
        &format!("git init -q theirs && cd theirs && {COMMIT} && git worktree add -q ../tree"),
    );
    outside(&stage, "", "chown -R 12345:12345 theirs tree");
    for directory in ["theirs", "tree"] {
        let ended = inside(
            &stage,
            directory,
            "",
            "git status --short && echo x > x && git add x && git commit -qm x && echo done",
        );
        assert!(ended.out.ends_with("done\n"), "{directory}: {ended:?}");
        assert_eq!(fs::metadata(stage.path(directory).join("x")).unwrap().uid(), 12345, "{directory}");
    }
}

#[test]
fn the_repository_of_another_is_not_given_to_who_names_it() {
    let Some(stage) = staged() else { return };
    outside(&stage, "", &format!("git init -q victim && cd victim && {COMMIT}"));
    outside(&stage, "victim", "git worktree add -q ../theirs");
    for text in ["../victim/.git", "../victim/.git/worktrees/theirs"] {
        fs::write(stage.path("ws/.git"), format!("gitdir: {text}\n")).unwrap();
        let ended = inside(&stage, "ws", "", "git status; ls -d ../victim/.git; true");
        assert!(ended.err.contains("is not shown: it does not name this workspace"), "{ended:?}");
        assert!(!ended.out.contains("victim"), "{ended:?}");
    }
    let above = ended(
        stage
            .command()
            .current_dir(stage.path("victim"))
            .args(["run", "--workspace", "."])
            .args(["--", "git", "status"]),
    );
    assert_eq!(above.code, Some(0), "{above:?}");
    fs::create_dir(stage.path("victim/part")).unwrap();
    let mut below = stage.command();
    let below = ended(below.current_dir(stage.path("victim/part")).args(["run", "--", "git", "status"]));
    assert!(below.err.contains("git finds nothing inside"), "{below:?}");
}

#[test]
fn what_a_person_leaves_out_may_be_changed() {
    let Some(stage) = staged() else { return };
    fs::write(stage.path("ws/.tool-versions"), "old\n").unwrap();
    let script =
        "echo new > .tool-versions; mkdir -p .vscode && echo x > .vscode/x; cat .tool-versions .vscode/x";
    let held = inside(&stage, "ws", "--explain-denials", script);
    assert_eq!(held.out, "old\n", "{held:?}");
    assert!(held.err.contains("`.tool-versions` is protected"), "{held:?}");
    assert!(held.err.contains("--unprotect .vscode"), "{held:?}");
    let free = inside(&stage, "ws", "--unprotect .tool-versions --unprotect .vscode", script);
    assert_eq!(free.out, "new\nx\n", "{free:?}");
    let unknown = inside(&stage, "ws", "--unprotect CLAUD.md", "true");
    assert!(unknown.err.contains("do you mean `CLAUDE.md`?"), "{unknown:?}");
    assert_eq!(unknown.code, Some(64), "{unknown:?}");
}

#[test]
fn a_protected_name_that_changes_meanwhile_is_told_and_recorded() {
    let Some(stage) = staged() else { return };
    fs::create_dir(stage.path("ws/deep")).unwrap();
    let script = "echo > started; while [ ! -e go ]; do sleep 0.05; done; exit 3";
    let mut child = stage.unseen("", script).stderr(std::process::Stdio::piped()).spawn().unwrap();
    assert!(stage::within(stage::LONG, || stage.path("ws/started").exists()));
    // A program outside does it: nothing inside can.
    fs::write(stage.path("ws/deep/.env\u{1b}rc"), "x").unwrap();
    fs::write(stage.path("ws/deep/.envrc"), "x").unwrap();
    fs::write(stage.path("ws/go"), "").unwrap();
    let code = stage::end_of(&mut child).code();
    let mut told = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut told).unwrap();
    assert_eq!(code, Some(3), "{told}");
    assert!(
        told.contains("warning[RF-J013]: ") && told.contains("deep/.envrc has changed while the command ran"),
        "{told}"
    );
    assert_eq!(told.matches("RF-J013").count(), 1, "{told}");
    let shown = ended(stage.command().args(["audit", "show"]));
    assert!(shown.out.contains("jail.tripped"), "{shown:?}");
}

/// Everything a hostile program could try to plant, by the table: every way to make a name, at the top and further down.
fn plant(names: &[String]) -> String {
    let ways = |name: &String| {
        let parent = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty());
        let up = parent.map_or(".".to_owned(), |parent| parent.display().to_string());
        ["", "deep/er/"].map(|top| {
            let (to, up) = (format!("{top}{name}"), format!("{top}{up}"));
            format!(
                "mkdir -p {up}; cp evil {to}; mkdir {to}; cp evil {to}/x; cp evil tmp1; mv -T tmp1 {to}; ln -s evil {to}; \
                 ln evil {to}; cp -r evildir tmp2; mv -T tmp2 {to}; rm -rf tmp1 tmp2\n"
            )
        })
    };
    let begin = "echo '#!/bin/sh\ntouch CANARY' > evil; chmod +x evil; mkdir -p evildir; cp evil evildir/pre-commit\n";
    std::iter::once(begin.to_owned()).chain(names.iter().flat_map(ways)).collect()
}

/// The names of the table as paths that could be made. Those of a repository are tried in one of its own.
fn rows() -> Vec<String> {
    policy::Protected::names().map(|row| row.name.replace('*', "x")).collect()
}

/// Every path below a directory, but for what git keeps of contents.
fn listing(top: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut left = vec![top.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() && !path.ends_with("objects") {
                left.push(path.clone());
            }
            all.push(path.strip_prefix(top).unwrap().to_owned());
        }
    }
    all.sort();
    all
}

#[test]
fn no_name_of_the_table_can_be_planted() {
    let Some(stage) = staged() else { return };
    let rows: Vec<_> = rows().into_iter().filter(|name| name != ".git").collect();
    let canary = stage.path("canary");
    let script = plant(&rows).replace("CANARY", canary.to_str().unwrap());
    fs::write(stage.path("ws/plant.sh"), script).unwrap();
    let ended = inside(&stage, "ws", "", "sh ./plant.sh 2>/dev/null; echo over");
    assert!(ended.out.ends_with("over\n"), "{ended:?}");
    let all = policy::Protected::all().acting();
    for path in listing(&stage.path("ws")) {
        let verdict = all.judge(policy::Ground::Tree, &path, policy::Act::File);
        // Directories are free: programs act on files.
        let planted = match verdict {
            policy::Verdict::Kept(_) | policy::Verdict::Pointer(_) | policy::Verdict::Settings(_) => {
                // Settings of a new repository may be begun, empty.
                let planted = stage.path("ws").join(&path);
                !planted.is_dir() && fs::read(planted).is_ok_and(|text| !text.is_empty())
            }
            _ => false,
        };
        assert!(!planted, "{} was planted", path.display());
    }
}

/// Ways to make git outside run something, each a script inside. `evil` touches the canary.
const TRICKS: &[(&str, &str)] = &[
    (
        "a hook",
        "cp evil .git/hooks/pre-commit; cp evil .git/hooks/post-checkout; cp evil .git/hooks/post-index-change",
    ),
    ("a hook over one that exists", "chmod +w .git/hooks/*; for h in .git/hooks/*; do cat evil > $h; done"),
    (
        "settings by git",
        "git config core.fsmonitor $PWD/evil; git config core.pager $PWD/evil; git config alias.status \"!$PWD/evil\"",
    ),
    (
        "settings of a repository whose own are gone",
        "rm -f .git/config; git config remote.origin.url https://evil.example/x; git config core.fsmonitor $PWD/evil; git init -q",
    ),
    ("settings by hand", "printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" >> .git/config"),
    (
        "settings put in place",
        "cp .git/config c; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" >> c; mv c .git/config; cp c .git/config.lock; mv .git/config.lock .git/config",
    ),
    (
        "settings by a link",
        "cp .git/config c; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" >> c; ln -sf $PWD/c .git/config; ln -f c .git/config",
    ),
    (
        "a directory in its place",
        "mv .git old; cp -r old new; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" >> new/config; mv new .git; mv old .git",
    ),
    ("another .git by mkdir", "rm -rf .git; mkdir .git; cp -r /tmp/x/. .git; git init -q ."),
    ("hooks moved away", "mv .git/hooks .git/h; mkdir .git/hooks; cp evil .git/hooks/pre-commit"),
    (
        "a nested repository",
        "git init -q nested; cp evil nested/.git/hooks/post-checkout; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" >> nested/.git/config; git add nested",
    ),
    (
        "a bare repository",
        "mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/main' > bare/HEAD; printf '[core]\\nbare = false\\nworktree = ..\\nfsmonitor = %s\\n' \"$PWD/evil\" > bare/config",
    ),
    (
        "a bare repository, settings first",
        "mkdir bare2; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" > bare2/config; mkdir bare2/objects bare2/refs; echo 'ref: refs/heads/main' > bare2/HEAD; mv bare2/HEAD bare2/head; mv bare2/head bare2/HEAD",
    ),
    (
        "a bare repository put together elsewhere",
        "mkdir -p /tmp/b/objects /tmp/b/refs; echo 'ref: refs/heads/main' > /tmp/b/HEAD; cp -r /tmp/b bare3; mv /tmp/b bare4",
    ),
    (
        "commondir",
        "echo ../evilcommon > .git/commondir; mkdir -p evilcommon; cp .git/config evilcommon/config; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" >> evilcommon/config",
    ),
    ("a pointer", "mv .git gone; echo 'gitdir: ./bare' > .git; echo 'gitdir: ./bare' > sub/.git"),
    (
        "a pointer of a working tree",
        "mkdir -p .git/worktrees/w; echo $PWD/sub/.git > .git/worktrees/w/gitdir; echo ../../evilcommon > .git/worktrees/w/commondir; echo 'gitdir: ../bare' > sub/.git; printf '[core]\\nfsmonitor = %s\\n' \"$PWD/evil\" > .git/worktrees/w/config.worktree",
    ),
    (
        "attributes",
        "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes; git config filter.evil.clean $PWD/evil; git config filter.evil.smudge $PWD/evil",
    ),
    ("alternates", "mkdir -p .git/objects/info; echo $PWD/x > .git/objects/info/alternates"),
    ("a name that becomes another", "python3 flip.py .git/hooks/pre-commit plain 2>/dev/null"),
];

/// Opens one of two names for writing while another thread changes which it is.
const FLIP: &str = r"
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
a, b = sys.argv[1].encode(), sys.argv[2].encode()
size = max(len(a), len(b)) + 1
buffer = ctypes.create_string_buffer(size)
going = True
def flip():
    while going:
        ctypes.memmove(buffer, b.ljust(size, b'\0'), size)
        ctypes.memmove(buffer, a.ljust(size, b'\0'), size)
thread = threading.Thread(target=flip); thread.start()
evil = open('evil', 'rb').read()
end = time.time() + 2
while time.time() < end:
    fd = libc.openat(-100, buffer, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755)
    if fd >= 0:
        os.write(fd, evil); os.close(fd)
    libc.rename(b'evil2', buffer)
going = False; thread.join()
";

#[test]
fn git_outside_runs_nothing_that_was_planted_inside() {
    let Some(stage) = staged() else { return };
    for (number, (what, trick)) in TRICKS.iter().enumerate() {
        let directory = format!("repo{number}");
        outside(
            &stage,
            "",
            &format!(
                "git init -q {directory} && cd {directory} && mkdir sub && echo s > sub/s && git add sub && {COMMIT}"
            ),
        );
        let canary = stage.path(&format!("canary{number}"));
        let top = stage.path(&directory);
        let evil = format!("#!/bin/sh\ntouch {}\ncat\n", canary.display());
        fs::write(top.join("evil"), evil).unwrap();
        fs::set_permissions(top.join("evil"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(top.join("flip.py"), FLIP).unwrap();
        let before = fs::read(top.join(".git/config")).unwrap();
        let ran = inside(&stage, &directory, "", &format!("{{ {trick}; }} 2>/dev/null; echo over"));
        assert!(ran.out.ends_with("over\n"), "{what}: {ran:?}");
        let script = "git status; git diff; git log -1; git checkout -q -b new; git add -A; git -c user.name=a -c user.email=b@c commit -qm x; \
            git stash; (cd bare && git status); (cd bare2 && git status); (cd bare3 && git status); (cd bare4 && git status); (cd nested && git status); (cd sub && git status); true";
        outside(&stage, &directory, &format!("set +e; {{ {script}; }} </dev/null >/dev/null 2>&1"));
        assert!(!canary.exists(), "{what}: git outside ran what was planted");
        // They may be gone: who may change a directory may empty it. What counts is that nothing else is in their place.
        let after = fs::read(top.join(".git/config"));
        assert!(after.is_err() || after.unwrap() == before, "{what}: the settings are others");
        for hook in
            fs::read_dir(top.join(".git/hooks")).into_iter().flatten().map(|entry| entry.unwrap().path())
        {
            assert!(!fs::read_to_string(&hook).unwrap().contains("canary"), "{what}: {}", hook.display());
        }
    }
}

/// Ways to make git outside fetch from or push to another repository, each a script inside.
const REDIRECTS: &[(&str, &str)] = &[
    (
        "an old file of a remote",
        "mkdir -p .git/remotes; printf 'URL: %s\\nPush: refs/heads/main\\n' $EVIL > .git/remotes/origin; rm -f .git/config",
    ),
    (
        "another old file of a remote",
        "mkdir -p .git/branches; echo $EVIL > .git/branches/origin; rm -f .git/config",
    ),
    (
        "a directory of old files, moved there",
        "mkdir d; printf 'URL: %s\\nPush: refs/heads/main\\n' $EVIL > d/origin; rmdir .git/remotes; mv d .git/remotes; rm -f .git/config",
    ),
    ("a remote that is a path", "git clone -q . lib; git config branch.main.remote lib"),
    ("a remote to push to that is a path", "git clone -q . lib; git config branch.main.pushRemote lib"),
    (
        "an old file of a new remote",
        "mkdir -p .git/remotes; printf 'URL: %s\\nPush: refs/heads/main\\n' $EVIL > .git/remotes/up; git config branch.main.remote up",
    ),
];

#[test]
fn git_outside_goes_where_it_went_before() {
    let Some(stage) = staged() else { return };
    for (number, (what, trick)) in REDIRECTS.iter().enumerate() {
        let (directory, evil, own) =
            (format!("repo{number}"), format!("evil{number}.git"), format!("own{number}.git"));
        outside(
            &stage,
            "",
            &format!(
                "git init -q --bare {own} && git init -q --bare {evil} && git init -q -b main {directory} && cd {directory} && {COMMIT} && \
                 git remote add origin ../{own} && git push -q -u origin main"
            ),
        );
        let evil = stage.path(&evil);
        let script = format!("EVIL={}; {{ {trick}; }} 2>/dev/null; echo over", evil.display());
        let ran = inside(&stage, &directory, "", &script);
        assert!(ran.out.ends_with("over\n"), "{what}: {ran:?}");
        let script = "set +e; git commit -q --allow-empty -m new; git push -q origin main; git push -q; true";
        outside(&stage, &directory, &format!("{{ {script}; }} 2>/dev/null"));
        let refs = outside(&stage, "", &format!("git --git-dir={} for-each-ref", evil.display()));
        assert_eq!(refs, "", "{what}: git outside pushed elsewhere");
        for old in ["remotes", "branches"] {
            let left = fs::read_dir(stage.path(&directory).join(".git").join(old));
            assert_eq!(left.into_iter().flatten().count(), 0, "{what}: .git/{old}");
        }
        let settings = fs::read_to_string(stage.path(&directory).join(".git/config")).unwrap_or_default();
        let others = ["remote = lib", "pushRemote", "remote = up"];
        assert!(!others.iter().any(|other| settings.contains(other)), "{what}: {settings}");
    }
}

/// Files that settings name are closed to the jail, so the jail does not start if they cannot be read.
#[test]
fn settings_that_cannot_be_read_refuse_the_start() {
    let Some(stage) = staged() else { return };
    let script = "git config core.hooksPath dev && mkdir dev && echo true > dev/pre-commit";
    outside(&stage, "", &format!("git init -q repo && cd repo && {COMMIT} && {script}"));
    let (config, hook) = (stage.path("repo/.git/config"), stage.path("repo/dev/pre-commit"));
    let text = fs::read_to_string(&config).unwrap();
    let rows = [("chmod 0 .git/config", "chmod u+r"), ("echo [core >> .git/config", "git config --file")];
    for (spoil, hint) in rows {
        outside(&stage, "repo", spoil);
        if hint.starts_with("chmod") && rustix::process::geteuid().is_root() {
            skipped("settings without permission to read them", "root can read them");
        } else {
            let ran = inside(&stage, "repo", "", "echo evil > dev/pre-commit; echo ran");
            assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{spoil}: {ran:?}");
            assert!(ran.err.contains("RF-J001") && ran.err.contains(hint), "{spoil}: {ran:?}");
            assert_eq!(fs::read_to_string(&hook).unwrap(), "true\n", "{spoil}");
        }
        fs::set_permissions(&config, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&config, &text).unwrap();
    }
    let ran = inside(&stage, "repo", "", "echo evil > dev/pre-commit; echo ran");
    assert_eq!(ran.out, "ran\n", "{ran:?}");
    assert_eq!(fs::read_to_string(&hook).unwrap(), "true\n");
}

#[test]
fn settings_that_a_command_removed_are_told() {
    let Some(stage) = staged() else { return };
    outside(
        &stage,
        "",
        &format!("git init -q repo && cd repo && {COMMIT} && git config commit.gpgSign true"),
    );
    let ran = inside(&stage, "repo", "", "rm .git/config; echo over");
    assert_eq!(ran.out, "over\n", "{ran:?}");
    assert!(ran.err.contains("RF-J013") && ran.err.contains(".git/config has changed"), "{ran:?}");
    assert!(ran.err.contains("it was removed"), "{ran:?}");
}

/// The other half: without a jail the canary sings, so that its silence means something.
#[test]
fn without_a_jail_the_canary_sings() {
    let Some(stage) = staged() else { return };
    outside(&stage, "", &format!("git init -q free && cd free && {COMMIT}"));
    let canary = stage.path("canary");
    outside(
        &stage,
        "free",
        &format!(
            "printf '#!/bin/sh\\ntouch {}\\n' > evil; chmod +x evil; cp evil .git/hooks/pre-commit; echo x > x; git add x; git commit -qm x",
            canary.display()
        ),
    );
    assert!(canary.exists());
}
