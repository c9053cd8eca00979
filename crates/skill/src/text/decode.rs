//! Decodes the encoded parts of a text: runs of base64 and hex alone, everything else in its place.

mod escape;
mod join;
mod number;
mod run;
mod shell;

use std::ops::Range;

use crate::text::language::Language;
use crate::text::map::Map;

pub(crate) use run::bytes_of;
pub(crate) use shell::{MADE, is_hidden_name};

/// Maximum depth of something encoded in something encoded.
pub(crate) const MAX_DEPTH: usize = 3;

/// Maximum number of stretches of one text that are replaced.
const MAX_REPLACED: usize = 200_000;

/// A text that was made readable.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) map: Map,
    /// Encoding that it was written in: in words that fit behind "decoded from".
    pub(crate) from: &'static str,
    /// Language of the decoded text, if that is not the one of the text around it.
    pub(crate) language: Option<Language>,
}

/// Remaining budget for decoding. What is left out is never left out silently.
#[derive(Debug)]
pub(crate) struct Budget {
    texts: usize,
    bytes: usize,
    pub(crate) reached: bool,
}

impl Budget {
    /// The budget for a file of so many bytes.
    pub(crate) fn of(length: usize) -> Self {
        Self { texts: 1_000, bytes: length.saturating_mul(8).saturating_add(1 << 20), reached: false }
    }

    /// Takes a text out of the budget.
    fn take(&mut self, bytes: usize) -> bool {
        if self.texts == 0 || self.bytes < bytes {
            self.reached = true;
            return false;
        }
        self.texts -= 1;
        self.bytes -= bytes;
        true
    }
}

/// Everything that is encoded in a text, one step deep.
pub(crate) fn decoded(text: &str, language: Language, budget: &mut Budget) -> Vec<Decoded> {
    let mut found = run::decoded(text, budget);
    found.extend(number::decoded(text, budget));
    let mut replaced = escape::replacements(text);
    replaced.extend(join::replacements(text, language));
    found.extend(rewritten(text, replaced, budget));
    found.extend(rewritten(text, shell::replacements(text, language), budget));
    found
}

/// A stretch, and what it says.
#[derive(Debug)]
struct Replacement {
    range: Range<usize>,
    text: String,
    from: &'static str,
}

/// The text with everything in its place that was written in another way.
fn rewritten(text: &str, mut replaced: Vec<Replacement>, budget: &mut Budget) -> Option<Decoded> {
    let from = replaced.first()?.from;
    if replaced.len() > MAX_REPLACED {
        budget.reached = true;
        replaced.truncate(MAX_REPLACED);
    }
    if !budget.take(text.len()) {
        return None;
    }
    replaced.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let (mut made, mut map, mut at) = (String::with_capacity(text.len()), Map::default(), 0);
    for one in replaced {
        if one.range.start < at {
            continue;
        }
        let between = text.get(at..one.range.start)?;
        map.copied(made.len(), at..one.range.start);
        made.push_str(between);
        if !one.text.is_empty() {
            map.made(made.len(), one.range.clone());
            made.push_str(&one.text);
        }
        at = one.range.end;
    }
    map.copied(made.len(), at..text.len());
    made.push_str(text.get(at..)?);
    Some(Decoded { text: made, map, from, language: None })
}

/// Guesses the language of a text without a declared one.
fn guessed(text: &str) -> Language {
    let head = text.trim_start();
    let begins = |words: &[&str]| words.iter().any(|word| head.starts_with(word));
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if begins(&["import ", "from ", "exec(", "def "]) && !has(&["curl ", "wget "]) {
        Language::Python
    } else if begins(&["const ", "var ", "let ", "require(", "(function", "eval("]) {
        Language::JavaScript
    } else if has(&["IEX", "iex ", "Invoke-", "New-Object", "powershell", "-ExecutionPolicy"]) {
        Language::PowerShell
    } else if has(COMMANDS) {
        Language::Shell
    } else {
        Language::Markdown
    }
}

/// Typical parts of commands.
const COMMANDS: &[&str] = &[
    "curl",
    "wget",
    "/bin/",
    "bash",
    "| sh",
    "|sh",
    "$(",
    "&&",
    "chmod ",
    "sudo ",
    "nc -",
    "/dev/tcp",
    "rm -",
    "export ",
    "cat ~",
    "python -c",
    "python3 -c",
    "2>",
    "osascript",
    "eval ",
];

#[cfg(test)]
mod tests;
