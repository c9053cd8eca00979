//! Time that a long history takes. Not part of the ordinary run:
//! `cargo test --release -p ringfence-jail --lib -- --ignored --nocapture git::history`.

use super::*;

const COMMITS: usize = 10_000;

/// Makes a history by `git fast-import`, which is the only quick way.
fn long_history() -> Sandbox {
    let mut sandbox = Sandbox::new();
    let mut text = Vec::new();
    for number in 0..COMMITS {
        let path = format!("d{}/e{}/f{}", number % 13, number % 17, number % 19);
        let content = format!("{number}\n");
        text.push("commit refs/heads/main\n".to_owned());
        text.push(format!("committer n <n@example.org> {} +0000\ndata 2\nx\n", 1_700_000_000 + number));
        text.push(format!("M 100644 inline {path}\ndata {}\n{content}\n", content.len()));
        if number == 0 {
            text.extend(
                [".envrc", "d0/.envrc"].map(|path| format!("M 100644 inline {path}\ndata 6\nfirst\n\n")),
            );
        }
        if number == COMMITS / 2 {
            text.push("M 100644 inline .envrc\ndata 7\nsecond\n\n".to_owned());
        }
    }
    let stream = sandbox.top.with_extension("stream");
    fs::write(&stream, text.concat()).unwrap();
    let words = format!("exec git fast-import --quiet < '{}'", stream.display());
    let made = Command::new("sh").args(["-c", &words]).current_dir(&sandbox.top).status().unwrap();
    assert!(made.success());
    sandbox.git(&["repack", "-q", "-adf", "--depth=50", "--window=20"]);
    sandbox
}

#[test]
#[ignore = "a measurement"]
fn a_long_history_is_read_within_a_second() {
    let sandbox = long_history();
    let mut history = sandbox.history();
    for (path, content, expected) in [
        (".envrc", "second\n", YES),
        (".envrc", "third\n", Answer::No),
        (".envrc", "first\n", YES),
        ("d0/.envrc", "first\n", YES),
        ("d0/.envrc", "other\n", Answer::No),
        ("d1/e1/.envrc", "other\n", Answer::No),
    ] {
        let start = Instant::now();
        assert_eq!(history.had(path.as_bytes(), content.as_bytes(), later()), expected);
        println!("{path:<16} {:<12} {:?}", content.trim_end(), start.elapsed());
    }
}
