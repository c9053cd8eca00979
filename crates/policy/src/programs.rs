//! Programs by name, with a column for every use.

use crate::tables::programs::PROGRAMS;

/// A program that the reviewed table knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownProgram {
    /// The name without a directory and a version.
    pub name: &'static str,
    /// The word for the effect by which a command line is judged; empty if there is none.
    pub effect: &'static str,
    /// The word for the use of the files among its words; empty if it is not known.
    pub files: &'static str,
    /// The word for the way in which it starts other programs; empty if it starts none.
    pub starts: &'static str,
    /// The language of a shell; empty for other programs.
    pub dialect: &'static str,
    /// Words for the arguments before the command that a wrapper starts.
    pub how: &'static str,
    classes: &'static str,
    /// The option by which an interpreter takes its program from a word; empty if there is none.
    pub code: &'static str,
    /// Options that start or write something, or all options of a wrapper.
    pub options: &'static str,
}

/// A class of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramClass {
    /// Reads commands of a shell.
    Shell,
    /// Runs code in another language.
    Interpreter,
    /// A word of the shell that starts no program.
    Builtin,
    /// Starts or runs what is written behind it.
    Arbitrary,
    /// Brings something from a web server.
    Fetches,
    /// Sends what it is given to another machine.
    Sends,
    /// Makes requests to web servers.
    Web,
    /// Connects its input and output with another machine.
    Socket,
    /// Copies files to and from other machines.
    Transfer,
    /// Sends mail.
    Mail,
    /// Asks name servers.
    LooksUp,
    /// Makes something readable.
    Decodes,
    /// Shows, packs or sends what is in the files that it names.
    Shows,
    /// Prints or stores what is in the files that it names, so that another program gets it.
    Feeds,
    /// Takes names and does not print what is in the files.
    Names,
    /// Prints variables of the environment.
    Environment,
    /// Makes something run later.
    Schedules,
    /// Takes pictures of the screen.
    Screen,
    /// Reads the clipboard.
    Clipboard,
    /// Tells if a password is right.
    Passwords,
    /// Installs packages.
    Packages,
    /// A name that is hardly ever an ordinary word where a command could begin.
    Distinct,
}

const WORDS: [(ProgramClass, &str); 22] = [
    (ProgramClass::Shell, "shell"),
    (ProgramClass::Interpreter, "interpreter"),
    (ProgramClass::Builtin, "builtin"),
    (ProgramClass::Arbitrary, "arbitrary"),
    (ProgramClass::Fetches, "fetches"),
    (ProgramClass::Sends, "sends"),
    (ProgramClass::Web, "web"),
    (ProgramClass::Socket, "socket"),
    (ProgramClass::Transfer, "transfer"),
    (ProgramClass::Mail, "mail"),
    (ProgramClass::LooksUp, "looks-up"),
    (ProgramClass::Decodes, "decodes"),
    (ProgramClass::Shows, "shows"),
    (ProgramClass::Feeds, "feeds"),
    (ProgramClass::Names, "names"),
    (ProgramClass::Environment, "environment"),
    (ProgramClass::Schedules, "schedules"),
    (ProgramClass::Screen, "screen"),
    (ProgramClass::Clipboard, "clipboard"),
    (ProgramClass::Passwords, "passwords"),
    (ProgramClass::Packages, "packages"),
    (ProgramClass::Distinct, "distinct"),
];

impl ProgramClass {
    /// Reads the words of the table, one for each class.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(_, word)| *word)
    }

    /// Returns true if a program of this name, with or without a version, is in the class.
    ///
    /// ```
    /// use ringfence_policy::ProgramClass;
    /// assert!(ProgramClass::Interpreter.has("python3.12"));
    /// assert!(!ProgramClass::Interpreter.has("cat"));
    /// ```
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        KnownProgram::called(name).is_some_and(|program| program.is(self))
    }

    /// Reads the programs of the class, sorted by name.
    pub fn programs(self) -> impl Iterator<Item = KnownProgram> {
        KnownProgram::all().filter(move |program| program.is(self))
    }
}

impl KnownProgram {
    /// Reads every program, sorted by name.
    pub fn all() -> impl Iterator<Item = Self> {
        PROGRAMS.lines().filter_map(Self::read)
    }

    /// Finds the program of exactly this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        line_of(name).and_then(Self::read)
    }

    /// Finds the program of this name; a version behind it does not matter.
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
        let plain = plain.strip_suffix('-').filter(|_| plain.len() < name.len()).unwrap_or(plain);
        Self::named(name).or_else(|| Self::named(plain))
    }

    /// Returns true if the program is in a class.
    #[must_use]
    pub fn is(&self, class: ProgramClass) -> bool {
        let wanted = WORDS.iter().find(|(known, _)| *known == class).map(|(_, word)| *word);
        self.classes.split(' ').any(|word| Some(word) == wanted)
    }

    fn read(line: &'static str) -> Option<Self> {
        // Options separate their names as columns are separated: they stand last.
        let mut columns = line.splitn(9, '|');
        let mut next = || columns.next();
        Some(Self {
            name: next()?,
            effect: next()?,
            files: next()?,
            starts: next()?,
            dialect: next()?,
            how: next()?,
            classes: next()?,
            code: next()?,
            options: next()?,
        })
    }
}

/// Finds the line of a program by halves: the lines are sorted, so nothing is read before it is asked for.
fn line_of(name: &str) -> Option<&'static str> {
    let mut rest = PROGRAMS;
    while !rest.is_empty() {
        let (before, behind) = rest.split_at_checked(rest.len() / 2)?;
        let (before, _) = before.split_at_checked(before.rfind('\n').map_or(0, |at| at + 1))?;
        let length = behind.find('\n').map_or(rest.len(), |at| rest.len() / 2 + at);
        let (line, after) = (rest.get(before.len()..length)?, rest.get(length + 1..).unwrap_or_default());
        match line.split('|').next()?.cmp(name) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => rest = after,
            std::cmp::Ordering::Greater => rest = before,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name() {
        let names: Vec<_> = KnownProgram::all().map(|program| program.name).collect();
        assert_eq!(names.len(), PROGRAMS.lines().count());
        assert!(names.is_sorted_by(|one, next| one < next) && names.len() > 400);
        for program in KnownProgram::all() {
            assert_eq!(KnownProgram::named(program.name), Some(program));
        }
        for name in ["", "!", "|", "a", "bas", "bashes", "zzz", "é"] {
            assert_eq!(KnownProgram::named(name), None, "{name}");
        }
    }

    #[test]
    fn every_class_has_programs_and_every_word_a_class() {
        for (class, word) in WORDS {
            assert!(class.programs().next().is_some(), "{word}");
        }
        let known = |word: &str| word.is_empty() || ProgramClass::words().any(|known| known == word);
        assert!(KnownProgram::all().all(|program| program.classes.split(' ').all(known)));
    }

    #[test]
    fn a_version_does_not_matter_unless_it_is_part_of_the_name() {
        let rows = [
            ("python3.12", Some("python")),
            ("bash5", Some("bash")),
            ("wget2", Some("wget2")),
            ("ksh93", Some("ksh93")),
            ("sqlite3", Some("sqlite3")),
            ("./python", None),
            ("python-3.12", Some("python")),
            ("python-", None),
            ("7", None),
        ];
        for (name, expected) in rows {
            assert_eq!(KnownProgram::called(name).map(|program| program.name), expected, "{name}");
        }
    }
}
