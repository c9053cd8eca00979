//! `ringfence review` and `ringfence apply --patch` at a real terminal.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::path::PathBuf;

use stage::person::Person;
use stage::{PROGRAM, Stage};

const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n";

/// Changes two places of `text` that are near each other and one further down; removes a file, adds one, and
/// writes one with terminal escape sequences.
const SCRIPT: &str = r"sed -i 's/^2$/two/; s/^5$/five/; s/^18$/eighteen/' text; rm gone; echo new >new; printf '\033[31mred\ttab\n' >red";

fn begin() -> Option<(Stage, Person)> {
    let (stage, person) = (Stage::new()?, Person::sits_down()?);
    fs::write(path(&stage, "text"), OLD).unwrap();
    fs::write(path(&stage, "gone"), "gone\n").unwrap();
    let ended = stage.command().args(["run", "--overlay", "--", "/bin/sh", "-ec", SCRIPT]).output().unwrap();
    if !ended.status.success() {
        stage::skipped("choosing at a terminal", &String::from_utf8_lossy(&ended.stderr));
        return None;
    }
    Some((stage, person))
}

fn path(stage: &Stage, name: &str) -> PathBuf {
    stage.path("ws").join(name)
}

fn read(stage: &Stage, name: &str) -> Option<String> {
    fs::read_to_string(path(stage, name)).ok()
}

#[test]
fn parts_are_chosen_one_by_one() {
    // The answers, in the order gone, new, red, text; and the result.
    let rows: &[(&[&str], &[&str], &str)] = &[
        // gone, new, red; then both parts of the text.
        (&["n", "y", "n", "y", "n"], &["gone", "new"], "1\ntwo\n3\n4\nfive\n"),
        (&["y", "n", "n", "s", "n", "y", "n"], &[], "1\n2\n3\n4\nfive\n"),
        (&["y", "y", "q"], &["new"], "1\n2\n3\n4\n5\n"),
        (&["n", "n", "n", "a"], &["gone"], "1\ntwo\n3\n4\nfive\n"),
        (&["n", "n", "n", "d"], &["gone"], "1\n2\n3\n4\n5\n"),
        (&["x", "n", "?", "n", "y", "n", "y"], &["gone", "red"], "1\n2\n3\n4\n5\n"),
        // End of input.
        (&["n", "y", "\x04"], &["gone", "new"], "1\n2\n3\n4\n5\n"),
    ];
    for (answers, there, text) in rows {
        let Some((stage, mut person)) = begin() else { return };
        // Input typed ahead of a question does not answer it.
        person.types("y\ry\ry\r");
        person.starts(&stage, &[PROGRAM, "apply", "--patch"]);
        for answer in *answers {
            let shown = person.sees("?]? ");
            assert!(!shown.contains("\x1b[31mred"), "{shown:?}");
            let end = if *answer == "\x04" { "" } else { "\r" };
            person.types(&format!("{answer}{end}"));
        }
        let (status, shown) = person.waits();
        assert_eq!(status.code(), Some(0), "{answers:?}: {shown}");
        for name in ["gone", "new", "red"] {
            assert_eq!(read(&stage, name).is_some(), there.contains(&name), "{answers:?} {name}: {shown}");
        }
        let found = read(&stage, "text").unwrap();
        assert!(found.starts_with(text), "{answers:?}: {found}\n{shown}");
        let all = answers.contains(&"a") || *answers.last().unwrap() == "y";
        assert_eq!(found.contains("eighteen"), all, "{answers:?}: {found}");
        // The rest is still in the overlay.
        let rest = stage.command().args(["apply"]).output().unwrap();
        assert!(rest.status.success(), "{answers:?}: {rest:?}");
        assert!(read(&stage, "text").unwrap().contains("eighteen") && read(&stage, "gone").is_none());
    }
}

