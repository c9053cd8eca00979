//! Programs that carry data to another machine.

use policy::{Code, Word};

use super::change::Extent;
use super::options::Parts;
use super::programs::Role;
use super::{Trial, shown};

pub(crate) fn judge(trial: &mut Trial<'_>) {
    let sends = if trial.role == Role::Send {
        serves_program(trial);
        Some(trial.first)
    } else {
        transfer(trial)
    };
    let Some(word) = sends.filter(|_| trial.program.stage > 0) else { return };
    let text =
        format!("what comes through the pipe would go to another machine with `{}`", shown(&word.text));
    let remedy = "write it to a file first, and ask the person to send it";
    trial.report(Code::NetworkSender, word, text, remedy);
}

/// `nc -e`, `socat exec:`: the other end gets a program.
fn serves_program(trial: &mut Trial<'_>) {
    let Some(word) = served_program(trial) else { return };
    let text =
        format!("`{}` with `{}` gives another machine a program to use", trial.name, shown(&word.text));
    trial.report(Code::PipeTarget, word, text, "leave the program out, and only carry data");
}

fn served_program<'a>(trial: &Trial<'a>) -> Option<&'a Word> {
    match trial.name {
        "socat" => trial.words.iter().find(|word| is_program_address(&word.text)),
        "telnet" => None,
        _ => trial
            .parts("ipqswxXTmgGIoO", &[])
            .option("ec", &["exec", "sh-exec", "lua-exec"])
            .map(|piece| piece.word),
    }
}

fn is_program_address(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["exec:", "system:", "shell:"]
        .iter()
        .any(|kind| lower.starts_with(kind) || lower.contains(&format!("!!{kind}")))
}

const CURL_VALUES: &[&str] =
    &["output", "output-dir", "request", "upload-file", "data", "form", "header", "user", "url"];
const WGET_VALUES: &[&str] =
    &["output-document", "directory-prefix", "output-file", "header", "user", "method"];

/// `curl` and `wget`: where they write, and the option by which they send.
fn transfer<'a>(trial: &mut Trial<'a>) -> Option<&'a Word> {
    let is_curl = trial.name == "curl";
    let parts = if is_curl {
        trial.parts("AbcCdDeEFHKmoPQrtTuUwxXyYz", CURL_VALUES)
    } else {
        trial.parts("OPoaiBtTwQlARDIXUe", WGET_VALUES)
    };
    let (letters, names): (_, &[&str]) = if is_curl {
        ("oDc", &["output", "output-dir", "dump-header", "cookie-jar"])
    } else {
        ("OPoa", &["output-document", "directory-prefix", "output-file", "append-output"])
    };
    parts.values(letters, names).for_each(|piece| trial.changes(piece, Extent::Inside));
    uploads(&parts, is_curl)
}

fn uploads<'a>(parts: &Parts<'a>, is_curl: bool) -> Option<&'a Word> {
    let by_letter = parts.option(if is_curl { "dFT" } else { "" }, &[]);
    let by_name = || {
        let starts = ["data", "form", "upload-file", "json", "post-", "body-"];
        parts
            .long_names()
            .find(|(name, _)| starts.iter().any(|start| name.starts_with(start)))
            .map(|(_, piece)| piece)
    };
    let by_method = || {
        let methods = parts.values(if is_curl { "X" } else { "" }, &["request", "method"]);
        methods.into_iter().find(|piece| matches!(piece.text, "POST" | "PUT" | "PATCH" | "post" | "put"))
    };
    by_letter.or_else(by_name).or_else(by_method).map(|piece| piece.word)
}
