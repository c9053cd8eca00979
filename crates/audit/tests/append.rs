//! Appending: what is in the file afterwards, and who else may write it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod ledgers;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use ledgers::{Room, code, options, skipped, started, tool};
use policy::{Code, RuleRef};
use ringfence_audit::{
    By, Durability, Event, FilePath, Head, Ledger, Name, Names, Options, Records, Sink, Text, verify,
};

#[test]
fn a_new_ledger_begins_with_a_record_about_itself() {
    let room = Room::new();
    let (ledger, opened) = room.open();
    assert!(opened.created && opened.recovered.is_none());
    assert_eq!((opened.head.seq, ledger.head()), (1, opened.head));
    assert!(
        room.text()
            .starts_with(r#"{"v":1,"seq":1,"time":"1970-01-01T00:00:00.000000Z","event":"ledger.started""#)
    );
}

#[test]
fn records_follow_each_other_and_the_head_moves() {
    let room = Room::new();
    let (ledger, _) = room.open();
    let before = ledger.head();
    ledger.record(&tool(7)).unwrap();
    assert_eq!(ledger.head().seq, before.seq + 1);
    assert!(room.text().contains(&format!(r#""prev":"{}","hash":"{}""#, before.hash, ledger.head().hash)));
    assert_eq!(Records::head(&room.path()).unwrap(), ledger.head());
}

#[test]
fn a_ledger_goes_on_where_it_ended() {
    let room = Room::filled(3);
    let (ledger, opened) = room.open();
    assert!(!opened.created);
    ledger.record(&tool(3)).unwrap();
    let verified = verify(&room.path(), Some(&ledger.head())).unwrap();
    assert_eq!((verified.first, verified.records, verified.segments), (1, 5, 1));
}

#[test]
fn two_handles_in_one_process_share_the_chain() {
    let room = Room::new();
    let ((one, _), (two, _)) = (room.open(), room.open());
    for number in 0..50 {
        one.record(&tool(number)).unwrap();
        two.record(&tool(number)).unwrap();
    }
    assert_eq!(verify(&room.path(), Some(&two.head())).unwrap().records, 101);
}

#[test]
fn threads_share_one_ledger() {
    let room = Room::new();
    let (ledger, _) = room.open();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|number| ledger.record(&tool(number)).unwrap()));
        }
    });
    assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().records, 401);
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let room = Room::new();
    let (ledger, _) = room.open();
    // Each of these takes six bytes in JSON.
    ledger.record(&started(&"\u{1}".repeat(100_000))).unwrap();
    ledger.record(&started(&"é".repeat(100_000))).unwrap();
    let lines = room.lines();
    assert!(lines[1..].iter().all(|line| line.len() < 14 * 1024), "{}", lines[1].len());
    assert!(lines[1].contains("[cut: 97952 bytes]"), "{}", &lines[1][12_000..]);
    assert!(lines[2].contains("[cut: 187712 bytes]"), "{}", &lines[2][12_000..]);
    assert_eq!(verify(&room.path(), None).unwrap().records, 3);
}

