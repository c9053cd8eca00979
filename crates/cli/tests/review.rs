//! Review of an agent's work of an hour: it is short, and `apply` takes the parts that the person chooses.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod overlaid;

use std::fs;

use overlaid::{AUTHOR, Stage, tree, works};
use serde_json::Value;

/// Creates a repository with ignored build output.
fn project(stage: &Stage) {
    fs::create_dir_all(stage.ws("src")).unwrap();
    let lines: Vec<_> = (1..=60).map(|line| format!("\tline {line}\n")).collect();
    for name in ["a", "b", "c", "d", "e", "moved"] {
        fs::write(stage.ws("src").join(format!("{name}.rs")), format!("// {name}\n{}", lines.concat()))
            .unwrap();
    }
    fs::write(stage.ws(".gitignore"), "/target/\n*.log\n").unwrap();
    stage.commit_all();
}

/// Makes three commits, thousands of objects, 2,000 files of build output, a rename and five edited files.
const HOUR: &str = r#"
    mkdir -p target/debug data; i=0
    while [ $i -lt 2000 ]; do echo $i >target/debug/$i.o; i=$((i+1)); done
    i=0; while [ $i -lt 2100 ]; do echo "data $i" >data/$i; i=$((i+1)); done
    git add data; git commit -qm 'data: add samples'; git rm -rq data; git commit -qm 'data: remove samples'
    for name in a b c d e; do sed -i 's/line 7$/line seven/; s/line 50$/line fifty/' src/$name.rs; done
    git mv src/moved.rs src/parser.rs; sed -i 's/line 3$/line three/' src/parser.rs
    git commit -qam 'parser: split'; echo done >build.log
"#;

/// The review fits on one screen, and `apply` produces exactly the state that the command left.
#[test]
fn an_hour_of_work_fits_on_a_screen() {
    if !works("a review of many changes") {
        return;
    }
    let stage = Stage::new();
    project(&stage);
    stage.changed(&format!("{AUTHOR} {HOUR} git rev-parse HEAD >commit.log; rm data -rf"));
    let before = tree(&stage.path("ws"), true);
    let review = stage.ringfence("review --stat");
    assert_eq!(tree(&stage.path("ws"), true), before);
    assert!(review.out.lines().count() <= 40, "{}", review.out);
    for line in [
        "git     .git: 3 commits, 2,1",
        ", 3 commits\n",
        "changed src/a.rs: 536 -> 543 bytes, +2 -2\n",
        "renamed src/moved.rs -> src/parser.rs, 97% alike, +1 -1\n",
        "ignored target/: 2,000 files, 8.6 KiB (2,000 added)\n",
        "ignored build.log: 1 file, 5 bytes (1 added)\n",
    ] {
        assert!(review.out.contains(line), "{line:?} in {}", review.out);
    }
    let heading = review.out.lines().next().unwrap();
    assert_eq!(heading, "overlay ID of /stage/ws, ended, 6 changed, 3 commits, 2,002 ignored");
    let listed = |word: &str| review.out.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((listed("changed"), listed("renamed"), listed("added"), listed("removed")), (5, 1, 0, 0));

    let applied = stage.ringfence("apply");
    assert_eq!((applied.code, applied.err.as_str(), stage.ids()), (0, "", vec![]), "{applied:?}");
    stage.git("fsck --strict");
    assert_eq!(stage.git("status --porcelain"), "");
    assert_eq!(stage.git("log --format=%s").lines().collect::<Vec<_>>().len(), 4);
    assert_eq!(stage.git("rev-parse HEAD"), fs::read_to_string(stage.ws("commit.log")).unwrap());
    assert_eq!(fs::read_dir(stage.ws("target/debug")).unwrap().count(), 2000);
    assert!(!stage.ws("src/moved.rs").exists() && !stage.ws("data").exists());
    assert_eq!(stage.git("diff HEAD~3 --stat -M --format=").lines().count(), 7);
}

