//! The same by bubblewrap. As root it is refused, so that root tries it as an ordinary user.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use ringfence_jail::{Choice, JailError, Provider, hold};
use rustix::process::geteuid;

use super::place::{HOLD, Place, is_let_go};
use super::role::{Role, SOMEBODY};
use super::run::{command, run, spec};
use super::skip::skipped;

/// A place to try it in, if there is anything to try.
pub(crate) fn place() -> Option<Place> {
    let place = if geteuid().is_root() { Place::new().owned_by(SOMEBODY) } else { Place::new() };
    let said = said(&place, "true");
    if said == "bubblewrap 0\n" {
        return Some(place);
    }
    assert!(!works_without_us(), "{said}");
    skipped("bubblewrap", said.trim_end());
    None
}

/// Returns true if the program makes a jail when it is called directly, without our provider.
fn works_without_us() -> bool {
    let mut bwrap = std::process::Command::new("bwrap");
    bwrap.args(["--unshare-all", "--ro-bind", "/", "/", "true"]);
    if geteuid().is_root() {
        bwrap.uid(SOMEBODY).gid(SOMEBODY);
    }
    bwrap.status().is_ok_and(|status| status.success())
}

fn said(place: &Place, script: &str) -> String {
    Role::Shell("bubblewrap".into(), place.work(), place.with_port(script)).say(geteuid().is_root())
}

/// Each line says `ok` or what went wrong.
const CONFINED: &str = r#"
refused() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name"; else echo ok; fi; }
works() { name=$1; shift; if "$@" >/dev/null; then echo ok; else echo "$name"; fi; }
refused "sees the secret" test -e ../secret
refused "writes beside its workspace" touch ../made
refused "reads a forbidden name" cat .env
refused "changes a forbidden name" sh -c 'echo x >.env'
refused "removes a forbidden name" rm -f .env
refused "opens up a forbidden name" chmod 777 .env .envs
refused "reads in a forbidden directory" cat .envs/one
refused "lists a forbidden directory" ls .envs
refused "writes in a forbidden directory" touch .envs/two
refused "moves a forbidden directory" mv .envs away
refused "writes the root" sh -c 'echo >/new'
refused "writes the system" touch /usr/bin/new
refused "writes devices" sh -c 'echo >/dev/new'
refused "writes settings" sh -c 'echo x >/proc/sys/kernel/hostname'
refused "sees accounts" test -e /etc/shadow
refused "sees the launcher" grep -q '[p]roviders' /proc/*/cmdline
refused "connects by network" bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT'
refused "makes a user namespace" unshare -U true
refused "mounts" mount -t tmpfs none /tmp
refused "has other descriptors" sh -c 'exec 3>&-; test "$(ls /proc/self/fd | wc -l)" -gt 4'
refused "has capabilities" grep -q '^Cap...:.*[1-9a-f]' /proc/self/status
works "has no new privileges" grep -q 'NoNewPrivs:.1' /proc/self/status
works "is filtered" grep -q 'Seccomp:.2' /proc/self/status
works "writes its workspace" sh -c 'echo hello >file && test "$(cat file)" = hello'
works "is named" test "$(cat /proc/sys/kernel/hostname)" = ringfence
works "has a home" sh -c 'echo >$HOME/x && cd && test "$(ls)" = x'
works "has temporary files" sh -c 'test -n "$(mktemp)"'
works "knows itself" test "$(id -u)" = "$(stat -c %u .)"
works "has shared memory" sh -c 'echo >/dev/shm/x'
"#;

pub(crate) fn confines() {
    let Some(place) = place() else { return };
    let said = said(&place, CONFINED);
    let lines: Vec<_> = said.lines().skip(1).collect();
    assert!(said.starts_with("bubblewrap 0\n") && lines.len() == 29, "{said}");
    assert!(lines.iter().all(|line| *line == "ok"), "{said}");
}

pub(crate) fn ends_like_the_command() {
    let Some(place) = place() else { return };
    for (script, code) in
        [("exit 0", 0), ("exit 1", 1), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
    {
        assert_eq!(said(&place, script), format!("bubblewrap {code}\n"), "{script}");
    }
}

pub(crate) fn signals_are_not_blocked() {
    let Some(place) = place() else { return };
    let role = Role::Inherit("bubblewrap".into(), place.work(), "kill -INT $$; echo alive".into());
    assert_eq!(role.say(geteuid().is_root()), "130\n");
}

pub(crate) fn nothing_outlives_the_command() {
    let Some(place) = place() else { return };
    let mut held = place.fifo();
    let script = format!("{HOLD} setsid sleep 1000 & (setsid sleep 1000 &) ; echo end");
    assert_eq!(said(&place, &script), "bubblewrap 0\nend\n");
    assert!(is_let_go(&mut held));
}

pub(crate) fn nothing_outlives_the_launcher() {
    if let Some(place) = place() {
        place.outlives_no_launcher("bubblewrap", geteuid().is_root());
    }
}

pub(crate) fn nothing_runs_before_it_is_let_go() {
    let Some(place) = place() else { return };
    if geteuid().is_root() {
        return skipped("bubblewrap at the gate", "root may not use it, and is nobody else in this process");
    }
    let ran = place.work().join("ran");
    let mark = ["touch", ran.to_str().unwrap()];
    let held = hold(Choice::Only(Provider::Bubblewrap), &spec(&place.work()), &command(&mark, &place.work()));
    let held = held.unwrap();
    assert!(is_named(&ran), "it waits");
    drop(held);
    assert!(!ran.exists() && !is_named(&ran), "nothing has run, and nothing waits any more");
    run(Choice::Only(Provider::Bubblewrap), &spec(&place.work()), &mark).unwrap();
    assert!(ran.exists());
    let missing = run(Choice::Only(Provider::Bubblewrap), &spec(&place.work()), &["no-such-program"]);
    assert!(matches!(missing, Err(JailError::NotFound(_))));
}

/// Returns true if a process has a path on its command line.
fn is_named(path: &Path) -> bool {
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path().join("cmdline"));
    let lines = entries.filter_map(|line| fs::read(line).ok());
    let path = path.as_os_str().as_bytes();
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|word| word == path))
}

pub(crate) fn refuses_root() {
    if !geteuid().is_root() {
        return skipped("bubblewrap as root", "not root");
    }
    let place = Place::new();
    let refused = run(Choice::Only(Provider::Bubblewrap), &spec(&place.work()), &["true"]).unwrap_err();
    match refused.to_string().strip_prefix("the bubblewrap provider does not work here: it cannot ").unwrap()
    {
        "show root's files as somebody else's" => {}
        other => skipped("bubblewrap as root", other),
    }
}

/// Each view is a descriptor that bubblewrap is told by its number, and none may stand for another.
pub(crate) fn many_views_are_seen() {
    if geteuid().is_root() {
        return skipped(
            "many views by bubblewrap",
            "it refuses root; the same test runs as an ordinary user",
        );
    }
    let Some(place) = place() else { return };
    let outside = place.whole.path().canonicalize().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    let mut spec = spec(&place.work());
    for number in 0..370 {
        let path = outside.join(number.to_string());
        fs::write(&path, format!("{number}\n")).unwrap();
        spec = spec.view(&path, ringfence_jail::Mode::ReadOnly);
    }
    let script = format!(
        "cd {} && for i in *; do test $(cat $i) = $i || echo $i; done; ls | wc -l",
        outside.display()
    );
    let done = run(Choice::Only(Provider::Bubblewrap), &spec, &["sh", "-c", &script]).unwrap();
    assert_eq!(done.output.trim(), "370", "{done:?}");
}
