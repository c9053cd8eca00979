//! Many path patterns as one automaton.
//!
//! All globs of a rule set become one NFA, determinised while it is used. One pass over a name finds every pattern
//! that matches it, so a decision costs the length of the name and not the number of rules.

use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Repetition,
};

use crate::automaton::Automaton;
use crate::containment::{anywhere, is_within};
use crate::glob::{Anchor, Glob, GlobError, Token};
use crate::location::Pair;
use crate::pattern::{MAX_REGEX, PatternError, check_length, one_line, search};

/// A pattern on a path: a glob, or a regular expression after `re:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPattern {
    /// The usual kind.
    Glob(Glob),
    /// Searched for in the name.
    Regex(Box<str>),
}

impl PathPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, GlobError> {
        let Some(expression) = text.strip_prefix("re:") else { return Ok(Self::Glob(Glob::parse(text)?)) };
        check_length(text)?;
        search(expression)?;
        Ok(Self::Regex(expression.into()))
    }

    /// Returns true if one name matches this one pattern.
    #[must_use]
    pub fn matches(&self, name: &[u8], reach: Reach) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(name, reach),
            Self::Regex(_) => {
                PathIndex::new(&[(self, reach)], Case::Exact).is_ok_and(|index| index.first(name).is_some())
            }
        }
    }

    /// Returns true if everything that matches as a permission is matched by another pattern as a restriction, as far as it
    /// can be proven.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        let shape = |pattern: &Self, reach| match pattern {
            Self::Glob(glob) => Some(Shape { reach, case: Case::Exact }.glob(glob)),
            Self::Regex(expression) => {
                let parser = || regex_syntax::ParserBuilder::new().utf8(false).build();
                parser().parse(expression).ok().map(anywhere)
            }
        };
        let both = shape(self, Reach::Narrow).zip(shape(wide, Reach::Wide));
        both.is_some_and(|(own, wide)| is_within(&own, &wide))
    }

    /// Paths that match; none are known for an expression.
    #[must_use]
    pub fn samples(&self) -> Vec<String> {
        match self {
            Self::Glob(glob) => glob.samples(),
            Self::Regex(_) => Vec::new(),
        }
    }

    /// The pattern as written.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Glob(glob) => glob.as_str().to_owned(),
            Self::Regex(expression) => format!("re:{expression}"),
        }
    }
}

/// Reach of a pattern that does not state one itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A permission: `**` stays in the workspace, `dir/**` leaves out `dir`.
    Narrow,
    /// A restriction: `**` also means outside, `dir/**` takes in `dir`.
    Wide,
}

/// Case sensitivity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// As the file system has it.
    Exact,
    /// For names that must not be reached in any spelling.
    Ignored,
}

/// A set of path patterns that is asked about one name at a time.
#[derive(Debug)]
pub struct PathIndex {
    globs: Option<Automaton>,
    /// Expressions, and which pattern of the caller each is.
    regexes: Option<(RegexSet, Box<[usize]>)>,
    case: Case,
    directories: bool,
}

impl PathIndex {
    /// Builds the index; patterns are told apart by their place in the list.
    pub fn new(patterns: &[(&PathPattern, Reach)], case: Case) -> Result<Self, GlobError> {
        let (mut hirs, mut ids, mut expressions, mut regex_ids) = (vec![], vec![], vec![], vec![]);
        for (id, (pattern, reach)) in patterns.iter().enumerate() {
            match pattern {
                PathPattern::Glob(glob) => {
                    hirs.push(Shape { reach: *reach, case }.glob(glob));
                    ids.push(id);
                }
                PathPattern::Regex(expression) => {
                    expressions.push(expression.to_string());
                    regex_ids.push(id);
                }
            }
        }
        let globs = if hirs.is_empty() { None } else { Some(Automaton::new(&hirs, ids, case)?) };
        let regexes = if expressions.is_empty() {
            None
        } else {
            Some((regex_set(&expressions, case)?, regex_ids.into()))
        };
        Ok(Self { globs, regexes, case, directories: false })
    }

    /// Looks at the directories of a name, too.
    #[must_use]
    pub(crate) fn with_directories(mut self) -> Self {
        self.globs = self.globs.map(Automaton::with_directories);
        self.directories = true;
        self
    }

