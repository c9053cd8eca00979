//! Here-documents: the text stands after the line that asks for it.

use std::sync::{Arc, OnceLock};

use super::word::Stop;
use super::{Parsed, Parser};
use crate::Dialect;
use crate::tree::{At, Heredoc, Part, PartKind, Word};

/// A here-document whose text has not been read.
pub(super) struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    body: Arc<OnceLock<Heredoc>>,
}

impl Pending {
    /// Creates the here-document for this word, as it is spelled.
    pub(super) fn new(raw: &str, strip_tabs: bool) -> Self {
        let (delimiter, quoted) = unquoted(raw);
        Self { delimiter, quoted, strip_tabs, body: Arc::new(OnceLock::new()) }
    }

    /// Returns the cell that will hold the text.
    pub(super) fn body(&self) -> Arc<OnceLock<Heredoc>> {
        Arc::clone(&self.body)
    }

    /// Returns the delimiter as a word: nothing in it is expanded.
    pub(super) fn word(&self, at: At) -> Word {
        let text = self.delimiter.clone();
        let kind = if self.quoted { PartKind::Single(text) } else { PartKind::Text(text) };
        Word { parts: vec![Part { kind, at }], at }
    }
}

/// The delimiter without its quotes, and whether it had any.
fn unquoted(raw: &str) -> (String, bool) {
    let mut out = String::with_capacity(raw.len());
    let mut quoted = false;
    let (mut single, mut double) = (false, false);
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' if !double => (single, quoted) = (!single, true),
            '"' if !single => (double, quoted) = (!double, true),
            '$' if !single && !double && chars.peek() == Some(&'\'') => {
                quoted = true;
                out.push_str(&ansi(&mut chars));
            }
            '$' if !single && !double && chars.peek() == Some(&'"') => {}
            '\\' if !single => match chars.next() {
                Some('\n') | None => {}
                Some(next) if double && !matches!(next, '$' | '`' | '"' | '\\') => {
                    quoted = true;
                    out.extend(['\\', next]);
                }
                Some(next) => {
                    quoted = true;
                    out.push(next);
                }
            },
            c => out.push(c),
        }
    }
    (out, quoted)
}

/// `'…'` after a dollar, decoded.
fn ansi(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut raw = String::new();
    chars.next();
    while let Some(c) = chars.next() {
        match c {
            '\'' => break,
            '\\' => raw.extend(std::iter::once('\\').chain(chars.next())),
            c => raw.push(c),
        }
    }
    crate::ansi::decode(&raw).unwrap_or(raw)
}

impl Parser<'_> {
    /// Reads the texts that the line before asked for.
    pub(super) fn read_heredocs(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            self.heredocs += 1;
            self.read_heredoc(&pending)?;
        }
        Ok(())
    }

    /// The text ended before these were read.
    pub(super) fn abandon_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            self.fill(&pending, self.pos, Vec::new(), false);
        }
    }

    fn read_heredoc(&mut self, pending: &Pending) -> Parsed<()> {
        if !pending.quoted && self.is(Dialect::Sh) {
            return self.read_piecewise(pending);
        }
        let start = self.pos;
        let (body_end, after) = self.heredoc_end(pending);
        let parts = if pending.quoted {
            let text = self.slice(start, body_end).to_owned();
            let kind = PartKind::Single(text);
            vec![Part { kind, at: At(self.span(start, body_end)) }]
        } else {
            let (depth, parts) = (self.depth, self.within(body_end, |it| it.parts(Stop::End, true)));
            self.depth = depth;
            self.later(parts)?
        };
        self.pos = body_end;
        self.fill(pending, start, parts, after > body_end);
        self.pos = after;
        Ok(())
    }

    /// dash looks for the end only where no substitution is open.
    fn read_piecewise(&mut self, pending: &Pending) -> Parsed<()> {
        let start = self.pos;
        self.delimiters.push((pending.delimiter.clone(), pending.strip_tabs));
        let parts = self.parts(Stop::Body, true);
        self.delimiters.pop();
        let ended = self.pos < self.end;
        self.fill(pending, start, parts?, ended);
        self.pos = self.pos + physical_line(self.slice(self.pos, self.end)).1;
        Ok(())
    }

    /// Returns true if the line that begins here ends the here-document that is being read.
    pub(super) fn at_delimiter(&self) -> bool {
        let Some((delimiter, strip_tabs)) = self.delimiters.last() else { return false };
        let (line, _) = physical_line(self.slice(self.pos, self.end));
        let line = if *strip_tabs { line.trim_start_matches('\t') } else { line };
        line == delimiter
    }

    fn fill(&self, pending: &Pending, start: usize, parts: Vec<Part>, ended: bool) {
        let (delimiter, at) = (pending.delimiter.clone(), At(self.span(start, self.pos)));
        // Each is filled once: it leaves the pending ones before.
        drop(pending.body.set(Heredoc { delimiter, quoted: pending.quoted, ended, parts, at }));
    }

    /// Returns the end of the text, and the position after the line that ends it.
    fn heredoc_end(&self, pending: &Pending) -> (usize, usize) {
        let mut line = self.pos;
        while line < self.end {
            let (text, next) = self.logical_line(line, !pending.quoted);
            let text = if pending.strip_tabs { text.trim_start_matches('\t') } else { &*text };
            if text == pending.delimiter {
                return (line, next);
            }
            line = next;
        }
        (self.end, self.end)
    }

    /// A line without its end, and where the next one begins. Continued lines are joined where the shell joins them.
    fn logical_line(&self, start: usize, joins: bool) -> (std::borrow::Cow<'_, str>, usize) {
        let rest = self.slice(start, self.end);
        let (first, mut next) = physical_line(rest);
        if !joins || !is_continued(first) {
            return (first.into(), start + next);
        }
        let mut joined = String::new();
        let mut line = first;
        while is_continued(line) && next < rest.len() {
            joined.push_str(line.get(..line.len() - 1).unwrap_or_default());
            let (following, length) = physical_line(rest.get(next..).unwrap_or_default());
            line = following;
            next += length;
        }
        joined.push_str(line);
        (joined.into(), start + next)
    }

    /// Reads a piece of the text on its own.
    pub(super) fn within<T>(&mut self, end: usize, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.end, end);
        let read = read(self);
        self.end = outer;
        read
    }
}

fn physical_line(text: &str) -> (&str, usize) {
    text.find('\n').map_or((text, text.len()), |at| (text.get(..at).unwrap_or_default(), at + 1))
}

/// Returns true if an odd number of backslashes ends the line.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}
