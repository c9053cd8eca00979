//! A socket becomes the streams of a shell.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_SOCKET_SHELL",
    category: Category::NetworkExfil,
    severity: Severity::Critical,
    title: "a shell for somebody elsewhere",
    why: "The streams of a shell are tied to a connection: whoever is at the other end types commands here.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: words!["dup2", "/dev/tcp/", "/dev/udp/", "stdin="],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::RemoteShell)
}
