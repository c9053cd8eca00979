//! Many files, one chain.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ledgers::{Room, code, damage, options, tool};
use policy::Code;
use ringfence_audit::{Records, Sink, verify};

/// A ledger whose files hold a few records each.
fn rotated(records: u64, keep: Option<usize>) -> Room {
    let room = Room::new();
    let ledger = room.open_with(|options| {
        options.rotate_at = 1500;
        options.keep = keep;
    });
    (0..records).for_each(|number| ledger.record(&tool(number)).unwrap());
    room
}

#[test]
fn a_full_file_is_completed_and_the_next_carries_on_the_chain() {
    let room = rotated(12, None);
    assert_eq!(
        room.names(),
        [
            "ledger.jsonl",
            "ledger.jsonl.000000000001",
            "ledger.jsonl.000000000006",
            "ledger.jsonl.000000000010"
        ]
    );
    let verified = verify(&room.path(), None).unwrap();
    assert_eq!((verified.first, verified.records, verified.segments), (1, 16, 4));
    for name in &room.names()[1..] {
        let file = fs::metadata(room.dir().join(name)).unwrap();
        assert!(file.len() <= 1500 && file.permissions().mode() & 0o777 == 0o600, "{name}");
    }
}

#[test]
fn every_file_names_the_chain_and_the_file_before() {
    let room = rotated(12, None);
    let first = Records::open(&room.path()).unwrap().next().unwrap().unwrap();
    let continued: Vec<_> = Records::open(&room.path())
        .unwrap()
        .map(Result::unwrap)
        .filter(|record| record.event() == "ledger.continued")
        .map(|record| {
            assert_eq!(record.text("chain"), Some(first.head().hash.to_string().as_str()));
            (record.head().seq, record.text("segment").unwrap().to_owned())
        })
        .collect();
    assert_eq!(
        continued,
        [
            (6, "ledger.jsonl.000000000001".into()),
            (10, "ledger.jsonl.000000000006".into()),
            (14, "ledger.jsonl.000000000010".to_owned()),
        ]
    );
}

#[test]
fn only_so_many_files_are_kept_and_verify_says_from_where() {
    let room = rotated(20, Some(2));
    let names = room.names();
    assert_eq!(names.len(), 3, "{names:?}");
    let verified = verify(&room.path(), None).unwrap();
    assert!(
        verified.first > 1 && names[1].ends_with(&format!("{:012}", verified.first)),
        "{verified:?} {names:?}"
    );
    assert!(room.text().contains(r#""dropped":1"#), "{}", room.text());
}

#[test]
fn nothing_that_stands_in_the_way_is_overwritten() {
    let room = Room::new();
    let ledger = room.open_with(|options| options.rotate_at = 1);
    let in_the_way = room.dir().join("ledger.jsonl.000000000001");
    fs::write(&in_the_way, "precious").unwrap();
    let before = room.bytes();
    assert_eq!(code(ledger.record(&tool(1))), Some(Code::LedgerUntrusted));
    assert_eq!(fs::read(&in_the_way).unwrap(), b"precious");
    assert_eq!(room.bytes(), before);

    fs::remove_file(in_the_way).unwrap();
    ledger.record(&tool(1)).unwrap();
    assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().segments, 2);
}

#[test]
fn a_crash_between_the_old_file_and_the_new_one_loses_nothing() {
    let leave: [fn(&Room); 2] = [
        |_| {},
        |room| {
            room.write("");
            fs::set_permissions(room.path(), fs::Permissions::from_mode(0o600)).unwrap();
        },
    ];
    for after_rename in leave {
        let room = Room::filled(3);
        fs::rename(room.path(), room.dir().join("ledger.jsonl.000000000001")).unwrap();
        after_rename(&room);
        assert_eq!(verify(&room.path(), None).unwrap().records, 4);
        assert_eq!(Records::head(&room.path()).unwrap().seq, 4);

        let (ledger, opened) = room.open();
        assert_eq!((opened.head.seq, opened.created), (5, true));
        ledger.record(&tool(1)).unwrap();
        assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().records, 6);
    }
}

#[test]
fn another_handle_follows_to_the_new_file() {
    let room = Room::new();
    let (one, two) = (
        room.open_with(|options| options.rotate_at = 1500),
        room.open_with(|options| options.rotate_at = 1500),
    );
    for number in 0..20 {
        one.record(&tool(number)).unwrap();
        two.record(&tool(number)).unwrap();
    }
    let verified = verify(&room.path(), Some(&two.head())).unwrap();
    assert_eq!(verified.records, 1 + 40 + (verified.segments as u64 - 1));
}

