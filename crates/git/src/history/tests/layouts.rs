//! The ways in which git keeps objects and references.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const ROWS: &[(&str, &str, Answer)] = &[
    (".envrc", "one\n", YES),
    (".envrc", "two\n", YES),
    (".envrc", "three\n", Answer::No),
    ("a/b/.envrc", "deep\n", YES),
    ("a/.envrc", "deep\n", Answer::No),
    ("a/b", "deep\n", Answer::No),
    ("a/b/.envrc/x", "deep\n", Answer::No),
    ("run", "one\n", Answer::Yes { executable: true }),
    ("link", ".envrc", Answer::No),
    ("other", "one\n", Answer::No),
    ("", "one\n", Answer::No),
    ("/.envrc", "one\n", Answer::No),
    ("./.envrc", "one\n", Answer::No),
    ("a/../.envrc", "one\n", Answer::No),
    (".envrc/", "one\n", Answer::No),
    ("side", "side\n", YES),
];

/// Two versions of a file, one in a directory, an executable, a link, and a branch that was merged.
fn fill(sandbox: &mut Sandbox) {
    symlink(".envrc", sandbox.top.join("link")).unwrap();
    sandbox.write("run", "one\n");
    fs::set_permissions(sandbox.top.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.commit(".envrc", "one\n");
    sandbox.commit("a/b/.envrc", "deep\n");
    sandbox.git(&["switch", "-q", "-c", "side"]);
    sandbox.commit("side", "side\n");
    sandbox.git(&["switch", "-q", "main"]);
    for number in 0..60 {
        sandbox.commit(&format!("file{}", number % 7), &format!("{number}\n").repeat(50));
    }
    sandbox.git(&["merge", "-q", "--no-edit", "side"]);
    sandbox.git(&["rm", "-q", "side"]);
    sandbox.commit(".envrc", "two\n");
}

#[test]
fn objects_are_found_however_git_keeps_them() {
    let layouts: [&[&[&str]]; 6] = [
        &[],
        &[&["gc", "-q"]],
        &[&["repack", "-q", "-adf", "--depth=50", "--window=50"]],
        &[&["-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-adf", "--depth=50"]],
        &[&["-c", "pack.packSizeLimit=1m", "repack", "-q", "-d"], &["pack-refs", "--all"]],
        &[&["-c", "pack.compression=0", "repack", "-q", "-adf"]],
    ];
    for words in [&[][..], &["--object-format=sha256"]] {
        let mut sandbox = Sandbox::with(words);
        fill(&mut sandbox);
        for layout in layouts {
            for command in layout {
                sandbox.git(command);
            }
            assert_had(&sandbox, ROWS);
        }
    }
}

#[test]
fn large_offsets_are_read() {
    let mut sandbox = Sandbox::new();
    fill(&mut sandbox);
    sandbox.git(&["repack", "-q", "-adf"]);
    let (index, pack) = (pack_file(&sandbox, "idx"), pack_file(&sandbox, "pack"));
    // Every offset from 1 on stands in the table of large ones.
    fs::remove_file(&index).unwrap();
    sandbox.git(&[
        "index-pack",
        "--index-version=2,0x1",
        "-o",
        index.to_str().unwrap(),
        pack.to_str().unwrap(),
    ]);
    assert_had(&sandbox, ROWS);
}

/// The only file of a pack with an ending.
pub(super) fn pack_file(sandbox: &Sandbox, ending: &str) -> PathBuf {
    let directory = sandbox.git_dir().join("objects/pack");
    let mut files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|found| found == ending)).unwrap()
}

#[test]
fn borrowed_objects_are_found() {
    let mut sandbox = Sandbox::new();
    fill(&mut sandbox);
    let original = sandbox.top.clone();
    for (name, is_relative) in [("first", false), ("second", true)] {
        sandbox.top = original.clone();
        sandbox.git(&["clone", "-q", "--shared", ".", &format!("../{name}")]);
        sandbox.top = original.parent().unwrap().join(name);
        if is_relative {
            fs::write(
                sandbox.git_dir().join("objects/info/alternates"),
                "# text\n../../../work/.git/objects\n",
            )
            .unwrap();
        }
        assert_had(&sandbox, ROWS);
    }
    // One that borrows from itself and from the first, which borrows from the original.
    let borrowed = "../../../first/.git/objects\n../../../second/.git/objects\n";
    fs::write(sandbox.git_dir().join("objects/info/alternates"), borrowed).unwrap();
    assert_had(&sandbox, ROWS);
}

#[test]
fn objects_that_are_packed_while_they_are_read_are_found() {
    let mut sandbox = Sandbox::new();
    fill(&mut sandbox);
    sandbox.git(&["repack", "-q", "-d"]);
    let mut history = sandbox.history();
    assert_eq!(history.had(b".envrc", b"two\n", later()), YES);
    sandbox.git(&["repack", "-q", "-adf"]);
    assert_eq!(history.had(b".envrc", b"one\n", later()), YES);
    let tip = sandbox.id("main");
    let mut history = sandbox.history_of([tip]);
    assert_eq!(history.reaches(tip, later()), Reach::Yes);
    sandbox.git(&["repack", "-q", "-adf", "--depth=3"]);
    assert_eq!(history.had(b"a/b/.envrc", b"deep\n", later()), YES);
}

