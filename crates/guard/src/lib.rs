//! A path -> an open file, without a race.
//!
//! A path is looked up by handle, without creating, truncating or blocking ([`Guard::judge`]); the name of what was found is judged by the
//! chain; a person is asked where the policy wants it; it is recorded; and what is granted holds the handle that was judged.
//!
//! **Invariant.** The object that is used is the object that was judged. Where its name is looked up again, what comes of
//! it counts only if it is that object.
//! **Invariant.** Without an answer the access is denied, and so is one whose question is withdrawn.
//! **Invariant.** No record, no access. [`Guard::can_access`] neither asks nor records, and grants nothing.
//!
//! **Absent on purpose.** There is no way to make a grant but by asking a guard, and no setting that permits by being left out.

mod ask;
mod attributes;
mod beside;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod both_ways;
mod change;
mod config;
mod detail;
mod directory;
mod fold;
mod grant;
mod guard;
mod handle;
mod record;
mod refusal;
mod resolve;
mod session;
mod shared;
mod stage;
mod steps;
mod sys;
mod trouble;
mod undo;

pub use ask::{Abort, Answer, Approver, Question, Refuse, Unanswered, Wake};
pub use change::{Removable, Writable};
pub use config::{BadPattern, Config, Jail, PathRules};
pub use detail::Detail;
pub use directory::{Directory, Entries, Entry, EntryKind, EntryMetadata, ListedFile, ReadableObject};
pub use grant::{ObjectId, Permit, ReadableFile, Version};
pub use guard::{Access, Grant, Guard, Judgement, PolicyChangeError};
pub use refusal::{Denied, Failed, Refusal, Violation};
pub use session::{Guards, Parts, Snapshot, Subscription};
pub use stage::StagedFile;
pub use trouble::Trouble;
pub use undo::Undo;
