//! The value of a word, as far as that is written there, and how it is put together.

use std::ops::Range;

use shell::tree::{At, List, Param, Part, PartKind, Word};

use super::{MAX_DEPTH, MAX_VALUE, Reader, print};

/// A word after its expansion.
#[derive(Default)]
pub(super) struct Expansion<'w> {
    /// Its value, if all of it is known.
    pub(super) value: Option<String>,
    /// Number of pieces it is made of.
    pub(super) pieces: usize,
    /// Number of pieces that are variables.
    pub(super) expanded: usize,
    /// True if a piece is what another command prints.
    pub(super) printed: bool,
    /// Replacement for each variable and each command in it.
    pub(super) spelled: Vec<(Range<usize>, String)>,
    /// Commands that run beside it: `<(…)`.
    pub(super) processes: Vec<&'w List>,
    /// The pieces as they are written.
    literals: Vec<&'w str>,
}

impl Expansion<'_> {
    /// Returns true if a name stands in it in one piece.
    pub(super) fn is_written(&self, name: &str) -> bool {
        // A version behind a name hides nothing.
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.literals.iter().any(|literal| literal.contains(name))
    }

    fn add(&mut self, value: Option<String>) {
        self.pieces += usize::from(value.is_some());
        let joined = self.value.take().zip(value).map(|(whole, value)| whole + &value);
        self.value = joined.filter(|value| value.len() <= MAX_VALUE);
    }
}

/// Expands a word.
pub(super) fn expand<'w>(reader: &Reader<'_>, word: &'w Word, depth: u32) -> Expansion<'w> {
    let empty = Expansion { value: Some(String::new()), ..Expansion::default() };
    let mut state = State { reader, depth, word: empty };
    state.parts(&word.parts, false);
    state.word
}

struct State<'r, 't, 'w> {
    reader: &'r Reader<'t>,
    depth: u32,
    word: Expansion<'w>,
}

impl<'w> State<'_, '_, 'w> {
    fn parts(&mut self, parts: &'w [Part], quoted: bool) {
        for part in parts {
            let value = self.part(part, quoted);
            self.word.add(value);
        }
    }

    fn part(&mut self, part: &'w Part, quoted: bool) -> Option<String> {
        match &part.kind {
            PartKind::Text(text) | PartKind::Single(text) => {
                self.word.literals.push(text);
                Some(text.clone())
            }
            PartKind::Escaped(c) => Some(c.to_string()),
            PartKind::Double(parts) => {
                let before = self.word.value.replace(String::new());
                self.parts(parts, true);
                std::mem::replace(&mut self.word.value, before)
            }
            PartKind::Ansi(text) => {
                self.word.pieces += usize::from(text.contains('\\'));
                self.spell(part.at, Some(print::unescaped(text)), quoted)
            }
            PartKind::Param(param) => {
                let value = self.reader.parameter(param);
                self.word.expanded += usize::from(value.is_some());
                self.spell(part.at, value, quoted)
            }
            PartKind::Command { list, .. } => {
                let known = self.depth < MAX_DEPTH;
                let value = known.then(|| print::printed(self.reader, list, self.depth + 1)).flatten();
                self.word.printed |= value.is_some();
                self.spell(part.at, value, quoted)
            }
            PartKind::Process { list, .. } => {
                self.word.processes.push(list);
                None
            }
            PartKind::Arith { .. } | PartKind::Group(_) => None,
        }
    }

    fn spell(&mut self, at: At, value: Option<String>, quoted: bool) -> Option<String> {
        let value = value?;
        let shown = if quoted { value.replace('"', "\\\"") } else { value.clone() };
        self.word.spelled.push((self.reader.range(at), shown));
        Some(value)
    }
}

/// The text of pieces in which nothing is expanded.
fn plain(parts: &[Part]) -> Option<String> {
    let text = |part: &Part| match &part.kind {
        PartKind::Text(text) | PartKind::Single(text) => Some(text.clone()),
        PartKind::Escaped(c) => Some(c.to_string()),
        PartKind::Double(parts) => plain(parts),
        _ => None,
    };
    parts.iter().map(text).collect()
}

impl Reader<'_> {
    /// Expands a variable, a part of it, or an item of a list.
    fn parameter(&self, param: &Param) -> Option<String> {
        if param.flags.is_some() || param.inner.is_some() || !param.prefix.is_empty() {
            return None;
        }
        if let Some(subscript) = &param.subscript {
            let (items, index) = (self.lists.get(&param.name)?, plain(subscript)?);
            let item = || items.get(index.parse::<usize>().ok()?).cloned();
            return if matches!(&*index, "@" | "*") { Some(items.join(" ")) } else { item() };
        }
        let (value, operand) = (self.variables.get(&param.name)?, plain(&param.operand)?);
        let made = match &*param.operator {
            "" => value.clone(),
            ":" => {
                let (from, count) = operand.split_once(':').unwrap_or((&operand, "4096"));
                let (from, count): (usize, usize) = (from.trim().parse().ok()?, count.trim().parse().ok()?);
                value.chars().skip(from).take(count).collect()
            }
            "^^" if operand.is_empty() => value.to_uppercase(),
            ",," if operand.is_empty() => value.to_lowercase(),
            "/" | "//" => {
                let (from, to) = operand.split_once('/').unwrap_or((&operand, ""));
                if from.is_empty() || from.contains(['*', '?', '[']) {
                    return None;
                }
                let most = if param.operator == "/" { 1 } else { usize::MAX };
                value.replacen(from, to, most)
            }
            _ => return None,
        };
        Some(made).filter(|made| made.len() <= MAX_VALUE)
    }
}
