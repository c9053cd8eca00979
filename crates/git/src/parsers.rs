//! Every parser at once, for tests with bytes by chance.

use super::id::{ObjectFormat, ObjectId};
use super::inflate::Inflater;
use super::object::{Commit, LARGEST, ObjectKind, entries, entry_called, id_of, tagged, with_header};
use super::{delta, pack};

/// Reads bytes as each part of an object store.
///
/// # Panics
///
/// If a parser is wrong: something is made beyond its limit.
pub fn read_as_git_objects(bytes: &[u8]) {
    let (base, rest) = bytes.split_at(bytes.len() / 2);
    for limit in [0, 100, LARGEST] {
        let made = delta::apply(base, rest, limit);
        assert!(made.is_none_or(|made| made.len() <= limit));
        let mut left = bytes;
        let inflated = Inflater::new().inflate(limit, |buffer| {
            let read = left.len().min(buffer.len());
            buffer[..read].copy_from_slice(&left[..read]);
            left = &left[read..];
            Some(read)
        });
        assert!(inflated.is_none_or(|inflated| inflated.len() <= limit));
    }
    for format in [ObjectFormat::Sha1, ObjectFormat::Sha256] {
        let listed = entries(format, bytes).unwrap_or_default();
        for entry in &listed {
            assert!(!entry.name.is_empty() && entry_called(format, bytes, entry.name).is_some());
        }
        let commit = Commit::parse(format, bytes);
        assert!(commit.is_none_or(|commit| commit.parents.len() * format.width() <= bytes.len()));
        assert!(tagged(format, bytes).is_none_or(|id| id.format() == format));
        assert!(pack::entry(bytes, 1 << 20, format).is_none_or(|entry| entry.size <= LARGEST));
        assert!(ObjectId::from_bytes(format, bytes).is_none_or(|id| id.as_bytes() == bytes));
        id_of(format, ObjectKind::Blob, bytes);
    }
    assert!(with_header(bytes.to_vec()).is_none_or(|object| object.content.len() < bytes.len()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read_as_git_objects(&bytes);
        }

        #[test]
        fn nearly_right_bytes_are_read(
            start in prop::sample::select(vec![
                "tree e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\nparent ", "100644 a\0", "commit 3\0", "blob 0\0", "tag 18446744073709551616\0",
                "object e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n", "tree 0\0", "committer > ", "\u{78}\u{1}",
            ]),
            rest in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            read_as_git_objects(&[start.as_bytes(), &rest].concat());
        }
    }
}
