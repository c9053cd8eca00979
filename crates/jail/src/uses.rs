//! Record of what a program in a jail used, as far as a listener was told.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;

/// One thing that a program tried to use. Whether it succeeded is for the kernel to know.
///
/// Paths are absolute and plain, by their text alone: links in them have not been followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// A program was started.
    Program(PathBuf),
    /// A file or directory was opened for reading.
    Read(PathBuf),
    /// A file was opened for writing, or would have been made by that.
    Write(PathBuf),
    /// A name was made, moved or taken away in its directory.
    Name(PathBuf),
    /// A socket of the file system was called.
    Socket(PathBuf),
    /// An address was called.
    Connection(SocketAddr),
}

/// Recorded uses, each once, in the order in which it was tried first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    found: Vec<Use>,
    known: HashSet<Use>,
    is_cut: bool,
}

impl Uses {
    /// A program that uses something new every time is followed up to here.
    pub const MOST: usize = 1 << 16;

    /// Adds one, unless it is known or there is no more room.
    pub fn add(&mut self, used: Use) {
        if self.known.contains(&used) {
            return;
        }
        if self.found.len() >= Self::MOST {
            self.is_cut = true;
            return;
        }
        self.known.insert(used.clone());
        self.found.push(used);
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Use> {
        self.found.iter()
    }

    /// Returns true if there were more uses than are kept.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_kept_once_and_what_is_too_much_is_said() {
        let mut uses = Uses::default();
        for number in (0..Uses::MOST).chain(0..10) {
            uses.add(Use::Read(format!("/{number}").into()));
        }
        assert!(uses.iter().count() == Uses::MOST && !uses.is_cut());
        uses.add(Use::Read("/more".into()));
        assert!(uses.iter().count() == Uses::MOST && uses.is_cut());
    }
}
