//! A command pattern in every spelling of the same command: options are a set, and a subcommand has any of its names.
//!
//! This is for restrictions only, beside the words as they are written: it finds more, never less.

use crate::command::{in_order, installed_name};
use crate::invocation::Word;
use crate::options::{CommandEntry, OptionEntry};
use crate::pattern::{Pattern, PatternError};
use crate::reading::{Given, Place, Reading, Spelled, Value, is_option};
use crate::word_pattern::{Resolve, WordPattern};

const WILD: [char; 3] = ['*', '?', '\\'];

/// A pattern, read by the table of options. Numbers are indices of its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Spellings {
    /// The program, if the table has it.
    program: Option<&'static CommandEntry>,
    /// The subcommand, if the table has it.
    subcommand: Option<&'static CommandEntry>,
    /// First words of commands that can be the subcommand.
    subcommand_names: Box<[&'static str]>,
    options: Box<[OptionWord]>,
    /// Words that come in their order, from the first operand on.
    ordered: Box<[usize]>,
    /// The same without the words of the subcommand.
    operands: Box<[usize]>,
    /// Paths, which may stand anywhere.
    paths: Box<[usize]>,
    has_unreviewed_options: bool,
}

/// A word of the pattern that is an option or a cluster of options.
#[derive(Debug, Clone)]
struct OptionWord {
    argument: usize,
    /// True if the next word of the pattern is its value.
    takes_next: bool,
    parts: Box<[WantedOption]>,
}

#[derive(Debug, Clone)]
struct WantedOption {
    /// One of its names.
    name: Pattern,
    /// Its letter, if the name is one.
    letter: Option<char>,
    value: Option<WordPattern>,
}

/// A command that is held against a pattern.
struct Candidate<'a> {
    patterns: &'a [WordPattern],
    arguments: &'a [Word],
    cwd: Option<&'a str>,
    reading: Reading<'a>,
}

impl Spellings {
    /// Reads a pattern; `None` when it has no other spellings than its words.
    pub(crate) fn new(
        words: &[WordPattern],
        resolve: Option<&Resolve<'_>>,
    ) -> Result<Option<Self>, PatternError> {
        let Some((first, arguments)) = words.split_first() else { return Ok(None) };
        let program = first.pattern().literal().and_then(|name| entry(&name));
        let texts: Vec<_> = arguments.iter().map(|word| Word::literal(word.pattern().as_str())).collect();
        let reading = Reading::new(program, &texts);
        let place = |at: &usize| reading.places[*at];
        let all = 0..arguments.len();
        let is_path = |at: &usize| arguments[*at].is_location() && place(at) != Place::Value;
        let is_ordered = |at: &usize| {
            let is_word = !arguments[*at].is_location() && !arguments[*at].is_option();
            is_word && !matches!(place(at), Place::Option | Place::Value)
        };
        let ordered: Box<[_]> = all.clone().filter(is_ordered).collect();
        let operands: Box<[_]> =
            ordered.iter().copied().filter(|at| place(at) != Place::Subcommand).collect();
        let subcommand = reading.command.filter(|_| operands.len() < ordered.len());
        let spellings = Self {
            program,
            subcommand,
            subcommand_names: subcommand_names(program, subcommand),
            options: option_words(arguments, &reading, resolve)?,
            paths: all.filter(is_path).collect(),
            has_unreviewed_options: reading.options.iter().any(|given| !is_reviewed(given, reading.command)),
            ordered,
            operands,
        };
        Ok(Some(spellings).filter(Self::has_other_spellings))
    }

    fn has_other_spellings(&self) -> bool {
        let mixed = !self.paths.is_empty() && !self.ordered.is_empty();
        self.program.is_some() || !self.options.is_empty() || mixed
    }

    /// Returns true if an option of the pattern is not in the table, so that its other names are not known.
    pub(crate) fn has_unreviewed_options(&self) -> bool {
        self.has_unreviewed_options
    }

    /// Returns true if a command is one of the spellings. The program is checked by the caller.
    pub(crate) fn fit(&self, words: &[WordPattern], argv: &[Word], cwd: Option<&str>, exact: bool) -> bool {
        let (Some(patterns), Some((program, arguments))) = (words.get(1..), argv.split_first()) else {
            return false;
        };
        if !self.could_have_options(arguments) {
            return false;
        }
        let reading = Reading::new(self.program.or_else(|| entry(&program.text)), arguments);
        let candidate = Candidate { patterns, arguments, cwd, reading };
        self.options.iter().all(|option| candidate.has_option(option))
            && self.paths.iter().all(|path| candidate.has_path(*path))
            && self.is_in_order(&candidate)
            && (!exact || self.has_no_more_operands(&candidate))
    }

