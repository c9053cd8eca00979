//! Patterns on paths.
//!
//! `*` and `?` stay within one component, `**` is a whole component and stands for any number of them, `[…]` never
//! matches `/`, `{a,b}` lists alternatives, `\` takes the next character literally. Hidden names are names.
//! A pattern is never expanded and never backtracks: it becomes a piece of one automaton (see `globs`).

use crate::path_index::Reach;
use crate::pattern::{PatternError, check_length};

/// Deepest nesting of alternatives.
const MAX_NESTING: usize = 8;

/// A path pattern, read and normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: Box<str>,
    pub(crate) anchor: Anchor,
    pub(crate) tokens: Box<[Token]>,
}

/// Anchor of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// At the workspace: `src/*.rs`.
    Workspace,
    /// At the workspace or at the root of the file system: `/etc/*`.
    Root,
    /// Anywhere: `**/id_rsa`.
    Anywhere,
}

/// One step of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `**/` at the beginning or in the middle: any number of components, each with its slash.
    Components,
    /// `/**` at the end: everything below. For a denial, the directory too.
    Below,
    Class {
        negated: bool,
        ranges: Box<[(char, char)]>,
    },
    Either(Box<[Box<[Token]>]>),
}

/// Why a path pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GlobError {
    /// Empty, too long, or cut off.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A name never contains it.
    #[error("the pattern contains a NUL character")]
    Nul,
    /// The target of `..` is only known when links are resolved.
    #[error("`..` cannot be part of a pattern: write the directory it leads to")]
    ParentDirectory,
    /// `a**` looks as if it crossed directories.
    #[error("`**` must be a whole component, as in `**/name` or `dir/**`")]
    PartialTree,
    /// `[` without `]`.
    #[error("`[` is not closed by `]`; write `\\[` for the character itself")]
    OpenClass,
    /// `[z-a]`, `[/]`.
    #[error("the class in `[…]` matches nothing: its range is reversed, or it has only `/`")]
    EmptyClass,
    /// `{` without `}`, or the reverse.
    #[error("`{{` and `}}` do not pair; write `\\{{` for the character itself")]
    OpenBrace,
    /// See `MAX_NESTING`.
    #[error("alternatives nest deeper than {MAX_NESTING}")]
    TooDeep,
    /// A final slash names nothing.
    #[error("the pattern ends in `/`: write `{0}**` for everything below")]
    FinalSlash(Box<str>),
    /// `!secrets/**` in a list looks like an exception, and lists here have none.
    #[error(
        "a leading `!` is not an exception here: write a pattern for the other list, or `\\!` for the character"
    )]
    Negation,
    /// `{1..9}` looks like a range.
    #[error("`{{a..z}}` is not a range here: write `[a-z]`, or list the alternatives")]
    BraceRange,
    /// `[[:alpha:]]` with a name that does not exist.
    #[error("there is no class `[:{0}:]`")]
    UnknownClass(Box<str>),
    /// `**` or `/` inside `{…}` would have to be split into components.
    #[error("`**` cannot stand inside `{{…}}`: write two patterns")]
    TreeInBraces,
}

impl Glob {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, GlobError> {
        check_length(text)?;
        if text.contains('\0') {
            return Err(GlobError::Nul);
        }
        if text.starts_with('!') {
            return Err(GlobError::Negation);
        }
        let (anchor, components) = components(text)?;
        let tokens = Reader::read(&components)?;
        Ok(Self { text: text.into(), anchor, tokens })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the pattern matches every path in the workspace.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(&*self.tokens, [Token::Components, Token::Many] | [Token::Below])
    }

