//! Arithmetic: numbers are harmless, values that bash evaluates again are not.

use policy::{Certainty, Span, Word};

use super::Reader;
use super::expand::joined;
use super::number::numeric;
use super::state::{Value, is_number};
use crate::Dialect;
use crate::tree::Part;

const RUN_TIME: &str = "arithmetic evaluates a value of run time, and commands in it would run";

impl Reader<'_> {
    /// Reads an expression: commands in it run, and bash reads the values in it as expressions again.
    pub(super) fn arith(&mut self, parts: &[Part], span: Span) {
        let pieces = self.pieces(parts, true);
        if self.dialect != Dialect::Sh && !numeric(&pieces) {
            return self.unprovable(span, RUN_TIME);
        }
        self.expression(&joined(&pieces, span).text, span);
    }

    /// An expression as a word that was expanded before.
    pub(super) fn arith_word(&mut self, word: &Word) {
        if self.dialect != Dialect::Sh && self.is_open(word) {
            return self.unprovable(word.span, RUN_TIME);
        }
        self.expression(&word.text, word.span);
    }

    /// An operand that may be an expression, or a text.
    pub(super) fn arith_operand(&mut self, word: &Word) {
        if self.is_open(word) {
            return self.unprovable(word.span, RUN_TIME);
        }
        self.arith_text(&word.text, word.span);
    }

    /// An expression that is known as text. A variable that the text does not set may hold anything.
    fn expression(&mut self, text: &str, span: Span) {
        let outside = names(text).find(|name| {
            let known = self.value_of(name).number || self.state.counts(name) || is_assigned(text, name);
            self.state.variable(name).is_none() && !known
        });
        match outside {
            Some(name) if self.dialect != Dialect::Sh => {
                let what =
                    format!("arithmetic evaluates the value of `{name}`, and commands in it would run");
                self.unprovable(span, what);
            }
            _ => self.arith_text(text, span),
        }
    }

    /// A text that may be an expression.
    pub(super) fn arith_text(&mut self, text: &str, span: Span) {
        if expands(text) {
            self.unprovable(span, "arithmetic evaluates this text, and commands in it run");
            return;
        }
        if self.dialect == Dialect::Sh {
            return self.arith_assigns(text);
        }
        for name in names(text) {
            let Some(value) = self.state.variable(name) else { continue };
            if !(value.number || (value.certainty == Certainty::Literal && is_simple(&value.text))) {
                self.unprovable(
                    span,
                    format!("arithmetic evaluates the value of `{name}`, and commands in it would run"),
                );
                return;
            }
        }
        self.arith_assigns(text);
    }

    /// A value that is set: the shell evaluates it if the variable holds integers, or names another variable.
    pub(super) fn integer_value(&mut self, name: &str, value: &Word) {
        if self.dialect == Dialect::Sh || !self.state.is_integer(name, self.dialect) {
            return;
        }
        if self.is_open(value) {
            let what =
                format!("`{name}` holds integers: its value is evaluated, and commands in it would run");
            return self.unprovable(value.span, what);
        }
        self.arith_text(&value.text, value.span);
    }

    /// A variable that gets a value of run time by its name.
    pub(super) fn integer_unknown(&mut self, name: &str, span: Span) {
        if self.dialect != Dialect::Sh && self.state.is_integer(name, self.dialect) {
            let what =
                format!("`{name}` holds integers: what it gets is evaluated, and commands in it would run");
            self.unprovable(span, what);
        }
    }

    /// A variable that an expression assigns is a number.
    fn arith_assigns(&mut self, text: &str) {
        let assigned: Vec<_> = names(text)
            .filter(|name| self.state.variable(name).is_some() || text.contains('=') || text.contains("++"))
            .map(str::to_owned)
            .collect();
        for name in assigned {
            let number =
                self.state.variable(&name).is_none_or(|value| value.number || is_simple(&value.text));
            if number {
                self.set_surely(&name, Value::number());
            }
        }
    }

    /// Reads the text between brackets after a name: an expression, or the key of a table.
    pub(super) fn index(&mut self, name: &str, parts: &[Part], span: Span) {
        let pieces = self.pieces(parts, true);
        let word = joined(&pieces, span);
        if self.dialect != Dialect::Sh && !numeric(&pieces) && !self.state.is_table(name) {
            self.unprovable(span, RUN_TIME);
        } else if self.dialect != Dialect::Sh && expands(&word.text) {
            self.unprovable(span, "the index is evaluated, and commands in it run");
        } else if self.dialect != Dialect::Sh {
            self.arith_text(&word.text, span);
        }
    }
}

/// Returns true if a text that is evaluated holds something that would be expanded once more.
fn expands(text: &str) -> bool {
    text.contains('`') || ["$(", "${", "$["].iter().any(|opening| text.contains(opening))
}

/// Returns true if arithmetic takes a text for numbers alone: a name in it would be evaluated in turn.
pub(super) fn is_simple(text: &str) -> bool {
    is_number(text)
        || text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'+' | b'-' | b'*' | b'/' | b'%'))
}

/// The names of variables in an expression.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '#'))
        // `16#ff` is a number.
        .filter(|token| !token.starts_with(|c: char| c.is_ascii_digit()))
        .flat_map(|token| token.split('#'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Returns true if an expression gives a variable its value itself: `n++`, `--n`, `n += 1`.
fn is_assigned(text: &str, name: &str) -> bool {
    let end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let behind = text.get(at + name.len()..).unwrap_or_default();
        let whole = before.chars().next_back().is_none_or(end) && behind.chars().next().is_none_or(end);
        let behind = behind.trim_start();
        let sets = behind.trim_start_matches(['+', '-', '*', '/', '%', '<', '>', '&', '|', '^']);
        let counted = behind.starts_with("++") || behind.starts_with("--");
        let counts = before.trim_end().ends_with("++") || before.trim_end().ends_with("--");
        whole && (counted || counts || (sets.starts_with('=') && !sets.starts_with("==")))
    })
}
