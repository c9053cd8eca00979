//! A bar on standard error while a long scan goes on. Only a person at a terminal sees it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use policy::Shown;
use unicode_width::UnicodeWidthChar as _;

use crate::surroundings;

/// A scan that takes less time shows no bar.
const PATIENCE: Duration = Duration::from_millis(600);

/// Minimum time between two redraws of a bar.
const PACE: Duration = Duration::from_millis(80);

const WIDTH: usize = 24;

/// Maximum number of columns of a name.
const NAME: usize = 40;

/// Progress of a scan. The bar is one line that ends where the window does, and the cursor stays as it is: whenever the command is
/// ended, nothing has to be put in order.
pub(crate) struct Progress {
    all: usize,
    done: usize,
    last: PathBuf,
    /// Time of the last draw, or of the start; `None` if no terminal shows it.
    since: Option<Instant>,
    drawn: bool,
}

impl Progress {
    pub(crate) fn new(all: usize) -> Self {
        let since = surroundings::is_watched().then(Instant::now);
        Self { all, done: 0, last: PathBuf::new(), since, drawn: false }
    }

    /// One more is done.
    pub(crate) fn step(&mut self, last: &Path, err: &mut dyn Write) -> io::Result<()> {
        self.done += 1;
        last.clone_into(&mut self.last);
        self.draw(err)
    }

    /// Draws the bar, if it is time for one.
    pub(crate) fn draw(&mut self, err: &mut dyn Write) -> io::Result<()> {
        let wait = if self.drawn { PACE } else { PATIENCE };
        if self.since.is_none_or(|since| since.elapsed() < wait) {
            return Ok(());
        }
        (self.since, self.drawn) = (Some(Instant::now()), true);
        let room = surroundings::columns(io::stderr()).saturating_sub(1);
        write!(err, "\r\x1b[K{}", bar(self.done, self.all, &self.last, room))?;
        err.flush()
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self, err: &mut dyn Write) -> io::Result<()> {
        if !self.drawn {
            return Ok(());
        }
        write!(err, "\r\x1b[K")?;
        err.flush()
    }
}

/// A bar that takes no more columns than there are: one that goes on in the next line could not be taken away.
fn bar(done: usize, all: usize, last: &Path, room: usize) -> String {
    let full = (done * WIDTH).checked_div(all).unwrap_or(WIDTH);
    let name = Shown::path(last).to_string();
    let name = fitting(&name, NAME);
    let whole = format!("[{}{}] {done}/{all} {name}", "#".repeat(full), " ".repeat(WIDTH - full));
    fitting(&whole, room).trim_end().to_owned()
}

/// As much of the beginning as takes some columns.
fn fitting(text: &str, columns: usize) -> &str {
    let mut left = columns;
    let cut = text.char_indices().find(|(_, c)| {
        let rest = left.checked_sub(c.width().unwrap_or(0));
        left = rest.unwrap_or(0);
        rest.is_none()
    });
    cut.map_or(text, |(at, _)| text.get(..at).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_far_and_steers_no_terminal() {
        let rows = [
            (1, 4, "a\u{1b}[2Jb", 99, r"[######                  ] 1/4 a\u{1b}[2Jb"),
            (0, 0, "", 99, "[########################] 0/0"),
            (4, 4, "日本", 33, "[########################] 4/4 日"),
            (4, 4, "日本", 34, "[########################] 4/4 日"),
            (4, 4, "日本", 35, "[########################] 4/4 日本"),
            (4, 4, "abc", 9, "[########"),
            (4, 4, "abc", 0, ""),
        ];
        for (done, all, name, room, expected) in rows {
            assert_eq!(bar(done, all, Path::new(name), room), expected, "{done}/{all} {name} {room}");
        }
    }

    #[test]
    fn a_bar_is_drawn_late_and_taken_away() {
        let drawn = |since: Option<Instant>| {
            let mut err = Vec::new();
            let mut progress = Progress { all: 2, done: 0, last: PathBuf::new(), since, drawn: false };
            progress.draw(&mut err).unwrap();
            progress.step(Path::new("a"), &mut err).unwrap();
            progress.clear(&mut err).unwrap();
            String::from_utf8(err).unwrap()
        };
        let long_ago = Instant::now().checked_sub(PATIENCE).unwrap();
        let shown = drawn(Some(long_ago));
        assert!(shown.starts_with("\r\x1b[K[  ") && shown.ends_with("\r\x1b[K"), "{shown:?}");
        assert_eq!(drawn(None), "", "nobody looks");
        assert_eq!(drawn(Instant::now().checked_add(PATIENCE)), "", "it is over at once");
    }
}
