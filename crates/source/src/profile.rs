//! Limits of what is read of a tool's result, and of what an agent sees of that.

/// The most bytes that any profile reads.
const MOST_BYTES: usize = 5_000_000;
/// The least: below, nothing would be left of a page but its head.
const LEAST_BYTES: usize = 32_000;
/// The most characters that any profile hands on.
const MOST_CHARS: usize = 500_000;
/// The least: the line that says what is missing has to fit.
pub(crate) const LEAST_CHARS: usize = 100;

/// The caps of one tool. Its numbers always lie between the floors and the ceilings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    max_bytes: usize,
    max_chars: usize,
    strategy: Strategy,
    strip_hidden: bool,
}

/// Part of a long result that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The readable text of a page, and of that the beginning.
    Readability,
    /// JSON stays JSON: elements and long strings are left out. Anything else: the beginning.
    Structured,
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// The beginning and the end.
    HeadTail,
    /// Nothing is changed; of what is too long, the beginning.
    Raw,
}

impl Strategy {
    /// All of them.
    pub const ALL: &[Self] =
        &[Self::Readability, Self::Structured, Self::Head, Self::Tail, Self::HeadTail, Self::Raw];

    /// The word used in policy files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Readability => "readability",
            Self::Structured => "structured",
            Self::Head => "head",
            Self::Tail => "tail",
            Self::HeadTail => "head-tail",
            Self::Raw => "raw",
        }
    }

    /// The strategy that a word of a policy file names.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|strategy| strategy.word() == word)
    }
}

impl Profile {
    /// A profile; numbers outside the floors and ceilings are moved to the nearest of them.
    #[must_use]
    pub const fn new(max_bytes: usize, max_chars: usize, strategy: Strategy, strip_hidden: bool) -> Self {
        Self {
            max_bytes: clamp(max_bytes, LEAST_BYTES, MOST_BYTES),
            max_chars: clamp(max_chars, LEAST_CHARS, MOST_CHARS),
            strategy,
            strip_hidden,
        }
    }

    /// The same with at most so many characters. A larger number changes nothing.
    #[must_use]
    pub const fn within(self, max_chars: usize) -> Self {
        let max_chars = if max_chars < self.max_chars { max_chars } else { self.max_chars };
        Self::new(self.max_bytes, max_chars, self.strategy, self.strip_hidden)
    }

    /// The same with another strategy.
    #[must_use]
    pub const fn with(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// The most bytes that are read.
    #[must_use]
    pub const fn max_bytes(self) -> usize {
        self.max_bytes
    }

    /// The most characters that are handed on.
    #[must_use]
    pub const fn max_chars(self) -> usize {
        self.max_chars
    }

    /// Returns the part that is kept.
    #[must_use]
    pub const fn strategy(self) -> Strategy {
        self.strategy
    }

    /// Returns true if text that a person would not see is left out.
    #[must_use]
    pub const fn strip_hidden(self) -> bool {
        self.strip_hidden
    }
}

/// The profile of a tool, by its exact name or as a tool of an MCP server. A tool that is not known gets the one for
/// the open web.
#[must_use]
pub fn profile(tool: &str) -> Profile {
    let known = TABLE.iter().find(|(names, _)| names.contains(&tool)).map(|(_, profile)| *profile);
    let remote = || tool.strip_prefix("mcp__").filter(|rest| !rest.is_empty()).map(|_| MCP);
    known.or_else(remote).unwrap_or(WEB)
}

const fn clamp(number: usize, least: usize, most: usize) -> usize {
    if number < least {
        least
    } else if number > most {
        most
    } else {
        number
    }
}

/// Pages written by strangers: the text that a reader would see.
const WEB: Profile = Profile::new(2_000_000, 50_000, Strategy::Readability, true);
/// Answers of a server, mostly JSON.
const MCP: Profile = Profile::new(2_000_000, 50_000, Strategy::Structured, false);
/// Lists, the best first or in order: what follows is had by a narrower question.
const LIST: Profile = Profile::new(500_000, 50_000, Strategy::Head, false);

const TABLE: &[(&[&str], Profile)] = &[
    (&["web_fetch"], WEB),
    // A list of hits as JSON.
    (&["web_search"], Profile::new(500_000, 40_000, Strategy::Structured, false)),
    // A program's first output tells what it does, its last how it ended.
    (&["exec", "bash"], Profile::new(500_000, 50_000, Strategy::HeadTail, false)),
    // An agent edits what it read, so nothing in it may be changed.
    (&["read", "file_read"], Profile::new(1_000_000, 100_000, Strategy::Raw, false)),
    (&["grep", "find", "ls"], LIST),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_by_name() {
        let rows = [
            ("web_fetch", (2_000_000, 50_000, "readability", true)),
            ("web_search", (500_000, 40_000, "structured", false)),
            ("exec", (500_000, 50_000, "head-tail", false)),
            ("bash", (500_000, 50_000, "head-tail", false)),
            ("read", (1_000_000, 100_000, "raw", false)),
            ("file_read", (1_000_000, 100_000, "raw", false)),
            ("grep", (500_000, 50_000, "head", false)),
            ("find", (500_000, 50_000, "head", false)),
            ("ls", (500_000, 50_000, "head", false)),
            ("mcp__files__read", (2_000_000, 50_000, "structured", false)),
            ("mcp__", (2_000_000, 50_000, "readability", true)),
            ("mcp_files", (2_000_000, 50_000, "readability", true)),
            ("Read", (2_000_000, 50_000, "readability", true)),
            ("browser", (2_000_000, 50_000, "readability", true)),
            ("", (2_000_000, 50_000, "readability", true)),
        ];
        for (tool, expected) in rows {
            let it = profile(tool);
            let seen = (it.max_bytes(), it.max_chars(), it.strategy().word(), it.strip_hidden());
            assert_eq!(seen, expected, "{tool}");
        }
    }

    #[test]
    fn numbers_stay_within_floors_and_ceilings() {
        let rows = [
            ((0, 0), (32_000, 100)),
            ((31_999, 99), (32_000, 100)),
            ((32_000, 100), (32_000, 100)),
            ((70_000, 700), (70_000, 700)),
            ((5_000_000, 500_000), (5_000_000, 500_000)),
            ((usize::MAX, usize::MAX), (5_000_000, 500_000)),
        ];
        for ((bytes, chars), expected) in rows {
            let it = Profile::new(bytes, chars, Strategy::Head, false);
            assert_eq!((it.max_bytes(), it.max_chars()), expected);
        }
        let web = profile("web_fetch");
        assert_eq!(web.within(usize::MAX), web);
        assert_eq!(web.within(10_000).max_chars(), 10_000);
        assert_eq!(web.within(0).max_chars(), 100);
        assert_eq!(web.with(Strategy::Raw).strategy(), Strategy::Raw);
    }

    #[test]
    fn words_name_their_strategy() {
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::parse(strategy.word()), Some(*strategy));
        }
        for word in ["", "Head", "head_tail", "first"] {
            assert_eq!(Strategy::parse(word), None, "{word}");
        }
    }
}
