//! Backticks whose output is run, or that run when the skill is loaded.

use crate::code::destination::classify;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::language::Language;
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXEC_BACKTICK",
    category: Category::ExecInjection,
    severity: Severity::Critical,
    title: "command between backticks is run",
    why: "In a shell, backticks put the output of a command in their place. Behind an exclamation mark, some agents run them when the text is loaded.",
    fix: "say in words what is to be run, and let the agent ask for it",
    places: ANYWHERE,
    anchors: words![
        "`curl ",
        "`wget ",
        "`bash ",
        "`sh ",
        "`nc ",
        "`ncat ",
        "`sudo ",
        "`/bin/",
        "`/usr/bin/",
        "!`",
    ],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r"!?`(?:sudo\s+(?:-\w+\s+)*)?(?:/(?:usr/)?(?:local/)?bin/)?(?:curl|wget|bash|sh|nc|ncat)\s[^`\n]{1,400}`";
    LOADED = r"!`[^`\n]{0,200}\b(?:curl|wget|nc|ncat)\s[^`\n]{1,400}`";
    RUNS = r#"(?:^|[;|&({]|\b(?:then|do|else|eval|exec|sudo)\b|\s-[a-z]*[ce]\b)\s*["']?$"#;
    ADDRESS = r#"\bh..ps?://[^\s"'`)]+"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text().as_bytes();
    let of_shell = matches!(unit.place, Place::Fence | Place::Script) && unit.language == Language::Shell;
    let mut hits: Vec<Hit> = Vec::new();
    if of_shell {
        for found in FOUND.find_iter(text).take(50) {
            let line = memchr::memrchr(b'\n', &text[..found.start()]).map_or(0, |at| at + 1);
            let line = line.max(found.start().saturating_sub(400));
            let severity = if RUNS.is_match(&text[line..found.start()]) {
                weight(found.as_bytes())
            } else {
                Severity::Note
            };
            hits.push(Hit { severity: Some(severity), ..Hit::at(found.range()) });
        }
    } else if unit.place != Place::Script {
        for found in LOADED.find_iter(text).take(50) {
            let note = Some(String::from("this runs when the text is loaded, before anybody is asked"));
            hits.push(Hit { severity: Some(weight(found.as_bytes())), note, ..Hit::at(found.range()) });
        }
    }
    hits
}

fn weight(command: &[u8]) -> Severity {
    let address = ADDRESS.find(command).map(|found| String::from_utf8_lossy(found.as_bytes()).into_owned());
    address.map_or(Severity::Critical, |address| classify(&address).weight_of_running())
}
