//! Arithmetic: numbers are harmless, values that bash evaluates again are not.

use policy::{Certainty, Span, Word};

use super::Reader;
use super::command::declares_integer;
use super::expand::joined;
use super::state::{Value, is_number};
use crate::Dialect;
use crate::tree::{self, Argument, Kind, List, Part, PartKind};

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

    /// Notes which variables a text makes integers anywhere: a function or the next turn of a loop may set them later.
    pub(super) fn foresee_integers(&mut self, list: &List) {
        let mut names = Vec::new();
        list.each_command(&mut |command| {
            let Kind::Simple { words, .. } = &command.kind else { return };
            let Some("declare" | "typeset" | "local" | "readonly" | "export" | "integer" | "float") =
                command.plain_name()
            else {
                return;
            };
            let texts: Vec<_> = words.iter().filter_map(first_text).collect();
            if declares_integer(&texts.iter().copied().map(Word::literal).collect::<Vec<_>>()) {
                names.extend(texts.into_iter().skip(1).filter(|text| !text.starts_with('-')));
            }
        });
        for name in names {
            self.state_mut().make_integer(name.split(['=', '+', '[']).next().unwrap_or_default());
        }
    }

    /// A value that is set: the shell evaluates it if the variable holds integers, or names another variable.
    pub(super) fn integer_value(&mut self, name: &str, value: &Word) {
        if self.dialect == Dialect::Sh || !self.state.is_integer(name, self.dialect) {
            return;
        }
        if value.certainty == Certainty::Unknown {
            let what =
                format!("`{name}` holds integers: its value is evaluated, and commands in it would run");
            return self.unprovable(value.span, what);
        }
        self.arith_text(&value.text, value.span);
    }

    /// Whether a value is a number, whatever it is: `$((…))`, `$#`, digits.
    pub(super) fn is_numeric(&self, value: &tree::Value) -> bool {
        match value {
            tree::Value::Word(word) => word.parts.iter().all(|part| self.is_numeric_part(part)),
            tree::Value::Array(_) => true,
        }
    }

    fn is_numeric_part(&self, part: &Part) -> bool {
        match &part.kind {
            PartKind::Text(text) => is_simple(text),
            PartKind::Arith { .. } => true,
            PartKind::Param(param) => {
                let plain = param.operator.is_empty() && param.subscript.is_none() && param.inner.is_none();
                plain && (param.prefix == "#" || param.prefix.is_empty() && self.value_of(&param.name).number)
            }
            PartKind::Double(parts) => parts.iter().all(|part| self.is_numeric_part(part)),
            _ => false,
        }
    }

    /// A variable that gets a value of run time by its name.
    pub(super) fn integer_unknown(&mut self, name: &str, span: Span) {
        if self.dialect != Dialect::Sh && self.state.is_integer(name, self.dialect) {
            let what =
                format!("`{name}` holds integers: what it gets is evaluated, and commands in it would run");
            self.unprovable(span, what);
        }
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
            PartKind::Param(param) if self.dialect != Dialect::Sh => {
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
        if self.dialect != Dialect::Sh && expands(&word.text) {
            self.unprovable(span, "the index is evaluated, and commands in it run");
        } else if self.dialect != Dialect::Sh {
            self.arith_text(&word.text, span);
        }
    }
}

/// What stands at the beginning of a word without quotes, or the name of an array.
fn first_text(argument: &Argument) -> Option<&str> {
    match argument {
        Argument::Word(word) => word.parts.first().and_then(|part| match &part.kind {
            PartKind::Text(text) | PartKind::Single(text) => Some(text.as_str()),
            _ => None,
        }),
        Argument::Array(assign) => Some(&assign.name),
    }
}

/// Whether a text that is evaluated holds something that would be expanded once more.
fn expands(text: &str) -> bool {
    text.contains('`') || ["$(", "${", "$["].iter().any(|opening| text.contains(opening))
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
