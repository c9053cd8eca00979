//! Output that is longer than what is kept.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use jail::{Choice, Mode, Stream};
use ringfence::job::{Job, JobRequest, SpillError, Spills, StartError, TruncationCause};

use crate::place::{Place, ended, until};

/// Everything that can be read, piece by piece.
fn whole(job: &Job, stream: Stream) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let piece = job.read(stream, bytes.len() as u64, 100_000).unwrap();
        assert_eq!(piece.next, (bytes.len() + piece.bytes.len()) as u64);
        if piece.bytes.is_empty() {
            return bytes;
        }
        bytes.extend(piece.bytes);
    }
}

/// Returns the output of `seq`.
fn numbers(last: u32) -> String {
    (1..=last).fold(String::new(), |text, number| text + &number.to_string() + "\n")
}

#[test]
fn complete_from_the_first_byte() {
    let Some(place) = Place::new("long output") else { return };
    let lines = numbers(200_000);
    let odd: Vec<u8> = (0..=255_u8).cycle().take(300_000).collect();
    fs::write(place.path("work/odd"), &odd).unwrap();
    fs::set_permissions(place.path("work/odd"), Permissions::from_mode(0o644)).unwrap();
    let order = JobRequest { spills: Some(place.spills()), ..place.order("seq 200000; cat odd >&2") };
    let (job, _) = place.run(order);
    assert!(whole(&job, Stream::Output) == lines.as_bytes(), "standard output differs");
    assert!(whole(&job, Stream::Error) == odd, "binary output differs");
    let kept = job.output().output;
    assert!(kept.head.starts_with("1\n2\n") && kept.tail.ends_with("\n199999\n200000\n"));
    assert_eq!(kept.total, lines.len() as u64);
    assert_eq!(kept.left_out.chars, (lines.len() - kept.head.len() - kept.tail.len()) as u64);
    assert_eq!(job.read(Stream::Output, kept.total + 5, 10).unwrap().bytes, b"");
    assert_eq!(job.read(Stream::Output, 2, 4).unwrap().bytes, b"2\n3\n");
    // Nothing has a name that could be exchanged.
    assert_eq!(fs::read_dir(place.path("spills")).unwrap().count(), 0);
}

#[test]
fn short_output_needs_no_file() {
    let Some(place) = Place::new("short output") else { return };
    let spills = place.spills();
    let order = JobRequest { spills: Some(Arc::clone(&spills)), ..place.order("head -c 50000 /dev/zero") };
    let (job, _) = place.run(order);
    assert_eq!((spills.left(), whole(&job, Stream::Output).len()), (1 << 30, 50_000));
    assert!(!job.output().output.spilled);
}

#[test]
fn two_hundred_megabytes() {
    let Some(place) = Place::new("very long output") else { return };
    let line = "x".repeat(99);
    let script = format!("yes {line} | head -c 200000000");
    let before = memory();
    let order = JobRequest { spills: Some(place.spills()), ..place.order(&script) };
    let (job, _) = place.run(order);
    let grown = memory().saturating_sub(before);
    let piece = job.read(Stream::Output, (64 << 20) - 4, 100).unwrap();
    assert_eq!((piece.recorded, piece.total, piece.bytes.len()), (64 << 20, 200_000_000, 4));
    assert_eq!(piece.cut, Some(TruncationCause::Each(64 << 20)));
    let kept = job.output().output;
    assert!(kept.head.len() + kept.tail.len() <= 50_000 && kept.tail.ends_with("xxx\n"));
    // Other tests run beside this one.
    assert!(grown < 40 << 20, "{grown} bytes more");
}

/// Memory that this process has now, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn what_all_may_write_is_bounded_and_given_back() {
    let Some(place) = Place::new("the room for long output") else { return };
    let spills = Spills::open(&place.path("spills"), (200_000, 300_000)).unwrap();
    let order =
        || JobRequest { spills: Some(Arc::clone(&spills)), ..place.order("head -c 190000 /dev/zero") };
    // Both at once: the second does not fit.
    let both = format!("{0}; {0} >&2", order().line);
    let (job, _) = place.run(JobRequest { line: both.clone(), ..place.order(&both) });
    assert_eq!(job.read(Stream::Output, 0, 1).unwrap().cut, Some(TruncationCause::Nowhere));
    let (job, _) = place.run(JobRequest { spills: Some(Arc::clone(&spills)), ..place.order(&both) });
    assert_eq!(job.read(Stream::Error, 0, 1).unwrap().cut, Some(TruncationCause::All));
    assert_eq!((whole(&job, Stream::Output).len(), whole(&job, Stream::Error).len()), (190_000, 110_000));
    assert_eq!(spills.left(), 0);
    let id = job.id().to_owned();
    drop(job);
    // The next one needs the room, and the oldest is forgotten.
    let (job, _) = place.run(order());
    assert_eq!((whole(&job, Stream::Output).len(), spills.left()), (190_000, 110_000));
    assert!(place.jobs.get(&id).is_none());
}

