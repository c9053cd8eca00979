//! `docs/events.md` says what the code does.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ledgers::{Room, skipped};
use ringfence_audit::{EVENTS, EventShape, FieldShape, Records};

const BEGIN: &str = "<!-- events: begin.";
const END: &str = "<!-- events: end -->";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md")
}

fn document() -> String {
    std::fs::read_to_string(file()).unwrap()
}

#[test]
fn the_table_of_events_is_up_to_date() {
    let document = document();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (marker, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{marker}\n\n{}\n{END}{after}", table());
    if std::env::var_os("RINGFENCE_BLESS").is_some() {
        std::fs::write(file(), &wanted).unwrap();
    }
    assert!(
        self::document() == wanted,
        "docs/events.md is out of date: set RINGFENCE_BLESS=1 to render it again"
    );
}

fn table() -> String {
    let mut out = String::from("| Event | Field | Holds | Means |\n|---|---|---|---|\n");
    for event in EVENTS {
        let EventShape { name, doc, class, activity, severity, fields, .. } = event;
        let (class, severity) = (*class as u16, format!("{severity:?}").to_lowercase());
        writeln!(out, "| `{name}` | | OCSF {class}/{activity}, {severity} | {} |", doc.trim()).unwrap();
        fields.iter().for_each(|field| out.push_str(&row(field)));
    }
    out
}

fn row(field: &FieldShape) -> String {
    let optional = if field.optional { "?" } else { "" };
    let holds = match field.words {
        [] => field.kind.to_owned(),
        words => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
    };
    let row = format!("| | `{}`{optional} | {holds} | {} |\n", field.name, field.doc.trim());
    match field.kind {
        "arguments" => format!(
            "{row}| | `{}_sha256` | SHA-256 | The hash of all of it, before redaction. |\n",
            field.name
        ),
        _ => row,
    }
}

#[test]
fn every_event_under_another_name_is_one_of_ours() {
    let document = document();
    let (_, names) = document.split_once("## Other names").unwrap();
    let mut known = 0;
    for row in names.lines().filter(|line| line.starts_with("| ") && !line.contains("Commonly called")) {
        let ours = row.split('|').nth(2).unwrap();
        let events = ours.split('`').filter(|word| word.contains('.')).collect::<Vec<_>>();
        assert!(!events.is_empty(), "{row}");
        for event in events {
            assert!(EVENTS.iter().any(|shape| shape.name == event), "{row}");
            known += 1;
        }
    }
    assert!(known > 40);
}

/// Runs the script of the document over a file. None if there is no Python here.
fn script(path: &Path) -> Option<(bool, String)> {
    let document = document();
    let (_, rest) = document.split_once("```python\n").unwrap();
    let (script, _) = rest.split_once("```").unwrap();
    let mut child = match Command::new("python3")
        .arg("-")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
    {
        Ok(child) => child,
        Err(error) => {
            skipped("the script of docs/events.md", &format!("python3: {error}"));
            return None;
        }
    };
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    Some((done.status.success(), String::from_utf8(done.stdout).unwrap().trim().to_owned()))
}

#[test]
fn the_script_of_the_document_agrees_with_us() {
    let room = Room::filled(20);
    let head = Records::head(&room.path()).unwrap().to_string();
    let Some(result) = script(&room.path()) else { return };
    assert_eq!(result, (true, head));

    let lines = room.lines();
    let changed = lines.concat().replacen("tester", "toaster", 1);
    let removed = [&lines[..4], &lines[5..]].concat().concat();
    let swapped = [&lines[..4], &[lines[5].clone(), lines[4].clone()][..], &lines[6..]].concat().concat();
    for text in [changed, removed, swapped] {
        room.write(text);
        assert_eq!(script(&room.path()), Some((false, String::new())));
    }
}

#[test]
fn the_script_of_the_document_reads_every_file_of_a_ledger() {
    let room = Room::new();
    let ledger = room.open_with(|options| options.rotate_at = 1500);
    (0..20).for_each(|number| ringfence_audit::Sink::record(&ledger, &ledgers::tool(number)).unwrap());
    for name in room.names() {
        let Some((fine, head)) = script(&room.dir().join(&name)) else { return };
        assert!(fine && (name != "ledger.jsonl" || head == ledger.head().to_string()), "{name}: {head}");
    }
}
