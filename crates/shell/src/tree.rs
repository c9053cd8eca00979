//! A command line as a tree. Every node knows where it stands in the text.
//!
//! Two trees are equal when they say the same; where their nodes stood makes no difference.

mod spans;

use std::sync::{Arc, OnceLock};

pub use policy::Span;

/// The place of a node, which is no part of what the node says.
#[derive(Debug, Clone, Copy, Default)]
pub struct At(pub Span);

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for At {}

/// Commands in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// Items between `;`, `&` and line ends.
    pub items: Vec<Item>,
    /// Position.
    pub at: At,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Each with what stands before it; nothing stands before the first.
    pub pipelines: Vec<(Join, Pipeline)>,
    /// True if the shell goes on at once (`&`).
    pub background: bool,
    /// Position.
    pub at: At,
}

/// Operator before a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Nothing.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Number of `!` before it.
    pub bangs: u32,
    /// `Some` if `time` stands before it; true with `-p`.
    pub timed: Option<bool>,
    /// The commands; each says whether its errors go into the next one too (`|&`).
    pub commands: Vec<(Command, bool)>,
    /// Position.
    pub at: At,
}

/// One command with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Kind of command.
    pub kind: Kind,
    /// Redirections.
    pub redirects: Vec<Redirection>,
    /// Position.
    pub at: At,
}

/// Kind of command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Assignments and words.
    Simple {
        /// Assignments before the first word.
        assignments: Vec<Assign>,
        /// The words.
        words: Vec<Argument>,
    },
    /// `{ …; }`
    Group(List),
    /// `(…)`
    Subshell(List),
    /// `if …; then …; elif …; else …; fi`
    If {
        /// Conditions with what they lead to.
        arms: Vec<(List, List)>,
        /// List after `else`.
        otherwise: Option<List>,
    },
    /// `while …; do …; done`, and `until`.
    While {
        /// True if it is `until`.
        until: bool,
        /// The condition.
        test: List,
        /// The body.
        body: List,
    },
    /// `for x in …; do …; done`, and `select`.
    For {
        /// True if it is `select`.
        select: bool,
        /// The variables.
        names: Vec<Word>,
        /// The values; `None` means the positional parameters.
        words: Option<Vec<Word>>,
        /// The body.
        body: List,
    },
    /// `for ((…; …; …)); do …; done`
    Count {
        /// All that stands between the parentheses.
        head: Vec<Part>,
        /// The body.
        body: List,
    },
    /// zsh's `repeat n …`
    Repeat {
        /// Number of turns.
        times: Word,
        /// The body.
        body: List,
    },
    /// `case … in …) …;; esac`
    Case {
        /// Word that is compared.
        subject: Word,
        /// The patterns with what they lead to.
        arms: Vec<Arm>,
    },
    /// `[[ … ]]`
    Test(Vec<TestPart>),
    /// `((…))`
    Arith(Vec<Part>),
    /// A definition; without a name, a body that runs at once.
    Function {
        /// The names.
        names: Vec<Word>,
        /// The body.
        body: Box<Command>,
    },
    /// `coproc …`
    Coproc {
        /// Its name.
        name: Option<Word>,
        /// Command that runs.
        body: Box<Command>,
    },
    /// zsh's `{ … } always { … }`
    Always {
        /// List that is tried.
        body: List,
        /// List that follows in any case.
        always: List,
    },
}

/// A word after the first, or an array that a declaration takes in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A word.
    Word(Word),
    /// `name=(…)` as an argument.
    Array(Assign),
}

/// One arm of `case`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    /// The patterns.
    pub patterns: Vec<Word>,
    /// List that runs on a match.
    pub body: List,
    /// End of the arm.
    pub end: ArmEnd,
    /// Position.
    pub at: At,
}

/// End of an arm of `case`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`
    Break,
    /// `;&`
    Fall,
    /// `;;&`, and `;|` of zsh.
    Next,
}

/// A piece of `[[ … ]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestPart {
    /// An operator that is no word: `&&`, `||`, `(`, `)`, `<`, `>`, `!`.
    Operator(&'static str),
    /// An operand, or an operator that is spelled as a word.
    Word(Word),
    /// The right side of `=~`, in which parentheses and bars are text.
    Regex(Word),
}

