//! Texts that a scanner has to find, and texts that it has to leave alone.

use ringfence_skill::{Scanner, Severity, Tree, all_rules};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    content: String,
    expect: Expect,
    why: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Flag,
    Clean,
    /// It only has to come to an end.
    Time,
}

#[test]
fn every_row_is_judged_as_it_says() {
    let scanner = Scanner::new(&all_rules());
    let mut wrong = Vec::new();
    for line in include_str!("vectors/scanner.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let report = scanner.scan(&Tree::of_file("SKILL.md", row.content.as_str()));
        let flagged = report.worst() >= Some(Severity::Warning);
        let right = match row.expect {
            Expect::Flag => flagged,
            Expect::Clean => !flagged,
            Expect::Time => true,
        };
        if !right {
            let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.id).collect();
            wrong.push(format!("{} ({}): {rules:?}", row.id, row.why));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
