//! The words of a command as options, their values and operands.
//!
//! This is for restrictions only: where two readings are possible, both count.

use crate::invocation::{Certainty, Word};
use crate::options::{CommandEntry, OptionEntry, Style, Takes};

/// The arguments of a program, read by the table of options.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The program with its subcommands, as far as the table has them.
    pub(crate) command: Option<&'static CommandEntry>,
    /// The role of each argument.
    pub(crate) places: Vec<Place>,
    pub(crate) options: Vec<Given<'a>>,
    /// True if an argument is not known and may be any option.
    pub(crate) may_have_any: bool,
}

/// The role of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Option,
    /// The value of the option before it.
    Value,
    /// The word before it is an option of which it is not known whether it takes a value.
    ValueOrOperand,
    Subcommand,
    Operand,
}

/// One option of a command.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    /// The argument it stands in.
    pub(crate) at: usize,
    pub(crate) entry: Option<OptionEntry>,
    pub(crate) spelled: Spelled<'a>,
    pub(crate) value: Value<'a>,
}

/// The name of an option as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spelled<'a> {
    /// One of a cluster.
    Letter(char),
    Name(&'a str),
    /// The file names that begin so are options: `--f*`.
    Start(&'a str),
}

/// The value of an option.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    None,
    Attached(&'a str),
    /// Another argument.
    Argument(usize),
}

impl<'a> Reading<'a> {
    /// Reads arguments of a program; without an entry, every option may take a value.
    pub(crate) fn new(program: Option<&'static CommandEntry>, arguments: &'a [Word]) -> Self {
        let reading = Self {
            command: program,
            places: Vec::with_capacity(arguments.len()),
            options: Vec::with_capacity(arguments.len()),
            may_have_any: false,
        };
        let mut reader = Reader { reading, owed: 0, may_take: false, ended: false, settled: false };
        for (at, word) in arguments.iter().enumerate() {
            let place = reader.word(at, word);
            reader.reading.places.push(place);
        }
        reader.reading.resolve_early_options();
        reader.reading.add_named_options(arguments);
        reader.reading
    }

    /// Returns true if an argument is an option or has options in it.
    pub(crate) fn has_option_in(&self, argument: usize) -> bool {
        self.options.iter().any(|given| given.at == argument)
    }

    /// Some programs take options of a subcommand before its name.
    fn resolve_early_options(&mut self) {
        let Some(command) = self.command else { return };
        for given in self.options.iter_mut().filter(|given| given.entry.is_none()) {
            given.entry = match given.spelled {
                Spelled::Letter(letter) => command.letter(letter),
                Spelled::Name(name) => command.option(name),
                Spelled::Start(_) => None,
            };
        }
    }
}

impl<'a> Reading<'a> {
    /// Options whose names are the values of others: `-s KILL` is `-KILL`.
    fn add_named_options(&mut self, arguments: &'a [Word]) {
        let is_name = |given: &&Given<'_>| given.entry.is_some_and(|entry| entry.takes == Takes::OptionName);
        let named = |given: &Given<'a>| {
            let value = match given.value {
                Value::Attached(value) => value,
                Value::Argument(at) => arguments.get(at)?.text.as_str(),
                Value::None => return None,
            };
            let entry = self.command?.option(&format!("-{}", value.to_ascii_uppercase()))?;
            Some(Given { entry: Some(entry), spelled: Spelled::Name(value), value: Value::None, ..*given })
        };
        let found: Vec<_> = self.options.iter().filter(is_name).filter_map(named).collect();
        self.options.extend(found);
    }
}

struct Reader<'a> {
    reading: Reading<'a>,
    /// Number of the next words that are values.
    owed: usize,
    /// True if the next word may be a value.
    may_take: bool,
    /// True if `--` was read.
    ended: bool,
    /// True if no subcommand can follow.
    settled: bool,
}

impl<'a> Reader<'a> {
    fn word(&mut self, at: usize, word: &'a Word) -> Place {
        let may_be_value = std::mem::take(&mut self.may_take);
        let text = word.text.as_str();
        match word.certainty {
            Certainty::Unknown => {
                self.reading.may_have_any = true;
                self.owed = self.owed.saturating_sub(1);
                Place::ValueOrOperand
            }
            _ if self.ended => self.operand(at, text),
            _ if self.owed > 0 => self.value(at, word),
            Certainty::Pattern => self.file_names(at, text),
            // The value of an option that is not known does not end the options.
            Certainty::Literal if text == "--" && may_be_value => Place::ValueOrOperand,
            Certainty::Literal if text == "--" => {
                self.ended = true;
                Place::Option
            }
            Certainty::Literal if is_option(text) => self.option(at, text),
            Certainty::Literal if may_be_value => {
                self.descend(text);
                Place::ValueOrOperand
            }
            Certainty::Literal => self.operand(at, text),
        }
    }

    /// A value that looks like an option counts as one as well: another version of the program may not take a value.
    fn value(&mut self, at: usize, word: &'a Word) -> Place {
        self.owed -= 1;
        if word.is_literal() && word.text != "--" && is_option(&word.text) {
            let owed = self.owed;
            self.option(at, &word.text);
            self.may_take |= self.owed > owed;
            self.owed = owed;
        }
        Place::Value
    }