/// An assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assign {
    /// The variable.
    pub name: String,
    /// Text between brackets after the name.
    pub subscript: Option<Vec<Part>>,
    /// True if it adds (`+=`).
    pub append: bool,
    /// The value.
    pub value: Value,
    /// Position.
    pub at: At,
}

/// Assigned value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A word.
    Word(Word),
    /// `(…)`
    Array(Vec<Word>),
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The descriptor: a number, or a name in braces.
    pub descriptor: Option<Descriptor>,
    /// Operator.
    pub operator: &'static str,
    /// The file, the descriptor, or the text of a here-string. For a here-document, what ends it.
    pub target: Word,
    /// The text of a here-document, which is read after the line it is asked for on.
    pub body: Option<Arc<OnceLock<Heredoc>>>,
    /// Position.
    pub at: At,
}

/// Descriptor directly before a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// A number.
    Number(String),
    /// `{name}`, with what stands in brackets after the name.
    Name(Word),
}

/// The text of a here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heredoc {
    /// Delimiter, without quotes.
    pub delimiter: String,
    /// True if the shell takes the text as it is.
    pub quoted: bool,
    /// True if the line that ends it is there; otherwise it goes on to the end.
    pub ended: bool,
    /// The text.
    pub parts: Vec<Part>,
    /// Position of the text. It is not inside the command, but after the line of it.
    pub at: At,
}

/// A word before it is expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Its pieces.
    pub parts: Vec<Part>,
    /// Position.
    pub at: At,
}

/// One piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Kind of piece.
    pub kind: PartKind,
    /// Position.
    pub at: At,
}

/// Kind of a piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartKind {
    /// Text without quotes: wildcards, braces and tildes in it have their meaning.
    Text(String),
    /// `\c`
    Escaped(char),
    /// `'…'`
    Single(String),
    /// `$'…'`, not yet decoded.
    Ansi(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `$x`, `${x…}`
    Param(Box<Param>),
    /// `$((…))`, or `$[…]` when `bracket`.
    Arith {
        /// Pieces inside.
        parts: Vec<Part>,
        /// True if it is `$[…]`.
        bracket: bool,
    },
    /// `$(…)`, `` `…` ``, `${ …; }`
    Command {
        /// List that runs.
        list: List,
        /// Spelling.
        style: Style,
    },
    /// `<(…)`, `>(…)`, and `=(…)` of zsh.
    Process {
        /// The character before the parenthesis.
        direction: char,
        /// List that runs.
        list: List,
    },
    /// Parentheses inside a word: alternatives and qualifiers of patterns.
    Group(Vec<Part>),
}

/// Spelling of a command substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `$(…)`
    Dollar,
    /// `` `…` ``
    Backtick,
    /// `${ …; }`
    Brace,
}

/// The value of a variable, and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// True if it has braces.
    pub braced: bool,
    /// zsh's flags between parentheses.
    pub flags: Option<String>,
    /// Operators before the name: `#`, `!`, and `^ = ~ +` of zsh.
    pub prefix: String,
    /// The name, or the character of a special parameter. Empty when something else stands in its place.
    pub name: String,
    /// Expansion in the place of a name in zsh: `${${x}…}`, `${"…"}`, `${$(…)}`.
    pub inner: Option<Part>,
    /// Text between brackets after the name.
    pub subscript: Option<Vec<Part>>,
    /// The operator: `:-`, `#`, `/`, `@` and so on. Empty when there is none.
    pub operator: String,
    /// Operand of the operator.
    pub operand: Vec<Part>,
}

impl List {
    /// Calls `look` with every command below, outer ones first.
    pub fn each_command<'a>(&'a self, look: &mut dyn FnMut(&'a Command)) {
        for item in &self.items {
            for (_, pipeline) in &item.pipelines {
                for (command, _) in &pipeline.commands {
                    command.each_command(look);
                }
            }
        }
    }
}

