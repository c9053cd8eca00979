//! Where output goes and in which shape.

use std::io::{self, Write};

/// The shape of what goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs: one versioned JSON document, or one a line for streams.
    Json,
}

/// Data goes to `out`, everything else to `err`.
pub struct Terminal<'a> {
    /// Standard output: data.
    pub out: &'a mut dyn Write,
    /// Standard error: everything else.
    pub err: &'a mut dyn Write,
    /// The shape of the data.
    pub format: Format,
    /// Whether `out` may be coloured.
    pub color: bool,
}

impl Terminal<'_> {
    /// Writes one JSON document and a line break.
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *self.out, value)?;
        writeln!(self.out)
    }
}
