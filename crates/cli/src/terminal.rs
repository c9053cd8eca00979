//! Output streams and formats.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

use policy::{Code, Effect};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

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
    /// True if `out` may be coloured.
    pub color: bool,
}

impl Terminal<'_> {
    /// Writes one JSON document and a line break.
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        writeln!(self.out, "{}", plain_json(&serde_json::to_string_pretty(value)?))
    }

    /// Returns true if a failed write means that the reader has gone, as in `ringfence audit show | head`.
    #[must_use]
    pub fn is_unread(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::BrokenPipe
    }

    /// Returns the prefix of a warning, in red on a terminal.
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

/// Standard error of `run`. Once the command has run, its exit code is the answer: what is not taken in a moment is given up, and
/// so is everything after it. A terminal is waited for, because a person may have stopped it.
pub(crate) struct BoundedErrors<'a> {
    err: &'a mut dyn Write,
    has_run: &'a Cell<bool>,
    /// Deadline for a blocked standard error.
    end: Option<Instant>,
    given_up: bool,
}

impl<'a> BoundedErrors<'a> {
    pub(crate) fn new(err: &'a mut dyn Write, has_run: &'a Cell<bool>) -> Self {
        Self { err, has_run, end: None, given_up: false }
    }

    /// Waits until standard error takes something. What cannot be asked is tried.
    fn is_ready(&mut self) -> bool {
        let stderr = io::stderr();
        if stderr.is_terminal() {
            return true;
        }
        let end = *self.end.get_or_insert_with(|| Instant::now() + PATIENCE);
        let left = Timespec::try_from(end.saturating_duration_since(Instant::now())).ok();
        let asked = retry_on_intr(|| poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], left.as_ref()));
        asked.is_err() || asked.is_ok_and(|ready| ready > 0)
    }
}

impl Write for BoundedErrors<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.has_run.get() {
            return self.err.write(bytes);
        }
        self.given_up = self.given_up || !self.is_ready();
        if self.given_up {
            return Ok(bytes.len());
        }
        // A pipe that takes something takes so much.
        match self.err.write(&bytes[..bytes.len().min(PIPE_BUF)]) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.given_up = true;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.given_up { Ok(()) } else { self.err.flush() }
    }
}

/// Time that a reader of standard error gets to take the last words.
const PATIENCE: Duration = Duration::from_secs(1);
const PIPE_BUF: usize = 4096;

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
