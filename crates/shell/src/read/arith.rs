//! Arithmetic: numbers are harmless, values that bash evaluates again are not.

use policy::{Certainty, Span};

use super::Reader;
use super::expand::joined;
use super::state::{Value, is_number};
use crate::Dialect;
use crate::tree::{Part, PartKind};

impl Reader<'_> {
    /// Reads an expression: commands in it run, and bash reads the values in it as expressions again.
    pub(super) fn arith(&mut self, parts: &[Part], span: Span) {
        let text = joined(&self.pieces(parts, true), span).text;
        for part in parts {
            self.arith_param(part, span);
        }
        self.arith_text(&text, span);
    }

    /// An expression that is known as text.
    pub(super) fn arith_text(&mut self, text: &str, span: Span) {
        if text.contains("$(") || text.contains('`') {
            self.unprovable(span, "arithmetic evaluates this text, and commands in it run");
            return;
        }
        if self.dialect != Dialect::Bash {
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

    /// What an expression assigns is a number.
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

    /// `$x` in an expression is spliced in as text.
    fn arith_param(&mut self, part: &Part, span: Span) {
        match &part.kind {
            PartKind::Param(param) if self.dialect == Dialect::Bash => {
                let value = self.value_of(&param.name);
                let positional =
                    param.name.bytes().all(|byte| byte.is_ascii_digit()) || matches!(&*param.name, "@" | "*");
                let set = self.state.variable(&param.name).is_some() || positional;
                let harmless = value.number
                    || param.prefix.contains('#')
                    || (value.certainty == Certainty::Literal && is_simple(&value.text));
                if set && !harmless {
                    self.unprovable(span, format!("arithmetic evaluates the value of `{}`", param.name));
                }
            }
            PartKind::Double(parts) => parts.iter().for_each(|part| self.arith_param(part, span)),
            _ => {}
        }
    }

    /// What stands between brackets after a name: an expression, or the key of a table.
    pub(super) fn subscript(&mut self, parts: &[Part], span: Span) {
        let word = joined(&self.pieces(parts, true), span);
        if self.dialect != Dialect::Sh && (word.text.contains("$(") || word.text.contains('`')) {
            self.unprovable(span, "the index is evaluated, and commands in it run");
        } else if self.dialect == Dialect::Bash {
            self.arith_text(&word.text, span);
        }
    }
}

/// Whether arithmetic takes a text for numbers alone: a name in it would be evaluated in turn.
fn is_simple(text: &str) -> bool {
    is_number(text)
        || text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'+' | b'-' | b'*' | b'/' | b'%'))
}

/// The names of variables in an expression.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}
