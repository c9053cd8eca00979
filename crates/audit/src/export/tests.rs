//! Each format, as a receiver sees it.

use policy::{Code, Effect, Kind, RuleRef};

use super::*;
use crate::event::{By, Class};
use crate::field::{Arguments, Name, Text};
use crate::record::{Head, seal};
use crate::redact::Redactor;
use crate::tables::events::Event;
use crate::word::Impact;

fn record(seq: u64, event: &Event<'_>) -> Record {
    let (mut body, mut line) = (Vec::new(), Vec::new());
    event.put(&mut body, &Redactor::new());
    let last =
        if seq == 1 { Head::GENESIS } else { Head { seq: seq - 1, hash: crate::Digest::of(b"before") } };
    let head = seal(&mut line, &last, "2026-01-31T08:00:00.5Z".parse().unwrap(), &body);
    Record::read(&line, head).unwrap()
}

fn denied() -> Record {
    let rule = RuleRef { file: std::path::Path::new("policy.toml").into(), line: 12.try_into().unwrap() };
    record(
        7,
        &Event::RequestDecided {
            by: By { session: Some("s1"), agent: Some("claude"), id: Some("r9") },
            kind: Kind::Read,
            object: Text("/home/bob/.ssh/id_rsa"),
            tool: Some(Name("read")),
            impact: Some(Impact::Read),
            decision: Effect::Deny,
            code: Code::ForbiddenName,
            reason: Text("a = b | c \\ d\nnext"),
            rule: Some(&rule),
            remedy: None,
            profile: None,
            turn: None,
            sources: None,
        },
    )
}

fn first() -> Record {
    record(1, &Event::LedgerStarted { by: By::default(), version: Name("0.1.0") })
}

