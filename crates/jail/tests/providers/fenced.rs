//! Landlock and seccomp alone.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ringfence_jail::{Capture, Choice, End, Layer, Level, Mode, Network, Provider, Streams, View, hold};
use rustix::process::geteuid;

use super::place::{Place, is_gone};
use super::role::{Role, SOMEBODY};
use super::run::{command, run, shell, spec};
use super::skip::skipped;

const HERE: Provider = Provider::Landlock;

/// Each line says `ok` or what went wrong.
const CONFINED: &str = r#"
refused() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name"; else echo ok; fi; }
works() { name=$1; shift; if "$@" >/dev/null; then echo ok; else echo "$name"; fi; }
refused "reads the secret" cat ../secret
refused "writes the secret" sh -c 'echo x >../secret'
refused "empties the secret" truncate -s 0 ../secret
refused "removes the secret" rm -f ../secret
refused "moves the secret" mv ../secret .
refused "links the secret" ln ../secret link
refused "lists the directory above" ls ..
refused "makes a file above" sh -c 'echo >../new'
refused "reads another process" cat /proc/$PPID/cmdline
refused "lists processes" ls /proc
refused "reads the environment of another" cat /proc/1/environ
refused "writes where everybody can" sh -c 'echo >/tmp/jail-test'
refused "uses shared memory" sh -c 'echo >/dev/shm/jail-test'
refused "connects by network" bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT'
refused "makes a user namespace" unshare -U true
refused "ends its parent" kill -KILL $PPID
works "writes its workspace" sh -c 'echo hello >file && test "$(cat file)" = hello'
works "moves in its workspace" sh -c 'mkdir a && mv file a/file && rm -r a'
works "has a home" sh -c 'echo >$HOME/x && cd && test "$(ls)" = x'
works "has temporary files" sh -c 'test -n "$(mktemp)"'
works "reads the system" sh -c 'test -n "$(head -c 1 /etc/passwd)" && ls /usr/bin'
"#;

fn all_ok(said: &str, start: &str) {
    let lines: Vec<_> = said.lines().skip(usize::from(!start.is_empty())).collect();
    assert!(said.starts_with(start), "{said}");
    assert!(lines.len() > 20 && lines.iter().all(|line| *line == "ok"), "{said}");
}

pub(crate) fn confines() {
    let place = Place::new();
    let done = shell(HERE, &spec(&place.work()), &place.with_port(CONFINED));
    all_ok(&done.output, "");
    assert_eq!((done.end, done.provider), (End::Exited(0), HERE), "{done:?}");
    assert_eq!(fs::read_to_string(place.whole.path().join("secret")).unwrap(), "hush");
}

pub(crate) fn confines_an_ordinary_user() {
    if !geteuid().is_root() {
        return skipped("Landlock alone as another user", "only root can become one");
    }
    let place = Place::new().owned_by(SOMEBODY);
    all_ok(
        &Role::Shell("landlock".into(), place.work(), place.with_port(CONFINED)).say(true),
        "landlock 0\n",
    );
}

pub(crate) fn ends_like_the_command() {
    let place = Place::new();
    let rows = [
        ("exit 0", End::Exited(0), 0),
        ("exit 7", End::Exited(7), 7),
        ("kill -TERM $$", End::Signaled(15), 143),
        ("kill -KILL $$", End::Signaled(9), 137),
        ("while kill -CONT $$; do :; done 2>/dev/null & kill -STOP $$; exit 3", End::Exited(3), 3),
    ];
    for (script, end, code) in rows {
        let done = shell(HERE, &spec(&place.work()), script);
        assert_eq!((done.end, done.end.code()), (end, code), "{script}");
    }
    let missing = run(Choice::Only(HERE), &spec(&place.work()), &["no-such-program"]).unwrap_err();
    assert!(matches!(missing, ringfence_jail::JailError::NotFound(_)), "{missing}");
    let hidden = place.whole.path().join("secret");
    fs::set_permissions(&hidden, Permissions::from_mode(0o755)).unwrap();
    let hidden = run(Choice::Only(HERE), &spec(&place.work()), &[hidden.to_str().unwrap()]).unwrap_err();
    assert!(matches!(hidden, ringfence_jail::JailError::NotExecutable(..)), "{hidden}");
}