#[test]
fn without_a_place_only_what_is_kept() {
    let Some(place) = Place::new("output without a file") else { return };
    let (job, _) = place.run(place.order("head -c 200000 /dev/zero"));
    let piece = job.read(Stream::Output, 0, 1_000_000).unwrap();
    assert_eq!(
        (piece.bytes.len(), piece.total, piece.cut),
        (50_000, 200_000, Some(TruncationCause::Nowhere))
    );
}

/// The agent cannot get at the directory: it is not seen, and a jail that would show it is not made.
#[test]
fn not_seen_from_inside() {
    let Some(place) = Place::new("the directory of long output") else { return };
    let path = place.path("spills");
    fs::write(path.join("canary"), "").unwrap();
    let line = format!(
        "seq 200000; ls -A {0} >&2; cat {0}/canary >&2; for i in /proc/[0-9]*/fd/*; do readlink $i; done | grep output- >&2; :",
        path.display()
    );
    let (job, _) = place.run(JobRequest { spills: Some(place.spills()), ..place.order(&line) });
    let errors = job.output().error.head;
    assert!(
        errors.contains("canary: No such file") || errors.contains("canary: Permission denied"),
        "{errors}"
    );
    assert!(!errors.contains("output-"), "{errors}");
    for (view, mode, seen) in [
        (place.path("spills"), Mode::ReadOnly, true),
        (place.path(""), Mode::ReadOnly, true),
        (place.path(""), Mode::ReadWrite, true),
        (place.path("spills"), Mode::Hidden, false),
    ] {
        let spec = place.spec().view(&view, mode);
        let order = JobRequest { spills: Some(place.spills()), ..place.order("true") };
        let started = place.jobs.start(Choice::Auto, spec, order, place.records.journal());
        let refused = matches!(started, Err(StartError::Spill(SpillError::Seen(_))));
        assert_eq!(refused, seen, "{} {mode:?}", view.display());
    }
}

#[test]
fn a_directory_of_others_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let open = |name: &str| Spills::open(&place.path().join(name), Spills::DEFAULT);
    for (name, mode) in [("own", 0o700), ("group", 0o750), ("all", 0o777)] {
        fs::create_dir(place.path().join(name)).unwrap();
        fs::set_permissions(place.path().join(name), Permissions::from_mode(mode)).unwrap();
    }
    symlink("own", place.path().join("link")).unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    assert!(open("own").is_ok());
    for name in ["group", "all"] {
        assert!(matches!(open(name), Err(SpillError::Shared(_))), "{name}");
    }
    for name in ["link", "file", "absent"] {
        assert!(matches!(open(name), Err(SpillError::Closed { .. })), "{name}");
    }
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(place.path().join("own"), Some(54321), None).unwrap();
        assert!(matches!(open("own"), Err(SpillError::Shared(_))));
    }
}

/// An attacker that exchanges the directory, or puts links where files might be, changes nothing.
#[test]
fn exchanged_for_a_link() {
    let Some(place) = Place::new("an exchanged directory") else { return };
    let order = JobRequest {
        spills: Some(place.spills()),
        ..place.order("seq 100000; read x; seq 100000; sleep 1000")
    };
    let job = place.start(order).unwrap();
    until("it has begun", || job.output().output.spilled);
    fs::rename(place.path("spills"), place.path("moved")).unwrap();
    fs::create_dir(place.path("elsewhere")).unwrap();
    fs::write(place.path("elsewhere/secret"), "secret").unwrap();
    symlink(place.path("elsewhere"), place.path("spills")).unwrap();
    let expected = numbers(100_000).repeat(2);
    until("all of it", || job.output().output.total == expected.len() as u64);
    assert!(whole(&job, Stream::Output) == expected.as_bytes(), "it differs");
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 1);
    job.stop();
    ended(&job);
}

/// Lines that are taken back again and again, and sequences without end.
#[test]
fn bombs_of_control_characters() {
    let Some(place) = Place::new("bombs") else { return };
    let bombs = [
        ("yes | tr '\\n' '\\r' | head -c 20000000; echo end", "end\n"),
        ("yes \"$(printf '\\033[31m')\" | tr -d '\\n' | head -c 20000000; echo end", "end\n"),
        ("yes \"$(printf '\\033]0;')\" | tr -d '\\n' | head -c 20000000; printf '\\n'; echo end", "end\n"),
        ("head -c 20000000 /dev/zero; echo end", "end\n"),
    ];
    for (bomb, shown) in bombs {
        let (job, _) = place.run(JobRequest { spills: Some(place.spills()), ..place.order(bomb) });
        let kept = job.output().output;
        assert!(kept.total > 20_000_000 && (kept.head + &kept.tail).ends_with(shown), "{bomb}");
    }
}
