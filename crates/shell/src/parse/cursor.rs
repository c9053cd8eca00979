//! Moving through the text. A backslash before a line end disappears for all readers.

use super::{Parsed, Parser, Problem};
use crate::Dialect;
use policy::misleads;

impl<'a> Parser<'a> {
    /// The next byte, after continued lines.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.pos = self.joined(self.pos);
        self.byte(self.pos)
    }

    /// The byte after the next one.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.byte(self.joined(self.pos + 1))
    }

    /// The byte at a place, unless reading stops before it.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    /// The first place from here that is not a continued line.
    pub(super) fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The character here, without joining lines.
    pub(super) fn char(&self) -> Option<char> {
        self.text.get(self.pos..self.end)?.chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.pos += 1;
        Some(byte)
    }

    /// Goes past a byte if it is the next one.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    /// Goes past some bytes if they come next, with continued lines between them.
    pub(super) fn eat_all(&mut self, bytes: &[u8]) -> bool {
        let mut at = self.pos;
        for &byte in bytes {
            at = self.joined(at);
            if self.byte(at) != Some(byte) {
                return false;
            }
            at += 1;
        }
        self.pos = at;
        true
    }

    pub(super) fn expect(&mut self, byte: u8, name: &'static str) -> Parsed<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.error_here(Problem::Missing(name))) }
    }

    /// The text from one place to another.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Goes past blanks and a comment. Line ends stay.
    pub(super) fn skip_blanks(&mut self) {
        let mut blank = self.at_token_start();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => {
                    self.pos += 1;
                    blank = true;
                }
                b'#' if blank => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// Returns true if a `#` here would begin a comment: what stands before it ends a word.
    fn at_token_start(&self) -> bool {
        let Some(before) = self.pos.checked_sub(1).and_then(|at| self.text.as_bytes().get(at)) else {
            return true;
        };
        match before {
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`' => true,
            // In zsh these end an operator or stand alone.
            b'{' | b'!' => self.is(Dialect::Zsh),
            _ => false,
        }
    }

    fn skip_comment(&mut self) {
        while let Some(c) = self.char().filter(|&c| c != '\n') {
            self.note(c);
            self.pos += c.len_utf8();
        }
    }

    /// Goes past blanks, comments and line ends; texts of here-documents are read on the way.
    pub(super) fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    /// Goes past a line end, which is here, and reads the here-documents of the line.
    pub(super) fn line_end(&mut self) -> Parsed<()> {
        self.pos += 1;
        self.read_heredocs()
    }

    /// Notes a character outside quotes that misleads a reader of the line.
    pub(super) fn note(&mut self, c: char) {
        if (misleads(c) || is_odd_blank(c)) && !matches!(c, '\t' | '\n') && self.misleading.len() < 100 {
            let span = self.span(self.pos, self.pos + c.len_utf8());
            self.misleading.push((span, c));
        }
    }
}

/// Blanks that no shell takes for one.
pub(crate) fn is_odd_blank(c: char) -> bool {
    !c.is_ascii() && c.is_whitespace()
}
