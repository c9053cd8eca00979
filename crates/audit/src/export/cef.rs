//! Common Event Format.

use serde_json::Value;

use super::{milliseconds, own_fields, severity_of, title_of};
use crate::event::Severity;
use crate::record::Record;

/// One record as a CEF event.
#[must_use]
pub fn cef(record: &Record) -> String {
    let header = ["Ringfence", "ringfence", env!("CARGO_PKG_VERSION"), record.event(), title_of(record)];
    let mut out = String::from("CEF:0|");
    for part in header {
        escape(&mut out, part, '|');
        out.push('|');
    }
    out.push_str(severity(record));
    out.push('|');
    put(&mut out, "rt", &milliseconds(record).to_string());
    put(&mut out, "externalId", &record.head().seq.to_string());
    for (field, value) in own_fields(record) {
        put(&mut out, &key(record, field), &text(value));
    }
    put(&mut out, "RingfencePrev", record.text("prev").unwrap_or_default());
    put(&mut out, "RingfenceHash", &record.head().hash.to_string());
    out
}

fn severity(record: &Record) -> &'static str {
    match severity_of(record) {
        Severity::Informational => "1",
        Severity::Low => "3",
        Severity::Medium => "5",
        Severity::High => "8",
    }
}

/// The key that the format has for a field, or one of our own.
fn key(record: &Record, field: &str) -> String {
    match field {
        "object" if matches!(record.text("kind"), Some("read" | "write")) => "filePath".to_owned(),
        "decision" => "act".to_owned(),
        "outcome" => "outcome".to_owned(),
        "reason" => "reason".to_owned(),
        "host" => "dhost".to_owned(),
        "port" => "dpt".to_owned(),
        "method" => "requestMethod".to_owned(),
        "person" => "suser".to_owned(),
        "error" => "msg".to_owned(),
        field => format!("Ringfence{}", camel(field)),
    }
}

fn camel(field: &str) -> String {
    let mut out = String::new();
    for word in field.split(['_', '-']) {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn put(out: &mut String, key: &str, value: &str) {
    if !out.ends_with('|') {
        out.push(' ');
    }
    out.push_str(key);
    out.push('=');
    escape(out, value, '=');
}

/// A backslash before itself and before what would end the part; line breaks by name; other control characters by
/// number, for programs that show the log on a terminal.
fn escape(out: &mut String, text: &str, special: char) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if c == special => out.extend(['\\', c]),
            c if c.is_control() => out.extend(format!("\\\\u{{{:x}}}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
}
