//! The labelled corpus: what real bash, dash and zsh ran, against what the reader says.
//!
//! Two generated lines that were labelled as substitutions are plain commands on a line of their own, and counted so.
//! The scores stand in `corpus/scores.md`. A better score is written there with `RINGFENCE_BLESS=1`; a worse one fails.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod judged;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use judged::{Mode, lists, verdict};
use policy::Effect;
use ringfence_shell::{Dialect, Surroundings};
use serde_json::Value;

const CORPUS: &str = include_str!("corpus/corpus.jsonl");
const SHELLS: &[&str] = &["bash", "dash", "zsh"];
const HEAD: &str = "# Scores on the labelled corpus\n\n| mode | group | wrong | of |\n|---|---|---:|---:|\n";
/// Number of wrong lines of a group that are shown.
const SHOWN: usize = 12;

/// One labelled line.
struct Line {
    id: String,
    text: Vec<u8>,
    kind: String,
    class: String,
    /// A hidden program ran in some shell.
    ran: bool,
    /// The programs that ran: the payload, what stands in for `echo` around it, or both.
    hits: Vec<String>,
    /// Some shell accepts it, and nothing hidden is in it: refusing it is a mistake.
    dead: bool,
    /// zsh replaced `=program` by its path.
    equals: bool,
}

/// Mistakes in one group of lines.
#[derive(Default)]
struct Group {
    total: usize,
    wrong: Vec<String>,
}

/// Groups by mode and name.
type Scores = BTreeMap<(&'static str, String), Group>;

#[test]
fn nothing_hidden_is_called_plain_and_little_that_is_plain_is_refused() {
    let scores = score(&lines());
    let table = table(&scores);
    println!("{table}{}", details(&scores));
    bless(&table);
    for ((mode, name), group) in &scores {
        if name.starts_with("FN") {
            assert!(group.wrong.is_empty(), "{mode}: {name}: {} hidden programs missed", group.wrong.len());
        }
        if name == "FP benign" {
            assert!(group.wrong.len() * 100 <= group.total, "{mode}: more than 1 % of plain lines refused");
        }
    }
    hold(&scores, &table);
}

fn lines() -> Vec<Line> {
    CORPUS.lines().map(|row| line(&serde_json::from_str(row).unwrap())).collect()
}

fn line(row: &Value) -> Line {
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    let some_of = |key: &str| row[key].as_array().is_some_and(|names| !names.is_empty());
    let bytes = row["command_b64"]
        .as_str()
        .map_or_else(|| text("command").into_bytes(), |coded| BASE64_STANDARD.decode(coded).unwrap());
    let (ran, is) = (some_of("ran"), |key: &str| row[key].as_bool().unwrap_or(false));
    Line {
        id: text("id"),
        text: bytes,
        kind: text("kind"),
        class: text("class"),
        ran,
        hits: row["hits"].as_array().map_or_else(
            || vec!["pwn".to_owned()],
            |names| names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        ),
        dead: is("dead") && some_of("parses") && !ran,
        equals: is("equals"),
    }
}

fn score(lines: &[Line]) -> Scores {
    let mut scores = Scores::new();
    for line in lines {
        let around =
            Surroundings { dialects: Dialect::ALL, cwd: Some("/box0/w"), home: Some("/home/u"), stdin: None };
        let read = ringfence_shell::read(&line.text, &around);
        for (mode, name) in [(Mode::Strict, "strict"), (Mode::Standard, "standard")] {
            let blocked = verdict(&read, mode) != Effect::Allow;
            let Some((group, wrong)) =
                line.judge(mode, blocked, line.hits.iter().all(|name| lists(&read, name)))
            else {
                continue;
            };
            let group = scores.entry((name, group)).or_default();
            group.total += 1;
            if wrong {
                let codes: Vec<_> = read.findings.iter().map(|finding| finding.code.id()).collect();
                group.wrong.push(format!("{} {} {} {}", line.id, line.class, line.shown(), codes.join(" ")));
            }
        }
    }
    scores
}

impl Line {
    /// The group that a line counts in, and whether it is judged wrong. In strict mode a substitution has to be refused;
    /// in standard mode it is enough that the program in it is listed.
    fn judge(&self, mode: Mode, blocked: bool, listed: bool) -> Option<(String, bool)> {
        let kind = self.kind.as_str();
        if self.ran {
            let group = if matches!(kind, "subst" | "arith") { "subst" } else { kind };
            let enough = mode == Mode::Standard || matches!(kind, "wrapper" | "cmdpos" | "indirect");
            return Some((format!("FN {group}"), !(blocked || listed && enough)));
        }
        if self.dead {
            let group = if kind == "benign" { "FP benign" } else { "FP dead" };
            return Some((group.to_owned(), blocked));
        }
        self.equals.then(|| ("FN =cmd".to_owned(), !blocked))
    }

    fn shown(&self) -> String {
        format!("{:?}", String::from_utf8_lossy(&self.text))
    }
}

fn table(scores: &Scores) -> String {
    let mut table = HEAD.to_owned();
    for ((mode, name), group) in scores {
        writeln!(table, "| {mode} | {name} | {} | {} |", group.wrong.len(), group.total).unwrap();
    }
    table
}

fn details(scores: &Scores) -> String {
    let mut text = String::new();
    for ((mode, name), group) in scores.iter().filter(|(_, group)| !group.wrong.is_empty()) {
        writeln!(text, "\n{mode}: {name}: {} of {}", group.wrong.len(), group.total).unwrap();
        group.wrong.iter().take(SHOWN).for_each(|line| writeln!(text, "  {line}").unwrap());
    }
    text
}

/// Holds the scores against those that are checked in.
fn hold(scores: &Scores, table: &str) {
    let kept = fs::read_to_string(kept_scores()).unwrap();
    let worse: Vec<_> = scores
        .iter()
        .filter(|((mode, name), group)| group.wrong.len() > kept_count(&kept, mode, name))
        .map(|((mode, name), _)| format!("{mode}: {name}"))
        .collect();
    assert!(worse.is_empty(), "worse than the checked-in scores: {worse:?}");
    assert_eq!(kept, table, "the scores differ from the checked-in ones: write them with RINGFENCE_BLESS=1");
}

fn bless(table: &str) {
    if env::var_os("RINGFENCE_BLESS").is_some() {
        fs::write(kept_scores(), table).unwrap();
    }
}

fn kept_scores() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/scores.md")
}

/// Returns the number of mistakes in the table; a group that is not there had none.
fn kept_count(table: &str, mode: &str, name: &str) -> usize {
    let start = format!("| {mode} | {name} | ");
    let row = table.lines().find_map(|line| line.strip_prefix(&start));
    row.map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn the_corpus_is_whole() {
    let lines = lines();
    let count = |test: fn(&Line) -> bool| lines.iter().filter(|line| test(line)).count();
    let known = SHELLS.iter().all(|shell| CORPUS.contains(&format!("\"{shell}\"")));
    assert!(known && lines.len() == 2027, "{} lines", lines.len());
    assert!(count(|line| line.ran) > 1_000 && count(|line| line.kind == "benign") > 200);
}
