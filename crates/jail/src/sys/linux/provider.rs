//! The providers: three ways to make a jail, and what is the same for all of them (`hold`).
//!
//! `native` makes namespaces itself, `bubblewrap` has `bwrap` make them, and `landlock` does without namespaces.

mod bubblewrap;
pub(crate) mod hold;
mod landlock;
pub(crate) mod native;
pub(crate) mod process_tree;
mod scratch;
