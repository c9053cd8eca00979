//! Effects of a text further down: a function, or the next turn of a loop, may meet them before they are read.

use std::collections::{BTreeMap, BTreeSet};

use policy::Word;

use super::Reader;
use super::command::declares_integer;
use super::number::Source;
use super::state::MAX_NAMES;
use crate::tree::{self, Argument, Command, Kind, List, PartKind, Value, runs_text};

/// Builtins after whose words variables hold something that is not written there, and those that lead to builtins.
const FILLERS: &[&str] = &[
    "-",
    "builtin",
    "command",
    "getopts",
    "mapfile",
    "nocorrect",
    "noglob",
    "print",
    "printf",
    "read",
    "readarray",
    "set",
    "strftime",
    "sysread",
    "vared",
    "zformat",
    "zparseopts",
    "zstat",
];

const DECLARATIONS: &[&str] = &["declare", "typeset", "local", "readonly", "export", "integer", "float"];

/// Values that each variable is set to, anywhere.
type Sources = BTreeMap<String, Vec<Source>>;

impl Reader<'_> {
    /// Notes what the text does to variables and functions anywhere.
    pub(super) fn foresee(&mut self, list: &List, text: &str) {
        self.foresee_integers(list);
        let mut functions = Vec::new();
        list.each_command(&mut |command| {
            if let Kind::Function { names, .. } = &command.kind {
                functions.extend(names.iter().filter_map(tree::Word::plain_text));
            }
        });
        for name in functions {
            self.state_mut().define(name, false);
        }
        self.foresee_values(list, text);
    }

    fn foresee_values(&mut self, list: &List, text: &str) {
        let mut sources = Sources::new();
        let mut anything =
            runs_text(list) || ["${ ", "${|", "${\n", "${\t"].iter().any(|open| text.contains(open));
        list.each_command(&mut |command| {
            anything |= names_others(command);
            self.sources(command, &mut sources);
        });
        for name in filled(text) {
            sources.entry(name.to_owned()).or_default().push(Source::Other);
        }
        let has_tables = text.split_whitespace().any(|word| word.starts_with('-') && word.contains('A'));
        if has_tables {
            self.state_mut().foresee_tables();
        }
        if anything || sources.len() > MAX_NAMES {
            return self.state_mut().foresee_anything();
        }
        let numbers = self.numbers_among(&sources);
        for name in sources.keys() {
            self.state_mut().foresee(name, numbers.contains(name.as_str()));
        }
    }

    /// The variables that are set to nothing but numbers, and to others that are.
    fn numbers_among<'a>(&self, sources: &'a Sources) -> BTreeSet<&'a str> {
        let mut numbers: BTreeSet<&str> = sources.keys().map(String::as_str).collect();
        loop {
            let before = numbers.len();
            let known = numbers.clone();
            let is = |name: &String| known.contains(name.as_str()) || self.value_of(name).number;
            numbers.retain(|name| {
                sources.get(*name).is_some_and(|all| {
                    all.iter().all(|source| match source {
                        Source::Other => false,
                        Source::Numbers(names) => names.iter().all(is),
                    })
                })
            });
            if numbers.len() == before {
                return numbers;
            }
        }
    }

    fn sources(&self, command: &Command, into: &mut Sources) {
        let mut add = |name: &str, source| into.entry(name.to_owned()).or_default().push(source);
        match &command.kind {
            Kind::Simple { assignments, words } => {
                for assign in assignments {
                    add(&assign.name, self.source_of(&assign.value));
                }
                let name = command.plain_name();
                for argument in words.iter().skip(1) {
                    match argument {
                        Argument::Array(assign) => add(&assign.name, self.source_of(&assign.value)),
                        Argument::Word(word) => {
                            let Some(first) = first_text(argument) else { continue };
                            let variable = first.split(['=', '+', '[']).next().unwrap_or_default();
                            if name.is_some_and(|name| DECLARATIONS.contains(&name)) && first.contains('=') {
                                add(variable, self.source_of_declared(word));
                            } else if name.is_none_or(|name| FILLERS.contains(&name)) {
                                // The name may stand right behind the letter of an option.
                                add(variable, Source::Other);
                                add(variable.get(2..).unwrap_or_default(), Source::Other);
                            }
                        }
                    }
                }
            }
            Kind::For { names, words, .. } => {
                let source = match words {
                    Some(words) => Source::all(words.iter().map(|word| self.origin(&word.parts))),
                    None => Source::Other,
                };
                names.iter().filter_map(tree::Word::plain_text).for_each(|name| add(name, source.clone()));
            }
            _ => {}
        }
    }

    fn source_of(&self, value: &Value) -> Source {
        match value {
            Value::Word(word) => self.origin(&word.parts),
            Value::Array(words) => Source::all(words.iter().map(|word| self.origin(&word.parts))),
        }
    }

    /// Returns the source of the value behind the `=` of a declaration.
    fn source_of_declared(&self, word: &tree::Word) -> Source {
        let mut parts = word.parts.clone();
        if let Some(PartKind::Text(text)) = parts.first_mut().map(|part| &mut part.kind) {
            *text = text.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
            return self.origin(&parts);
        }
        Source::Other
    }

    /// Notes which variables a text makes integers anywhere: a function or the next turn of a loop may set them later.
    fn foresee_integers(&mut self, list: &List) {
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
}

/// Returns the unquoted text at the beginning of a word, or the name of an array.
fn first_text(argument: &Argument) -> Option<&str> {
    match argument {
        Argument::Word(word) => word.parts.first().and_then(|part| match &part.kind {
            PartKind::Text(text) | PartKind::Single(text) => Some(text.as_str()),
            _ => None,
        }),
        Argument::Array(assign) => Some(&assign.name),
    }
}

/// Returns true if a command makes one variable stand for another.
fn names_others(command: &Command) -> bool {
    let Kind::Simple { words, .. } = &command.kind else { return false };
    command.plain_name().is_some_and(|name| DECLARATIONS.contains(&name))
        && words.iter().skip(1).any(|word| {
            first_text(word).is_none_or(|text| text.starts_with(['-', '+']) && text.contains('n'))
        })
}

/// Names behind `${` that `=` follows: the expansion sets them.
fn filled(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| {
        let flagged = rest.split_once(')').filter(|_| rest.starts_with('('));
        let rest = flagged.map_or(rest, |(_, rest)| rest);
        let rest = rest.trim_start_matches(['!', '#', '=', '^', '~', '+']);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let (name, behind) = rest.split_at(end);
        let behind =
            behind.split_once(']').filter(|_| behind.starts_with('[')).map_or(behind, |(_, rest)| rest);
        behind.trim_start_matches(':').starts_with('=').then_some(name)
    })
}
