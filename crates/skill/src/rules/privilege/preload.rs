//! A library is put into every program.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIVILEGE_PRELOAD",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "a library is put into programs that do not ask for it",
    why: "Its code runs inside every program that is started like this, with everything the program knows.",
    fix: "remove it; a program that needs a library is linked with it",
    places: ANYWHERE,
    anchors: words!["ld_preload", "ld_audit", "dyld_insert_libraries", "ld.so.preload"],
    check: Check::Unit(hits),
};

patterns! {
    FOUND = r#"\b(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)=["']?([^\s"'`;]+)|(?:>>?|\btee\b[^\n]{0,20}?)\s*/etc/ld\.so\.preload"#;
}

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let found = FOUND.captures_iter(unit.text().as_bytes()).take(20);
    found
        .filter_map(|found| {
            let path = found.get(1).map_or(&b""[..], |path| path.as_bytes());
            let installed =
                [&b"/usr/"[..], b"/lib", b"/opt/", b"lib"].iter().any(|start| path.starts_with(start))
                    && !path.starts_with(b"/usr/tmp");
            let variable = path.starts_with(b"$") || path.starts_with(b"<");
            let severity = (installed || variable).then_some(Severity::Note);
            Some(Hit { severity, ..Hit::at(found.get(0)?.range()) })
        })
        .collect()
}
