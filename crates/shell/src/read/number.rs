//! Values that are numbers, even unknown ones: arithmetic evaluates everything else once more.

use policy::{Certainty, Span, Word};

use super::Reader;
use super::arith::is_simple;
use super::expand::{Piece, joined};
use crate::Dialect;
use crate::tree::{Argument, Command, Kind, List, Param, Part, PartKind, Pipeline};

/// Source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// Numbers, and the values of these variables.
    Numbers(Vec<String>),
    /// Anything else.
    Other,
}

impl Source {
    pub(super) fn all(sources: impl Iterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for source in sources {
            match source {
                Self::Numbers(names) => all.extend(names),
                Self::Other => return Self::Other,
            }
        }
        Self::Numbers(all)
    }

    fn of(number: bool) -> Self {
        if number { Self::Numbers(Vec::new()) } else { Self::Other }
    }
}

impl Reader<'_> {
    /// Returns the source of the value of a word.
    pub(super) fn origin(&self, parts: &[Part]) -> Source {
        Source::all(parts.iter().map(|part| self.part_source(part)))
    }

    fn part_source(&self, part: &Part) -> Source {
        match &part.kind {
            PartKind::Text(text) | PartKind::Single(text) => Source::of(is_simple(text) || is_range(text)),
            PartKind::Arith { .. } => Source::of(true),
            PartKind::Double(parts) => self.origin(parts),
            PartKind::Command { list, .. } => Source::of(self.writes_number(list)),
            PartKind::Param(param) if self.is_count(param) => Source::of(true),
            PartKind::Param(param) => {
                let plain = param.prefix.is_empty() && param.flags.is_none() && param.inner.is_none();
                let own = Source::Numbers(vec![param.name.clone()]);
                match param.operator.as_str() {
                    _ if !plain || param.subscript.is_some() => Source::Other,
                    "" if param.operand.is_empty() => own,
                    ":-" | "-" | ":+" | "+" => Source::all([own, self.origin(&param.operand)].into_iter()),
                    _ => Source::Other,
                }
            }
            _ => Source::Other,
        }
    }

    /// Returns true if the value that is assigned is a number.
    pub(super) fn is_numeric(&self, parts: &[Part]) -> bool {
        match self.origin(parts) {
            Source::Numbers(names) => names.iter().all(|name| self.value_of(name).number),
            Source::Other => false,
        }
    }

    /// Forms whose value is a number: lengths, exit codes, the indexes of a list.
    pub(super) fn is_count(&self, param: &Param) -> bool {
        if param.flags.is_some() || param.inner.is_some() || !param.operator.is_empty() {
            return false;
        }
        let codes =
            matches!(&*param.name, "PIPESTATUS" | "pipestatus") && self.state.variable(&param.name).is_none();
        match param.prefix.as_str() {
            "#" => true,
            "!" => {
                let indexes = param.subscript.is_some() && self.dialect != Dialect::Sh;
                indexes && !self.state.has_tables()
            }
            "" => codes && param.subscript.is_some(),
            _ => false,
        }
    }

    /// Remembers whether what is not known of a word is numbers. Places that stand for several words say nothing.
    pub(super) fn remember_number(&mut self, pieces: &[Piece], span: Span) {
        if span.start < span.end && numeric(pieces) && joined(pieces, span).certainty == Certainty::Unknown {
            self.numbers.insert(span);
        } else {
            self.numbers.remove(&span);
        }
    }

    /// Returns true if a word may be anything at run time.
    pub(super) fn is_open(&self, word: &Word) -> bool {
        word.certainty == Certainty::Unknown && !self.numbers.contains(&word.span)
    }

    /// Returns true if commands write a number and nothing else: one pipeline that ends in a program of the table.
    pub(super) fn writes_number(&self, list: &List) -> bool {
        let [item] = &*list.items else { return false };
        let [(_, Pipeline { commands, .. })] = &*item.pipelines else { return false };
        let Some((Command { kind: Kind::Simple { assignments, words }, redirects, .. }, _)) = commands.last()
        else {
            return false;
        };
        // Messages of errors hold the words of the caller.
        let quiet =
            redirects.iter().all(|redirect| matches!(redirect.operator, "<" | ">" | "<<" | "<<-" | "<<<"));
        let Some((Argument::Word(name), rest)) = words.split_first() else { return false };
        let Some(name) = name.plain_text().filter(|_| assignments.is_empty() && quiet) else { return false };
        let own = self.state.may_be_function(name)
            || self.state.aliases.contains_key(name)
            || self.state.is_lost()
            || self.state.runs_text()
            || self.state.variable("PATH").is_some();
        let rest: Option<Vec<_>> = rest.iter().map(|word| self.operand(word)).collect();
        !own && rest.is_some_and(|rest| counts(name, &rest))
    }

    fn operand<'a>(&self, argument: &'a Argument) -> Option<Operand<'a>> {
        let Argument::Word(word) = argument else { return None };
        Some(match &*word.parts {
            [Part { kind: PartKind::Text(text), .. }] if text.contains(['*', '?', '[', '{', '~']) => {
                Operand::Words
            }
            [Part { kind: PartKind::Text(text) | PartKind::Single(text), .. }] => Operand::Text(text),
            [Part { kind: PartKind::Double(parts), .. }] => match &**parts {
                [Part { kind: PartKind::Text(text), .. }] => Operand::Text(text),
                _ if self.is_numeric(parts) => Operand::Number,
                _ => Operand::Word,
            },
            [Part { kind: PartKind::Escaped('*'), .. }] => Operand::Text("*"),
            parts if self.is_numeric(parts) => Operand::Number,
            _ => Operand::Words,
        })
    }
}

