//! Names that a shell gives things: loops over files and values, functions.

use std::ops::Range;

use policy::Word;

use super::{Finder, range, variables_in};
use crate::code::fact::FactKind;
use crate::code::secret::{self, Secret, is_secret_variable};

/// Maximum number of loops and functions of one text that are looked at.
const MAX_NAMES: usize = 64;

/// Maximum number of bytes of the words of a loop, or of a function, that are looked at.
const MAX_LENGTH: usize = 4096;

impl Finder<'_> {
    /// A file as it is known, or as it is written where it is not.
    pub(super) fn named(&self, word: &Word) -> String {
        if !word.text.is_empty() {
            return word.text.clone();
        }
        let spelled = self.text.get(range(word.span.start, word.span.end)).unwrap_or_default();
        spelled.trim_matches('"').to_owned()
    }

    /// `for f in ~/.ssh/* "$TOKEN"; do`: the name holds what is secret among the words.
    pub(super) fn loops(&mut self) {
        let loops: Vec<(String, Range<usize>)> = loops(self.text);
        for (name, words) in loops {
            let mut held = Vec::new();
            for (word, at) in split(self.text, &words) {
                let place = at..at + word.len();
                let path = word.trim_matches(['"', '\'']);
                if let Some(store) = secret::of_path(path).or_else(|| secret::of_directory(path)) {
                    let secret = FactKind::ReadsSecret(Secret::File(store, path.to_owned()));
                    held.extend(self.reading.push(secret, place.clone()));
                }
            }
            for (variable, at) in variables_in(self.text, &words) {
                if is_secret_variable(variable) {
                    let secret = FactKind::ReadsSecret(Secret::Variable(variable.to_owned()));
                    held.extend(self.reading.push(secret, at..at + variable.len()));
                }
            }
            if !held.is_empty() {
                self.held.push((name, held));
            }
        }
    }

    /// Passes what a function fetches or decodes to its callers.
    pub(super) fn called(&mut self) {
        let functions = functions(self.text);
        for (name, body) in functions {
            let inside = |place: &Range<usize>| body.start <= place.start && place.end <= body.end;
            let brings = |number: &usize| {
                matches!(self.reading.facts[*number].what, FactKind::Fetches(_) | FactKind::Decodes)
            };
            let inner = self.programs.iter().filter(|doing| inside(&doing.span) && doing.writes.is_empty());
            let brought: Vec<FactKind> = inner
                .flat_map(|doing| doing.brings.iter().copied().filter(brings).collect::<Vec<_>>())
                .map(|number| self.reading.facts[number].what.clone())
                .take(4)
                .collect();
            let calls = if brought.is_empty() { Vec::new() } else { substituted(self.text, &name) };
            for place in calls.into_iter().filter(|place| !inside(place)) {
                let facts: Vec<usize> = brought
                    .iter()
                    .filter_map(|what| self.reading.push(what.clone(), place.clone()))
                    .collect();
                let around = |span: &Range<usize>| span.start <= place.start && place.end <= span.end;
                match self.programs.iter_mut().find(|doing| around(&doing.span)) {
                    Some(doing) => doing.brings.extend(facts),
                    None => self.held.extend(given_to(self.text, place.start).map(|name| (name, facts))),
                }
            }
        }
    }
}

/// Returns the places where the output of a function is used: `$(name …`.
fn substituted(text: &str, name: &str) -> Vec<Range<usize>> {
    let call = format!("$({name}");
    let found = memchr::memmem::find_iter(text.as_bytes(), call.as_bytes()).map(|at| at..at + call.len());
    let whole = |place: &Range<usize>| text.as_bytes().get(place.end).is_none_or(|byte| !is_name(*byte));
    found.filter(whole).take(MAX_NAMES).collect()
}

/// The variable that is given what begins at a place: `NAME="$(…`.
fn given_to(text: &str, at: usize) -> Option<String> {
    let before = text[..at].trim_end_matches('"').strip_suffix('=')?;
    let length = before.bytes().rev().take_while(|byte| is_name(*byte)).count();
    (length > 0).then(|| before[before.len() - length..].to_owned())
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The loops of a text: the name, and where the words stand.
fn loops(text: &str) -> Vec<(String, Range<usize>)> {
    let found = memchr::memmem::find_iter(text.as_bytes(), b"for ").filter_map(|at| {
        let begins = text[..at].bytes().next_back().is_none_or(|byte| b"\n;&|({ \t".contains(&byte));
        let rest = text[at + 4..].trim_start();
        let start = text.len() - rest.len();
        let length = rest.bytes().take_while(|byte| is_name(*byte)).count();
        let (name, rest) = rest.split_at(length);
        let words = rest.trim_start().strip_prefix("in ").filter(|_| begins && length > 0)?;
        let from = text.len() - words.len();
        let mut end = (from + MAX_LENGTH).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let words = &text[from..end];
        let ends = [words.find("; do"), words.find(";do"), words.find("\ndo")];
        let end = from + ends.into_iter().flatten().min()?;
        (start < end).then(|| (name.to_owned(), from..end))
    });
    found.take(MAX_NAMES).collect()
}

/// The words of a stretch, those in quotes in one piece, and where they stand.
fn split<'t>(text: &'t str, place: &Range<usize>) -> Vec<(&'t str, usize)> {
    let inside = &text[place.clone()];
    let mut words = Vec::new();
    let (mut start, mut quote) = (None, None);
    for (at, c) in inside.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                start = start.or(Some(at));
            }
            (None, c) if c.is_whitespace() || c == '\\' => {
                words.extend(start.take().map(|start| (&inside[start..at], place.start + start)));
            }
            _ => start = start.or(Some(at)),
        }
    }
    words.extend(start.map(|start| (&inside[start..], place.start + start)));
    words
}

/// The functions of a text: the name, and where the body stands.
fn functions(text: &str) -> Vec<(String, Range<usize>)> {
    let found = memchr::memmem::find_iter(text.as_bytes(), b"()").filter_map(|at| {
        let before = text[..at].trim_end_matches(' ');
        let length = before.bytes().rev().take_while(|byte| is_name(*byte) || *byte == b'-').count();
        let name = &before[before.len() - length..];
        let rest = text[at + 2..].trim_start();
        let from = text.len() - rest.len();
        if length == 0 || !rest.starts_with('{') {
            return None;
        }
        let mut cut = rest.len().min(MAX_LENGTH);
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        let rest = &rest[..cut];
        let line = rest.find('\n').unwrap_or(rest.len());
        // On one line, or to the brace at the beginning of a line.
        let end = rest[..line].rfind('}').or_else(|| rest.find("\n}"))?;
        Some((name.to_owned(), from..from + end))
    });
    found.take(MAX_NAMES).collect()
}
