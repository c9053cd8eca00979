//! Programs that a command line would start: the types that the shell reader and the rules share.

use std::sync::Arc;

use crate::Code;

/// Programs that a command line would start, and findings from reading it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Every program that would start, in the order of the text.
    pub programs: Vec<Program>,
    /// Findings besides the programs.
    pub findings: Vec<Finding>,
}

impl Invocation {
    /// Returns true if the programs are certainly all. If not, nothing may be allowed on the strength of them.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        !self.findings.iter().any(|finding| finding.code.is_uncertain())
    }
}

/// One program that would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its words.
    pub argv: Argv,
    /// Programs that only start this one (`env`, `nice`, `timeout`), outermost first. A restriction on one of them holds;
    /// a permission has to be about the program itself.
    pub through: Vec<Argv>,
    /// Which of its words write or start something that the program is not known for: `-i` of `sed`, `-delete` of `find`.
    /// A permission has to name them.
    pub hazards: Vec<u32>,
    /// Sources and targets of its streams.
    pub redirects: Vec<Redirect>,
    /// Variables that are set for it alone.
    pub assignments: Vec<Assignment>,
    /// The directory it starts in; `None` when that depends on values at run time.
    pub cwd: Option<Arc<str>>,
    /// Its place in a pipeline, counted from zero.
    pub stage: u32,
    /// True if its output goes to another program.
    pub piped: bool,
    /// Position in the text.
    pub span: Span,
}

impl Program {
    /// Creates a single program, as typed.
    #[must_use]
    pub fn alone(argv: Argv, cwd: Option<Arc<str>>) -> Self {
        let span = argv.span();
        Self {
            argv,
            through: Vec::new(),
            hazards: Vec::new(),
            redirects: Vec::new(),
            assignments: Vec::new(),
            cwd,
            stage: 0,
            piped: false,
            span,
        }
    }
}

/// One program with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv(Vec<Word>);

impl Argv {
    /// A program and its words; `None` when there is no program.
    #[must_use]
    pub fn new(words: Vec<Word>) -> Option<Self> {
        if words.is_empty() { None } else { Some(Self(words)) }
    }

    /// The words, the program first.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.0
    }

    /// The words joined by one blank.
    #[must_use]
    pub fn line(&self) -> String {
        self.line_as(self.0.first().map_or("", |program| &program.text))
    }

    /// The same with another name for the program.
    #[must_use]
    pub fn line_as(&self, program: &str) -> String {
        let rest = self.0.iter().skip(1);
        let length = rest.clone().map(|word| word.text.len() + 1).sum::<usize>();
        let mut line = String::with_capacity(program.len() + length);
        line.push_str(program);
        for word in rest {
            line.push(' ');
            line.push_str(&word.text);
        }
        line
    }

    /// From the first word to the last.
    #[must_use]
    pub fn span(&self) -> Span {
        let (first, last) = (self.0.first(), self.0.last());
        first.zip(last).map_or(Span::default(), |(first, last)| first.span.to(last.span))
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text, as far as it is known: what is not known at all counts as empty.
    pub text: String,
    /// Certainty of the text.
    pub certainty: Certainty,
    /// Position in the text.
    pub span: Span,
}

impl Word {
    /// A word that is known to be this.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), certainty: Certainty::Literal, span: Span::default() }
    }

    /// Returns true if nothing in it depends on values at run time.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.certainty == Certainty::Literal
    }
}

/// Certainty of a word. The larger, the less is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It is exactly its text.
    Literal,
    /// Its text is a pattern, and the word is every file name that fits.
    Pattern,
    /// It depends on values at run time.
    Unknown,
}

/// A file or text that stands for a stream of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Access that the program gets to the target.
    pub direction: Direction,
    /// The descriptor; `None` when the shell picks one.
    pub descriptor: Option<u32>,
    /// The file; for a text, the text.
    pub target: Word,
}

/// Access that a program gets to the target of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Read a file.
    Read,
    /// Create, truncate or append to a file.
    Write,
    /// Read and write a file.
    Both,
    /// Read a text that stands in the command line.
    Text,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// Something noticed in a text, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The cause, with a manual page behind it.
    pub code: Code,
    /// Position in the text.
    pub span: Span,
    /// One sentence for the author of the line.
    pub text: Box<str>,
    /// Safer way to write it.
    pub remedy: Option<Box<str>>,
}

impl Finding {
    /// Something noticed.
    #[must_use]
    pub fn new(code: Code, span: Span, text: impl Into<Box<str>>) -> Self {
        Self { code, span, text: text.into(), remedy: None }
    }

    /// Says how to write it instead.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Box<str>>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// A stretch of a text, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From one byte up to another.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// From here to the end of another.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns true if another lies inside.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}
