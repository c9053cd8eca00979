//! Specs and commands that are refused, and that nothing has run by then.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use policy::{Code, Shown};
use ringfence_jail::Mode::{Hidden, Private, ReadOnly, ReadWrite};
use ringfence_jail::plan::Conflict;
use ringfence_jail::{JailError, Spec};

use crate::place::{Place, command, run, said, spec, works};

/// Refused with this message, and nothing has run.
fn refused(place: &Place, spec: &Spec, cwd: &Path) -> JailError {
    let marker = place.work().join("ran");
    let script = "echo >ran || echo >/proc/self/cwd/ran";
    let error = run(spec, &command(&["sh", "-c", script], cwd)).unwrap_err();
    assert!(!marker.exists(), "it ran: {error}");
    error
}

#[test]
fn a_view_above_the_workspace() {
    let place = Place::new();
    let above = place.path("");
    let above = Path::new(above.to_str().unwrap().trim_end_matches('/'));
    for (mode, word) in
        [(ReadOnly, "read-only"), (ReadWrite, "writable"), (Hidden, "hidden"), (Private, "private")]
    {
        let error = refused(&place, &place.spec(&[(above, mode)]), &place.work());
        let said = format!(
            "{} contains the workspace {} and is {word} for the jail",
            Shown::path(above),
            Shown::path(&place.work())
        );
        assert_eq!((error.to_string(), error.code()), (said, Code::JailConflict));
    }
}

/// Read-only is what was asked for then, and not by accident.
#[test]
fn the_workspace_read_only() {
    if !works("a read-only workspace") {
        return;
    }
    let place = Place::new();
    let spec = place.spec(&[(&place.work(), ReadOnly)]);
    assert_eq!(said(&spec, "touch new 2>/dev/null || echo refused"), b"refused\n");
    let mut twice = place.spec(&[]);
    twice.views.push(ringfence_jail::View { path: place.work(), mode: ReadOnly });
    let error = refused(&place, &twice, &place.work());
    assert!(matches!(error, JailError::Conflict(Conflict::Overlap(_))), "{error}");
}

#[test]
fn a_view_that_is_not_there() {
    let place = Place::new();
    for mode in [ReadOnly, ReadWrite, Hidden, Private] {
        let path = place.path("nowhere");
        let error = refused(&place, &place.spec(&[(&path, mode)]), &place.work());
        let said = format!("{} does not exist", Shown::path(&path));
        assert_eq!((error.to_string(), error.code()), (said, Code::JailMissingPath));
        assert!(!path.exists(), "it was made on the host");
    }
}

#[test]
fn things_that_are_no_views() {
    let place = Place::new();
    let file = place.file("file", "");
    let pipe = place.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    let rows = [
        (file.clone(), Private, Conflict::NotADirectory(file, "private")),
        (pipe.clone(), ReadOnly, Conflict::Special(pipe)),
        ("/proc/self".into(), ReadOnly, Conflict::Reserved("/proc/self".into(), "/proc".into())),
        ("/".into(), ReadOnly, Conflict::Root),
    ];
    for (path, mode, expected) in rows {
        let error = refused(&place, &place.spec(&[(&path, mode)]), &place.work());
        assert!(
            matches!(&error, JailError::Conflict(conflict) if *conflict == expected),
            "{path:?}: {error}"
        );
    }
}

/// The library wants the real path, so that one path means one thing inside and outside.
#[test]
fn a_workspace_that_is_a_link() {
    let place = Place::new();
    let link = place.path("link");
    symlink("work", &link).unwrap();
    let error = refused(&place, &spec(&link), &link);
    assert!(matches!(&error, JailError::Conflict(Conflict::Link(_, to)) if *to == place.work()), "{error}");
    if works("the real path of a link") {
        assert_eq!(
            said(&spec(&link.canonicalize().unwrap()), "test \"$(pwd)\" = \"$(pwd -P)\" && echo same"),
            b"same\n"
        );
    }
}

#[test]
fn a_working_directory_that_is_gone() {
    if !works("a working directory that is gone") {
        return;
    }
    let place = Place::new();
    let cwd = place.directory("work/sub");
    fs::remove_dir(&cwd).unwrap();
    let error = refused(&place, &place.spec(&[]), &cwd);
    assert_eq!(error.to_string(), "the jail cannot go to the working directory: ENOENT");
    let error = refused(&place, &place.spec(&[]), Path::new("/etc/ssh-that-is-not-shown"));
    assert_eq!(error.code(), Code::JailStepFailed);
    fs::remove_dir(place.work()).unwrap();
    let error = refused(&place, &place.spec(&[]), &cwd);
    assert_eq!(error.code(), Code::JailMissingPath);
}

#[test]
fn commands_that_are_none() {
    let place = Place::new();
    let spec = place.spec(&[]);
    for words in [&[][..], &[""], &["true", "a\0b"]] {
        let error = run(&spec, &command(words, &place.work())).unwrap_err();
        assert!(matches!(error, JailError::BadCommand(_)), "{words:?}: {error}");
    }
    if !works("programs that are not there") {
        return;
    }
    for (word, code) in [
        ("no-such-program", Code::JailNotFound),
        ("./file", Code::JailNotExecutable),
        ("/root", Code::JailNotFound),
    ] {
        place.file("work/file", "");
        let error = run(&spec, &command(&[word], &place.work())).unwrap_err();
        assert_eq!(error.code(), code, "{word}: {error}");
    }
}
