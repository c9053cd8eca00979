//! A bar on standard error while a long scan goes on. Only a person at a terminal sees it.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use policy::Shown;

/// Whatever takes less time shows no bar.
const PATIENCE: Duration = Duration::from_millis(600);

/// How long a bar stays as it is.
const PACE: Duration = Duration::from_millis(80);

const WIDTH: usize = 24;

/// How many characters of a name are shown.
const NAME: usize = 40;

/// How far a scan is.
pub(crate) struct Progress {
    all: usize,
    done: usize,
    last: PathBuf,
    /// When it was drawn, or when it began; nothing where nobody looks.
    since: Option<Instant>,
    drawn: bool,
}

impl Progress {
    pub(crate) fn new(all: usize) -> Self {
        let since = io::stderr().is_terminal().then(Instant::now);
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
        write!(err, "\r\x1b[K{}", bar(self.done, self.all, &self.last))?;
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

fn bar(done: usize, all: usize, last: &Path) -> String {
    let full = (done * WIDTH).checked_div(all).unwrap_or(WIDTH);
    let name: String = Shown::path(last).to_string().chars().take(NAME).collect();
    format!("[{}{}] {done}/{all} {name}", "#".repeat(full), " ".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_far_and_steers_no_terminal() {
        let drawn = bar(1, 4, Path::new("a\u{1b}[2Jb"));
        assert_eq!(drawn, r"[######                  ] 1/4 a\u{1b}[2Jb");
        assert_eq!(bar(0, 0, Path::new("")), format!("[{}] 0/0 ", "#".repeat(24)));
    }
}
