//! Names of objects: the hash of what they are.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// The name of an object in a git repository, of either hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    format: ObjectFormat,
    /// The hash, followed by zeros where it is shorter.
    bytes: [u8; LONGEST],
}

const LONGEST: usize = 32;

/// The hash that a repository names its objects by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectFormat {
    /// 20 bytes.
    Sha1,
    /// 32 bytes.
    Sha256,
}

/// A text is not the name of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an object name of 40 or 64 hexadecimal digits")]
pub struct ObjectIdError;

impl ObjectFormat {
    /// The length of a name in bytes.
    pub(super) const fn width(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// Hashes parts as if they were one. `None` if they are made to collide with something else.
    pub(super) fn hash(self, parts: &[&[u8]]) -> Option<ObjectId> {
        match self {
            #[cfg(not(feature = "objects"))]
            Self::Sha1 => None,
            #[cfg(feature = "objects")]
            Self::Sha1 => {
                let mut hash = sha1_checked::Sha1::new();
                for part in parts {
                    hash.update(part);
                }
                let result = hash.try_finalize();
                if result.has_collision() { None } else { ObjectId::from_bytes(self, result.hash()) }
            }
            Self::Sha256 => {
                let mut hash = Sha256::new();
                for part in parts {
                    hash.update(part);
                }
                ObjectId::from_bytes(self, &hash.finalize())
            }
        }
    }
}

impl ObjectId {
    /// Takes a name from its bytes, if they are as many as the format has.
    #[must_use]
    pub fn from_bytes(format: ObjectFormat, from: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONGEST];
        (from.len() == format.width()).then(|| bytes[..from.len()].copy_from_slice(from))?;
        Some(Self { format, bytes })
    }

    /// Reads a name that is written in hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &[u8]) -> Option<Self> {
        let format = [ObjectFormat::Sha1, ObjectFormat::Sha256]
            .into_iter()
            .find(|format| format.width() * 2 == text.len())?;
        let mut bytes = [0; LONGEST];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self { format, bytes })
    }

    /// Returns the hash that it is made by.
    #[must_use]
    pub const fn format(&self) -> ObjectFormat {
        self.format
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.format.width()]
    }

    /// Returns true if it names nothing, as git writes for the absence of an object.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.bytes == [0; LONGEST]
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

impl FromStr for ObjectId {
    type Err = ObjectIdError;

    fn from_str(text: &str) -> Result<Self, ObjectIdError> {
        Self::from_hex(text.as_bytes()).ok_or(ObjectIdError)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
#[cfg(feature = "objects")]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_as_git_does() {
        let rows = [
            ("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", true),
            ("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", true),
            ("e69de29bb2d1d6434b8b29ae775ad8c2e48c539", false),
            ("g69de29bb2d1d6434b8b29ae775ad8c2e48c5391", false),
            ("+69de29bb2d1d6434b8b29ae775ad8c2e48c5391", false),
            ("", false),
        ];
        for (text, expected) in rows {
            let id = text.parse::<ObjectId>();
            assert_eq!(id.is_ok(), expected, "{text}");
            assert!(id.is_err() || id.unwrap().to_string() == text);
        }
        let empty = ObjectFormat::Sha1.hash(&[b"blob ", b"0\0"]).unwrap();
        assert_eq!(empty.to_string(), rows[0].0);
        let empty = ObjectFormat::Sha256.hash(&[b"blob 0\0"]).unwrap();
        assert_eq!(empty.to_string(), rows[1].0);
    }
}
