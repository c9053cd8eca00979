//! The files of a skill, as they came.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

/// A skill, a server's manifest, or anything else that is scanned as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Name at its source: the name of its directory or file.
    pub name: String,
    /// Everything in it, in the order of the paths.
    pub entries: Vec<Entry>,
}

impl Tree {
    /// A tree with one file, as a text is scanned that has none.
    #[must_use]
    pub fn of_file(path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        let content = Content::File { bytes: bytes.into(), executable: false };
        Self { name: String::new(), entries: vec![Entry { path: path.into(), content }] }
    }

    /// One line for each name, with what it is. Two trees with the same listing are the same, so its hash stands for the tree.
    #[must_use]
    pub fn listing(&self) -> Vec<u8> {
        let mut lines = Vec::new();
        for entry in &self.entries {
            match &entry.content {
                Content::File { bytes, executable } => {
                    lines.extend(if *executable { b"program " } else { b"file    " });
                    lines.extend(Sha256::digest(bytes));
                }
                Content::Link { target } => {
                    lines.extend(b"link    ");
                    lines.extend(Sha256::digest(target.as_os_str().as_encoded_bytes()));
                }
                Content::TooLarge { length } => lines.extend(format!("large {length} ").bytes()),
                Content::Special => lines.extend(b"special "),
            }
            // No path has this byte.
            lines.extend(entry.path.as_os_str().as_encoded_bytes());
            lines.push(0);
        }
        lines
    }
}

/// One name in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the tree.
    pub path: PathBuf,
    /// Content.
    pub content: Content,
}

/// Content of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A file.
    File {
        /// All of it.
        bytes: Vec<u8>,
        /// True if an execute permission is set.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Target of the link, as written.
        target: PathBuf,
    },
    /// A file that exceeds the size limit.
    TooLarge {
        /// Its length in bytes.
        length: u64,
    },
    /// A pipe, a socket, a device: nothing that belongs in a skill.
    Special,
}
