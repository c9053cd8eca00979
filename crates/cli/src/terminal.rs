//! Where output goes and in which shape.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use policy::{Code, Effect};

/// The shape of what goes to standard output, as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For programs that collect findings; only where there are some.
    Sarif,
}

impl Shape {
    /// The shape of everything that is no list of findings.
    #[must_use]
    pub fn format(self) -> Format {
        if self == Self::Text { Format::Text } else { Format::Json }
    }
}

/// The shape of what goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        writeln!(self.out, "{}", plain_json(&serde_json::to_string_pretty(value)?))
    }

    /// Whether a failed write means that nobody reads any more, as in `ringfence audit show | head`.
    #[must_use]
    pub fn is_unread(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::BrokenPipe
    }

    /// What a warning begins with, in red for a person who looks at it.
    #[must_use]
    pub fn warning(&self, code: Code) -> String {
        let red = self.color && io::stderr().is_terminal();
        if red { format!("\x1b[1;31mwarning[{code}]\x1b[0m") } else { format!("warning[{code}]") }
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

/// JSON in which characters that mislead are spelled out. They can stand only in texts, where it means the same.
pub(crate) fn plain_json(json: &str) -> Cow<'_, str> {
    let misleads = |c: char| c != '\n' && policy::misleads(c);
    if !json.contains(misleads) {
        return json.into();
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if misleads(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.into()
}
