//! The history of a git repository, read without git and without trust in its files.
//!
//! A command in a jail owns the object store of its repository and may write anything there. What a commit, a tree or a blob says is
//! taken from any place where it lies, and holds only because its hash is its name: from the name of a commit that was trusted before the
//! command started, the names of its trees, its files and its ancestors follow, regardless of the rest. An object that is
//! missing, damaged or something else is as if it were not there; it can take an answer away, and cannot make one.
//!
//! Everything that is read is limited: sizes, depths, numbers and time. Files are opened by handle, through no link, and never mapped.

mod cache;
mod changes;
mod delta;
mod directory;
mod file;
mod history;
mod id;
#[cfg(feature = "objects")]
mod inflate;
#[cfg(not(feature = "objects"))]
#[path = "no_inflate.rs"]
mod inflate;
mod new_commits;
mod object;
mod pack;
mod packs;
mod parsers;
mod path_history;
mod refs;
mod store;
mod walk;

pub use directory::{Directory, Look, Moment, raw};
pub use history::{Answer, History};
pub use id::{ObjectFormat, ObjectId, ObjectIdError};
pub use new_commits::{NewCommit, NewCommits};
pub use object::{Commit, LARGEST, Object, ObjectKind, TreeEntry, entries, tagged};
pub use pack::{Index, Pack};
#[doc(hidden)]
pub use parsers::read_as_git_objects;
pub use refs::{References, head, tips};
pub use store::Decoder;
