//! Programs that stop the machine, or everything on it.

use policy::{Code, Word};

use super::programs::Role;
use super::{Trial, shown};

/// `shutdown` and its kin.
pub(crate) fn stop(trial: &mut Trial<'_>) {
    let word = match trial.role {
        Role::Power => powered(trial),
        Role::Level => {
            trial.words.iter().find(|word| matches!(word.text.as_str(), "0" | "1" | "6" | "s" | "S"))
        }
        _ => served(trial),
    };
    let Some(word) = word else { return };
    let text = format!("`{}` would stop or restart the machine", shown(&word.text));
    trial.report(Code::Destructive, word, text, "no rule allows this; ask the person to do it");
}

fn powered<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let parts = trial.parts("", &[]);
    let harmless = match trial.name {
        "kexec" => !parts.has("e", &["exec"]),
        "shutdown" => parts.has("c", &["help", "version"]),
        _ => parts.has("", &["help", "version"]),
    };
    (!harmless).then_some(trial.first)
}

const SERVICE_VALUES: &[&str] = &[
    "type",
    "state",
    "property",
    "lines",
    "signal",
    "output",
    "host",
    "machine",
    "root",
    "image",
    "kill-whom",
    "kill-who",
    "what",
    "job-mode",
    "preset-mode",
    "boot-loader-entry",
    "check-inhibitors",
    "timestamp",
    "reboot-argument",
];

fn served<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    let parts = trial.parts("tpPnsoHM", SERVICE_VALUES);
    let mut operands = parts.operands().map(|piece| piece.word);
    let verb = operands.next()?;
    match verb.text.as_str() {
        "isolate" | "start" | "restart" => operands.find(|unit| stops(unit.text.trim_end_matches(".target"))),
        text => stops(text).then_some(verb),
    }
}

fn stops(name: &str) -> bool {
    matches!(
        name,
        "poweroff"
            | "reboot"
            | "halt"
            | "kexec"
            | "soft-reboot"
            | "emergency"
            | "rescue"
            | "shutdown"
            | "runlevel0"
            | "runlevel1"
            | "runlevel6"
            | "ctrl-alt-del"
    )
}

/// A signal to process -1 goes to every process.
pub(crate) fn kill(trial: &mut Trial<'_>) {
    let word = if trial.role == Role::KillAll { Some(trial.first) } else { broadcast(trial.words) };
    let Some(word) = word else { return };
    let text = format!("`{}` sends the signal to every process there is", shown(&word.text));
    trial.report(Code::Destructive, word, text, "name the processes by their numbers, or a job as `%1`");
}

fn broadcast(words: &[Word]) -> Option<&Word> {
    let first = words.first()?;
    let (signal, rest) = match first.text.as_str() {
        "-s" | "-n" | "--signal" => (words.get(1)?.text.as_str(), words.get(2..)?),
        "--" => ("", words.get(1..)?),
        text if text.starts_with('-') => (text.trim_start_matches('-'), words.get(1..)?),
        _ => ("", words),
    };
    if matches!(signal, "0" | "l" | "L") {
        return None;
    }
    rest.iter().find(|word| word.text.parse::<i64>() == Ok(-1))
}
