//! Code that Python, JavaScript and PowerShell run but that is not part of their source.

mod amsi;
mod assembled;
mod capture_kept;
mod clipboard_swap;
mod hidden_call;
mod hidden_file_run;
mod password_check;
mod password_dialog;
mod ransom;
mod runs_decoded;
mod runs_fetched;
mod runs_saved;
mod shellcode;
mod socket_shell;
mod spreads;
mod unread;

use crate::code::destination::classify;
use crate::code::fact::{Destination, Fact, FactKind, Hostile};
use crate::rules::rule::{Hit, Rule, Severity};
use crate::text::unit::Unit;

pub(super) const RULES: &[&Rule] = &[
    &ransom::RULE,
    &amsi::RULE,
    &assembled::RULE,
    &capture_kept::RULE,
    &clipboard_swap::RULE,
    &hidden_call::RULE,
    &hidden_file_run::RULE,
    &password_check::RULE,
    &password_dialog::RULE,
    &runs_decoded::RULE,
    &runs_fetched::RULE,
    &runs_saved::RULE,
    &shellcode::RULE,
    &socket_shell::RULE,
    &spreads::RULE,
    &unread::RULE,
];

/// Returns the places where code does one of the things that only attacks need.
fn hostile(unit: &Unit<'_>, wanted: Hostile) -> Vec<Hit> {
    let facts = unit.reading().facts.iter().filter(|fact| fact.what == FactKind::Hostile(wanted));
    facts.map(|fact| Hit::at(fact.range.clone())).collect()
}

/// Returns the places of the sinks that a wanted source flows into, each once.
fn flowing(unit: &Unit<'_>, wanted: fn(&Fact, &Fact) -> bool) -> Vec<Hit> {
    let flows = unit.reading().flowing().filter(|(source, sink, _)| wanted(source, sink));
    let mut hits: Vec<Hit> = flows.map(|(_, sink, _)| Hit::at(sink.range.clone())).collect();
    hits.dedup();
    hits
}

/// Returns true if a unit consists of shell commands only.
fn is_plain_shell(unit: &Unit<'_>) -> bool {
    crate::code::fact::is_shell(unit)
}

/// Returns true if an address is the documented location of the installer of a known tool.
fn is_installer(from: &Destination) -> bool {
    classify(&from.text).weight_of_running() < Severity::Critical
}
