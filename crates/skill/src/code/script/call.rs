//! Names in front of brackets, and what stands between the brackets.

use super::{Arg, Assign, Call, Script, TokenKind, Tokens};
use crate::text::language::Language;

/// Maximum number of parts of a dotted name that are followed.
const MAX_PARTS: usize = 24;

/// Maximum number of tokens between brackets that are looked at where they stand for a name.
const MAX_HIDDEN: usize = 16;

/// Words that stand in front of brackets and call nothing.
const WORDS: &[&str] = &[
    "if", "for", "while", "return", "and", "or", "not", "in", "is", "elif", "else", "catch", "switch",
    "with", "await", "typeof", "new", "yield", "function", "def", "async", "lambda", "except", "assert",
    "del", "print", "foreach", "elseif", "until", "case", "throw", "raise", "of", "const", "let", "var",
    "import", "param",
];

/// Words in front of a name that is being declared.
const DECLARES: &[&str] = &["def", "function", "class", "fn", "func", "sub"];

/// Methods that put what they are given into what they are called on.
const TAKES_IN: &[&str] = &[
    "append", "push", "add", "update", "extend", "set", "insert", "unshift", "assign", "writestr", "write",
    "attach",
];

/// Commands of other languages that need no brackets.
const BARE: &[&str] = &["system", "exec", "eval", "require", "spawn", "popen", "qx"];

