//! The files of this machine, as toolchains are looked for.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use super::Files;

/// Maximum length of settings; no real ones are longer, and longer ones are not looked at.
const LONGEST: u64 = 1 << 20;
/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// The files of this machine.
#[derive(Debug, Clone)]
pub struct Disk {
    base: PathBuf,
    foreign: Vec<PathBuf>,
}

impl Disk {
    /// `base` is a real path below which most questions lie. Links in `foreign`, which the agent can write, are not followed.
    #[must_use]
    pub fn new(base: &Path, foreign: Vec<PathBuf>) -> Self {
        Self { base: base.to_owned(), foreign }
    }

    fn is_foreign(&self, path: &Path) -> bool {
        self.foreign.iter().any(|foreign| path.starts_with(foreign))
    }
}

impl Files for Disk {
    fn real(&self, path: &Path) -> Option<(PathBuf, bool)> {
        let (mut real, rest) = match path.strip_prefix(&self.base) {
            Ok(rest) => (self.base.clone(), rest),
            Err(_) => (PathBuf::from("/"), path.strip_prefix("/").ok()?),
        };
        let (mut rest, mut links, mut directory) = (names(rest), 0, true);
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&name);
            let found = fs::symlink_metadata(&next).ok()?;
            if found.is_symlink() {
                links += 1;
                if links > MOST_LINKS || self.is_foreign(&next) {
                    return None;
                }
                let to = fs::read_link(&next).ok()?;
                if to.is_absolute() {
                    real = PathBuf::from("/");
                }
                let mut to = names(&to);
                to.append(&mut rest);
                rest = to;
                continue;
            }
            directory = found.is_dir();
            if !(directory || found.is_file() && rest.is_empty()) {
                return None;
            }
            real = next;
        }
        Some((real, directory))
    }

    fn text(&self, path: &Path) -> Option<String> {
        let plain = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
        let mut text = String::new();
        let file = plain.then(|| File::open(path).ok()).flatten()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn names(&self, directory: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    }
}

/// The names of a path, in order.
fn names(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| part.as_os_str().to_owned()).collect()
}
