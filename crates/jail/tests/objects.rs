//! Objects at a path, looked at through a handle.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use ringfence_jail::probe::{Kind, object};

#[test]
fn kinds_and_modes() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("closed")).unwrap();
    fs::set_permissions(at("closed"), Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(at("open")).unwrap();
    fs::set_permissions(at("open"), Permissions::from_mode(0o1777)).unwrap();
    fs::write(at("file"), "").unwrap();
    fs::set_permissions(at("file"), Permissions::from_mode(0o640)).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    fs::set_permissions(at("socket"), Permissions::from_mode(0o600)).unwrap();

    let rows = [
        ("closed", Kind::Directory, 0o700, false),
        ("open", Kind::Directory, 0o1777, true),
        ("file", Kind::File, 0o640, true),
        ("socket", Kind::Other, 0o600, false),
    ];
    for (name, kind, mode, shared) in rows {
        let found = object(&at(name)).unwrap();
        assert_eq!((found.kind, found.mode, found.is_shared()), (kind, mode, shared), "{name}");
        assert_eq!(found.owner, rustix::process::geteuid().as_raw(), "{name}");
        assert_eq!(found.modified, fs::metadata(at(name)).unwrap().mtime(), "{name}");
        assert!(found.writable && found.free > 0, "{name}");
    }
}

/// Also where the link points to something that would be fine.
#[test]
fn links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("target")).unwrap();
    for (name, target) in [("fine", "target"), ("dangling", "nothing"), ("self", "self")] {
        symlink(target, at(name)).unwrap();
        assert_eq!(object(&at(name)).map(|found| found.kind), Ok(Kind::Link), "{name}");
    }
}

#[test]
fn absent_and_out_of_reach() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("file"), "").unwrap();
    symlink("loop", at("loop")).unwrap();
    let name_of = |path: &Path| object(path).unwrap_err().name();
    assert_eq!(name_of(&at("nothing")), Some("ENOENT"));
    assert_eq!(name_of(Path::new("")), Some("ENOENT"));
    assert_eq!(name_of(&at("file/x")), Some("ENOTDIR"));
    assert_eq!(name_of(&at("loop/x")), Some("ELOOP"));
    assert_eq!(name_of(&at(&"x".repeat(300))), Some("ENAMETOOLONG"));
}

#[test]
fn what_we_may_not_write() {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o500)).unwrap();
    // Permissions do not bind root.
    assert_eq!(object(place.path()).unwrap().writable, rustix::process::geteuid().is_root());
}
