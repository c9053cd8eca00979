//! Start and end of commands, and that nothing is left of them.

use std::fs;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use jail::{Choice, End, JailError, Limit, Stream};
use ringfence::guard::Abort;
use ringfence::job::{JobRequest, Jobs, StartError, Status};

use crate::place::{Place, Records, ended, until};

#[test]
fn ends_like_the_command() {
    let Some(place) = Place::new("how commands end") else { return };
    let rows = [
        ("exit 0", End::Exited(0), 0),
        ("exit 7", End::Exited(7), 7),
        ("kill -SEGV $$", End::Signaled(11), 139),
        // A bare `cat` has nothing to read.
        ("cat", End::Exited(0), 0),
        ("-n", End::Exited(127), 127),
        // Processes that are left behind are not waited for.
        ("sleep 1000 & setsid sleep 1000 & echo", End::Exited(0), 0),
        // Its standard input is no socket, and its start-up files are not read.
        ("[ ! -S /dev/stdin ] && [ \"$SHLVL\" = 2 ]", End::Exited(0), 0),
    ];
    for (line, end, code) in rows {
        let (_, ended) = place.run(place.order(line));
        assert_eq!((ended.end, ended.end.code()), (end, code), "{line}");
        let records = place.records.take();
        assert_eq!(records, ["started, syscalls full".to_owned(), format!("ended {code}")], "{line}");
    }
}

#[test]
fn reads_what_it_is_given_and_then_the_end() {
    let Some(place) = Place::new("standard input") else { return };
    let input = "x".repeat(1 << 20).into_bytes();
    let (job, _) = place.run(JobRequest { input, ..place.order("wc -c; [ ! -S /dev/stdin ]; echo $?") });
    assert_eq!(job.output().output.head.trim(), "1048576\n0");
}

#[test]
fn limits_hold_in_the_background() {
    let Some(place) = Place::new("limits of jobs") else { return };
    let short = Some(Duration::from_millis(300));
    let stay = place.stay("limited");
    let rows = [
        (JobRequest { wall_clock: short, ..place.order(&stay) }, Limit::WallClock),
        (JobRequest { wall_clock: short, ..place.order("cat /dev/zero") }, Limit::WallClock),
        (JobRequest { idle: short, ..place.order(&format!("echo; {stay}")) }, Limit::Idle),
    ];
    for (order, limit) in rows {
        let line = order.line.clone();
        let job = place.start(order).unwrap();
        // Without a call to `wait`.
        until("a limit ends it", || !job.status().is_running());
        let ended = ended(&job);
        assert!(matches!(ended.end, End::Limit(over) if over.limit == limit), "{line}: {ended:?}");
        assert!(!place.is_alive("limited"), "{line}");
    }
}

/// The spec's limit counts where the order's is longer.
#[test]
fn an_order_makes_no_limit_longer() {
    let Some(place) = Place::new("limits of the spec") else { return };
    let mut spec = place.spec();
    spec.limits.wall_clock = Some(Duration::from_millis(200));
    let order = JobRequest { wall_clock: Some(Duration::from_secs(600)), ..place.order("sleep 1000") };
    let job = place.jobs.start(Choice::Auto, spec, order, place.records.journal()).unwrap();
    assert_eq!(ended(&job).end.code(), 124);
}

#[test]
fn who_waits_can_give_up() {
    let Some(place) = Place::new("giving up") else { return };
    let job = place.start(place.order(&place.stay("aborted"))).unwrap();
    let abort = Abort::new();
    assert!(job.wait(Some(Duration::from_millis(10)), &abort).is_running());
    let (other, from) = (abort.clone(), Instant::now());
    let (tell, told) = mpsc::channel();
    let asker = std::thread::spawn(move || {
        told.recv().unwrap();
        other.abort();
    });
    tell.send(()).unwrap();
    let status = job.wait(Some(Duration::from_secs(50)), &abort);
    assert!(matches!(&status, Status::Ended(ended) if ended.end == End::Stopped), "{status:?}");
    assert!(from.elapsed() < Duration::from_secs(40) && !place.is_alive("aborted"));
    asker.join().unwrap();
    // The longest wait ends with the command.
    let job = place.start(place.order("true")).unwrap();
    assert!(matches!(job.wait(Some(Duration::MAX), &Abort::new()), Status::Ended(_)));
    // With an abort from before the wait, it does not wait at all.
    let job = place.start(place.order("sleep 1000")).unwrap();
    assert!(matches!(job.wait(None, &abort), Status::Ended(ended) if ended.end.code() == 130));
}

#[test]
fn stops_and_shows_what_there_is() {
    let Some(place) = Place::new("jobs in the background") else { return };
    let job = place.start(place.order("echo first; echo wrong >&2; echo last; sleep 1000")).unwrap();
    until("output is seen while it runs", || job.log(Stream::Output, 1).text == "last\n");
    until("so are errors", || job.output().error.head == "wrong\n");
    assert!(job.status().is_running());
    assert_eq!(job.output().output.head, "first\nlast\n");
    job.stop();
    job.stop();
    assert_eq!(ended(&job).end, End::Stopped);
    job.stop();
    assert_eq!(place.records.take(), ["started, syscalls full", "ended cancelled"]);
}

