//! Content of objects. Their authors are not trusted: an object that is not as git writes it is not read.

use std::sync::Arc;

use super::id::{ObjectFormat, ObjectId};

/// Type of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A snapshot and its ancestors.
    Commit,
    /// A directory.
    Tree,
    /// The content of a file.
    Blob,
    /// A name for another object, with a message.
    Tag,
}

impl ObjectKind {
    /// The word in front of its content.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    fn from_word(word: &[u8]) -> Option<Self> {
        [Self::Commit, Self::Tree, Self::Blob, Self::Tag]
            .into_iter()
            .find(|kind| kind.word().as_bytes() == word)
    }

    /// The most bytes that one is read with. Blobs are never read: their names say all there is to know.
    pub(super) const fn limit(self) -> usize {
        match self {
            Self::Commit | Self::Tag => 1 << 20,
            Self::Tree => 8 << 20,
            Self::Blob => 0,
        }
    }
}

/// The most bytes of any object that is read.
pub const LARGEST: usize = 16 << 20;

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its type.
    pub kind: ObjectKind,
    /// Its content, without a header.
    pub content: Arc<Vec<u8>>,
}

/// The name that git gives to a content.
pub(super) fn id_of(format: ObjectFormat, kind: ObjectKind, content: &[u8]) -> Option<ObjectId> {
    format.hash(&[format!("{} {}\0", kind.word(), content.len()).as_bytes(), content])
}

/// Reads an object with its header, as a file of its own has it.
pub(super) fn with_header(mut bytes: Vec<u8>) -> Option<Object> {
    let end = bytes.iter().take(32).position(|byte| *byte == 0)?;
    let space = bytes[..end].iter().position(|byte| *byte == b' ')?;
    let kind = ObjectKind::from_word(&bytes[..space])?;
    let size: usize = std::str::from_utf8(&bytes[space + 1..end]).ok()?.parse().ok()?;
    bytes.drain(..=end);
    (bytes.len() == size).then_some(Object { kind, content: Arc::new(bytes) })
}

/// Fields that are needed of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The tree of its files.
    pub tree: ObjectId,
    /// The commits that it follows.
    pub parents: Vec<ObjectId>,
    /// When it was committed, in seconds since 1970.
    pub date: i64,
    /// The first line of its message.
    pub subject: Vec<u8>,
}

const LONGEST_SUBJECT: usize = 500;

impl Commit {
    /// Reads the content of a commit.
    pub fn parse(format: ObjectFormat, content: &[u8]) -> Option<Self> {
        let mut lines = content.split(|byte| *byte == b'\n').peekable();
        let tree = reference(format, lines.next()?.strip_prefix(b"tree ")?)?;
        let mut parents = Vec::new();
        // Git takes only those that stand here, and not the same word among the lines that follow.
        while let Some(parent) = lines.peek().and_then(|line| line.strip_prefix(b"parent ")) {
            parents.push(reference(format, parent)?);
            lines.next();
        }
        let header = lines.by_ref().take_while(|line| !line.is_empty());
        let person = header.filter_map(|line| line.strip_prefix(b"committer ")).last();
        let date = person.and_then(committed).unwrap_or(0);
        let subject = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        let subject = subject[..subject.len().min(LONGEST_SUBJECT)].to_vec();
        Some(Self { tree, parents, date, subject })
    }
}

/// The number after the address of a person.
fn committed(person: &[u8]) -> Option<i64> {
    let after = person.iter().rposition(|byte| *byte == b'>')? + 1;
    let word = person[after..].split(|byte| *byte == b' ').find(|word| !word.is_empty())?;
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn reference(format: ObjectFormat, text: &[u8]) -> Option<ObjectId> {
    ObjectId::from_hex(text).filter(|id| id.format() == format)
}

/// The object that a tag names.
#[must_use]
pub fn tagged(format: ObjectFormat, content: &[u8]) -> Option<ObjectId> {
    let line = content.split(|byte| *byte == b'\n').next()?;
    reference(format, line.strip_prefix(b"object ")?)
}

/// Entry of a tree under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeEntry<'a> {
    /// File type and permissions.
    pub mode: u32,
    /// Its name, of any bytes but zero.
    pub name: &'a [u8],
    /// Its object.
    pub id: ObjectId,
}

