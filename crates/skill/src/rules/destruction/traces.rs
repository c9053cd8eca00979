//! Traces are removed.

use crate::code::command::Step;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DESTROY_TRACES",
    category: Category::Destruction,
    severity: Severity::Critical,
    title: "traces of what was done are removed",
    why: "Whoever removes the history of a shell or the records of a system does not want to be seen.",
    fix: "remove the command",
    places: ANYWHERE,
    anchors: words![
        "\\bhistory -c",
        "histfile",
        "_history",
        "/var/log",
        "wevtutil",
        "clear-eventlog",
        "auditctl",
        "histsize=0",
        "history -w",
        "shred ",
        "history -d",
        "/var/audit",
        "clear-history",
    ],
    check: Check::Unit(hits),
};

patterns! {
    WINDOWS = r"\bwevtutil(?:\.exe)?\s+(?:cl|clear-log)\b|\bClear-EventLog\b|\bauditctl\s+-e\s*0\b|\bClear-History\b";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let windows = WINDOWS.find_iter(unit.text().as_bytes()).take(5).map(|found| Hit::at(found.range()));
    let sets = unit.commands().steps().filter_map(hit).take(20);
    windows.chain(sets).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let empties = || {
        step.redirects().iter().any(|redirect| {
            redirect.direction == policy::Direction::Write
                && is_trace(step.spelled(&redirect.target))
                && is_nothing(step)
        })
    };
    let named = || step.words().iter().any(|word| is_trace(step.spelled(word)) || is_trace(&word.text));
    let sets_nothing =
        |text: &str| text == "HISTFILE=/dev/null" || text == "HISTSIZE=0" || text == "HISTFILE=";
    let is_hit = match step.name().as_str() {
        "history" => step.has("-c") || step.has("-cw"),
        "unset" => step.has("HISTFILE"),
        "export" | "set" => step.words().iter().any(|word| sets_nothing(&word.text)),
        "rm" if step.has_short('r') || step.has_short('R') => {
            named() || step.words().iter().any(|word| word.text.starts_with("/var/log/"))
        }
        "rm" | "shred" | "truncate" | "unlink" | "srm" => named(),
        "sed" => step.has_short('i') && named() && step.words().iter().any(|word| word.text.ends_with("/d")),
        "ln" => step.has("/dev/null") && named(),
        _ => empties(),
    };
    let assigned = step
        .program
        .assignments
        .iter()
        .any(|set| set.name == "HISTFILE" && matches!(set.value.text.as_str(), "" | "/dev/null"));
    (is_hit || assigned).then(|| Hit::at(step.range()))
}

/// Returns true if a program writes nothing, so that a file becomes empty.
fn is_nothing(step: Step<'_>) -> bool {
    match step.name().as_str() {
        "echo" | "printf" => step.words().iter().all(|word| word.text.is_empty() || word.text == "-n"),
        "cat" => step.has("/dev/null"),
        ":" | "true" | "" => true,
        _ => false,
    }
}

/// Returns true for the history of a shell, or the logs of the system as a whole.
fn is_trace(path: &str) -> bool {
    let path = path.trim_matches(|c| c == '"' || c == '\'');
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(
        name,
        ".bash_history"
            | ".zsh_history"
            | ".python_history"
            | ".node_repl_history"
            | ".history"
            | ".sh_history"
    ) || matches!(
        path,
        "/var/log"
            | "/var/log/"
            | "/var/log/*"
            | "/var/log/audit"
            | "/var/audit"
            | "/var/log/audit/*"
            | "/var/log/*.log"
            | "/var/log/**/*"
    ) || path.starts_with("/var/log/")
        && [
            "auth.log",
            "syslog",
            "secure",
            "messages",
            "wtmp",
            "btmp",
            "lastlog",
            "audit.log",
            "kern.log",
            "utmp",
            "auth.log*",
        ]
        .contains(&name)
}