#[test]
fn every_sort_of_reference_is_a_tip() {
    let mut sandbox = Sandbox::new();
    let mut expected = BTreeSet::new();
    sandbox.commit(".envrc", "base\n");
    let mut side = |sandbox: &mut Sandbox, name: &str| {
        sandbox.git(&["switch", "-q", "--detach", "main"]);
        let id = sandbox.commit(".envrc", name);
        expected.insert(id);
        id
    };
    for name in ["packed", "loose"] {
        let id = side(&mut sandbox, name);
        sandbox.git(&["update-ref", &format!("refs/heads/x/{name}"), &id.to_string()]);
        sandbox.git(&["pack-refs", "--all"]);
    }
    let id = side(&mut sandbox, "tag");
    sandbox.git(&["tag", "-a", "-m", "x", "inner", &id.to_string()]);
    sandbox.git(&["tag", "-a", "-m", "x", "outer", "inner"]);
    sandbox.git(&["tag", "-d", "inner"]);
    let id = side(&mut sandbox, "orig");
    let original = format!("{id}\n");
    let id = side(&mut sandbox, "remote");
    sandbox.git(&["update-ref", "refs/remotes/origin/a", &id.to_string()]);
    let id = side(&mut sandbox, "fetched");
    fs::write(sandbox.git_dir().join("FETCH_HEAD"), format!("{id}\tnot-for-merge\tbranch 'x' of y\n"))
        .unwrap();
    for name in ["stash 1", "stash 2"] {
        sandbox.write(".envrc", name);
        sandbox.git(&["stash"]);
    }
    let id = side(&mut sandbox, "worktree");
    sandbox.git(&["worktree", "add", "-q", "--detach", "../linked", &id.to_string()]);
    let id = side(&mut sandbox, "bisect");
    let bisect = sandbox.git_dir().join("worktrees/linked/refs/bisect");
    fs::create_dir_all(&bisect).unwrap();
    fs::write(bisect.join("bad"), format!("{id}\n")).unwrap();
    side(&mut sandbox, "detached");
    let lost = sandbox.commit(".envrc", "lost");
    sandbox.git(&["checkout", "-q", "HEAD~"]);
    fs::write(sandbox.git_dir().join("ORIG_HEAD"), original).unwrap();
    fs::write(sandbox.git_dir().join("CHERRY_PICK_HEAD"), format!("{lost}\n")).unwrap();
    assert!(sandbox.tips().remove(&lost));
    fs::remove_file(sandbox.git_dir().join("CHERRY_PICK_HEAD")).unwrap();

    let tips = sandbox.tips();
    let mut history = sandbox.history();
    for id in expected {
        assert!(history.reaches(id, later()) == Reach::Yes, "{id}");
    }
    for name in ["stash 1", "stash 2", "packed", "loose", "tag", "bisect", "base\n"] {
        assert_eq!(history.had(b".envrc", name.as_bytes(), later()), YES, "{name}");
    }
    assert!(!tips.contains(&lost));
    assert_eq!(history.reaches(lost, later()), Reach::No);
    assert_eq!(history.had(b".envrc", b"lost", later()), Answer::No);
}

#[test]
fn references_through_links_and_from_no_file_are_not_read() {
    let mut sandbox = Sandbox::new();
    sandbox.commit(".envrc", "one\n");
    let plain = sandbox.tips();
    let elsewhere = sandbox.top.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("x"), format!("{}\n", "1".repeat(40))).unwrap();
    symlink(&elsewhere, sandbox.git_dir().join("refs/heads/directory")).unwrap();
    symlink(elsewhere.join("x"), sandbox.git_dir().join("refs/heads/file")).unwrap();
    symlink(elsewhere.join("x"), sandbox.git_dir().join("FETCH_HEAD")).unwrap();
    fifo(&sandbox.git_dir().join("refs/heads/fifo"));
    fifo(&sandbox.git_dir().join("packed-refs"));
    fs::write(sandbox.git_dir().join("refs/heads/long"), "1".repeat(5000)).unwrap();
    fs::write(sandbox.git_dir().join("refs/heads/odd"), "../../x\n").unwrap();
    assert_eq!(sandbox.tips(), plain);
}

pub(super) fn fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, Mode::from(0o600), 0).unwrap();
}

#[test]
fn line_ends_may_be_those_of_another_system() {
    let mut sandbox = Sandbox::new();
    sandbox.commit(".envrc", "a\nb\n");
    sandbox.commit("open", "a\nb");
    sandbox.commit("crlf", "a\r\nb\r\n");
    assert_had(
        &sandbox,
        &[
            (".envrc", "a\r\nb\r\n", YES),
            ("open", "a\r\nb", YES),
            (".envrc", "a\r\nb\n", Answer::No),
            (".envrc", "a\nb\r\n", Answer::No),
            (".envrc", "a\r\r\nb\r\n", Answer::No),
            ("crlf", "a\r\nb\r\n", YES),
            ("crlf", "a\nb\n", Answer::No),
        ],
    );
}

#[test]
fn a_question_ends_when_the_time_is_up() {
    let mut sandbox = Sandbox::new();
    let first = sandbox.commit(".envrc", "one\n");
    sandbox.commit(".envrc", "two\n");
    let mut history = sandbox.history();
    let now = Instant::now();
    assert_eq!(history.had(b".envrc", b"one\n", now), Answer::TimeUp);
    assert_eq!(history.reaches(first, now), Reach::TimeUp);
    assert!(history.new_commits(&BTreeSet::from([first]), 9, |_| true, now).cut);
    assert_eq!(history.had(b".envrc", b"one\n", later()), YES);
    assert_eq!(history.had(b".envrc", b"one\n", now), YES, "it is known");
}

#[test]
fn more_packs_than_may_be_open_are_read() {
    let mut sandbox = Sandbox::new();
    for number in 0..30 {
        sandbox.commit(".envrc", &number.to_string());
        sandbox.git(&["repack", "-q", "-d"]);
    }
    let packs = fs::read_dir(sandbox.git_dir().join("objects/pack")).unwrap();
    assert!(packs.count() >= 60);
    assert_had(&sandbox, &[(".envrc", "0", YES), (".envrc", "29", YES), (".envrc", "30", Answer::No)]);
}
