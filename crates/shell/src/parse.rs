//! Text -> tree, as the shells do it: one pass, no tokens apart from the grammar, because what a byte means depends on
//! where it stands.
//!
//! **Limits.** Nesting and the number of nodes are bounded. The nodes of an attempt that is given up count too (`((` may
//! begin arithmetic or two subshells), so that the work is bounded with them.

mod command;
mod compound;
mod cursor;
mod dollar;
mod heredoc;
mod list;
mod test;
mod word;

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::Dialect;
use crate::tree::{List, Span};
use heredoc::Pending;

/// Deepest nesting of constructs.
pub(crate) const MAX_DEPTH: u32 = 60;

/// Largest number of nodes of a text, with everything that is read again inside it.
pub(crate) const MAX_NODES: u32 = 16_000;

/// Reads a text; what could not be read is an error, with its place.
pub fn parse(text: &str, dialect: Dialect) -> Result<List, ParseError> {
    let nodes = Nodes::new();
    let read = parse_partly(text, dialect, &nodes, None);
    match read.error.or(read.late.first().copied()) {
        Some(error) => Err(error),
        None => Ok(read.list),
    }
}

/// Reads the commands before the first error, and the error.
#[must_use]
pub fn parse_prefix(text: &str, dialect: Dialect) -> (List, Option<ParseError>) {
    let read = parse_partly(text, dialect, &Nodes::new(), None);
    (read.list, read.error)
}

/// Why a text is no command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ParseError {
    /// The problem.
    pub problem: Problem,
    /// Its position.
    pub span: Span,
}

/// Problem of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Something stands where it cannot.
    #[error("this cannot stand here")]
    Unexpected,
    /// Something is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A quote or bracket is not closed.
    #[error("`{0}` is not closed")]
    Open(&'static str),
    /// Nested too deep.
    #[error("nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// Too many nodes.
    #[error("more than {MAX_NODES} parts")]
    TooLarge,
}

impl Problem {
    /// Returns true if a limit was reached, rather than a mistake found.
    #[must_use]
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::TooDeep | Self::TooLarge)
    }
}

/// Partial result of reading a text.
pub(crate) struct Partly {
    /// Everything up to the first error.
    pub(crate) list: List,
    /// The first error.
    pub(crate) error: Option<ParseError>,
    /// Errors in pieces that the shell reads only when it gets there: between backticks, in here-documents. The rest of the
    /// line runs all the same.
    pub(crate) late: Vec<ParseError>,
    /// Characters that mislead, outside quotes.
    pub(crate) misleading: Vec<(Span, char)>,
}

/// Counts nodes, in a text and in everything that is read again inside it.
#[derive(Debug)]
pub(crate) struct Nodes(Cell<u32>);

impl Nodes {
    pub(crate) fn new() -> Self {
        Self(Cell::new(0))
    }

    /// So many more; `None` when there are too many.
    pub(crate) fn add(&self, more: usize) -> Option<()> {
        self.0.set(self.0.get().saturating_add(u32::try_from(more).unwrap_or(u32::MAX)));
        (self.0.get() <= MAX_NODES).then_some(())
    }
}

/// Reads as much as can be read. `place`: for every byte of the text and its end, where it stands in another text.
pub(crate) fn parse_partly(text: &str, dialect: Dialect, nodes: &Nodes, place: Option<&[u32]>) -> Partly {
    let mut parser = Parser::new(text, dialect, nodes, place);
    let (list, error) = parser.script();
    Partly { list, error, late: parser.late, misleading: parser.misleading }
}

type Parsed<T> = Result<T, ParseError>;

struct Parser<'a> {
    text: &'a str,
    dialect: Dialect,
    nodes: &'a Nodes,
    place: Option<&'a [u32]>,
    pos: usize,
    /// End of reading, for a piece of the text that is read on its own.
    end: usize,
    depth: u32,
    pending: Vec<Pending>,
    late: Vec<ParseError>,
    misleading: Vec<(Span, char)>,
    /// Delimiters of the here-documents that are being read piece by piece.
    delimiters: Vec<(String, bool)>,
    /// Number of here-documents that have been read.
    heredocs: u32,
    /// Offsets of `((` that do not begin arithmetic.
    not_arith: BTreeSet<usize>,
    /// True if something separated the last command from what follows.
    separated: bool,
    /// True if a word is being read inside `[[ … ]]`.
    in_test: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, dialect: Dialect, nodes: &'a Nodes, place: Option<&'a [u32]>) -> Self {
        Self {
            text,
            dialect,
            nodes,
            place,
            pos: 0,
            end: text.len(),
            depth: 0,
            pending: Vec::new(),
            late: Vec::new(),
            misleading: Vec::new(),
            delimiters: Vec::new(),
            heredocs: 0,
            not_arith: BTreeSet::new(),
            separated: true,
            in_test: false,
        }
    }

    fn is(&self, dialect: Dialect) -> bool {
        self.dialect == dialect
    }

    /// Reads something nested, one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_here(Problem::TooDeep));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Keeps an error for later, if the shell would: a limit is reached at once.
    fn later<T: Default>(&mut self, read: Parsed<T>) -> Parsed<T> {
        match read {
            Err(error) if !error.problem.is_limit() => {
                self.late.push(error);
                Ok(T::default())
            }
            read => read,
        }
    }

    fn node(&self) -> Parsed<()> {
        self.nodes.add(1).ok_or_else(|| self.error_here(Problem::TooLarge))
    }

    fn error_here(&self, problem: Problem) -> ParseError {
        let length = self.char().map_or(0, char::len_utf8);
        self.error(problem, self.pos, self.pos + length)
    }

    fn error(&self, problem: Problem, start: usize, end: usize) -> ParseError {
        ParseError { problem, span: self.span(start, end) }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.original(start), self.original(end))
    }

    fn original(&self, at: usize) -> u32 {
        match self.place {
            Some(place) => place.get(at).or(place.last()).copied().unwrap_or(0),
            None => u32::try_from(at).unwrap_or(u32::MAX),
        }
    }
}
