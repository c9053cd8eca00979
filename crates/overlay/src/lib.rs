//! Changes of a command, kept apart from the directory it worked in until a person has reviewed them.
//!
//! A [`Store`] has overlays, an [`Overlay`] has one directory of changes for each view, in the form that the kernel writes:
//! what was added or changed lies at its path, a mark stands for what was removed. [`Overlay::changes`] holds it against the real
//! directory, [`Overlay::apply`] makes it real, [`Overlay::discard`] removes it. [`Overlay::repositories`]
//! reports changes to git repositories, [`Overlay::renames`] reports moved files.
//!
//! **Invariant.** The content of an overlay was put there by an untrusted command. Directories are entered by handle,
//! one name at a time; no link is followed, no device or pipe is opened, and set-user-ID bits are
//! never applied.
//!
//! **Invariant.** A repository is read here and not by git, which would execute and trust what the command
//! wrote. Data that cannot be read requires the agreement of a person.
//!
//! **Invariant.** Looking changes nothing. Applying is repeatable: what was applied equals what is there, and is no change
//! any more, so an interrupted command starts over.
//!
//! **Absent on purpose.** Extended attributes and owners are not applied. Nothing is merged: what was changed on both sides is
//! told, and a person chooses.

mod apply;
mod change;
mod compare;
mod error;
mod git;
mod homes;
mod manifest;
mod marks;
mod protection;
mod remove;
mod renames;
mod side;
mod store;
mod tidy;
mod walk;

pub use apply::{ApplyReport, Parts, UnappliedChange};
pub use change::{Change, Kind, Node, Verb};
pub use error::OverlayError;
pub use git::{Commit, GitChanges, Head, RefChange, Touched};
pub use homes::{Home, Homes};
pub use manifest::{Manifest, Moment, State, View};
pub use renames::Rename;
pub use store::{ChangeDirectory, Lock, Overlay, OverlayChoice, Store};
