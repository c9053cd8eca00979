//! Pins of reviewed content: every file of every skill, and every tool of every server, by hash.
//!
//! The file is lines of JSON in one order, so that two people who each add a skill can merge their files line by line.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::manifest::{Manifest, quoted};
use crate::text::json::{self, Node};
use crate::tree::{Content, Entry, Tree};

/// Maximum length of a lock.
const MAX_LOCK: usize = 16 << 20;

/// The line that a lock begins with.
const HEADER: &str = r#"{"ringfence-lock":1}"#;

/// Pins of skills and tools.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lock {
    pins: BTreeMap<Pinned, [u8; 32]>,
}

/// Something that is pinned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pinned {
    /// A file or a link of a skill.
    File {
        /// The skill.
        skill: String,
        /// The path below it.
        path: String,
        /// Kind of file: a script that becomes executable has changed.
        mode: Mode,
    },
    /// A tool of a server.
    Tool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

/// Kind of a pinned file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// An ordinary file.
    File,
    /// A file with an execute permission.
    Executable,
    /// A symbolic link; its hash is that of its target.
    Link,
}

/// Differences from the pins, each in one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Items that are new.
    pub added: Vec<Pinned>,
    /// Items that no longer exist.
    pub removed: Vec<Pinned>,
    /// Items whose content or behaviour changed.
    pub changed: Vec<Pinned>,
}

impl Changed {
    /// Returns true if nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Reason why something cannot be pinned, or a lock cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// No lock, or one of a later kind.
    #[error("not a lock file, or one of another version")]
    Header,
    /// The size limit is exceeded.
    #[error("the lock is larger than 16 MiB")]
    TooLarge,
    /// A line that is no pin.
    #[error("line {0}: not a pin")]
    Line(usize),
    /// Two lines pin the same in two ways, as after an unfinished merge.
    #[error("line {0}: pinned twice, in two ways")]
    Contradiction(usize),
    /// A path that is no text.
    #[error("{0}: the path is not UTF-8")]
    Path(String),
    /// A file that was not read, or is none.
    #[error("{0}: cannot be pinned")]
    File(String),
    /// A server with two tools of one name.
    #[error("the tool {0} stands twice")]
    Tool(String),
}

