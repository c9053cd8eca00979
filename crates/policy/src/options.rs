//! Options of well-known programs: the types of the reviewed table, and lookups in it.

use crate::tables::options::{COMMANDS, PROGRAMS};

/// One program, or one subcommand of a program.
#[derive(Debug)]
pub(crate) struct CommandEntry {
    pub(crate) style: Style,
    /// The program or subcommand above it, if its options also count behind this subcommand.
    pub(crate) inherits: Option<u16>,
    /// Subcommands by their names, sorted. Two names can lead to one entry.
    pub(crate) subcommands: &'static [(&'static str, u16)],
    pub(crate) options: &'static [OptionEntry],
}

/// One option with all its names.
#[derive(Debug)]
pub(crate) struct OptionEntry {
    /// The names, one blank between them. A text each would be an address each, and every start of the program would pay for it.
    pub(crate) names: &'static str,
    pub(crate) takes: Takes,
}

/// Number of values that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// `-n value`, `-nvalue`, `--name value`, `--name=value`
    Value,
    /// `-nvalue` and `--name=value` only.
    Attached,
    /// Like `Value`, and the value is the name of another option: `-s KILL` is `-KILL`.
    OptionName,
}

/// Argument syntax of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `-rf` is `-r -f`.
    Clusters,
    /// The same, and the first word needs no dash: `tar xf`.
    Bundle,
    /// The same, and a first word that begins with `+` chooses a toolchain: `cargo +nightly`.
    Toolchain,
    /// `-name` is one option.
    Words,
    /// `name=value` is an option: `dd of=x`.
    Assignments,
}

impl CommandEntry {
    /// The entry of a program. A version behind the name does not matter: `python3.12`.
    pub(crate) fn of(program: &str) -> Option<&'static Self> {
        let versionless = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        find(PROGRAMS, program).or_else(|| find(PROGRAMS, versionless))
    }

    pub(crate) fn subcommand(&self, name: &str) -> Option<&'static Self> {
        find(self.subcommands, name)
    }

    /// Returns true if an entry is this one or one of its subcommands.
    pub(crate) fn leads_to(&self, wanted: &Self) -> bool {
        let below = |(_, at): &(&str, u16)| {
            COMMANDS.get(usize::from(*at)).is_some_and(|entry| entry.leads_to(wanted))
        };
        std::ptr::eq(self, wanted) || self.subcommands.iter().any(below)
    }

    /// The option of exactly this name.
    pub(crate) fn option(&'static self, name: &str) -> Option<&'static OptionEntry> {
        self.lineage().find_map(|entry| entry.options.iter().find(|option| option.is_called(name)))
    }

    /// The option of one letter: `-r`.
    pub(crate) fn letter(&'static self, letter: char) -> Option<&'static OptionEntry> {
        if !letter.is_ascii() {
            return None;
        }
        let mut name = [b'-', 0];
        letter.encode_utf8(&mut name[1..]);
        self.option(std::str::from_utf8(&name).ok()?)
    }

    /// Every option with a name that begins so.
    pub(crate) fn options_starting<'a>(
        &'static self,
        start: &'a str,
    ) -> impl Iterator<Item = &'static OptionEntry> + 'a {
        let begins = move |option: &&OptionEntry| option.names().any(|name| name.starts_with(start));
        self.lineage().flat_map(move |entry| entry.options.iter().filter(begins))
    }

    /// The entry and those from which it inherits.
    fn lineage(&'static self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Some(self), |entry| COMMANDS.get(usize::from(entry.inherits?)))
    }
}

impl OptionEntry {
    /// All names of the option.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split(' ')
    }

    /// Returns true if this is one of its names.
    pub(crate) fn is_called(&self, wanted: &str) -> bool {
        self.names().any(|name| name == wanted)
    }

    /// Returns true if the next word is its value, if none is attached.
    pub(crate) fn takes_next(&self) -> bool {
        matches!(self.takes, Takes::Value | Takes::OptionName)
    }
}

impl Style {
    /// Returns true if options begin with a dash, all of them.
    pub(crate) fn needs_dash(self) -> bool {
        !matches!(self, Self::Bundle | Self::Assignments)
    }

    pub(crate) fn has_clusters(self) -> bool {
        !matches!(self, Self::Words)
    }
}

fn find(names: &[(&str, u16)], name: &str) -> Option<&'static CommandEntry> {
    let at = names.binary_search_by_key(&name, |(known, _)| known).ok()?;
    COMMANDS.get(usize::from(names[at].1))
}

#[cfg(test)]
mod tests;
