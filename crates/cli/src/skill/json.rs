//! A scan, for programs.

use std::path::Path;

use serde_json::{Value, json};
use skill::{Severity, Via, print};

use super::pins::Difference;
use super::read::Trouble;
use super::scan::ScanReport;
use super::scanned::{Found, Scanned};

/// The whole scan.
pub(crate) fn whole(whole: &ScanReport) -> Value {
    let skills: Vec<_> = whole.scanned.iter().map(skill).collect();
    let troubles: Vec<_> = whole.troubles().map(trouble).collect();
    let notes: Vec<_> = whole.gathered.notes.iter().map(trouble).collect();
    json!({
        "version": 1,
        "verdict": whole.verdict().word(),
        "skills": skills,
        "gone": whole.gone.iter().map(|gone| path(gone)).collect::<Vec<_>>(),
        "unread": troubles,
        "notes": notes,
    })
}

fn skill(scanned: &Scanned) -> Value {
    let open: Vec<_> = scanned.open().map(finding).collect();
    let suppressed: Vec<_> = scanned.found.iter().filter_map(suppressed).collect();
    json!({
        "name": scanned.name,
        "path": path(&scanned.shown),
        "sha256": scanned.sha256.to_string(),
        "files": scanned.files,
        "bytes": scanned.bytes,
        "verdict": scanned.verdict.word(),
        "critical": scanned.count(Severity::Critical),
        "warnings": scanned.count(Severity::Warning),
        "notes": scanned.count(Severity::Note),
        "changed": scanned.changed.iter().map(|difference| changed(scanned, difference)).collect::<Vec<_>>(),
        "findings": open,
        "suppressed": suppressed,
    })
}

/// Something that is not as it was pinned.
fn changed(scanned: &Scanned, difference: &Difference) -> Value {
    let now = difference.now.as_ref();
    json!({
        "change": difference.change.word(),
        "text": difference.line(),
        "path": path(&scanned.place_of_change(difference)),
        "tool": difference.tool,
        "line": now.map(|now| now.at.0),
        "column": now.map(|now| now.at.1),
        "now": now.map(|now| &now.whole),
    })
}

/// One finding.
pub(crate) fn finding(found: &Found) -> Value {
    let finding = &found.finding;
    json!({
        "rule": finding.rule.id,
        "category": finding.rule.category.name(),
        "severity": finding.severity.name(),
        "title": finding.rule.title,
        "why": finding.rule.why,
        "fix": finding.rule.fix,
        "path": path(&found.shown),
        "start": finding.span.start,
        "end": finding.span.end,
        "line": finding.line,
        "column": finding.column,
        "end_line": found.end.0,
        "end_column": found.end.1,
        "matched": finding.matched,
        "note": finding.note,
        "via": finding.via.iter().map(via).collect::<Vec<_>>(),
        "print": print(finding),
    })
}

fn suppressed(found: &Found) -> Option<Value> {
    let suppression = found.suppression.as_ref()?;
    let mut value = finding(found);
    value["accepted_by"] = suppression.word().into();
    value["reason"] = suppression.reason().into();
    Some(value)
}

fn via(via: &Via) -> Value {
    match via {
        Via::Decoded(how) => json!({ "decoded": how }),
        Via::Value(pointer) => json!({ "value": pointer }),
        Via::From { path: from, line } => json!({ "path": path(from), "line": line }),
    }
}

fn trouble(trouble: &Trouble) -> Value {
    json!({ "path": path(&trouble.path), "why": trouble.why })
}

/// A path as a text; bytes that are not UTF-8 are spelled out.
pub(crate) fn path(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => policy::Shown::path(path).to_string(),
    }
}
