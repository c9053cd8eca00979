//! Rows about places: directories, policy files, the ledger; and about the disk and the clock it depends on.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jail::probe::{self, Errno, Kind, Object};
use policy::Shown;

use super::row::{Row, Status};
use super::{ConfigFile, ConfigState, Places, lost};

/// Objects found at the places, and the time.
pub(super) struct Sites {
    pub(super) state: Site,
    pub(super) runtime: Site,
    pub(super) ledger: Site,
    pub(super) config: Vec<ConfigFile>,
    /// Seconds since 1970; 0 for a clock that is before it.
    pub(super) now: i64,
}

impl Sites {
    pub(super) fn look(places: &Places, now: SystemTime) -> Self {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            state: Site::look(places.state_dir.as_deref()),
            runtime: Site::look(places.runtime_dir.as_deref()),
            ledger: Site::look(places.ledger.as_deref()),
            config: places.config.clone(),
            now: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        }
    }
}

/// One place, looked at through a handle.
pub(super) enum Site {
    /// No path is known.
    Unknown,
    /// There is nothing; the directory above where it would be made.
    Absent(PathBuf, Option<Object>),
    /// There is something.
    There(PathBuf, Object),
    /// It cannot be looked at.
    Unreachable(PathBuf, Errno),
}

impl Site {
    fn look(path: Option<&Path>) -> Self {
        let Some(path) = path else { return Self::Unknown };
        match probe::object(path) {
            Ok(object) => Self::There(path.to_owned(), object),
            Err(errno) if errno.name() == Some("ENOENT") => Self::Absent(path.to_owned(), above(path)),
            Err(errno) => Self::Unreachable(path.to_owned(), errno),
        }
    }

    /// Returns the object whose file system and permissions are judged.
    fn object(&self) -> Option<&Object> {
        match self {
            Self::There(_, object) | Self::Absent(_, Some(object)) => Some(object),
            Self::Unknown | Self::Absent(_, None) | Self::Unreachable(..) => None,
        }
    }
}

/// The nearest directory that exists. Links on the way are the user's own and are followed, hence the dot.
fn above(path: &Path) -> Option<Object> {
    path.ancestors().skip(1).find_map(|directory| probe::object(&directory.join(".")).ok())
}

pub(super) fn rows(sites: &Sites, uid: u32) -> Vec<Row> {
    let mut rows = vec![STATE.row(&sites.state, uid), RUNTIME.row(&sites.runtime, uid)];
    rows.extend(sites.config.iter().map(config));
    rows.extend([LEDGER.row(&sites.ledger, uid), disk(&sites.state), clock(sites)]);
    rows
}

/// Requirements for one place.
struct Wanted {
    id: &'static str,
    kind: Kind,
    /// The mode it is made with.
    mode: &'static str,
    expected: &'static str,
    unknown: &'static str,
    /// Remedy if it cannot be there.
    elsewhere: &'static str,
    /// Features that are lost without it.
    lost: &'static [&'static str],
}

const STATE: Wanted = Wanted {
    id: "state-dir",
    kind: Kind::Directory,
    mode: "700",
    expected: "a directory of our own, mode 0700",
    unknown: "not known where: no XDG_STATE_HOME and no home directory",
    elsewhere: "set XDG_STATE_HOME to a directory that you can write to",
    lost: &[lost::LEDGER],
};

const RUNTIME: Wanted = Wanted {
    id: "runtime-dir",
    kind: Kind::Directory,
    mode: "700",
    expected: "a directory of our own, mode 0700",
    unknown: "not known where: no XDG_RUNTIME_DIR",
    elsewhere: "set XDG_RUNTIME_DIR to a directory of your own, mode 0700",
    lost: &[lost::SOCKETS],
};

const LEDGER: Wanted = Wanted {
    id: "ledger",
    kind: Kind::File,
    mode: "600",
    expected: "a file of our own, mode 0600",
    unknown: "not known where: no XDG_STATE_HOME and no home directory",
    elsewhere: "set XDG_STATE_HOME to a directory that you can write to",
    lost: &[lost::LEDGER],
};

impl Wanted {
    fn row(&self, site: &Site, uid: u32) -> Row {
        match site {
            Site::Unknown => self.refused(self.unknown).remedy(self.elsewhere),
            Site::Unreachable(path, errno) => self.at(path, &errno.to_string()).remedy(self.elsewhere),
            Site::Absent(path, Some(above)) if above.writable => self.fine(path, "not there yet"),
            Site::Absent(path, _) => self.at(path, "cannot be made there").remedy(self.elsewhere),
            Site::There(path, object) => self.judge(path, object, uid),
        }
    }