    /// Calls `hit` with the place of every pattern that matches the name, in no particular order.
    pub fn matches(&self, name: &[u8], hit: impl FnMut(usize)) {
        self.matches_either((None, name), hit);
    }

    /// Calls `hit` with the place of every pattern that matches one of the names, in no particular order, maybe twice.
    pub(crate) fn matches_either(&self, names: Pair<'_>, mut hit: impl FnMut(usize)) {
        self.parts(names, |_, id| hit(id));
    }

    /// As [`PathIndex::matches_either`], with the part of the name that matches: all of it, or a directory of it if these are looked
    /// at. Where case is ignored it may come without.
    pub(crate) fn parts(&self, names: Pair<'_>, mut hit: impl FnMut(&[u8], usize)) {
        if let Some(globs) = &self.globs {
            match self.case {
                // The patterns are folded, and the automaton folds what is ASCII by itself.
                Case::Ignored if !names.1.is_ascii() => {
                    let (below, absolute) = (names.0.map(folded), folded(names.1));
                    globs.matches((below.as_deref(), &absolute), &mut |part, id| hit(part, id));
                }
                Case::Ignored | Case::Exact => globs.matches(names, &mut |part, id| hit(part, id)),
            }
        }
        if let Some((regexes, ids)) = &self.regexes {
            for name in names.0.into_iter().chain([names.1]) {
                let slashes = name.iter().enumerate().filter(|(at, byte)| *at > 0 && **byte == b'/');
                let ends = slashes.map(|(at, _)| at).filter(|_| self.directories).chain([name.len()]);
                for part in ends.map(|end| &name[..end]) {
                    regexes.matches(part).into_iter().for_each(|index| hit(part, ids[index]));
                }
            }
        }
    }

    /// Returns the first pattern that matches the name, if there is one.
    #[must_use]
    pub fn first(&self, name: &[u8]) -> Option<usize> {
        self.first_of((None, name))
    }

    /// Returns the first pattern that matches one of the names, if there is one.
    pub(crate) fn first_of(&self, names: Pair<'_>) -> Option<usize> {
        let mut first = None;
        self.matches_either(names, |id| first = Some(first.map_or(id, |other: usize| other.min(id))));
        first
    }
}

fn regex_set(expressions: &[String], case: Case) -> Result<RegexSet, GlobError> {
    let set = RegexSetBuilder::new(expressions)
        .size_limit(MAX_REGEX * 16)
        .case_insensitive(case == Case::Ignored)
        .build()
        .map_err(|error| PatternError::Regex(one_line(&error.to_string()).into()))?;
    Ok(set)
}

/// Translates globs; what a token means depends on reach and case.
#[derive(Clone, Copy)]
struct Shape {
    reach: Reach,
    case: Case,
}

impl Shape {
    fn glob(self, glob: &Glob) -> Hir {
        let rooted = match glob.anchor {
            Anchor::Workspace => false,
            Anchor::Root => true,
            Anchor::Anywhere => self.reach == Reach::Wide,
        };
        let root = rooted.then(|| optional(byte(b'/')));
        let mut parts: Vec<_> = root.into_iter().collect();
        parts.extend(self.sequence(&glob.tokens));
        Hir::concat(parts)
    }