    /// Returns true if the pattern has no wildcard at all.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.tokens.iter().all(|token| matches!(token, Token::Char(_)))
    }

    /// Returns true if one name matches this one pattern, step by step. The automaton of many patterns must agree with it.
    #[must_use]
    pub fn matches(&self, name: &[u8], reach: Reach) -> bool {
        let rooted = self.anchor == Anchor::Root || (self.anchor == Anchor::Anywhere && reach == Reach::Wide);
        let mut starts = Places::none(name.len());
        starts.add(0);
        if rooted && name.first() == Some(&b'/') {
            starts.add(1);
        }
        Walk { name, reach }.sequence(&self.tokens, starts).contains(name.len())
    }

    /// Returns true if the pattern names top-level files only, as `*.pem` does.
    #[must_use]
    pub fn is_top_level(&self) -> bool {
        self.anchor == Anchor::Workspace && !self.text.contains('/') && !self.is_everything()
    }

    /// Paths that match, for showing what the pattern does: the shortest, and one with directories in between.
    #[must_use]
    pub fn samples(&self) -> Vec<String> {
        let roots: &[&str] = if self.anchor == Anchor::Root { &["/", ""] } else { &[""] };
        let between = ["", "some-dir/"];
        let mut samples = Vec::new();
        for root in roots {
            samples.extend(
                between
                    .iter()
                    .filter_map(|between| Some(format!("{root}{}", sample(&self.tokens, between)?))),
            );
        }
        samples.sort();
        samples.dedup();
        samples
    }
}

/// Places in a name that have been reached.
struct Places(Vec<bool>);

impl Places {
    fn none(length: usize) -> Self {
        Self(vec![false; length + 1])
    }

    fn add(&mut self, at: usize) {
        self.0[at] = true;
    }

    fn clear(&mut self) {
        self.0.fill(false);
    }

    fn contains(&self, at: usize) -> bool {
        self.0[at]
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, reached)| **reached).map(|(at, _)| at)
    }
}

/// Follows a pattern through one name, all ways at once.
struct Walk<'a> {
    name: &'a [u8],
    reach: Reach,
}

impl Walk<'_> {
    fn sequence(&self, tokens: &[Token], starts: Places) -> Places {
        let mut places = starts;
        let mut next = Places::none(self.name.len());
        for (index, token) in tokens.iter().enumerate() {
            places.iter().for_each(|at| self.token(token, index == 0, at, &mut next));
            std::mem::swap(&mut places, &mut next);
            next.clear();
        }
        places
    }

    fn token(&self, token: &Token, first: bool, at: usize, next: &mut Places) {
        match token {
            Token::Char(c) => self.char(at, next, |found| found == *c),
            Token::One => self.char(at, next, |c| c != '/'),
            Token::Class { negated, ranges } => {
                let inside = |c: char| ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
                self.char(at, next, |c| c != '/' && inside(c) != *negated);
            }
            Token::Many => (at..=self.component_end(at)).for_each(|end| next.add(end)),
            Token::Components => self.components(at, next),
            Token::Below => self.below(first, at, next),
            Token::Either(choices) => {
                for choice in choices {
                    let mut start = Places::none(self.name.len());
                    start.add(at);
                    self.sequence(choice, start).iter().for_each(|end| next.add(end));
                }
            }
        }
    }

    /// One character, if it fits.
    fn char(&self, at: usize, next: &mut Places, fits: impl Fn(char) -> bool) {
        if let Some(c) = first_char(&self.name[at..]).filter(|c| fits(*c)) {
            next.add(at + c.len_utf8());
        }
    }

    fn component_end(&self, at: usize) -> usize {
        self.name[at..].iter().position(|byte| *byte == b'/').map_or(self.name.len(), |length| at + length)
    }

    fn components(&self, mut at: usize, next: &mut Places) {
        next.add(at);
        loop {
            let end = self.component_end(at);
            if end == at || end == self.name.len() {
                return;
            }
            at = end + 1;
            next.add(at);
        }
    }

    fn below(&self, first: bool, at: usize, next: &mut Places) {
        let rest = &self.name[at..];
        let below = if first {
            rest.first().is_some_and(|byte| *byte != b'/')
        } else {
            rest.len() > 1 && rest[0] == b'/'
        };
        if below {
            next.add(self.name.len());
        }
        if self.reach == Reach::Wide {
            next.add(at);
        }
    }
}