    /// The order is from what it is to who may use it: the first fault hides the others.
    fn judge(&self, path: &Path, object: &Object, uid: u32) -> Row {
        let mode = format!("mode {:04o}", object.mode);
        let chmod = command(&format!("chmod {}", self.mode), path);
        match object {
            Object { kind: Kind::Link, .. } => {
                self.at(path, "a link, and links are not followed").remedy(MOVE)
            }
            _ if object.kind != self.kind => self.at(path, "something else stands there").remedy(MOVE),
            _ if object.owner != uid => {
                self.at(path, &format!("belongs to user {}", object.owner)).remedy(MOVE)
            }
            _ if object.mode & 0o022 != 0 => {
                self.at(path, &format!("{mode}, others can change it")).remedy_if_known(chmod)
            }
            _ if !object.writable && object.mode & 0o200 == 0 => self.at(path, &mode).remedy_if_known(chmod),
            _ if !object.writable => self.at(path, "not writable").remedy(self.elsewhere),
            _ if object.is_shared() => self.readable(path, &mode).remedy_if_known(chmod),
            _ => self.fine(path, "in order"),
        }
    }

    fn at(&self, path: &Path, fault: &str) -> Row {
        self.refused(&format!("{}: {fault}", Shown::path(path)))
    }

    fn refused(&self, measured: &str) -> Row {
        Row::new(self.id, Status::Missing, measured, self.expected).lost(self.lost)
    }

    /// Others can look but not touch.
    fn readable(&self, path: &Path, mode: &str) -> Row {
        let measured = format!("{}: {mode}, others can look at it", Shown::path(path));
        Row::new(self.id, Status::Weak, measured, self.expected).lost(&[lost::PRIVACY])
    }

    fn fine(&self, path: &Path, state: &str) -> Row {
        Row::new(self.id, Status::Ok, format!("{}: {state}", Shown::path(path)), self.expected)
    }
}

const MOVE: &str = "move it away; a new one is made when it is needed";

/// A command on a path, or none if the path would mean something to a shell: people copy what they read.
fn command(words: &str, path: &Path) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    let path = path.to_str().filter(|path| path.starts_with('/') && path.chars().all(plain))?;
    Some(format!("{words} {path}"))
}

fn config(file: &ConfigFile) -> Row {
    let id = format!("config.{}", file.label);
    let row = |status, measured: String| Row::new(&id, status, measured, "absent, or a policy that holds");
    let Some(path) = &file.path else {
        return row(Status::Note, "not known where: no home directory".to_owned());
    };
    let path = Shown::path(path);
    match &file.state {
        ConfigState::Absent => row(Status::Ok, format!("{path}: none")),
        ConfigState::Loaded => row(Status::Ok, format!("{path}: in force")),
        ConfigState::Refused(why) => {
            let why = why.lines().next().unwrap_or_default();
            let row = row(Status::Missing, format!("{path}: {why}"));
            row.remedy("ringfence policy lint").lost(&[lost::POLICY])
        }
    }
}

fn disk(state: &Site) -> Row {
    let row = |status, measured: String| Row::new("disk", status, measured, "64 MiB free for the ledger");
    match state.object().map(|object| object.free >> 20) {
        None => row(Status::Note, "not measured: there is no place for the ledger".to_owned()),
        Some(free @ 0..64) => {
            row(Status::Weak, format!("{free} MiB free")).remedy("free disk space").lost(&[lost::LEDGER])
        }
        Some(free) => row(Status::Ok, format!("{free} MiB free")),
    }
}

/// The ledger's times are taken from the clock; a clock that runs backwards makes them worthless.
fn clock(sites: &Sites) -> Row {
    let row =
        |status, measured: &str| Row::new("clock", status, measured, "later than the ledger's last change");
    let ahead = matches!(&sites.ledger, Site::There(_, object) if object.modified > sites.now + TOLERANCE);
    let remedy = "timedatectl set-ntp true";
    match sites.now {
        ..WRITTEN => row(Status::Weak, "before this program was written").remedy(remedy).lost(&[lost::TIMES]),
        _ if ahead => {
            row(Status::Weak, "before the ledger's last change").remedy(remedy).lost(&[lost::TIMES])
        }
        _ => row(Status::Ok, "plausible"),
    }
}

/// 1 January 2025.
const WRITTEN: i64 = 1_735_689_600;
/// File systems of other machines may round and lag by this many seconds.
const TOLERANCE: i64 = 60;
