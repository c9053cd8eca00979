//! Effect of a reading without any rule.
#![allow(dead_code, reason = "not every test needs all of it")]

pub(crate) use policy::finding::Mode;
use policy::finding::effect;
use policy::{Argv, Effect, Invocation};

/// The strictest effect of all findings.
pub(crate) fn verdict(invocation: &Invocation, mode: Mode) -> Effect {
    let effects = invocation.findings.iter().filter_map(|finding| effect(finding.code, mode));
    effects.max().unwrap_or(Effect::Allow)
}

/// Returns true if a program of this name is among those found, or among those that start one.
pub(crate) fn lists(invocation: &Invocation, name: &str) -> bool {
    let first = |argv: &Argv| argv.words().first().map(|word| base(&word.text).to_owned());
    let mut all =
        invocation.programs.iter().flat_map(|program| program.through.iter().chain([&program.argv]));
    all.any(|argv| first(argv).as_deref() == Some(name))
}

fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
