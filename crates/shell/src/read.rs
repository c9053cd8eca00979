//! Tree -> programs and findings: what the shells would do, as far as the text tells.
//!
//! The tree is walked in the order in which it would run. What is known on the way (variables, the directory, functions,
//! aliases) is kept in a [`state::State`]. A value that is not known for sure is *unprovable*, which is a finding of its own.

mod arith;
mod brace;
mod builtin;
mod command;
mod expand;
mod feed;
mod foresee;
mod number;
mod param;
mod start;
mod state;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use policy::{Code, Finding, Invocation, Span, Word};

use crate::parse::{Nodes, ParseError, Partly, parse_partly};
use crate::tree::List;
use crate::{Dialect, Surroundings};
use feed::Feed;
use state::{State, Value};

/// Words of one shell's language that are names of programs for another.
const LANGUAGE: &[&str] = &[
    "[[",
    "coproc",
    "declare",
    "float",
    "foreach",
    "function",
    "integer",
    "let",
    "nocorrect",
    "noglob",
    "repeat",
    "select",
    "time",
    "typeset",
];

/// Deepest nesting of texts that are read again: `sh -c` in `sh -c`, `eval` in `eval`.
const MAX_TEXTS: u32 = 12;

/// Largest number of programs of a line.
const MAX_PROGRAMS: usize = 4096;

/// Number of programs or findings of one reading that are compared with those of another.
const MAX_COMPARED: usize = 64;

/// Number of findings that are kept.
const MAX_FINDINGS: usize = 1000;

/// Number of bytes that values may bring in.
const MAX_SPENT: usize = 1 << 20;

/// The longest text that is read.
const MAX_TEXT: usize = 4 << 20;

/// Reads a command line as the shells would.
#[must_use]
pub fn read(text: &[u8], around: &Surroundings<'_>) -> Invocation {
    match checked(text) {
        Ok(text) => read_text(text, around),
        Err(finding) => Invocation { programs: Vec::new(), findings: vec![finding] },
    }
}

/// Reads a command whose words are known, so that no shell reads it first.
#[must_use]
pub fn read_words(words: &[Word], around: &Surroundings<'_>) -> Invocation {
    let mut all = Invocation::default();
    for &dialect in around.dialects {
        let nodes = Nodes::new();
        let mut reader = Reader::new("", dialect, &nodes, around);
        reader.start_words(words.to_vec());
        merge(&mut all, reader.found, 0, 0);
    }
    all
}

/// Text that can be read at all.
fn checked(text: &[u8]) -> Result<&str, Finding> {
    let refuse = |at: usize, length: usize, what: String| {
        let span =
            Span::new(u32::try_from(at).unwrap_or(u32::MAX), u32::try_from(at + length).unwrap_or(u32::MAX));
        Finding::new(Code::MisleadingCharacter, span, what)
            .remedy("write the line in UTF-8, without such bytes")
    };
    if text.len() > MAX_TEXT {
        let what = format!("the text is longer than {MAX_TEXT} bytes");
        return Err(Finding::new(Code::TooComplex, Span::default(), what));
    }
    let valid = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        refuse(at, 1, format!("byte {at} is not part of any UTF-8 character"))
    })?;
    match valid.find('\0') {
        Some(at) => {
            Err(refuse(at, 1, format!("byte {at} is U+0000 NULL, where some shells stop and others go on")))
        }
        None => Ok(valid),
    }
}

/// Reads the text in every dialect; findings of any of them count. A mistake counts only if all of them make it.
fn read_text(text: &str, around: &Surroundings<'_>) -> Invocation {
    let mut all = Invocation::default();
    let mut mistakes = Vec::new();
    let mut names = Vec::new();
    for &dialect in around.dialects {
        let nodes = Nodes::new();
        let mut reader = Reader::new(text, dialect, &nodes, around);
        let mistake = reader.top(text);
        if around.dialects.len() == 1 {
            all = reader.found;
        } else {
            names.push((started(text, &reader.found), mistake.is_none()));
            merge(&mut all, reader.found, 0, 0);
        }
        mistakes.extend(mistake);
    }
    all.findings.extend(disagreement(&names));
    if let (Some(first), true) = (mistakes.first(), mistakes.len() == around.dialects.len()) {
        all.findings.push(unreadable(first));
    }
    all
}

