//! Schema of a policy file: one table from which checking, merging, showing and the JSON Schema are derived.

mod json;
mod keys;

pub use json::json;
pub use keys::ROOT;

/// One key of the file.
#[derive(Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// Type of its value.
    pub kind: Kind,
    /// Changes that a narrower layer may make.
    pub narrow: Narrow,
    /// True if it must be given where its table is.
    pub required: bool,
    /// True if the feature behind it exists. If not, the key is checked and marked, and has no effect.
    pub built: bool,
    /// True if it reads as a limit or a protection: while it is not built, it is not enforced.
    pub restricts: bool,
    /// The words that change nothing yet, of a key that is built otherwise.
    pub inert: &'static [&'static str],
    /// One sentence for people.
    pub about: &'static str,
}

/// Type of a value. One key has one type.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of the first words, or a list of some of the second.
    ChoiceOrList(&'static [&'static str], &'static [&'static str]),
    /// `true`, `false` or one of these words.
    FlagOr(&'static [&'static str]),
    /// A whole number in this range.
    Count(u64, u64),
    /// An amount of US dollars.
    Money,
    /// A number of bytes with a unit, such as `"4GiB"`.
    Size,
    /// A time with a unit, such as `"10m"`.
    Time,
    /// A text.
    Text(Text),
    /// A list of texts.
    List(Text),
    /// A list of texts, or tables with these keys in their place.
    TextsOrTables(Text, &'static [Key]),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table whose names are free, each with a table of these keys.
    Named(&'static [Key]),
    /// A list of tables with these keys.
    Tables(&'static [Key]),
    /// A table whose names are free, each with a text.
    Map(Text),
    /// A table whose names are codes of findings, each with one of these words.
    Findings(&'static [&'static str]),
}

/// Meaning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Words for people.
    Words,
    /// A name: letters, digits, `-`, `_`, `.`.
    Name,
    /// A path: absolute, below `~/`, or below a `${VARIABLE}`.
    Path,
    /// A path of a profile: also below `${WORKSPACE}` or a numbered writable root such as `${RW2}`.
    ViewPath,
    /// A path pattern.
    PathPattern,
    /// A host pattern.
    HostPattern,
    /// A host pattern, or `@` and the name of a set of hosts.
    HostEntry,
    /// A single host, with or without a port.
    Endpoint,
    /// An address, with or without a port.
    HostAddress,
    /// The address of a proxy: `http://HOST:PORT` or `socks5h://HOST:PORT`.
    Proxy,
    /// A method of HTTP in upper case.
    Method,
    /// The name of a preset of secrets.
    Preset,
    /// A pattern on the words of a command.
    CommandPattern,
    /// A pattern on the words of a command, or a rule string.
    CommandRule,
    /// A rule string: `Bash(git push:*)`.
    RuleString,
    /// A pattern on a text.
    Pattern,
    /// A tool, a wildcard over tools, or `group:NAME`.
    ToolEntry,
    /// A tool or a wildcard over tools.
    Tool,
    /// The name of a profile.
    Profile,
    /// A program or an argument.
    Argument,
    /// A path on a web server, with wildcards.
    UrlPath,
    /// The name of an environment variable.
    Variable,
    /// `env:NAME`, `cmd:PROGRAM ARGUMENT…` or `file:PATH#/JSON/POINTER`.
    Source,
    /// A port of the host that leads into a jail: `HOST` or `HOST:INSIDE`.
    PortIn,
    /// A port of the host that can be reached from a jail, written alike.
    PortOut,
    /// The name of a row in the table of protected names.
    ProtectedName,
    /// An example: a command, a path, a host or a tool.
    Example,
}

/// Changes that a narrower layer may make to a key. The result never permits more than before.
#[derive(Debug, Clone, Copy)]
pub enum Narrow {
    /// Nothing: the key belongs to the user or the administrator.
    Fixed,
    /// Move on in this list, from the widest to the narrowest.
    Order(&'static [&'static str]),
    /// Add entries, and move each on in this list.
    Each(&'static [&'static str]),
    /// Choose a smaller value.
    Smaller,
    /// Add entries: each takes something away.
    Add,
    /// Keep some of the entries: each permits something.
    Within,
    /// Choose some of what is chosen: `auto` is everything, `none` nothing.
    Some,
    /// Choose a jail profile that permits no more.
    Profile,
    /// Choose tools that are in the set already.
    Tools,
    /// Say it again; it changes nothing.
    Free,
    /// As the keys inside say.
    Inside,
}

