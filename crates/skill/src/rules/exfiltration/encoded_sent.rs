//! Data is encoded and sent in one line.

use crate::code::command::Step;
use crate::code::destination::{Kind, classify};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_ENCODED_SENT",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "a variable is encoded and sent in one line",
    why: "Services take values as they are. Whoever encodes a variable before sending it does not want it to be seen on the way.",
    fix: "remove the command, or send the value as the service asks for it",
    places: ANYWHERE,
    anchors: words!["base64", "xxd", "base32"],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let commands = unit.commands();
    let sends = |step: &Step<'_>| matches!(step.name().as_str(), "curl" | "wget" | "nc" | "ncat" | "netcat");
    let mut hits = Vec::new();
    for step in commands.steps().filter(sends) {
        let feeders: Vec<Step<'_>> = step.feeders().collect();
        let encodes = feeders.iter().any(is_encoder);
        let variable = feeders
            .iter()
            .any(|step| matches!(step.name().as_str(), "echo" | "printf") && has_variable(step));
        let words = step.program.argv.words();
        let local = words.iter().any(|word| classify(&word.text).kind == Kind::Private);
        if encodes && variable && !local {
            let span = step.program.span;
            hits.push(Hit::at(span.start as usize..span.end as usize));
        }
    }
    hits
}

fn is_encoder(step: &Step<'_>) -> bool {
    let decodes = |text: &str| matches!(text, "-d" | "-D" | "--decode" | "-r");
    let name = step.name();
    let encoder = matches!(name.as_str(), "base64" | "base32" | "xxd");
    encoder && !step.program.argv.words().iter().any(|word| decodes(&word.text))
}

/// Returns true if it prints a value that is known only at run time.
fn has_variable(step: &Step<'_>) -> bool {
    step.program.argv.words().iter().skip(1).any(|word| !word.is_literal())
}
