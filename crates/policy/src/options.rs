//! Options of well-known programs: the rows of the reviewed table, and lookups in it.

use std::sync::LazyLock;

use crate::tables::options::{COMMANDS, PROGRAMS};

/// One program, or one subcommand of a program.
#[derive(Debug)]
pub(crate) struct CommandEntry {
    pub(crate) style: Style,
    /// The program or subcommand above it, if its options also count behind this subcommand.
    inherits: Option<usize>,
    /// Subcommands with a blank between them, each with the number of its entry: `push=46`. Two names can lead to one entry.
    subcommands: &'static str,
    /// Options in the notation of `tables/options.toml`, with a blank between them.
    options: &'static str,
}

/// One option with all its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OptionEntry {
    /// The names with a comma between them.
    names: &'static str,
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

    /// The names of its subcommands.
    pub(crate) fn subcommand_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        numbered(self.subcommands).map(|(name, _)| name)
    }

    /// Returns true if an entry is this one or one of its subcommands.
    pub(crate) fn leads_to(&self, wanted: &Self) -> bool {
        let mut below =
            numbered(self.subcommands).filter_map(|(_, at)| entries().get(at.parse::<usize>().ok()?));
        std::ptr::eq(self, wanted) || below.any(|entry| entry.leads_to(wanted))
    }

    /// The option of exactly this name.
    pub(crate) fn option(&'static self, name: &str) -> Option<OptionEntry> {
        self.all_options().find(|option| option.is_called(name))
    }

    /// The option of one letter: `-r`.
    pub(crate) fn letter(&'static self, letter: char) -> Option<OptionEntry> {
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
    ) -> impl Iterator<Item = OptionEntry> + 'a {
        self.all_options().filter(move |option| option.names().any(|name| name.starts_with(start)))
    }

    /// The options of the entry and of those from which it inherits.
    fn all_options(&'static self) -> impl Iterator<Item = OptionEntry> {
        let lineage = std::iter::successors(Some(self), |entry| entries().get(entry.inherits?));
        lineage.flat_map(|entry| entry.options.split_ascii_whitespace().map(OptionEntry::read))
    }

    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.split('|').skip(1);
        let mut next = || columns.next();
        let style = match next()? {
            "bundle" => Style::Bundle,
            "toolchain" => Style::Toolchain,
            "words" | "flags" => Style::Words,
            "assignments" => Style::Assignments,
            _ => Style::Clusters,
        };
        Some(Self { style, inherits: next()?.parse().ok(), subcommands: next()?, options: next()? })
    }
}

impl OptionEntry {
    fn read(token: &'static str) -> Self {
        let marks = [("=?", Takes::Attached), ("=-", Takes::OptionName), ("=", Takes::Value)];
        let marked = marks.iter().find_map(|(mark, takes)| Some((token.strip_suffix(mark)?, *takes)));
        let (names, takes) = marked.unwrap_or((token, Takes::Nothing));
        Self { names, takes }
    }

    /// All names of the option.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split(',')
    }

    /// Returns true if this is one of its names.
    pub(crate) fn is_called(&self, wanted: &str) -> bool {
        self.names().any(|name| name == wanted)
    }

    /// Returns true if the next word is its value, if none is attached.
    pub(crate) fn takes_next(self) -> bool {
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

/// The rows of the table; a line that could not be read would move the numbers of the others, so a test counts them.
fn entries() -> &'static [CommandEntry] {
    static ENTRIES: LazyLock<Vec<CommandEntry>> =
        LazyLock::new(|| COMMANDS.lines().filter_map(CommandEntry::read).collect());
    &ENTRIES
}

fn numbered(names: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    names.split_ascii_whitespace().filter_map(|name| name.split_once('='))
}

fn find(names: &'static str, wanted: &str) -> Option<&'static CommandEntry> {
    let (_, at) = numbered(names).find(|(name, _)| *name == wanted)?;
    entries().get(at.parse::<usize>().ok()?)
}

#[cfg(test)]
mod tests;