/// The character at the beginning of bytes, looking at no more of them than it has.
fn first_char(bytes: &[u8]) -> Option<char> {
    let length = match bytes.first()? {
        0x00..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()
}

/// A text that the tokens match; `None` when a class has no member that could be found.
fn sample(tokens: &[Token], between: &str) -> Option<String> {
    let text = |(index, token): (usize, &Token)| match token {
        Token::Char(c) => Some(c.to_string()),
        Token::One => Some("q".to_owned()),
        Token::Many => Some("some-name".to_owned()),
        Token::Components => Some(between.to_owned()),
        Token::Below if index == 0 => Some(format!("{between}some-name")),
        Token::Below => Some(format!("/{between}some-name")),
        Token::Class { negated, ranges } => class_member(*negated, ranges).map(String::from),
        Token::Either(choices) => choices.iter().find_map(|choice| sample(choice, between)),
    };
    tokens.iter().enumerate().map(text).collect()
}

fn class_member(negated: bool, ranges: &[(char, char)]) -> Option<char> {
    let inside = |c: &char| ranges.iter().any(|(first, last)| (first..=last).contains(&c));
    let ends = ranges.iter().flat_map(|(first, last)| [*first, *last]);
    ('a'..='z').chain('0'..='9').chain(ends).find(|c| *c != '/' && inside(c) != negated)
}

/// Escapes what would be a wildcard.
#[must_use]
pub fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Splits off the anchor, drops `.` and doubled slashes, refuses `..`.
fn components(text: &str) -> Result<(Anchor, Vec<&str>), GlobError> {
    if text.len() > 1 && text.ends_with('/') && !text.ends_with("\\/") {
        return Err(GlobError::FinalSlash(text.into()));
    }
    let parts: Vec<_> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(GlobError::ParentDirectory);
    }
    let anchor = match parts.first() {
        _ if text.starts_with('/') => Anchor::Root,
        Some(&"**") => Anchor::Anywhere,
        _ => Anchor::Workspace,
    };
    Ok((anchor, if parts.is_empty() { vec!["."] } else { parts }))
}

/// Reads components into tokens, one character at a time.
struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    depth: usize,
}