impl Key {
    const fn new(name: &'static str, kind: Kind, narrow: Narrow, about: &'static str) -> Self {
        Self { name, kind, narrow, required: false, built: true, restricts: false, inert: &[], about }
    }

    /// The key must be given.
    const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    /// The feature behind the key does not exist yet.
    const fn later(self) -> Self {
        Self { built: false, ..self }
    }

    /// The key reads as a limit or a protection, and is not enforced yet.
    const fn unenforced(self) -> Self {
        Self { built: false, restricts: true, ..self }
    }

    /// These words change nothing yet.
    const fn inert(self, inert: &'static [&'static str]) -> Self {
        Self { inert, ..self }
    }
}

impl Kind {
    /// The type in words, for messages.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Flag => "true or false".into(),
            Self::Choice(words) => quoted(words),
            Self::ChoiceOrList(words, listed) => {
                format!("{}, or a list of some of {}", quoted(words), quoted(listed))
            }
            Self::FlagOr(words) => format!("true, false or {}", quoted(words)),
            Self::Count(min, max) if min == max => min.to_string(),
            Self::Count(min, max) => format!("an integer from {min} to {max}"),
            Self::Money => "a number of US dollars, such as 5.0".into(),
            Self::Size => "a size with a unit in quotes, such as \"4GiB\" or \"50KB\"".into(),
            Self::Time => "a time with a unit in quotes, such as \"10m\" or \"60s\"".into(),
            Self::Text(_) => "a string".into(),
            Self::List(_) => "a list of strings".into(),
            Self::TextsOrTables(..) => "a list of strings or tables".into(),
            Self::Table(_) => "a table".into(),
            Self::Named(_) => "a table of named tables".into(),
            Self::Tables(_) => "a list of tables, each under a `[[…]]` header".into(),
            Self::Map(_) => "a table of strings".into(),
            Self::Findings(words) => format!("a table of codes, each with {}", quoted(words)),
        }
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn walk(keys: &'static [Key], path: &str, visit: &mut dyn FnMut(&str, &Key)) {
        for key in keys {
            let path = format!("{path}{}", key.name);
            visit(&path, key);
            if let Kind::Table(keys) | Kind::Named(keys) | Kind::Tables(keys) | Kind::TextsOrTables(_, keys) =
                key.kind
            {
                walk(keys, &format!("{path}."), visit);
            }
        }
    }

    #[test]
    fn keys_are_unique_named_alike_and_documented() {
        let mut seen = BTreeSet::new();
        walk(ROOT, "", &mut |path, key| {
            assert!(seen.insert(path.to_owned()), "{path} twice");
            assert!(
                key.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
                "{path}"
            );
            assert!(key.about.ends_with('.') && key.about.len() > 10, "{path} has no sentence");
        });
    }

    #[test]
    fn every_law_fits_its_kind() {
        walk(ROOT, "", &mut |path, key| {
            let fits = match key.narrow {
                Narrow::Order(words) => {
                    let choices = match key.kind {
                        Kind::Flag => vec!["false", "true"],
                        Kind::Choice(choices) => choices.to_vec(),
                        Kind::FlagOr(choices) => [&["false", "true"], choices].concat(),
                        _ => vec![],
                    };
                    choices.iter().collect::<BTreeSet<_>>() == words.iter().collect()
                }
                Narrow::Each(words) => {
                    matches!(key.kind, Kind::Findings(choices) if choices == words)
                }
                Narrow::Smaller => {
                    matches!(key.kind, Kind::Count(..) | Kind::Money | Kind::Size | Kind::Time)
                }
                Narrow::Some => matches!(key.kind, Kind::ChoiceOrList(..)),
                Narrow::Within => matches!(key.kind, Kind::List(_) | Kind::TextsOrTables(..)),
                Narrow::Add => matches!(key.kind, Kind::List(_) | Kind::Tables(_)),
                Narrow::Profile => matches!(key.kind, Kind::Text(Text::Profile)),
                Narrow::Inside => matches!(key.kind, Kind::Table(_) | Kind::Named(_) | Kind::Tables(_)),
                Narrow::Fixed | Narrow::Free | Narrow::Tools => true,
            };
            assert!(fits, "{path}");
        });
    }
}