#[test]
fn secrets_do_not_reach_the_file_and_their_hash_does() {
    let room = Room::new();
    let (ledger, _) = room.open();
    let arguments = r#"{"command":"curl -H 'Authorization: Bearer hunter2' https://x"}"#;
    ledger.record(&started(arguments)).unwrap();
    ledger.hide("db", "correct horse").unwrap();
    ledger.record(&started("psql correct%20horse")).unwrap();
    let text = room.text();
    assert!(!text.contains("hunter2") && !text.contains("correct"), "{text}");
    assert!(text.contains("[redacted:authorization]") && text.contains("[redacted:secret:db]"), "{text}");
    assert!(
        text.contains(&format!(r#""arguments_sha256":"{}""#, ledgers::digest(arguments.as_bytes()))),
        "{text}"
    );
}

#[test]
fn no_kind_of_field_lets_a_secret_through() {
    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let room = Room::new();
    let (ledger, _) = room.open();
    let (none, path) = (By::default(), format!("/srv/{TOKEN}/x"));
    let rule = RuleRef { file: Path::new(&path).into(), line: std::num::NonZeroU32::MIN };
    let names = [TOKEN, "fine"];
    let events = [
        Event::SkillCleared { by: By { session: Some(TOKEN), ..none }, count: 1 },
        Event::SkillCleared { by: By { agent: Some(TOKEN), ..none }, count: 1 },
        Event::SkillCleared { by: By { id: Some(TOKEN), ..none }, count: 1 },
        Event::BreakerClosed { by: none, breaker: Name(TOKEN) },
        Event::JailSkipped { by: none, program: Text(TOKEN), rule: &rule },
        Event::ToolFiltered { by: none, tools: Names(&names), code: Code::Rule, reason: Text("") },
        Event::SkillFailed { by: none, skill: Name(""), path: FilePath(Path::new(&path)), error: Text("") },
        started(TOKEN),
    ];
    for event in &events {
        ledger.record(event).unwrap();
    }
    assert!(!room.text().contains(&TOKEN[4..]), "{}", room.text());
    assert!(room.lines()[1..].iter().all(|line| line.contains("[redacted:github-token]")), "{}", room.text());
}

#[test]
fn files_and_directories_are_made_for_us_alone() {
    let room = Room::new();
    let path = room.dir().join("a/b/ledger.jsonl");
    Ledger::open(&path, options()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!((mode(path.parent().unwrap()), mode(&room.dir().join("a"))), (0o700, 0o700));
}

#[test]
fn what_others_could_change_is_refused_and_left_as_it_is() {
    let target = |room: &Room| room.dir().join("target");
    let rows: &[Row<ByPath>] = &[
        ("a symbolic link", |room, target| symlink(target, room.path()).unwrap()),
        ("a dangling link", |room, _| symlink("nowhere", room.path()).unwrap()),
        ("a second name", |room, target| fs::hard_link(target, room.path()).unwrap()),
        ("a directory", |room, _| fs::create_dir(room.path()).unwrap()),
        ("a pipe", |room, _| make_pipe(&room.path())),
        ("a file that the group can write", |room, _| make_file(&room.path(), 0o660)),
        ("a file that everyone can write", |room, _| make_file(&room.path(), 0o602)),
        ("a directory that others can write", |room, _| {
            fs::set_permissions(room.dir(), fs::Permissions::from_mode(0o775)).unwrap();
        }),
    ];
    for (what, prepare) in rows {
        let room = Room::new();
        fs::write(target(&room), "precious").unwrap();
        prepare(&room, &target(&room));
        assert_eq!(code(room.try_open()), Some(Code::LedgerUntrusted), "{what}");
        assert_eq!(fs::read_to_string(target(&room)).unwrap(), "precious", "{what}");
        assert!(!room.dir().join("nowhere").exists(), "{what}");
    }
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    let room = Room::new();
    make_file(&room.path(), 0o600);
    if let Err(error) = std::os::unix::fs::chown(room.path(), Some(12_345), None) {
        return skipped("a ledger of another user", &error.to_string());
    }
    assert_eq!(code(room.try_open()), Some(Code::LedgerUntrusted));
}

#[test]
fn a_file_that_becomes_untrusted_stops_the_records() {
    let rows: &[Row<ByRoom>] = &[
        ("mode", |room| fs::set_permissions(room.path(), fs::Permissions::from_mode(0o666)).unwrap()),
        ("second name", |room| fs::hard_link(room.path(), room.dir().join("other")).unwrap()),
    ];
    for (what, change) in rows {
        let room = Room::new();
        let (ledger, _) = room.open();
        change(&room);
        assert_eq!(code(ledger.record(&tool(1))), Some(Code::LedgerUntrusted), "{what}");
        assert_eq!(room.lines().len(), 1, "{what}");
    }
}

#[test]
fn a_ledger_that_was_cut_removed_or_put_back_while_in_use_stops_the_records() {
    let rows: &[Row<ByBytes>] = &[
        ("cut", |room, _| fs::File::options().write(true).open(room.path()).unwrap().set_len(0).unwrap()),
        ("removed", |room, _| fs::remove_file(room.path()).unwrap()),
        ("put back", |room, old| {
            fs::rename(room.path(), room.dir().join("aside")).unwrap();
            room.write(old);
            fs::set_permissions(room.path(), fs::Permissions::from_mode(0o600)).unwrap();
        }),
    ];
    for (what, change) in rows {
        let room = Room::new();
        let (ledger, _) = room.open();
        let old = room.bytes();
        ledger.record(&tool(1)).unwrap();
        change(&room, &old);
        for _ in 0..2 {
            assert_eq!(code(ledger.record(&tool(2))), Some(Code::LedgerTruncated), "{what}");
        }
    }
}

#[test]
fn a_file_that_is_no_ledger_is_refused_and_left_as_it_is() {
    let rows = ["hello", "hello\n", "hello\nworld", "{}\n", "{\"v\":1,\"seq\":1}\n"];
    for text in rows {
        let room = Room::new();
        make_file(&room.path(), 0o600);
        room.write(text);
        assert!(room.try_open().is_err(), "{text:?}");
        assert_eq!(room.text(), text);
    }
}

#[test]
fn a_path_without_a_name_is_an_error() {
    for path in ["/", "..", ""] {
        assert_eq!(code(Ledger::open(Path::new(path), options())), Some(Code::LedgerUnwritable), "{path}");
    }
}

#[test]
fn records_on_disk_can_be_read_back() {
    let room = Room::new();
    let mut options = Options::new(Durability::Disk);
    options.rotate_at = 1000;
    let (ledger, _) = Ledger::open(&room.path(), options).unwrap();
    (0..5).for_each(|number| ledger.record(&tool(number)).unwrap());
    assert_eq!(verify(&room.path(), Some(&ledger.head())).unwrap().head, Some(ledger.head()));
}

#[test]
fn heads_can_be_handed_around_as_text() {
    let room = Room::filled(2);
    let head: Head = Records::head(&room.path()).unwrap().to_string().parse().unwrap();
    assert!(verify(&room.path(), Some(&head)).is_ok());
}

/// A name and an action.
type Row<F> = (&'static str, F);
type ByRoom = fn(&Room);
type ByPath = fn(&Room, &Path);
type ByBytes = fn(&Room, &[u8]);

fn make_file(path: &Path, mode: u32) {
    fs::write(path, "").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode};
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}
