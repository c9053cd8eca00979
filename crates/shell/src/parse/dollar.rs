//! Dollar expansions, and the other substitutions.

use super::list::Until;
use super::word::Stop;
use super::{Parsed, Parser, Problem};
use crate::Dialect;
use crate::tree::{List, Param, Part, PartKind, Style};

/// Operators after the name of a parameter, longer ones first.
const OPERATORS: &[&str] = &[
    "::=", ":-", ":=", ":?", ":+", ":#", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#",
    "%", "/", "^", ",", "@", ":",
];

impl Parser<'_> {
    /// Reads the expansion at the dollar that comes next; `None` when it is only a dollar.
    pub(super) fn dollar(&mut self, double: bool, stop: Stop) -> Parsed<Option<PartKind>> {
        let start = self.pos;
        let Some(next) = self.peek_second() else { return Ok(None) };
        match next {
            b'(' => return self.dollar_paren(start).map(Some),
            b'{' => return self.braced_param(double).map(Some),
            b'[' if !self.is(Dialect::Sh) => return self.bracket().map(Some),
            b'\'' if self.knows_ansi(double, stop) => return self.ansi().map(Some),
            // zsh: `$$'…'` is a dollar and `$'…'`.
            b'$' if self.is(Dialect::Zsh) && self.byte(self.pos + 2) == Some(b'\'') => return Ok(None),
            b'"' if !double && self.is(Dialect::Bash) => {
                // A text to be translated: like any other between double quotes.
                self.bump();
                self.peek();
                return self.double().map(Some);
            }
            _ => {}
        }
        self.bump();
        let Some(param) = self.plain_param(stop)? else {
            self.pos = start;
            return Ok(None);
        };
        Ok(Some(PartKind::Param(Box::new(param))))
    }

    /// Returns true if `$'` begins a quotation. bash knows it in `"${…}"`, in an index and in arithmetic too.
    fn knows_ansi(&self, double: bool, stop: Stop) -> bool {
        match self.dialect {
            Dialect::Sh => false,
            Dialect::Bash => !double || matches!(stop, Stop::Brace | Stop::Bracket | Stop::Arith),
            Dialect::Zsh => !double,
        }
    }

    /// `$((…))` or `$(…)`
    fn dollar_paren(&mut self, start: usize) -> Parsed<PartKind> {
        let second = self.joined(self.joined(start + 1) + 1);
        if self.byte(second) == Some(b'(') {
            if let Some(parts) = self.arith_attempt(3)? {
                return Ok(PartKind::Arith { parts, bracket: false });
            }
            if self.is(Dialect::Sh) {
                return Err(self.error_here(Problem::Open("$((")));
            }
        }
        self.bump();
        let list = self.parenthesized()?;
        self.doubt_subshell(start);
        Ok(PartKind::Command { list, style: Style::Dollar })
    }

    /// A list between parentheses, the first of which comes next.
    fn parenthesized(&mut self) -> Parsed<List> {
        self.bump();
        // Here-documents of the line around are read after it, not inside.
        let (outer, in_test) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.in_test));
        let list = self.list(Until::Paren)?;
        self.abandon_heredocs();
        (self.pending, self.in_test) = (outer, in_test);
        if self.eat(b')') { Ok(list) } else { Err(self.error_here(Problem::Open("$("))) }
    }

    /// `<(…)`, `>(…)`, `=(…)`; `None` when no parenthesis follows.
    pub(super) fn process(&mut self, byte: u8) -> Parsed<Option<PartKind>> {
        if self.peek_second() != Some(b'(') {
            return Ok(None);
        }
        self.bump();
        let list = self.parenthesized()?;
        Ok(Some(PartKind::Process { direction: char::from(byte), list }))
    }

    /// `$[…]`
    fn bracket(&mut self) -> Parsed<PartKind> {
        self.bump();
        self.bump();
        let parts = self.deeper(|it| it.parts(Stop::Bracket, true))?;
        self.bump();
        Ok(PartKind::Arith { parts, bracket: true })
    }

    /// `$'…'`
    fn ansi(&mut self) -> Parsed<PartKind> {
        let opening = self.pos;
        self.bump();
        self.bump();
        let start = self.pos;
        loop {
            match self.byte(self.pos) {
                None => return Err(self.error(Problem::Open("$'"), opening, start)),
                Some(b'\'') => break,
                Some(b'\\') => self.pos += 2,
                Some(_) => self.pos += 1,
            }
        }
        let text = self.slice(start, self.pos).to_owned();
        self.pos += 1;
        Ok(PartKind::Ansi(text))
    }

    /// `` `…` ``
    pub(super) fn backtick(&mut self, double: bool) -> Parsed<PartKind> {
        let start = self.pos + 1;
        let mut at = start;
        let mut escapes = false;
        loop {
            match self.byte(at) {
                None => return Err(self.error(Problem::Open("`"), start - 1, start)),
                Some(b'`') => break,
                Some(b'\\') => (at, escapes) = (at + 2, true),
                Some(_) => at += 1,
            }
        }
        let outer = std::mem::take(&mut self.pending);
        let depth = self.depth;
        let list = if escapes { self.unescaped(start, at, double) } else { self.verbatim(start, at) };
        let list = self.later(list)?;
        (self.pending, self.depth) = (outer, depth);
        self.pos = at + 1;
        Ok(PartKind::Command { list, style: Style::Backtick })
    }

    fn verbatim(&mut self, start: usize, end: usize) -> Parsed<List> {
        self.pos = start;
        let in_test = std::mem::take(&mut self.in_test);
        let list = self.within(end, |it| {
            let list = it.list(Until::End);
            it.abandon_heredocs();
            list
        });
        self.in_test = in_test;
        list
    }

    /// Backslashes between backticks are taken away once before the text is read.
    fn unescaped(&mut self, start: usize, end: usize, double: bool) -> Parsed<List> {
        let (mut text, mut place) = (String::new(), Vec::new());
        let mut at = start;
        while let Some(c) = self.slice(at, end).chars().next() {
            let next = self.byte(at + 1).filter(|_| at + 1 < end);
            let meant = matches!(next, Some(b'`' | b'\\' | b'$')) || (double && next == Some(b'"'));
            let (c, step) = match next {
                Some(next) if c == '\\' && meant => (char::from(next), 2),
                _ => (c, c.len_utf8()),
            };
            place.extend(std::iter::repeat_n(self.original(at), c.len_utf8()));
            text.push(c);
            at += step;
        }
        place.push(self.original(end));
        let mut inner = Parser::new(&text, self.dialect, self.nodes, Some(&place));
        inner.depth = self.depth;
        let list = inner.list(Until::End);
        inner.abandon_heredocs();
        self.misleading.append(&mut inner.misleading);
        self.late.append(&mut inner.late);
        list
    }

    /// A parameter without braces, after its dollar; `None` when there is none.
    fn plain_param(&mut self, stop: Stop) -> Parsed<Option<Param>> {
        let mut prefix = String::new();
        let zsh = self.is(Dialect::Zsh);
        while zsh && matches!(self.peek(), Some(b'^' | b'=' | b'~' | b'+')) && self.name_follows() {
            prefix.extend(self.bump().map(char::from));
        }
        if zsh && self.peek() == Some(b'#') && self.name_follows() {
            prefix.extend(self.bump().map(char::from));
        }
        let mut name = self.read_name();
        if name.is_empty() {
            match self.peek() {
                Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9')) => {
                    name.push(char::from(byte));
                }
                _ => return Ok(None),
            }
            self.pos += 1;
        }
        let subscript = if zsh && stop != Stop::Arith && self.peek() == Some(b'[') {
            self.subscript(true)?
        } else {
            None
        };
        let (operator, operand) = (String::new(), Vec::new());
        Ok(Some(Param {
            braced: false,
            flags: None,
            prefix,
            name,
            inner: None,
            subscript,
            operator,
            operand,
        }))
    }

    fn name_follows(&mut self) -> bool {
        self.peek_second().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
    }

    /// `[…]` after a name; `None`, and nothing read, when it is not closed.
    fn subscript(&mut self, may_fail: bool) -> Parsed<Option<Vec<Part>>> {
        let start = self.pos;
        self.bump();
        match self.deeper(|it| it.parts(Stop::Bracket, true)) {
            Ok(parts) => {
                self.bump();
                Ok(Some(parts))
            }
            Err(error) if error.problem.is_limit() || !may_fail => Err(error),
            Err(_) => {
                self.pos = start;
                Ok(None)
            }
        }
    }

    /// `${…}`
    fn braced_param(&mut self, double: bool) -> Parsed<PartKind> {
        self.bump();
        self.bump();
        let next = self.byte(self.pos);
        if matches!(next, Some(b' ' | b'\t' | b'\n' | b'|')) && !self.is(Dialect::Sh) {
            return self.function_substitution(next);
        }
        let param = self.deeper(|it| it.param(double))?;
        if self.eat(b'}') {
            Ok(PartKind::Param(Box::new(param)))
        } else {
            Err(self.error_here(Problem::Open("${")))
        }
    }

    /// `${ …; }` runs its content as commands, in shells that are new enough.
    fn function_substitution(&mut self, next: Option<u8>) -> Parsed<PartKind> {
        self.pos += usize::from(next == Some(b'|'));
        let outer = std::mem::take(&mut self.pending);
        let list = self.list(Until::AnyBrace)?;
        self.abandon_heredocs();
        self.pending = outer;
        self.expect(b'}', "}")?;
        Ok(PartKind::Command { list, style: Style::Brace })
    }

    fn param(&mut self, double: bool) -> Parsed<Param> {
        let flags = self.flags()?;
        let prefix = self.prefix();
        let (name, inner) = self.param_name(double)?;
        let subscript = if self.peek() == Some(b'[') { self.subscript(false)? } else { None };
        let operator =
            OPERATORS.iter().find(|operator| self.eat_all(operator.as_bytes())).copied().unwrap_or_default();
        let double = double && !self.quotes_count(operator);
        let operand = self.parts(Stop::Brace, double)?;
        let operator = operator.to_owned();
        Ok(Param { braced: true, flags, prefix, name, inner, subscript, operator, operand })
    }

    /// Returns true if single quotes keep their meaning after an operator inside double quotes.
    fn quotes_count(&self, operator: &str) -> bool {
        match self.dialect {
            Dialect::Sh => matches!(operator, "#" | "##" | "%" | "%%"),
            Dialect::Bash => matches!(operator.as_bytes().first(), Some(b'#' | b'%' | b'/' | b'^' | b',')),
            Dialect::Zsh => false,
        }
    }

    /// zsh's `(…)` at the beginning.
    fn flags(&mut self) -> Parsed<Option<String>> {
        if !self.is(Dialect::Zsh) || self.peek() != Some(b'(') {
            return Ok(None);
        }
        let start = self.pos + 1;
        let length = self.flags_length(start).ok_or_else(|| self.error_here(Problem::Open("(")))?;
        self.pos = start + length + 1;
        Ok(Some(self.slice(start, start + length).to_owned()))
    }

    /// Up to the parenthesis that ends the flags. Their arguments may hold others, as in `(l:$(…):)`.
    fn flags_length(&self, start: usize) -> Option<usize> {
        let mut open = 0_u32;
        self.slice(start, self.end).bytes().position(|byte| match byte {
            b'(' => {
                open += 1;
                false
            }
            b')' if open > 0 => {
                open -= 1;
                false
            }
            byte => byte == b')',
        })
    }

    fn prefix(&mut self) -> String {
        let mut prefix = String::new();
        loop {
            let taken = match self.peek() {
                Some(b'#' | b'!') => self.peek_second().is_some_and(|byte| {
                    byte == b'_' || byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'*' | b'$' | b'{')
                }),
                Some(b'^' | b'=' | b'~' | b'+') => self.is(Dialect::Zsh),
                _ => false,
            };
            if !taken {
                return prefix;
            }
            prefix.extend(self.bump().map(char::from));
        }
    }

    fn param_name(&mut self, double: bool) -> Parsed<(String, Option<Part>)> {
        let mut name = self.read_name();
        while let Some(byte @ b'0'..=b'9') =
            self.peek().filter(|_| !name.starts_with(|c: char| !c.is_ascii_digit()))
        {
            name.push(char::from(byte));
            self.pos += 1;
        }
        if !name.is_empty() {
            return Ok((name, None));
        }
        match self.peek() {
            Some(byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) if !self.inner_follows() => {
                self.pos += 1;
                Ok((char::from(byte).to_string(), None))
            }
            Some(b'$' | b'"' | b'`') if self.is(Dialect::Zsh) => self.inner(double),
            _ => Ok((String::new(), None)),
        }
    }

    fn inner_follows(&mut self) -> bool {
        self.is(Dialect::Zsh) && self.peek() == Some(b'$') && matches!(self.peek_second(), Some(b'{' | b'('))
    }

    /// zsh: something else in the place of the name.
    fn inner(&mut self, double: bool) -> Parsed<(String, Option<Part>)> {
        let start = self.pos;
        let kind = match self.peek() {
            Some(b'"') => Some(self.double()?),
            Some(b'`') => Some(self.backtick(double)?),
            _ => self.dollar(double, Stop::Brace)?,
        };
        let at = crate::tree::At(self.span(start, self.pos));
        Ok((String::new(), kind.map(|kind| Part { kind, at })))
    }
}
