//! Reading the options of a program by a line that says which it has.
//!
//! A specification is words: `-u|--unset:` are two names of one option with a value, `--color?` has a value only behind
//! `=`, `-i` has none. Behind that may stand an effect: `!` writes or starts what the program is not known for, `$` the
//! value is shell code, `%` the value is a program with its words, `@` the value is a directory to go to, `.` nothing is
//! started after all, `=` the value is an option of `ssh`, `~` the value is a file, or code when it begins like a pipe.

use policy::{Certainty, Word};

use super::words::with_text;

/// The marks that end the names of an option in a specification.
const MARKS: [char; 9] = [':', '?', '!', '$', '%', '@', '.', '=', '~'];

/// Additional effect of an option.
pub(super) type Effect = Option<char>;

/// One piece of a command line.
#[derive(Debug)]
pub(super) enum Item {
    /// An option of the specification.
    Found(Found),
    /// A word that is no option.
    Operand(usize),
    /// An option that the specification does not have.
    Strange(usize),
}

/// An option that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// Its first name in the specification.
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) value: Option<Word>,
    /// The word it stands in.
    pub(super) at: usize,
}

/// Walks over the words of a command behind its name.
pub(super) struct Options<'a> {
    words: &'a [Word],
    spec: &'static str,
    next: usize,
    /// The byte in the word before `next` where a cluster of short options goes on.
    cluster: usize,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Attached,
}

#[derive(Clone, Copy)]
struct Rule {
    name: &'static str,
    takes: Takes,
    effect: Effect,
}

impl<'a> Options<'a> {
    /// Starts behind the name of the program.
    pub(super) fn new(words: &'a [Word], spec: &'static str) -> Self {
        Self { words, spec, next: 1, cluster: 0, ended: false }
    }

    /// Starts at a word.
    pub(super) fn starting(words: &'a [Word], spec: &'static str, next: usize) -> Self {
        Self { words, spec, next, cluster: 0, ended: false }
    }

    /// The word after the one that was read last.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    fn long(&mut self, at: usize, word: &Word) -> Item {
        let (name, value) =
            word.text.split_once('=').map_or((word.text.as_str(), None), |(n, v)| (n, Some(v)));
        let Some(rule) = long_rule(self.spec, name) else { return strange(at, name) };
        let value = match (rule.takes, value) {
            (Takes::Nothing, _) | (Takes::Attached, None) => None,
            (_, Some(value)) => Some(with_text(word, value)),
            (Takes::Value, None) => self.take(),
        };
        found(rule, value, at)
    }

    fn short(&mut self, at: usize, word: &Word, from: usize) -> Item {
        let rest = word.text.get(from..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else { return Item::Operand(at) };
        let two = rest.get(..2).and_then(|name| short_rule(self.spec, name));
        let length = if two.is_some() { 2 } else { letter.len_utf8() };
        let rule = two.or_else(|| short_rule(self.spec, rest.get(..length)?));
        let Some(rule) = rule else { return self.strange_letter(at, from, letter, rest) };
        let behind = rest.get(length..).unwrap_or_default();
        let value = match rule.takes {
            Takes::Nothing => {
                self.cluster = if behind.is_empty() { 0 } else { from + length };
                None
            }
            Takes::Value if behind.is_empty() && word.is_literal() => self.take(),
            Takes::Attached if behind.is_empty() => None,
            _ => Some(with_text(word, behind)),
        };
        found(rule, value, at)
    }

    /// A letter that is not known is read as an option without a value: what follows is then looked at too.
    fn strange_letter(&mut self, at: usize, from: usize, letter: char, rest: &str) -> Item {
        let length = letter.len_utf8();
        self.cluster = if rest.len() > length { from + length } else { 0 };
        if letter.is_ascii_digit() {
            return found(Rule { name: "-0", takes: Takes::Nothing, effect: None }, None, at);
        }
        Item::Strange(at)
    }

    fn take(&mut self) -> Option<Word> {
        let word = self.words.get(self.next)?;
        self.next += 1;
        Some(word.clone())
    }

    fn classify(&mut self, at: usize, word: &Word) -> Option<Item> {
        let text = word.text.as_str();
        if self.ended || text == "-" && word.is_literal() || !text.starts_with('-') {
            return Some(Item::Operand(at));
        }
        if text == "--" && word.is_literal() {
            self.ended = true;
            return None;
        }
        if text.trim_start_matches('-').is_empty() && word.certainty == Certainty::Unknown {
            return Some(Item::Strange(at));
        }
        Some(if text.starts_with("--") { self.long(at, word) } else { self.single(at, word) })
    }

    /// A word with one dash: an option with a long name, or several with short ones.
    fn single(&mut self, at: usize, word: &Word) -> Item {
        let (name, value) =
            word.text.split_once('=').map_or((word.text.as_str(), None), |(n, v)| (n, Some(v)));
        let Some(rule) = exact(self.spec, name).filter(|_| name.len() > 2) else {
            return self.short(at, word, 1);
        };
        let value = match (rule.takes, value) {
            (Takes::Value, None) => self.take(),
            (Takes::Nothing, _) => None,
            (_, value) => value.map(|value| with_text(word, value)),
        };
        found(rule, value, at)
    }
}

