//! A scan, for people.

use std::fmt::Write as _;
use std::io;

use policy::Shown;
use skill::{Severity, Verdict, Via};

use super::pins::Difference;
use super::scan::ScanReport;
use super::scanned::{Found, Scanned};
use crate::terminal::Terminal;

/// Prints findings and the summary; what could not be read goes to standard error.
pub(crate) fn tell(whole: &ScanReport, show_suppressed: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
    for scanned in &whole.scanned {
        for found in scanned.found.iter().filter(|found| show_suppressed || found.suppression.is_none()) {
            writeln!(terminal.out, "{}", drawn(found, terminal.color))?;
        }
    }
    for scanned in &whole.scanned {
        for difference in &scanned.changed {
            writeln!(terminal.out, "{}", changed(scanned, difference))?;
        }
    }
    for gone in &whole.gone {
        writeln!(terminal.out, "{}: not as pinned: gone", Shown::path(gone))?;
    }
    write!(terminal.out, "{}", summary(whole, terminal.color))?;
    terminal.out.flush()?;
    for note in &whole.gathered.notes {
        writeln!(terminal.err, "note: {}: {}", Shown::path(&note.path), Shown::text(&note.why))?;
    }
    for trouble in whole.troubles() {
        let (path, why) = (Shown::path(&trouble.path), Shown::text(&trouble.why));
        writeln!(terminal.err, "error: {path} was not looked at: {why}")?;
    }
    Ok(())
}

/// One finding with its place.
pub(crate) fn drawn(found: &Found, color: bool) -> String {
    let finding = &found.finding;
    let number = finding.line.to_string();
    let gutter = " ".repeat(number.len());
    let mut lines = vec![
        format!("{}: {}", severity(finding.severity, finding.rule.id, color), finding.rule.title),
        format!("{gutter}--> {}:{number}:{}", Shown::path(&found.shown), finding.column),
    ];
    if let Some(window) = &found.window {
        lines.push(format!("{gutter} |"));
        lines.push(format!("{number} | {}", window.text));
        lines.push(format!("{gutter} | {}{}", window.before, window.carets));
    }
    let mut more = |word: &str, text: &str| lines.push(format!("{gutter} = {word}: {}", Shown::text(text)));
    finding.note.iter().for_each(|note| more("note", note));
    if !finding.via.is_empty() {
        more("via", &finding.via.iter().map(step).collect::<Vec<_>>().join(", "));
        more("reads", &finding.matched);
    }
    more("why", finding.rule.why);
    more("fix", finding.rule.fix);
    if let Some(suppression) = &found.suppression {
        more("accepted", &format!("{}: {}", suppression.word(), suppression.reason()));
    }
    lines.join("\n") + "\n"
}

/// Maximum number of characters shown of a tool, and of one of its lines.
const SHOWN: usize = 6_000;
const WIDTH: usize = 100;

/// Something that is not as it was pinned; a tool with everything that it says now, for a person to look at again.
fn changed(scanned: &Scanned, difference: &Difference) -> String {
    let line = difference.line();
    let mut lines = vec![format!("{}: not as pinned: {}", Shown::path(&scanned.shown), Shown::text(&line))];
    if let Some(now) = &difference.now {
        let place = scanned.place_of_change(difference);
        lines.push(format!("  --> {}:{}:{}", Shown::path(&place), now.at.0, now.at.1));
        lines.extend(folded(&format!("{:#}", now.whole)));
    }
    lines.join("\n")
}

/// A text beside a bar. A long line is folded and not cut: what matters may stand at its end.
fn folded(text: &str) -> Vec<String> {
    let (length, shown) = (text.chars().count(), text.chars().take(SHOWN).collect::<String>());
    let mut lines = Vec::new();
    for line in shown.lines() {
        let characters: Vec<char> = line.chars().collect();
        let parts = characters.chunks(WIDTH).map(|part| Shown::text(&String::from_iter(part)).to_string());
        lines.extend(parts.map(|part| format!("   | {part}")));
    }
    if length > SHOWN {
        lines.push(format!("   | … and {} characters more", length - SHOWN));
    }
    lines
}

/// A step on the way to a finding, in words.
pub(crate) fn step(via: &Via) -> String {
    match via {
        Via::Decoded(how) => format!("decoded from {how}"),
        Via::Value(pointer) => format!("the value {pointer}"),
        Via::From { path, line } => format!("{}:{line}", Shown::path(path)),
    }
}

fn severity(severity: Severity, rule: &str, color: bool) -> String {
    let code = match severity {
        Severity::Critical => "31",
        Severity::Warning => "33",
        Severity::Note => "36",
    };
    let plain = format!("{}[{rule}]", severity.name());
    if color { format!("\x1b[1;{code}m{plain}\x1b[0m") } else { plain }
}

/// One line for each place that is not clean, and one for all.
fn summary(whole: &ScanReport, color: bool) -> String {
    let mut text = String::new();
    for scanned in whole.scanned.iter().filter(|scanned| scanned.verdict != Verdict::Clean) {
        let counted = counted(scanned);
        // Writing to a text does not fail.
        let _written = writeln!(
            text,
            "{}: {} ({counted})",
            Shown::path(&scanned.shown),
            verdict(scanned.verdict, color)
        );
    }
    let count = |verdict: Verdict| whole.scanned.iter().filter(|scanned| scanned.verdict == verdict).count();
    let files = counted_as(whole.scanned.iter().map(|scanned| scanned.files).sum(), "file");
    let accepted: usize =
        whole.scanned.iter().map(|scanned| scanned.found.len() - scanned.open().count()).sum();
    let accepted =
        if accepted == 0 { String::new() } else { format!("; {} accepted", counted_as(accepted, "finding")) };
    let troubles = whole.troubles().count();
    let troubles = if troubles == 0 { String::new() } else { format!("; {troubles} not looked at") };
    let changed = whole.scanned.iter().filter(|scanned| !scanned.changed.is_empty()).count();
    let changed = changed + whole.gone.len();
    let changed = if changed == 0 { String::new() } else { format!("; {changed} not as pinned") };
    let [blocked, flagged, clean] = [Verdict::Blocked, Verdict::Flagged, Verdict::Clean].map(count);
    let places = whole.scanned.len();
    let _written = writeln!(
        text,
        "{places} scanned, {files}: {blocked} blocked, {flagged} flagged, {clean} clean{accepted}{changed}{troubles}"
    );
    text
}

fn counted(scanned: &Scanned) -> String {
    let [critical, warnings, notes] =
        [Severity::Critical, Severity::Warning, Severity::Note].map(|severity| scanned.count(severity));
    let critical = (critical > 0).then(|| format!("{critical} critical"));
    let others = [(warnings, "warning"), (notes, "note")].into_iter().filter(|(count, _)| *count > 0);
    let said = critical.into_iter().chain(others.map(|(count, word)| counted_as(count, word)));
    said.collect::<Vec<_>>().join(", ")
}

/// A number of things.
pub(crate) fn counted_as(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// The word for a verdict, in its colour.
fn verdict(verdict: Verdict, color: bool) -> String {
    let code = match verdict {
        Verdict::Blocked => "31",
        Verdict::Flagged => "33",
        Verdict::Clean => "32",
    };
    let word = verdict.word();
    if color { format!("\x1b[1;{code}m{word}\x1b[0m") } else { word.to_owned() }
}
