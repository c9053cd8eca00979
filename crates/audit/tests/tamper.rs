//! After any change to a ledger, `verify` finds the first damaged place and names it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use ledgers::{Room, damage};
use policy::Code;
use proptest::prelude::*;
use ringfence_audit::{Damage, Head, Verification, verify_reader};

/// Lines of a small ledger, and its head.
fn lines() -> (Vec<String>, Head) {
    let room = Room::filled(6);
    let (ledger, _) = room.open();
    (room.lines(), ledger.head())
}

fn check(bytes: impl AsRef<[u8]>, head: Option<&Head>) -> Result<Verification, Damage> {
    verify_reader(bytes.as_ref(), head).map_err(damage)
}

#[test]
fn a_ledger_as_it_was_written_is_in_order() {
    let (lines, head) = lines();
    let verified = check(lines.concat(), Some(&head)).unwrap();
    let seen = (verified.first, verified.records, verified.segments, verified.head);
    assert_eq!(seen, (1, 7, 1, Some(head)));
    assert_eq!(check("", None).unwrap().records, 0);
}

#[test]
fn every_changed_bit_is_found_where_it_is() {
    let (lines, _) = lines();
    let good = lines.concat().into_bytes();
    let ends: Vec<_> = lines
        .iter()
        .scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        })
        .collect();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            let found = check(&bytes, None).expect_err("a changed bit was not found");
            let seq = ends.iter().position(|&end| at < end).unwrap() as u64 + 1;
            assert_eq!(found.seq, seq, "byte {at} bit {bit}: {found}");
            let last_break = at + 1 == good.len();
            assert_eq!(
                found.code,
                if last_break { Code::RecordTorn } else { Code::RecordChanged },
                "byte {at}: {found}"
            );
        }
    }
}

#[test]
fn every_removed_record_is_found() {
    let (lines, head) = lines();
    for at in 0..lines.len() {
        let mut lines = lines.clone();
        lines.remove(at);
        let last = at + 1 == lines.len() + 1;
        assert_eq!(
            check(lines.concat(), None).is_ok(),
            last,
            "nothing shows that the last one is missing but a head"
        );
        let found = check(lines.concat(), Some(&head)).unwrap_err();
        assert_eq!(found.seq, at as u64 + 1, "{found}");
        assert_eq!(found.code, if last { Code::LedgerTruncated } else { Code::RecordRemoved }, "{found}");
    }
}

#[test]
fn every_doubled_record_is_found() {
    let (lines, _) = lines();
    for at in 0..lines.len() {
        let mut lines = lines.clone();
        lines.insert(at, lines[at].clone());
        let found = check(lines.concat(), None).unwrap_err();
        assert_eq!(
            (found.code, found.seq, found.line),
            (Code::RecordReordered, at as u64 + 1, at as u64 + 2),
            "{found}"
        );
        assert_eq!(found.sentence, format!("record {} is there twice", at + 1));
    }
}

#[test]
fn every_two_swapped_records_are_found() {
    let (lines, _) = lines();
    for one in 0..lines.len() {
        for two in one + 1..lines.len() {
            let mut lines = lines.clone();
            lines.swap(one, two);
            let found = check(lines.concat(), None).unwrap_err();
            assert_eq!(
                (found.code, found.seq),
                (Code::RecordReordered, one as u64 + 1),
                "{one} {two}: {found}"
            );
        }
    }
}

#[test]
fn a_cut_at_every_place_is_found_with_the_head() {
    let (lines, head) = lines();
    let good = lines.concat();
    for at in 0..good.len() {
        let found = check(&good[..at], Some(&head)).unwrap_err();
        let boundary = at == 0 || good.as_bytes()[at - 1] == b'\n';
        assert_eq!(
            found.code,
            if boundary { Code::LedgerTruncated } else { Code::RecordTorn },
            "{at}: {found}"
        );
    }
}

#[test]
fn a_ledger_that_was_written_anew_is_found_with_the_head() {
    let (_, head) = lines();
    let other = Room::filled(9);
    let text = other.text().replace("tester", "toaster");
    // Written anew: every record in order by itself.
    let anew = Room::new();
    let (ledger, _) = anew.open();
    (0..9).for_each(|number| ringfence_audit::Sink::record(&ledger, &ledgers::tool(number * 2)).unwrap());
    assert!(check(anew.bytes(), None).is_ok());
    let found = check(anew.bytes(), Some(&head)).unwrap_err();
    assert_eq!((found.code, found.seq), (Code::RecordChanged, 7));
    assert_eq!(found.sentence, "record 7 is not the one that was published: the ledger was rewritten");
    assert_eq!(check(text, Some(&head)).unwrap_err().seq, 2);
}

#[test]
fn a_record_that_was_replaced_and_hashed_again_is_found_by_the_next() {
    let (mut lines, _) = lines();
    let other = Room::new();
    let (ledger, _) = other.open();
    (10..16).for_each(|number| ringfence_audit::Sink::record(&ledger, &ledgers::tool(number)).unwrap());
    lines[6] = other.lines()[6].clone();
    let found = check(lines.concat(), None).unwrap_err();
    assert_eq!((found.code, found.seq), (Code::RecordChanged, 7));
    assert_eq!(found.sentence, "record 7 does not follow from record 6: one of them was replaced");
}

#[test]
fn an_endless_line_does_not_fill_the_memory() {
    struct Endless(usize);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += buffer.len();
            assert!(self.0 < 10 << 20, "read on and on");
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }
    let found = verify_reader(std::io::BufReader::new(Endless(0)), None).map_err(damage).unwrap_err();
    assert_eq!((found.code, found.line), (Code::RecordChanged, 1));
}

#[test]
fn what_people_read() {
    let (lines, head) = lines();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().concat();
    let texts = [
        check(lines.concat().replacen("\"exit\":0", "\"exit\":1", 1), None),
        check(without(2), None),
        check([&lines[..2], &lines[5..]].concat().concat(), None),
        check([&lines[..2], &[lines[3].clone(), lines[2].clone()][..]].concat().concat(), None),
        check([&lines[..3], &[lines[1].clone()][..]].concat().concat(), None),
        check(lines[..3].concat() + &lines[3][..68], None),
        check(lines[..4].concat(), Some(&head)),
    ]
    .map(|result| result.unwrap_err())
    .map(|damage| format!("{} {damage}", damage.code));
    insta::assert_snapshot!(texts.join("\n"), @r"
    RF-A002 -:2: record 2 was changed: the record does not match its own hash
    RF-A003 -:3: record 3 is missing
    RF-A003 -:3: records 3 to 5 are missing
    RF-A004 -:3: record 3 stands further on: the order was changed
    RF-A004 -:4: record 2 stands where record 4 should be
    RF-A006 -:4: record 4 was cut off by a crash: the last 68 bytes have no line break
    RF-A005 -: the ledger ends with record 4, but record 7 was published: the end was cut off
    ");
}

proptest! {
    #[test]
    fn never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        check(&bytes, None).ok();
    }

    #[test]
    fn never_panics_on_bytes_that_look_like_a_ledger(
        at in any::<prop::sample::Index>(), drop in 0usize..40, insert in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let (lines, head) = lines();
        let good = lines.concat().into_bytes();
        let at = at.index(good.len());
        let end = (at + drop).min(good.len());
        let bytes = [&good[..at], &insert, &good[end..]].concat();
        prop_assert_eq!(check(&bytes, Some(&head)).is_ok(), bytes == good);
    }
}
