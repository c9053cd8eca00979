//! Secrets: values that are wiped, names that are checked, and the places that values come from.

mod file;
mod sources;

use std::fmt;
use std::io;
use std::path::PathBuf;

use policy::SecretSource;
use zeroize::Zeroizing;

pub use self::file::FileStore;
pub use self::sources::Sources;

/// Fewest bytes of a value. A shorter one could not be told from ordinary text in a response.
const MIN_VALUE: usize = 8;
/// Most bytes of a value.
pub const MAX_VALUE: usize = 64 * 1024;
/// Most bytes of a name.
const MAX_NAME: usize = 64;

/// The value of a secret. Wiped when dropped, and never shown.
#[derive(Clone)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes a value over. Line ends after it are removed.
    pub fn new(value: Vec<u8>) -> Result<Self, SecretError> {
        let mut value = Zeroizing::new(value);
        while value.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            value.pop();
        }
        match value.len() {
            0 => Err(SecretError::Empty),
            length if length < MIN_VALUE => Err(SecretError::TooShort),
            length if length > MAX_VALUE => Err(SecretError::TooLong),
            _ if value.iter().any(|byte| *byte < b' ' || *byte == 0x7f) => Err(SecretError::Control),
            _ => Ok(Self(value)),
        }
    }

    /// The value itself.
    pub(crate) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq for Secret {
    /// Compares in time that depends on the lengths only.
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(other.0.iter());
        self.0.len() == other.0.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The name of a secret: lower-case letters, digits, `-`, `_` and `.`, beginning with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretName(Box<str>);

impl SecretName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let holds = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        let first =
            text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if first && text.len() <= MAX_NAME && text.bytes().all(holds) {
            Ok(Self(text.into()))
        } else {
            Err(SecretError::Name)
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads the values of secrets, outside the jail.
pub trait SecretStore: Send + Sync {
    /// Returns the value of a secret. May block: a command may ask a person.
    fn load(&self, name: &SecretName, source: &SecretSource) -> Result<Secret, SecretError>;
}

/// Explains why a secret cannot be had. Never holds a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// A login for a proxy that is not `USER:PASSWORD`.
    #[error("the value is not USER:PASSWORD")]
    NotLogin,
    /// The name has another form.
    #[error(
        "the name of a secret has up to {MAX_NAME} lower-case letters, digits, `-`, `_` and `.`, and begins with a letter or digit"
    )]
    Name,
    /// The store does not hold it.
    #[error("the secret is not set; set it: ringfence secret set {0}")]
    NotSet(SecretName),
    /// No bytes.
    #[error("the value is empty")]
    Empty,
    /// A value that occurs in ordinary text cannot be scrubbed.
    #[error(
        "the value is shorter than {MIN_VALUE} bytes: it could not be told from ordinary text in a response"
    )]
    TooShort,
    /// More than any header holds.
    #[error("the value is longer than {MAX_VALUE} bytes")]
    TooLong,
    /// Line breaks would end a header.
    #[error("the value contains a line break or another control character")]
    Control,
    /// The variable is not there.
    #[error("the variable {0} is not set in the environment of ringfence")]
    Variable(Box<str>),
    /// The directory of the store is not known.
    #[error("cannot determine the directory of secrets: HOME and XDG_STATE_HOME are unset")]
    NoDirectory,
    /// Others could read or replace it.
    #[error("{path} must belong to you and be closed to others; repair it: chmod {mode} {path}", path = policy::Shown::path(path))]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// The mode that it should have.
        mode: &'static str,
    },
    /// A link, pipe or device.
    #[error("{} is not a regular file of its own", policy::Shown::path(.0))]
    NotAFile(PathBuf),
    /// The system refused.
    #[error("cannot access {}: {error}", policy::Shown::path(path))]
    Io {
        /// The file, directory or program.
        path: PathBuf,
        /// The answer of the system.
        error: io::Error,
    },
    /// No program of this name lies where the agent cannot write.
    #[error("{} is not found in a directory of PATH outside the workspace: name it by its absolute path", policy::Shown::text(.0))]
    NoProgram(Box<str>),
    /// The file is not there, or lies where the agent can write.
    #[error("{} is not a file outside the workspace", policy::Shown::path(.0))]
    NoFile(PathBuf),
    /// The command did not succeed. Its output is not repeated.
    #[error("the command {program} failed: {status}", program = policy::Shown::text(program))]
    CommandFailed {
        /// The program.
        program: Box<str>,
        /// Its end.
        status: std::process::ExitStatus,
    },
    /// The command took too long.
    #[error("the command {} did not finish in time", policy::Shown::text(.0))]
    CommandTimeout(Box<str>),
    /// No program was named.
    #[error("the command of the secret is empty")]
    NoCommand,
    /// The file is not JSON, or has no text there.
    #[error("{} has no text at {}", policy::Shown::path(path), policy::Shown::text(pointer))]
    Json {
        /// The file.
        path: PathBuf,
        /// The JSON pointer.
        pointer: Box<str>,
    },
    /// The kernel gave no random bytes.
    #[error("cannot get random bytes from the kernel: {0}")]
    Random(io::Error),
    /// A kind of source that this version does not know.
    #[error("this source of secrets is not supported")]
    Unsupported,
}

impl SecretError {
    fn io(path: impl Into<PathBuf>, error: impl Into<io::Error>) -> Self {
        Self::Io { path: path.into(), error: error.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "anthropic", "github.work", "0-9_x"] {
            assert_eq!(SecretName::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", ".a", "-a", "A", "a/b", "a b", "../a", "é", &"a".repeat(65)] {
            assert!(SecretName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values() {
        assert_eq!(Secret::new(b"12345678\r\n".to_vec()).unwrap().expose(), b"12345678");
        assert!(matches!(Secret::new(b"\n".to_vec()), Err(SecretError::Empty)));
        assert!(matches!(Secret::new(b"1234567".to_vec()), Err(SecretError::TooShort)));
        assert!(matches!(Secret::new(b"1234\r\n5678".to_vec()), Err(SecretError::Control)));
        assert!(matches!(Secret::new(vec![b'a'; MAX_VALUE + 1]), Err(SecretError::TooLong)));
        let secret = Secret::new(b"hunter2hunter2".to_vec()).unwrap();
        assert!(!format!("{secret:?} {:?}", Some(&secret)).contains("hunter2"));
        assert!(secret == secret.clone() && secret != Secret::new(b"hunter2hunter3".to_vec()).unwrap());
    }
}
