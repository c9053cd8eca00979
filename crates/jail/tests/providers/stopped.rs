//! Commands that are followed and ended from another thread, by every provider.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ringfence_jail::{
    Capture, Choice, Command, End, JailError, Limit, Provider, Spec, Stop, Stream, Streams, Tee, hold,
};
use rustix::process::geteuid;

use super::place::Place;
use super::role::{Role, choice};
use super::run::{command, spec};
use super::skip::skipped;
use super::wrapped;

/// Tells of every piece, and keeps all of them.
struct Listener {
    news: Mutex<Sender<()>>,
    heard: Mutex<Vec<(Stream, Vec<u8>)>>,
}

impl Tee for Listener {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        self.heard.lock().unwrap().push((stream, bytes.to_vec()));
        // The receiver may be gone after the first piece.
        let _told = self.news.lock().unwrap().send(());
    }
}

fn followed(script: &str, workspace: &Path) -> (Command, Arc<Listener>, mpsc::Receiver<()>) {
    let (news, heard) = mpsc::channel();
    let listener = Arc::new(Listener { news: Mutex::new(news), heard: Mutex::default() });
    let capture = Capture { tee: Some(listener.clone()), ..Capture::keeping(0) };
    let command =
        Command { streams: Streams::Captured(capture), ..command(&["sh", "-c", script], workspace) };
    (command, listener, heard)
}

/// In the role: the code, then what was followed.
pub(crate) fn play(word: &str, workspace: &Path, script: &str) {
    let (command, listener, news) = followed(script, workspace);
    let mut held = hold(choice(word), &spec(workspace), &command).unwrap();
    let stop = held.stop().unwrap();
    let asker = std::thread::spawn(move || {
        news.recv().unwrap();
        stop.ask();
        stop.clone().ask();
    });
    let outcome = held.release().unwrap().wait().unwrap();
    asker.join().unwrap();
    assert_eq!(outcome.end, End::Stopped);
    let heard: Vec<u8> = listener.heard.lock().unwrap().iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    print!("{} {}", outcome.end.code(), String::from_utf8(heard).unwrap());
}

/// The same words by every provider that works here.
fn each(what: &str, check: impl Fn(&str, &Place, bool)) {
    check("landlock", &Place::new(), false);
    if let Some(place) = wrapped::place() {
        check("bubblewrap", &place, geteuid().is_root());
    }
    let place = Place::new();
    match hold(choice("native"), &spec(&place.work()), &command(&["true"], &place.work())) {
        Err(error @ JailError::Unavailable { .. }) => skipped(what, &error.to_string()),
        _ => check("native", &place, false),
    }
}

/// A polite command says good-bye, a stubborn one does not get to.
pub(crate) fn asked_from_elsewhere() {
    let rows = [
        (
            "exec 2>/dev/null; trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done",
            "130 ready\nbye\n",
        ),
        (
            "exec 3>&2 2>/dev/null; trap 'exit 0' TERM; echo ready >&3; while :; do sleep 0.01; done",
            "130 ready\n",
        ),
        (
            "exec 2>/dev/null; trap '' TERM HUP; setsid sleep 1000 & echo ready; while :; do sleep 1000; done",
            "130 ready\n",
        ),
        ("echo ready; sleep 1000", "130 ready\n"),
    ];
    each("commands that are asked to end", |word, place, somebody| {
        for (script, expected) in rows {
            let began = Instant::now();
            let role = Role::Stopped(word.into(), place.work(), script.into());
            assert_eq!(role.say(somebody), expected, "{word}: {script}");
            assert!(began.elapsed() < Duration::from_secs(20), "{word}: {script}");
        }
    });
}

fn held(provider: Provider, spec: &Spec, script: &str) -> (ringfence_jail::Held, Stop) {
    let mut held =
        hold(Choice::Only(provider), spec, &command(&["sh", "-c", script], &spec.workspace)).unwrap();
    let stop = held.stop().unwrap();
    (held, stop)
}

pub(crate) fn asked_before_it_is_let_go() {
    let place = Place::new();
    let (held, stop) = held(Provider::Landlock, &spec(&place.work()), "sleep 1000");
    stop.ask();
    assert_eq!(held.release().unwrap().wait().unwrap().end, End::Stopped);
}

/// A command that ended by itself or at a limit is reported so, even if a stop is asked for later.
pub(crate) fn asked_after_the_end() {
    let place = Place::new();
    let (held, stop) = held(Provider::Landlock, &spec(&place.work()), "exit 3");
    assert_eq!(held.release().unwrap().wait().unwrap().end, End::Exited(3));
    stop.ask();
    stop.ask();
}

/// A command that writes faster than its output is read is still bounded.
pub(crate) fn endless_output_is_followed_and_bounded() {
    struct Slow;
    impl Tee for Slow {
        fn write(&self, _: Stream, _: &[u8]) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let place = Place::new();
    let mut spec = spec(&place.work());
    spec.limits.wall_clock = Some(Duration::from_millis(300));
    let capture = Capture { tee: Some(Arc::new(Slow)), ..Capture::keeping(0) };
    let command =
        Command { streams: Streams::Captured(capture), ..command(&["cat", "/dev/zero"], &place.work()) };
    let outcome = hold(Choice::Only(Provider::Landlock), &spec, &command).unwrap();
    let outcome = outcome.release().unwrap().wait().unwrap();
    assert!(matches!(outcome.end, End::Limit(over) if over.limit == Limit::WallClock), "{:?}", outcome.end);
}
