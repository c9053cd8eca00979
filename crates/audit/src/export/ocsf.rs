//! OCSF 1.8.0, with the names that the `record_integrity` profile of 1.9 has in development.

use serde_json::{Map, Value, json};

use super::{milliseconds, own_fields, severity_of, shape_of, title_of};
use crate::event::{Class, Severity};
use crate::record::{Digest, Record};

/// One record as an OCSF event. `chain` is the hash of the ledger's first record.
///
/// The fingerprint is that of the line in the ledger, which stands in `raw_data`: SHA-256 of all its bytes before
/// `,"hash":"`.
#[must_use]
pub fn ocsf(record: &Record, chain: Option<&str>) -> Value {
    let (class, activity) = class_of(record);
    let mut event = Map::new();
    identify(&mut event, record, class, activity);
    event.insert("metadata".into(), metadata(record));
    event.insert("actor".into(), actor(record));
    event.extend(subject(record, class));
    event.extend(disposition(record));
    event.insert("attestation_list".into(), json!([attestation(record, chain)]));
    event.insert(
        "unmapped".into(),
        own_fields(record).map(|(name, value)| (name.clone(), value.clone())).collect(),
    );
    event.insert("raw_data".into(), record.line().into());
    Value::Object(event)
}

/// Maps the kind of request to the class of activity.
fn class_of(record: &Record) -> (Class, u8) {
    match (record.event(), record.text("kind")) {
        ("request.decided", Some("read")) => (Class::File, 2),
        ("request.decided", Some("write")) => (Class::File, 3),
        ("request.decided", Some("exec")) => (Class::Process, 1),
        ("request.decided", Some("connect")) => (Class::Network, 1),
        _ => shape_of(record).map_or((Class::Api, 0), |shape| (shape.class, shape.activity)),
    }
}

fn identify(event: &mut Map<String, Value>, record: &Record, class: Class, activity: u8) {
    let uid = class as u32;
    let (severity_id, severity) = severity(record);
    let message = record.text("reason").unwrap_or_else(|| title_of(record));
    for (name, value) in [
        ("class_uid", json!(uid)),
        ("class_name", json!(class_name(class))),
        ("category_uid", json!(uid / 1000)),
        ("category_name", json!(category_name(class))),
        ("activity_id", json!(activity)),
        ("type_uid", json!(uid * 100 + u32::from(activity))),
        ("time", json!(milliseconds(record))),
        ("severity_id", json!(severity_id)),
        ("severity", json!(severity)),
        ("message", json!(message)),
    ] {
        event.insert(name.into(), value);
    }
}

fn metadata(record: &Record) -> Value {
    let mut profiles = vec!["record_integrity"];
    profiles.extend(record.text("decision").map(|_| "security_control"));
    let mut metadata = json!({
        "version": "1.8.0",
        "product": { "name": "Ringfence", "vendor_name": "Ringfence", "version": env!("CARGO_PKG_VERSION") },
        "profiles": profiles,
        "uid": record.head().seq.to_string(),
        "sequence": record.head().seq,
        "event_code": record.event(),
        "original_time": record.time(),
    });
    if let Some(id) = record.text("id") {
        metadata["correlation_uid"] = id.into();
    }
    metadata
}

fn actor(record: &Record) -> Value {
    let mut actor = json!({ "app_name": record.text("agent").unwrap_or("ringfence") });
    if let Some(session) = record.text("session") {
        actor["session"] = json!({ "uid": session });
    }
    if let Some(person) = record.text("person") {
        actor["user"] = json!({ "name": person });
    }
    actor
}

/// The objects that the class wants to be told about.
fn subject(record: &Record, class: Class) -> Map<String, Value> {
    let object =
        ["object", "command", "program", "tool", "skill", "server"].iter().find_map(|name| record.text(name));
    let object = object.unwrap_or(record.event());
    let host = record.text("host").unwrap_or(object);
    let device = json!({ "type_id": 0, "type": "Unknown", "name": "local" });
    let fields = match class {
        Class::File => {
            json!({ "device": device, "file": { "name": file_name(object), "path": object, "type_id": 0 } })
        }
        Class::Process => json!({ "device": device, "process": { "cmd_line": object } }),
        Class::Network => json!({ "dst_endpoint": { "hostname": host } }),
        Class::Http => {
            json!({ "dst_endpoint": { "hostname": host }, "http_request": http_request(record, host) })
        }
        Class::Detection => {
            json!({ "finding_info": { "uid": record.head().to_string(), "title": record.event() } })
        }
        Class::Config => json!({ "device": device, "state_id": 99, "state": record.event() }),
        Class::Lifecycle => json!({ "app": { "name": object, "vendor_name": "Ringfence" } }),
        Class::Api => json!({ "api": { "operation": object }, "src_endpoint": { "name": "local" } }),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn http_request(record: &Record, host: &str) -> Value {
    let mut request = json!({ "url": { "hostname": host } });
    if let Some(method) = record.text("method") {
        request["http_method"] = method.into();
    }
    if let Some(path) = record.text("path") {
        request["url"]["path"] = path.into();
    }
    request
}

/// The outcome in the words of the `security_control` profile.
fn disposition(record: &Record) -> Map<String, Value> {
    let (action_id, action, disposition_id, disposition) = match record.text("decision") {
        Some("allow") => (1, "Allowed", 1, "Allowed"),
        Some("deny") => (2, "Denied", 2, "Blocked"),
        // A person is asked: not yet one or the other.
        Some("ask") => (99, "ask", 99, "ask"),
        _ => return Map::new(),
    };
    let mut fields = Map::new();
    fields.insert("action_id".into(), action_id.into());
    fields.insert("action".into(), action.into());
    fields.insert("disposition_id".into(), disposition_id.into());
    fields.insert("disposition".into(), disposition.into());
    if let Some(rule) = record.text("rule") {
        fields.insert("policy".into(), json!({ "name": rule }));
    }
    fields
}

fn attestation(record: &Record, chain: Option<&str>) -> Value {
    let mut attestation = json!({
        "uid": record.head().seq.to_string(),
        "fingerprint": fingerprint(&record.head().hash.to_string()),
    });
    if let Some(chain) = chain {
        attestation["chain_uid"] = chain.into();
    }
    // The first record has none before it.
    if let Some(prev) = record.text("prev").filter(|prev| *prev != Digest([0; 32]).to_string()) {
        attestation["prev_event"] =
            json!({ "uid": (record.head().seq - 1).to_string(), "fingerprint": fingerprint(prev) });
    }
    attestation
}

fn fingerprint(value: &str) -> Value {
    json!({ "algorithm": "SHA-256", "algorithm_id": 3, "value": value })
}

fn severity(record: &Record) -> (u8, &'static str) {
    match severity_of(record) {
        Severity::Informational => (1, "Informational"),
        Severity::Low => (2, "Low"),
        Severity::Medium => (3, "Medium"),
        Severity::High => (4, "High"),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

const fn class_name(class: Class) -> &'static str {
    match class {
        Class::File => "File System Activity",
        Class::Process => "Process Activity",
        Class::Detection => "Detection Finding",
        Class::Network => "Network Activity",
        Class::Http => "HTTP Activity",
        Class::Config => "Device Config State Change",
        Class::Lifecycle => "Application Lifecycle",
        Class::Api => "API Activity",
    }
}

const fn category_name(class: Class) -> &'static str {
    match class {
        Class::File | Class::Process => "System Activity",
        Class::Detection => "Findings",
        Class::Network | Class::Http => "Network Activity",
        Class::Config => "Discovery",
        Class::Lifecycle | Class::Api => "Application Activity",
    }
}
