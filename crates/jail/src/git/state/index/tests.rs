use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn later() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Runs a script with a fresh repository format; returns the indexes that it leaves, or nothing without git.
fn indexes(format: &str, script: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let place = tempfile::tempdir().unwrap();
    let begin = "set -e; git init -q --object-format=$FORMAT . ; echo 1 > f; mkdir -p d/e; echo 2 > d/e/g; git add .; git commit -qm one\n";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{begin}{script}")]).current_dir(place.path()).env("FORMAT", format);
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "A").env(format!("GIT_{name}_EMAIL"), "a@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    Command::new("git").arg("--version").output().ok()?;
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{script}: {}", String::from_utf8_lossy(&ended.stderr));
    let mut found = Vec::new();
    collect(&place.path().join(".git"), &mut found);
    Some(found)
}

fn collect(directory: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, found);
        } else if name == "index" || name.starts_with("sharedindex.") {
            found.push((name, fs::read(&path).unwrap()));
        }
    }
}

/// Scripts, and the least number of indexes that they leave.
const SCRIPTS: &[(&str, &str, usize)] = &[
    ("version 2", "git update-index --index-version 2", 1),
    ("version 3", "echo x > new; git add -N new", 1),
    (
        "version 4",
        "git update-index --index-version 4; mkdir -p d/e/f; echo 3 > d/e/f/g; echo 4 > d/e/f/h; git add .",
        1,
    ),
    ("split", "git update-index --split-index; echo 5 > f; echo 6 > n; git add .", 2),
    (
        "split, replaced and removed",
        "git config splitIndex.maxPercentChange 100; git update-index --split-index; echo 55 > f; git add f; git rm -q --cached d/e/g",
        2,
    ),
    (
        "sparse",
        "echo 7 > d/h; git add .; git commit -qm two; git sparse-checkout init --cone --sparse-index",
        1,
    ),
    (
        "submodule",
        "git clone -q . ../$$; git -c protocol.file.allow=always submodule -q add ./../$$ sub; rm -rf ../$$",
        2,
    ),
    (
        "unmerged",
        "git switch -q -c side; echo a > f; git commit -qam a; git switch -q -; echo b > f; git commit -qam b; ! git merge -q side",
        1,
    ),
    ("worktree", "git worktree add -q ../wt$$ HEAD; rm -rf ../wt$$", 2),
    (
        "long names",
        "n=$(printf '%0200d' 0); p=$n; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do p=$p/$n; done; git update-index --add --cacheinfo 100644,$(git rev-parse HEAD:f),$p",
        1,
    ),
    (
        "untracked cache and links",
        "git update-index --force-untracked-cache; ln -s /etc link; git add link; git status >/dev/null",
        1,
    ),
    (
        "blocks for threads",
        "o=$(git rev-parse HEAD:f); seq 30000 | sed \"s,.*,100644 $o\tp/&,\" | git update-index --index-info; git -c index.threads=4 update-index --index-version 4; git -c index.threads=4 update-index --force-write-index",
        1,
    ),
    ("empty", "git rm -rq .", 1),
];

#[test]
fn no_index_of_git_is_refused() {
    for format in ["sha1", "sha256"] {
        let hash = if format == "sha1" { 20 } else { 32 };
        for (what, script, count) in SCRIPTS {
            let Some(found) = indexes(format, script) else { return };
            assert!(found.len() >= *count, "{what}");
            if *what == "blocks for threads" {
                assert!(found[0].1.windows(4).any(|part| part == b"IEOT"), "{what}");
            }
            for (name, data) in found {
                assert_eq!(problem(&data, hash, later()), None, "{format}, {what}: {name}");
            }
        }
    }
}

/// An index of version 2 or 4 with these names, each without a prefix.
fn made(version: u32, names: &[&[u8]], mode: u32) -> Vec<u8> {
    let mut data = b"DIRC".to_vec();
    data.extend(version.to_be_bytes());
    data.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    let mut last = 0;
    for name in names {
        let mut entry = vec![0; 24];
        entry.extend(mode.to_be_bytes());
        entry.resize(60, 0);
        entry.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        if version == 4 {
            entry.push(last);
        }
        last = u8::try_from(name.len()).unwrap();
        entry.extend(*name);
        let padded = if version == 4 { entry.len() + 1 } else { (entry.len() + 8) & !7 };
        entry.resize(padded, 0);
        data.extend(entry);
    }
    data
}

