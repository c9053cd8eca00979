//! Values of variables, and what is done with them.

use policy::{Certainty, Code, Span, Word};

use super::Reader;
use super::expand::{Piece, joined};
use super::number::numeric;
use super::state::Value;
use crate::Dialect;
use crate::tree::Param;

/// Variables that the shell itself sets to numbers.
const NUMBERS: &[&str] = &[
    "BASHPID",
    "COLUMNS",
    "EPOCHSECONDS",
    "EUID",
    "LINENO",
    "LINES",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

impl Reader<'_> {
    /// Expands a parameter.
    pub(super) fn param(&mut self, param: &Param, span: Span, quoted: bool, into: &mut Vec<Piece>) {
        self.evaluation(param, span);
        if let Some(subscript) = &param.subscript {
            self.index(&param.name, subscript, span);
        }
        if let Some(inner) = &param.inner {
            self.pieces(std::slice::from_ref(inner), quoted);
        }
        if param.name == "IFS" {
            let what = "the field separator stands for blanks that are not seen";
            self.note(Code::FieldSeparator, span, what);
        }
        let plain = param.prefix.is_empty()
            && param.subscript.is_none()
            && param.flags.is_none()
            && param.inner.is_none();
        let value = match () {
            () if self.is_count(param) => Value::number(),
            () if plain => self.value_of(&param.name),
            () => Value::unknown(),
        };
        self.operate(param, value, span, quoted, into);
    }

    /// Forms that read a value again as code.
    fn evaluation(&mut self, param: &Param, span: Span) {
        let prompt = param.operator == "@"
            && matches!(param.operand.first().map(|part| &part.kind),
            Some(crate::tree::PartKind::Text(text)) if text.starts_with('P'));
        let names = matches!(param.operator.as_str(), "*" | "@") || param.subscript.is_some();
        let indirect = param.prefix.contains('!') && self.dialect == Dialect::Bash && !names;
        let flagged = param.flags.as_deref().is_some_and(|flags| flags.contains(['e', 'P', '%']));
        if prompt {
            self.unprovable(span, "the value is expanded again as a prompt, and commands in it run");
        } else if indirect {
            self.unprovable(span, "the value names another variable, which is known only at run time");
        }
        if let Some(flags) = param.flags.as_deref().filter(|flags| flags.contains(['l', 'r'])) {
            // The width behind `l` and `r` is arithmetic.
            self.arith_text(flags, span);
        }
        if flagged || (self.dialect == Dialect::Zsh && param.prefix.contains('~')) {
            self.note(Code::ZshForm, span, "zsh evaluates the value again");
            self.unprovable(span, "what the value evaluates to is known only at run time");
        }
    }

    /// Returns the value of a variable from any source.
    pub(super) fn value_of(&self, name: &str) -> Value {
        if matches!(name, "?" | "#" | "$" | "!") {
            return Value::number();
        }
        if let Some(value) = self.state.variable(name) {
            return value.clone();
        }
        let known = match name {
            "HOME" => self.home(),
            "PWD" => self.state.cwd.as_deref().map(str::to_owned),
            // The value is that of before: adding to it is judged by what is added.
            "PATH" => Some("/usr/bin:/bin".to_owned()),
            "IFS" if !self.state.separator_changed => Some(" \t\n".to_owned()),
            _ if NUMBERS.contains(&name) => return Value::number(),
            _ => None,
        };
        match known {
            Some(text) => Value::known(text),
            None => self.argument(name).unwrap_or_else(Value::unknown),
        }
    }

    /// `$0`, `$1` and so on, where the words that become them are known.
    fn argument(&self, name: &str) -> Option<Value> {
        let index: usize = name.parse().ok()?;
        let word = self.state.arguments.as_ref()?.get(index)?;
        Some(Value::guess(word.text.as_str(), word.certainty))
    }

    fn operate(&mut self, param: &Param, value: Value, span: Span, quoted: bool, into: &mut Vec<Piece>) {
        let operator = param.operator.as_str();
        // Without a colon, a value that is empty is there all the same.
        let missing = value.text.is_empty() && operator.starts_with(':');
        let known = value.certainty == Certainty::Literal;
        match operator {
            "" if param.operand.is_empty() => {
                self.spent += value.text.len();
                if self.spent > super::MAX_SPENT {
                    self.note(Code::TooComplex, span, "values that grow too long");
                    return into.push(Piece::unknown(quoted));
                }
                // Splitting at another field separator is not followed.
                let splits = !quoted && self.state.separator_changed && !value.text.is_empty();
                let certainty = if splits { Certainty::Unknown } else { value.certainty };
                into.push(Piece::value(value.text, certainty, quoted).numbered(value.number));
            }
            ":-" | "-" | ":=" | "=" | "::=" => {
                let other = self.pieces(&param.operand, quoted);
                if known && !missing {
                    into.push(Piece::value(value.text, value.certainty, quoted));
                } else {
                    let number = value.number && numeric(&other);
                    let word = self.fallback(param, &joined(&other, span), known, quoted);
                    into.push(word.numbered(number));
                }
            }
            ":+" | "+" => {
                let other = joined(&self.pieces(&param.operand, quoted), span);
                let certainty = if known && !missing { other.certainty } else { Certainty::Unknown };
                let text = if known && missing { String::new() } else { other.text };
                into.push(Piece::value(text, certainty, quoted));
            }
            ":" => {
                self.arith(&param.operand, span);
                into.push(Piece::unknown(quoted));
            }
            _ => {
                let word = joined(&self.pieces(&param.operand, quoted), span);
                // bash expands a message between double quotes as if it stood outside them.
                let message = quoted && operator.ends_with('?') && self.dialect == Dialect::Bash;
                if message && ["<(", ">("].iter().any(|opening| word.text.contains(opening)) {
                    self.unprovable(span, "a command in the message runs");
                }
                into.push(Piece::unknown(quoted));
            }
        }
    }

    /// The word in the place of a value that is missing, or may be.
    fn fallback(&mut self, param: &Param, word: &Word, known: bool, quoted: bool) -> Piece {
        let certainty = if known { word.certainty } else { Certainty::Unknown };
        if param.operator.ends_with('=') {
            self.integer_value(&param.name, &Word { certainty: word.certainty, ..word.clone() });
            self.set(&param.name, Value::guess(word.text.clone(), certainty));
        }
        Piece::value(word.text.clone(), certainty, quoted)
    }
}
