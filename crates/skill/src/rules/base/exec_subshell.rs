//! `$(curl …)` where its output is run.

use crate::code::destination::classify;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXEC_SUBSHELL",
    category: Category::ExecInjection,
    severity: Severity::Critical,
    title: "output of a command is run as a command",
    why: "A shell runs what stands in `$(…)` first and puts its output in the place; where a command is expected, the output is run.",
    fix: "fetch into a file, look at it, and run the file",
    places: ANYWHERE,
    anchors: words![
        "$(curl", "$( curl", "$(wget", "$( wget", "$(bash", "$( bash", "$(sh", "$( sh", "$(nc", "$( nc",
        "$(sudo", "$(/",
    ],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r"\$\(\s*(?:sudo\s+(?:-\w+\s+)*)?(?:/(?:usr/)?(?:local/)?bin/)?(?:curl|wget|bash|sh|nc|ncat)\b[^)\n]{0,400}\)?";
    RUNS = r#"(?:^|[;|&({!`]|\b(?:then|do|else|eval|exec|sudo|run|execute|source)\b|\s-[a-z]*[ce]\b)\s*["'`]?$"#;
    PIPES = r"\|\s*(?:sudo\s+)?(?:/\S*/)?(?:ba|z|da)?sh\b";
    ADDRESS = r#"\b(?:h..ps?|ftp)://[^\s"'`)]+"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let found = FOUND.find_iter(text).take(50);
    found
        .map(|found| Hit { severity: Some(severity(text, found.range())), ..Hit::at(found.range()) })
        .collect()
}

/// Output that is kept or shown is ordinary; output that is run is not, unless it comes from a known installer.
fn severity(text: &[u8], range: std::ops::Range<usize>) -> Severity {
    let line = memchr::memrchr(b'\n', &text[..range.start]).map_or(0, |at| at + 1);
    let line = line.max(range.start.saturating_sub(400));
    let runs_inside = PIPES.is_match(&text[range.clone()]);
    if !runs_inside && !RUNS.is_match(&text[line..range.start]) {
        return Severity::Note;
    }
    let address =
        ADDRESS.find(&text[range]).map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned());
    address.map_or(Severity::Critical, |address| classify(&address).weight_of_running())
}
