//! Where output goes and in which shape.

use std::io::{self, Write};

use policy::Effect;

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

    /// Whether a failed write means that nobody reads any more, as in `ringfence audit show | head`.
    #[must_use]
    pub fn is_unread(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::BrokenPipe
    }

    /// The word for an effect, in its colour.
    #[must_use]
    pub fn effect(&self, effect: Effect) -> String {
        let color = match effect {
            Effect::Allow => "32",
            Effect::Ask => "33",
            Effect::Deny => "31",
        };
        let word = effect.word();
        if self.color { format!("\x1b[1;{color}m{word}\x1b[0m") } else { word.to_owned() }
    }
}
