//! After a crash: what is cut off, what is said about it, and what is never guessed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use ledgers::{Room, code, damage, digest, tool};
use policy::Code;
use ringfence_audit::{Digest, MAX_RECORD, Records, Sink, verify};

/// Writes a tail to the end of the file.
fn torn(tail: &[u8]) -> Room {
    let room = Room::filled(2);
    let mut bytes = room.bytes();
    bytes.extend_from_slice(tail);
    room.write(bytes);
    room
}

#[test]
fn a_torn_record_is_cut_off_and_reported() {
    let record = Room::filled(3).lines().pop().unwrap();
    let rows: &[(&str, Vec<u8>)] = &[
        ("the first byte", b"{".to_vec()),
        ("half a record", record.as_bytes()[..record.len() / 2].to_vec()),
        ("all but the line break", record.trim_end().as_bytes().to_vec()),
        ("zeros", vec![0; 4096]),
        ("as many zeros as a record can be long", vec![0; MAX_RECORD]),
        ("half a record and zeros", [&record.as_bytes()[..30], &[0; 500][..]].concat()),
    ];
    for (what, tail) in rows {
        let room = torn(tail);
        let broken = damage(verify(&room.path(), None).unwrap_err());
        assert_eq!((broken.code, broken.seq, broken.line), (Code::RecordTorn, 4, 4), "{what}");
        assert_eq!(damage(Records::head(&room.path()).unwrap_err()).code, Code::RecordTorn, "{what}");

        let (ledger, opened) = room.open();
        let recovered = opened.recovered.unwrap();
        assert_eq!((recovered.bytes, recovered.sha256), (tail.len() as u64, digest(tail)), "{what}");
        assert_recorded(&room, tail.len(), digest(tail));
        ledger.record(&tool(9)).unwrap();
        assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().records, 5, "{what}");
    }
}

fn assert_recorded(room: &Room, bytes: usize, sha256: Digest) {
    let wanted = format!(r#""event":"ledger.recovered","bytes":{bytes},"sha256":"{sha256}""#);
    assert!(room.lines().last().unwrap().contains(&wanted), "{}", room.text());
}

#[test]
fn a_torn_first_record_leaves_a_new_ledger_that_says_so() {
    let room = Room::filled(0);
    let bytes = room.bytes();
    room.write(&bytes[..bytes.len() - 1]);
    let (ledger, opened) = room.open();
    assert_eq!(opened.recovered.unwrap().bytes, bytes.len() as u64 - 1);
    assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().records, 2);
}

#[test]
fn a_crash_of_another_process_is_repaired_by_the_next_record() {
    let room = Room::new();
    let (ledger, _) = room.open();
    let mut bytes = room.bytes();
    bytes.extend_from_slice(b"{\"v\":1,\"seq\":2,");
    room.write(bytes);
    ledger.record(&tool(1)).unwrap();
    assert!(room.lines()[1].contains("ledger.recovered"), "{}", room.text());
    assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().records, 3);
}

#[test]
fn what_no_crash_of_ours_leaves_is_refused_and_left_as_it_is() {
    let rows: &[(&str, Vec<u8>, Code)] = &[
        ("text", b"hello".to_vec(), Code::RecordTorn),
        ("zeros and then text", b"\0\0\0hello".to_vec(), Code::RecordTorn),
        ("more zeros than a record is long", vec![0; MAX_RECORD + 1], Code::RecordTorn),
        ("far more", vec![0; 5 * MAX_RECORD], Code::RecordTorn),
        ("a record that is not ours", b"{\"v\":2,".to_vec(), Code::RecordTorn),
        ("a complete line that is no record", b"hello\n".to_vec(), Code::RecordChanged),
        ("zeros with a line break", b"\0\0\0\n".to_vec(), Code::RecordChanged),
        ("an endless line", vec![b'x'; 5 * MAX_RECORD], Code::RecordTorn),
    ];
    for (what, tail, wanted) in rows {
        let room = torn(tail);
        let before = room.bytes();
        assert_eq!(code(room.try_open()), Some(*wanted), "{what}");
        assert!(room.bytes() == before, "{what}: the file was touched");
    }
}

#[test]
fn a_changed_last_record_is_not_continued() {
    let room = Room::filled(2);
    room.write(room.text().replace(r#""duration_ms":1"#, r#""duration_ms":2"#));
    assert_eq!(code(room.try_open()), Some(Code::RecordChanged));
}