/// The programs that a reading starts, with the first place of each.
fn started(text: &str, found: &Invocation) -> BTreeMap<String, Span> {
    let mut names = BTreeMap::new();
    for program in &found.programs {
        // `((n > 3))` is arithmetic for those who write it.
        let is_name = |word: &&Word| {
            let before = text.get(..word.span.start as usize).unwrap_or_default();
            word.is_literal() && !LANGUAGE.contains(&&*word.text) && !before.trim_end().ends_with("((")
        };
        if let Some(word) = program.argv.words().first().filter(is_name) {
            names.entry(word.text.clone()).or_insert(word.span);
        }
    }
    names
}

/// A program that some shells would start and others would not. A shell that cannot read the text starts no more.
fn disagreement(readings: &[(BTreeMap<String, Span>, bool)]) -> Option<Finding> {
    let missing = |name: &str| readings.iter().any(|(names, whole)| *whole && !names.contains_key(name));
    let all = readings.iter().flat_map(|(names, _)| names);
    let (name, span) = all.into_iter().find(|(name, _)| missing(name))?;
    let what = format!("some shells would start `{name}` here, others would not");
    let remedy = "say which shell runs the line";
    Some(Finding::new(Code::Unprovable, *span, what).remedy(remedy))
}

/// Adds what another reading of the same text found, unless the readings since these places found it too.
fn merge(all: &mut Invocation, found: Invocation, programs: usize, findings: usize) {
    // Many of the same cost nothing but room, so the search for them is bounded.
    let known = |all: &Invocation| all.programs.len().saturating_sub(programs).min(MAX_COMPARED);
    for program in found.programs {
        let compared = all.programs.get(programs..programs + known(all)).unwrap_or_default();
        if !compared.contains(&program) {
            all.programs.push(program);
        }
    }
    for finding in found.findings {
        let compared = all.findings.iter().skip(findings).take(MAX_COMPARED);
        if !compared.into_iter().any(|other| other.code == finding.code && other.span == finding.span) {
            all.findings.push(finding);
        }
    }
}

fn unreadable(error: &ParseError) -> Finding {
    let code = if error.problem.is_limit() { Code::TooComplex } else { Code::Unreadable };
    Finding::new(code, error.span, format!("the line cannot be read: {}", error.problem))
        .remedy("close every quote and bracket, and write one plain command at a time")
}

