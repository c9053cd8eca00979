//! The end of a jail is the end of everything in it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ringfence_jail::{Choice, Command, End, Layer, Level, Limit, Provider, Spec, hold};

use crate::place::{NATIVE, Place, REQUIRE, command, run, works};
use crate::skip::skipped;

/// Processes of this machine that have a word in their command line.
fn alive(word: &str) -> usize {
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path().join("cmdline")));
    let lines = processes.filter_map(|path| fs::read(path).ok());
    lines.filter(|line| String::from_utf8_lossy(line).split('\0').any(|it| it == word)).count()
}

/// Waits for a file that the command makes: a command that was let go has no command line yet.
fn wait_for(file: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while !file.exists() {
        assert!(Instant::now() < until, "{} did not appear", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A word that is in no other command line.
fn word(place: &Place, name: &str) -> String {
    format!("{name}-{}", place.path("").display())
}

/// Ignores every polite request, leaves its family, and holds on to the pipes.
const STUBBORN: &str = r#"
trap '' TERM INT HUP QUIT
(setsid sh -c 'trap "" TERM HUP; sleep 1000 & exec sh -c "sleep 1000; :" '"$0"' ' "$0" &) &
echo started
exec sh -c 'trap "" TERM; while :; do sleep 1000; done' "$0"
"#;

#[test]
fn nothing_outlives_the_deadline() {
    if !works("the end at the deadline") {
        return;
    }
    let place = Place::new();
    let word = word(&place, "stubborn");
    let mut spec = place.spec(&[]);
    spec.limits.wall_clock = Some(Duration::from_secs(1));
    let outcome = run(&spec, &command(&["sh", "-c", STUBBORN, &word], &place.work())).unwrap();
    let End::Limit(over) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!((over.limit, outcome.end.code()), (Limit::WallClock, 124));
    assert_eq!(outcome.captured.unwrap()[0].head, b"started\n");
    assert_eq!(alive(&word), 0);
}

/// A command that leaves processes behind that hold the pipes is not waited for longer than itself.
#[test]
fn nothing_outlives_the_command() {
    if !works("the end of the command") {
        return;
    }
    let place = Place::new();
    let word = word(&place, "left");
    let script = "setsid sh -c 'trap \"\" TERM HUP; sleep 1000; :' \"$0\" & echo bye; exit 3";
    let outcome = run(&place.spec(&[]), &command(&["sh", "-c", script, &word], &place.work())).unwrap();
    assert_eq!((outcome.end, alive(&word)), (End::Exited(3), 0));
    assert_eq!(outcome.captured.unwrap()[0].head, b"bye\n");
}

#[test]
fn nothing_outlives_a_jail_that_is_dropped() {
    if !works("the end of a dropped jail") {
        return;
    }
    let place = Place::new();
    let word = word(&place, "dropped");
    let script = "echo >ran; sleep 1000; :";
    let running = hold(NATIVE, &place.spec(&[]), &command(&["sh", "-c", script, &word], &place.work()));
    let running = running.unwrap().release().unwrap();
    wait_for(&place.work().join("ran"));
    assert!(alive(&word) >= 1);
    drop(running);
    assert_eq!(alive(&word), 0);
}

/// No mount of a jail is ever seen outside.
#[test]
fn no_mount_is_left() {
    if !works("mounts that are left") {
        return;
    }
    let place = Place::new();
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let held = hold(NATIVE, &place.spec(&[]), &command(&["true"], &place.work())).unwrap();
    assert_eq!(mounts(), before);
    assert_eq!(held.release().unwrap().wait().unwrap().end, End::Exited(0));
    assert_eq!(mounts(), before);
    assert!(fs::read_dir(Path::new(&place.work())).unwrap().next().is_none());
}

/// Threads that make jails at once do not wait for each other, not even for one that is never released.
#[test]
fn jails_of_many_threads_keep_apart() {
    let place = Place::new();
    let mut spec = place.spec(&[]);
    spec.require = REQUIRE.with(Layer::Files, Level::Partial);
    let go = command(&["sh", "-c", "exit 7"], &place.work());
    for choice in [Provider::Native, Provider::Landlock].map(Choice::Only) {
        if let Err(error) = hold(choice, &spec, &go) {
            skipped("jails of many threads", &error.to_string());
            continue;
        }
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (spec, go) = (&spec, &go);
                scope.spawn(move || (0..10).for_each(|_| one_of_two(choice, spec, go, number % 2 == 0)));
            }
        });
    }
}

/// Lets one of two jails run while the other waits.
fn one_of_two(choice: Choice, spec: &Spec, go: &Command, first: bool) {
    let (one, other) = (hold(choice, spec, go).unwrap(), hold(choice, spec, go).unwrap());
    let (released, waiting) = if first { (one, other) } else { (other, one) };
    assert_eq!(released.release().unwrap().wait().unwrap().end, End::Exited(7));
    drop(waiting);
}
