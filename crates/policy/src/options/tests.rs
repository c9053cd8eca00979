//! The table of options, held against itself and against the help of the programs that are installed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::*;

#[path = "../../../../tests/skip.rs"]
mod skip;

/// A command of the table, and the words that make its program tell its options.
const HELP: &[(&str, &str)] = &[
    ("rm", "--help"),
    ("cp", "--help"),
    ("mv", "--help"),
    ("ln", "--help"),
    ("chmod", "--help"),
    ("chown", "--help"),
    ("chgrp", "--help"),
    ("ls", "--help"),
    ("mkdir", "--help"),
    ("rmdir", "--help"),
    ("touch", "--help"),
    ("cat", "--help"),
    ("shred", "--help"),
    ("truncate", "--help"),
    ("sed", "--help"),
    ("grep", "--help"),
    ("curl", "--help all"),
    ("wget", "--help"),
    ("tar", "--help"),
    ("gzip", "--help"),
    ("useradd", "--help"),
    ("usermod", "--help"),
    ("passwd", "--help"),
    ("journalctl", "--help"),
    ("systemctl", "--help"),
    ("make", "--help"),
    ("mount", "--help"),
    ("umount", "--help"),
    ("pkill", "--help"),
    ("killall", "--help"),
    ("git push", "-h"),
    ("git commit", "-h"),
    ("git reset", "-h"),
    ("git clean", "-h"),
    ("git branch", "-h"),
    ("git checkout", "-h"),
    ("git switch", "-h"),
    ("git restore", "-h"),
    ("git rebase", "-h"),
    ("git merge", "-h"),
    ("git pull", "-h"),
    ("git fetch", "-h"),
    ("git clone", "-h"),
    ("git add", "-h"),
    ("git rm", "-h"),
    ("git tag", "-h"),
    ("docker", "--help"),
    ("docker run", "--help"),
    ("docker rm", "--help"),
    ("docker exec", "--help"),
    ("docker container rm", "--help"),
    ("pip install", "--help"),
    ("pip uninstall", "--help"),
    ("cargo", "--help"),
    ("cargo build", "--help"),
    ("cargo publish", "--help"),
    ("cargo install", "--help"),
];

/// Lines of helps that do not say all, or are no options.
const INACCURATE: &[(&str, &str)] = &[
    ("cp", "-u, --update "),           // takes an attached value since coreutils 9.3
    ("mv", "-u, --update "),           // the same
    ("ls", "-p, --indicator-style="),  // short for one value of the other
    ("curl", "-h, --help <category>"), // the category may be left out
    ("wget", "--max-redirect "),       // takes a value: wget(1)
    ("wget", "--hsts-file "),          // the same
    ("tar", "--diff, --extract or "),  // the rest of a sentence
];

/// One option in a line of a program's help: its names, and the text behind them.
#[derive(Debug)]
struct Told<'a> {
    names: Vec<String>,
    takes: Option<Takes>,
    line: &'a str,
}

#[test]
fn every_row_is_read_and_every_name_leads_to_its_option() {
    assert_eq!(entries().len(), COMMANDS.lines().count());
    for (entry, line) in entries().iter().zip(COMMANDS.lines()) {
        for name in line.split('|').next().unwrap().split(',') {
            assert!(std::ptr::eq(find_command(name), entry), "{name}");
        }
        for option in entry.options.split(' ').filter(|token| !token.is_empty()).map(OptionEntry::read) {
            for name in option.names() {
                assert_eq!(entry.option(name), Some(option), "{name}");
            }
        }
    }
}

#[test]
fn versions_of_a_program_are_the_program() {
    for (program, known) in
        [("python3.12", true), ("pip3", true), ("python", true), ("tool", false), ("7", false), ("", false)]
    {
        assert_eq!(CommandEntry::of(program).is_some(), known, "{program}");
    }
}

/// Names that a program tells to be one option are one in the table, and so is whether the option takes a value. What
/// only one of both has is left alone: versions differ.
#[test]
fn installed_programs_agree_with_the_table() {
    let mut wrong = Vec::new();
    for (command, question) in HELP {
        let entry = find_command(command);
        let Some(help) = help(command, question) else {
            skip::skipped(&format!("the options of {command}"), "it is not installed or does not answer");
            continue;
        };
        let is_accurate = |line: &&str| {
            !INACCURATE.iter().any(|(of, start)| of == command && line.trim_start().starts_with(start))
        };
        let told: Vec<_> = help.lines().filter(is_accurate).filter_map(told).collect();
        let known = |told: &&Told<'_>| told.names.iter().any(|name| entry.option(name).is_some());
        let shared: Vec<_> = told.iter().filter(known).collect();
        assert!(shared.len() * 10 >= told.len() * 7, "{command}: {} of {}", shared.len(), told.len());
        wrong.extend(shared.iter().filter_map(|told| Some(format!("{command}: {}", differs(entry, told)?))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn find_command(command: &str) -> &'static CommandEntry {
    let mut words = command.split(' ');
    let program = CommandEntry::of(words.next().unwrap()).unwrap();
    words.fold(program, |entry, word| entry.subcommand(word).unwrap_or_else(|| panic!("{command}")))
}

/// The help of a program; `None` when it is not there.
fn help(command: &str, question: &str) -> Option<String> {
    let mut words = command.split(' ').chain(question.split(' '));
    let mut program = Command::new(words.next()?);
    let program = program.args(words).stdin(Stdio::null()).env("LC_ALL", "C").env("COLUMNS", "200");
    let output = program.env_remove("RUSTUP_TOOLCHAIN").output().ok()?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (text.lines().filter_map(told).count() > 0).then_some(text)
}

/// Reads `  -o, --output=FILE   what it does`.
fn told(line: &str) -> Option<Told<'_>> {
    let text = line.strip_prefix(' ')?.trim_start();
    let joined = text.replace(",  ", ", ").replace(",   ", ", ").replace(",  ", ", ");
    let head = joined.split("  ").next()?.split('\t').next()?.to_owned();
    let (mut names, mut takes) = (Vec::new(), None);
    for part in head.split(", ") {
        let part = part.replace("[no-]", "").replace("--[no]", "--");
        let end =
            part.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.#".contains(c))).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        if !name.starts_with('-') || name.trim_matches('-').is_empty() {
            return None;
        }
        names.push(name.trim_end_matches('.').to_owned());
        takes = match rest.chars().next() {
            None => takes.or(Some(Takes::Nothing)),
            Some('[') => Some(Takes::Attached),
            Some('=') if !rest.starts_with("=[") => Some(Takes::Value),
            Some(' ') if rest.starts_with(" <") => Some(Takes::Value),
            // A bare word is a value or the explanation.
            _ => return Some(Told { names, takes: None, line }),
        };
    }
    Some(Told { names, takes, line })
}

/// Returns the difference between the table and the help.
fn differs(entry: &'static CommandEntry, told: &Told<'_>) -> Option<String> {
    let known: BTreeMap<_, _> =
        told.names.iter().filter_map(|name| Some((name, entry.option(name)?))).collect();
    let (_, first) = known.first_key_value()?;
    if let Some((name, _)) = known.iter().find(|(_, option)| *option != first) {
        return Some(format!("`{name}` is another option in the table: {}", told.line));
    }
    let wanted = told.takes?;
    let given = if first.takes == Takes::OptionName { Takes::Value } else { first.takes };
    (wanted != given).then(|| format!("takes {wanted:?}, in the table {given:?}: {}", told.line))
}