/// Changes that are not folded are listed, also with a path or `--full`; JSON output has the same content.
#[test]
fn folds_open_by_name() {
    if !works("folds of a review") {
        return;
    }
    let stage = Stage::new();
    project(&stage);
    stage.changed(&format!(
        "{AUTHOR} mkdir -p target/a/b; echo 1 >target/a/b/1; echo 2 >target/2; echo x >>src/a.rs; git commit -qam work"
    ));
    let rows: &[(&str, &str, usize)] = &[
        ("review --stat", "1 changed, 1 commit, 2 ignored", 4),
        ("review --stat target", "2 changed", 3),
        ("review --stat target/a", "1 changed", 2),
        ("review --stat -- src", "1 changed", 2),
        ("review --stat src target/2", "2 changed", 3),
    ];
    for (line, heading, count) in rows {
        let review = stage.ringfence(line);
        assert!(
            review.out.lines().next().unwrap().ends_with(&format!("ended, {heading}")),
            "{line}: {review:?}"
        );
        let listed = review.out.lines().filter(|line| !line.starts_with("     ")).count();
        assert_eq!(listed, *count, "{line}: {}", review.out);
    }
    let full = stage.ringfence("review --stat --full");
    assert!(
        full.out.contains("added   target/a/b/1: ") && full.out.contains("changed .git/index"),
        "{full:?}"
    );
    assert_eq!(stage.ringfence("review nothing/here").code, 64);
    let told: Value = serde_json::from_str(&stage.ringfence("review --format json").out).unwrap();
    assert_eq!(told["changes"].as_array().unwrap().len(), 1);
    assert_eq!(told["ignored"][0]["path"], "target");
    assert_eq!((&told["ignored"][0]["files"], &told["ignored"][0]["size"]), (&2.into(), &4.into()));
    let git = &told["repositories"][0];
    assert_eq!((&git["path"], &git["commits"][0]["subject"]), (&".git".into(), &"work".into()));
    assert_eq!((&git["refs"][0]["name"], &git["refs"][0]["commits"]), (&"refs/heads/main".into(), &1.into()));
}

/// Entries that the command itself adds to `.gitignore` hide nothing.
#[test]
fn a_command_cannot_fold_its_own_changes() {
    if !works("lists of ignored names") {
        return;
    }
    let stage = Stage::new();
    project(&stage);
    stage.changed(
        "echo 'src/' >>.gitignore; echo '*' >src/.gitignore; echo evil >>src/a.rs; echo new >src/new.rs",
    );
    let review = stage.ringfence("review --stat");
    for line in ["changed src/a.rs", "added   src/new.rs", "changed .gitignore", "added   src/.gitignore"] {
        assert!(review.out.contains(line), "{line} in {}", review.out);
    }
}

