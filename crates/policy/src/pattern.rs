//! Patterns on plain text: tool names, arguments, words of a command.

use std::fmt;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::hir::{Class, Dot, Hir, HirKind, Look};

use crate::containment::{any_bytes, anywhere, is_within};

/// Longest pattern accepted, in bytes. A person reads patterns; longer ones are not meant to be read.
pub const MAX_PATTERN: usize = 8192;
/// Most memory one compiled regular expression may take, in bytes.
pub const MAX_REGEX: usize = 1 << 20;

/// A pattern on a text: a wildcard that the whole text must match, or a regular expression after `re:` that is searched for.
#[derive(Clone)]
pub struct Pattern {
    text: Box<str>,
    matcher: Matcher,
}

#[derive(Clone)]
enum Matcher {
    /// Most words are just themselves.
    Literal(Box<str>),
    Wildcard(Box<[Piece]>),
    Regex(Regex),
}

/// One step of a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// `?`
    One,
    /// `*`
    Many,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// A pattern that matches nothing protects nothing.
    #[error("the pattern is empty")]
    Empty,
    /// See [`MAX_PATTERN`].
    #[error("the pattern has {0} bytes, more than {MAX_PATTERN}")]
    TooLong(usize),
    /// A backslash with nothing behind it.
    #[error("the pattern ends in a lone `\\`")]
    LoneBackslash,
    /// `a && b`, `echo "x"`: a rule is about one program and its words, as the program gets them.
    #[error(
        "`{0}` means something to a shell: write the words of one program as it gets them, or `\\{0}` for the character"
    )]
    Shell(char),
    /// A word of a command pattern that is a path.
    #[error("the path in the pattern cannot be used: {0}")]
    Path(Box<str>),
    /// The expression does not parse, or would take too much memory.
    #[error("the regular expression cannot be used: {0}")]
    Regex(Box<str>),
}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        check_length(text)?;
        let matcher = match text.strip_prefix("re:") {
            Some(expression) => Matcher::Regex(search(expression)?),
            None => wildcard_or_literal(text)?,
        };
        Ok(Self { text: text.into(), matcher })
    }

    /// Returns true if a text matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Literal(only) => **only == *text,
            Matcher::Wildcard(pieces) => wildcard(pieces, text),
            Matcher::Regex(regex) => regex.is_match(text),
        }
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The only text that matches, if there is just one.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        if let Matcher::Literal(only) = &self.matcher { Some(only.to_string()) } else { None }
    }

    /// Returns the fixed prefix of all texts that an expression matches; `None` for other patterns.
    pub(crate) fn expression_start(&self) -> Option<String> {
        let HirKind::Concat(parts) = self.expression()?.into_kind() else { return Some(String::new()) };
        let start = match parts.get(..2).map(|parts| [parts[0].kind(), parts[1].kind()]) {
            Some([HirKind::Look(Look::Start), HirKind::Literal(literal)]) => {
                String::from_utf8(literal.0.to_vec()).ok()
            }
            _ => None,
        };
        Some(start.unwrap_or_default())
    }

    /// The expression; `None` for other patterns.
    fn expression(&self) -> Option<Hir> {
        let Matcher::Regex(_) = &self.matcher else { return None };
        regex_syntax::parse(self.text.strip_prefix("re:")?).ok()
    }

    /// Returns true if everything that matches is also matched by another pattern, as far as that can be proven.
    #[must_use]
    pub fn is_within(&self, wide: &Self) -> bool {
        // Most pairs have nothing in common, and one text shows it.
        if wide.is_anything() || self.sample().is_some_and(|text| !wide.matches(&text)) {
            return wide.is_anything();
        }
        self.shape().zip(wide.shape()).is_some_and(|(own, wide)| is_within(&own, &wide))
    }

    /// The pattern as an expression on whole texts.
    fn shape(&self) -> Option<Hir> {
        let piece = |piece: &Piece| match piece {
            Piece::Char(c) => Hir::literal(c.to_string().into_bytes()),
            Piece::One => Hir::dot(Dot::AnyChar),
            Piece::Many => any_bytes(),
        };
        match &self.matcher {
            Matcher::Literal(only) => Some(Hir::literal(only.as_bytes())),
            Matcher::Wildcard(pieces) => Some(Hir::concat(pieces.iter().map(piece).collect())),
            Matcher::Regex(_) => self.expression().map(anywhere),
        }
    }

    /// Returns true if the author fixed both ends of a match. Other expressions are searched for anywhere in a text.
    #[must_use]
    pub fn is_anchored(&self) -> bool {
        let anchored = |hir: Hir| {
            let properties = hir.properties();
            properties.look_set_prefix().contains(Look::Start)
                && properties.look_set_suffix().contains(Look::End)
        };
        self.expression().is_none_or(anchored)
    }

    /// Returns the text before the first wildcard.
    pub(crate) fn stem(&self) -> String {
        let fixed = |piece: &Piece| if let Piece::Char(c) = piece { Some(*c) } else { None };
        match &self.matcher {
            Matcher::Literal(only) => only.to_string(),
            Matcher::Wildcard(pieces) => pieces.iter().map_while(fixed).collect(),
            Matcher::Regex(_) => String::new(),
        }
    }

    /// Returns true if a file name that fits a pattern of the shell could match: the fixed ends of both must agree.
    pub(crate) fn could_match(&self, names: &str) -> bool {
        if names.contains('\\') {
            return true;
        }
        let start = names.split(['*', '?', '[', '{', '(']).next().unwrap_or_default();
        let end = names.rsplit(['*', '?', ']', '}', ')']).next().unwrap_or_default();
        match &self.matcher {
            Matcher::Literal(only) => only.starts_with(start) && only.ends_with(end),
            Matcher::Wildcard(pieces) => {
                begins(pieces.iter(), start.chars()) && begins(pieces.iter().rev(), end.chars().rev())
            }
            Matcher::Regex(_) => true,
        }
    }

    /// A text that matches; none is known for some expressions.
    #[must_use]
    pub fn sample(&self) -> Option<String> {
        let pieces = match &self.matcher {
            Matcher::Literal(only) => return Some(only.to_string()),
            Matcher::Wildcard(pieces) => pieces,
            Matcher::Regex(regex) => {
                return shortest(&self.expression()?).filter(|text| regex.is_match(text));
            }
        };
        let text = |piece: &Piece| match piece {
            Piece::Char(c) => c.to_string(),
            Piece::One => "q".to_owned(),
            Piece::Many => "some-name".to_owned(),
        };
        Some(pieces.iter().map(text).collect())
    }

    /// Returns true if every text matches.
    #[must_use]
    pub fn is_anything(&self) -> bool {
        match &self.matcher {
            Matcher::Literal(_) => false,
            Matcher::Wildcard(pieces) => pieces.iter().all(|piece| *piece == Piece::Many),
            Matcher::Regex(_) => self.expression().is_some_and(|hir| {
                let properties = hir.properties();
                properties.minimum_len() == Some(0) && properties.look_set().is_empty()
            }),
        }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// Refuses patterns of absurd length.
pub(crate) fn check_length(text: &str) -> Result<(), PatternError> {
    match text.len() {
        0 => Err(PatternError::Empty),
        length if length > MAX_PATTERN => Err(PatternError::TooLong(length)),
        _ => Ok(()),
    }
}

/// Compiles an expression. It is searched for, as in every engine that people know: only its author anchors it.
pub(crate) fn search(expression: &str) -> Result<Regex, PatternError> {
    check_length(expression)?;
    RegexBuilder::new(expression)
        .size_limit(MAX_REGEX)
        .build()
        .map_err(|error| PatternError::Regex(one_line(&error.to_string()).into()))
}

/// A short text that an expression matches, as far as its parts say; what they only look at is not looked at here.
fn shortest(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(String::new()),
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
        HirKind::Class(Class::Unicode(class)) => {
            let contains =
                |c: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
            let first = class.ranges().first().map(regex_syntax::hir::ClassUnicodeRange::start);
            ['a', '0', ' '].into_iter().find(|c| contains(*c)).or(first).map(String::from)
        }
        HirKind::Class(Class::Bytes(class)) => {
            let first = class.ranges().first()?.start();
            first.is_ascii().then(|| char::from(first).to_string())
        }
        HirKind::Repetition(repetition) => {
            let times = usize::try_from(repetition.min).ok().filter(|times| *times <= 64)?;
            Some(shortest(&repetition.sub)?.repeat(times))
        }
        HirKind::Capture(capture) => shortest(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(shortest).collect(),
        HirKind::Alternation(parts) => parts.iter().find_map(shortest),
    }
}

/// Many expressions at once.
pub(crate) fn line_set(expressions: &[&str]) -> Result<RegexSet, PatternError> {
    // As much as all of them may take alone.
    RegexSetBuilder::new(expressions)
        .size_limit(MAX_REGEX.saturating_mul(expressions.len().max(1)))
        .build()
        .map_err(|error| PatternError::Regex(one_line(&error.to_string()).into()))
}

/// The last line of a regex error says what is wrong; the drawing above it is made for a terminal of its own.
pub(crate) fn one_line(error: &str) -> String {
    error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn wildcard_or_literal(text: &str) -> Result<Matcher, PatternError> {
    let pieces = pieces(text)?;
    let literal: Option<String> =
        pieces.iter().map(|piece| if let Piece::Char(c) = piece { Some(*c) } else { None }).collect();
    Ok(literal.map_or(Matcher::Wildcard(pieces), |only| Matcher::Literal(only.into())))
}

fn pieces(text: &str) -> Result<Box<[Piece]>, PatternError> {
    let mut pieces = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let piece = match c {
            '\\' => Piece::Char(chars.next().ok_or(PatternError::LoneBackslash)?),
            '?' => Piece::One,
            '*' => Piece::Many,
            c => Piece::Char(c),
        };
        if piece != Piece::Many || pieces.last() != Some(&Piece::Many) {
            pieces.push(piece);
        }
    }
    Ok(pieces.into())
}

/// Returns true if some text that matches begins so. Behind the first `*`, anything may.
fn begins<'a>(mut pieces: impl Iterator<Item = &'a Piece>, start: impl Iterator<Item = char>) -> bool {
    for c in start {
        match pieces.next() {
            Some(Piece::Many) => return true,
            Some(Piece::One) => {}
            Some(Piece::Char(want)) if *want == c => {}
            _ => return false,
        }
    }
    true
}