impl Lock {
    /// A lock that pins nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self { pins: BTreeMap::new() }
    }

    /// Pins every file of a skill, in place of what was pinned of it.
    pub fn pin_skill(&mut self, name: &str, tree: &Tree) -> Result<(), LockError> {
        let pins = tree.entries.iter().map(|entry| file_pin(name, entry)).collect::<Result<Vec<_>, _>>()?;
        self.pins.retain(|pinned, _| !matches!(pinned, Pinned::File { skill, .. } if skill == name));
        self.pins.extend(pins);
        Ok(())
    }

    /// Pins every tool of a server, in place of what was pinned of it.
    pub fn pin_tools(&mut self, name: &str, manifest: &Manifest) -> Result<(), LockError> {
        let mut pins = BTreeMap::new();
        for tool in &manifest.tools {
            let pinned = Pinned::Tool { server: name.to_owned(), tool: tool.name.clone() };
            if pins.insert(pinned, tool.hash).is_some() {
                return Err(LockError::Tool(tool.name.clone()));
            }
        }
        self.pins.retain(|pinned, _| !matches!(pinned, Pinned::Tool { server, .. } if server == name));
        self.pins.extend(pins);
        Ok(())
    }

    /// Pins every file of a skill, and every tool of the manifests in it: what has changed is then known by its name. The file is
    /// pinned as well, because a manifest says more than its tools.
    pub fn pin_tree(&mut self, name: &str, tree: &Tree) -> Result<(), LockError> {
        self.pin_skill(name, tree)?;
        manifests(tree).try_for_each(|(path, manifest)| self.pin_tools(&server_name(name, path), &manifest))
    }

    /// The skills and single files that are pinned, each once.
    #[must_use]
    pub fn skills(&self) -> BTreeSet<&str> {
        let named = self.pins.keys().filter_map(|pinned| match pinned {
            Pinned::File { skill, .. } => Some(skill.as_str()),
            Pinned::Tool { .. } => None,
        });
        named.collect()
    }

    /// One hash over everything that is pinned of a skill: paths, modes and bytes in the order of the paths. `None` if nothing is.
    #[must_use]
    pub fn skill_hash(&self, name: &str) -> Option<[u8; 32]> {
        let mut hash = Sha256::new();
        let mut any = false;
        for (pinned, file) in &self.pins {
            if let Pinned::File { skill, path, mode } = pinned
                && skill == name
            {
                any = true;
                hash.update((path.len() as u64).to_be_bytes());
                hash.update(path);
                hash.update([*mode as u8]);
                hash.update(file);
            }
        }
        any.then(|| hash.finalize().into())
    }

    /// Reads a lock. The order of the lines does not matter; the same line twice is one.
    pub fn read(bytes: &[u8]) -> Result<Self, LockError> {
        if bytes.len() > MAX_LOCK {
            return Err(LockError::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| LockError::Header)?;
        let mut lines = text.lines().zip(1..);
        if lines.next().is_none_or(|(line, _)| line.trim_end() != HEADER) {
            return Err(LockError::Header);
        }
        let mut named = BTreeMap::new();
        for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
            let pin = read_pin(line).ok_or(LockError::Line(number))?;
            match named.entry(pin.0.name()) {
                Slot::Vacant(slot) => {
                    slot.insert(pin);
                }
                Slot::Occupied(slot) if *slot.get() == pin => {}
                Slot::Occupied(_) => return Err(LockError::Contradiction(number)),
            }
        }
        Ok(Self { pins: named.into_values().collect() })
    }

    /// Writes a lock: always the same bytes for the same pins.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out = format!("{HEADER}\n");
        for (pinned, hash) in &self.pins {
            write_pin(pinned, hash, &mut out);
        }
        out.into_bytes()
    }

    /// Returns the differences of the current state from these pins.
    #[must_use]
    pub fn compare(&self, now: &Self) -> Changed {
        let (before, after) = (self.by_name(), now.by_name());
        let mut changed = Changed { added: Vec::new(), removed: Vec::new(), changed: Vec::new() };
        for (name, (pinned, hash)) in &after {
            match before.get(name) {
                None => changed.added.push((*pinned).clone()),
                Some((old, old_hash)) if old != pinned || old_hash != hash => {
                    changed.changed.push((*pinned).clone());
                }
                Some(_) => {}
            }
        }
        let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
        changed.removed = gone.map(|(_, (pinned, _))| (*pinned).clone()).collect();
        changed
    }

    /// The pins by name, without regard to their mode.
    fn by_name(&self) -> BTreeMap<Name, (&Pinned, &[u8; 32])> {
        self.pins.iter().map(|(pinned, hash)| (pinned.name(), (pinned, hash))).collect()
    }
}

/// The manifests with tools in a tree, with their paths. One that cannot be read is pinned as the file that it is.
pub fn manifests(tree: &Tree) -> impl Iterator<Item = (&Path, Manifest)> {
    tree.entries.iter().filter_map(|entry| {
        let Content::File { bytes, .. } = &entry.content else { return None };
        let named = entry.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let manifest = if named { Manifest::read(bytes).ok()?? } else { return None };
        (!manifest.tools.is_empty()).then_some((entry.path.as_path(), manifest))
    })
}

/// Returns the name of a manifest of a tree in a lock. A tree that is one file is called by its path already.
#[must_use]
pub fn server_name(name: &str, path: &Path) -> String {
    let whole = Path::new(name).file_name() == Some(path.as_os_str());
    if whole { name.to_owned() } else { format!("{name}/{}", path.display()) }
}

/// Name of a pin, without its mode: true for a tool, then its owner, then its own name.
type Name = (bool, String, String);

impl Pinned {
    fn name(&self) -> Name {
        match self {
            Self::File { skill, path, .. } => (false, skill.clone(), path.clone()),
            Self::Tool { server, tool } => (true, server.clone(), tool.clone()),
        }
    }
}

