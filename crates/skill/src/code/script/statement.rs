//! Names that are given values, and functions.

use super::{Assign, Function, Script, TokenKind, Tokens};
use crate::text::language::Language;

/// Maximum number of names taken from one list of names.
const MAX_NAMES: usize = 16;

/// Maximum number of tokens of a value that are folded into a constant.
const MAX_CONSTANT: usize = 256;

impl Script<'_> {
    pub(super) fn find_statements(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        let mut begins = 0;
        for at in 0..self.tokens.len() {
            match self.kind(at) {
                TokenKind::Line | TokenKind::Symbol(b';') => begins = at + 1,
                TokenKind::Symbol(b'(' | b'[' | b'{') => {
                    open.push(at);
                    begins = if self.is_symbol(at, b'{') { at + 1 } else { begins };
                }
                TokenKind::Symbol(b')' | b']' | b'}') => {
                    open.pop();
                    begins = if self.is_symbol(at, b'}') { at + 1 } else { begins };
                }
                TokenKind::Symbol(b'=') => self.equals_at(at, open.last().copied()),
                TokenKind::Name => self.word_at(at, begins, open.last().copied()),
                _ => {}
            }
        }
    }

    fn equals_at(&mut self, at: usize, inside: Option<usize>) {
        if self.is_symbol(at + 1, b'>') {
            self.arrow_at(at, inside);
            return;
        }
        let before = at.checked_sub(1).map(|before| self.kind(before));
        let compares = self.is_symbol(at + 1, b'=')
            || matches!(before, None | Some(TokenKind::Symbol(b'=' | b'!' | b'<' | b'>' | b':')));
        // Between round brackets, `name=value` is what a call is given.
        let given = inside.is_some_and(|open| self.is_symbol(open, b'('));
        let adds = before == Some(TokenKind::Symbol(b'+'));
        if compares || given && !adds {
            return;
        }
        let last =
            if matches!(before, Some(TokenKind::Symbol(b'+' | b'|' | b'?' | b'.'))) { at - 1 } else { at };
        let tokens = at + 1..self.end_of_statement(at + 1);
        let names = self.names_before(last);
        if let [name] = names.as_slice() {
            self.constant(name, &tokens, adds);
            self.function_of(name, &tokens);
        }
        for name in names {
            self.assigns.push(Assign { name, tokens: tokens.clone() });
        }
    }

    /// Remembers what a name is, where that is a constant or another name.
    fn constant(&mut self, name: &str, tokens: &Tokens, adds: bool) {
        if let Some(items) = self.listed_items(tokens) {
            self.lists.insert(name.to_owned(), items);
        }
        if tokens.len() > MAX_CONSTANT {
            return;
        }
        let folded = self.fold(tokens);
        if folded.is_known {
            let value = self.constants.entry(name.to_owned()).or_default();
            if !adds {
                value.clear();
            }
            if value.len() + folded.text.len() <= super::fold::MAX_TEXT {
                value.push_str(&folded.text);
            }
        } else if let Some(target) = self.looked_up(tokens) {
            self.aliases.insert(name.to_owned(), target);
        } else if let Some((target, start)) = self.name_before(tokens.end)
            && start == tokens.start
            && !target.contains("()")
            && !target.contains("[]")
        {
            self.aliases.entry(name.to_owned()).or_insert(target);
        }
    }

    /// `name = (a, b) => …`, `name = function (a, b) …`, `name = lambda a, b: …`.
    fn function_of(&mut self, name: &str, tokens: &Tokens) {
        let mut at = tokens.start;
        while at < tokens.start + 3 && matches!(self.token(at), "async" | "function") {
            at += 1;
        }
        if !self.is_symbol(at, b'(') {
            return;
        }
        let close = self.mate(at);
        let arrow = self.is_symbol(close + 1, b'=') && self.is_symbol(close + 2, b'>');
        if arrow || self.token(at - 1) == "function" {
            let params = self.params(at + 1..close);
            self.functions.push(Function { name: name.to_owned(), params, at });
        }
    }

    /// Binds the parameters of an arrow function to the object that the call around it was made on.
    fn arrow_at(&mut self, at: usize, inside: Option<usize>) {
        let Some(last) = at.checked_sub(1) else { return };
        let params = if self.is_symbol(last, b')') && self.mate(last) < last {
            self.params(self.mate(last) + 1..last)
        } else if self.is_name(last) {
            vec![self.token(last).to_owned()]
        } else {
            return;
        };
        self.given_by_call(params, inside);
    }

    fn given_by_call(&mut self, params: Vec<String>, inside: Option<usize>) {
        let Some((_, start)) =
            inside.filter(|at| self.is_symbol(*at, b'(')).and_then(|open| self.name_before(open))
        else {
            return;
        };
        let end = inside.unwrap_or(start);
        for name in params {
            self.assigns.push(Assign { name, tokens: start..end });
        }
    }

    fn word_at(&mut self, at: usize, begins: usize, inside: Option<usize>) {
        match self.token(at) {
            "def" | "function" | "fn" | "func" if self.is_name(at + 1) => {
                let name = self.token(at + 1).to_owned();
                let open = at + 2;
                let params = if self.is_symbol(open, b'(') {
                    self.params(open + 1..self.mate(open))
                } else {
                    Vec::new()
                };
                self.functions.push(Function { name, params, at });
            }
            "function" if self.is_symbol(at + 1, b'(') => {
                let params = self.params(at + 2..self.mate(at + 1));
                self.given_by_call(params, inside);
            }
            "for" | "foreach" => self.loop_at(at),
            "as" if self.language == Some(Language::Python) && self.is_name(at + 1) => {
                let name = self.token(at + 1).to_owned();
                self.assigns.push(Assign { name, tokens: begins..at });
            }
            "return" | "yield" => {
                let Some(name) = self.functions.last().map(|function| function.name.clone()) else { return };
                let tokens = at + 1..self.end_of_statement(at + 1);
                self.assigns.push(Assign { name, tokens });
            }
            _ => {}
        }
    }

    /// `for a, b in EXPRESSION`, `for (const a of EXPRESSION)`.
    fn loop_at(&mut self, at: usize) {
        let mut names = Vec::new();
        let mut word = at + 1;
        while word < at + 4 * MAX_NAMES {
            match (self.kind(word), self.token(word)) {
                (TokenKind::Name, "in" | "of") => break,
                (TokenKind::Name, "const" | "let" | "var" | "await" | "async")
                | (TokenKind::Symbol(b'(' | b')' | b'[' | b']' | b'{' | b'}' | b','), _) => {}
                (TokenKind::Name, name) if names.len() < MAX_NAMES => names.push(name.to_owned()),
                _ => return,
            }
            word += 1;
        }
        let mut end = word + 1;
        for _ in 0..super::MAX_STATEMENT {
            if matches!(self.kind(end), TokenKind::Line | TokenKind::Symbol(b':' | b')' | b']' | b'}')) {
                break;
            }
            end = self.after(end);
        }
        for name in names {
            self.assigns.push(Assign { name, tokens: word + 1..end.min(self.tokens.len()) });
        }
    }

    /// The first name of each part.
    fn params(&self, tokens: Tokens) -> Vec<String> {
        let mut names = Vec::new();
        for part in self.parts(tokens).into_iter().take(MAX_NAMES) {
            if self.is_symbol(part.start, b'{') || self.is_symbol(part.start, b'[') {
                let inside = part.start + 1..self.mate(part.start).min(part.end);
                let inner = self.parts(inside).into_iter().take(MAX_NAMES);
                names.extend(inner.map(|part| self.token(part.end - 1).to_owned()));
            } else {
                let name = part.clone().find(|at| self.is_name(*at)).map(|at| self.token(at).to_owned());
                names.extend(name);
            }
        }
        names
    }

    /// The names of an object that are taken out of something, by its closing brace.
    pub(crate) fn taken_out(&self, close: usize) -> Vec<String> {
        let open = self.mate(close);
        if open >= close {
            return Vec::new();
        }
        let parts = self.parts(open + 1..close).into_iter().take(MAX_NAMES);
        parts.map(|part| self.token(part.start).to_owned()).collect()
    }

    /// The names in front of an equals sign: one, a list, or what is taken out of an object.
    fn names_before(&self, end: usize) -> Vec<String> {
        let Some(last) = end.checked_sub(1) else { return Vec::new() };
        if self.is_symbol(last, b'}') && self.mate(last) < last {
            return self.params(self.mate(last) + 1..last);
        }
        let mut at = last;
        // `x["k"] = …` changes `x`.
        while self.is_symbol(at, b']') && self.mate(at) < at && self.mate(at) > 0 {
            at = self.mate(at) - 1;
        }
        if at == last && self.is_symbol(at, b']') {
            return Vec::new();
        }
        // `x: str = …`
        if self.is_name(at) && at >= 2 && self.is_symbol(at - 1, b':') && self.is_name(at - 2) {
            at -= 2;
        }
        let mut names = Vec::new();
        let mut end = at + 1;
        while names.len() < MAX_NAMES {
            let Some((name, start)) = self.name_before(end) else { break };
            names.push(name);
            match start.checked_sub(2) {
                Some(before) if self.is_symbol(start - 1, b',') && self.is_name(before) => end = before + 1,
                _ => break,
            }
        }
        names
    }

    /// Returns the end of the value that begins here: with its line, unless the line cannot end there.
    pub(super) fn end_of_statement(&self, from: usize) -> usize {
        let mut at = from;
        for _ in 0..super::MAX_STATEMENT {
            if at >= self.tokens.len() {
                break;
            }
            match self.kind(at) {
                TokenKind::Symbol(b';' | b')' | b']' | b'}') => return at,
                TokenKind::Symbol(b',') if self.is_name(at + 1) && self.is_symbol(at + 2, b'=') => return at,
                TokenKind::Line => {
                    let open = at == from
                        || matches!(
                            self.kind(at - 1),
                            TokenKind::Symbol(
                                b'=' | b'+' | b'(' | b',' | b'|' | b'&' | b'?' | b':' | b'.' | b'>'
                            )
                        );
                    let goes_on =
                        matches!(self.kind(at + 1), TokenKind::Symbol(b'.' | b'+' | b'?' | b'|' | b'&'));
                    if !open && !goes_on {
                        return at;
                    }
                    at += 1;
                }
                _ => at = self.after(at),
            }
        }
        at.min(self.tokens.len())
    }
}