/// No other process has the other side of its standard input, so that it sees the end.
pub(crate) fn reads_to_the_end() {
    let place = Place::new();
    let mut cat = command(&["cat"], &place.work());
    cat.streams = Streams::Captured(Capture { input: b"hello".to_vec(), ..Capture::keeping(100) });
    let held = hold(Choice::Only(HERE), &spec(&place.work()), &cat).unwrap();
    let outcome = held.release().unwrap().wait().unwrap();
    assert_eq!(outcome.captured.unwrap()[0].head, b"hello");
}

/// The supervisor blocks signals to answer them; the command must not start with them blocked.
pub(crate) fn signals_are_not_blocked() {
    let place = Place::new();
    let role = Role::Inherit("landlock".into(), place.work(), "kill -INT $$; echo alive".into());
    assert_eq!(role.say(false), "130\n");
}

pub(crate) fn says_what_is_enforced() {
    use Level::{Full, Partial};
    let place = Place::new();
    let held = hold(Choice::Only(HERE), &spec(&place.work()), &command(&["true"], &place.work())).unwrap();
    let levels = Layer::ALL.map(|layer| held.enforcement().reached(layer).level);
    assert_eq!(levels, [Partial, Full, Full, Partial, Partial]);
    for layer in [Layer::Files, Layer::Processes, Layer::Resources] {
        assert!(held.enforcement().reached(layer).gap.is_some(), "{layer}");
    }
    let files = held.enforcement().reached(Layer::Files).gap.clone().unwrap();
    assert!(files.contains("forbidden names"), "{files}");
    // A spec that wants everything is not served by less.
    let mut strict = spec(&place.work());
    strict.require = ringfence_jail::Require::FULL;
    let refused = run(Choice::Only(HERE), &strict, &["true"]).unwrap_err();
    assert!(matches!(refused, ringfence_jail::JailError::Below { layer: Layer::Files, .. }), "{refused}");
}

/// Programs that people run every day, as far as they are installed.
pub(crate) fn programs_work() {
    let place = Place::new();
    let rows = [
        ("bash", "cat <(echo through a pipe)", "through a pipe\n"),
        ("bash", "echo here <<<x; cat <<<there", "here\nthere\n"),
        ("python3", "import subprocess as s; print(s.check_output(['echo', 'hi']).decode(), end='')", "hi\n"),
        ("python3", "import tempfile; tempfile.TemporaryFile().write(b'x'); print('ok')", "ok\n"),
        ("perl", "print `echo hi`", "hi\n"),
    ];
    for (program, script, expected) in rows {
        let flag = if program == "perl" { "-e" } else { "-c" };
        match run(Choice::Only(HERE), &spec(&place.work()), &[program, flag, script]) {
            Ok(done) => {
                assert_eq!((done.output.as_str(), done.end), (expected, End::Exited(0)), "{script} {done:?}");
            }
            Err(ringfence_jail::JailError::NotFound(_)) => {
                skipped(script, &format!("{program} is not installed"));
            }
            Err(error) => panic!("{script}: {error}"),
        }
    }
    let opened = spec(&place.work()).network(Network::Open);
    let done =
        shell(HERE, &opened, &place.with_port("bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT' && echo through"));
    assert_eq!(done.output, "through\n", "the network that was asked for: {done:?}");
}

/// Daemons that leave their session and their parent; their numbers come out.
const DAEMONS: &str = "for i in 1 2 3; do setsid sh -c 'echo $$; exec sleep 1000' & done; \
                       sh -c 'setsid sh -c \"(echo \\$\\$; exec sleep 1000) &\"' & sleep 0.3; echo end";

/// Returns private directories of ours that are no longer in use.
fn scratch_left() -> Vec<PathBuf> {
    let is_left = |path: &PathBuf| {
        let handle = File::open(path).unwrap();
        let lock = rustix::fs::flock(&handle, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        lock.is_ok() && handle.metadata().unwrap().uid() == geteuid().as_raw()
    };
    // Numbers only: other programs have names of ours with words.
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.strip_prefix("ringfence-").is_some_and(|id| id.chars().all(|digit| digit.is_ascii_hexdigit()))
    };
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| named(path) && File::open(path).is_ok() && is_left(path)).collect()
}

