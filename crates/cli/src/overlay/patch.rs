//! `ringfence apply --patch`: a person chooses, change by change and part by part.

use std::collections::{BTreeSet, VecDeque};

use ::overlay::{Change, Overlay, Parts};

use super::diff::Line;
use super::draw::{Drawing, LONGEST, is_file};
use super::hunks::{Hunk, Hunks};
use super::listing::Entry;
use super::{answer, failure, is_attended};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Chosen changes.
#[derive(Default)]
pub(crate) struct Chosen<'a> {
    pub(crate) changes: Vec<&'a Change>,
    /// The content of files of which only parts were chosen.
    pub(crate) parts: Parts,
}

/// An answer to the question about one part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// This and everything after it in the file.
    All,
    /// Neither this nor anything after it in the file.
    Done,
    /// Nothing more at all.
    Quit,
    Split,
}

/// Asks about each entry.
pub(crate) fn choose<'a>(
    overlay: &Overlay,
    entries: &[Entry<'a>],
    terminal: &mut Terminal<'_>,
) -> Result<Chosen<'a>, Failure> {
    if !is_attended() {
        return Err(Failure::usage("--patch asks about each change, and there is no terminal to ask at")
            .hint("name what you want instead: ringfence apply PATH…"));
    }
    let drawing = Drawing { overlay, stat: false, color: terminal.color };
    let mut chosen = Chosen::default();
    for (at, entry) in entries.iter().enumerate() {
        let mut asking =
            Asking { drawing: &drawing, entry, number: (at + 1, entries.len()), chosen: &mut chosen };
        if !asking.entry(terminal)? {
            break;
        }
    }
    Ok(chosen)
}

/// The questions about one entry.
struct Asking<'a, 'b> {
    drawing: &'b Drawing<'b>,
    entry: &'b Entry<'a>,
    number: (usize, usize),
    chosen: &'b mut Chosen<'a>,
}

impl<'a> Asking<'a, '_> {
    /// Says whether the next entry is to be asked about.
    fn entry(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, Failure> {
        if let Entry::Change(change) = self.entry
            && is_file(change.before.as_ref())
            && is_file(change.after.as_ref())
            && change.content
        {
            let contents = self.drawing.overlay.contents(change, LONGEST).map_err(|error| failure(&error))?;
            if let [Some(before), Some(after)] = &contents
                && let Some(hunks) = Hunks::of(before, after)
            {
                return self.parts(change, &hunks, terminal);
            }
        }
        write!(terminal.out, "{}", self.drawing.entry(self.entry)?)?;
        let question = format!("({}/{}) Apply this", self.number.0, self.number.1);
        match ask(&question, "y,n,q,?", terminal)? {
            Answer::Yes | Answer::All => self.chosen.changes.extend(self.entry.changes()),
            Answer::No | Answer::Done | Answer::Split => {}
            Answer::Quit => return Ok(false),
        }
        Ok(true)
    }

    /// A text file, part by part.
    fn parts(
        &mut self,
        change: &'a Change,
        hunks: &Hunks<'_>,
        terminal: &mut Terminal<'_>,
    ) -> Result<bool, Failure> {
        let heading = Drawing { stat: true, ..*self.drawing }.entry(self.entry)?;
        write!(terminal.out, "{heading}")?;
        let mut left: VecDeque<Hunk> = hunks.all().into();
        let (mut taken, mut quit) = (BTreeSet::new(), false);
        while let Some(hunk) = left.pop_front() {
            let lines: Vec<_> =
                hunks.lines(&hunk).iter().map(|line: &Line| self.drawing.line(line)).collect();
            writeln!(terminal.out, "{}", lines.join("\n"))?;
            let splits = hunk.len() > 1;
            let question = format!("({}/{}) Apply this hunk", self.number.0, self.number.1);
            match ask(&question, if splits { "y,n,q,a,d,s,?" } else { "y,n,q,a,d,?" }, terminal)? {
                Answer::Yes => taken.extend(hunk),
                Answer::No => {}
                Answer::All => {
                    taken.extend(hunk);
                    taken.extend(left.drain(..).flatten());
                }
                Answer::Done => left.clear(),
                Answer::Quit => {
                    quit = true;
                    left.clear();
                }
                Answer::Split if splits => hunk.rev().for_each(|unit| left.push_front(unit..unit + 1)),
                Answer::Split => left.push_front(hunk),
            }
        }
        if taken.len() == hunks.count() {
            self.chosen.changes.push(change);
        } else if !taken.is_empty() {
            self.chosen.changes.push(change);
            self.chosen.parts.insert((change.view, change.path.clone()), hunks.merged(&taken));
        }
        Ok(!quit)
    }
}

/// Asks until there is an answer. The end of the input is one: nothing more.
fn ask(question: &str, keys: &str, terminal: &mut Terminal<'_>) -> Result<Answer, Failure> {
    loop {
        let Some(typed) = answer(&format!("{question} [{keys}]?"), terminal)? else {
            writeln!(terminal.err)?;
            return Ok(Answer::Quit);
        };
        let offered = |key: &str| keys.split(',').any(|offered| offered == key);
        match typed.trim() {
            "y" => return Ok(Answer::Yes),
            "n" => return Ok(Answer::No),
            "q" => return Ok(Answer::Quit),
            "a" if offered("a") => return Ok(Answer::All),
            "d" if offered("d") => return Ok(Answer::Done),
            "s" if offered("s") => return Ok(Answer::Split),
            _ => {
                let offered = HELP.iter().filter(|(key, _)| offered(key));
                for (key, meaning) in offered {
                    writeln!(terminal.err, "{key} - {meaning}")?;
                }
            }
        }
    }
}

const HELP: &[(&str, &str)] = &[
    ("y", "apply this"),
    ("n", "leave this in the overlay"),
    ("q", "quit; leave this and everything after it, and apply what was chosen before"),
    ("a", "apply this and everything after it in the file"),
    ("d", "leave this and everything after it in the file"),
    ("s", "split this into smaller parts"),
    ("?", "print this"),
];