/// A word of a program that may write a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand<'a> {
    Text(&'a str),
    Number,
    /// One word that is not known.
    Word,
    /// Any words.
    Words,
}

/// The reviewed table: whether a program with these words writes numbers and nothing else.
///
/// One word that is not known may be an option, but then it is not the operand that the program needs to write anything.
fn counts(program: &str, words: &[Operand<'_>]) -> bool {
    let text = |word: &Operand<'_>| match word {
        Operand::Text(text) => Some((*text).to_owned()),
        Operand::Number => Some("1".to_owned()),
        Operand::Word | Operand::Words => None,
    };
    let texts: Vec<String> = words.iter().filter_map(text).collect();
    let known = texts.len() == words.len();
    let nearly = known || (texts.len() + 1 == words.len() && !words.contains(&Operand::Words));
    let options = |letters: &str| {
        texts
            .iter()
            .filter(|text| text.starts_with('-'))
            .all(|text| text.len() > 1 && text.chars().skip(1).all(|c| letters.contains(c)))
    };
    let operands = words.len() - texts.iter().filter(|text| text.starts_with('-')).count();
    match program {
        "nproc" => known,
        // With a file, its name is written too.
        "wc" => known && operands == 0 && options("lcmwL") && !texts.is_empty(),
        "grep" => {
            known && options("civwxEFPsh") && operands <= 2 && texts.iter().any(|text| text.starts_with("-c"))
        }
        "date" => {
            let formats: Vec<_> = texts.iter().filter_map(|text| text.strip_prefix('+')).collect();
            matches!(&*formats, [format] if is_format(format, "sNYmdHMSjuwyCeGVUWklI"))
        }
        "id" => known && matches!(texts.first().map(String::as_str), Some("-u" | "-g")) && options("ugr"),
        "stat" => {
            let rest: Vec<_> = texts.iter().map(String::as_str).collect();
            let format = match &*rest {
                ["-c" | "-Lc" | "--format", format] if !known => Some(*format),
                ["-c" | "--format", format, file] if known && !file.starts_with('-') => Some(*format),
                [option, ..] => option
                    .strip_prefix("-c")
                    .or(option.strip_prefix("--format="))
                    .filter(|_| rest.len() + usize::from(!known) == 2),
                _ => None,
            };
            nearly && format.is_some_and(|format| is_format(format, "sYXZWhiugab"))
        }
        "seq" | "expr" => {
            known
                && !texts.is_empty()
                && texts.iter().all(|text| {
                    is_simple(text) && (program == "expr" || !text.starts_with('-') || text.len() > 1)
                })
        }
        "echo" => known && !texts.is_empty() && texts.iter().all(|text| is_simple(text)),
        "tput" => known && matches!(&*texts, [what] if matches!(&**what, "cols" | "lines" | "colors")),
        "git" => known && matches!(&*texts, [list, count, ..] if list == "rev-list" && count == "--count"),
        _ => false,
    }
}

/// Returns true if a format has these conversions and nothing else but digits and blanks.
fn is_format(format: &str, letters: &str) -> bool {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
    let mut pieces = format.split('%');
    let before = pieces.next().is_some_and(plain);
    let mut conversions = pieces.map(|piece| {
        let piece = piece.trim_start_matches(|c: char| matches!(c, '-' | '_') || c.is_ascii_digit());
        let mut chars = piece.chars();
        chars.next().is_some_and(|letter| letters.contains(letter)) && plain(chars.as_str())
    });
    before && format.contains('%') && conversions.all(|fits| fits)
}

/// `{1..10}` stands for numbers.
fn is_range(text: &str) -> bool {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.is_some_and(|inner| {
        inner.contains("..") && inner.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
    })
}

/// Returns true if all that is not known of some pieces is numbers, none of which ends the name of a variable.
pub(super) fn numeric(pieces: &[Piece]) -> bool {
    let mut before = String::new();
    pieces.iter().all(|piece| {
        let open = piece.certainty() == Certainty::Unknown;
        let last =
            before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
        let in_name = last.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        before.push_str(&piece.text);
        !open || (piece.number && !in_name)
    })
}