#[test]
fn not_recorded_is_not_released() {
    let Some(place) = Place::new("records of jobs") else { return };
    let start = |broken, line: &str| {
        let journal = Records { broken: Some(broken), ..place.records.clone() }.journal();
        place.jobs.start(Choice::Auto, place.spec(), place.order(line), journal)
    };
    assert!(matches!(start("started", "touch ran"), Err(StartError::Unrecorded(_))));
    assert!(matches!(start("panic", "touch ran"), Err(StartError::Lost)));
    assert!(!fs::exists(place.path("work/ran")).unwrap());
    assert!(place.jobs.list().is_empty());
    // A command that has run already cannot be undone.
    let job = start("ended", "touch ran").unwrap();
    assert_eq!(ended(&job).notes, ["the end is not recorded: cannot write the ledger /ledger"]);
    assert!(fs::exists(place.path("work/ran")).unwrap());
}

#[test]
fn removed_instructions_are_told_and_recorded() {
    let Some(place) = Place::new("an unfinished rebase of a job") else { return };
    let line = "mkdir -p .git/rebase-merge; echo 'exec evil' > .git/rebase-merge/git-rebase-todo";
    let job = place.start(place.order(line)).unwrap();
    let notes = ended(&job).notes.join("\n");
    assert!(notes.contains("git runs this line"), "{notes}");
    let records = place.records.take();
    assert!(records.len() == 3 && records[2].starts_with("removed git runs this line"), "{records:?}");
}

/// A journal that panics at the end: the job has failed, and no thread waits for ever.
#[test]
fn a_panic_is_an_end() {
    let Some(place) = Place::new("a panic") else { return };
    let journal = Records { broken: Some("panic at the end"), ..place.records.clone() }.journal();
    let job = place.jobs.start(Choice::Auto, place.spec(), place.order("true"), journal).unwrap();
    assert!(matches!(job.wait(Some(Duration::from_secs(60)), &Abort::new()), Status::Failed(_)));
}

#[test]
fn what_cannot_start_says_why() {
    let Some(place) = Place::new("commands that cannot start") else { return };
    let order = JobRequest { argv: vec!["/no/such".into()], ..place.order("") };
    let refused = place.start(order);
    assert!(matches!(refused, Err(StartError::Jail(JailError::NotFound(_)))), "{refused:?}");
    let order = JobRequest { argv: Vec::new(), ..place.order("") };
    let refused = place.start(order);
    assert!(matches!(refused, Err(StartError::Jail(JailError::BadCommand(_)))), "{refused:?}");
    let records = place.records.take();
    assert_eq!(records.len(), 3, "{records:?}");
    assert!(records[0].starts_with("started") && records[1] == "ended 137", "{records:?}");
    assert!(records[2].starts_with("refused "), "{records:?}");
}

#[test]
fn so_many_and_no_more() {
    let Some(place) = Place::new("many jobs") else { return };
    let jobs = Jobs::new(3);
    let start =
        |line: &str| jobs.start(Choice::Auto, place.spec(), place.order(line), place.records.journal());
    let running: Vec<_> = (0..3).map(|_| start("sleep 1000").unwrap()).collect();
    let ids: Vec<_> = jobs.list().iter().map(|job| job.id().to_owned()).collect();
    assert_eq!(ids, ["job-1", "job-2", "job-3"]);
    assert!(matches!(start("true"), Err(StartError::TooMany(3))));
    running[1].stop();
    ended(&running[1]);
    let next = start("true").unwrap();
    assert_eq!(next.id(), "job-4");
    ended(&next);
    // Names are found as they are written, and no other way.
    assert!(jobs.get("job-4").is_some());
    for wrong in ["job-5", "job-04", "job-+4", "4", "job-", "", "job-4 "] {
        assert!(jobs.get(wrong).is_none(), "{wrong}");
    }
    // Another session has none of them.
    assert!(place.jobs.get("job-1").is_none());
}

#[test]
fn nothing_outlives_the_session() {
    let Some(place) = Place::new("the end of a session") else { return };
    let jobs = Jobs::new(Jobs::MOST);
    let kept: Vec<_> = (0..3)
        .map(|_| {
            let order = place.order(&place.stay("session"));
            jobs.start(Choice::Auto, place.spec(), order, place.records.journal()).unwrap()
        })
        .collect();
    until("they run", || place.is_alive("session"));
    let began = Instant::now();
    drop(jobs);
    assert!(!place.is_alive("session"));
    // All at once, not one after the other.
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(kept.iter().all(|job| !job.status().is_running()));
}

#[test]
fn a_session_that_panics_leaves_nothing() {
    let Some(place) = Place::new("a session that panics") else { return };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let jobs = Jobs::new(Jobs::MOST);
        let order = place.order(&place.stay("panic"));
        let _job = jobs.start(Choice::Auto, place.spec(), order, place.records.journal()).unwrap();
        until("it runs", || place.is_alive("panic"));
        panic!("as ordered");
    }));
    assert!(result.is_err() && !place.is_alive("panic"));
}
