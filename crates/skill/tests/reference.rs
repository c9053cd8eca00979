//! The strict level against the reference validator: the same verdict on every skill.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::path::{Path, PathBuf};
use std::process::Command;

use ringfence_skill::{Front, Level, validate_front};

/// The reference, and the version that was compared.
const REFERENCE: &str = "skills-ref==0.1.1";

#[test]
fn the_strict_level_agrees_with_the_reference() {
    let directory = tempfile::tempdir().unwrap();
    let Some(python) = reference(directory.path()) else { return };
    let mut skills: Vec<(String, Vec<u8>)> =
        OWN.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    skills.extend(corpus());
    let skills: Vec<(PathBuf, Vec<u8>)> = skills
        .into_iter()
        .enumerate()
        .map(|(number, (name, text))| {
            let place = directory.path().join(number.to_string()).join(name);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("SKILL.md"), &text).unwrap();
            (place, text)
        })
        .collect();
    let verdicts = verdicts(&python, skills.iter().map(|(place, _)| place.as_path()));
    let mut wrong = Vec::new();
    for ((place, text), (valid, said)) in skills.iter().zip(&verdicts) {
        let name = place.file_name().unwrap().to_str().unwrap();
        let problems = match std::str::from_utf8(text) {
            // The reference reads every end of a line as one.
            Ok(text) => validate_front(&text.replace("\r\n", "\n"), name, Level::Strict),
            Err(_) => continue,
        };
        if problems.is_empty() != *valid {
            wrong.push(format!(
                "{name}: ours {problems:?}, reference {said}: {:.200}",
                String::from_utf8_lossy(text)
            ));
        }
    }
    assert_eq!(verdicts.len(), skills.len());
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), skills.len());
}

/// A Python with the reference in it; `None` where it cannot be had.
fn reference(directory: &Path) -> Option<PathBuf> {
    let what = "the reference validator of skills";
    let venv = directory.join("venv");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&venv).output();
    if !made.is_ok_and(|made| made.status.success()) {
        skip::skipped(what, "python3 -m venv does not work here");
        return None;
    }
    let python = venv.join("bin/python");
    let pip = Command::new(&python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--retries",
            "0",
            "--timeout",
            "10",
            REFERENCE,
        ])
        .output();
    if !pip.is_ok_and(|pip| pip.status.success()) {
        skip::skipped(what, "pip does not reach the package index");
        return None;
    }
    Some(python)
}

/// Returns the verdict of the reference on each directory: true if it is valid, and why not.
fn verdicts<'a>(python: &Path, places: impl Iterator<Item = &'a Path>) -> Vec<(bool, String)> {
    let program = "
import sys, pathlib
from skills_ref.validator import validate
for place in sys.argv[1:]:
    try:
        said = validate(pathlib.Path(place))
    except Exception as error:
        said = [repr(error)]
    print('bad ' + repr(said) if said else 'good')
";
    let output = Command::new(python).args(["-c", program]).args(places).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| (line == "good", line.to_owned())).collect()
}

/// The skills of the labelled corpus, each in a directory that is called as the skill calls itself.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let given = std::env::var_os("RINGFENCE_SKILLS").map(PathBuf::from);
    let root =
        given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/skills"));
    let Ok(entries) = std::fs::read_dir(&root) else {
        skip::skipped(
            "front matter of the corpus against the reference",
            "there is no corpus at RINGFENCE_SKILLS",
        );
        return Vec::new();
    };
    let skills = entries.flatten().filter_map(|entry| {
        let bytes = std::fs::read(entry.path().join("SKILL.md")).ok()?;
        let front = Front::read(std::str::from_utf8(&bytes).ok()?).ok().flatten();
        let name = front.as_ref().and_then(Front::name).unwrap_or("skill").to_owned();
        let usable =
            !name.is_empty() && name.len() < 100 && !name.contains(['/', '\0']) && !name.starts_with('.');
        Some((if usable { name } else { "skill".to_owned() }, bytes))
    });
    skills.collect()
}