    /// Returns true if the first required word is there. A quick look that spares most commands everything else, also
    /// the comparison with the words as they are written.
    pub(crate) fn could_fit(&self, words: &[WordPattern], argv: &[Word], cwd: Option<&str>) -> bool {
        let (Some(patterns), Some(arguments)) = (words.get(1..), argv.get(1..)) else { return false };
        let Some(first) = self.ordered.first() else { return true };
        let may_be_first = |word: &Word| match self.subcommand {
            _ if !word.is_literal() => true,
            Some(_) => self.subcommand_names.contains(&word.text.as_str()) || word.text.contains('='),
            None => patterns[*first].fits(word, None, cwd),
        };
        arguments.iter().any(may_be_first)
    }

    fn could_have_options(&self, arguments: &[Word]) -> bool {
        let needs_dash = self.program.is_none_or(|program| program.style.needs_dash());
        let may_be_option = |word: &Word| !word.is_literal() || word.text.starts_with('-');
        self.options.is_empty() || !needs_dash || arguments.iter().any(may_be_option)
    }

    fn is_in_order(&self, candidate: &Candidate<'_>) -> bool {
        let is_same = self.is_same_subcommand(candidate);
        let wanted = if is_same { &self.operands } else { &self.ordered };
        let Candidate { patterns, arguments, cwd, reading } = candidate;
        let can_fit = |at: usize| match reading.places[at] {
            Place::Operand | Place::ValueOrOperand => true,
            Place::Subcommand => !is_same,
            Place::Option | Place::Value => false,
        };
        let is_path =
            |at: usize| self.paths.iter().any(|path| patterns[*path].fits(&arguments[at], None, *cwd));
        let can_skip = |at: usize| match reading.places[at] {
            Place::Option | Place::Value | Place::ValueOrOperand => true,
            Place::Subcommand => is_same || is_path(at),
            Place::Operand => is_path(at),
        };
        in_order(wanted.iter().map(|at| &patterns[*at]), arguments, *cwd, can_fit, can_skip)
    }

    fn is_same_subcommand(&self, candidate: &Candidate<'_>) -> bool {
        let both = self.subcommand.zip(candidate.reading.command);
        both.is_some_and(|(wanted, given)| std::ptr::eq(wanted, given))
    }

    fn has_no_more_operands(&self, candidate: &Candidate<'_>) -> bool {
        let is_same = self.is_same_subcommand(candidate);
        let counts = |place: &&Place| match place {
            Place::Operand => true,
            Place::Subcommand => !is_same,
            Place::Option | Place::Value | Place::ValueOrOperand => false,
        };
        let wanted = if is_same { self.operands.len() } else { self.ordered.len() };
        candidate.reading.places.iter().filter(counts).count() <= wanted + self.paths.len()
    }
}

impl Candidate<'_> {
    /// The word as it is written, or each of its options somewhere.
    fn has_option(&self, option: &OptionWord) -> bool {
        let written = &self.patterns[option.argument];
        let is_written = |(at, word)| written.fits(word, self.arguments.get(at + 1), self.cwd);
        !option.takes_next && self.arguments.iter().enumerate().any(is_written)
            || option.parts.iter().all(|part| self.has_part(part))
    }

    fn has_part(&self, wanted: &WantedOption) -> bool {
        let fits = |given: &Given<'_>| wanted.is_called(given) && self.has_value(wanted, given);
        self.reading.may_have_any || self.reading.options.iter().any(fits)
    }

    fn has_value(&self, wanted: &WantedOption, given: &Given<'_>) -> bool {
        let Some(value) = &wanted.value else { return true };
        match given.value {
            Value::None => false,
            Value::Argument(at) => {
                self.arguments.get(at).is_some_and(|word| value.fits(word, None, self.cwd))
            }
            // `-n=x` has the value `x` or `=x`.
            Value::Attached(text) => [Some(text), text.strip_prefix('=')].into_iter().flatten().any(|text| {
                let certainty = self.arguments[given.at].certainty;
                value.fits(&Word { certainty, ..Word::literal(text) }, None, self.cwd)
            }),
        }
    }

    /// A path may also be the value of an option; `.` is too common there.
    fn has_path(&self, path: usize) -> bool {
        let pattern = &self.patterns[path];
        let counts = |at: usize| pattern.is_path() || self.reading.places[at] != Place::Value;
        let mut words = self.arguments.iter().enumerate();
        words.any(|(at, word)| counts(at) && pattern.fits(word, None, self.cwd))
    }
}

