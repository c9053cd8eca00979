//! The bubblewrap of the system: looked for at a few absolute places, judged before it is started, started by handle.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, openat};
use rustix::io::Errno as Raw;

use super::bounded_process::run_bounded;
use super::object::by_handle;
use super::root_files::Root;
use crate::host::probe::{Bwrap, Distrust, Unmeasured};

/// The first one that can be trusted; failing that, the first one at all.
pub(crate) fn bubblewrap(root: &Path, limit: Duration) -> Bwrap {
    let found: Vec<Bwrap> = PLACES.iter().filter_map(|place| examine(Root(root), place, limit)).collect();
    let trusted = found.iter().find(|bwrap| matches!(bwrap, Bwrap::Found { .. }));
    trusted.or(found.first()).cloned().unwrap_or(Bwrap::Absent)
}

/// Examines the program in one directory; `None` if there is none.
fn examine(root: Root<'_>, place: &str, limit: Duration) -> Option<Bwrap> {
    let path = Path::new(place).join("bwrap");
    match trusted(root, place) {
        Ok(program) => Some(introduce(&program, path, limit)),
        Err(Distrust::Unreadable(errno)) if errno == Raw::NOENT.into() => None,
        Err(why) => Some(Bwrap::Untrusted { path, why }),
    }
}

/// A program that root alone could have put where it is.
pub(crate) struct Program {
    pub(crate) handle: OwnedFd,
    pub(crate) setuid: bool,
}

/// The first one that can be trusted; failing that, why the first one at all cannot, or that there is none.
pub(crate) fn first_trusted() -> Result<Program, (PathBuf, Distrust)> {
    let mut refused = None;
    for place in PLACES {
        match trusted(Root(Path::new("/")), place) {
            Ok(program) => return Ok(program),
            Err(Distrust::Unreadable(errno)) if errno == Raw::NOENT.into() => {}
            Err(why) => {
                refused.get_or_insert((Path::new(place).join("bwrap"), why));
            }
        }
    }
    Err(refused.unwrap_or_else(|| (PathBuf::new(), unreadable(Raw::NOENT))))
}

/// A handle on the program, if root alone could have put it there.
fn trusted(root: Root<'_>, place: &str) -> Result<Program, Distrust> {
    let directory = open(root.at(Path::new(place)), DIRECTORY, Mode::empty()).map_err(unreadable)?;
    let handle = openat(&directory, "bwrap", PROGRAM, Mode::empty()).map_err(unreadable)?;
    let stat = fstat(&handle).map_err(unreadable)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Distrust::NotAFile);
    }
    only_root_writes(&stat)?;
    only_root_writes_above(root, directory)?;
    Ok(Program { handle, setuid: stat.st_mode & 0o4000 != 0 })
}

fn only_root_writes(stat: &Stat) -> Result<(), Distrust> {
    match stat {
        Stat { st_uid, .. } if *st_uid != 0 => Err(Distrust::Owner(*st_uid)),
        Stat { st_mode, .. } if st_mode & 0o022 != 0 => Err(Distrust::Writable),
        _ => Ok(()),
    }
}

/// Climbs by handle, so that no link on the way hides a directory.
fn only_root_writes_above(root: Root<'_>, mut directory: OwnedFd) -> Result<(), Distrust> {
    let top = fstat(open(root.0, DIRECTORY, Mode::empty()).map_err(unreadable)?).map_err(unreadable)?;
    loop {
        let stat = fstat(&directory).map_err(unreadable)?;
        only_root_writes(&stat)?;
        if (stat.st_dev, stat.st_ino) == (top.st_dev, top.st_ino) {
            return Ok(());
        }
        directory = openat(&directory, "..", DIRECTORY, Mode::empty()).map_err(unreadable)?;
    }
}

fn unreadable(errno: Raw) -> Distrust {
    Distrust::Unreadable(errno.into())
}

fn introduce(program: &Program, path: PathBuf, limit: Duration) -> Bwrap {
    match ask(program, &["--version"], limit) {
        Ok(version) => {
            Bwrap::Found { works: make_jail(program, &path, limit), path, version, setuid: program.setuid }
        }
        Err(why) => Bwrap::Silent { path, why },
    }
}

/// Asks it to introduce itself from within the smallest jail we would want of it.
fn make_jail(program: &Program, path: &Path, limit: Duration) -> Result<(), Unmeasured> {
    let path = path.to_str().ok_or(Unmeasured::Malformed)?;
    let jail = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--", path, "--version"];
    ask(program, &jail, limit).map(drop)
}

/// The version it gives, which must read as one.
fn ask(program: &Program, arguments: &[&str], limit: Duration) -> Result<String, Unmeasured> {
    let mut command = Command::new(by_handle(&program.handle));
    command.arg0("bwrap").args(arguments);
    let answer = run_bounded(command, limit)?;
    let answer = str::from_utf8(&answer).map_err(|_| Unmeasured::Malformed)?;
    let version = answer.strip_prefix("bubblewrap ").and_then(|rest| rest.strip_suffix('\n'));
    let version = version.filter(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'));
    version.map(str::to_owned).ok_or(Unmeasured::Malformed)
}

/// Never `PATH`: the user or process that sets it would choose the program.
const PLACES: &[&str] = &["/usr/bin", "/usr/local/bin", "/bin"];
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const PROGRAM: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
