//! Files that are seen inside.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use ringfence_jail::Mode::{self, Hidden, Private, ReadOnly, ReadWrite};

use crate::place::{Place, command, run, said, spec, works};

#[test]
fn both_names_of_the_shell_work() {
    if !works("both names of the shell") {
        return;
    }
    let place = Place::new();
    assert_eq!(said(&place.spec(&[]), "/bin/sh -c 'echo one'; /usr/bin/sh -c 'echo two'"), b"one\ntwo\n");
    let link = fs::read_link("/bin").unwrap_or_default();
    assert_eq!(said(&place.spec(&[]), "readlink /bin || true"), lines(&[link.as_os_str()]));
}

fn lines(words: &[&OsStr]) -> Vec<u8> {
    let words = words.iter().filter(|word| !word.is_empty());
    words.flat_map(|word| [word.as_bytes(), b"\n"].concat()).collect()
}

/// Parts of the system that a machine lacks are left out; every machine lacks some.
#[test]
fn what_the_system_lacks_is_left_out() {
    if !works("what the system lacks") {
        return;
    }
    let rows = ["/lib32", "/libx32", "/gnu/store", "/nix/store", "/etc/pki/ca-trust", "/etc/java-17-openjdk"];
    let lacking = rows.iter().filter(|path| !Path::new(path).exists());
    for path in lacking {
        assert_eq!(
            said(&Place::new().spec(&[]), &format!("test ! -e {path} && echo gone")),
            b"gone\n",
            "{path}"
        );
    }
}

#[test]
fn a_workspace_among_temporary_files_is_all_that_is_seen_of_them() {
    if !works("a workspace among temporary files") {
        return;
    }
    for parent in ["/tmp", "/var/tmp", "/dev/shm"].map(Path::new) {
        let Ok(parent) = parent.canonicalize() else { continue };
        let place = Place::within(&parent);
        let spec = place.spec(&[]);
        if parent == Path::new("/dev/shm") {
            assert!(run(&spec, &command(&["true"], &place.work())).is_err(), "/dev is the jail's own");
            continue;
        }
        place.file("beside", "hush");
        place.file("work/file", "seen\n");
        assert_eq!(said(&spec, "cat file; echo new >new; ls -A .."), b"seen\nwork\n", "{parent:?}");
        assert_eq!(fs::read_to_string(place.path("work/new")).unwrap(), "new\n");
        let around = said(&spec, &format!("ls -A {}; touch {0}/mine {0}/yours", parent.display()));
        assert_eq!(String::from_utf8(around).unwrap().lines().count(), 1, "{parent:?}");
        assert!(!parent.join("mine").exists() && !parent.join("yours").exists());
    }
}

#[test]
fn odd_names_are_names() {
    if !works("odd names") {
        return;
    }
    let rows: [&[u8]; 8] =
        [b"with space", b"it's", b"\"q\"", b"new\nline", b"\xff\xfe", b"$(id)", b"-e", b"a\\b"];
    for name in rows.map(OsStr::from_bytes) {
        let place = Place::new();
        let (work, shared) = (place.directory(name), place.directory(Path::new("shared").join(name)));
        fs::write(shared.join("file"), "shared\n").unwrap();
        let spec = spec(&work).view(&shared, ReadOnly);
        let said = said(&spec, "pwd; echo made >file");
        assert_eq!(said, lines(&[work.as_os_str()]), "{name:?}");
        assert_eq!(fs::read_to_string(work.join("file")).unwrap(), "made\n", "{name:?}");
        let words = ["cat".into(), shared.join("file").into_os_string()];
        let cat = ringfence_jail::Command { argv: words.to_vec(), ..command(&[], &work) };
        assert_eq!(run(&spec, &cat).unwrap().captured.unwrap()[0].head, b"shared\n", "{name:?}");
    }
}

/// Each line says what went wrong, if something did.
const NESTED: &str = r#"
refused() { if "$@" 2>/dev/null; then echo "works: $*"; fi; }
works() { "$@" || echo "fails: $*"; }
works test "$(cat fixed/file)" = fixed
refused touch fixed/new
refused rm -f fixed/file
works touch fixed/open/new
works test -z "$(ls -A gone | grep -v seen)"
refused touch gone/new
works test "$(cat gone/seen/file)" = seen
refused touch gone/seen/new
works test -f key
works test ! -s key
refused sh -c 'echo x >key'
refused rm -f key
works test -z "$(cat own/file 2>/dev/null)"
works touch own/new
works touch own/in/new
works touch new
"#;

#[test]
fn views_nest() {
    if !works("nested views") {
        return;
    }
    let place = Place::new();
    let at = |name: &str| place.path(Path::new("work").join(name));
    for name in ["fixed", "gone", "gone/seen", "own"] {
        place.file(&format!("work/{name}/file"), &format!("{}\n", name.rsplit('/').next().unwrap()));
    }
    place.file("work/key", "hush");
    place.directory("work/fixed/open");
    place.directory("work/own/in");
    let rows: [(&str, Mode); 7] = [
        ("fixed", ReadOnly),
        ("fixed/open", ReadWrite),
        ("gone", Hidden),
        ("gone/seen", ReadOnly),
        ("key", Hidden),
        ("own", Private),
        ("own/in", ReadWrite),
    ];
    let spec = rows.iter().fold(place.spec(&[]), |spec, (name, mode)| spec.view(&at(name), *mode));
    assert_eq!(String::from_utf8(said(&spec, NESTED)).unwrap(), "");
    for (name, there) in [
        ("fixed/open/new", true),
        ("own/in/new", true),
        ("new", true),
        ("own/new", false),
        ("gone/new", false),
    ] {
        assert_eq!(at(name).exists(), there, "{name}");
    }
    assert_eq!(fs::read_to_string(at("key")).unwrap(), "hush");
}

/// A home can be where the jail has links of its own; nothing of it appears on the host.
#[test]
fn a_home_leaves_nothing_on_the_host() {
    if !works("a home at odd places") {
        return;
    }
    let place = Place::new();
    let name = place.path("").file_name().unwrap().to_str().unwrap().trim_start_matches('.').to_owned();
    for above in ["/var/tmp", "/var/run", "/tmp", "/home"] {
        let mut spec = place.spec(&[]);
        spec.home = Path::new(above).join(format!("home-{name}"));
        spec.environment.push(("HOME".into(), spec.home.clone().into_os_string()));
        assert_eq!(
            said(&spec, "cd; touch x; ls; test -w . && pwd"),
            lines(&["x".as_ref(), spec.home.as_os_str()])
        );
        let beside = Path::new("/tmp").join(spec.home.file_name().unwrap());
        assert!(!spec.home.exists() && !beside.exists(), "{above}");
    }
}

/// A link on the way is a conflict before anything starts; one that appears afterwards leads nowhere.
#[test]
fn a_hidden_path_is_not_reached_by_another_way() {
    if !works("a hidden path behind a link") {
        return;
    }
    let place = Place::new();
    let secret = place.file("work/real/secret", "hush");
    symlink(secret.parent().unwrap(), place.path("work/link")).unwrap();
    let through = place.spec(&[(&place.path("work/link/secret"), Hidden)]);
    let refused = run(&through, &command(&["true"], &place.work())).unwrap_err();
    assert!(
        matches!(refused, ringfence_jail::JailError::Conflict(ringfence_jail::plan::Conflict::Link(..))),
        "{refused}"
    );
    assert_eq!(said(&place.spec(&[(&secret, Hidden)]), "cat link/secret real/secret"), b"");
}
