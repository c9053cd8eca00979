//! What every program loads.

use crate::code::fact::Hold;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{CODE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_LOADER",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "something that every program loads",
    why: "A library or module that every program loads sees everything that any of them does.",
    fix: "remove it",
    places: CODE,
    anchors: &["ld.so.preload", "sitecustomize", "usercustomize"],
    check: Check::Unit(check),
    hits: &[
        text("```bash\necho /usr/lib/x.so >> /etc/ld.so.preload\n```"),
        file("x.py", "open('/etc/ld.so.preload', 'a').write(p)\n"),
    ],
    misses: &[text("```bash\ncat /etc/ld.so.preload\n```")],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::holds(unit, &[Hold::Loader], severity)
}

fn severity(path: &str, _: &str) -> Severity {
    if path.contains("preload") { Severity::Critical } else { Severity::Warning }
}
