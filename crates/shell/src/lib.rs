//! A command line -> the programs it would start, and findings.
//!
//! **Invariant.** Nothing here opens a file, reads the environment or starts anything: everything is passed in.
//! **Invariant.** Reading never fails and never panics. What cannot be read is a finding, and uncertain.
//! **Invariant.** Time and memory are linear in the text; nesting and the number of nodes have limits that fail to deny.

mod ansi;
mod character;
mod dialect;
mod judge;
mod parse;
mod print;
mod read;
pub mod tree;
mod wrappers;

pub use dialect::Dialect;
pub use parse::{ParseError, Problem, parse, parse_prefix};
pub use print::print;
pub use read::{read, read_words};

/// Facts about the directory and the environment in which a command line would run.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The shells that could run it. A line is read as each of them would, and everything found counts.
    pub dialects: &'a [Dialect],
    /// The directory it starts in.
    pub cwd: Option<&'a str>,
    /// The home directory.
    pub home: Option<&'a str>,
    /// Content of its standard input, as far as it is known.
    pub stdin: Option<&'a [u8]>,
}
