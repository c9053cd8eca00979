//! Words and what is in quotes.

use super::{Parsed, Parser, Problem};
use crate::Dialect;
use crate::tree::{At, Part, PartKind, Word};

/// End of a row of pieces. It stays unread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A blank or an operator.
    Word,
    /// `"`
    Quote,
    /// `}`
    Brace,
    /// `))`
    Arith,
    /// `]`
    Bracket,
    /// `)`
    Group,
    /// A blank outside parentheses.
    Regex,
    /// Nothing but the end.
    End,
    /// The line that ends a here-document.
    Body,
}

/// A row of pieces while it is read.
struct Row {
    stop: Stop,
    /// True between double quotes, or in a place with the same rules.
    double: bool,
    parts: Vec<Part>,
    text: String,
    text_start: usize,
    /// Brackets or parentheses that are open inside.
    nested: u32,
    /// Braces that are open inside.
    braces: u32,
}

impl Row {
    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.text.is_empty()
    }
}

impl<'a> Parser<'a> {
    /// A word, if one begins here.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        self.peek();
        let start = self.pos;
        let parts = self.parts(Stop::Word, false)?;
        let at = At(self.span(start, self.pos));
        Ok((self.pos > start && !parts.is_empty()).then_some(Word { parts, at }))
    }

    /// Pieces up to what ends them.
    pub(super) fn parts(&mut self, stop: Stop, double: bool) -> Parsed<Vec<Part>> {
        self.node()?;
        let (parts, text) = (Vec::new(), String::new());
        let mut row = Row { stop, double, parts, text, text_start: self.pos, nested: 0, braces: 0 };
        while let Some(byte) = self.peek() {
            if self.stops(byte, &mut row) {
                self.flush(&mut row);
                return Ok(row.parts);
            }
            self.piece(byte, &mut row)?;
        }
        self.flush(&mut row);
        match stop {
            Stop::Word | Stop::End | Stop::Body | Stop::Regex => Ok(row.parts),
            Stop::Quote => Err(self.error_here(Problem::Open("\""))),
            Stop::Brace => Err(self.error_here(Problem::Open("${"))),
            Stop::Arith => Err(self.error_here(Problem::Open("(("))),
            Stop::Bracket => Err(self.error_here(Problem::Open("["))),
            Stop::Group => Err(self.error_here(Problem::Open("("))),
        }
    }

    /// Returns true if a byte ends the row.
    fn stops(&mut self, byte: u8, row: &mut Row) -> bool {
        match row.stop {
            Stop::Word => self.stops_word(byte, row),
            Stop::Quote => byte == b'"',
            Stop::Brace => byte == b'}' && row.braces == 0,
            Stop::Arith => byte == b')' && row.nested == 0,
            Stop::Bracket => byte == b']' && row.nested == 0,
            Stop::Group => byte == b')',
            Stop::Regex => row.nested == 0 && matches!(byte, b' ' | b'\t' | b'\n' | b')'),
            Stop::End => false,
            Stop::Body => (row.text.ends_with('\n') || row.is_empty()) && self.at_delimiter(),
        }
    }

    fn stops_word(&mut self, byte: u8, row: &Row) -> bool {
        match byte {
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => true,
            b'<' | b'>' => !self.at_process(byte),
            b'(' => !self.at_group(row),
            b'}' => self.is(Dialect::Zsh) && row.braces == 0 && !self.in_test,
            _ => false,
        }
    }

    /// `<(` and `>(`, where the shell knows them; and zsh's `<5-7>`, which is text.
    fn at_process(&mut self, byte: u8) -> bool {
        if self.is(Dialect::Sh) {
            return false;
        }
        self.peek_second() == Some(b'(') || (byte == b'<' && self.is(Dialect::Zsh) && self.at_number_range())
    }

    /// `<`, digits, `-`, digits, `>`
    pub(super) fn at_number_range(&self) -> bool {
        let digits = |mut at: usize| {
            while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
                at += 1;
            }
            at
        };
        let dash = digits(self.pos + 1);
        self.byte(dash) == Some(b'-') && self.byte(digits(dash + 1)) == Some(b'>')
    }

    /// Returns true if a parenthesis here belongs to the word: a pattern with alternatives or qualifiers, or `=(…)`.
    fn at_group(&mut self, row: &Row) -> bool {
        match self.dialect {
            Dialect::Sh => false,
            Dialect::Bash => row.text.ends_with(['?', '*', '+', '@', '!']),
            Dialect::Zsh => !(self.at_function_parens() || self.in_test && row.is_empty()),
        }
    }

    /// Reads one piece.
    fn piece(&mut self, byte: u8, row: &mut Row) -> Parsed<()> {
        let start = self.pos;
        let kind = match byte {
            b'\\' => {
                self.node()?;
                self.escape(row);
                return Ok(());
            }
            b'\'' if !row.double => self.single()?,
            b'\'' if row.stop == Stop::Brace && self.is(Dialect::Bash) => return self.paired(row),
            b'"' if !matches!(row.stop, Stop::End | Stop::Body) => self.double()?,
            b'`' => self.backtick(row.double)?,
            b'$' => match self.dollar(row.double, row.stop)? {
                Some(kind) => kind,
                None => return self.one_char(row),
            },
            b'<' | b'>' if !row.double && row.stop != Stop::Regex && self.at_process(byte) => {
                match self.process(byte)? {
                    Some(kind) => kind,
                    None => return self.number_range(row),
                }
            }
            b'=' if row.is_empty() && self.at_equals_process(row) => match self.process(byte)? {
                Some(kind) => kind,
                None => return self.one_char(row),
            },
            b'(' if !row.double && matches!(row.stop, Stop::Word | Stop::Group) => self.group_part()?,
            b'(' if !row.double && row.stop == Stop::Brace && self.is(Dialect::Zsh) => {
                match self.group_attempt()? {
                    Some(kind) => kind,
                    None => return self.plain(byte, row),
                }
            }
            // zsh: what ends a word cannot stand in its parentheses.
            b';' | b'&' | b'<' | b'>' if row.stop == Stop::Group && self.is(Dialect::Zsh) && !row.double => {
                return Err(self.error_here(Problem::Unexpected));
            }
            _ => return self.plain(byte, row),
        };
        self.node()?;
        self.push(row, kind, start);
        Ok(())
    }

    fn at_equals_process(&mut self, row: &Row) -> bool {
        let word = row.stop == Stop::Word || (row.stop == Stop::Brace && !row.double);
        self.is(Dialect::Zsh) && word && self.peek_second() == Some(b'(')
    }

    fn push(&mut self, row: &mut Row, kind: PartKind, start: usize) {
        let end = std::mem::replace(&mut self.pos, start);
        self.flush(row);
        self.pos = end;
        row.parts.push(Part { kind, at: At(self.span(start, end)) });
        row.text_start = end;
    }

    /// Ends a run of plain text, which goes up to here.
    fn flush(&mut self, row: &mut Row) {
        if !row.text.is_empty() {
            let kind = PartKind::Text(std::mem::take(&mut row.text));
            row.parts.push(Part { kind, at: At(self.span(row.text_start, self.pos)) });
        }
        row.text_start = self.pos;
    }

    /// Plain text, as much as there is.
    fn plain(&mut self, byte: u8, row: &mut Row) -> Parsed<()> {
        match (byte, row.stop) {
            (b'(', Stop::Arith | Stop::Regex) | (b'[', Stop::Bracket) => row.nested += 1,
            (b')', Stop::Arith | Stop::Regex) | (b']', Stop::Bracket) => {
                row.nested = row.nested.saturating_sub(1);
            }
            (b'{', Stop::Word) => row.braces += 1,
            (b'{', Stop::Brace) if self.is(Dialect::Zsh) => row.braces += 1,
            (b'}', _) => row.braces = row.braces.saturating_sub(1),
            _ => {}
        }
        if row.nested > super::MAX_DEPTH {
            return Err(self.error_here(Problem::TooDeep));
        }
        if !is_plain(byte) {
            return self.one_char(row);
        }
        let start = self.pos;
        while self.byte(self.pos).is_some_and(is_plain) {
            self.pos += 1;
        }
        row.text.push_str(self.slice(start, self.pos));
        Ok(())
    }

    /// One character of plain text.
    fn one_char(&mut self, row: &mut Row) -> Parsed<()> {
        let Some(c) = self.char() else { return Err(self.error_here(Problem::Unexpected)) };
        if !row.double {
            self.note(c);
        }
        self.pos += c.len_utf8();
        row.text.push(c);
        Ok(())
    }

    /// zsh's `<5-7>`
    fn number_range(&mut self, row: &mut Row) -> Parsed<()> {
        while self.byte(self.pos) != Some(b'>') {
            self.one_char(row)?;
        }
        self.one_char(row)
    }

    /// A backslash and what it takes the meaning of.
    fn escape(&mut self, row: &mut Row) {
        let start = self.pos;
        let Some(next) = self.text.get(start + 1..self.end).and_then(|rest| rest.chars().next()) else {
            // At the end of the text zsh drops it.
            self.pos += 1;
            if !self.is(Dialect::Zsh) {
                row.text.push('\\');
            }
            return;
        };
        let meant = !row.double
            || matches!(next, '$' | '`' | '\\')
            || (next == '"' && !matches!(row.stop, Stop::End | Stop::Body))
            || (next == '}' && row.stop == Stop::Brace);
        if !meant {
            self.pos += 1;
            row.text.push('\\');
            // bash: a single quote behind a backslash has no partner.
            if next == '\'' && row.stop == Stop::Brace && self.is(Dialect::Bash) {
                self.pos += 1;
                row.text.push(next);
            }
            return;
        }
        if !row.double {
            self.pos += 1;
            self.note(next);
            self.pos = start;
        }
        self.pos = start + 1 + next.len_utf8();
        self.push(row, PartKind::Escaped(next), start);
    }

    /// `'…'`
    fn single(&mut self) -> Parsed<PartKind> {
        let (text, after) = self.until_quote(self.pos + 1)?;
        self.pos = after;
        Ok(PartKind::Single(text.to_owned()))
    }

    /// The text up to the next single quote, and what follows it.
    fn until_quote(&self, start: usize) -> Parsed<(&'a str, usize)> {
        let rest = self.slice(start, self.end);
        let length = rest.find('\'').ok_or_else(|| self.error(Problem::Open("'"), start - 1, start))?;
        Ok((rest.get(..length).unwrap_or_default(), start + length + 1))
    }

    /// bash: a single quote in `"${…}"` takes no meaning away but that of the closing brace.
    fn paired(&mut self, row: &mut Row) -> Parsed<()> {
        let (_, after) = self.until_quote(self.pos + 1)?;
        self.one_char(row)?;
        self.flush(row);
        let parts = self.within(after - 1, |it| it.deeper(|it| it.parts(Stop::End, true)))?;
        row.parts.extend(parts);
        row.text_start = self.pos;
        self.one_char(row)
    }

    /// `"…"`
    pub(super) fn double(&mut self) -> Parsed<PartKind> {
        self.deeper(|it| {
            it.pos += 1;
            let outer = std::mem::replace(&mut it.in_test, false);
            let parts = it.parts(Stop::Quote, true)?;
            it.in_test = outer;
            it.pos += 1;
            Ok(PartKind::Double(parts))
        })
    }

    /// Parentheses in the operand of a parameter, if they are closed.
    fn group_attempt(&mut self) -> Parsed<Option<PartKind>> {
        let (start, depth) = (self.pos, self.depth);
        match self.group_part() {
            Ok(kind) => Ok(Some(kind)),
            Err(error) if error.problem.is_limit() => Err(error),
            Err(_) => {
                (self.pos, self.depth) = (start, depth);
                Ok(None)
            }
        }
    }

    /// Parentheses inside a word.
    fn group_part(&mut self) -> Parsed<PartKind> {
        self.deeper(|it| {
            it.pos += 1;
            let parts = it.parts(Stop::Group, false)?;
            it.expect(b')', ")")?;
            Ok(PartKind::Group(parts))
        })
    }
}

/// Bytes that are text in every position, and that cannot mislead.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b',' | b'+' | b'@' | b'%' | b'~')
}