impl Command {
    /// Calls `look` with this command and every one that it holds as a command, not inside words.
    pub fn each_command<'a>(&'a self, look: &mut dyn FnMut(&'a Self)) {
        look(self);
        match &self.kind {
            Kind::Simple { .. } | Kind::Test(_) | Kind::Arith(_) => {}
            Kind::Group(list) | Kind::Subshell(list) => list.each_command(look),
            Kind::If { arms, otherwise } => {
                for (test, body) in arms {
                    test.each_command(look);
                    body.each_command(look);
                }
                if let Some(body) = otherwise {
                    body.each_command(look);
                }
            }
            Kind::While { test, body, .. } => {
                test.each_command(look);
                body.each_command(look);
            }
            Kind::For { body, .. } | Kind::Count { body, .. } | Kind::Repeat { body, .. } => {
                body.each_command(look);
            }
            Kind::Case { arms, .. } => arms.iter().for_each(|arm| arm.body.each_command(look)),
            Kind::Function { body, .. } | Kind::Coproc { body, .. } => body.each_command(look),
            Kind::Always { body, always } => {
                body.each_command(look);
                always.each_command(look);
            }
        }
    }

    /// The first word, if it is written plainly.
    #[must_use]
    pub fn plain_name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Simple { words, .. } => match words.first()? {
                Argument::Word(word) => word.plain_text(),
                Argument::Array(_) => None,
            },
            _ => None,
        }
    }
}

impl Word {
    /// The text of a word that is one piece without quotes.
    #[must_use]
    pub fn plain_text(&self) -> Option<&str> {
        match &*self.parts {
            [Part { kind: PartKind::Text(text), .. }] => Some(text),
            _ => None,
        }
    }
}

/// The names of all variables that a list sets by assignments or loops.
pub(crate) fn names_of(list: &List) -> impl Iterator<Item = &str> {
    let mut names = Vec::new();
    list.each_command(&mut |command| match &command.kind {
        Kind::Simple { assignments, words } => {
            names.extend(assignments.iter().map(|assign| assign.name.as_str()));
            // `read x`, `declare x=1`, `printf -v x`: any plain word may be the name of a variable that is set.
            let words = words.iter().skip(1).filter_map(|word| match word {
                Argument::Word(word) => word.parts.first().and_then(|part| match &part.kind {
                    PartKind::Text(text) => text.split(['=', '+', '[']).next(),
                    _ => None,
                }),
                Argument::Array(assign) => Some(assign.name.as_str()),
            });
            if command.plain_name().is_none_or(|name| SETTERS.contains(&name)) {
                names.extend(words);
            }
        }
        Kind::For { names: variables, .. } => names.extend(variables.iter().filter_map(Word::plain_text)),
        _ => {}
    });
    names.into_iter()
}

/// Returns true if a list runs text as commands, or commands that are not spelled out: they may set anything.
pub(crate) fn runs_text(list: &List) -> bool {
    let mut found = false;
    list.each_command(&mut |command| {
        let simple = matches!(&command.kind, Kind::Simple { words, .. } if !words.is_empty());
        let name = command.plain_name();
        found |= simple
            && name.is_none_or(|name| matches!(name, "eval" | "source" | "." | "trap" | "alias" | "emulate"));
    });
    found
}

/// Builtins that set variables named by their words.
const SETTERS: &[&str] = &[
    "read",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "printf",
    "mapfile",
    "readarray",
    "getopts",
    "unset",
    "let",
    "integer",
    "float",
    "eval",
];

/// Returns true if a command starts something of a name twice in one pipeline, or once in the background beside another.
pub(crate) fn multiplies(body: &Command, name: &str) -> bool {
    let mut found = false;
    body.each_command(&mut |command| {
        let lists: &[&List] = match &command.kind {
            Kind::Group(list) | Kind::Subshell(list) => &[list],
            Kind::While { body, .. } | Kind::For { body, .. } => &[body],
            _ => &[],
        };
        for item in lists.iter().flat_map(|list| &list.items) {
            let calls = item.pipelines.iter().flat_map(|(_, pipeline)| &pipeline.commands);
            let calls = calls.filter(|(command, _)| command.plain_name() == Some(name)).count();
            let looped = matches!(command.kind, Kind::While { .. } | Kind::For { .. });
            found |= calls > 1 || (calls == 1 && item.background && (looped || again(lists, name)));
        }
    });
    found
}

/// Returns true if a name is called more than once in a list.
fn again(lists: &[&List], name: &str) -> bool {
    let mut calls = 0;
    for list in lists {
        list.each_command(&mut |command| calls += u32::from(command.plain_name() == Some(name)));
    }
    calls > 1
}
