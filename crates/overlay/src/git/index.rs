//! The git index: the content of the next commit.

use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use super::objects::{ObjectId, SHA1, Unreadable};
use super::trusted::File;

/// Maximum length; longer than the index of a repository with a million files.
pub(super) const LONGEST: u64 = 256 << 20;

/// A file in the index.
pub(super) struct Staged {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

const DAMAGED: Unreadable = Unreadable::Format("the index is damaged or of an unknown version");

/// Parses every file entry of an index.
pub(super) fn parse(index: &[u8]) -> Result<Vec<Staged>, Unreadable> {
    entries(index).map(|(entries, _)| entries).ok_or(DAMAGED)
}

/// Returns the tree that an index represents, if git has recorded it in the `TREE` extension.
pub(super) fn tree(index: &[u8]) -> Option<ObjectId> {
    let (_, mut rest) = entries(index)?;
    while rest.len() > 20 + 8 {
        let (head, after) = rest.split_at(8);
        let content = after.get(..usize::try_from(number(&head[4..])).ok()?)?;
        if &head[..4] == b"TREE" {
            return root(content);
        }
        rest = &after[content.len()..];
    }
    None
}

/// Parses the first entry, that of the root: an empty name, the number of files and of directories, its tree.
fn root(content: &[u8]) -> Option<ObjectId> {
    let content = content.strip_prefix(b"\0")?;
    let line = content.iter().position(|byte| *byte == b'\n')?;
    // A negative count marks the entry as invalid: something was changed since.
    (!content.starts_with(b"-"))
        .then(|| ObjectId::from_bytes(SHA1, content.get(line + 1..line + 21)?))
        .flatten()
}

/// Parses the entries; returns them and the data that follows.
fn entries(index: &[u8]) -> Option<(Vec<Staged>, &[u8])> {
    let (head, mut rest) = index.split_at_checked(12)?;
    let (version, count) = (number(&head[4..8]), number(&head[8..]));
    if &head[..4] != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut found = Vec::new();
    let mut name = Vec::new();
    for _ in 0..count {
        let mode = u32::try_from(number(rest.get(24..28)?)).ok()?;
        let file = File::new(ObjectId::from_bytes(SHA1, rest.get(40..60)?)?, mode);
        let flags = number(rest.get(60..62)?);
        let fixed = if version >= 3 && flags & 0x4000 != 0 { 64 } else { 62 };
        let mut after = rest.get(fixed..)?;
        if version == 4 {
            name.truncate(name.len().checked_sub(removed(&mut after)?)?);
        } else {
            name.clear();
        }
        let end = after.iter().position(|byte| *byte == 0)?;
        name.extend(&after[..end]);
        // Versions before 4 pad to a multiple of eight bytes, with at least one zero byte.
        let length = fixed + end;
        rest = if version == 4 { &after[end + 1..] } else { rest.get((length + 8) / 8 * 8..)? };
        found.push(Staged { path: PathBuf::from(std::ffi::OsString::from_vec(name.clone())), file });
    }
    Some((found, rest))
}

/// Decodes an unsigned big-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Decodes the number of bytes that are removed from the end of the previous name.
fn removed(from: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        value |= usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?.checked_mul(128)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a version 2 index with these files, each with the same object.
    fn index(names: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        for name in names {
            let mut entry = vec![0; 40];
            entry.extend([7; 20]);
            entry.extend([0, 0]);
            entry.extend(name.bytes());
            entry.resize((entry.len() + 8) / 8 * 8, 0);
            bytes.extend(entry);
        }
        bytes
    }

    #[test]
    fn files_are_read() {
        let names = ["a", "deep/er/file", "12345678", "x"];
        let found = parse(&index(&names)).unwrap();
        assert_eq!(found.iter().map(|it| it.path.to_str().unwrap()).collect::<Vec<_>>(), names);
        assert!(found.iter().all(|it| it.file.id.to_string() == "07".repeat(20)));
    }

    #[test]
    fn whatever_is_cut_off_or_bent_does_no_harm() {
        let whole = index(&["a", "deep/er/file"]);
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_err(), "{length}");
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bent = whole.clone();
                bent[at] = value;
                // Parsing may succeed or fail.
                drop(parse(&bent));
                let _tree = tree(&bent);
            }
        }
    }
}
