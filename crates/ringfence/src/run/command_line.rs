//! A command line, the programs that it would start, and the decision about it; the same for `check` and `run`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use config::Settings;
use policy::{
    Arguments, Certainty, Decision, Execution, Invocation, Program, Request, Span, ToolName, Trace, Want,
    Word,
};
use shell::Dialect;

/// A command line.
#[derive(Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// Text for a shell.
    Text(Vec<u8>),
    /// Words that no shell reads first, and the text that they make with one blank between them. Spans of the words are spans of
    /// that text.
    Words(Vec<Word>, Vec<u8>),
}

impl CommandLine {
    /// Creates a command line from words. They are never joined into a line that would have to be parsed again.
    #[must_use]
    pub fn words(command: &[OsString]) -> Self {
        let mut text = Vec::new();
        let mut words = Vec::new();
        for word in command {
            let start = if words.is_empty() { 0 } else { text.len() + 1 };
            text.resize(start, b' ');
            text.extend_from_slice(word.as_bytes());
            words.push(Word { span: span(start, text.len()), ..known(word) });
        }
        Self::Words(words, text)
    }

    /// Returns the text that spans of programs and findings refer to.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        match self {
            Self::Text(text) | Self::Words(_, text) => text,
        }
    }

    /// Reads the programs that it would start.
    #[must_use]
    pub fn read(&self, around: &shell::Surroundings<'_>) -> Invocation {
        match self {
            Self::Text(text) => shell::read(text, around),
            Self::Words(words, _) => shell::read_words(words, around),
        }
    }
}

/// Quotes words as a person would type them, so that the ledger shows and redacts each word.
#[must_use]
pub fn quote(words: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-^~".contains(c);
    let quote = |word: &OsString| {
        let text = word.to_string_lossy();
        if !text.is_empty() && text.chars().all(plain) {
            return text.into_owned();
        }
        format!("'{}'", text.replace('\'', "'\\''"))
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Converts a word; one that is not valid UTF-8 is unknown.
fn known(word: &OsStr) -> Word {
    let certainty = if word.to_str().is_some() { Certainty::Literal } else { Certainty::Unknown };
    Word { certainty, ..Word::literal(word.to_string_lossy()) }
}

fn span(start: usize, end: usize) -> Span {
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(byte(start), byte(end))
}

/// Describes the place of a command for the shell reader.
#[must_use]
pub fn surroundings<'a>(
    dialects: &'a [Dialect],
    cwd: &'a Path,
    home: Option<&'a Path>,
    stdin: Option<&'a [u8]>,
) -> shell::Surroundings<'a> {
    shell::Surroundings { dialects, cwd: cwd.to_str(), home: home.and_then(Path::to_str), stdin }
}

/// Decides about a command.
pub fn decide(settings: &Settings, line: &CommandLine, invocation: &Invocation) -> Decision {
    asked(line, invocation, |request| settings.decide(request))
}

/// Decides about a command, and returns the answer of every link.
#[must_use]
pub fn explain(settings: &Settings, line: &CommandLine, invocation: &Invocation) -> Trace {
    asked(line, invocation, |request| settings.explain(request))
}

/// A command is what the tool `exec` would be called with.
fn asked<T>(line: &CommandLine, invocation: &Invocation, ask: impl FnOnce(&Request<'_>) -> T) -> T {
    let arguments = Arguments::command(String::from_utf8_lossy(line.text()));
    let want = Want::Exec(Execution { invocation, arguments: &arguments });
    ask(&Request { tool: &ToolName::exec(), want })
}

/// Returns the span of the finding or the program that a decision rests on; none for a line with one program only.
#[must_use]
pub fn locate(
    settings: &Settings,
    line: &CommandLine,
    invocation: &Invocation,
    decision: &Decision,
) -> Option<Span> {
    let reason = decision.reason();
    let found =
        invocation.findings.iter().find(|found| found.code == reason.code && *found.text == *reason.text);
    let alone = |program: &&Program| {
        let invocation = Invocation { programs: vec![(*program).clone()], findings: Vec::new() };
        decide(settings, line, &invocation).reason() == reason
    };
    let programs = invocation.programs.iter().filter(|_| invocation.programs.len() > 1);
    found.map(|found| found.span).or_else(|| programs.into_iter().find(alone).map(|program| program.span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn words_are_quoted_where_they_have_to_be() {
        let rows = [
            (&["git", "push"][..], "git push"),
            (&["mysql", "-pSE CRET"], "mysql '-pSE CRET'"),
            (&["sh", "-c", "echo $x"], "sh -c 'echo $x'"),
            (&["echo", "", "it's", "a*"], r"echo '' 'it'\''s' 'a*'"),
        ];
        for (words, expected) in rows {
            assert_eq!(quote(&words.iter().map(OsString::from).collect::<Vec<_>>()), expected);
        }
    }

    #[test]
    fn words_are_taken_as_they_are_and_know_their_places() {
        let command = [b"git".to_vec(), b"push now".to_vec(), b"a\xff".to_vec(), Vec::new(), b"z".to_vec()];
        let line = CommandLine::words(&command.map(OsString::from_vec));
        let CommandLine::Words(words, text) = &line else { panic!("{line:?}") };
        assert_eq!(text, b"git push now a\xff  z");
        let places: Vec<_> = words.iter().map(|word| (word.span.start, word.span.end)).collect();
        assert_eq!(places, [(0, 3), (4, 12), (13, 15), (16, 16), (17, 18)]);
        let known: Vec<_> = words.iter().map(Word::is_literal).collect();
        assert_eq!(known, [true, true, false, true, true]);
    }
}