impl WantedOption {
    fn is_called(&self, given: &Given<'_>) -> bool {
        match (given.entry, given.spelled) {
            (Some(entry), _) => entry.names().any(|name| self.name.matches(name)),
            (None, Spelled::Letter(letter)) => {
                self.letter == Some(letter)
                    || self.name.literal().is_none() && self.name.matches(&format!("-{letter}"))
            }
            (None, Spelled::Name(name)) => self.name.matches(name),
            (None, Spelled::Start(start)) => self.name.stem().starts_with(start),
        }
    }
}

/// The entry of a program, also when it is written with its path.
fn entry(program: &str) -> Option<&'static CommandEntry> {
    CommandEntry::of(installed_name(program).unwrap_or(program))
}

/// The first words by which a subcommand can be reached.
fn subcommand_names(
    program: Option<&'static CommandEntry>,
    wanted: Option<&'static CommandEntry>,
) -> Box<[&'static str]> {
    let (Some(program), Some(wanted)) = (program, wanted) else { return Box::default() };
    let leads = |name: &&str| program.subcommand(name).is_some_and(|entry| entry.leads_to(wanted));
    program.subcommand_names().filter(leads).collect()
}

fn option_words(
    arguments: &[WordPattern],
    reading: &Reading<'_>,
    resolve: Option<&Resolve<'_>>,
) -> Result<Box<[OptionWord]>, PatternError> {
    let parts = |argument: usize| {
        let given = reading.options.iter().filter(move |given| given.at == argument);
        let parts = given.map(|given| wanted_option(arguments, given, resolve));
        parts.collect::<Result<Vec<_>, _>>().map(|parts| merged(&arguments[argument], parts))
    };
    let words = (0..arguments.len()).filter(|at| arguments[*at].is_option() || reading.has_option_in(*at));
    let takes_next = |argument: usize| {
        let mut given = reading.options.iter().filter(|given| given.at == argument);
        given.any(|given| next_value(arguments, given).is_some())
    };
    let word =
        |argument| Ok(OptionWord { argument, takes_next: takes_next(argument), parts: parts(argument)? });
    words.map(word).collect()
}

/// A cluster with a wildcard is no cluster, and a shortened name that means several options wants one of them.
fn merged(word: &WordPattern, mut parts: Vec<WantedOption>) -> Box<[WantedOption]> {
    let text = word.pattern().as_str();
    let is_cluster = is_option(text) && parts.iter().any(|part| part.letter.is_some());
    if is_cluster && text.contains(WILD) && parts.iter().all(|part| part.value.is_none()) {
        parts = vec![WantedOption { name: word.pattern().clone(), letter: None, value: None }];
    } else if parts.iter().all(|part| part.letter.is_none()) {
        parts.truncate(1);
    }
    parts.into()
}

fn wanted_option(
    arguments: &[WordPattern],
    given: &Given<'_>,
    resolve: Option<&Resolve<'_>>,
) -> Result<WantedOption, PatternError> {
    let (name, letter) = match given.spelled {
        Spelled::Letter(letter) => (format!("-\\{letter}"), Some(letter)),
        Spelled::Name(name) | Spelled::Start(name) => {
            let is_shortened = given.entry.is_some_and(|entry| !entry.is_called(name));
            (if is_shortened { format!("{name}*") } else { name.to_owned() }, None)
        }
    };
    let value = match given.value {
        Value::Attached(text) if !text.is_empty() => Some(WordPattern::parse(text, true, resolve)?),
        _ => next_value(arguments, given).cloned(),
    };
    Ok(WantedOption { name: Pattern::parse(&name)?, letter, value })
}

/// The word of the pattern that is the value of an option.
fn next_value<'a>(arguments: &'a [WordPattern], given: &Given<'_>) -> Option<&'a WordPattern> {
    let Value::Argument(at) = given.value else { return None };
    let takes_next = given.entry.is_some_and(OptionEntry::takes_next);
    arguments.get(at).filter(|word| takes_next && !word.is_option())
}

fn is_reviewed(given: &Given<'_>, command: Option<&'static CommandEntry>) -> bool {
    let name = match given.spelled {
        _ if given.entry.is_some() => return true,
        Spelled::Letter(_) => return false,
        Spelled::Name(name) | Spelled::Start(name) => name,
    };
    let stem = name.split(WILD).next().unwrap_or_default();
    let mut known = command.into_iter().flat_map(|command| command.options_starting(stem));
    name.contains(WILD) && known.next().is_some()
}