/// Commits that touch protected names are reported, and a person decides.
#[test]
fn a_person_is_asked_about_commits() {
    for (answer, code, commits) in [("y", 0, "sneaky\nfirst\n"), ("n", 1, "first\n")] {
        let Some((stage, mut person)) = begin() else { return };
        if !stage::has("git", "commits at a terminal") {
            return;
        }
        let git = |words: &[&str]| {
            let mut git = std::process::Command::new("git");
            let words = ["-c", "user.name=a", "-c", "user.email=a@b"].iter().chain(words);
            let ended = stage.surround(&mut git).args(words).output().unwrap();
            assert!(ended.status.success(), "{ended:?}");
            String::from_utf8(ended.stdout).unwrap()
        };
        git(&["init", "-q", "-b", "main"]);
        git(&["add", "."]);
        git(&["commit", "-qm", "first"]);
        let script =
            "echo fresh >.envrc; git add .envrc; git -c user.name=x -c user.email=x@y commit -qm sneaky";
        let mut run = stage.command();
        run.args([
            "run",
            "--overlay=new",
            "--env",
            &format!("SCRIPT={script}"),
            "--",
            "/bin/sh",
            "-ec",
            "eval \"$SCRIPT\"",
        ]);
        let ended = run.output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        person.starts(&stage, &[PROGRAM, "apply"]);
        person.sees(".envrc is added. It is protected: ");
        person.sees("Apply it? [y/N] ");
        person.types(&format!("{answer}\r"));
        let shown = person.sees("Apply .git with that? [y/N] ");
        assert!(shown.contains("(sneaky) brings .envrc: "), "{shown}");
        person.types(&format!("{answer}\r"));
        let (status, shown) = person.waits();
        assert_eq!(status.code(), Some(code), "{answer}: {shown}");
        assert_eq!(git(&["log", "--format=%s"]), commits, "{answer}: {shown}");
        assert_eq!(read(&stage, ".envrc").is_some(), answer == "y");
    }
}

#[test]
fn without_a_terminal_there_is_a_way() {
    let Some((stage, _)) = begin() else { return };
    let ended = stage.command().args(["apply", "-p"]).output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(64), "{told}");
    assert!(
        told.contains("there is no terminal to ask at") && told.contains("hint: name what you want"),
        "{told}"
    );
    assert_eq!(read(&stage, "text").unwrap(), OLD);
}

/// The pager gets text without terminal escape sequences, and may start no programs.
#[test]
fn a_pager_shows_a_review() {
    // Variables, options, and true if the pager is used.
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], bool);
    let tells = "echo secure=$LESSSECURE open=$LESSOPEN; cat -v; echo paged";
    let rows: &[Row<'_>] = &[
        (&[("PAGER", tells), ("LESSOPEN", "|evil %s")], &[], true),
        (&[("RINGFENCE_PAGER", tells), ("PAGER", "false")], &[], true),
        (&[("PAGER", tells)], &["--no-pager"], false),
        (&[("PAGER", tells)], &["--format", "json"], false),
        (&[("PAGER", "cat")], &[], false),
        (&[("RINGFENCE_PAGER", ""), ("PAGER", tells)], &[], false),
    ];
    for (variables, options, paged) in rows {
        let Some((stage, mut person)) = begin() else { return };
        let set: Vec<_> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut words = vec!["env", "NO_COLOR=1"];
        words.extend(set.iter().map(String::as_str));
        words.extend([PROGRAM, "review"]);
        words.extend(*options);
        person.starts(&stage, &words);
        let (status, shown) = person.waits();
        assert_eq!(status.code(), Some(0), "{variables:?}: {shown}");
        assert_eq!(shown.contains("paged"), *paged, "{variables:?}: {shown}");
        assert!(!shown.contains('\x1b'), "{variables:?}: {shown:?}");
        if *paged {
            assert!(
                shown.contains("secure=1 open=\r\n") && shown.contains("+\\u{1b}[31mred^Itab")
                    || shown.contains("+\\u{1b}[31mred\ttab"),
                "{shown:?}"
            );
        }
    }
}