const OWN: &[(&str, &str)] = &[
    ("a-b", "---\nname: a-b\ndescription: Does it.\n---\n# A\n"),
    ("a-b", "---\nname: a-c\ndescription: Does it.\n---\n"),
    ("a--b", "---\nname: a--b\ndescription: Does it.\n---\n"),
    ("-a", "---\nname: -a\ndescription: Does it.\n---\n"),
    ("A", "---\nname: A\ndescription: Does it.\n---\n"),
    ("a_b", "---\nname: a_b\ndescription: Does it.\n---\n"),
    ("größe", "---\nname: größe\ndescription: Does it.\n---\n"),
    ("ａ", "---\nname: ａ\ndescription: Does it.\n---\n"),
    ("x", "---\nname: x\n---\n"),
    ("x", "---\ndescription: y\n---\n"),
    ("x", "---\nname: x\ndescription:\n---\n"),
    ("x", "---\nname: x\ndescription: ''\n---\n"),
    ("x", "---\nname: x\ndescription: '  '\n---\n"),
    ("x", "---\nname: x\ndescription: >\n  two\n  lines\nlicense: MIT\n---\n"),
    ("x", "---\nname: x\ndescription: |\n  two\n  lines\n---\n"),
    ("x", "---\nname: x\ndescription: y\nversion: 1\n---\n"),
    ("x", "---\nname: x\ndescription: y\nallowed-tools: Read Bash(git:*)\n---\n"),
    ("x", "---\nname: x\ndescription: y\nallowed-tools:\n  - Read\n---\n"),
    ("x", "---\nname: x\ndescription: y\nallowed-tools: [Read]\n---\n"),
    ("x", "---\nname: x\ndescription: y\nmetadata: {a: b}\n---\n"),
    ("x", "---\nname: x\ndescription: y\nmetadata:\n  a: b\n  c: 1.0\n---\n"),
    ("x", "---\nname: x\nname: x\ndescription: y\n---\n"),
    ("x", "---\nname: &a x\ndescription: *a\n---\n"),
    ("x", "---\nname: x\ndescription: a: b\n---\n"),
    ("x", "---\nname: x\ndescription: \"a: b\"\n---\n"),
    ("x", "---\nname: x\ndescription: one --- two\n---\n"),
    ("x", "---\nname: x\ndescription: y\n"),
    ("x", "name: x\ndescription: y\n"),
    ("x", "---\n- name\n---\n"),
    ("x", "---\n---\n"),
    ("x", "---\nname: 1\ndescription: y\n---\n"),
    ("1", "---\nname: 1\ndescription: 2\n---\n"),
    ("x", "---\nname: x\ndescription: y\ncompatibility:\n  - a\n---\n"),
    ("x", "\u{feff}---\nname: x\ndescription: y\n---\n"),
    ("x", "---\r\nname: x\r\ndescription: y\r\n---\r\n"),
    ("x", "---\nname: x # said\ndescription: y\n---\n"),
    ("x", "---\n# said\nname: x\n\ndescription: y\n---\n"),
    ("x", "---\nname: !!str x\ndescription: y\n---\n"),
];

#[test]
fn lengths_are_those_of_the_reference() {
    let directory = tempfile::tempdir().unwrap();
    let Some(python) = reference(directory.path()) else { return };
    for (name, description, compatibility) in [(64, 1024, 500), (65, 1, 1), (1, 1025, 1), (1, 1, 501)] {
        let name = "n".repeat(name);
        let text = format!(
            "---\nname: {name}\ndescription: {}\ncompatibility: {}\n---\n",
            "é".repeat(description),
            "c".repeat(compatibility)
        );
        let place = directory.path().join(&name);
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("SKILL.md"), &text).unwrap();
        let said = verdicts(&python, std::iter::once(place.as_path()));
        assert_eq!(validate_front(&text, &name, Level::Strict).is_empty(), said[0].0, "{said:?}");
    }
}