/// Commits are read from packs as well as from loose objects.
#[test]
fn commits_in_packs_are_counted() {
    if !works("packed commits") {
        return;
    }
    let stage = Stage::new();
    project(&stage);
    stage.changed(&format!(
        "{AUTHOR} for n in 1 2 3 4 5; do echo $n >>src/a.rs; git commit -qam \"change $n\"; done
         git tag -a -m note v1; git branch other HEAD~2; git -c gc.writeCommitGraph=false gc -q; git pack-refs --all; echo last >>src/a.rs; git commit -qam last"
    ));
    let told: Value = serde_json::from_str(&stage.ringfence("review --format json").out).unwrap();
    let git = &told["repositories"][0];
    assert_eq!(git["unreadable"], Value::Null, "{git:#}");
    assert_eq!(git["commits"].as_array().unwrap().len(), 6, "{git:#}");
    let counts: Vec<_> = git["refs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["commits"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("refs/heads/main", 6), ("refs/heads/other", 3), ("refs/tags/v1", 5)]);
    let applied = stage.ringfence("apply");
    assert_eq!((applied.code, stage.ids()), (0, vec![]), "{applied:?}");
    stage.git("fsck --strict");
    assert_eq!(stage.git("status --porcelain"), "");
}

/// Commits and the index bring content to protected names only if a person agrees.
#[test]
fn commits_that_touch_protected_names_need_a_word() {
    if !works("commits with protected names") {
        return;
    }
    // The command run inside, and the message about it; `None` if it brings nothing new.
    let rows: &[(&str, Option<&str>)] = &[
        (
            "echo fresh >.envrc; git add -f .envrc; git commit -qm 'add envrc'",
            Some("(add envrc) brings .envrc"),
        ),
        (
            "mkdir -p deep/.vscode; echo fresh >deep/.vscode/tasks.json; git add .; git commit -qm tasks; git rm -q --cached -r deep/.vscode; git commit -qm gone; rm -r deep/.vscode",
            Some("brings deep/.vscode/tasks.json"),
        ),
        (
            "git switch -qc side; echo fresh >.envrc; git add .envrc; git commit -qm side; git switch -q main",
            Some("(side) brings .envrc"),
        ),
        ("echo fresh >.envrc; git add .envrc; git stash -q", Some("brings .envrc")),
        ("echo fresh >.envrc; git add .envrc; rm .envrc", Some("what is staged brings .envrc")),
        (
            "echo fresh >.envrc; git add .envrc; git commit -qm packed; git -c gc.writeCommitGraph=false gc -q",
            Some("(packed) brings .envrc"),
        ),
        (
            "echo fresh >.envrc; git add .envrc; git commit -qm amended; git rm -q .envrc; git commit -q --amend --allow-empty -m empty",
            None,
        ),
        ("echo x >>src/a.rs; git commit -qam plain", None),
        // The repository had the content already.
        ("git merge -q --no-edit known", None),
        ("git cherry-pick known >/dev/null", None),
    ];
    for (inside, told) in rows {
        let stage = Stage::new();
        project(&stage);
        stage.git("switch -qc known");
        fs::write(stage.ws(".envrc"), "known\n").unwrap();
        stage.git("add .envrc");
        stage.git("commit -qm known");
        stage.git("switch -q main");
        fs::write(stage.ws("more"), "more\n").unwrap();
        stage.git("add more");
        stage.git("commit -qm more");
        let head = stage.git("rev-parse HEAD");
        stage.changed(&format!("{AUTHOR} echo free >free; {inside}"));
        let review = stage.ringfence("review --stat");
        assert_eq!(
            review.out.contains("        protected: commit")
                || review.out.contains("        protected: what is staged"),
            told.is_some(),
            "{inside}: {}",
            review.out
        );
        let applied = stage.ringfence("apply");
        assert_eq!(fs::read_to_string(stage.ws("free")).unwrap(), "free\n", "{inside}");
        let Some(told) = told else {
            assert!(!applied.err.contains("commits made inside"), "{inside}: {applied:?}");
            stage.git("fsck --strict");
            continue;
        };
        assert!(
            applied.code == 1 && applied.err.contains("RF-O003") && applied.err.contains(told),
            "{inside}: {applied:?}"
        );
        assert_eq!(stage.git("rev-parse HEAD"), head, "{inside}");
        assert_eq!(stage.git("log --all --format=%H -- .envrc deep/.vscode").lines().count(), 1, "{inside}");
        assert_eq!(stage.git("diff --cached --name-only"), "", "{inside}");
        // A person agrees.
        let applied = stage.ringfence("apply --protected-commits");
        assert!(!applied.err.contains("commits made inside"), "{inside}: {applied:?}");
        stage.git("fsck --strict");
        let brought = stage.git("log --all --format=%H -- .envrc deep/.vscode").lines().count() > 1;
        assert!(brought || stage.git("diff --cached --name-only").contains(".envrc"), "{inside}");
        assert!(stage.ledger("overlay.applied").iter().any(|record| record["protected"] == true), "{inside}");
    }
}

/// Git trusts object IDs and its own caches about commits: known IDs with other content need agreement, too.
#[test]
fn known_objects_stay_what_they_are() {
    if !works("objects of a repository") {
        return;
    }
    let put = "import hashlib, os, subprocess, sys, zlib
known = subprocess.check_output(['git', 'rev-parse', 'HEAD:' + sys.argv[1]], text=True).strip()
path = '.git/objects/' + known[:2] + '/' + known[2:]
os.makedirs(os.path.dirname(path), exist_ok=True)
try: os.remove(path)
except FileNotFoundError: pass
open(path, 'wb').write(zlib.compress(b'blob 5\\0evil\\n'))";
    let loose = format!("python3 -c \"{put}\" changed");
    let rows: &[(bool, &str, Option<&str>)] = &[
        (false, &loose, Some("not the same any more")),
        (true, &loose, Some("not the same any more")),
        (false, "git commit-graph write --reachable 2>/dev/null", Some("commit-graph")),
        (true, "git multi-pack-index write 2>/dev/null", Some("multi-pack-index")),
        (false, "git repack -adq", None),
        (
            true,
            "git repack -adfq; git unpack-objects -q <$(ls .git/objects/pack/*.pack); git prune-packed -q",
            None,
        ),
    ];
    for (packed, inside, told) in rows {
        let stage = Stage::new();
        project(&stage);
        if *packed {
            stage.git("repack -adq");
        }
        stage.changed(&format!("{AUTHOR} {inside}; echo x >free"));
        let applied = stage.ringfence("apply");
        assert_eq!(
            applied.err.contains("commits made inside"),
            told.is_some(),
            "{packed} {inside}: {applied:?}"
        );
        assert!(applied.err.contains(told.unwrap_or_default()), "{packed} {inside}: {applied:?}");
        assert!(stage.ws("free").exists());
        stage.git("fsck --strict");
    }
}

/// A repository with half a rebase is unusable, so an unfinished rebase is not applied in part.
#[test]
fn an_unfinished_rebase_is_not_applied_by_halves() {
    if !works("an unfinished rebase") {
        return;
    }
    let stage = Stage::new();
    project(&stage);
    stage.git("switch -qc side");
    fs::write(stage.ws("src/a.rs"), "side\n").unwrap();
    stage.git("commit -qam side");
    stage.git("switch -q main");
    fs::write(stage.ws("src/a.rs"), "main\n").unwrap();
    stage.git("commit -qam main");
    let before = tree(&stage.path("ws"), true);
    stage.changed(&format!(
        "{AUTHOR} git switch -q side; git rebase main >/dev/null 2>&1 || echo stopped >free"
    ));
    let applied = stage.ringfence("apply");
    assert_eq!(applied.code, 1, "{applied:?}");
    for part in [
        "RF-O003",
        "nothing was applied: a rebase is unfinished in .git",
        "git rebase --continue",
        "--protected .git/rebase-merge",
    ] {
        assert!(applied.err.contains(part), "{part} in {applied:?}");
    }
    assert_eq!(tree(&stage.path("ws"), true), before);
    // Files can be applied by name.
    assert_eq!(stage.ringfence("apply free").code, 0);
    assert_eq!(stage.git("status --porcelain"), "?? free\n");
    // After the rebase is finished inside, everything is applied.
    stage.changed(&format!("{AUTHOR} echo both >src/a.rs; git add src/a.rs; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1"));
    let applied = stage.ringfence("apply");
    assert_eq!((applied.code, applied.err.as_str(), stage.ids()), (0, "", vec![]), "{applied:?}");
    assert_eq!(stage.git("log --format=%s"), "side\nmain\nfirst\n");
    stage.git("fsck --strict");
    assert_eq!(stage.git("status --porcelain --branch"), "## side\n?? free\n");
}

/// A rebase that stopped outside and is finished inside is finished outside when that is applied.
#[test]
fn a_rebase_that_is_finished_inside_is_finished() {
    if !works("a rebase that is finished inside") {
        return;
    }
    for end in ["GIT_EDITOR=true git rebase --continue >/dev/null 2>&1", "git rebase --abort"] {
        let stage = Stage::new();
        project(&stage);
        stage.git("switch -qc side");
        fs::write(stage.ws("src/a.rs"), "side\n").unwrap();
        stage.git("commit -qam side");
        stage.git("switch -q main");
        fs::write(stage.ws("src/a.rs"), "main\n").unwrap();
        stage.git("commit -qam main");
        stage.git("switch -q side");
        stage.git_ended("rebase main");
        assert!(stage.ws(".git/rebase-merge").exists());
        stage.changed(&format!("{AUTHOR} echo both >src/a.rs; git add src/a.rs; {end}"));
        let applied = stage.ringfence("apply");
        assert_eq!((applied.code, applied.err.as_str(), stage.ids()), (0, "", vec![]), "{end}: {applied:?}");
        assert!(!stage.ws(".git/rebase-merge").exists(), "{end}");
        assert_eq!(stage.git("status --porcelain --branch"), "## side\n", "{end}");
        stage.git("fsck --strict");
    }
}

/// Commits pass because references outside reach them, and content because such a commit has it at the same
/// path. That an object exists proves nothing: an overlay that adds only objects needs no confirmation.
#[test]
fn objects_become_trusted_by_references_alone() {
    if !works("references of a repository") {
        return;
    }
    let made = "old=$(git rev-parse HEAD); echo fresh >.envrc; git add -f .envrc; git commit -qm evil; evil=$(git rev-parse HEAD); git reset -q --hard $old; rm -rf .git/ORIG_HEAD .git/logs;";
    // The commands run inside, one overlay after the other, and the question about the last one.
    let rows: &[(&[&str], Option<&str>)] = &[
        (
            &["echo $evil >id.txt", "git update-ref refs/heads/side $(cat id.txt)"],
            Some("(evil) brings .envrc"),
        ),
        (
            &["echo $evil >id.txt", "git read-tree $(cat id.txt); rm -f .git/ORIG_HEAD"],
            Some("what is staged brings .envrc"),
        ),
        (&["echo $evil >id.txt", "git tag -am note side $(cat id.txt)"], Some("(evil) brings .envrc")),
        // The content is known, at another path.
        (
            &[
                "git update-index --add --cacheinfo 100644,$(git rev-parse HEAD:changed),.envrc; git commit -qm known",
            ],
            Some("(known) brings .envrc"),
        ),
        (
            &[
                "git update-index --add --cacheinfo 120000,$(git rev-parse stash:.envrc),.envrc; git commit -qm link",
            ],
            Some("(link) brings .envrc"),
        ),
        // Names of any bytes, loose and packed.
        (&["echo $evil >$(printf '.git/refs/heads/e\\377')"], Some("(evil) brings .envrc")),
        (
            &["printf '%s refs/heads/e\\377\\n%s refs/heads/e\\376\\n' $evil $old >>.git/packed-refs"],
            Some("(evil) brings .envrc"),
        ),
        // A symbolic reference to a name outside `refs`.
        (
            &["echo $evil >.git/info/x; echo 'ref: info/x' >.git/refs/heads/side"],
            Some("something else than a reference"),
        ),
        (&["printf '%s\\n%s\\n' $old $evil >.git/MERGE_HEAD"], Some("(evil) brings .envrc")),
        // Commits for which git is given other parents than they name.
        (&["mkdir -p .git/info; echo $old $evil >.git/info/grafts"], Some("info/grafts")),
        (&["echo $old >.git/shallow"], Some("shallow")),
        // Older stashes are recorded only in their reflog.
        (
            &["echo fresh >.envrc; git add -f .envrc; git stash -q; echo x >>changed; git stash -q"],
            Some("brings .envrc"),
        ),
        // A stash that is older than the overlay, a branch at an old commit, content of an index outside.
        (&["echo x >>changed; git stash -q"], None),
        (&["git branch old HEAD~1; git update-ref refs/heads/older old~0"], None),
        (&["echo x >more; git add more; git commit -qm staged"], None),
    ];
    let mut wrong = Vec::new();
    for (steps, told) in rows {
        let stage = Stage::new();
        project(&stage);
        fs::write(stage.ws("changed"), "stashed\n").unwrap();
        fs::write(stage.ws(".envrc"), "mine\n").unwrap();
        stage.git("add -f .envrc");
        stage.git("stash -q");
        stage.git("commit -q --allow-empty -m second");
        let head = stage.git("rev-parse HEAD");
        let (last, before) = steps.split_last().unwrap();
        if last.ends_with("staged") {
            fs::create_dir(stage.ws(".vscode")).unwrap();
            fs::write(stage.ws(".vscode/tasks.json"), "{}\n").unwrap();
            stage.git("add .vscode");
        }
        let made = if told.is_some() { made } else { "" };
        for step in before {
            stage.changed(&format!("{AUTHOR} {made} {step}"));
            let applied = stage.ringfence("apply");
            assert_eq!((applied.code, stage.ids()), (0, vec![]), "{steps:?}: {applied:?}");
        }
        let made = if before.is_empty() { made } else { "" };
        stage.changed(&format!("{AUTHOR} {made} {last}"));
        let applied = stage.ringfence("apply");
        let is_held = applied.code == 1 && applied.err.contains("commits made inside");
        let is_right = match told {
            Some(told) => is_held && applied.err.contains(told) && stage.git("rev-parse HEAD") == head,
            None => applied.code == 0 && stage.ids().is_empty(),
        };
        wrong.extend((!is_right).then(|| format!("{steps:?}: {applied:?}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Reviewing any overlay takes a bounded amount of memory, descriptors and work.
#[test]
fn hostile_contents_do_not_exhaust_a_review() {
    if !works("limits of a review") {
        return;
    }
    let chain = r"
import os, struct, subprocess, zlib
def number(value):
    out = b''
    while value > 127: out += bytes([value & 127 | 128]); value >>= 7
    return out + bytes([value])
size, entries = 16 << 20, []
data = b'PACK' + struct.pack('>II', 2, 400)
def put(kind, extra, content):
    global data
    entries.append(len(data))
    size = len(content)
    data += bytes([kind << 4 | size & 15 | 128]) + number(size >> 4) + extra + zlib.compress(content)
put(1, b'', bytes(size))
copy = number(size) * 2 + bytes([0xf0, 0xff, 0xff, 0xff, 0x97, 0xff, 0xff, 0xff, 1])
for _ in range(399):
    back = len(data) - entries[-1]
    extra = bytes([back]) if back < 128 else None
    if extra is None:
        out = [back & 127]; back >>= 7
        while back: back -= 1; out.insert(0, back & 127 | 128); back >>= 7
        extra = bytes(out)
    put(6, extra, copy)
ids = [struct.pack('>I', at) + bytes(16) for at in range(400)]
index = b'\xfftOc' + struct.pack('>I', 2) + struct.pack('>I', 400) * 256
index += b''.join(ids) + bytes(1600) + b''.join(struct.pack('>I', at) for at in entries)
os.makedirs('.git/objects/pack', exist_ok=True)
name = '.git/objects/pack/pack-' + '1' * 40
open(name + '.pack', 'wb').write(data + bytes(20)); open(name + '.idx', 'wb').write(index + bytes(40))
open('.git/refs/heads/side', 'w').write(ids[-1].hex() + '\n')
";
    let chain = format!("python3 -c \"{chain}\"");
    // The limits of the reviewing shell, the command run inside, the message, and true if everything is
    // applied.
    let rows: &[(&str, &str, &str, bool)] = &[
        // Megabytes of empty lines, each of which has to be stored to compare two files.
        (
            "-v 800000",
            "rm old; head -c 1048576 /dev/zero | tr '\\0' '\\n' >new-1; i=2; while [ $i -lt 90 ]; do cp new-1 new-$i; i=$((i+1)); done",
            "removed old: ",
            true,
        ),
        // A small pack that expands to gigabytes.
        ("-v 800000", &chain, "its commits cannot be read: the new commits are too large", false),
        // A repository with many packs.
        ("-n 200", "echo x >>changed; git commit -qam plain", "main ", true),
    ];
    let mut wrong = Vec::new();
    for (limit, inside, told, is_applied) in rows {
        let stage = Stage::new();
        fs::write(stage.ws("old"), "line\n".repeat(120 << 10)).unwrap();
        stage.commit_all();
        if limit.starts_with("-n") {
            stage.git("repack -adq");
            for entry in fs::read_dir(stage.ws(".git/objects/pack")).unwrap() {
                let path = entry.unwrap().path();
                for count in 0..200 {
                    let name = format!("pack-{count:040}.{}", path.extension().unwrap().to_str().unwrap());
                    fs::copy(&path, path.with_file_name(name)).unwrap();
                }
            }
        }
        stage.changed(&format!("{AUTHOR} {inside}"));
        let limited = |line: &str| {
            let mut command = std::process::Command::new("/bin/sh");
            let script = format!("ulimit {limit}; {} {line}; exit $?", env!("CARGO_BIN_EXE_ringfence"));
            command.env_clear().env("HOME", stage.path("home")).env("PATH", "/usr/bin:/bin");
            stage.ended(command.args(["-c", &script]).current_dir(stage.path("ws")))
        };
        let review = limited("review --stat");
        let applied = limited("apply");
        let is_right = review.code == 0
            && review.out.contains(told)
            && (applied.code == 0) == *is_applied
            && review.out.contains("cannot be read") != *is_applied;
        wrong.extend((!is_right).then(|| format!("{limit}: {review:?} {applied:?}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
