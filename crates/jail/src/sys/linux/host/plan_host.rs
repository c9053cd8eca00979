//! Finding out what a plan has to know.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};

use crate::plan::{Conflict, Entry, Host, Owner, Sight, copied, plan, questions, questions_about};
use crate::spec::Spec;

/// Returns what a jail of this spec would let a program see.
pub(crate) fn sight(spec: &Spec) -> Result<Sight, Conflict> {
    plan(spec, &with_views(machine(true), spec)).map(|plan| Sight::of(&plan))
}

/// Looks at what every plan for this machine has to know. `powerful` root runs as another user.
pub(crate) fn machine(powerful: bool) -> Host {
    let caller = Owner { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() };
    let root = caller.uid == 0;
    let mut space = vec![0; MOST];
    let texts = copied().filter_map(|path| Some((path.to_owned(), text(path, &mut space)?)));
    Host {
        caller,
        // Root that runs as another user has another name.
        user: if root && powerful { String::new() } else { user(caller.uid) },
        powerful: root && powerful,
        entries: entries(questions(root && !powerful)).collect(),
        texts: texts.collect(),
    }
}

/// Looks at what a plan for this spec has to know besides.
pub(crate) fn with_views(mut machine: Host, spec: &Spec) -> Host {
    machine.entries.extend(entries(questions_about(spec)));
    machine
}

fn entries(paths: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = (PathBuf, Entry)> {
    paths.filter_map(|path| {
        let entry = entry(&path)?;
        Some((path, entry))
    })
}

/// An entry that cannot be looked at counts as not there: the step that needs it says so.
fn entry(path: &Path) -> Option<Entry> {
    let found = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let (owner, id) = (owner(&found), (found.st_dev, found.st_ino));
    Some(match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Entry::Directory(owner, id),
        FileType::RegularFile => Entry::File(owner, id),
        FileType::Symlink => Entry::Link(target(path)?),
        _ => Entry::Other(id),
    })
}

fn owner(found: &Stat) -> Owner {
    Owner { uid: found.st_uid, gid: found.st_gid }
}

fn target(path: &Path) -> Option<PathBuf> {
    std::fs::read_link(path).ok()
}

/// The text of a small file of the system. What does not fit is not a small file, and half of one is worse than none.
fn text(path: &Path, space: &mut [u8]) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    // One read is all of a file that is shorter than the space for it.
    let length = rustix::io::retry_on_intr(|| rustix::io::read(&file, &mut *space)).ok()?;
    (length < MOST).then(|| space[..length].to_vec())
}

const MOST: usize = 16 << 10;

/// The caller's name, if it is one that can stand in a list of users.
fn user(uid: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let uid = uid.to_string();
    let found = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&uid)).then(|| name.to_owned())
    });
    found
        .filter(|name| !name.is_empty() && name.len() <= 32 && !name.contains(char::is_control))
        .unwrap_or("agent".to_owned())
}