pub(crate) fn nothing_outlives_the_command() {
    let place = Place::new();
    let done = shell(HERE, &spec(&place.work()), &format!("mkdir -p $TMPDIR/a/b; {DAEMONS}; echo $HOME"));
    let mut lines: Vec<_> = done.output.lines().collect();
    let home = lines.pop().unwrap();
    assert!(lines.len() == 5 && lines.contains(&"end"), "{done:?}");
    assert!(lines.iter().filter(|line| **line != "end").all(|pid| is_gone(pid)), "{done:?}");
    assert!(home.contains("/ringfence-") && !Path::new(home).exists(), "{home}");
    // Held and never released is gone as well.
    drop(hold(Choice::Only(HERE), &spec(&place.work()), &command(&["true"], &place.work())).unwrap());
    // Another test may be between making a directory and locking it; a directory that is really left stays.
    let until = Instant::now() + Duration::from_secs(10);
    while !scratch_left().is_empty() {
        assert!(Instant::now() < until, "{:?}", scratch_left());
        std::thread::yield_now();
    }
}

pub(crate) fn nothing_outlives_the_launcher() {
    Place::new().outlives_no_launcher("landlock", false);
}

pub(crate) fn two_at_once_keep_apart() {
    let place = Place::new();
    let spec = spec(&place.work());
    let first = hold(Choice::Only(HERE), &spec, &command(&["sh", "-c", DAEMONS], &place.work())).unwrap();
    let first = first.release().unwrap();
    let second = shell(HERE, &spec, "echo $HOME; exit 4");
    assert_eq!(second.end, End::Exited(4));
    let first = first.wait().unwrap();
    assert_eq!(first.end, End::Exited(0), "the end of one jail is not the end of another");
}

pub(crate) fn limits_hold() {
    let place = Place::new();
    let mut spec = spec(&place.work());
    spec.limits.wall_clock = Some(Duration::from_millis(300));
    let done = shell(HERE, &spec, "trap '' TERM INT HUP; setsid sleep 1000 & sleep 1000");
    assert_eq!(done.end.code(), 124, "{done:?}");
    spec.limits.wall_clock = None;
    spec.limits.file_size = Some(4096);
    let done = shell(HERE, &spec, "head -c 10000 /dev/zero >big; stat -c %s big");
    assert!(done.output.starts_with("4096"), "{done:?}");
}

pub(crate) fn refuses_what_it_cannot_express() {
    let place = Place::new();
    fs::create_dir(place.work().join("part")).unwrap();
    let rows = [
        (Mode::ReadOnly, "Landlock cannot protect a part of what may be changed"),
        (Mode::Hidden, "Landlock cannot hide a part of what it shows"),
        (Mode::Private, "without namespaces a directory cannot be another one inside"),
    ];
    for (mode, why) in rows {
        let mut spec = spec(&place.work());
        spec.views.push(View { path: place.work().join("part"), mode });
        let refused = run(Choice::Only(HERE), &spec, &["true"]).unwrap_err().to_string();
        assert!(refused.ends_with(&format!("work/part cannot be enforced: {why}")), "{refused}");
    }
}

/// A launcher inside a jail.
pub(crate) fn nests() {
    let place = Place::new();
    let program = place.whole.path().join("program");
    fs::copy("/proc/self/exe", &program).unwrap();
    let mut spec = spec(&place.work());
    spec.views.push(View { path: program.clone(), mode: Mode::ReadOnly });
    let script = format!(
        "{} role:shell auto {} 'echo inner; cat /etc/shadow'",
        program.display(),
        place.work().display()
    );
    // Inside this one there is no list of one's own children, and without it no promise to end them.
    let rows = [(Provider::Native, "landlock 1\ninner\n"), (HERE, "the native provider does not work here")];
    for (outer, expected) in rows {
        match run(Choice::Only(outer), &spec, &["sh", "-c", &script]) {
            Ok(done) => assert!(done.output.starts_with(expected), "{outer:?} {done:?}"),
            Err(error) => skipped("a jail in a jail", &error.to_string()),
        }
    }
}

pub(crate) fn taken_where_namespaces_are_forbidden() {
    let forbidden = |place: &Place| Role::Forbidden("auto".into(), place.work(), place.with_port(CONFINED));
    let place = Place::new();
    all_ok(&forbidden(&place).say(false), "landlock 0\n");
    if !geteuid().is_root() {
        return skipped("forbidden namespaces as another user", "only root can become one");
    }
    let place = Place::new().owned_by(SOMEBODY);
    all_ok(&forbidden(&place).say(true), "landlock 0\n");
}
