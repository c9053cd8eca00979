//! A file with secrets goes to another machine.

use crate::code::command::{Secret, Step, is_sender, secret};
use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_SECRET_FILE",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "a file with secrets is sent to another machine",
    why: "Whoever gets the file can act as the person it belongs to.",
    fix: "remove the command",
    places: ANYWHERE,
    anchors: words![
        ".ssh",
        "id_rsa",
        "id_ed25519",
        "id_r",
        ".aws",
        ".env",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".kube",
        ".docker/config",
        "credential",
        "wallet",
        ".gnupg",
        "shadow",
        "keychain",
        "login data",
        ".pgpass",
        "logins.json",
        "key4.db",
        "hosts.yml",
        "_history",
        "gcloud",
        ".codex",
        ".openclaw",
    ],
    check: Check::Requiring(&[&NEAR], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases = Phrases::new(words![
    r"(?:curl|wget|nc|ncat|netcat|socat|scp|sftp|rsync|ftp|telnet|ssh|http|xh|mail|sendmail|rclone|gsutil|aws|gh)\s",
]);

patterns! {
    SENDS = r"\b(?:curl|wget|nc|ncat|netcat|socat|scp|sftp|rsync|ftp|telnet|ssh|http|xh|mail|sendmail|rclone|gsutil|aws|gh)\s";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if !SENDS.is_match(unit.text().as_bytes()) {
        return Vec::new();
    }
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    let uploads = is_sender(&name) || name == "aws" && step.has("s3") || name == "gh" && step.has("gist");
    if !uploads {
        return None;
    }
    if let Some((from, found)) = step.sources().find_map(|from| Some((from, from.shows_secret()?))) {
        return Some(judged(step, found, step.range_from(from)));
    }
    Some(judged(step, given(step, &name)?, step.range()))
}

/// Returns the secret among the words of the program that sends: as its body, or as a file that it copies.
fn given(step: Step<'_>, name: &str) -> Option<Secret> {
    let mut before = "";
    let mut found = None;
    for word in step.words() {
        let text = word.text.as_str();
        let spelled = step.spelled(word);
        let is_identity = matches!(
            before,
            "-i" | "--netrc-file"
                | "-F"
                | "-o"
                | "--exclude"
                | "--cert"
                | "--key"
                | "-E"
                | "--env-file"
                | "-K"
                | "--exclude-from"
        ) && !(name == "curl" && before == "-F");
        before = text;
        if is_identity || text.starts_with("--exclude") {
            continue;
        }
        let file = match name {
            "curl" | "http" | "xh" => text.split_once('@').map(|(_, file)| file).or_else(|| {
                step.value(&["-T", "--upload-file"]).filter(|value| std::ptr::eq(*value, word)).map(|_| text)
            }),
            "wget" => text.strip_prefix("--post-file=").or_else(|| text.strip_prefix("--body-file=")),
            _ => Some(text),
        };
        let here = file.and_then(|file| secret(file.trim_start_matches('@')).or_else(|| secret(spelled)));
        found = found.max(here);
    }
    found
}

/// Rates a hit: settings of a project are sent to the user's own machines; keys and credentials are not.
fn judged(step: Step<'_>, found: Secret, range: std::ops::Range<usize>) -> Hit {
    let to = step.urls().iter().map(|word| classify(&word.text)).next();
    let throwaway = to.as_ref().is_some_and(|to| {
        to.is_throwaway() || to.kind == Kind::Unknown || to.kind == Kind::Placeholder || to.kind == Kind::Chat
    });
    let severity = match found {
        Secret::Key | Secret::Credentials => Severity::Critical,
        Secret::Settings if throwaway => Severity::Critical,
        Secret::Settings => Severity::Warning,
    };
    Hit { severity: Some(severity), ..Hit::at(range) }
}
