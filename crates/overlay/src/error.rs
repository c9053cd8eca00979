//! Errors of overlays.

use std::path::{Path, PathBuf};

use policy::{Code, Shown};
use rustix::io::Errno;

/// Why something cannot be done with an overlay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OverlayError {
    /// Another process uses it.
    #[error("the overlay {0} is in use")]
    Busy(String),
    /// There is none of this name.
    #[error("there is no overlay {}", Shown::text(.0))]
    Unknown(String),
    /// More than one could be meant.
    #[error("more than one overlay begins with {}", Shown::text(.0))]
    Ambiguous(String),
    /// It is not what we wrote.
    #[error("the overlay {id} is damaged: {why}")]
    Damaged {
        /// Which.
        id: String,
        /// Description of the mistake.
        why: String,
    },
    /// The directory that it belongs to is another one.
    #[error("{} was moved or replaced", Shown::path(.0))]
    Moved(PathBuf),
    /// The file system cannot hold it.
    #[error("{} is on a file system that has no extended attributes", Shown::path(.0))]
    NoMarks(PathBuf),
    /// There are more entries than are looked through.
    #[error("there are more than {0} changes")]
    TooMany(usize),
    /// A call failed.
    #[error("{what} {}", Shown::path(.path))]
    System {
        /// Operation that failed.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// The answer of the kernel.
        #[source]
        errno: Errno,
    },
}

impl OverlayError {
    /// The code of the manual page, where there is one.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::Busy(_) => Some(Code::OverlayBusy),
            Self::Damaged { .. } | Self::Moved(_) | Self::NoMarks(_) | Self::TooMany(_) => {
                Some(Code::OverlayUnusable)
            }
            Self::Unknown(_) | Self::Ambiguous(_) | Self::System { .. } => None,
        }
    }
}

/// Names what could not be done with what.
pub(crate) trait At<T> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, OverlayError>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, what: &'static str, path: &Path) -> Result<T, OverlayError> {
        self.map_err(|errno| OverlayError::System { what, path: path.to_owned(), errno })
    }
}