impl Reader<'_> {
    fn read(components: &[&str]) -> Result<Box<[Token]>, GlobError> {
        // Classes and braces may contain a slash, so the text is read as one piece, with `**` as a piece of its own.
        let mut tokens = Vec::new();
        let mut start = 0;
        for (index, _) in components.iter().enumerate().filter(|(_, part)| **part == "**") {
            Self::plain(&mut tokens, &components[start..index], true)?;
            if tokens.last() != Some(&Token::Components) {
                tokens.push(Token::Components);
            }
            start = index + 1;
        }
        Self::plain(&mut tokens, &components[start..], false)?;
        Self::close(&mut tokens);
        Ok(tokens.into())
    }

    /// Reads components without `**`; `more` says that a slash follows the last one.
    fn plain(tokens: &mut Vec<Token>, parts: &[&str], more: bool) -> Result<(), GlobError> {
        if parts.is_empty() {
            return Ok(());
        }
        let text = parts.join("/");
        let mut reader = Reader { chars: text.chars().peekable(), depth: 0 };
        tokens.extend(reader.sequence()?);
        if reader.chars.next().is_some() {
            return Err(GlobError::OpenBrace);
        }
        if more {
            tokens.push(Token::Char('/'));
        }
        Ok(())
    }

    /// Turns a final `**` into its own token: `dir/**` is everything below `dir`.
    fn close(tokens: &mut Vec<Token>) {
        if tokens.last() == Some(&Token::Components) {
            tokens.pop();
            if tokens.last() == Some(&Token::Char('/')) {
                tokens.pop();
            }
            tokens.push(Token::Below);
        }
    }

    fn sequence(&mut self) -> Result<Vec<Token>, GlobError> {
        let mut tokens = Vec::new();
        while let Some(&c) = self.chars.peek() {
            if self.depth > 0 && matches!(c, ',' | '}') {
                break;
            }
            self.chars.next();
            let token = self.token(c)?;
            tokens.push(token);
        }
        Ok(tokens)
    }

    fn token(&mut self, c: char) -> Result<Token, GlobError> {
        match c {
            '\\' => Ok(Token::Char(self.chars.next().ok_or(PatternError::LoneBackslash)?)),
            '?' => Ok(Token::One),
            '*' if self.chars.peek() == Some(&'*') && self.depth > 0 => Err(GlobError::TreeInBraces),
            '*' if self.chars.peek() == Some(&'*') => Err(GlobError::PartialTree),
            '*' => Ok(Token::Many),
            '[' => self.class(),
            '{' => self.either(),
            '}' => Err(GlobError::OpenBrace),
            c => Ok(Token::Char(c)),
        }
    }

    fn class(&mut self) -> Result<Token, GlobError> {
        let negated = self.chars.next_if(|c| matches!(c, '!' | '^')).is_some();
        let mut ranges = Vec::new();
        loop {
            if let Some(named) = self.named_class()? {
                ranges.extend_from_slice(named);
                continue;
            }
            let first = match self.chars.next().ok_or(GlobError::OpenClass)? {
                // A `]` in the first place stands for itself, as in the shell.
                ']' if !ranges.is_empty() => break,
                '\\' => self.chars.next().ok_or(GlobError::OpenClass)?,
                c => c,
            };
            let last = self.range_end(first)?;
            if last < first {
                return Err(GlobError::EmptyClass);
            }
            ranges.push((first, last));
        }
        if !negated && ranges.iter().all(|range| *range == ('/', '/')) {
            return Err(GlobError::EmptyClass);
        }
        Ok(Token::Class { negated, ranges: ranges.into() })
    }

    /// `[:alpha:]`, if one stands here.
    fn named_class(&mut self) -> Result<Option<&'static [(char, char)]>, GlobError> {
        let mut ahead = self.chars.clone();
        if ahead.next() != Some('[') || ahead.next() != Some(':') {
            return Ok(None);
        }
        let name: String = ahead.by_ref().take_while(|c| *c != ':').collect();
        if ahead.next() != Some(']') {
            return Ok(None);
        }
        let found = CLASSES.iter().find(|(known, _)| *known == name);
        let (_, ranges) = found.ok_or_else(|| GlobError::UnknownClass(name.into()))?;
        self.chars = ahead;
        Ok(Some(ranges))
    }

    fn range_end(&mut self, first: char) -> Result<char, GlobError> {
        let mut ahead = self.chars.clone();
        if ahead.next() != Some('-') || matches!(ahead.peek(), Some(']') | None) {
            return Ok(first);
        }
        self.chars.next();
        match self.chars.next().ok_or(GlobError::OpenClass)? {
            '\\' => self.chars.next().ok_or(GlobError::OpenClass),
            c => Ok(c),
        }
    }

    fn either(&mut self) -> Result<Token, GlobError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(GlobError::TooDeep);
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.sequence()?.into_boxed_slice());
            match self.chars.next() {
                Some(',') => {}
                Some('}') => break,
                _ => return Err(GlobError::OpenBrace),
            }
        }
        self.depth -= 1;
        if let [only] = &*choices
            && is_range(only)
        {
            return Err(GlobError::BraceRange);
        }
        Ok(Token::Either(choices.into()))
    }
}

/// Returns true if the only alternative of `{…}` is a range as shells have them.
fn is_range(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| pair == [Token::Char('.'), Token::Char('.')])
}

/// The classes that can be named in `[…]`, as in the shell, for ASCII.
const CLASSES: &[(&str, &[(char, char)])] = &[
    ("alpha", &[('A', 'Z'), ('a', 'z')]),
    ("digit", &[('0', '9')]),
    ("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("upper", &[('A', 'Z')]),
    ("lower", &[('a', 'z')]),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
    ("space", &[('\t', '\r'), (' ', ' ')]),
    ("blank", &[('\t', '\t'), (' ', ' ')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
];
