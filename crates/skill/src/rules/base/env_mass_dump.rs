//! All variables are piped somewhere.

use crate::code::command::{Step, is_sender};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "ENV_MASS_DUMP",
    category: Category::EnvHarvesting,
    severity: Severity::Warning,
    title: "all variables are piped to another program",
    why: "The environment holds tokens and keys of everything that was set up on the machine.",
    fix: "name the one variable that is needed",
    places: ANYWHERE,
    anchors: words![
        "\\benv |",
        "\\benv|",
        "\\benv -",
        "env \\",
        "export |",
        "export|",
        "export -p",
        "set |",
        "set|",
        "declare -",
        "compgen -",
        "printenv",
    ],
    check: Check::Unit(hits),
};

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    if memchr::memchr(b'|', unit.text().as_bytes()).is_none() {
        return Vec::new();
    }
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let dump = step.feeders().next().filter(|before| before.dumps_variables())?;
    let name = step.name();
    let severity = match name.as_str() {
        "grep" | "egrep" | "rg" | "ag" => {
            let wanted = step.words().iter().find(|word| !word.text.starts_with('-'));
            wanted.filter(|word| is_one_name(&word.text)).map(|_| Severity::Note)
        }
        "sort" | "tee" | "base64" | "xargs" | "cut" | "awk" | "sed" | "gzip" | "xxd" | "jq" | "tr"
        | "python" | "openssl" => None,
        _ if is_sender(&name) => None,
        "wc" | "head" | "less" | "more" | "true" => Some(Severity::Note),
        _ if !step.program.through.is_empty() => None,
        _ => return None,
    };
    Some(Hit { severity, ..Hit::at(step.range_from(dump)) })
}

/// Returns true if a pattern asks for one variable, not for every variable that is called a key.
fn is_one_name(wanted: &str) -> bool {
    let name = wanted.trim_start_matches('^').trim_end_matches('=');
    name.len() >= 4
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !matches!(
            name.to_ascii_lowercase().as_str(),
            "key"
                | "token"
                | "secret"
                | "pass"
                | "password"
                | "api_key"
                | "apikey"
                | "_key"
                | "_token"
                | "cred"
                | "auth"
                | "credential"
                | "keys"
                | "tokens"
                | "secrets"
        )
}
