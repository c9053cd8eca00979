//! Files of strangers: whatever their name and bytes, the scan ends, and every finding has its place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skill::{Scanner, Tree, all_rules};
use std::sync::LazyLock;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&all_rules()));

const NAMES: [&str; 8] =
    ["SKILL.md", "run.sh", "run.py", "run.js", ".mcp.json", "settings.yaml", "tool.zip", "run"];

fuzz_target!(|input: (u8, &[u8])| {
    let (name, bytes) = input;
    let tree = Tree::of_file(NAMES[usize::from(name) % NAMES.len()], bytes);
    let report = SCANNER.scan(&tree);
    for finding in &report.findings {
        assert!(finding.span.start <= finding.span.end);
        assert!(finding.severity <= finding.rule.severity);
        assert!(finding.line >= 1 && finding.column >= 1);
        if finding.path == tree.entries[0].path {
            assert!(finding.span.end <= bytes.len());
        }
    }
    assert_eq!(SCANNER.scan(&tree), report);
});
