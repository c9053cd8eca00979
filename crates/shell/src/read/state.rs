//! State of the walk through a text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use policy::Certainty;

use crate::Dialect;

/// Variables, directory, functions and aliases, as far as they are known.
///
/// Cloned for everything that runs apart, so it is kept small: what there is too much of is not known.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The directory; `None` when it depends on values at run time.
    pub(super) cwd: Option<Arc<str>>,
    variables: BTreeMap<String, Value>,
    /// Variables whose values bash evaluates as arithmetic whenever they are set.
    integers: BTreeSet<String>,
    foreseen: Foreseen,
    /// Variables that are tables for sure: what stands between brackets is a key, not arithmetic.
    tables: BTreeSet<String>,
    /// Variables whose values the shell changes when they are set, or does not set at all.
    twisted: BTreeSet<String>,
    /// Names that are functions for sure, and names that may be.
    functions: BTreeMap<String, bool>,
    pub(super) aliases: BTreeMap<String, Alias>,
    /// Files that the text writes, with what it writes where that is known.
    written: BTreeMap<String, Option<String>>,
    /// Reliability of what is remembered of variables.
    trust: Trust,
    /// True if the directory may change whenever a function is called.
    pub(super) functions_move: bool,
    /// True if the field separator is no longer the usual one.
    pub(super) separator_changed: bool,
    /// `$0`, `$1` and so on, where they are known.
    pub(super) arguments: Option<Arc<[policy::Word]>>,
}

/// Effects of the text on variables anywhere, also further down.
#[derive(Debug, Clone, Default)]
struct Foreseen {
    /// Variables that are set; whether to nothing but numbers.
    fates: BTreeMap<String, bool>,
    /// True if any variable may be set to anything, by text that is run.
    anything: bool,
    /// True if any variable may be a table.
    tables: bool,
}

/// Reliability of what is remembered of variables. The larger, the less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    /// Nothing sets them but what is read.
    #[default]
    Full,
    /// They may be set at any time: by a trap, or by a function that is not seen.
    Haunted,
    /// Besides, ones that the text does not name may have been set: code that is not seen has run.
    Lost,
}

/// Value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) certainty: Certainty,
    /// True if it is a number, known or not.
    pub(super) number: bool,
    /// Its state outside the body of a function that is being read.
    outside: Option<(Certainty, bool)>,
}

/// Content that a text has written to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// Nothing.
    Nothing,
    /// Something that is not known.
    Something,
    /// This.
    Text(String),
}

/// Meaning of a name.
#[derive(Debug, Clone)]
pub(super) struct Alias {
    pub(super) text: String,
    /// True if it stands for the text anywhere in a line.
    pub(super) global: bool,
}

impl Value {
    pub(super) fn known(text: impl Into<String>) -> Self {
        let text = text.into();
        let number = is_number(&text);
        Self { text, certainty: Certainty::Literal, number, outside: None }
    }

    /// A text that is known so far. It is a number only if nothing else can be there.
    pub(super) fn guess(text: impl Into<String>, certainty: Certainty) -> Self {
        let known = Self::known(text);
        Self { certainty, number: known.number && certainty == Certainty::Literal, ..known }
    }

    pub(super) fn numbered(self, number: bool) -> Self {
        Self { number, ..self }
    }

    pub(super) fn unknown() -> Self {
        UNKNOWN
    }

    pub(super) fn number() -> Self {
        Self { number: true, ..Self::unknown() }
    }
}

const UNKNOWN: Value =
    Value { text: String::new(), certainty: Certainty::Unknown, number: false, outside: None };

/// Largest number of variables, functions or aliases that are remembered, and largest length of a value.
pub(super) const MAX_NAMES: usize = 256;
const MAX_VALUE: usize = 4096;

/// Variables that are integers in bash from the start. Which of them an assignment evaluates depends on the version and
/// on what assigns: `for` and `read` evaluate where `=` does not.
const BASH_INTEGERS: &[&str] = &[
    "BASHPID",
    "BASH_SUBSHELL",
    "EPOCHSECONDS",
    "EUID",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "UID",
];

