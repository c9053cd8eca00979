//! One thing asked.

use sha2::{Digest as _, Sha256};

use crate::host::Endpoint;
use crate::invocation::Invocation;
use crate::location::Location;
use crate::tool::ToolName;

/// One thing asked: through which tool, and what it wants.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The tool that asks.
    pub tool: &'a ToolName,
    /// Access that it wants.
    pub want: Want<'a>,
}

/// Access that a request wants.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Want<'a> {
    /// Read a file or list a directory.
    Read(&'a Location),
    /// Create, change, rename or delete a file.
    Write(&'a Location),
    /// Start the programs of a command line.
    Exec(Execution<'a>),
    /// Open a connection.
    Connect(&'a Endpoint),
    /// Call the tool itself.
    Call(&'a Arguments),
    /// Load a skill or an MCP manifest.
    Load(&'a Location),
}

/// A command line that is to be run: rules on its programs and rules on the arguments of the call see the same request,
/// for every caller.
#[derive(Debug, Clone, Copy)]
pub struct Execution<'a> {
    /// Programs that the line would start.
    pub invocation: &'a Invocation,
    /// The arguments of the call that runs it; `command` is the line itself.
    pub arguments: &'a Arguments,
}

/// The arguments of a tool call: names and values as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    pairs: Vec<(String, String)>,
    /// Names of arguments that change nothing about what happens.
    remarks: &'static [&'static str],
    /// Other names of arguments, each with the name that it stands for.
    aliases: &'static [(&'static str, &'static str)],
    /// Digest of everything else that an answer to this request depends on.
    bound: [u8; 32],
}

impl Arguments {
    /// No arguments at all.
    pub const NONE: &'static Self = &Self { pairs: Vec::new(), remarks: &[], aliases: &[], bound: [0; 32] };

    /// Collects named values; the value of a repeated name is judged each time.
    #[must_use]
    pub fn new(pairs: Vec<(String, String)>) -> Self {
        Self { pairs, ..Self::default() }
    }

    /// The arguments of a call that has nothing but a command line.
    #[must_use]
    pub fn command(line: impl Into<String>) -> Self {
        Self::new(vec![("command".to_owned(), line.into())])
    }

    /// Names arguments that change nothing about what happens, such as a description: rules see them, and an answer holds
    /// for all of their values.
    #[must_use]
    pub fn with_remarks(self, remarks: &'static [&'static str]) -> Self {
        Self { remarks, ..self }
    }

    /// Adds other names of arguments, so that a rule that uses one of them holds all the same.
    #[must_use]
    pub fn with_aliases(self, aliases: &'static [(&'static str, &'static str)]) -> Self {
        Self { aliases, ..self }
    }

    /// Adds a value that is judged besides those of the same name, unless it is one of them.
    pub fn also(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !self.values(name).any(|known| known == value) {
            self.pairs.push((name.to_owned(), value));
        }
    }

    /// Binds answers to something that rules do not see: the identity of a program or of a directory, bytes on standard input.
    /// An answer covers only requests that are bound to the same.
    pub fn bind(&mut self, name: &str, value: &[u8]) {
        let mut digest = Sha256::new();
        digest.update(self.bound);
        field(&mut digest, name.as_bytes());
        field(&mut digest, value);
        self.bound = digest.finalize().into();
    }

    /// Every value given under a name.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name, |(_, canonical)| canonical);
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The command line that a call of this tool would run, if it runs one.
    #[must_use]
    pub fn line(&self, tool: &ToolName) -> Option<&str> {
        (*tool == ToolName::exec()).then(|| self.values("command").next()).flatten()
    }

    /// Names and values, in order.
    #[must_use]
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Adds all that changes what happens to a digest.
    pub(crate) fn digest(&self, digest: &mut Sha256) {
        for (name, value) in self.pairs.iter().filter(|(name, _)| !self.remarks.contains(&name.as_str())) {
            field(digest, name.as_bytes());
            field(digest, value.as_bytes());
        }
        digest.update(self.bound);
    }
}

/// Adds a field to a digest with its length, so that no two lists of fields have the same bytes.
fn field(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// The kind of a request, as rules and memory tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `fs.read`
    Read,
    /// `fs.write`
    Write,
    /// `command.execute`
    Exec,
    /// `net.connect`
    Connect,
    /// `tool.call`
    Call,
    /// `skill.load`
    Load,
}

impl Kind {
    /// The word used in output and in the ledger.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Exec => "exec",
            Self::Connect => "connect",
            Self::Call => "call",
            Self::Load => "load",
        }
    }
}

impl<'a> Want<'a> {
    /// Which kind of request this is.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Read(_) => Kind::Read,
            Self::Write(_) => Kind::Write,
            Self::Exec(_) => Kind::Exec,
            Self::Connect(_) => Kind::Connect,
            Self::Call(_) => Kind::Call,
            Self::Load(_) => Kind::Load,
        }
    }

    /// The arguments of the call, if this is about one.
    #[must_use]
    pub fn arguments(self) -> Option<&'a Arguments> {
        match self {
            Self::Call(arguments) | Self::Exec(Execution { arguments, .. }) => Some(arguments),
            Self::Read(_) | Self::Write(_) | Self::Load(_) | Self::Connect(_) => None,
        }
    }

    /// The location, if this is about a file.
    #[must_use]
    pub fn location(self) -> Option<&'a Location> {
        match self {
            Self::Read(location) | Self::Write(location) | Self::Load(location) => Some(location),
            Self::Exec(_) | Self::Connect(_) | Self::Call(_) => None,
        }
    }
}
