//! Variables with secrets go to a host that only collects.

use crate::code::command::Step;
use crate::code::destination::{Destination, Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_TOKEN",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "a variable with a secret is sent to a stranger",
    why: "The value of such a variable lets whoever has it act as the person it belongs to.",
    fix: "remove the command, or send the token only to whoever gave it out",
    places: ANYWHERE,
    anchors: words![
        "_token",
        "api_key",
        "_key}",
        "_key\"",
        "password",
        "_secret",
        "secret_",
        "credential=",
        "secret=",
        "database_url",
        "_key&",
        "_key ",
        "_pat",
    ],
    check: Check::Requiring(&[&NEAR], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases = Phrases::new(words![r"(?:curl|wget|nc|ncat|netcat|http)\s"]);

patterns! {
    SENDS = r"\b(?:curl|wget|nc|ncat|netcat|http)\s";
    SECRET = r"\$[({]?([A-Z0-9_]*(?:TOKEN|SECRET|API_?KEY|PASSWORD|ACCESS_KEY|PRIVATE_KEY|_PAT)[A-Z0-9_]*|DATABASE_URL)";
    LABELLED = r"\b(?:credentials?|passwords?|secrets?|private_key)=[^&\s]{0,4}\$";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if !SENDS.is_match(unit.text().as_bytes()) {
        return Vec::new();
    }
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    if !matches!(step.name().as_str(), "curl" | "wget" | "nc" | "ncat" | "netcat" | "http") {
        return None;
    }
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut before = "";
    for word in step.words() {
        let spelled = step.spelled(word);
        let is_header = matches!(before, "-H" | "--header" | "-u" | "--user" | "--oauth2-bearer");
        before = &word.text;
        if !is_header {
            names.extend(
                SECRET
                    .captures_iter(spelled.as_bytes())
                    .filter_map(|found| Some(found.get(1)?.as_bytes().to_vec())),
            );
        }
    }
    let fed = step.feeders().find(|from| SECRET.is_match(from.line().as_bytes()));
    names.sort_unstable();
    names.dedup();
    let to = destination(step);
    let stranger = to.is_throwaway();
    let several = names.len() >= 2
        && matches!(to.kind, Kind::Unknown | Kind::Placeholder | Kind::FreeHosting)
        && families(&names) >= 2;
    let foreign = names.iter().any(|name| is_foreign(name, &to));
    let labelled =
        step.feeders().find(|from| LABELLED.is_match(from.line().as_bytes())).filter(|_| is_stranger(&to));
    if let Some(from) = labelled {
        return Some(Hit::at(step.range_from(from)));
    }
    if foreign || (stranger && (!names.is_empty() || fed.is_some())) || several {
        return Some(Hit::at(fed.map_or_else(|| step.range(), |fed| step.range_from(fed))));
    }
    None
}

/// Returns true if nothing is known in favour of a host.
fn is_stranger(to: &Destination) -> bool {
    to.is_throwaway()
        || matches!(to.kind, Kind::Unknown | Kind::Placeholder | Kind::FreeHosting) && !to.host.is_empty()
}

/// Services whose tokens have names of their own, and a part of the names of their hosts.
const SERVICES: &[(&str, &[&str])] = &[
    ("AWS_", &["amazon", "aws"]),
    ("GITHUB_", &["github"]),
    ("GH_", &["github"]),
    ("GITLAB_", &["gitlab"]),
    ("OPENAI_", &["openai"]),
    ("ANTHROPIC_", &["anthropic", "claude"]),
    ("STRIPE_", &["stripe"]),
    ("SLACK_", &["slack"]),
    ("NPM_", &["npm"]),
    ("DOCKER_", &["docker"]),
    ("DATADOG_", &["datadog", "datad0g"]),
    ("SENDGRID_", &["sendgrid"]),
    ("TWILIO_", &["twilio"]),
    ("HEROKU_", &["heroku"]),
    ("CLOUDFLARE_", &["cloudflare"]),
    ("JWT_SECRET", &[]),
    ("DATABASE_URL", &[]),
    ("DB_PASSWORD", &[]),
    ("SSH_PRIVATE_KEY", &[]),
    ("ENCRYPTION_KEY", &[]),
];

/// Returns true if a variable belongs to a service and the host does not, or if it belongs to no outside service at all.
fn is_foreign(name: &[u8], to: &Destination) -> bool {
    let of = SERVICES.iter().find(|(start, _)| name.to_ascii_uppercase().starts_with(start.as_bytes()));
    is_stranger(to) && of.is_some_and(|(_, hosts)| !hosts.iter().any(|host| to.host.contains(host)))
}

/// Returns the number of different services that the names belong to, by their first words.
fn families(names: &[Vec<u8>]) -> usize {
    let mut first: Vec<&[u8]> =
        names.iter().filter_map(|name| name.split(|byte| *byte == b'_').next()).collect();
    first.dedup();
    first.len()
}

fn destination(step: Step<'_>) -> Destination {
    let host = step.urls().first().map(|word| word.text.clone());
    let bare = || step.words().iter().find(|word| !word.text.starts_with('-')).map(|word| word.text.clone());
    classify(&host.or_else(bare).unwrap_or_default())
}
