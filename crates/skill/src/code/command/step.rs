//! One program of a unit, with what it has to do with the others.

use std::ops::Range;

use policy::{Direction, KnownProgram, Program, Redirect, Word};

use super::{Commands, MAX_BACK};

/// One program among those of a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'c> {
    commands: &'c Commands,
    /// Its number among them.
    pub(crate) number: usize,
    pub(crate) program: &'c Program,
}

impl<'c> Step<'c> {
    pub(super) fn new(commands: &'c Commands, number: usize) -> Self {
        Self { commands, number, program: &commands.programs[number] }
    }

    /// The name of the program: without its directory, its version and its ending, lower case.
    pub(crate) fn name(self) -> String {
        let first = self.program.argv.words().first().map_or("", |word| word.text.as_str());
        let name = first.rsplit(['/', '\\']).next().unwrap_or(first).to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        KnownProgram::called(name).map_or(name, |program| program.name).to_owned()
    }

    /// The program as it is spelled.
    pub(crate) fn path(self) -> &'c str {
        self.program.argv.words().first().map_or("", |word| word.text.as_str())
    }

    /// Its words without the program.
    pub(crate) fn words(self) -> &'c [Word] {
        self.program.argv.words().get(1..).unwrap_or_default()
    }

    /// Its redirections.
    pub(crate) fn redirects(self) -> &'c [Redirect] {
        &self.program.redirects
    }

    /// Returns true if one of its words is this.
    pub(crate) fn has(self, word: &str) -> bool {
        self.words().iter().any(|other| other.text == word)
    }

    /// Returns true if a letter stands among its short options.
    pub(crate) fn has_short(self, letter: char) -> bool {
        self.words().iter().any(|word| {
            word.text.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
        })
    }

    /// Returns the value of an option, in the same word or the next.
    pub(crate) fn value(self, options: &[&str]) -> Option<&'c Word> {
        let words = self.words();
        let at = words.iter().position(|word| options.contains(&word.text.as_str()))?;
        words.get(at + 1)
    }

    /// Returns what a word names: its value, or the variable if its content is unknown.
    pub(crate) fn named(self, word: &'c Word) -> &'c str {
        if word.is_literal() || !word.text.is_empty() {
            &word.text
        } else {
            self.spelled(word).trim_matches(['"', '\''])
        }
    }

    /// Returns the spelling of a word in the text.
    pub(crate) fn spelled(self, word: &Word) -> &'c str {
        self.commands.text.get(word.span.start as usize..word.span.end as usize).unwrap_or_default()
    }

    /// All of it as it is spelled.
    pub(crate) fn line(self) -> &'c str {
        self.commands.text.get(self.range()).unwrap_or_default()
    }

    /// Returns its range in the text of the unit.
    pub(crate) fn range(self) -> Range<usize> {
        self.program.span.start as usize..self.program.span.end as usize
    }

    /// From the beginning of another to the end of this one.
    pub(crate) fn range_from(self, other: Step<'_>) -> Range<usize> {
        let (a, b) = (self.range(), other.range());
        a.start.min(b.start)..a.end.max(b.end)
    }

    /// Another program of the same unit.
    pub(crate) fn other(self, number: usize) -> Option<Self> {
        self.commands.step(number)
    }

    /// The files that it writes: by a redirection, or as `tee`, `cp` and their kin.
    pub(crate) fn writes(self) -> impl Iterator<Item = String> {
        let named = match self.name().as_str() {
            "tee" => self.words(),
            "cp" | "mv" | "install" | "ln" => self.words().last().map_or(&[][..], std::slice::from_ref),
            _ => &[],
        };
        let redirected = self.redirects().iter().filter(|redirect| redirect.direction == Direction::Write);
        let words = named.iter().filter(|word| !word.text.starts_with('-'));
        redirected.map(|redirect| &redirect.target).chain(words).map(move |word| {
            if word.is_literal() { word.text.clone() } else { self.spelled(word).replace(['"', '\''], "") }
        })
    }

    /// The programs whose output comes to it through pipes, the nearest first.
    pub(crate) fn feeders(self) -> impl Iterator<Item = Step<'c>> {
        let commands = self.commands;
        let mut at = self.number;
        std::iter::from_fn(move || {
            at = commands.from.get(at).copied().flatten()?;
            commands.step(at)
        })
    }

    /// The programs whose output stands in its words or comes as its input by a substitution.
    pub(crate) fn substituted(self) -> impl Iterator<Item = Step<'c>> {
        let commands = self.commands;
        let own = self.program.span;
        let earliest = self.number.saturating_sub(MAX_BACK);
        (earliest..self.number)
            .rev()
            .filter_map(move |number| commands.step(number))
            .filter(move |other| own.contains(other.program.span) && own != other.program.span)
    }

    /// Those that come to it in either way, also through the programs that do.
    pub(crate) fn sources(self) -> impl Iterator<Item = Step<'c>> {
        self.feeders()
            .flat_map(|step| std::iter::once(step).chain(step.substituted()))
            .chain(self.substituted())
    }
}