fn file_pin(skill: &str, entry: &Entry) -> Result<(Pinned, [u8; 32]), LockError> {
    let shown = || entry.path.display().to_string();
    let path = entry.path.to_str().ok_or_else(|| LockError::Path(shown()))?.to_owned();
    let (mode, hash) = match &entry.content {
        Content::File { bytes, executable: false } => (Mode::File, Sha256::digest(bytes)),
        Content::File { bytes, executable: true } => (Mode::Executable, Sha256::digest(bytes)),
        Content::Link { target } => (Mode::Link, Sha256::digest(target.as_os_str().as_encoded_bytes())),
        _ => return Err(LockError::File(shown())),
    };
    Ok((Pinned::File { skill: skill.to_owned(), path, mode }, hash.into()))
}

fn write_pin(pinned: &Pinned, hash: &[u8; 32], out: &mut String) {
    let fields = match pinned {
        Pinned::File { skill, path, mode } => {
            vec![("skill", skill.as_str()), ("path", path), ("mode", mode.name())]
        }
        Pinned::Tool { server, tool } => vec![("server", server.as_str()), ("tool", tool)],
    };
    for (number, (name, value)) in fields.into_iter().enumerate() {
        out.push(if number == 0 { '{' } else { ',' });
        quoted(name, out);
        out.push(':');
        quoted(value, out);
    }
    out.push_str(",\"sha256\":\"");
    for byte in hash {
        let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
        out.push(digit(byte >> 4));
        out.push(digit(byte & 15));
    }
    out.push_str("\"}\n");
}

fn read_pin(line: &str) -> Option<(Pinned, [u8; 32])> {
    let document = json::read(line).ok()?;
    if !document.twice.is_empty() || document.loose.is_some() {
        return None;
    }
    let root = &document.root;
    let text = |name: &str| root.text_of(name).map(str::to_owned);
    let hash = read_hash(root)?;
    let pinned = match root.object().len() {
        4 => Pinned::File {
            skill: text("skill")?,
            path: text("path")?,
            mode: Mode::named(root.text_of("mode")?)?,
        },
        3 => Pinned::Tool { server: text("server")?, tool: text("tool")? },
        _ => return None,
    };
    Some((pinned, hash))
}