fn extended(mut data: Vec<u8>, extensions: &[(&[u8], Vec<u8>)]) -> Vec<u8> {
    for (name, content) in extensions {
        data.extend(*name);
        data.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
        data.extend(content);
    }
    data.extend([0; 20]);
    data
}

#[test]
fn paths_and_places_that_git_does_not_write_are_refused() {
    for version in [2, 4] {
        for name in [&b"../x"[..], b"/x", b".git/hooks/x", b"a/../b", b""] {
            let data = extended(made(version, &[b"a", name], 0o100_644), &[]);
            assert!(problem(&data, 20, later()).unwrap().starts_with("it has "), "{version} {name:?}");
        }
        let good = made(version, &[b"a", b"b"], 0o100_644);
        let end = u32::try_from(good.len()).unwrap();
        let second = if version == 4 { 12 + 65 } else { 12 + 64 };
        let rows = |rows: &[(u32, u32)]| {
            let rows = rows.iter().flat_map(|(at, count)| [at.to_be_bytes(), count.to_be_bytes()]);
            [1_u32.to_be_bytes()].into_iter().chain(rows).flatten().collect::<Vec<u8>>()
        };
        let last = |at: u32| at.to_be_bytes().into_iter().chain([0; 20]).collect::<Vec<u8>>();
        let check =
            |extensions: &[(&[u8], Vec<u8>)]| problem(&extended(good.clone(), extensions), 20, later());
        assert_eq!(check(&[(b"IEOT", rows(&[(12, 1), (second, 1)])), (b"EOIE", last(end))]), None);
        assert!(check(&[(b"IEOT", rows(&[(12, 1), (end + 8, 1)]))]).is_some());
        assert!(check(&[(b"IEOT", rows(&[(12, 1)]))]).is_some());
        assert!(check(&[(b"EOIE", last(end + 8))]).is_some());
        let hidden = [&b"EOIE"[..], &24_u32.to_be_bytes(), &last(end + 8)].concat();
        assert!(check(&[(b"UNTR", hidden)]).is_some());
        let mut large = b"TREE".to_vec();
        large.extend([0xff; 4]);
        assert!(problem(&[good.clone(), large, vec![0; 20]].concat(), 20, later()).is_some());
    }
    let link = extended(made(2, &[b".gitmodules"], 0o120_000), &[]);
    assert!(problem(&link, 20, later()).is_some());
    assert!(problem(b"", 20, later()).is_some());
    let past = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
    assert!(problem(&extended(made(2, &[b"a"], 0o100_644), &[]), 20, past).is_some());
}

/// A name that ends before or after its length is read in two ways.
#[test]
fn a_name_has_the_length_that_it_says() {
    for length in [1_u16, 5] {
        let mut data = extended(made(2, &[b"abc"], 0o100_644), &[]);
        data[12 + 60..12 + 62].copy_from_slice(&length.to_be_bytes());
        assert!(problem(&data, 20, later()).is_some(), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// No change of an index makes the parser panic.
    #[test]
    fn the_parser_does_not_panic(
        which in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        short in any::<bool>(),
        hash in prop::sample::select(vec![20_usize, 32]),
    ) {
        static REAL: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
        let real = REAL.get_or_init(|| {
            let scripts = SCRIPTS.iter().filter(|row| row.0.starts_with("version") || row.0.starts_with("split"));
            let found = scripts.filter_map(|row| indexes("sha1", row.1)).flatten();
            found.map(|(_, data)| data).chain([extended(made(4, &[b"a", b"b"], 0), &[(b"IEOT", vec![0; 12])])]).collect()
        });
        let mut data = real[which % real.len()].clone();
        for (at, byte) in changes {
            let at = at.index(data.len());
            data[at] = byte;
        }
        if short {
            data.truncate(cut.index(data.len()));
        }
        let _checked = problem(&data, hash, later());
    }
}
