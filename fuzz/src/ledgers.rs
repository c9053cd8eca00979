//! Ledgers: verifying, reading and exporting them.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use audit::export::{self, Format};
use audit::{Digest, Head, Records, verify_reader};

/// A ledger that was written by `ringfence`.
const GENUINE: &[u8] = include_bytes!("../seeds/ledger/genuine.jsonl");

/// Number and hash of its last record.
static HEAD: LazyLock<Head> =
    LazyLock::new(|| verify_reader(GENUINE, None).ok().and_then(|verified| verified.head).expect("a ledger"));

/// Verifying any bytes ends; a verified ledger has as many records as lines.
pub fn ledger(bytes: &[u8]) {
    if let Ok(verified) = verify_reader(bytes, None) {
        assert_eq!(verified.records, bytes.iter().filter(|byte| **byte == b'\n').count() as u64);
    }
}

/// Each line is the body of a record: sealed with right hashes, it is verified, read and exported in every format.
pub fn ledger_records(bytes: &[u8]) {
    let sealed = seal(bytes);
    let Ok(verified) = verify_reader(sealed.as_slice(), None) else { return };
    let path = LEDGER.join("ledger.jsonl");
    fs::write(&path, &sealed).expect("a file");
    for format in [Format::Lines, Format::Json, Format::Cef, Format::Ocsf] {
        let mut out = Vec::new();
        let records = Records::open(&path).expect("a ledger that was just verified");
        export::write(records, format, &mut out).expect("records that were just verified");
        if format == Format::Lines {
            assert_eq!(out, sealed);
        }
        // One record takes one line wherever lines are the format.
        if matches!(format, Format::Cef | Format::Ocsf) {
            assert_eq!(out.iter().filter(|byte| **byte == b'\n').count() as u64, verified.records);
        }
    }
}

/// Triples of bytes, each a position and a new byte: a changed ledger does not verify against its published head.
pub fn ledger_tamper(bytes: &[u8]) {
    let mut changed = GENUINE.to_vec();
    for edit in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([edit[0], edit[1]])) % changed.len();
        changed[at] = edit[2];
    }
    let is_same = changed == GENUINE;
    assert_eq!(verify_reader(changed.as_slice(), Some(&HEAD)).is_ok(), is_same);
}

/// Redacted text stays as it is.
pub fn redact(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let redactor = audit::Redactor::new();
    let once = redactor.redact(text).into_owned();
    assert_eq!(redactor.redact(&once), once, "{text:?}");
}

/// A directory for one ledger, removed by no one: a fuzzer ends by signals.
static LEDGER: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = std::env::temp_dir().join(format!("ringfence-fuzz-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    directory
});

/// Makes records of lines, each with the hash that it has to have.
fn seal(bytes: &[u8]) -> Vec<u8> {
    let (mut ledger, mut last) = (Vec::new(), Digest([0; 32]));
    let bodies = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    for (body, seq) in bodies.zip(1..) {
        let start = ledger.len();
        ledger.extend(format!("{{\"v\":1,\"seq\":{seq},\"time\":\"2026-01-01T00:00:00.000000Z\",").bytes());
        ledger.extend(body);
        ledger.extend(format!(",\"prev\":\"{last}\"").bytes());
        last = Digest::of(&ledger[start..]);
        ledger.extend(format!(",\"hash\":\"{last}\"}}\n").bytes());
    }
    ledger
}
