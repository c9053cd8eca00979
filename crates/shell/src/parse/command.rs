//! Simple commands: assignments, words, redirections.

use super::heredoc::Pending;
use super::word::Stop;
use super::{Parsed, Parser, Problem};
use crate::Dialect;
use crate::tree::{Argument, Assign, At, Command, Descriptor, Kind, Redirection, Value, Word};

impl Parser<'_> {
    /// Any command.
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.node()?;
        self.skip_blanks();
        let start = self.pos;
        let Some(kind) = self.compound()? else { return self.simple(start) };
        let redirects = self.redirects()?;
        Ok(Command { kind, redirects, at: At(self.span(start, self.pos)) })
    }

    fn redirects(&mut self) -> Parsed<Vec<Redirection>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// zsh: `nocorrect` is a word of the language, and assignments may follow it.
    fn skip_nocorrect(&mut self) {
        let start = self.pos;
        while self.is(Dialect::Zsh) && self.eat_word("nocorrect") {
            self.skip_blanks();
        }
        if !self.may_assign() {
            self.pos = start;
        }
    }

    fn simple(&mut self, start: usize) -> Parsed<Command> {
        self.skip_nocorrect();
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if self.at_function_parens()
                && assignments.is_empty()
                && redirects.is_empty()
                && !words.is_empty()
            {
                return self.function_of(start, words);
            } else if let Some(assign) = self.leading_assign(words.is_empty())? {
                assignments.push(assign);
            } else if let Some(word) = self.argument(words.is_empty())? {
                words.push(word);
            } else {
                break;
            }
            end = self.pos;
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(self.error_here(Problem::Unexpected));
        }
        Ok(Command { kind: Kind::Simple { assignments, words }, redirects, at: At(self.span(start, end)) })
    }

    /// Returns true if `()` comes next, with blanks between.
    pub(super) fn at_function_parens(&mut self) -> bool {
        if self.peek() != Some(b'(') {
            return false;
        }
        let mut at = self.joined(self.pos + 1);
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at = self.joined(at + 1);
        }
        self.byte(at) == Some(b')')
    }

    fn function_of(&mut self, start: usize, words: Vec<Argument>) -> Parsed<Command> {
        let name = |argument| match argument {
            Argument::Word(word) => Some(word),
            Argument::Array(_) => None,
        };
        let Some(names) = words.into_iter().map(name).collect::<Option<Vec<_>>>() else {
            return Err(self.error_here(Problem::Unexpected));
        };
        let brace = names.iter().any(|name| name.plain_text() == Some("{"));
        if brace || (names.len() > 1 && !self.is(Dialect::Zsh)) {
            return Err(self.error_here(Problem::Unexpected));
        }
        let body = Box::new(self.function_body()?);
        Ok(Command {
            kind: Kind::Function { names, body },
            redirects: Vec::new(),
            at: At(self.span(start, self.pos)),
        })
    }

    fn leading_assign(&mut self, leading: bool) -> Parsed<Option<Assign>> {
        if leading { self.assign() } else { Ok(None) }
    }

    /// A word, or an array where a declaration may have one.
    fn argument(&mut self, first: bool) -> Parsed<Option<Argument>> {
        if !first && self.array_follows() {
            return Ok(self.assign()?.map(Argument::Array));
        }
        if first && self.peek() == Some(b'{') && self.is(Dialect::Zsh) {
            return Err(self.error_here(Problem::Unexpected));
        }
        Ok(self.word()?.map(Argument::Word))
    }

    /// Returns true if `name=(` or `name+=(` comes next.
    fn array_follows(&mut self) -> bool {
        if self.is(Dialect::Sh) || !self.may_assign() {
            return false;
        }
        let start = self.pos;
        let named = !self.read_name().is_empty();
        self.eat(b'+');
        let follows = named && self.eat(b'=') && self.peek() == Some(b'(');
        self.pos = start;
        follows
    }

    /// A quick look that spares most words a closer one: what ends the name here cannot be part of an assignment.
    fn may_assign(&self) -> bool {
        let end = self.name_end(self.pos);
        end > self.pos && matches!(self.byte(end), Some(b'=' | b'+' | b'[' | b'\\'))
    }

    /// Goes past a name, which may be none, with continued lines inside.
    pub(super) fn read_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            if byte != b'_' && !byte.is_ascii_alphabetic() && (name.is_empty() || !byte.is_ascii_digit()) {
                break;
            }
            name.push(char::from(byte));
            self.pos += 1;
        }
        name
    }

    /// Returns the end of the name that begins here; the start, if none does.
    pub(super) fn name_end(&self, start: usize) -> usize {
        let mut at = start;
        while self
            .byte(at)
            .is_some_and(|b| b == b'_' || b.is_ascii_alphabetic() || (at > start && b.is_ascii_digit()))
        {
            at += 1;
        }
        at
    }

    /// An assignment, if one begins here.
    fn assign(&mut self) -> Parsed<Option<Assign>> {
        self.peek();
        if !self.may_assign() {
            return Ok(None);
        }
        let start = self.pos;
        let name = self.read_name();
        if name.is_empty() || !matches!(self.peek(), Some(b'=' | b'+' | b'[')) {
            self.pos = start;
            return Ok(None);
        }
        let subscript = if self.peek() == Some(b'[') && !self.is(Dialect::Sh) {
            self.pos += 1;
            match self.parts(Stop::Bracket, false) {
                Ok(parts) if self.eat(b']') => Some(parts),
                Err(error) if error.problem.is_limit() => return Err(error),
                _ => {
                    self.pos = start;
                    return Ok(None);
                }
            }
        } else {
            None
        };
        let append = !self.is(Dialect::Sh) && self.eat(b'+');
        if !self.eat(b'=') {
            self.pos = start;
            return Ok(None);
        }
        let value = self.value()?;
        Ok(Some(Assign { name, subscript, append, value, at: At(self.span(start, self.pos)) }))
    }

    fn value(&mut self) -> Parsed<Value> {
        if !self.is(Dialect::Sh) && self.eat(b'(') {
            let words = self.array_words()?;
            return Ok(Value::Array(words));
        }
        let here = At(self.span(self.pos, self.pos));
        Ok(Value::Word(self.word()?.unwrap_or(Word { parts: Vec::new(), at: here })))
    }

    /// Words up to `)`, on any number of lines.
    pub(super) fn array_words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat(b')') {
                return Ok(words);
            }
            words.push(self.word()?.ok_or_else(|| self.error_here(Problem::Open("(")))?);
        }
    }

    /// A redirection, if one begins here.
    fn redirect(&mut self) -> Parsed<Option<Redirection>> {
        self.peek();
        let start = self.pos;
        let descriptor = self.descriptor()?;
        let Some(operator) = self.redirect_operator() else {
            self.pos = start;
            return Ok(None);
        };
        self.node()?;
        self.skip_blanks();
        let target_start = self.pos;
        let mut target = self.word()?.ok_or_else(|| self.error_here(Problem::Missing("a file name")))?;
        let mut body = None;
        if matches!(operator, "<<" | "<<-") {
            // Which quotes in it count depends on the shell, and so does whether the text is expanded.
            let raw = self.slice(target_start, self.pos);
            if raw.contains('`') || ["${", "$(", "$["].iter().any(|opening| raw.contains(opening)) {
                self.late.push(self.error(Problem::Unexpected, target_start, self.pos));
            }
            let pending = Pending::new(self.slice(target_start, self.pos), operator == "<<-");
            (target, body) = (pending.word(target.at), Some(pending.body()));
            self.pending.push(pending);
        }
        Ok(Some(Redirection { descriptor, operator, target, body, at: At(self.span(start, self.pos)) }))
    }

    fn descriptor(&mut self) -> Parsed<Option<Descriptor>> {
        let start = self.pos;
        let mut at = start;
        while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
            at += 1;
        }
        if at > start && matches!(self.byte(self.joined(at)), Some(b'<' | b'>')) {
            self.pos = at;
            return Ok(Some(Descriptor::Number(self.slice(start, at).to_owned())));
        }
        if self.byte(start) == Some(b'{') && !self.is(Dialect::Sh) {
            return self.named_descriptor(start);
        }
        Ok(None)
    }

    /// `{name}` or `{name[…]}` directly before an operator.
    fn named_descriptor(&mut self, start: usize) -> Parsed<Option<Descriptor>> {
        let name_end = self.name_end(start + 1);
        if name_end == start + 1 || !matches!(self.byte(name_end), Some(b'}' | b'[')) {
            return Ok(None);
        }
        self.pos = start + 1;
        let parts = match self.parts(Stop::Brace, false) {
            Ok(parts) if self.eat(b'}') && matches!(self.peek(), Some(b'<' | b'>')) => parts,
            Err(error) if error.problem.is_limit() => return Err(error),
            _ => {
                self.pos = start;
                return Ok(None);
            }
        };
        let at = At(self.span(start + 1, self.pos - 1));
        Ok(Some(Descriptor::Name(Word { parts, at })))
    }

    fn redirect_operator(&mut self) -> Option<&'static str> {
        let first = self.peek()?;
        let operators: &[&str] = match (first, self.dialect) {
            (b'<', Dialect::Sh) => &["<<-", "<<", "<&", "<>", "<"],
            (b'<', _) => &["<<<", "<<-", "<<", "<&", "<>", "<"],
            (b'>', Dialect::Zsh) => &[">>|", ">>!", ">>&", ">>", ">&|", ">&!", ">&", ">|", ">!", ">"],
            (b'>', _) => &[">>", ">&", ">|", ">"],
            (b'&', Dialect::Bash) => &["&>>", "&>"],
            (b'&', Dialect::Zsh) => &["&>>|", "&>>!", "&>>", "&>|", "&>!", "&>"],
            _ => return None,
        };
        let is_process = matches!(first, b'<' | b'>') && self.peek_second() == Some(b'(');
        if is_process && !self.is(Dialect::Sh) {
            return None;
        }
        // zsh: `<5-7>` is a pattern.
        if first == b'<' && self.is(Dialect::Zsh) && self.at_number_range() {
            return None;
        }
        // zsh: `<<(…)` is `< <(…)`, and so on.
        for (text, operator) in [("<<(", "<"), (">>(", ">"), ("&>>(", "&>")] {
            if self.is(Dialect::Zsh) && self.eat_all(text.as_bytes()) {
                self.pos -= 2;
                return Some(operator);
            }
        }
        operators.iter().copied().find(|operator| self.eat_all(operator.as_bytes()))
    }
}
