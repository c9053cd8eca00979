//! Changes that stay after the skill has gone.

mod agent_settings;
mod loader;
mod login_keys;
mod login_start;
mod prose_agent_files;
mod shell_start;
mod timer;

use crate::code::destination::classify;
use crate::code::fact::{FactKind, Hold, HostKind};
use crate::rules::rule::{Hit, Rule, Severity};
use crate::text::unit::Unit;

pub(super) const RULES: &[&Rule] = &[
    &agent_settings::RULE,
    &loader::RULE,
    &login_keys::RULE,
    &login_start::RULE,
    &shell_start::RULE,
    &timer::RULE,
    &prose_agent_files::RULE,
];

/// Returns the places where a unit's code makes something persist; `severity` rates the target and the text of the place.
fn holds(unit: &Unit<'_>, wanted: &[Hold], severity: fn(&str, &str) -> Severity) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for fact in &unit.reading().facts {
        let FactKind::Persists(hold, what) = &fact.what else { continue };
        if !wanted.contains(hold) || hits.iter().any(|hit| hit.range == fact.range) {
            continue;
        }
        let text = lines_around(unit.text(), &fact.range);
        let note = Some(format!("{}: {what}", hold.name()));
        hits.push(Hit { severity: Some(severity(what, text)), note, ..Hit::at(fact.range.clone()) });
    }
    hits
}

/// Returns true if a program is fetched from an untrusted host, saved, and made executable.
fn keeps_fetched(unit: &Unit<'_>) -> bool {
    const MADE_PROGRAM: &[&str] = &["chmod", "0o7", ".exe", "0755", "0o5"];
    let text = unit.text();
    let fetched = unit.reading().flowing().any(|(source, sink, _)| match (&source.what, &sink.what) {
        (FactKind::Fetches(from), FactKind::Saves(_)) => {
            matches!(from.kind(), HostKind::Other | HostKind::Drop | HostKind::Placeholder)
                && classify(&from.text).weight_of_running() == Severity::Critical
        }
        _ => false,
    });
    fetched && MADE_PROGRAM.iter().any(|sign| text.contains(sign))
}

/// Returns a range extended to whole lines.
fn lines_around<'t>(text: &'t str, range: &std::ops::Range<usize>) -> &'t str {
    let bytes = text.as_bytes();
    let start = memchr::memrchr(b'\n', &bytes[..range.start.min(bytes.len())]).map_or(0, |at| at + 1);
    let end =
        memchr::memchr(b'\n', &bytes[range.end.min(bytes.len())..]).map_or(bytes.len(), |at| range.end + at);
    text.get(start..end).unwrap_or_default()
}

/// Returns true if a text that will run later does what ordinary ones do not: fetch, decode, run out of temporary places.
fn is_suspect(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "curl ",
        "wget ",
        "base64",
        "/tmp/",
        "/dev/shm/",
        "/dev/tcp",
        "| sh",
        "| bash",
        "|sh",
        "|bash",
        "-enc ",
        "nohup ",
        "python -c",
        "python3 -c",
        "node -e",
        "ld_preload",
        "/.cache/",
        "mkfifo",
        "ncat ",
        "nc -",
        "invoke-expression",
    ];
    let text = text.to_ascii_lowercase();
    SIGNS.iter().any(|sign| text.contains(sign))
}
