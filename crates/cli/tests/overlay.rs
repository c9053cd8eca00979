//! `ringfence run --overlay`, `review`, `apply` and `discard` on the real kernel.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod overlaid;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

use overlaid::{Stage, tree, works};

/// Changes of every kind.
const SESSION: &str = r"
    echo added >added; mkdir -p new/dir; echo inner >new/dir/inner; ln added twin; mkdir empty
    echo TWO >changed; rm removed; chmod 755 run.sh; ln -sf elsewhere link; ln -s /etc/passwd out
    rm -r gone; mv moved new/moved; mv deep elsewhere
    rm becomes-directory; mkdir becomes-directory; echo y >becomes-directory/y
    rm -r becomes-file; echo z >becomes-file
    printf '\000\377' >binary; chmod 750 new/dir; umask 077; echo secret >private
";

/// The whole of it: nothing is touched, everything is shown, and applied it is what the command would have made.
#[test]
fn a_session_is_undone_or_taken_over() {
    if !works("a session in an overlay") {
        return;
    }
    let stage = Stage::new();
    let before = tree(&stage.path("ws"), true);
    stage.changed(SESSION);
    assert_eq!(tree(&stage.path("ws"), true), before);

    // The same without an overlay.
    stage.fill("other");
    let words = ["run", "--env", &format!("SCRIPT={SESSION}"), "--", "/bin/sh", "-ec", "eval \"$SCRIPT\""];
    let direct = stage.ended(stage.command("other").args(words));
    assert_eq!(direct.code, 0, "{direct:?}");

    let review = stage.ringfence("review --stat");
    assert_eq!(tree(&stage.path("ws"), true), before);
    insta::assert_snapshot!(review.out, @"
    overlay ID of /stage/ws, ended, 17 changed
    added   added: 6 bytes
    changed becomes-directory: file of 2 bytes -> directory
    added   becomes-directory/y: 2 bytes
    changed becomes-file: directory -> file of 2 bytes
    changed binary: 3 -> 2 bytes
    changed changed: 14 -> 4 bytes, +1 -3
    renamed deep/er/file -> elsewhere/er/file
    added   empty: directory
    removed gone/with/it/all: file of 5 bytes
    changed link: link to changed -> link to elsewhere
    renamed becomes-file/inner -> new/dir/inner
    renamed moved -> new/moved
    added   out: link to /etc/passwd
    added   private: 7 bytes
    removed removed: file of 8 bytes
    changed run.sh: mode 644 -> 755
    added   twin: 6 bytes
    ");

    let applied = stage.ringfence("apply");
    assert_eq!((applied.code, applied.err.as_str()), (0, ""), "{applied:?}");
    assert_eq!(tree(&stage.path("ws"), false), tree(&stage.path("other"), false));
    assert_eq!(stage.ids(), Vec::<String>::new());
    assert_eq!(stage.ledger("overlay.begun").len(), 1);
    assert!(stage.ledger("overlay.applied").len() > 20);
}

#[test]
fn discarding_leaves_nothing() {
    if !works("discarding an overlay") {
        return;
    }
    let stage = Stage::new();
    let before = tree(&stage.path("ws"), true);
    stage.changed(&format!("{SESSION}\nmkdir closed; echo x >closed/x; chmod 0 closed"));
    let asked = stage.ringfence("discard");
    assert_eq!((asked.code, stage.ids().len()), (64, 1), "{asked:?}");
    let gone = stage.ringfence("discard --yes");
    assert_eq!((gone.code, stage.ids()), (0, vec![]), "{gone:?}");
    assert_eq!(tree(&stage.path("ws"), true), before);
    assert_eq!(stage.ledger("overlay.discarded").len(), 1);
}

/// Review for people: texts as lines, everything else by its size.
#[test]
fn a_review_shows_lines() {
    if !works("a review") {
        return;
    }
    let stage = Stage::new();
    stage.changed(r"sed -i s/two/2/ changed; printf 'no line break' >added; printf '\0' >zero; chmod 755 run.sh; echo x >>run.sh");
    insta::assert_snapshot!(stage.ringfence("review").out, @r"
    overlay ID of /stage/ws, ended, 4 changed
    added   added: 13 bytes
      @@ -0,0 +1 @@
      +no line break
      \ no line break at the end
    changed changed: 14 -> 12 bytes, +1 -1
      @@ -1,3 +1,3 @@
       one
      -two
      +2
       three
    changed run.sh: mode 644 -> 755, 5 -> 7 bytes, +1 -0
      @@ -1 +1,2 @@
       echo
      +x
    added   zero: 1 byte
    ");
    let changes = stage.changes();
    assert_eq!(changes[1]["change"], "changed");
    assert_eq!(changes[1]["diff"][2], "-two");
    assert_eq!(changes[2]["after"]["mode"], "755");
}

/// A commit made inside is a commit outside; a hook made inside is left where it is.
#[test]
fn a_commit_is_taken_over_and_a_hook_is_not() {
    if !works("a commit in an overlay") {
        return;
    }
    let stage = Stage::new();
    stage.commit_all();
    stage.changed(
        "echo more >>changed; git -c user.name=x -c user.email=x@y commit -qam second
         mkdir -p .git/hooks; echo 'touch /tmp/x' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
         git config core.fsmonitor ./evil; mkdir -p .github/workflows; echo on: >.github/workflows/x.yml",
    );
    assert_eq!(stage.git("log --format=%s"), "first\n");
    let review = stage.ringfence("review --stat");
    assert!(review.out.contains("protected: "), "{review:?}");
    let applied = stage.ringfence("apply");
    assert_eq!(applied.code, 1, "{applied:?}");
    for name in [".git/hooks/pre-commit", ".git/config", ".github/workflows/x.yml"] {
        assert!(applied.err.contains(name), "{name} in {applied:?}");
    }
    assert!(!stage.ws(".git/hooks/pre-commit").exists());
    assert_eq!(stage.git("log --format=%s"), "second\nfirst\n");
    stage.git("fsck --strict");
    assert!(!stage.git("config --list").contains("evil"));
    assert!(!stage.git("status --porcelain").contains(" M"));
    // Named paths are taken, and then nothing is left.
    let left = stage.paths();
    assert!(left.iter().any(|path| path == ".git/hooks/pre-commit"), "{left:?}");
    let named = format!("apply --protected {}", left.join(" --protected "));
    let applied = stage.ringfence(&named);
    assert_eq!((applied.code, stage.ids()), (0, vec![]), "{applied:?}");
    assert!(stage.ws(".git/hooks/pre-commit").exists());
    assert!(stage.ledger("overlay.applied").iter().any(|record| record["protected"] == true));
}

/// Something that is done outside meanwhile.
type Act<'a> = &'a dyn Fn(&Stage);

/// Changes on both sides are for a person to choose, and nothing is applied until then.
#[test]
fn what_was_changed_outside_meanwhile_is_not_overwritten() {
    if !works("changes on both sides") {
        return;
    }
    // Inside, outside, what is told.
    let rows: &[(&str, Act<'_>, &[&str])] = &[
        ("echo in >changed", &|stage| fs::write(stage.ws("changed"), "out").unwrap(), &["changed"]),
        ("echo in >new", &|stage| fs::write(stage.ws("new"), "out").unwrap(), &["new"]),
        ("rm removed", &|stage| fs::write(stage.ws("removed"), "out").unwrap(), &["removed"]),
        ("echo in >changed", &|stage| fs::remove_file(stage.ws("changed")).unwrap(), &["changed"]),
        (
            "echo in >changed",
            &|stage| fs::rename(stage.ws("moved"), stage.ws("changed")).unwrap(),
            &["changed"],
        ),
        ("rm -r gone", &|stage| fs::write(stage.ws("gone/with/new"), "out").unwrap(), &["gone/with/new"]),
        (
            "rm -r gone; mkdir gone; echo in >gone/x",
            &|stage| fs::write(stage.ws("gone/with/it/all"), "out").unwrap(),
            &["gone/with/it/all"],
        ),
        (
            "echo in >run.sh",
            &|stage| fs::set_permissions(stage.ws("run.sh"), Permissions::from_mode(0o700)).unwrap(),
            &["run.sh"],
        ),
        // Neither touches what the other does.
        ("echo in >changed", &|stage| fs::write(stage.ws("other"), "out").unwrap(), &[]),
        ("echo in >deep/new", &|stage| fs::write(stage.ws("deep/other"), "out").unwrap(), &[]),
        ("mv moved away", &|stage| fs::write(stage.ws("changed"), "out").unwrap(), &[]),
        ("mv moved away", &|stage| fs::write(stage.ws("other"), "out").unwrap(), &[]),
        ("echo in >>changed; mv changed away", &|stage| fs::write(stage.ws("other"), "out").unwrap(), &[]),
        ("ln moved twin", &|stage| fs::write(stage.ws("other"), "out").unwrap(), &[]),
        ("ln moved twin; echo in >twin", &|stage| fs::write(stage.ws("other"), "out").unwrap(), &[]),
        ("mv moved deep/away", &|stage| fs::remove_file(stage.ws("deep/er/file")).unwrap(), &[]),
        // The moved file was removed outside, or changed there.
        ("mv moved away", &|stage| fs::remove_file(stage.ws("moved")).unwrap(), &["away"]),
        ("mv moved away", &|stage| fs::write(stage.ws("moved"), "moved\n").unwrap(), &["moved"]),
        // If the directory was changed outside, a removal of a moved and rewritten file there cannot be ruled
        // out.
        ("mv moved away; echo in >away", &|stage| fs::write(stage.ws("other"), "out").unwrap(), &["away"]),
        // A new hard link changes the file's change time, so other changes to it cannot be ruled out.
        (
            "echo in >changed",
            &|stage| fs::hard_link(stage.ws("changed"), stage.ws("x")).unwrap(),
            &["changed"],
        ),
        // Both do the same.
        ("echo same >changed", &|stage| fs::write(stage.ws("changed"), "same\n").unwrap(), &[]),
        ("rm removed", &|stage| fs::remove_file(stage.ws("removed")).unwrap(), &[]),
    ];
    for (inside, outside, told) in rows {
        let stage = Stage::new();
        stage.changed(&format!("{inside}; echo >other-change"));
        outside(&stage);
        let before = tree(&stage.path("ws"), true);
        let applied = stage.ringfence("apply");
        assert_eq!(applied.code == 1, !told.is_empty(), "{inside}: {applied:?}");
        if told.is_empty() {
            assert_eq!(stage.ids(), Vec::<String>::new(), "{inside}");
            continue;
        }
        assert!(applied.err.starts_with("error[RF-O002]: nothing was applied"), "{inside}: {applied:?}");
        for path in *told {
            assert!(applied.err.contains(&format!("because: {path}\n")), "{inside}: {applied:?}");
        }
        assert_eq!(tree(&stage.path("ws"), true), before, "{inside}");
        // The rest can be taken, and then the overlay's.
        assert_eq!(stage.ringfence("apply other-change").code, 0, "{inside}");
        assert!(stage.ws("other-change").exists());
        let forced = stage.ringfence("apply --force");
        assert_eq!((forced.code, stage.ids()), (0, vec![]), "{inside}: {forced:?}");
    }
}

/// A file with two names outside: applying new content to one of them is no outside change of the other.
#[test]
fn names_of_one_file_are_applied_one_by_one() {
    if !works("files with two names") {
        return;
    }
    for inside in
        ["echo 1 >changed; echo 2 >twin", "rm changed twin; echo 1 >changed; echo 2 >twin", "rm changed twin"]
    {
        let stage = Stage::new();
        fs::hard_link(stage.ws("changed"), stage.ws("twin")).unwrap();
        stage.changed(inside);
        for name in ["changed", "twin"] {
            let applied = stage.ringfence(&format!("apply {name}"));
            assert_eq!((applied.code, applied.err.as_str()), (0, ""), "{inside}: {applied:?}");
        }
        assert_eq!(stage.ids(), Vec::<String>::new(), "{inside}");
    }
    // A change by another process between the two still counts.
    let stage = Stage::new();
    fs::hard_link(stage.ws("changed"), stage.ws("twin")).unwrap();
    stage.changed("echo 1 >changed; echo 2 >twin");
    assert_eq!(stage.ringfence("apply changed").code, 0);
    fs::write(stage.ws("twin"), "out\n").unwrap();
    let refused = stage.ringfence("apply twin");
    assert!(refused.code == 1 && refused.err.contains("RF-O002"), "{refused:?}");
}

/// Git rewrites times and inodes in its index when it inspects files; content staged outside is a change.
#[test]
fn looking_with_git_outside_is_no_conflict() {
    if !works("git outside meanwhile") {
        return;
    }
    for (outside, told) in [("status", false), ("diff", false), ("add new-outside", true)] {
        let stage = Stage::new();
        stage.commit_all();
        stage.changed(&format!(
            "{} git mv moved away; echo more >>changed; git commit -qam second",
            overlaid::AUTHOR
        ));
        fs::write(stage.ws("changed"), "one\ntwo\nthree\n").unwrap();
        fs::write(stage.ws("new-outside"), "x").unwrap();
        stage.git(outside);
        let applied = stage.ringfence("apply");
        assert!(applied.err.contains("because: changed\n"), "{outside}: {applied:?}");
        assert_eq!(applied.err.contains("because: .git/index\n"), told, "{outside}: {applied:?}");
        if !told {
            assert_eq!(stage.ringfence("apply --force").code, 0);
            assert_eq!(stage.git("status --porcelain"), "?? new-outside\n");
            stage.git("fsck --strict");
        }
    }
}

/// A file that seems to be huge is not made so by applying it.
#[test]
fn holes_stay_holes() {
    if !works("holes in files") {
        return;
    }
    let stage = Stage::new();
    stage.changed("truncate -s 15G hole; printf x | dd of=hole bs=1 seek=1000000 conv=notrunc 2>/dev/null");
    let applied = stage.ringfence("apply");
    assert_eq!(applied.code, 0, "{applied:?}");
    let found = fs::metadata(stage.ws("hole")).unwrap();
    assert!(found.len() == 15 << 30 && found.blocks() < 1000, "{found:?}");
    let mut byte = [0];
    fs::File::open(stage.ws("hole")).unwrap().read_exact_at(&mut byte, 1_000_000).unwrap();
    assert_eq!(byte, *b"x");
}

/// Some of it now, the rest later: what is left stays as it was, also in a directory that was replaced.
#[test]
fn paths_are_applied_one_by_one() {
    if !works("applying single paths") {
        return;
    }
    let stage = Stage::new();
    stage.changed("rm -r deep; mkdir -p deep/er; echo a >deep/er/a; echo b >deep/b; echo c >c; rm -r gone");
    let all = stage.paths();
    let applied = stage.ringfence("apply deep/er/a");
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(fs::read_to_string(stage.ws("deep/er/a")).unwrap(), "a\n");
    assert!(stage.ws("deep/er/file").exists() && !stage.ws("deep/b").exists());
    let left: Vec<_> = all.iter().filter(|path| *path != "deep/er/a").cloned().collect();
    assert_eq!(stage.paths(), left);
    // Inside nothing has changed; and our own changes are not those of another program.
    stage.changed("echo again >>deep/er/a; mv c d");
    let again = stage.ringfence("apply deep/er/a d");
    assert_eq!(
        (again.code, fs::read_to_string(stage.ws("deep/er/a")).unwrap()),
        (0, "a\nagain\n".to_owned()),
        "{again:?}"
    );
    stage.changed("[ \"$(ls deep/er)\" = a ]; [ \"$(ls deep)\" = \"b\ner\" ]; [ ! -e gone ]");
    assert_eq!(stage.ringfence("apply gone/with/it").code, 0);
    assert!(stage.ws("gone/with").exists() && !stage.ws("gone/with/it").exists());
    assert_eq!(stage.ringfence("apply nothing/here").code, 64);
    assert_eq!((stage.ringfence("apply").code, stage.ids()), (0, vec![]));
    assert!(!stage.ws("gone").exists() && !stage.ws("deep/er/file").exists());
}

/// The same overlay goes on, another one can be begun, and two at once are refused.
#[test]
fn an_overlay_goes_on_until_it_is_taken_or_thrown_away() {
    if !works("overlays that go on") {
        return;
    }
    let stage = Stage::new();
    assert_eq!((stage.overlaid("--overlay", "true").code, stage.ids()), (0, vec![]));
    stage.changed("echo one >a");
    stage.changed("[ $(cat a) = one ]; echo two >b");
    assert_eq!((stage.paths(), stage.ids().len()), (vec!["a".to_owned(), "b".to_owned()], 1));
    let id = stage.ids()[0].clone();
    let other = stage.overlaid("--overlay=new", "[ ! -e a ]; echo x >c");
    assert_eq!((other.code, stage.ids().len()), (0, 2), "{other:?}");
    assert_eq!(stage.paths(), ["c"]);
    let back = stage.overlaid(&format!("--overlay={}", &id[..6]), "[ -e a ]");
    assert_eq!(back.code, 0, "{back:?}");
    assert_eq!(stage.overlaid("--overlay=ffffffff", "true").code, 125);
    let list = stage.ringfence("review --list");
    assert_eq!(list.out.lines().count(), 2, "{list:?}");

    let mut running = stage.command("ws");
    let option = format!("--overlay={id}");
    let script = "echo started; echo partly >written; sleep 1000";
    running.args(["run", &option, "--", "/bin/sh", "-c", script]).stdout(Stdio::piped());
    let mut running = running.spawn().unwrap();
    let mut line = [0; 8];
    std::io::Read::read_exact(running.stdout.as_mut().unwrap(), &mut line).unwrap();
    for words in [vec!["run", &option, "--", "true"], vec!["apply", &id], vec!["discard", "--yes", &id]] {
        let refused = stage.ended(stage.command("ws").args(&words));
        assert_ne!(refused.code, 0);
        assert!(refused.err.contains("error[RF-O001]: the overlay "), "{words:?}: {refused:?}");
    }
    assert!(stage.ringfence("review --list").out.contains("  running "));
    // Its supervisor is killed: everything that was written is there.
    running.kill().unwrap();
    running.wait().unwrap();
    let mut list = stage.ringfence("review --list");
    for _ in 0..100 {
        if !list.out.contains("  running ") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        list = stage.ringfence("review --list");
    }
    assert!(list.out.contains("  unfinished "), "{list:?}");
    let applied = stage.ringfence(&format!("apply {id} a written"));
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(fs::read_to_string(stage.ws("written")).unwrap(), "partly\n");
}

/// An interrupted command starts over.
#[test]
fn applying_again_finishes() {
    if !works("applying again") {
        return;
    }
    let stage = Stage::new();
    stage.changed(SESSION);
    // As if it had ended before anything was taken from the overlay: all of it is real, and none of it is gone from there.
    let copy = stage.path("copy");
    let copied = |from: &Path, to: &Path| {
        assert!(Command::new("cp").args(["-a", "-T"]).arg(from).arg(to).status().unwrap().success());
    };
    stage.open_up();
    copied(&stage.overlays(), &copy);
    assert_eq!(stage.ringfence("apply").code, 0);
    let after = tree(&stage.path("ws"), true);
    copied(&copy, &stage.overlays());
    let again = stage.ringfence("apply");
    assert_eq!((again.code, stage.ids()), (0, vec![]), "{again:?}");
    assert!(again.out.starts_with("0 applied"), "{again:?}");
    assert_eq!(tree(&stage.path("ws"), true), after);
}

/// Reviewing and applying an overlay does no harm, with any content.
#[test]
fn hostile_overlays_do_no_harm() {
    if !works("hostile overlays") {
        return;
    }
    let stage = Stage::new();
    fs::write(stage.path("victim"), "mine\n").unwrap();
    fs::create_dir(stage.path("aside")).unwrap();
    let victim = stage.path("victim");
    let aside = stage.path("aside");
    let script = format!(
        r#"
        ln -s {victim} to-file; ln -sf {victim} changed; rm -r deep; ln -s {aside} deep
        mkfifo pipe; mkdir dir; mkfifo dir/pipe
        : >plain; printf 'x\033[31mred\n\033]0;title\007' >colour; printf 'a\342\200\256b\n' >turned
        name=$(printf 'two\nlines\033[2J'); echo x >"$name"; raw=$(printf 'raw\377'); echo y >"$raw"
        mkdir closed; echo z >closed/z; chmod 0 closed
        python3 -c '
import os
def tried(what, *words):
    try: what(*words)
    except OSError as error: print(what.__name__, "refused")
try: os.setxattr("dir", "user.overlay.opaque", b"y")
except OSError: pass
try: os.setxattr("plain", "user.overlay.redirect", b"/etc")
except OSError: pass
tried(os.chmod, "plain", 0o6755)
os.chmod("plain", 0o755)
tried(os.mknod, "removed-too", 0o20000, 0)
for n in range(300):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w").write("x")'
        "#,
        victim = victim.display(),
        aside = aside.display()
    );
    let ended = stage.overlaid("--overlay", &script);
    assert_eq!((ended.code, ended.out.as_str()), (0, "chmod refused\nmknod refused\n"), "{ended:?}");
    let review = stage.ringfence("review");
    assert_eq!(review.code, 0, "{review:?}");
    assert!(
        !review.out.bytes().any(|byte| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f),
        "{:?}",
        review.out
    );
    assert!(!review.out.contains('\u{202e}') && review.out.contains("two\\nlines"), "{}", review.out);
    for line in ["cannot be applied: it is a pipe", "cannot be applied: it lies too deep"] {
        assert!(review.out.contains(line), "{line} in {}", review.out);
    }
    let applied = stage.ringfence("apply");
    assert_eq!(applied.code, 1, "{applied:?}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
    assert_eq!(fs::read_link(stage.ws("to-file")).unwrap(), victim);
    assert_eq!(fs::read_link(stage.ws("deep")).unwrap(), aside);
    assert!(!stage.ws("pipe").exists() && stage.ws("dir").is_dir());
    assert_eq!(fs::metadata(stage.ws("plain")).unwrap().mode() & 0o7777, 0o755);
    assert_eq!(fs::read_to_string(stage.path("ws").join(OsStr::from_bytes(b"raw\xff"))).unwrap(), "y\n");
    let gone = stage.ringfence("discard --yes");
    assert_eq!((gone.code, stage.ids()), (0, vec![]), "{gone:?}");
}

/// A process that can write to the state directory is the user. Foreign files are refused all the same.
#[test]
fn damaged_overlays_are_refused() {
    if !works("damaged overlays") {
        return;
    }
    let rows: &[(&str, Act<'_>)] = &[
        ("its manifest is not one of ours", &|stage| {
            fs::write(stage.overlays().join(&stage.ids()[0]).join("manifest.json"), "{}").unwrap();
        }),
        ("was moved or replaced", &|stage| {
            fs::rename(stage.path("ws"), stage.path("away")).unwrap();
            stage.fill("ws");
        }),
        ("has the mark user.overlay.redirect", &|stage| {
            let script = "import os, sys; os.setxattr(sys.argv[1], 'user.overlay.redirect', b'/etc')";
            let file = stage.upper().join("changed");
            assert!(Command::new("python3").args(["-c", script]).arg(file).status().unwrap().success());
        }),
    ];
    for (why, damage) in rows {
        let stage = Stage::new();
        stage.changed("echo x >changed");
        let id = stage.ids()[0].clone();
        damage(&stage);
        for command in ["review", "apply"] {
            let refused = stage.ringfence(&format!("{command} {id}"));
            assert_eq!(refused.code, 1, "{why}: {refused:?}");
            assert!(refused.err.contains(why) && refused.err.contains("RF-O004"), "{why}: {refused:?}");
        }
        assert_eq!(fs::read_to_string(stage.ws("changed")).unwrap(), "one\ntwo\nthree\n");
        let gone = stage.ringfence(&format!("discard --yes {id}"));
        assert_eq!((gone.code, stage.ids()), (0, vec![]), "{why}: {gone:?}");
    }
}

/// A run without a jail changes files for good, so there is no overlay; nor one where nothing may be changed.
#[test]
fn without_a_jail_there_is_no_overlay() {
    if !works("overlays without a jail") {
        return;
    }
    let stage = Stage::new();
    let policy = stage.path("home/.config/ringfence");
    fs::create_dir_all(&policy).unwrap();
    fs::write(policy.join("policy.toml"), "version = 1\n[jail]\nenabled = \"never\"\n").unwrap();
    let refused = stage.overlaid("--overlay", "echo x >changed");
    assert_eq!((refused.code, stage.ids()), (125, vec![]), "{refused:?}");
    fs::remove_file(policy.join("policy.toml")).unwrap();
    let nothing = stage.ringfence("run -p readonly --overlay -- true");
    assert_eq!((nothing.code, stage.ids()), (64, vec![]), "{nothing:?}");
    let fenced = stage.ringfence("run --provider landlock --overlay -- touch changed");
    assert!(
        fenced.code == 125 && fenced.err.contains("without namespaces there are no layers"),
        "{fenced:?}"
    );
    assert_eq!(fs::read_to_string(stage.ws("changed")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(stage.ids(), Vec::<String>::new());
}

/// Every directory that may be changed has its own place in the overlay.
#[test]
fn other_views_are_kept_apart_too() {
    if !works("overlays of several views") {
        return;
    }
    let stage = Stage::new();
    stage.fill("beside");
    let before = (tree(&stage.path("ws"), true), tree(&stage.path("beside"), true));
    let script = format!("echo x >changed; rm {}/removed; echo y >deep/y", stage.path("beside").display());
    let write = stage.path("beside").display().to_string();
    let words = ["run", "--overlay", "--write", &write, "--write", "deep", "--", "/bin/sh", "-ec", &script];
    let ended = stage.ended(stage.command("ws").args(words));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!((tree(&stage.path("ws"), true), tree(&stage.path("beside"), true)), before);
    let review = stage.ringfence("review --stat");
    insta::assert_snapshot!(review.out, @"
    overlay ID of /stage/ws, ended, 3 changed
    changed changed: 14 -> 2 bytes, +1 -3
    added   deep/y: 2 bytes
    removed /stage/beside/removed: file of 8 bytes
    ");
    assert_eq!(stage.ringfence("apply ../beside").code, 0);
    assert!(!stage.path("beside/removed").exists());
    assert_eq!(stage.paths(), ["changed", "deep/y"]);
}