impl Script<'_> {
    pub(super) fn find_calls(&mut self) {
        for at in 0..self.tokens.len() {
            let call = match self.kind(at) {
                TokenKind::Symbol(b'(') => self.call_at(at),
                TokenKind::Name if self.language == Some(Language::PowerShell) => self.command_at(at),
                TokenKind::Name if self.language == Some(Language::Code) => self.bare_at(at),
                _ => None,
            };
            let Some(call) = call else { continue };
            if let Some((base, method)) = call.name.rsplit_once('.')
                && TAKES_IN.contains(&method)
                && !base.contains("()")
            {
                let tokens = call.inside..call.tokens.end;
                self.assigns.push(Assign { name: base.to_owned(), tokens });
            }
            self.calls.push(call);
        }
    }

    /// Returns true if a bracket stands apart from what is before it. In PowerShell it then belongs to what follows.
    fn is_apart(&self, open: usize) -> bool {
        let gap = |before: usize| self.tokens[before].end != self.tokens[open].start;
        self.language == Some(Language::PowerShell) && open.checked_sub(1).is_none_or(gap)
    }

    fn call_at(&self, open: usize) -> Option<Call> {
        if self.is_apart(open) {
            return None;
        }
        let (name, start) = self.name_before(open)?;
        let declared = start.checked_sub(1).is_some_and(|at| DECLARES.contains(&self.token(at)));
        if declared || WORDS.contains(&name.as_str()) {
            return None;
        }
        let close = self.mate(open);
        let args = self.parts(open + 1..close).into_iter().map(|tokens| self.arg(tokens)).collect();
        let end = close.saturating_add(1).min(self.tokens.len());
        Some(Call { name: self.resolved(&name), args, tokens: start..end, inside: open + 1 })
    }

    /// A command of PowerShell: a name where a statement begins, with what follows on the line.
    fn command_at(&self, at: usize) -> Option<Call> {
        let name = self.token(at);
        if name.starts_with('$') || self.is_symbol(at + 1, b'.') || self.is_symbol(at + 1, b'=') {
            return None;
        }
        let before = at.checked_sub(1).map_or(TokenKind::Line, |before| self.kind(before));
        let begins =
            matches!(before, TokenKind::Line | TokenKind::Symbol(b';' | b'|' | b'{' | b'(' | b'=' | b'&'));
        if !begins || WORDS.contains(&name.to_ascii_lowercase().as_str()) {
            return None;
        }
        let end = self.end_of_command(at + 1);
        let mut args = self.options(at + 1..end);
        if before == TokenKind::Symbol(b'|') {
            args.push(Arg { key: Some(String::from("|")), tokens: self.pipeline_before(at - 1)..at - 1 });
        }
        Some(Call { name: self.resolved(name), args, tokens: at..end, inside: at + 1 })
    }

    /// The words of a command, each option with what follows it.
    fn options(&self, tokens: Tokens) -> Vec<Arg> {
        let mut args: Vec<Arg> = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            let is_option = self.is_symbol(at, b'-') && self.is_name(at + 1);
            if is_option {
                let key = Some(self.token(at + 1).to_ascii_lowercase());
                at += 2;
                args.push(Arg { key, tokens: at..at });
            }
            if at >= tokens.end {
                break;
            }
            let next = self.after(at).min(tokens.end);
            match args.last_mut() {
                Some(last) => last.tokens.end = next,
                None => args.push(Arg { key: None, tokens: at..next }),
            }
            at = next.max(at + 1);
        }
        args
    }

    /// The token behind this one, or behind the bracket that it opens.
    pub(super) fn after(&self, at: usize) -> usize {
        match self.kind(at) {
            TokenKind::Symbol(b'(' | b'[' | b'{') => self.mate(at).saturating_add(1),
            _ => at + 1,
        }
    }

    fn end_of_command(&self, from: usize) -> usize {
        let mut at = from;
        for _ in 0..super::MAX_STATEMENT {
            match self.kind(at) {
                TokenKind::Line | TokenKind::Symbol(b';' | b'|' | b'}' | b')' | b']') => break,
                _ => at = self.after(at),
            }
        }
        at.min(self.tokens.len())
    }

    /// Returns the start of the pipeline that ends here; not farther than a line of ordinary length.
    fn pipeline_before(&self, pipe: usize) -> usize {
        let mut at = pipe;
        let least = pipe.saturating_sub(256);
        while at > least {
            let before = at - 1;
            match self.kind(before) {
                TokenKind::Line | TokenKind::Symbol(b';' | b'{' | b'(') => break,
                TokenKind::Symbol(b')' | b']' | b'}') if self.mate(before) < before => at = self.mate(before),
                _ => at = before,
            }
        }
        at
    }

    /// `system "…"`: a call without brackets.
    fn bare_at(&self, at: usize) -> Option<Call> {
        let name = self.token(at);
        let text = matches!(self.kind(at + 1), TokenKind::Text { .. });
        if !text || !BARE.contains(&name) {
            return None;
        }
        let end = self.end_of_command(at + 1);
        let args = vec![Arg { key: None, tokens: at + 1..end }];
        Some(Call { name: self.resolved(name), args, tokens: at..end, inside: at + 1 })
    }

    fn arg(&self, tokens: Tokens) -> Arg {
        let named = self.is_name(tokens.start)
            && self.is_symbol(tokens.start + 1, b'=')
            && !self.is_symbol(tokens.start + 2, b'=')
            && !self.is_symbol(tokens.start + 2, b'>');
        if named {
            let key = Some(self.token(tokens.start).to_owned());
            return Arg { key, tokens: (tokens.start + 2).min(tokens.end)..tokens.end };
        }
        Arg { key: None, tokens }
    }

    /// Returns the parts between the commas of a range.
    pub(crate) fn parts(&self, tokens: Tokens) -> Vec<Tokens> {
        let end = tokens.end.min(self.tokens.len());
        let mut parts = Vec::new();
        let mut from = tokens.start;
        let mut at = tokens.start;
        while at < end {
            if self.is_symbol(at, b',') {
                parts.push(self.trimmed(from..at));
                from = at + 1;
            }
            at = self.after(at);
        }
        parts.push(self.trimmed(from..end));
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The entries of a literal object or dictionary: key and value.
    pub(crate) fn entries(&self, tokens: &Tokens) -> Vec<Arg> {
        let braces = self.is_symbol(tokens.start, b'{') || self.is_symbol(tokens.start, b'[');
        if !braces {
            return Vec::new();
        }
        let inside = tokens.start + 1..self.mate(tokens.start).min(tokens.end);
        self.parts(inside).into_iter().map(|part| self.entry(part)).collect()
    }

    fn entry(&self, tokens: Tokens) -> Arg {
        if self.is_symbol(tokens.start + 1, b':') && tokens.start + 2 < tokens.end {
            let key = Some(self.token(tokens.start).to_owned());
            return Arg { key, tokens: tokens.start + 2..tokens.end };
        }
        Arg { key: None, tokens }
    }

    /// A range without ends of lines around it.
    fn trimmed(&self, mut tokens: Tokens) -> Tokens {
        while tokens.start < tokens.end && self.kind(tokens.start) == TokenKind::Line {
            tokens.start += 1;
        }
        while tokens.start < tokens.end && self.kind(tokens.end - 1) == TokenKind::Line {
            tokens.end -= 1;
        }
        tokens
    }

    /// The dotted name that ends in front of a token, and where it begins.
    pub(super) fn name_before(&self, end: usize) -> Option<(String, usize)> {
        let mut parts: Vec<String> = Vec::new();
        let mut at = end.checked_sub(1)?;
        let mut start;
        loop {
            start = at;
            match self.kind(at) {
                TokenKind::Name => parts.push(self.token(at).to_owned()),
                TokenKind::Text { .. } if !parts.is_empty() => parts.push(String::from("''")),
                // `getattr(a, "b")(…)`, `(0, b)(…)`
                TokenKind::Symbol(b')') if parts.is_empty() => {
                    let (name, first) = self.hidden_name(at)?;
                    parts.push(name);
                    start = first;
                    break;
                }
                TokenKind::Symbol(b')') if !parts.is_empty() => {
                    let open = self.mate(at);
                    if open >= at {
                        break;
                    }
                    start = self.called(open, &mut parts);
                    if start == open {
                        break;
                    }
                }
                TokenKind::Symbol(b']') => {
                    let open = self.mate(at);
                    if open >= at || open == 0 || open + 32 < at {
                        break;
                    }
                    let key = self.fold(&(open + 1..at));
                    parts.push(if key.is_known { key.text } else { String::from("[]") });
                    at = open - 1;
                    if !matches!(self.kind(at), TokenKind::Name | TokenKind::Symbol(b')' | b']')) {
                        start = open;
                        break;
                    }
                    continue;
                }
                _ => break,
            }
            match self.dot_before(start) {
                Some(before) if parts.len() < MAX_PARTS => at = before,
                _ => break,
            }
        }
        if parts.is_empty() {
            return None;
        }
        parts.reverse();
        Some((parts.join(".").replace(".()", "()"), start))
    }

    /// The part of a name that ends with a call: the module it loads, or the name with brackets.
    fn called(&self, open: usize, parts: &mut Vec<String>) -> usize {
        let Some(callee) = open.checked_sub(1).filter(|at| self.is_name(*at) && !self.is_apart(open)) else {
            parts.push(String::from("()"));
            return open;
        };
        let loads = matches!(self.token(callee), "require" | "__import__" | "import" | "import_module");
        if loads {
            let module = self.fold(&(open + 1..self.mate(open)));
            if module.is_known {
                parts.push(super::import::module(&module.text));
                let first = callee.checked_sub(2).filter(|_| self.token(callee) == "import_module");
                return first.unwrap_or(callee);
            }
        }
        parts.push(format!("{}()", self.token(callee)));
        callee
    }

    /// The last token in front of the dot in front of a token.
    fn dot_before(&self, start: usize) -> Option<usize> {
        let mut dot = start.checked_sub(1)?;
        // A chain of calls goes on at the start of a line.
        if self.kind(dot) == TokenKind::Line {
            return None;
        }
        let double = self.is_symbol(dot, b':') && dot > 0 && self.is_symbol(dot - 1, b':');
        let arrow = self.is_symbol(dot, b'>') && dot > 0 && self.is_symbol(dot - 1, b'-');
        if double || arrow {
            dot -= 1;
        } else if !self.is_symbol(dot, b'.') {
            return None;
        }
        let mut before = dot.checked_sub(1)?;
        while before > 0 && (self.kind(before) == TokenKind::Line || self.is_symbol(before, b'?')) {
            before -= 1;
        }
        Some(before)
    }

    /// The name that something between brackets stands for where it is called: `getattr(a, "b")`, `(0, b)`; and where it begins.
    fn hidden_name(&self, close: usize) -> Option<(String, usize)> {
        let open = self.mate(close);
        if open >= close {
            return None;
        }
        if let Some(callee) = open.checked_sub(1).filter(|at| self.token(*at) == "getattr") {
            return Some((self.looked_up(&(callee..close + 1))?, callee));
        }
        let parts = self.parts(open + 1..close);
        // `new (Object.getPrototypeOf(async function () {}).constructor)(…)`
        let makes = close >= 2 && self.token(close - 1) == "constructor" && self.is_symbol(close - 2, b'.');
        if makes && parts.len() == 1 {
            return Some((String::from("().constructor"), open));
        }
        let [zero, name] = parts.as_slice() else { return None };
        if name.len() > MAX_HIDDEN {
            return None;
        }
        let apart = open.checked_sub(1).is_none_or(|before| !self.is_name(before));
        let (name, _) = self.name_before(name.end).filter(|(_, start)| *start == name.start)?;
        (apart && self.token(zero.start) == "0").then_some((name, open))
    }

    /// `vars(a)["b"]`, `a.__dict__["b"]`.
    fn looked_up_in_names(&self, tokens: &Tokens) -> Option<String> {
        let close = tokens.end.checked_sub(1).filter(|at| self.is_symbol(*at, b']'))?;
        let open = self.mate(close);
        if open <= tokens.start || open >= close || tokens.len() > 4 * MAX_HIDDEN {
            return None;
        }
        let name = self.fold(&(open + 1..close));
        let of = if self.token(tokens.start) == "vars" && self.is_symbol(tokens.start + 1, b'(') {
            tokens.start + 2..open.checked_sub(1)?
        } else if self.token(open - 1) == "__dict__" {
            tokens.start..open.checked_sub(2)?
        } else {
            return None;
        };
        let base = match self.looked_up(&of) {
            Some(base) => base,
            None => self.name_before(of.end).filter(|(_, start)| *start == of.start)?.0,
        };
        name.is_known.then(|| format!("{}.{}", self.resolved(&base), name.text))
    }

    /// Returns the module, or the part of one, that a value stands for: `__import__("a")`, `getattr(a, "b")`.
    pub(super) fn looked_up(&self, tokens: &Tokens) -> Option<String> {
        if let Some(found) = self.looked_up_in_names(tokens) {
            return Some(found);
        }
        let open = (tokens.start..tokens.end).take(8).find(|at| self.is_symbol(*at, b'('))?;
        if self.mate(open) + 1 != tokens.end || open == tokens.start || tokens.len() > 4 * MAX_HIDDEN {
            return None;
        }
        let parts = self.parts(open + 1..self.mate(open));
        match self.token(open - 1) {
            "__import__" | "import_module" => {
                let module = self.fold(parts.first()?);
                module.is_known.then(|| super::import::module(&module.text))
            }
            "getattr" => {
                let (of, name) = (parts.first()?, self.fold(parts.get(1)?));
                let base = match self.looked_up(of) {
                    Some(base) => base,
                    None => self.name_before(of.end).filter(|(_, start)| *start == of.start)?.0,
                };
                name.is_known.then(|| format!("{}.{}", self.resolved(&base), name.text))
            }
            _ => None,
        }
    }
}
