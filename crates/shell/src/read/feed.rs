//! Content of standard input during the walk.

use policy::{Code, Direction, Redirect, Span, Word};

use super::Reader;
use crate::Dialect;

/// Content of a standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Feed {
    /// Inherited from the caller: a terminal, nothing.
    Outside,
    /// A text that is known.
    Text(String),
    /// A file by name.
    File(Word),
    /// Output of another program; its text, if that is known.
    Pipe(Option<String>),
    /// Something that is not known.
    Unknown,
}

impl Feed {
    pub(super) fn outside(stdin: Option<&[u8]>) -> Self {
        match stdin.map(std::str::from_utf8) {
            None => Self::Outside,
            Some(Ok(text)) => Self::Text(text.to_owned()),
            Some(Err(_)) => Self::Unknown,
        }
    }

    /// Returns the input of a command with these redirections.
    pub(super) fn with(&self, redirects: &[Redirect]) -> Self {
        let mut all = redirects.iter().rev().filter(|redirect| redirect.descriptor == Some(0));
        let own = all.next();
        if all.next().is_some() {
            // zsh reads them one after the other, others the last alone.
            return Self::Unknown;
        }
        match own {
            None => self.clone(),
            Some(Redirect { direction: Direction::Text, target, .. }) if target.is_literal() => {
                Self::Text(target.text.clone())
            }
            Some(Redirect { direction: Direction::Read | Direction::Both, target, .. })
                if target.is_literal() =>
            {
                Self::File(target.clone())
            }
            Some(Redirect { target, .. }) if target.text.starts_with("/dev/fd/") => Self::Pipe(None),
            Some(_) => Self::Unknown,
        }
    }
}

impl Reader<'_> {
    /// A shell would read its commands from its standard input.
    pub(super) fn code_from_stdin(&mut self, feed: &Feed, dialect: Dialect, span: Span) {
        match feed {
            Feed::Outside => {}
            Feed::File(file) => self.script(file, dialect),
            Feed::Text(text) => {
                self.note(Code::Evaluation, span, "the shell runs the text that it is given to read");
                self.in_subshell(|it| {
                    it.feed = Feed::Outside;
                    it.state_mut().doubt();
                    it.code(text, dialect.readers(), span);
                });
            }
            Feed::Pipe(text) => self.piped_code(text.as_deref(), dialect, span),
            Feed::Unknown => self.unprovable(span, "the shell runs a text that is not known"),
        }
    }

    fn piped_code(&mut self, text: Option<&str>, dialect: Dialect, span: Span) {
        let remedy = "write the output to a file, look at it, and run the file";
        let what = "the shell runs whatever the pipe brings";
        self.add(policy::Finding::new(Code::PipeTarget, span, what).remedy(remedy));
        match text {
            Some(text) => self.in_subshell(|it| {
                it.feed = Feed::Outside;
                it.state_mut().doubt();
                it.code(text, dialect.readers(), span);
            }),
            None => self.unprovable(span, "what the pipe brings is known only at run time"),
        }
    }

    /// An interpreter of another language would read its program from its standard input. The text of it, if known.
    pub(super) fn foreign_from_stdin(&mut self, feed: &Feed, span: Span) -> Option<String> {
        match feed {
            Feed::Outside | Feed::File(_) => None,
            Feed::Text(text) => Some(text.clone()),
            Feed::Pipe(text) => {
                let remedy = "write the program to a file, look at it, and run the file";
                let what = "the interpreter runs whatever the pipe brings";
                self.add(policy::Finding::new(Code::PipeTarget, span, what).remedy(remedy));
                text.clone()
            }
            Feed::Unknown => {
                self.unprovable(span, "the interpreter runs a text that is not known");
                None
            }
        }
    }
}

/// Returns the output of a program with these words, if that is plain: `echo` and `printf` of known words.
pub(super) fn output(words: &[Word]) -> Option<String> {
    let (program, rest) = words.split_first()?;
    if !rest.iter().all(Word::is_literal) {
        return None;
    }
    let texts: Vec<_> = rest.iter().map(|word| word.text.as_str()).collect();
    match (program.text.as_str(), &*texts) {
        // The effect of a backslash or an option depends on the shell.
        ("echo", rest) if !rest.iter().any(|text| text.contains('\\') || text.starts_with('-')) => {
            Some(rest.join(" "))
        }
        ("printf", [format, rest @ ..]) => printf(format, rest),
        _ => None,
    }
}

fn printf(format: &str, arguments: &[&str]) -> Option<String> {
    if format.contains('%') {
        let plain = matches!(format, "%s" | "%s\\n" | "%s\n" | "%b" | "%b\\n");
        return plain.then(|| arguments.join("\n"));
    }
    crate::ansi::decode(format)
}