impl TreeEntry<'_> {
    /// Returns true if it is a directory.
    #[must_use]
    pub const fn is_tree(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// A plain file, and not a link or another repository.
    pub(super) const fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    pub(super) const fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }
}

/// Reads the entries of a tree. All of them, or nothing: what follows a damaged one has no meaning.
#[must_use]
pub fn entries(format: ObjectFormat, content: &[u8]) -> Option<Vec<TreeEntry<'_>>> {
    let mut rest = content;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        entries.push(entry(format, &mut rest)?);
    }
    Some(entries)
}

/// Finds one name in a tree.
pub(super) fn entry_called<'a>(
    format: ObjectFormat,
    content: &'a [u8],
    name: &[u8],
) -> Option<TreeEntry<'a>> {
    let mut rest = content;
    while !rest.is_empty() {
        let entry = entry(format, &mut rest)?;
        if entry.name == name {
            return Some(entry);
        }
    }
    None
}

fn entry<'a>(format: ObjectFormat, rest: &mut &'a [u8]) -> Option<TreeEntry<'a>> {
    let space = rest.iter().take(8).position(|byte| *byte == b' ')?;
    let mode = octal(&rest[..space])?;
    let after = &rest[space + 1..];
    let end = after.iter().position(|byte| *byte == 0).filter(|end| *end > 0)?;
    let (id, left) = after[end + 1..].split_at_checked(format.width())?;
    *rest = left;
    Some(TreeEntry { mode, name: &after[..end], id: ObjectId::from_bytes(format, id)? })
}

fn octal(digits: &[u8]) -> Option<u32> {
    let valid = !digits.is_empty() && digits.iter().all(|digit| matches!(digit, b'0'..=b'7'));
    valid.then(|| digits.iter().fold(0, |number, digit| number << 3 | u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

    #[test]
    fn commits_are_read_as_git_writes_them() {
        let text = format!(
            "tree {ID}\nparent {ID}\nparent {ID}\nauthor a <a@b> 5 +0000\ncommitter c > <x> 7 +0100\ngpgsig -\n parent {ID}\n\n\nsubject\nbody\n"
        );
        let commit = Commit::parse(ObjectFormat::Sha1, text.as_bytes()).unwrap();
        assert_eq!((commit.parents.len(), commit.date, &commit.subject[..]), (2, 7, &b"subject"[..]));
        for text in ["", "tree x\n", &format!("tree {ID}\nparent x\n"), &format!("parent {ID}\n")] {
            assert_eq!(Commit::parse(ObjectFormat::Sha1, text.as_bytes()), None, "{text}");
        }
        assert_eq!(Commit::parse(ObjectFormat::Sha256, format!("tree {ID}\n").as_bytes()), None);
    }

    #[test]
    fn trees_are_read_whole_or_not_at_all() {
        let entry = |mode: &str, name: &str| [format!("{mode} {name}\0").as_bytes(), &[7; 20]].concat();
        let rows = [
            (entry("100644", "a"), Some(1)),
            ([entry("40000", "a"), entry("100755", "b")].concat(), Some(2)),
            (Vec::new(), Some(0)),
            (entry("", "a"), None),
            (entry("100648", "a"), None),
            (entry("100644", ""), None),
            (entry("1006441006441", "a"), None),
            (entry("100644", "a")[..20].to_vec(), None),
            ([entry("100644", "a"), b"100644".to_vec()].concat(), None),
        ];
        for (tree, expected) in rows {
            let found = entries(ObjectFormat::Sha1, &tree);
            assert_eq!(found.map(|entries| entries.len()), expected, "{tree:?}");
        }
    }
}