fn read_hash(root: &Node<'_>) -> Option<[u8; 32]> {
    let text = root.text_of("sha256")?;
    let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 64 || !text.bytes().all(digits) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(hash)
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Executable => "executable",
            Self::Link => "link",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link].into_iter().find(|mode| mode.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str, bool)]) -> Tree {
        let entries = files.iter().map(|(path, text, executable)| Entry {
            path: path.into(),
            content: Content::File { bytes: text.as_bytes().to_vec(), executable: *executable },
        });
        Tree { name: "a".to_owned(), entries: entries.collect() }
    }

    fn lock(files: &[(&str, &str, bool)], tools: &str) -> Lock {
        let mut lock = Lock::empty();
        lock.pin_skill("a", &tree(files)).unwrap();
        lock.pin_tools("s", &Manifest::read(tools.as_bytes()).unwrap().unwrap()).unwrap();
        lock
    }

    const TOOLS: &str = r#"{"tools":[{"name":"t","description":"x"}]}"#;

    #[test]
    fn a_lock_is_text_that_people_can_merge() {
        let lock = lock(&[("SKILL.md", "x", false), ("run.sh", "", true)], TOOLS);
        insta::assert_snapshot!(String::from_utf8(lock.write()).unwrap(), @r#"
        {"ringfence-lock":1}
        {"skill":"a","path":"SKILL.md","mode":"file","sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}
        {"skill":"a","path":"run.sh","mode":"executable","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
        {"server":"s","tool":"t","sha256":"4b8c77019810f30f6a124641809fb4517664167fbd4807a88a77422bdd0fbd48"}
        "#);
    }

    #[test]
    fn what_has_changed_is_told() {
        let file = |path: &str, mode| Pinned::File { skill: "a".to_owned(), path: path.to_owned(), mode };
        let before = lock(&[("a", "1", false), ("b", "1", false), ("c", "1", false)], TOOLS);
        let after = lock(
            &[("a", "1", false), ("b", "2", false), ("c", "1", true), ("d", "", false)],
            r#"{"tools":[{"name":"t","description":"y"}]}"#,
        );
        let changed = before.compare(&after);
        let tool = Pinned::Tool { server: "s".to_owned(), tool: "t".to_owned() };
        assert_eq!(changed.changed, [file("b", Mode::File), file("c", Mode::Executable), tool]);
        assert_eq!((changed.added, changed.removed), (vec![file("d", Mode::File)], vec![]));
        assert_eq!(after.compare(&before).removed, [file("d", Mode::File)]);
        assert!(before.compare(&before).is_empty());
        assert_ne!(before.skill_hash("a"), after.skill_hash("a"));
        assert_eq!(before.skill_hash("b"), None);
    }

    #[test]
    fn a_manifest_is_pinned_as_a_file_and_tool_by_tool() {
        let tree = |text: &str| {
            tree(&[("SKILL.md", "x", false), ("conf/mcp.json", text, false), ("no.json", "{}", false)])
        };
        let pinned = |text: &str| {
            let mut lock = Lock::empty();
            lock.pin_tree("a/b", &tree(text)).map(|()| lock)
        };
        let before = pinned(TOOLS).unwrap();
        assert_eq!(before.skills().into_iter().collect::<Vec<_>>(), ["a/b"]);
        let changed = before.compare(&pinned(r#"{"tools":[{"name":"t","description":"y"}]}"#).unwrap());
        let tool = Pinned::Tool { server: "a/b/conf/mcp.json".to_owned(), tool: "t".to_owned() };
        assert!(changed.changed.contains(&tool) && changed.changed.len() == 2, "{changed:?}");
        // The layout of a file is no change of a tool, and one of the file all the same.
        let changed = before.compare(&pinned(&TOOLS.replace(':', " : ")).unwrap());
        assert!(!changed.changed.contains(&tool) && changed.changed.len() == 1, "{changed:?}");
        assert_eq!(pinned(r#"{"tools":[{"name":"t"},{"name":"t"}]}"#), Err(LockError::Tool("t".to_owned())));
        for (name, path, expected) in
            [("a/tools.json", "tools.json", "a/tools.json"), ("a", "b/t.json", "a/b/t.json")]
        {
            assert_eq!(server_name(name, Path::new(path)), expected);
        }
    }

    #[test]
    fn a_lock_that_cannot_be_trusted_is_refused() {
        let hash = "0".repeat(64);
        let pin = |hash: &str| format!("{{\"server\":\"s\",\"tool\":\"t\",\"sha256\":\"{hash}\"}}\n");
        let file = |mode: &str| {
            format!("{{\"skill\":\"a\",\"path\":\"p\",\"mode\":\"{mode}\",\"sha256\":\"{hash}\"}}\n")
        };
        let rows = [
            (String::new(), LockError::Header),
            ("{\"ringfence-lock\":2}\n".to_owned(), LockError::Header),
            (format!("{HEADER}\nx\n"), LockError::Line(2)),
            (format!("{HEADER}\n{}", pin(&hash[1..])), LockError::Line(2)),
            (format!("{HEADER}\n{}{}", pin(&hash), pin(&"1".repeat(64))), LockError::Contradiction(3)),
            (format!("{HEADER}\n<<<<<<< ours\n"), LockError::Line(2)),
            (format!("{HEADER}\n{}{}", file("file"), file("executable")), LockError::Contradiction(3)),
        ];
        for (text, expected) in rows {
            assert_eq!(Lock::read(text.as_bytes()), Err(expected), "{text}");
        }
        assert!(Lock::read(format!("{HEADER}\n{0}{0}", pin(&hash)).as_bytes()).is_ok());
        let special = Tree {
            name: String::new(),
            entries: vec![Entry { path: "x".into(), content: Content::Special }],
        };
        assert_eq!(Lock::empty().pin_skill("a", &special), Err(LockError::File("x".to_owned())));
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(files: std::collections::BTreeMap<String, (String, bool)>, name: String) {
            let files: Vec<_> = files.iter().map(|(path, (text, executable))| (path.as_str(), text.as_str(), *executable)).collect();
            let mut lock = Lock::empty();
            lock.pin_skill(&name, &tree(&files)).unwrap();
            let bytes = lock.write();
            let again = Lock::read(&bytes).unwrap();
            assert_eq!(again, lock);
            assert_eq!(again.write(), bytes);
        }

        #[test]
        fn reading_never_panics(bytes: Vec<u8>) {
            drop(Lock::read(&bytes));
            drop(Lock::read(&[HEADER.as_bytes(), b"\n", &bytes].concat()));
        }
    }
}