/// One dialect's reading of a text, and of every text in it that would be read again.
struct Reader<'a> {
    /// The text that came from outside, in which every place lies.
    text: &'a str,
    dialect: Dialect,
    nodes: &'a Nodes,
    around: &'a Surroundings<'a>,
    found: Invocation,
    state: Arc<State>,
    feed: Feed,
    /// True if there were more findings than are kept.
    full: bool,
    /// Number of bytes that values have brought in.
    spent: usize,
    /// Words whose values are numbers, where they are not known.
    numbers: BTreeSet<Span>,
    /// Depth of texts that are being read inside each other.
    texts: u32,
    /// Depth of uncertain branches. Zero: the text runs for sure.
    maybe: u32,
    stage: u32,
    piped: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, dialect: Dialect, nodes: &'a Nodes, around: &'a Surroundings<'a>) -> Self {
        Self {
            text,
            dialect,
            nodes,
            around,
            found: Invocation::default(),
            state: Arc::new(State::starting_in(around.cwd.map(Arc::from))),
            feed: Feed::outside(around.stdin),
            full: false,
            spent: 0,
            numbers: BTreeSet::new(),
            texts: 0,
            maybe: 0,
            stage: 0,
            piped: false,
        }
    }

    /// Reads the whole text; the mistake in it, if there is one that another dialect might not see.
    fn top(&mut self, text: &str) -> Option<ParseError> {
        let Partly { list, error, late, misleading } = parse_partly(text, self.dialect, self.nodes, None);
        self.characters(misleading);
        for error in &late {
            self.add(unreadable(error));
        }
        self.foresee(&list, text);
        self.list(&list);
        match error {
            Some(error) if error.problem.is_limit() => {
                self.add(unreadable(&error));
                None
            }
            error => error,
        }
    }

    /// Reads a text that a command would read as commands, in any of some dialects.
    fn code(&mut self, text: &str, dialects: &[Dialect], span: Span) {
        if self.texts >= MAX_TEXTS {
            self.note(Code::TooComplex, span, format!("commands in commands, more than {MAX_TEXTS} deep"));
            return;
        }
        let place = self.places(text, span);
        let outer = self.dialect;
        let mut mistakes = Vec::new();
        self.texts += 1;
        let (programs, findings) = (self.found.programs.len(), self.found.findings.len());
        for &dialect in dialects {
            self.dialect = dialect;
            let before = (self.found.programs.len(), self.found.findings.len());
            let Partly { list, error, late, misleading } =
                parse_partly(text, dialect, self.nodes, Some(&place));
            self.characters(misleading);
            for error in &late {
                self.add(unreadable(error));
            }
            mistakes.extend(error);
            self.foresee(&list, text);
            self.list(&list);
            let found = Invocation {
                programs: self.found.programs.split_off(before.0),
                findings: self.found.findings.split_off(before.1),
            };
            merge(&mut self.found, found, programs, findings);
        }
        self.texts -= 1;
        self.dialect = outer;
        let all = mistakes.len() == dialects.len();
        mistakes
            .iter()
            .filter(|error| all || error.problem.is_limit())
            .take(1)
            .for_each(|error| self.add(unreadable(error)));
    }

    /// Maps each byte of an inner text to its position outside: exactly, if the text is spelled there, else to its word.
    fn places(&self, text: &str, span: Span) -> Vec<u32> {
        let outside = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        // Words that no shell has read stand there as they are.
        let as_is =
            self.text.is_empty() && span.end.checked_sub(span.start) == u32::try_from(text.len()).ok();
        let at = if as_is { Some(0) } else { outside.find(text) };
        if let Some(at) = at.filter(|_| !text.is_empty()).and_then(|at| u32::try_from(at).ok()) {
            (0..=text.len()).map(|n| span.start + at + u32::try_from(n).unwrap_or(0)).collect()
        } else {
            let mut places = vec![span.start; text.len()];
            places.push(span.end);
            places
        }
    }

    fn state_mut(&mut self) -> &mut State {
        Arc::make_mut(&mut self.state)
    }

    /// Sets a variable, if what sets it runs at all.
    fn set(&mut self, name: &str, value: Value) {
        let surely = self.maybe == 0;
        self.state_mut().set(name, value, surely);
    }

    fn set_surely(&mut self, name: &str, value: Value) {
        self.state_mut().set(name, value, true);
    }

    fn note(&mut self, code: Code, span: Span, text: impl Into<Box<str>>) {
        self.add(Finding::new(code, span, text));
    }

    /// Adds a finding. A line with too many of them has one more, and that says it.
    fn add(&mut self, finding: Finding) {
        if self.found.findings.len() < MAX_FINDINGS {
            self.found.findings.push(finding);
        } else if !std::mem::replace(&mut self.full, true) {
            let what = format!("more than {MAX_FINDINGS} findings");
            self.found.findings.push(Finding::new(Code::TooComplex, finding.span, what));
        }
    }

    fn unprovable(&mut self, span: Span, what: impl Into<Box<str>>) {
        let remedy = "write the values out, or put the steps into a script and run that";
        self.add(Finding::new(Code::Unprovable, span, what).remedy(remedy));
    }

    fn characters(&mut self, misleading: Vec<(Span, char)>) {
        for (span, c) in misleading {
            let (code, name) = (u32::from(c), crate::character::name(c));
            let what = format!(
                "U+{code:04X} {name} at byte {} looks like something else or like nothing",
                span.start
            );
            let remedy = "leave the character out, or put it between quotes if it belongs to the text";
            self.add(Finding::new(Code::MisleadingCharacter, span, what).remedy(remedy));
        }
    }

    /// Walks something whose effects on the state stay inside it.
    fn in_subshell(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = (Arc::clone(&self.state), self.feed.clone());
        let pipe = (std::mem::take(&mut self.stage), std::mem::take(&mut self.piped));
        walk(self);
        (self.state, self.feed) = before;
        (self.stage, self.piped) = pipe;
    }

    /// Walks something that may not run, or more than once.
    fn in_uncertain_branch(&mut self, walk: impl FnOnce(&mut Self)) {
        let tables = self.state.tables();
        self.maybe += 1;
        walk(self);
        self.maybe -= 1;
        if self.state.tables() != tables {
            self.state_mut().keep_tables(&tables);
        }
    }

    fn inner_list(&mut self, list: &List) {
        self.in_subshell(|it| it.list(list));
    }
}