fn exported(format: Format, records: Vec<Record>) -> String {
    let mut out = Vec::new();
    write(records.into_iter().map(Ok), format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the export without our version.
fn unversioned(text: &str) -> String {
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn json_document() {
    let text = exported(Format::Json, vec![first(), denied()]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["records"][1]["decision"], "deny");
    assert_eq!(exported(Format::Json, vec![]), "{\"version\":1,\"records\":[\n]}\n");
}

#[test]
fn lines_pass_through() {
    assert_eq!(exported(Format::Lines, vec![denied()]), format!("{}\n", denied().line()));
}

#[test]
fn cef_of_a_denied_request() {
    insta::assert_snapshot!(unversioned(&exported(Format::Cef, vec![denied()])), @r#"CEF:0|Ringfence|ringfence|VERSION|request.decided|A request was decided|5|rt=1769846400500 externalId=7 RingfenceAgent=claude RingfenceCode=RF-F003 act=deny RingfenceId=r9 RingfenceImpact=read RingfenceKind=read filePath=/home/bob/.ssh/id_rsa reason=a \= b | c \\ d\nnext RingfenceRule=policy.toml:12 RingfenceSession=s1 RingfenceTool=read RingfencePrev=6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb RingfenceHash=6dc3cb31480db9720e8af7b7be4d867534f31904dd853ea054d7c21c9d3a65ae"#);
}

#[test]
fn cef_escapes_what_would_end_a_part() {
    let rows = [
        ("a=b", "a\\=b"),
        ("a|b", "a|b"),
        ("a\\b", "a\\\\b"),
        ("a\nb\r", "a\\nb\\r"),
        ("\u{1b}[2K", "\\\\u{1b}[2K"),
    ];
    for (text, wanted) in rows {
        let event = Event::ToolStarted {
            by: By::default(),
            tool: Name(text),
            impact: Impact::Read,
            arguments: Arguments(""),
        };
        let line = cef(&record(2, &event));
        assert!(line.contains(&format!("RingfenceTool={wanted}")), "{line}");
        assert_eq!(line.lines().count(), 1);
    }
}

#[test]
fn ocsf_of_a_denied_request() {
    let text = exported(Format::Ocsf, vec![denied()]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!(unversioned(&serde_json::to_string_pretty(&value).unwrap()), @r#"
    {
      "action": "Denied",
      "action_id": 2,
      "activity_id": 2,
      "actor": {
        "app_name": "claude",
        "session": {
          "uid": "s1"
        }
      },
      "attestation_list": [
        {
          "fingerprint": {
            "algorithm": "SHA-256",
            "algorithm_id": 3,
            "value": "6dc3cb31480db9720e8af7b7be4d867534f31904dd853ea054d7c21c9d3a65ae"
          },
          "prev_event": {
            "fingerprint": {
              "algorithm": "SHA-256",
              "algorithm_id": 3,
              "value": "6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb"
            },
            "uid": "6"
          },
          "uid": "7"
        }
      ],
      "category_name": "System Activity",
      "category_uid": 1,
      "class_name": "File System Activity",
      "class_uid": 1001,
      "device": {
        "name": "local",
        "type": "Unknown",
        "type_id": 0
      },
      "disposition": "Blocked",
      "disposition_id": 2,
      "file": {
        "name": "id_rsa",
        "path": "/home/bob/.ssh/id_rsa",
        "type_id": 0
      },
      "message": "a = b | c \\ d\nnext",
      "metadata": {
        "correlation_uid": "r9",
        "event_code": "request.decided",
        "original_time": "2026-01-31T08:00:00.500000Z",
        "product": {
          "name": "Ringfence",
          "vendor_name": "Ringfence",
          "version": "VERSION"
        },
        "profiles": [
          "record_integrity",
          "security_control"
        ],
        "sequence": 7,
        "uid": "7",
        "version": "1.8.0"
      },
      "policy": {
        "name": "policy.toml:12"
      },
      "raw_data": "{\"v\":1,\"seq\":7,\"time\":\"2026-01-31T08:00:00.500000Z\",\"event\":\"request.decided\",\"session\":\"s1\",\"agent\":\"claude\",\"id\":\"r9\",\"kind\":\"read\",\"object\":\"/home/bob/.ssh/id_rsa\",\"tool\":\"read\",\"impact\":\"read\",\"decision\":\"deny\",\"code\":\"RF-F003\",\"reason\":\"a = b | c \\\\ d\\nnext\",\"rule\":\"policy.toml:12\",\"prev\":\"6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb\",\"hash\":\"6dc3cb31480db9720e8af7b7be4d867534f31904dd853ea054d7c21c9d3a65ae\"}",
      "severity": "Medium",
      "severity_id": 3,
      "time": 1769846400500,
      "type_uid": 100102,
      "unmapped": {
        "agent": "claude",
        "code": "RF-F003",
        "decision": "deny",
        "id": "r9",
        "impact": "read",
        "kind": "read",
        "object": "/home/bob/.ssh/id_rsa",
        "reason": "a = b | c \\ d\nnext",
        "rule": "policy.toml:12",
        "session": "s1",
        "tool": "read"
      }
    }
    "#);
}

#[test]
fn ocsf_carries_the_chain() {
    let text = exported(Format::Ocsf, vec![first(), denied()]);
    let events: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let attestations: Vec<_> = events.iter().map(|event| &event["attestation_list"][0]).collect();
    assert_eq!(attestations[0]["prev_event"], serde_json::Value::Null);
    assert_eq!(attestations[1]["prev_event"]["uid"], "6");
    assert_eq!(attestations[1]["chain_uid"], attestations[0]["fingerprint"]["value"]);
}

#[test]
fn every_class_has_what_it_requires() {
    let required: &[(Class, &[&str])] = &[
        (Class::File, &["actor", "device", "file"]),
        (Class::Process, &["actor", "device", "process"]),
        (Class::Detection, &["finding_info"]),
        (Class::Network, &["dst_endpoint"]),
        (Class::Http, &["dst_endpoint", "http_request"]),
        (Class::Config, &["device"]),
        (Class::Lifecycle, &["app"]),
        (Class::Api, &["actor", "api", "src_endpoint"]),
    ];
    for shape in EVENTS {
        let mut record = first();
        record.fields_mut().insert("event".into(), shape.name.into());
        let event = ocsf(&record, None);
        assert_eq!(event["class_uid"], shape.class as u16, "{}", shape.name);
        assert_eq!(event["type_uid"], u32::from(shape.class as u16) * 100 + u32::from(shape.activity));
        let (_, fields) = required.iter().find(|(class, _)| *class == shape.class).unwrap();
        assert!(fields.iter().all(|field| event[field].is_object()), "{}: {event}", shape.name);
    }
}

#[test]
fn a_broken_ledger_ends_the_export() {
    let broken = VerifyError::unreadable(std::path::Path::new("x"), std::io::ErrorKind::NotFound);
    let mut out = Vec::new();
    let ended = write([Ok(first()), Err(broken), Ok(denied())].into_iter(), Format::Lines, &mut out);
    assert!(matches!(ended, Err(ExportError::Broken(_))));
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 1);
}