/// Variables that are numbers in zsh from the start.
const ZSH_INTEGERS: &[&str] = &[
    "COLUMNS",
    "EGID",
    "EPOCHSECONDS",
    "ERRNO",
    "EUID",
    "FUNCNEST",
    "GID",
    "HISTCMD",
    "HISTSIZE",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "LOGCHECK",
    "MAILCHECK",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SAVEHIST",
    "SECONDS",
    "SHLVL",
    "TMOUT",
    "TTYIDLE",
    "UID",
    "ZSH_SUBSHELL",
    "status",
];

/// Returns true if arithmetic takes a text for a number and nothing else.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
        && digits.starts_with(|c: char| c.is_ascii_digit())
}

impl State {
    pub(super) fn starting_in(cwd: Option<Arc<str>>) -> Self {
        Self { cwd, ..Self::default() }
    }

    /// Returns the value of a variable; `None` when nothing in the text has set it.
    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.get(name).or(if self.is_lost() { Some(const { &UNKNOWN }) } else { None })
    }

    /// Sets a variable. What only may happen leaves it unknown, with the new value as the best guess.
    pub(super) fn set(&mut self, name: &str, value: Value, surely: bool) {
        let number = value.number && (surely || self.variables.get(name).is_none_or(|old| old.number));
        let surely = surely && self.trust == Trust::Full && !self.twisted.contains(name);
        let certainty = if surely { value.certainty } else { Certainty::Unknown };
        let value = Value { certainty, number, outside: None, ..value };
        if value.text.len() > MAX_VALUE {
            self.variables.insert(name.to_owned(), UNKNOWN);
        } else if self.variables.len() < MAX_NAMES || self.variables.contains_key(name) {
            self.variables.insert(name.to_owned(), value);
        } else {
            self.trust = Trust::Lost;
        }
    }

    /// From now on it is not known what a variable holds after it was set.
    pub(super) fn twist(&mut self, name: &str) {
        if self.twisted.len() < MAX_NAMES {
            self.twisted.insert(name.to_owned());
        } else {
            self.trust = Trust::Lost;
        }
    }

    /// Makes settings since then uncertain.
    pub(super) fn weaken_since(&mut self, before: &Self) {
        for (name, value) in &mut self.variables {
            let old = before.variables.get(name);
            if old != Some(value) {
                value.certainty = Certainty::Unknown;
                value.number &= old.is_none_or(|old| old.number);
            }
        }
        self.tables = std::mem::take(&mut self.tables).intersection(&before.tables).cloned().collect();
        for (name, surely) in &mut self.functions {
            *surely &= before.functions.get(name).copied().unwrap_or(false);
        }
    }

    /// Everything that is known of variables becomes a guess.
    pub(super) fn doubt(&mut self) {
        for value in self.variables.values_mut() {
            value.certainty = Certainty::Unknown;
        }
    }

    /// Text that is not seen may set any variable to anything.
    pub(super) fn doubt_numbers(&mut self) {
        self.doubt();
        self.variables.values_mut().for_each(|value| value.number = false);
    }

    /// Notes that the text sets a variable somewhere, and whether to a number.
    pub(super) fn foresee(&mut self, name: &str, number: bool) {
        if self.foreseen.fates.len() < MAX_NAMES || self.foreseen.fates.contains_key(name) {
            let fate = self.foreseen.fates.entry(name.to_owned()).or_insert(true);
            *fate &= number;
        } else {
            self.foreseen.anything = true;
        }
    }

    /// Returns true if text is run as commands somewhere, or variables stand for others.
    pub(super) fn runs_text(&self) -> bool {
        self.foreseen.anything
    }

    pub(super) fn foresee_anything(&mut self) {
        self.foreseen.anything = true;
    }

    /// Returns true if the text sets a variable to nothing but numbers.
    pub(super) fn counts(&self, name: &str) -> bool {
        !self.foreseen.anything && self.foreseen.fates.get(name).copied().unwrap_or(false)
    }

    /// Returns the value of a variable in the next turn of a loop that sets it.
    pub(super) fn after_a_turn(&self, name: &str) -> Value {
        let number = self.variable(name).is_none_or(|old| old.number);
        if number && self.counts(name) { Value::number() } else { UNKNOWN }
    }

    /// The body of a function runs later, when variables hold any value that the text sets them to.
    pub(super) fn enter_function(&mut self) {
        for (name, value) in &mut self.variables {
            if self.foreseen.anything || self.foreseen.fates.get(name) == Some(&false) {
                value.outside.get_or_insert((value.certainty, value.number));
                (value.certainty, value.number) = (Certainty::Unknown, false);
            }
        }
    }

    /// Behind the body, what it has not set is what it was.
    pub(super) fn leave_function(&mut self) {
        for value in self.variables.values_mut() {
            if let Some(outside) = value.outside.take() {
                (value.certainty, value.number) = outside;
            }
        }
    }

    /// Notes what a declaration makes of a variable.
    pub(super) fn declare_table(&mut self, name: &str, table: bool) {
        if !table {
            self.tables.remove(name);
        } else if self.tables.len() < MAX_NAMES {
            self.tables.insert(name.to_owned());
        }
        self.foreseen.tables |= table;
    }

    pub(super) fn foresee_tables(&mut self) {
        self.foreseen.tables = true;
    }

    /// Returns true if any variable may be a table.
    pub(super) fn has_tables(&self) -> bool {
        self.foreseen.tables || self.is_lost()
    }

    /// Returns true if a variable is a table for sure.
    pub(super) fn is_table(&self, name: &str) -> bool {
        self.trust == Trust::Full && self.tables.contains(name)
    }

    pub(super) fn tables(&self) -> BTreeSet<String> {
        self.tables.clone()
    }

    /// Behind something that may not have run, only what was a table before and still is one is one for sure.
    pub(super) fn keep_tables(&mut self, before: &BTreeSet<String>) {
        self.tables.retain(|name| before.contains(name));
    }

    /// From now on values of a variable are evaluated when they are set.
    pub(super) fn make_integer(&mut self, name: &str) {
        if self.integers.len() < MAX_NAMES {
            self.integers.insert(name.to_owned());
        } else {
            self.trust = Trust::Lost;
        }
    }

    /// Returns true if what a variable is set to is evaluated.
    pub(super) fn is_integer(&self, name: &str, dialect: Dialect) -> bool {
        let born = match dialect {
            Dialect::Sh => return false,
            Dialect::Bash => BASH_INTEGERS,
            Dialect::Zsh => ZSH_INTEGERS,
        };
        self.integers.contains(name) || born.contains(&name)
    }

    /// Another shell starts: it has the variables that were exported, and which those are is not followed.
    pub(super) fn in_another_shell(&mut self, arguments: Option<Arc<[policy::Word]>>) {
        self.doubt();
        self.aliases.clear();
        // bash hands functions on that are exported.
        self.functions.values_mut().for_each(|surely| *surely = false);
        self.integers.clear();
        self.tables.clear();
        self.arguments = arguments;
    }

    pub(super) fn define(&mut self, name: &str, surely: bool) {
        let known = self.functions.get(name).copied().unwrap_or(false);
        // A function that is not remembered is taken for a program.
        if self.functions.len() < MAX_NAMES {
            self.functions.insert(name.to_owned(), known || surely);
        }
    }

    /// A name may be no function any more.
    pub(super) fn undefine(&mut self, name: &str) {
        self.functions.remove(name);
    }

    /// Returns true if a name is a function for sure.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.get(name).copied().unwrap_or(false)
    }

    /// Remembers what is written to a file; twice is not known.
    pub(super) fn write(&mut self, path: String, text: Option<String>) {
        let text = if self.written.contains_key(&path) { None } else { text };
        if self.written.len() < MAX_NAMES {
            self.written.insert(path, text.filter(|text| text.len() < MAX_VALUE));
        }
    }

    /// Returns the content that the text has written to a file.
    pub(super) fn written(&self, path: &str) -> Written {
        match self.written.get(path) {
            None => Written::Nothing,
            Some(None) => Written::Something,
            Some(Some(text)) => Written::Text(text.clone()),
        }
    }

    /// Returns true if anything was written at all.
    pub(super) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// Returns true if code that is not seen has run, which may have set anything.
    pub(super) fn is_lost(&self) -> bool {
        self.trust == Trust::Lost
    }

    /// Returns true if a name is a function, or may be.
    pub(super) fn may_be_function(&self, name: &str) -> bool {
        self.functions.contains_key(name) || self.functions.len() >= MAX_NAMES
    }

    /// From now on variables may change at any time.
    pub(super) fn haunt(&mut self) {
        self.trust = self.trust.max(Trust::Haunted);
        self.doubt();
    }

    /// Code that is not seen has run, and may have defined functions.
    pub(super) fn lose(&mut self) {
        self.trust = Trust::Lost;
        self.variables.clear();
    }
}
