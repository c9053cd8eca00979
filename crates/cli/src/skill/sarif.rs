//! A scan as SARIF 2.1.0, for programs that collect findings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use policy::Code;
use serde_json::{Map, Value, json};
use skill::{Rule, Severity, Suppression, Via, print};

use super::read::Trouble;
use super::scan::ScanReport;
use super::scanned::{Found, Scanned};
use super::text::step;

/// URL of the schema, for readers of the fields.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The whole scan as one log.
pub(crate) fn log(whole: &ScanReport) -> Value {
    let all = || whole.scanned.iter().flat_map(|scanned| &scanned.found);
    let rules: BTreeMap<&str, &Rule> =
        all().map(|found| (found.finding.rule.id, found.finding.rule)).collect();
    let index: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut results: Vec<_> = all().map(|found| result(found, index[found.finding.rule.id])).collect();
    let mut descriptors: Vec<_> = rules.values().map(|rule| descriptor(rule)).collect();
    let index = descriptors.len();
    let gone = whole.gone.iter().map(|path| gone(path, index));
    let changes: Vec<_> = whole.scanned.iter().flat_map(|one| changes(one, index)).chain(gone).collect();
    if !changes.is_empty() {
        descriptors.push(unpinned());
    }
    results.extend(changes);
    let troubles: Vec<_> = whole.troubles().map(notification).collect();
    let run = json!({
        "tool": { "driver": {
            "name": "ringfence",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": descriptors,
        } },
        "columnKind": "unicodeCodePoints",
        "invocations": [{
            "executionSuccessful": troubles.is_empty(),
            "toolExecutionNotifications": troubles,
        }],
        "results": results,
    });
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] })
}

fn descriptor(rule: &Rule) -> Value {
    let help = format!("{}\n\nWhat to do: {}.", rule.why, rule.fix);
    // Numbers by which some readers sort: critical from 9, warnings from 4.
    let security = match rule.severity {
        Severity::Critical => "9.0",
        Severity::Warning => "5.0",
        Severity::Note => "1.0",
    };
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": rule.why },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "category": rule.category.name(),
            "tags": ["security", rule.category.name()],
            "security-severity": security,
        },
    })
}

/// The rule, so to say, that something is as it was pinned.
fn unpinned() -> Value {
    let help = "Somebody looked at it and pinned it, and now it is something else. What to do: look at it again, then pin it anew.";
    json!({
        "id": Code::SkillChanged.id(),
        "shortDescription": { "text": Code::SkillChanged.title() },
        "fullDescription": { "text": help },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": "warning" },
        "properties": { "tags": ["security"], "security-severity": "5.0" },
    })
}

/// Everything that is not as it was pinned.
fn changes(scanned: &Scanned, index: usize) -> impl Iterator<Item = Value> {
    scanned.changed.iter().map(move |difference| {
        let mut physical = json!({ "artifactLocation": artifact(&scanned.place_of_change(difference)) });
        let mut message = format!("not as pinned: {}", difference.line());
        if let Some(now) = &difference.now {
            physical["region"] = json!({ "startLine": now.at.0, "startColumn": now.at.1 });
            message += &now.says.as_deref().map(|says| format!(": {says}")).unwrap_or_default();
        }
        not_as_pinned(&message, &physical, index)
    })
}

/// Something that is pinned and was not found.
fn gone(path: &Path, index: usize) -> Value {
    not_as_pinned("not as pinned: gone", &json!({ "artifactLocation": artifact(path) }), index)
}

fn not_as_pinned(message: &str, physical: &Value, index: usize) -> Value {
    json!({
        "ruleId": Code::SkillChanged.id(),
        "ruleIndex": index,
        "level": "warning",
        "message": { "text": message },
        "locations": [{ "physicalLocation": physical }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn result(found: &Found, index: usize) -> Value {
    let finding = &found.finding;
    let message = match &finding.note {
        Some(note) => format!("{}: {note}", finding.rule.title),
        None => finding.rule.title.to_owned(),
    };
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [location(found)],
        "partialFingerprints": { "ringfence/v1": print(finding) },
    });
    if !finding.via.is_empty() {
        result["codeFlows"] = json!([code_flow(found)]);
    }
    if let Some(suppression) = &found.suppression {
        result["suppressions"] = json!([accepted(suppression)]);
    }
    result
}

fn accepted(suppression: &Suppression) -> Value {
    let kind = if matches!(suppression, Suppression::Inline(_)) { "inSource" } else { "external" };
    json!({ "kind": kind, "status": "accepted", "justification": suppression.reason() })
}

fn location(found: &Found) -> Value {
    let finding = &found.finding;
    let mut physical = json!({ "artifactLocation": artifact(&found.shown) });
    // An item without bytes, such as a link, has a name only.
    if found.window.is_some() {
        physical["region"] = json!({
            "startLine": finding.line,
            "startColumn": finding.column,
            "endLine": found.end.0,
            "endColumn": found.end.1,
            "byteOffset": finding.span.start,
            "byteLength": finding.span.len(),
            "snippet": { "text": finding.matched },
        });
    }
    json!({ "physicalLocation": physical })
}

/// Builds the steps that lead to a finding; the finding itself comes last.
fn code_flow(found: &Found) -> Value {
    let steps = found.finding.via.iter().map(|via| {
        let mut location = match via {
            Via::From { path, line } => {
                let region = json!({ "startLine": line });
                json!({ "physicalLocation": { "artifactLocation": artifact(&beside(found, path)), "region": region } })
            }
            Via::Decoded(_) | Via::Value(_) => location(found),
        };
        location["message"] = json!({ "text": step(via) });
        json!({ "location": location })
    });
    let mut locations: Vec<_> = steps.collect();
    let mut last = location(found);
    last["message"] = json!({ "text": found.finding.rule.title });
    locations.push(json!({ "location": last }));
    json!({ "threadFlows": [{ "locations": locations }] })
}

/// Another file of the same tree.
fn beside(found: &Found, path: &Path) -> std::path::PathBuf {
    let depth = found.finding.path.components().count();
    let root = found.shown.ancestors().nth(depth).unwrap_or(Path::new(""));
    root.join(path)
}

fn notification(trouble: &Trouble) -> Value {
    json!({
        "level": "error",
        "message": { "text": trouble.why },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(&trouble.path) } }],
    })
}

/// A file as a reference: from where the command was called, or from the root.
fn artifact(path: &Path) -> Value {
    let mut artifact = Map::new();
    artifact.insert("uri".to_owned(), uri(path).into());
    if path.is_relative() {
        artifact.insert("uriBaseId".to_owned(), "%SRCROOT%".into());
    }
    artifact.into()
}

/// A path as a reference, byte for byte.
fn uri(path: &Path) -> String {
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "" });
    let bytes = path.as_os_str().as_encoded_bytes();
    for &byte in bytes.strip_prefix(b"./").unwrap_or(bytes) {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _written = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_reference() {
        let rows = [
            ("skills/a/SKILL.md", "skills/a/SKILL.md"),
            ("./a b#c", "a%20b%23c"),
            ("/opt/é", "file:///opt/%C3%A9"),
            ("a\u{1b}b", "a%1Bb"),
            ("100%", "100%25"),
        ];
        for (path, expected) in rows {
            assert_eq!(uri(Path::new(path)), expected, "{path}");
        }
    }
}
