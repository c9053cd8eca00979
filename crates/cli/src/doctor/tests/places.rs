//! Directories, files, disk and clock.

use super::super::place;
use super::super::row::{Row, Status};
use super::super::{ConfigFile, ConfigState};
use super::*;

fn row(sites: &Sites, id: &str) -> Row {
    place::rows(sites, 1000).into_iter().find(|row| row.id == id).unwrap()
}

fn state(site: Site) -> Row {
    row(&Sites { state: site, ..sites() }, "state-dir")
}

fn there(object: Object) -> Site {
    Site::There("/s".into(), object)
}

#[test]
fn directories() {
    let sealed = Object { writable: false, ..directory() };
    let rows = [
        (there(directory()), Status::Ok, "/s: in order", ""),
        (
            there(Object { mode: 0o750, ..directory() }),
            Status::Weak,
            "mode 0750, others can look at it",
            "chmod 700 /s",
        ),
        (there(Object { mode: 0o701, ..directory() }), Status::Weak, "mode 0701", "chmod 700 /s"),
        (
            there(Object { mode: 0o720, ..directory() }),
            Status::Missing,
            "others can change it",
            "chmod 700 /s",
        ),
        (there(Object { mode: 0o1777, ..directory() }), Status::Missing, "mode 1777", "chmod 700 /s"),
        (there(Object { owner: 0, ..directory() }), Status::Missing, "belongs to user 0", "move it away"),
        (
            there(Object { kind: Kind::Link, mode: 0o777, ..directory() }),
            Status::Missing,
            "a link",
            "move it away",
        ),
        (there(file()), Status::Missing, "something else stands there", "move it away"),
        (there(sealed), Status::Missing, "not writable", "set XDG_STATE_HOME"),
        (there(Object { mode: 0o500, ..sealed }), Status::Missing, "mode 0500", "chmod 700 /s"),
        (Site::Absent("/s".into(), Some(directory())), Status::Ok, "/s: not there yet", ""),
        (
            Site::Absent("/s".into(), Some(sealed)),
            Status::Missing,
            "cannot be made there",
            "set XDG_STATE_HOME",
        ),
        (Site::Absent("/s".into(), None), Status::Missing, "cannot be made there", "set XDG_STATE_HOME"),
        (Site::Unreachable("/s".into(), errno(EACCES)), Status::Missing, "/s: EACCES", "set XDG_STATE_HOME"),
        (Site::Unknown, Status::Missing, "no XDG_STATE_HOME and no home", "set XDG_STATE_HOME"),
    ];
    for (site, status, measured, remedy) in rows {
        let row = state(site);
        assert_eq!(row.status, status, "{measured}");
        assert!(row.measured.contains(measured), "{}", row.measured);
        assert!(row.remedy.clone().unwrap_or_default().starts_with(remedy), "{:?}", row.remedy);
        assert_eq!(row.lost.is_empty(), status == Status::Ok, "{measured}");
    }
}

#[test]
fn ledgers() {
    let rows = [
        (there(file()), Status::Ok, ""),
        (there(Object { mode: 0o644, ..file() }), Status::Weak, "chmod 600 /s"),
        (there(Object { mode: 0o622, ..file() }), Status::Missing, "chmod 600 /s"),
        (there(directory()), Status::Missing, "move it away"),
        (there(Object { kind: Kind::Link, ..file() }), Status::Missing, "move it away"),
        (Site::Absent("/s".into(), Some(directory())), Status::Ok, ""),
    ];
    for (site, status, remedy) in rows {
        let row = row(&Sites { ledger: site, ..sites() }, "ledger");
        assert_eq!(row.status, status, "{}", row.measured);
        assert!(row.remedy.clone().unwrap_or_default().starts_with(remedy), "{:?}", row.remedy);
    }
}

/// People copy commands. A path that a shell would read as something else gets none.
#[test]
fn commands_name_only_plain_paths() {
    let rows = [
        ("/home/ann/.local/state", Some("chmod 700 /home/ann/.local/state")),
        ("/home/ann smith/x", None),
        ("/home/$(reboot)/x", None),
        ("/home/a;b", None),
        ("/home/a'b", None),
        ("/home/\u{202e}x", None),
        ("/home/caf\u{e9}", None),
        ("relative", None),
        ("-rf", None),
    ];
    for (path, expected) in rows {
        let row = state(Site::There(path.into(), Object { mode: 0o777, ..directory() }));
        assert_eq!(row.remedy.as_deref(), expected, "{path}");
    }
}

#[test]
fn policy_files() {
    let at = || Some("/etc/ringfence/policy.toml".into());
    let rows = [
        (None, ConfigState::Absent, Status::Note, "no home directory"),
        (at(), ConfigState::Absent, Status::Ok, "policy.toml: none"),
        (at(), ConfigState::Loaded, Status::Ok, "policy.toml: in force"),
        (
            at(),
            ConfigState::Refused("unknown key\n  --> x".into()),
            Status::Missing,
            "policy.toml: unknown key",
        ),
        (at(), ConfigState::Refused("\u{1b}[2J".into()), Status::Missing, r"policy.toml: \u{1b}[2J"),
    ];
    for (path, state, status, measured) in rows {
        let config = vec![ConfigFile { label: "managed", path, state }];
        let row = row(&Sites { config, ..sites() }, "config.managed");
        assert_eq!(row.status, status, "{measured}");
        assert!(row.measured.ends_with(measured), "{}", row.measured);
    }
}

#[test]
fn disk_and_clock() {
    let free = |free| Sites { state: there(Object { free, ..directory() }), ..sites() };
    let now = |now| Sites { now, ..sites() };
    let rows = [
        (free(64 << 20), "disk", Status::Ok),
        (free((64 << 20) - 1), "disk", Status::Weak),
        (Sites { state: Site::Unknown, ..sites() }, "disk", Status::Note),
        (now(1_800_000_000), "clock", Status::Ok),
        (now(0), "clock", Status::Weak),
        // The ledger was written at 1_799_999_000: a minute is forgiven, more is not.
        (now(1_799_998_940), "clock", Status::Ok),
        (now(1_799_998_939), "clock", Status::Weak),
    ];
    for (sites, id, status) in rows {
        assert_eq!(row(&sites, id).status, status, "{id} {}", sites.now);
    }
}
