//! Looking through programs that start other programs.
//!
//! One layer at a time: `env nice rm x` says `nice rm x`, and the caller looks again.
//! A word whose text is not known is never skipped: where it could decide what starts, a finding says so.

mod awk;
mod builders;
mod editors;
mod find;
mod git;
mod interpreters;
mod languages;
mod options;
mod packages;
mod prefix;
mod programs;
mod python;
mod remote;
mod scan;
mod sed;
mod shells;
mod split;
mod table;
#[cfg(test)]
mod tests;
mod words;

use policy::{Assignment, Certainty, Code, Finding, KnownProgram, Word};

use crate::Dialect;

/// Effects of a program with certain words besides its own work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// Programs that it would start, in order.
    pub(crate) starts: Vec<Start>,
    /// Variables that it sets for what it starts (`env A=1`).
    pub(crate) assignments: Vec<Assignment>,
    /// The directory that it changes to before (`env -C dir`, `sudo -D dir`).
    pub(crate) directory: Option<Word>,
    /// Files that its words make it write (`find -fprint file`).
    pub(crate) writes: Vec<Word>,
    /// Which of its words write or start something that it is not known for.
    pub(crate) hazards: Vec<u32>,
    /// Findings besides.
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
    ForeignStdin,
    /// The shell script in this file.
    Script { file: Word, dialect: Dialect },
}

/// Argument syntax of a tool.
enum Tool {
    /// It starts the command that follows its own options.
    Wrapper(prefix::Wrapper),
    /// Only some of its options start or write something.
    Options(&'static str),
    /// It has a way of its own.
    Own(fn(&[Word], &mut Launch)),
}

/// Looks through a program. `words` has at least one word, and the first is known.
pub(crate) fn inspect(words: &[Word]) -> Launch {
    let mut launch = Launch::default();
    let Some(tool) = words.first().and_then(|first| tool(&first.text)) else { return launch };
    match tool {
        Tool::Wrapper(wrapper) => wrapper.inspect(words, &mut launch),
        Tool::Options(spec) => programs::by_options(spec, words, &mut launch),
        Tool::Own(own) => own(words, &mut launch),
    }
    launch
}

/// The tool that a program's path names.
fn tool(path: &str) -> Option<Tool> {
    let name = base_name(path);
    named(name).or_else(|| {
        if name.starts_with("ld") { table::loader(name) } else { versioned(name) }.and_then(named)
    })
}

fn named(name: &str) -> Option<Tool> {
    KnownProgram::named(name).and_then(table::tool)
}

/// `python3.11` is `python`, `bash5` is `bash`.
fn versioned(name: &str) -> Option<&str> {
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    let plain = plain.strip_suffix('-').unwrap_or(plain);
    (plain.len() < name.len() && !plain.is_empty()).then_some(plain)
}

/// Returns the part behind the last slash.
fn base_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

impl Launch {
    /// A program would start with these words, if there are any.
    fn program(&mut self, words: Vec<Word>, alone: bool) {
        if !words.is_empty() {
            let alone = alone && self.hazards.is_empty();
            self.starts.push(Start::Program { words, alone });
        }
    }

    /// A word would be read as shell code.
    fn code(&mut self, code: Word) {
        self.starts.push(Start::Code { code, dialect: Dialect::Sh, arguments: Vec::new() });
    }

    /// Words would be joined and read as shell code.
    fn joined(&mut self, words: &[Word]) {
        if let Some(code) = words::joined(words) {
            self.code(code);
        }
    }

    /// This word writes or starts what the program is not known for.
    fn hazard(&mut self, at: usize) {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        if self.hazards.last() != Some(&at) {
            self.hazards.push(at);
        }
    }

    /// Adds a finding that the effect of this word is not known.
    fn unprovable(&mut self, word: &Word, text: impl Into<Box<str>>) {
        self.note(Finding::new(Code::Unprovable, word.span, text));
    }

    /// This word is code in another language, and it can start programs.
    fn own_code(&mut self, word: &Word, language: &str) {
        if word.certainty == Certainty::Unknown {
            return self.unprovable(word, format!("the {language} code is not known before it runs"));
        }
        let text = format!("this {language} code can start programs or evaluate text");
        self.note(Finding::new(Code::CodeOfItsOwn, word.span, text));
    }

    /// The same thing is told once; only the last few are compared, so that many stay cheap.
    fn note(&mut self, finding: Finding) {
        if !self.findings.iter().rev().take(4).any(|told| *told == finding) {
            self.findings.push(finding);
        }
    }
}
