//! A command reads a private key or credentials.

use crate::code::command::{Secret, Step};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CREDENTIAL_READ_BY_COMMAND",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "a command reads a private key",
    why: "What is shown in an agent's terminal is part of what it says and sends from then on.",
    fix: "let the program that needs the key read it: name the file to it",
    places: ANYWHERE,
    anchors: words![
        ".ssh",
        "id_rsa",
        "id_ed25519",
        "id_r",
        ".aws",
        ".netrc",
        ".gnupg",
        "shadow",
        ".kube",
        "wallet",
        ".git-credentials",
        ".pgpass",
        "login data",
        "logins.json",
        "keychain",
        "secring",
    ],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    if step.name() == "security" && step.has("dump-keychain") {
        return Some(Hit::at(step.range()));
    }
    let severity = match step.shows_secret()? {
        Secret::Key if step.name() != "find" => Severity::Critical,
        Secret::Credentials if step.has("/etc/shadow") => Severity::Critical,
        Secret::Key | Secret::Credentials => Severity::Warning,
        Secret::Settings => return None,
    };
    Some(Hit { severity: Some(severity), ..Hit::at(step.range()) })
}
