//! Git repositories, read without git: the layout of one, its history, the record of commits, and the state that an unfinished
//! operation leaves for the host's git.
//!
//! A command in a jail owns its repository. Everything here reads files that an untrusted program wrote.

pub(crate) mod commit_record;
pub(crate) mod repository;
pub(crate) mod state;