impl Iterator for Options<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if self.cluster > 0 {
                let (at, from) = (self.next.saturating_sub(1), std::mem::take(&mut self.cluster));
                let word = self.words.get(at)?;
                return Some(self.short(at, word, from));
            }
            let at = self.next;
            let word = self.words.get(at)?;
            self.next += 1;
            if let Some(item) = self.classify(at, word) {
                return Some(item);
            }
        }
    }
}

fn found(rule: Rule, value: Option<Word>, at: usize) -> Item {
    Item::Found(Found { name: rule.name, effect: rule.effect, value, at })
}

/// `--5` is how `nice` was told a number once.
fn strange(at: usize, name: &str) -> Item {
    if name.len() > 2 && name.bytes().skip(2).all(|digit| digit.is_ascii_digit()) {
        return found(Rule { name: "-0", takes: Takes::Nothing, effect: None }, None, at);
    }
    Item::Strange(at)
}

/// The option with exactly this name, dashes and all.
fn exact(spec: &'static str, name: &str) -> Option<Rule> {
    let bare = name.trim_start_matches('-');
    named(spec, name.len() - bare.len(), bare)
}

fn short_rule(spec: &'static str, letters: &str) -> Option<Rule> {
    named(spec, 1, letters)
}

/// A long option by its name, or by a beginning that only one has.
fn long_rule(spec: &'static str, name: &str) -> Option<Rule> {
    if let Some(rule) = exact(spec, name) {
        return Some(rule);
    }
    let bare = name.strip_prefix("--").filter(|bare| !bare.is_empty())?;
    let mut fitting = places(spec, 2, bare).map(|at| rule_at(spec, at));
    let rule = fitting.next()?;
    fitting.all(|other| other.name == rule.name).then_some(rule)
}

fn named(spec: &'static str, dashes: usize, bare: &str) -> Option<Rule> {
    let ends = |at: &usize| spec.as_bytes().get(at + bare.len()).is_none_or(|end| !is_name(*end));
    places(spec, dashes, bare).find(ends).map(|at| rule_at(spec, at))
}

/// Finds the offsets of a name, or a beginning of one, behind so many dashes.
fn places<'a>(spec: &'static str, dashes: usize, bare: &'a str) -> impl Iterator<Item = usize> + use<'a> {
    let begins = move |at: usize| {
        let dash = |back: usize| at.checked_sub(back).and_then(|before| spec.as_bytes().get(before)).copied();
        (1..=dashes).all(|back| dash(back) == Some(b'-'))
            && matches!(dash(dashes + 1), None | Some(b' ' | b'|'))
    };
    // Most options are in no specification: the first letter behind a dash tells, without a search for the whole.
    let first = bare.bytes().next().filter(|_| bare.bytes().all(is_name));
    let letters = spec.as_bytes().windows(2).enumerate();
    letters
        .filter_map(move |(at, pair)| match pair {
            [b'-', letter] if Some(*letter) == first => Some(at + 1),
            _ => None,
        })
        .filter(move |&at| begins(at) && spec.get(at..).is_some_and(|rest| rest.starts_with(bare)))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The option around a byte of a specification.
fn rule_at(spec: &'static str, at: usize) -> Rule {
    let (before, behind) = spec.split_at_checked(at).unwrap_or((spec, ""));
    let start = before.rfind(' ').map_or(0, |blank| blank + 1);
    let end = at + behind.find(' ').unwrap_or(behind.len());
    let token = spec.get(start..end).unwrap_or_default();
    let (names, marks) = token.split_at(token.find(MARKS).unwrap_or(token.len()));
    let takes = match marks.chars().next() {
        Some(':') => Takes::Value,
        Some('?') => Takes::Attached,
        _ => Takes::Nothing,
    };
    let effect = marks.chars().next_back().filter(|mark| !matches!(mark, ':' | '?'));
    Rule { name: names.split('|').next().unwrap_or(names), takes, effect }
}