    fn sequence(self, tokens: &[Token]) -> Vec<Hir> {
        let mut parts = Vec::new();
        // Neighbouring characters become one literal: most of a pattern is plain text.
        let mut literal = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                Token::Char(c) => {
                    literal.extend(self.fold(*c).bytes());
                }
                token => {
                    parts.extend(flushed(&mut literal));
                    parts.push(self.token(token, index == 0));
                }
            }
        }
        parts.extend(flushed(&mut literal));
        parts
    }

    fn token(self, token: &Token, first: bool) -> Hir {
        match token {
            Token::Char(c) => {
                class([*c, c.to_ascii_lowercase(), c.to_ascii_uppercase()].map(|c| (c, c)).into_iter())
            }
            Token::One => class([('\0', '.'), ('0', char::MAX)].into_iter()),
            Token::Many => repeat(not_slash(), 0),
            Token::Components => repeat(Hir::concat(vec![repeat(not_slash(), 1), byte(b'/')]), 0),
            // `**` alone begins without a slash, because the anchor decides on that.
            Token::Below if first => self.everything(),
            Token::Below => self.below(),
            Token::Class { negated, ranges } => self.class(*negated, ranges),
            Token::Either(choices) => {
                Hir::alternation(choices.iter().map(|choice| Hir::concat(self.sequence(choice))).collect())
            }
        }
    }

    fn fold(self, c: char) -> String {
        match self.case {
            Case::Exact => c.into(),
            Case::Ignored => fold(c).collect(),
        }
    }

    fn everything(self) -> Hir {
        let everything = Hir::concat(vec![not_slash(), repeat(any_byte(), 0)]);
        // With the slash of the anchor, nothing more is the root of the file system.
        if self.reach == Reach::Wide { optional(everything) } else { everything }
    }

    fn below(self) -> Hir {
        let below = Hir::concat(vec![byte(b'/'), repeat(any_byte(), 1)]);
        if self.reach == Reach::Wide { optional(below) } else { below }
    }

    fn class(self, negated: bool, ranges: &[(char, char)]) -> Hir {
        let mut class = ClassUnicode::new(ranges.iter().map(|&(a, b)| ClassUnicodeRange::new(a, b)));
        if self.case == Case::Ignored && class.try_case_fold_simple().is_err() {
            // A restriction must not be lost: every character will do.
            return self.token(&Token::One, false);
        }
        if negated {
            class.negate();
        }
        class.difference(&ClassUnicode::new([ClassUnicodeRange::new('/', '/')]));
        Hir::class(Class::Unicode(class))
    }
}

/// A name without case. What is not text in it stays.
fn folded(name: &[u8]) -> Vec<u8> {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let mut out = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        out.extend(chunk.valid().chars().flat_map(fold).collect::<String>().bytes());
        out.extend(chunk.invalid());
    }
    out
}

/// A letter without case. By way of the capital, so that letters with one capital are one letter.
fn fold(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

fn flushed(literal: &mut Vec<u8>) -> Option<Hir> {
    (!literal.is_empty()).then(|| Hir::literal(std::mem::take(literal)))
}

fn byte(byte: u8) -> Hir {
    Hir::literal([byte])
}

fn not_slash() -> Hir {
    bytes([(0, b'/' - 1), (b'/' + 1, 255)].into_iter())
}

fn any_byte() -> Hir {
    bytes([(0, 255)].into_iter())
}

fn bytes(ranges: impl Iterator<Item = (u8, u8)>) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new(ranges.map(|(a, b)| ClassBytesRange::new(a, b)))))
}

fn class(ranges: impl Iterator<Item = (char, char)>) -> Hir {
    Hir::class(Class::Unicode(ClassUnicode::new(ranges.map(|(a, b)| ClassUnicodeRange::new(a, b)))))
}

fn repeat(sub: Hir, min: u32) -> Hir {
    Hir::repetition(Repetition { min, max: None, greedy: true, sub: Box::new(sub) })
}

fn optional(sub: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(sub) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored_in_every_alphabet() {
        let rows: &[(&str, &[u8], bool)] = &[
            ("caf\u{e9}", "CAF\u{c9}".as_bytes(), true),
            ("CAF\u{c9}", "caf\u{e9}".as_bytes(), true),
            ("\u{c9}t\u{e9}", "\u{e9}T\u{c9}".as_bytes(), true),
            ("\u{3a3}\u{3c3}\u{3c2}", "\u{3c2}\u{3a3}\u{3c3}".as_bytes(), true),
            ("[\u{c9}]", "\u{e9}".as_bytes(), true),
            ("[!\u{c9}]", "\u{e9}".as_bytes(), false),
            ("stra\u{df}e", b"STRASSE", true),
            ("caf\u{e9}", b"cafe", false),
            // Bytes that are not text hide nothing.
            ("**/\u{c9}", b"\xff/\xc3\xa9", true),
            ("**/\u{c9}", b"\xff/\xc3\x89", true),
        ];
        for (pattern, name, expected) in rows {
            let parsed = PathPattern::parse(pattern).unwrap();
            let index = PathIndex::new(&[(&parsed, Reach::Wide)], Case::Ignored).unwrap();
            assert_eq!(index.first(name).is_some(), *expected, "{pattern:?} {}", name.escape_ascii());
        }
    }
}