#[test]
fn a_missing_file_in_the_middle_and_a_changed_old_file_are_found() {
    let room = rotated(12, None);
    let middle = room.dir().join("ledger.jsonl.000000000006");
    let bytes = fs::read(&middle).unwrap();
    fs::remove_file(&middle).unwrap();
    let broken = damage(verify(&room.path(), None).unwrap_err());
    assert_eq!((broken.code, broken.seq), (Code::RecordRemoved, 6));
    assert_eq!(broken.sentence, "records 6 to 9 are missing");

    fs::write(&middle, String::from_utf8(bytes).unwrap().replacen("tester", "toaster", 1)).unwrap();
    let broken = damage(verify(&room.path(), None).unwrap_err());
    assert_eq!((broken.code, broken.seq, broken.line, broken.segment), (Code::RecordChanged, 7, 2, middle));
}

#[test]
fn a_record_that_was_moved_to_a_later_file_is_found() {
    let room = rotated(12, None);
    let [from, to] =
        ["ledger.jsonl.000000000001", "ledger.jsonl.000000000010"].map(|name| room.dir().join(name));
    let (text, later) = (fs::read_to_string(&from).unwrap(), fs::read_to_string(&to).unwrap());
    let moved = text.split_inclusive('\n').nth(2).unwrap();
    fs::write(&from, text.replace(moved, "")).unwrap();
    fs::write(&to, later + moved).unwrap();
    let broken = damage(verify(&room.path(), None).unwrap_err());
    assert_eq!((broken.code, broken.seq, broken.line), (Code::RecordReordered, 3, 3));
}

#[test]
fn a_ledger_does_not_go_on_after_a_file_that_was_tampered_with() {
    let room = rotated(12, None);
    fs::remove_file(room.path()).unwrap();
    let last = room.dir().join("ledger.jsonl.000000000010");
    let text = fs::read_to_string(&last).unwrap();
    for changed in [text.replace("tester", "toaster"), text.trim_end().to_owned(), String::new()] {
        fs::write(&last, changed).unwrap();
        assert_eq!(code(room.try_open()), Some(Code::RecordChanged));
        fs::remove_file(room.path()).unwrap();
    }
    let (_, cut) = text.split_once('\n').unwrap();
    fs::write(&last, cut).unwrap();
    assert_eq!(code(room.try_open()), Some(Code::RecordRemoved));
}

#[test]
fn a_head_from_before_the_oldest_file_cannot_be_checked() {
    let room = Room::new();
    let ledger = room.open_with(|options| {
        options.rotate_at = 1500;
        options.keep = Some(1);
    });
    let old = ledger.head();
    (0..20).for_each(|number| ledger.record(&tool(number)).unwrap());
    let broken = damage(verify(&room.path(), Some(&old)).unwrap_err());
    assert_eq!((broken.code, broken.seq), (Code::RecordRemoved, 1));
}

#[test]
fn records_can_be_read_from_a_number_on() {
    let room = rotated(12, None);
    for from in 1..=16 {
        let seqs: Vec<_> =
            Records::from(&room.path(), from).unwrap().map(|record| record.unwrap().head().seq).collect();
        assert_eq!(seqs, (from..=16).collect::<Vec<_>>());
    }
    assert_eq!(Records::from(&room.path(), 17).unwrap().count(), 0);

    let pruned = rotated(20, Some(1));
    let held = verify(&pruned.path(), None).unwrap();
    assert_eq!(Records::from(&pruned.path(), 1).unwrap().count() as u64, held.records);
}

#[test]
fn reading_goes_on_when_more_is_written_also_into_new_files() {
    let room = Room::new();
    let ledger = room.open_with(|options| options.rotate_at = 1500);
    let mut records = Records::open(&room.path()).unwrap();
    let mut seen = Vec::new();
    for number in 0..40 {
        seen.extend(records.by_ref().map(|record| record.unwrap().head().seq));
        // Sometimes one record at a time, sometimes several files at once.
        (0..=number % 13).for_each(|_| ledger.record(&tool(number)).unwrap());
        records.more().unwrap();
    }
    seen.extend(records.by_ref().map(|record| record.unwrap().head().seq));
    assert_eq!(seen, (1..=ledger.head().seq).collect::<Vec<_>>());
    assert!(room.names().len() > 20);
}

#[test]
fn options_can_keep_everything_in_one_file() {
    let room = Room::new();
    let mut options = options();
    options.rotate_at = u64::MAX;
    let (ledger, _) = ringfence_audit::Ledger::open(&room.path(), options).unwrap();
    (0..100).for_each(|number| ledger.record(&tool(number)).unwrap());
    assert_eq!(room.names(), ["ledger.jsonl"]);
}
