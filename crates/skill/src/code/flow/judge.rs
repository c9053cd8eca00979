//! Severity of sending a secret somewhere.

use crate::code::fact::{Channel, Destination, HostKind, Part};
use crate::code::secret::{Secret, Store, owner_hosts, stays_at_home};
use crate::rules::rule::Severity;

/// Returns the severity of sending this secret there in this part of what is sent. `None`: it is ordinary.
pub(crate) fn sent(secret: &Secret, to: &Destination, channel: Channel, part: Part) -> Option<Severity> {
    let kind = to.kind();
    if kind == HostKind::Local {
        return None;
    }
    if channel == Channel::Names {
        return Some(Severity::Critical);
    }
    match secret {
        Secret::Environment => Some(Severity::Critical),
        Secret::File(store, _) => file(*store, kind, part),
        Secret::Variable(name) if channel == Channel::Web => variable(name, to, part),
        Secret::Variable(name) if channel == Channel::Files => {
            stays_at_home(name).then_some(Severity::Warning)
        }
        Secret::Variable(_) => Some(Severity::Warning),
    }
}

fn file(store: Store, kind: HostKind, part: Part) -> Option<Severity> {
    match (store, part) {
        (store, _) if store.is_private() => Some(Severity::Critical),
        // A tool logs in with what it keeps.
        (Store::Credential | Store::Variables | Store::Agent, Part::Header) => None,
        (Store::Variables, _) if kind != HostKind::Drop => Some(Severity::Warning),
        _ => Some(Severity::Critical),
    }
}

fn variable(name: &str, to: &Destination, part: Part) -> Option<Severity> {
    let hosts = owner_hosts(name);
    if to.is_below(hosts) || is_named_after(name, to) {
        return None;
    }
    let known_owner = !hosts.is_empty();
    match (part, to.kind()) {
        (_, _) if to.is_decoded => Some(Severity::Critical),
        (Part::Header, HostKind::Drop) if known_owner => Some(Severity::Critical),
        (Part::Header, _) => None,
        (_, HostKind::Drop) => Some(Severity::Critical),
        (_, HostKind::Unknown) => stays_at_home(name).then_some(Severity::Warning),
        _ if stays_at_home(name) || known_owner => Some(Severity::Critical),
        (Part::Address, _) if to.is_clear() => Some(Severity::Warning),
        _ => None,
    }
}

/// Returns true if a variable and a host have a name in common: `OPENWEATHER_API_KEY` and `api.openweathermap.org`.
fn is_named_after(name: &str, to: &Destination) -> bool {
    let Some(host) = &to.host else { return false };
    let word = owner_word(name).to_ascii_lowercase();
    let label = host.rsplit('.').nth(1).unwrap_or(host);
    word.len() >= 3 && (host.contains(&word) || label.len() >= 4 && word.contains(label))
}

/// The word of a variable's name that says whose it is; empty when none does.
pub(crate) fn owner_word(name: &str) -> &str {
    const GENERIC: &[&str] = &[
        "API",
        "TOKEN",
        "ACCESS",
        "AUTH",
        "SECRET",
        "BEARER",
        "APP",
        "CLIENT",
        "USER",
        "SERVICE",
        "MY",
        "YOUR",
        "KEY",
        "REFRESH",
        "ADMIN",
        "DB",
        "PASSWORD",
        "JWT",
        "SESSION",
        "X",
        "THE",
        "LOGIN",
        "PRIVATE",
        "ENCRYPTION",
        "VITE",
        "NEXT",
        "REACT",
        "EXPO",
        "PROD",
        "DEV",
        "TEST",
        "BASIC",
        "OAUTH",
    ];
    let first = name.split('_').find(|word| !word.is_empty()).unwrap_or_default();
    if GENERIC.contains(&first.to_ascii_uppercase().as_str()) { "" } else { first }
}
