//! The resolution of host names is changed.

use crate::code::command::Step;
use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_HOST_NAMES",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "where connections lead is changed for the whole machine",
    why: "Every program on the machine then talks to somebody else than it believes.",
    fix: "remove the command; give the one program that needs it an address",
    places: ANYWHERE,
    anchors: words![
        "/etc/hosts",
        "/etc/resolv.conf",
        "drivers\\etc\\hosts",
        "-setwebproxy",
        "-setdnsservers",
        "-setsecurewebproxy",
        "-j redirect",
        "-j dnat",
        "add-trusted-cert",
        "update-ca-certificates",
        "-addstore",
    ],
    check: Check::Unit(hits),
};

patterns! {
    OWN = r"\b(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+)\b|\$|<|_";
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    let name = step.name();
    let proxied = match name.as_str() {
        "networksetup" => {
            step.words().first().is_some_and(|word| {
                word.text.starts_with("-set") && (word.text.contains("proxy") || word.text.contains("dns"))
            }) && !step.words().iter().any(|word| {
                (!word.text.bytes().all(|byte| byte.is_ascii_digit())
                    && classify(&word.text).kind == Kind::Private)
                    || word.text == "off"
                    || word.text == "empty"
            })
        }
        "iptables" | "nft" => {
            step.has("nat")
                && (step.has("-A") || step.has("-I"))
                && step
                    .words()
                    .windows(2)
                    .any(|pair| pair[0].text == "-j" && matches!(pair[1].text.as_str(), "REDIRECT" | "DNAT"))
        }
        _ => false,
    };
    if proxied {
        return Some(Hit::at(step.range()));
    }
    let file = step.writes().find(|file| matches!(file.as_str(), "/etc/hosts" | "/etc/resolv.conf"))?;
    let lines = step.feeders().map(Step::line).chain(std::iter::once(step.line()));
    let own = lines.into_iter().any(|line| OWN.is_match(line.as_bytes()));
    let severity = if own { Some(Severity::Note) } else { None };
    let note = Some(format!("`{file}` is written"));
    Some(Hit { note, severity, ..Hit::at(step.range()) })
}
