//! Data from another machine is run at once.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_RUN_AT_ONCE",
    category: Category::Download,
    severity: Severity::Critical,
    title: "a download is run at once",
    why: "What another machine sends is run, nobody has seen it before, and it can be different each time.",
    fix: "download into a file, check it against a known hash, and run the file",
    places: ANYWHERE,
    anchors: words!["curl", "wget", "aria2c", "nslookup", "\\bdig ", "lynx"],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if memchr::memchr2(b'|', b'(', unit.text().as_bytes()).is_none() && !unit.text().contains('`') {
        return Vec::new();
    }
    let steps = unit.commands().steps();
    let fetched = variables(unit.text());
    steps.filter_map(|step| hit(step).or_else(|| from_variable(step, &fetched))).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let piped = step.runs_stdin()
        || step
            .program
            .through
            .iter()
            .any(|argv| argv.words().iter().any(|word| word.text.ends_with("xargs")))
            && step.runs_words();
    let worst = |steps: &mut dyn Iterator<Item = Step<'_>>| {
        steps
            .filter_map(|from| weight(from).map(|weight| (weight, from.range())))
            .max_by_key(|(weight, _)| *weight)
    };
    let found = piped.then(|| worst(&mut step.sources())).flatten();
    let found = found.or_else(|| step.runs_words().then(|| worst(&mut step.substituted())).flatten());
    let (severity, from) = found?;
    let own = step.range();
    let severity =
        if severity == Severity::Warning && is_kept_quiet(step) { Severity::Critical } else { severity };
    Some(Hit { severity: Some(severity), ..Hit::at(own.start.min(from.start)..own.end.max(from.end)) })
}

/// Returns true if it runs with all rights and leaves no log that could be read afterwards.
fn is_kept_quiet(step: Step<'_>) -> bool {
    let before = step.number.checked_sub(1).and_then(|number| step.other(number));
    let is_root = before.is_some_and(|before| matches!(before.name().as_str(), "sudo" | "doas"));
    let says = |word: &str| {
        matches!(
            word,
            "--no-log" | "--no-logs" | "--nolog" | "--no-logging" | "--no-history" | "--hidden" | "--stealth"
        )
    };
    let redirects = step.redirects().iter().chain(before.iter().flat_map(|before| before.redirects()));
    let thrown = redirects.filter(|redirect| redirect.target.text == "/dev/null").count();
    is_root && (step.words().iter().any(|word| says(&word.text)) || thrown > 1)
}

/// Returns the severity of running what a program fetches.
fn weight(step: Step<'_>) -> Option<Severity> {
    if matches!(step.name().as_str(), "dig" | "nslookup" | "host") && !step.words().is_empty() {
        return Some(Severity::Critical);
    }
    let fetch = step.fetch().filter(|_| !step.words().is_empty())?;
    Some(fetch.from.weight_of_running())
}

/// Returns the variables that hold the output of a download, with the severity of running it.
fn variables(text: &str) -> Vec<(&str, Severity)> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), "=").take(1000) {
        let rest = text[at + 1..].trim_start_matches('"');
        if !rest.starts_with("$(curl")
            && !rest.starts_with("$(wget")
            && !rest.starts_with("`curl")
            && !rest.starts_with("`wget")
        {
            continue;
        }
        let before = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let start = before.len();
        let line = rest.lines().next().unwrap_or_default();
        let url =
            line.split(['"', '\'', ' ', ')', '`']).find(|word| word.contains("://")).unwrap_or_default();
        if at > start {
            found.push((&text[start..at], crate::code::destination::classify(url).weight_of_running()));
        }
    }
    found
}

/// Finds fetched data that is kept in a variable and run later.
fn from_variable(step: Step<'_>, fetched: &[(&str, Severity)]) -> Option<Hit> {
    if fetched.is_empty() || !(step.runs_words() || step.runs_stdin()) {
        return None;
    }
    let uses = |line: &str| {
        fetched
            .iter()
            .find(|(name, _)| line.contains(&format!("${name}")) || line.contains(&format!("${{{name}}}")))
    };
    let own = if step.runs_words() { uses(step.line()) } else { None };
    let (_, severity) = own
        .or_else(|| step.runs_stdin().then(|| step.feeders().find_map(|from| uses(from.line()))).flatten())?;
    Some(Hit { severity: Some(*severity), ..Hit::at(step.range()) })
}
