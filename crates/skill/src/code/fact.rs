//! Behaviour of code, in one vocabulary: read, send, fetch, run, save, stay.
//!
//! Facts come out of scripts ([`crate::code::script`]) and of commands ([`shell::read`]). A flow says that what one fact brought is
//! what another one takes.

mod calls;
mod code;
mod commands;
mod environment;
mod network;
mod persist;

use std::ops::Range;

use crate::code::secret::Secret;
use crate::text::language::Language;
use crate::text::phrase::Phrases;
use crate::text::unit::{Place, Unit};
use crate::words::words;
pub(crate) use network::{Destination, Kind as HostKind};
pub(crate) use persist::Hold;

/// Maximum number of facts kept of one unit.
const MAX_FACTS: usize = 4096;

/// Maximum depth of texts of one language in texts of another.
const MAX_DEPTH: u32 = 4;

/// Everything that was read of one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) facts: Vec<Fact>,
    pub(crate) flows: Vec<Flow>,
    /// True if the text is longer than what is looked at.
    pub(crate) is_cut: bool,
}

/// One thing that code does, and where in its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) what: FactKind,
    pub(crate) range: Range<usize>,
}

/// Kind of behaviour of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// It reads a secret.
    ReadsSecret(Secret),
    /// It records what a person does.
    Captures(Capture),
    /// It asks a person for a password.
    AsksPassword,
    /// It gets something from elsewhere.
    Fetches(Destination),
    /// It makes something readable.
    Decodes,
    /// It sends something elsewhere.
    Sends {
        to: Destination,
        channel: Channel,
        /// True if there is more to it than a question.
        is_upload: bool,
    },
    /// It runs something as code or as a command.
    Runs(Ran),
    /// It starts a file that it fetched before.
    RunsSaved(Destination),
    /// It turns values into a text.
    Serialises,
    /// It writes a file.
    Saves(String),
    /// It stays after the skill has gone.
    Persists(Hold, String),
    /// It uses a variable of the environment.
    Variable(String),
    /// It names a file.
    Path { path: String, access: Access },
    /// It starts a program.
    Program(String),
    /// It names a host.
    Host(String),
    /// Something that only attacks need; the word says which.
    Hostile(Hostile),
}

/// Kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Kind of recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    Keys,
    Screen,
    Clipboard,
    Microphone,
}

/// Channel over which something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Web,
    /// As a name that is looked up.
    Names,
    Mail,
    Files,
    Socket,
}

/// Kind of code that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ran {
    /// A text in the language itself.
    Code,
    /// A command, as far as it is known.
    Command {
        text: String,
        /// True if a shell reads it.
        shell: bool,
    },
    /// Objects that run code when they are loaded.
    Objects,
    /// A module whose name is computed.
    Module,
}

/// Things that only attacks need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hostile {
    /// A socket becomes the streams of a shell.
    RemoteShell,
    /// Code is written into memory and called.
    Shellcode,
    /// The scanner of PowerShell is switched off.
    Amsi,
    /// A program of the system is asked whether a password is right.
    PasswordCheck,
    /// Built-in functions by computed names.
    HiddenCall,
}

/// Link between two facts: what one brought is what another takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flow {
    /// The number of the fact that brings it.
    pub(crate) source: usize,
    /// The number of the fact that takes it.
    pub(crate) sink: usize,
    pub(crate) part: Part,
}

/// Position of something in what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Address,
    Header,
    Body,
}

/// Words of which one is in every text that sends something or looks up a name.
pub(crate) static SENDS: Phrases = Phrases::new(words![
    r"\$\.|post|\bput|upload|send|request|fetch|axios|\bgot\b|urlopen|urllib|http\.|https\.|httpx|aiohttp|ajax|socket|connect|stor(?:binary|lines)|\biwr\b|\birm\b|invoke-|dns|lookup|resolve|gethost|getaddr|download|getstringasync",
    r"curl|wget|\bxh\b|\bhttps? |\bnc\b|ncat|socat|telnet|\bscp\b|sftp|rsync|\bl?ftp\b|rclone|\baws\b|gsutil|\bgh\b|croc|mail|mutt|msmtp|swaks|\bdig\b|drill|\bping\b|getent|\bhost\b",
]);

impl Reading {
    /// A number for a new fact; nothing when there are too many.
    fn push(&mut self, what: FactKind, range: Range<usize>) -> Option<usize> {
        if self.facts.len() >= MAX_FACTS {
            self.is_cut = true;
            return None;
        }
        self.facts.push(Fact { what, range });
        Some(self.facts.len() - 1)
    }

    /// The flows with the facts at both ends.
    pub(crate) fn flowing(&self) -> impl Iterator<Item = (&Fact, &Fact, Part)> {
        self.flows
            .iter()
            .filter_map(|flow| Some((self.facts.get(flow.source)?, self.facts.get(flow.sink)?, flow.part)))
    }
}

/// Reads a unit, if it is code or looks like it.
pub(crate) fn read(unit: &Unit<'_>) -> Reading {
    let text = unit.text();
    match language_of(unit) {
        Some(Language::Shell) => commands::of(unit.commands()),
        Some(language) => code::read(text, language, 0),
        None => Reading::default(),
    }
}

/// Returns the language of a unit: the declared one, unless it is plainly something else.
fn language_of(unit: &Unit<'_>) -> Option<Language> {
    let text = unit.text();
    match (unit.place, unit.language) {
        (_, language @ (Language::Python | Language::JavaScript | Language::PowerShell | Language::Code)) => {
            Some(language)
        }
        (Place::Fence | Place::Inline | Place::Script | Place::Value, Language::Shell | Language::Text) => {
            Some(guessed(text).unwrap_or(Language::Shell))
        }
        (Place::Prose | Place::Comment | Place::Value | Place::Html, _) => guessed(text),
        _ => None,
    }
}

/// Words that only one language has.
fn guessed(text: &str) -> Option<Language> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let commands = [
        "node", "python", "python3", "curl", "npm", "npx", "bash", "sh", "export", "cat", "echo", "pip",
        "sudo",
    ];
    let is_command =
        |line: &str| line.split_ascii_whitespace().next().is_some_and(|word| commands.contains(&word));
    if text.lines().any(is_command) {
        return None;
    }
    if has(&["process.env", "require('", "require(\"", "await fetch(", "fetch('", "fetch(\"", "fetch(`"]) {
        Some(Language::JavaScript)
    } else if has(&[
        "os.environ",
        "os.getenv",
        "requests.post(",
        "requests.get(",
        "subprocess.",
        "urllib.request",
    ]) {
        Some(Language::Python)
    } else if has(&["Invoke-Expression", "New-Object ", "$env:", "Invoke-WebRequest", "IEX("]) {
        Some(Language::PowerShell)
    } else {
        None
    }
}

/// Returns true if a unit is read as commands for a shell.
pub(crate) fn is_shell(unit: &Unit<'_>) -> bool {
    language_of(unit) == Some(Language::Shell)
}
