//! Looking through programs that start other programs.

use policy::{Assignment, Finding, Word};

use crate::Dialect;

/// What a program with certain words does besides its own work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// What it would start, in order.
    pub(crate) starts: Vec<Start>,
    /// Variables that it sets for what it starts (`env A=1`).
    pub(crate) assignments: Vec<Assignment>,
    /// The directory that it changes to before (`env -C dir`, `sudo -D dir`).
    pub(crate) directory: Option<Word>,
    /// Which of its words write or start something that it is not known for.
    pub(crate) hazards: Vec<u32>,
    /// What is worth judging besides.
    pub(crate) findings: Vec<Finding>,
}

/// One thing that a program starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A program with these words. `alone`: the wrapper does nothing but start it.
    Program { words: Vec<Word>, alone: bool },
    /// Shell code in a word, with the words that become `$0`, `$1` and so on.
    Code { code: Word, dialect: Dialect, arguments: Vec<Word> },
    /// Shell code from its standard input.
    Stdin(Dialect),
    /// Code in another language from its standard input.
    ForeignStdin { program: Word },
    /// The shell script in this file.
    Script { file: Word, dialect: Dialect },
}

/// Looks through a program. `words` has at least one word, and the first is known.
pub(crate) fn look(_words: &[Word]) -> Look {
    Look::default()
}

/// The option by which an interpreter takes its program from a word.
pub(crate) fn code_option(_program: &str) -> Option<&'static str> {
    None
}
