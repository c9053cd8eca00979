//! Reading just enough of a foreign language: names, and strings behind them.

use policy::Word;

use super::Launch;
use super::words::{anything, unknown, with_text};

/// A name in a text, with the byte where it begins.
pub(super) type Name<'a> = (usize, &'a str);

/// Every name of a text, also those in strings and comments: hiding one there must not help.
pub(super) fn names(text: &str) -> impl Iterator<Item = Name<'_>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let rest = text.get(next..)?;
        let start = next + rest.find(is_name)?;
        let rest = text.get(start..)?;
        let length = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
        next = start + length;
        Some((start, rest.get(..length)?))
    })
}

/// Returns true if a character can stand in a name.
pub(super) fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// Returns true if a name stands somewhere with a bracket behind it.
pub(super) fn calls(text: &str, name: &str) -> bool {
    names(text).any(|(at, found)| found == name && behind(text, at + found.len()).starts_with('('))
}

/// The text from a byte on, without blanks.
pub(super) fn behind(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default().trim_start()
}

/// The strings that a call is given, as far as they are plain.
pub(super) struct Call {
    strings: Vec<String>,
    /// True if the strings are a list of words, and not code for a shell.
    list: bool,
    /// True if nothing else is joined to them.
    whole: bool,
}

/// Reads what stands behind the name of a call: `("a")`, `(["a", "b"])`, `"a"`.
pub(super) fn call(text: &str) -> Option<Call> {
    let mut rest = text.trim_start();
    rest = rest.strip_prefix('(').unwrap_or(rest).trim_start();
    let inside = rest.strip_prefix('[');
    rest = inside.unwrap_or(rest).trim_start();
    let mut call = Call { strings: Vec::new(), list: inside.is_some(), whole: true };
    while let Some((string, behind)) = string(rest) {
        call.strings.push(string);
        rest = behind.trim_start();
        let Some(next) = rest.strip_prefix(',') else { break };
        rest = next.trim_start();
    }
    call.whole = rest.is_empty()
        || rest.starts_with([')', ']', ';', '\n', '}'])
        || !call.list && call.strings.len() == 1 && is_option(rest);
    (!call.strings.is_empty()).then_some(call)
}

/// Returns true for text that may follow code without being a part of it: `shell=True`, an object with settings, a condition.
fn is_option(rest: &str) -> bool {
    let (name, _) = rest.split_at(rest.find(|char| !is_name(char)).unwrap_or(rest.len()));
    rest.starts_with('{')
        || (!name.is_empty()
            && rest.get(name.len()..).is_some_and(|behind| behind.trim_start().starts_with('=')))
        || matches!(name, "if" | "unless" | "and" | "or")
}

/// A quoted string at the beginning of a text, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|char| matches!(char, '\'' | '"'))?;
    let mut decoded = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            _ if char == quote => return Some((decoded, text.get(at + 1..)?)),
            '\\' => decoded.push(escaped(chars.next()?.1)?),
            _ => decoded.push(char),
        }
    }
    None
}

/// The escapes that mean the same everywhere; `None` for those with numbers.
fn escaped(char: char) -> Option<char> {
    match char {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'x' | 'u' | 'U' | 'N' | '0'..='9' => None,
        _ => Some(char),
    }
}

impl Call {
    /// Adds the programs that the call would start.
    pub(super) fn start(self, word: &Word, launch: &mut Launch) {
        let make = |text: String| if self.whole { with_text(word, text) } else { unknown(word, text) };
        let mut words: Vec<_> = self.strings.into_iter().map(|text| with_text(word, text)).collect();
        if !self.list && words.len() == 1 {
            let code = words.remove(0);
            return launch.code(make(code.text));
        }
        if !self.whole {
            words.push(anything(word));
        }
        launch.program(words, false);
    }
}
