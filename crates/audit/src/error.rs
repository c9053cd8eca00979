//! Why something could not be recorded, and what is wrong with a ledger.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use policy::{Code, Shown};

/// Reason why an event was not recorded. The action that it is about must not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file could not be opened, locked, read or written.
    #[error("cannot {step} the ledger {}", Shown::path(.path))]
    Unwritable {
        /// Step that failed.
        step: &'static str,
        /// The ledger.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file or its directory is not ours alone.
    #[error("the ledger {} is not trusted: {why}", Shown::path(.path))]
    Untrusted {
        /// The file or directory.
        path: PathBuf,
        /// Reason for the refusal.
        why: &'static str,
    },
    /// The content of the file is not a ledger that could be continued.
    #[error(transparent)]
    Broken(#[from] Damage),
}

impl AuditError {
    /// The code of the cause.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unwritable { .. } => Code::LedgerUnwritable,
            Self::Untrusted { .. } => Code::LedgerUntrusted,
            Self::Broken(damage) => damage.code,
        }
    }
}

/// The first place where a ledger is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The file.
    pub segment: PathBuf,
    /// The line in that file, counted from 1; 0 if the file as a whole is meant.
    pub line: u64,
    /// The number of the first record concerned.
    pub seq: u64,
    /// Code of the damage.
    pub code: Code,
    /// Description of the damage, in a sentence.
    pub sentence: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Shown::path(&self.segment))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.sentence)
    }
}

impl std::error::Error for Damage {}

/// Why a ledger could not be found in order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It could not be read at all.
    #[error("cannot read the ledger {}", Shown::path(.path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// It was read, and is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

impl VerifyError {
    /// The code of what is wrong.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unreadable { .. } => Code::LedgerUnreadable,
            Self::Damaged(damage) => damage.code,
        }
    }

    pub(crate) fn unreadable(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Unreadable { path: path.to_owned(), source: source.into() }
    }
}