    /// A pattern of the shell: files can be called like options.
    fn file_names(&mut self, at: usize, text: &'a str) -> Place {
        let start = text.split(['*', '?', '[', '{', '(', '\\']).next().unwrap_or_default();
        // A file that is called like an option can only be meant by all names, and those are looked at as they are written.
        if !start.starts_with('-') {
            return self.operand(at, text);
        }
        if start.len() > 2 && start.starts_with("--") {
            let entries =
                self.reading.command.into_iter().flat_map(|command| command.options_starting(start));
            let given =
                |entry| Given { at, entry, spelled: Spelled::Start(start), value: Value::Argument(at + 1) };
            self.reading.options.extend(entries.map(Some).chain([None]).map(given));
        } else {
            self.reading.may_have_any |= start.is_empty() || start.starts_with('-');
        }
        if start.starts_with('-') { Place::ValueOrOperand } else { self.operand(at, text) }
    }

    fn operand(&mut self, at: usize, text: &'a str) -> Place {
        match self.reading.command.map(|command| command.style) {
            Some(Style::Bundle) if at == 0 && text.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                self.bundle(at, text);
                return Place::Option;
            }
            Some(Style::Toolchain) if at == 0 && text.starts_with('+') => return Place::Option,
            Some(Style::Assignments) if text.contains('=') => return self.long(at, text),
            _ => {}
        }
        if self.descend(text) {
            return Place::Subcommand;
        }
        self.settled = true;
        Place::Operand
    }

    fn descend(&mut self, text: &str) -> bool {
        let found =
            self.reading.command.filter(|_| !self.settled).and_then(|command| command.subcommand(text));
        if found.is_some() {
            self.reading.command = found;
        }
        found.is_some()
    }

    fn option(&mut self, at: usize, text: &'a str) -> Place {
        let command = self.reading.command;
        let has_clusters = command.is_none_or(|command| command.style.has_clusters());
        let name = text.split('=').next().unwrap_or(text);
        let is_one = name.len() > 2 && command.is_some_and(|command| command.option(name).is_some());
        if text.starts_with("--") || !has_clusters || is_one {
            return self.long(at, text);
        }
        self.cluster(at, text);
        Place::Option
    }

    /// `--name`, `--name=value`, `-name`, `name=value`
    fn long(&mut self, at: usize, text: &'a str) -> Place {
        let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let spelled = Spelled::Name(name);
        let command = self.reading.command;
        if let Some(entry) = command.and_then(|command| command.option(name)) {
            let value = self.value_of(at, entry, attached);
            self.reading.options.push(Given { at, entry: Some(entry), spelled, value });
            return Place::Option;
        }
        let value = attached.map_or(Value::Argument(at + 1), Value::Attached);
        let before = self.reading.options.len();
        if name.len() > 2 && name.starts_with("--") {
            let entries = command.into_iter().flat_map(|command| command.options_starting(name));
            let given = entries.map(|entry| Given { at, entry: Some(entry), spelled, value });
            self.reading.options.extend(given);
        }
        let meant = self.reading.options.get(before..).unwrap_or_default();
        let takes = |given: &Given<'_>| given.entry.is_some_and(OptionEntry::takes_next);
        let (all, any) = (meant.iter().all(takes), meant.iter().any(takes));
        match (meant.is_empty(), attached) {
            (false, None) => (self.owed, self.may_take) = (self.owed + usize::from(all), any && !all),
            (false, Some(_)) => {}
            (true, _) => {
                self.reading.options.push(Given { at, entry: None, spelled, value });
                self.may_take = attached.is_none() && !name.starts_with("--no-");
                return if attached.is_some() { Place::ValueOrOperand } else { Place::Option };
            }
        }
        Place::Option
    }

    fn value_of(&mut self, at: usize, entry: OptionEntry, attached: Option<&'a str>) -> Value<'a> {
        match (entry.takes, attached) {
            (_, Some(value)) => Value::Attached(value),
            (Takes::Value | Takes::OptionName, None) => {
                self.owed += 1;
                Value::Argument(at + self.owed)
            }
            (Takes::Nothing | Takes::Attached, None) => Value::None,
        }
    }

    /// `-rf`, `-ovalue`
    fn cluster(&mut self, at: usize, text: &'a str) {
        for (start, letter) in text.char_indices().skip(1) {
            let entry = self.reading.command.and_then(|command| command.letter(letter));
            if entry.is_none() && !letter.is_ascii_alphanumeric() {
                return;
            }
            let rest = text.get(start + letter.len_utf8()..).filter(|rest| !rest.is_empty());
            let attached = entry.filter(|entry| entry.takes != Takes::Nothing).and(rest);
            let value = entry.map_or(Value::Argument(at + 1), |entry| self.value_of(at, entry, attached));
            self.reading.options.push(Given { at, entry, spelled: Spelled::Letter(letter), value });
            self.may_take |= entry.is_none();
            if attached.is_some() {
                return;
            }
        }
    }

    /// The letters of `tar xf`: the values follow in the order of the letters.
    fn bundle(&mut self, at: usize, text: &'a str) {
        for letter in text.chars() {
            let entry = self.reading.command.and_then(|command| command.letter(letter));
            let value = entry.map_or(Value::None, |entry| self.value_of(at, entry, None));
            self.reading.options.push(Given { at, entry, spelled: Spelled::Letter(letter), value });
        }
    }
}

/// Returns true if a word is an option by its looks. `-` alone is standard input.
pub(crate) fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}
