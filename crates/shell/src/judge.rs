//! Findings on the programs that a line would start.
//!
//! Nothing here knows the mode: a finding says what is there, and the policy says what follows from it.

mod assign;
mod change;
mod disk;
mod git;
mod name;
mod network;
mod options;
mod paths;
mod place;
mod power;
mod programs;
mod remove;
mod secret;
#[cfg(test)]
mod tests;
mod variables;
mod zsh;

use policy::{Argv, Assignment, Certainty, Code, Finding, Program, Word};

pub(crate) use assign::judge_assignment;

use crate::Surroundings;
use options::{Grammar, Parts, Piece};
use place::{Place, View};
use programs::Role;

/// Judges one program on its own.
pub(crate) fn judge(program: &Program, around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let Some((first, words)) = program.argv.words().split_first() else { return };
    let name = base(&first.text);
    let role = programs::role(name);
    let view = View { cwd: program.cwd.as_deref(), home: around.home };
    let mut trial = Trial { name, role, first, words, program, view, found };
    trial.raised();
    trial.assigned();
    trial.by_role();
    if around.dialects.contains(&crate::Dialect::Zsh) {
        zsh::judge(&mut trial);
    }
    secret::words(&mut trial);
    for redirect in &program.redirects {
        secret::redirect(&mut trial, redirect);
        change::redirect(&mut trial, redirect);
    }
}

/// The name of a program without its directory.
fn base(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// The longest part of a word that a sentence quotes.
const MAX_SHOWN: usize = 60;

/// A text, cut where a sentence would become too long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// One program, and what was found about it so far.
struct Trial<'a> {
    name: &'a str,
    role: Role,
    first: &'a Word,
    /// Its words without the program.
    words: &'a [Word],
    program: &'a Program,
    view: View<'a>,
    found: &'a mut Vec<Finding>,
}

impl<'a> Trial<'a> {
    fn by_role(&mut self) {
        match self.role {
            Role::Remove => remove::remove(self),
            Role::Shred => remove::shred(self),
            Role::Rights => remove::rights(self),
            Role::Move => remove::relocate(self),
            Role::Mirror => remove::mirror(self),
            Role::Find => remove::find(self),
            Role::Copy => change::copy(self),
            Role::Write => change::write(self),
            Role::MakeDirectory => change::make_directory(self),
            Role::EditStream => change::edit_stream(self),
            Role::EditCode => change::edit_code(self),
            Role::Blocks => change::blocks(self),
            Role::Archive => change::unpack(self),
            Role::Clock => change::clock(self),
            Role::Git => git::judge(self),
            Role::Format | Role::Partition | Role::DiskVerb | Role::DiskOption => disk::judge(self),
            Role::Power | Role::Level | Role::Service => power::stop(self),
            Role::Kill | Role::KillAll => power::kill(self),
            Role::Send | Role::Transfer => network::judge(self),
            Role::Assign => self.assigning_words(),
            Role::Other
            | Role::Names
            | Role::Raise
            | Role::Fields
            | Role::Zsh
            | Role::History
            | Role::Print => {}
        }
    }

    fn raised(&mut self) {
        let raises = |word: &&Word| programs::role(base(&word.text)) == Role::Raise;
        let through =
            self.program.through.iter().filter_map(|argv: &Argv| argv.words().first()).filter(raises);
        for word in through.chain((self.role == Role::Raise).then_some(self.first)) {
            let text = format!("`{}` runs a program with the rights of somebody else", base(&word.text));
            let remedy = "run the program without it; if it needs more rights, ask the person to run it";
            self.report(Code::RaisedRights, word, text, remedy);
        }
    }

    fn assigned(&mut self) {
        let global = self.role != Role::Fields;
        for assignment in &self.program.assignments {
            judge_assignment(assignment, global, self.found);
        }
    }

    /// `export A=1` and its kin set variables in words.
    fn assigning_words(&mut self) {
        for word in self.words {
            let Some((name, value)) = word.text.split_once('=') else { continue };
            let value = Word { text: value.to_owned(), ..word.clone() };
            judge_assignment(&Assignment { name: name.to_owned(), value }, true, self.found);
        }
    }

    fn parts(&self, shorts: &'static str, longs: &'static [&'static str]) -> Parts<'a> {
        Parts::new(self.words, Grammar { shorts, longs })
    }

    fn place(&self, piece: Piece<'_>) -> Place {
        self.view.place(piece)
    }

    fn report(&mut self, code: Code, word: &Word, text: String, remedy: &str) {
        self.found.push(Finding::new(code, word.span, text).remedy(remedy));
    }
}

/// Returns true if the value of a word is known apart from where the home directory is.
fn is_known(piece: Piece<'_>) -> bool {
    piece.word.certainty != Certainty::Unknown
        || piece.text.starts_with('~')
        || piece.text.starts_with("$HOME")
}
