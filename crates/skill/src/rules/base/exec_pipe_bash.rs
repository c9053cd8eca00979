//! Data is piped to a shell, which runs it.

use crate::code::command::{Step, is_decoder, is_shell};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXEC_PIPE_BASH",
    category: Category::ExecInjection,
    severity: Severity::Critical,
    title: "output is piped to a shell",
    why: "The shell runs whatever comes through the pipe. Nobody has seen it before, and it can be different each time.",
    fix: "write the output to a file, look at it, and run the file",
    places: ANYWHERE,
    anchors: words![
        "| bash", "|bash", "| sh", "|sh", "| sudo", "|sudo", "| zsh", "|zsh", "| ksh", "|ksh", "| dash",
        "|dash", "| fish", "|fish", "| ash", "| /bin", "|/bin", "| /usr", "|/usr", "| env ", "| exec ", "|&",
        "| xargs", "curl", "wget", "base64",
    ],
    check: Check::Unit(hits),
};

patterns! {
    PIPED = r"\|[\s&\\]*(?:\S+\s+)*?\S*(?:sh|s.{1,3}h)\b";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if !PIPED.is_match(unit.text().as_bytes()) {
        return Vec::new();
    }
    let steps = unit.commands().steps();
    steps
        .filter(|step| is_shell(&step.name()) && step.runs_stdin())
        .filter_map(|step| hit(unit, step))
        .collect()
}

fn hit(unit: &Unit<'_>, shell: Step<'_>) -> Option<Hit> {
    let first = shell.feeders().last()?;
    // Two names with a bar between them are a table or a way to talk about it.
    let is_talk = first.words().is_empty()
        && shell.words().is_empty()
        && !matches!(unit.place, Place::Fence | Place::Script);
    if is_talk && matches!(first.name().as_str(), "curl" | "wget" | "sh" | "bash" | "zsh" | "python" | "node")
    {
        return None;
    }
    if unit.is_table_row() && shell.sources().all(|step| step.fetch().is_none()) {
        return None;
    }
    Some(Hit { severity: Some(severity(shell)), ..Hit::at(shell.range_from(first)) })
}

/// Returns the severity by the origin of the input: another machine, a decoder, or the text itself.
fn severity(shell: Step<'_>) -> Severity {
    if shell.feeders().any(is_decoder) {
        return Severity::Critical;
    }
    if let Some(worst) =
        shell.sources().filter_map(Step::fetch).map(|fetch| fetch.from.weight_of_running()).max()
    {
        return worst;
    }
    let Some(nearest) = shell.feeders().next() else { return Severity::Critical };
    let is_written_out = nearest.words().iter().all(policy::Word::is_literal);
    match nearest.name().as_str() {
        "echo" | "printf" if is_written_out => Severity::Note,
        "cat" if nearest.feeders().next().is_none() => Severity::Warning,
        "sed" | "awk" | "grep" | "envsubst" | "xargs" | "jq" => Severity::Warning,
        _ => Severity::Critical,
    }
}