/// Matches with one point of return: the last `*`. Bounded by pattern length times text length.
fn wildcard(pieces: &[Piece], text: &str) -> bool {
    let (mut at, mut rest) = (0, text.chars());
    let mut star: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = rest.clone();
        match (pieces.get(at), ahead.next()) {
            (Some(Piece::Many), _) => {
                at += 1;
                star = Some((at, rest.clone()));
            }
            (Some(Piece::One), Some(_)) => (at, rest) = (at + 1, ahead),
            (Some(Piece::Char(want)), Some(c)) if *want == c => (at, rest) = (at + 1, ahead),
            (None, None) => return true,
            _ => {
                let Some((after, from)) = &mut star else { return false };
                if from.next().is_none() {
                    return false;
                }
                (at, rest) = (*after, from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_texts_match() {
        let rows = [
            ("exec", "exec", true),
            ("exec", "execute", false),
            ("mcp__github--*", "mcp__github--list", true),
            ("mcp__github--*", "mcp__gitlab--list", false),
            ("*", "", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("a?c", "a\u{e9}c", true),
            ("a?c", "ac", false),
            (r"\*", "*", true),
            (r"\*", "x", false),
            ("re:a|b", "b", true),
            ("re:a|b", "ab", true),
            ("re:^(?:a|b)$", "ab", false),
            ("re:^a|b$", "axb", true),
            ("re:force", "git push --force", true),
            ("re:^force", "git push --force", false),
            ("re:FORCE", "git push --force", false),
            ("re:(?i)FORCE", "git push --force", true),
            // Arguments may have several lines.
            (r"re:rm\s+-rf", "echo a\nrm -rf x\necho b", true),
            (r"re:rm\s+-rf", "rm\n-rf", true),
            ("re:^rm -rf", "echo a\nrm -rf x", false),
            ("re:(?m)^rm -rf", "echo a\nrm -rf x", true),
            ("re:a.*b", "a\nb", false),
            ("re:(?s)a.*b", "a\nb", true),
            ("re:a$", "a\n", false),
            ("re:a$", "b\na", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn unusable_patterns_are_refused() {
        for bad in ["", "\\", "re:(", "re:a)|(b", r"re:\p{L}{1000}{1000}", &"*".repeat(10_000)] {
            assert!(Pattern::parse(bad).is_err(), "{}", &bad[..bad.len().min(20)]);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_wildcard_agrees_with_the_same_regex(pattern in "[ab*?]{1,8}", text in "[ab]{0,10}") {
            let piece = |c| match c { '*' => ".*".to_owned(), '?' => ".".to_owned(), c => c.to_string() };
            let expression = format!("re:(?s)^{}$", pattern.chars().map(piece).collect::<String>());
            proptest::prop_assert_eq!(
                Pattern::parse(&pattern).unwrap().matches(&text),
                Pattern::parse(&expression).unwrap().matches(&text)
            );
        }
    }
}
