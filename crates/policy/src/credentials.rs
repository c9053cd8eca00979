//! Files that hold secrets, with a column for every use.

use std::sync::LazyLock;

use crate::tables::credentials::{FILES, PUBLIC, TEMPLATE};

/// A file or directory that holds secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialFile {
    /// The path below its root. `*` stands for characters of one name, `/**` at the end for the directory and all below.
    pub pattern: &'static str,
    /// The directory that it is below.
    pub root: CredentialRoot,
    /// The default floor that forbids it.
    pub floor: Option<FloorScope>,
    /// The reason to ask about a command that reads it, behind "`path` is".
    pub read: Option<&'static str>,
    /// The reason to ask about a command that changes it, behind "`path` is".
    pub change: Option<&'static str>,
    /// The reason why `learn` never shows or proposes it.
    pub learn: Option<&'static str>,
    /// The kind of secret that the path leads to.
    pub store: Option<SecretStore>,
    /// The kind of secret that the name of the directory alone leads to.
    pub directory: Option<SecretStore>,
    /// The class of secret that a command shows when it names the path.
    pub command: Option<SecretClass>,
    /// True if it is never part of a toolchain that a jail shows.
    pub closed: bool,
}

/// The directory that a path of the table is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialRoot {
    /// A home directory.
    Home,
    /// The root of the file system.
    System,
    /// Any directory.
    Any,
}

/// The policies that forbid a name by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorScope {
    /// File tools and jails.
    All,
    /// File tools alone: builds in a jail need it.
    Tools,
}

/// The class of secret in a file that a command names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretClass {
    /// Settings with a token in them, which programs read all the time.
    Settings,
    /// Credentials of a person: for clouds, registries, browsers, wallets.
    Credentials,
    /// A private key.
    Key,
}

/// The kind of file that keeps secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretStore {
    /// A private key.
    Key,
    /// The login of a tool.
    Credential,
    /// Variables of a project.
    Variables,
    /// Passwords and cookies of a browser.
    Browser,
    /// Money.
    Wallet,
    /// A password manager or a system's key chain.
    Keychain,
    /// Memory, instructions and settings of an agent.
    Agent,
    /// The history of a shell or an interpreter.
    History,
    /// The system's own accounts.
    Accounts,
}

/// Reads the rows of the table, in its order.
///
/// ```
/// let shadow = ringfence_policy::credential_files().find(|file| file.pattern == "/etc/shadow").unwrap();
/// assert_eq!(shadow.read, Some("where the passwords of all users are kept"));
/// ```
pub fn credential_files() -> impl Iterator<Item = CredentialFile> {
    static ROWS: LazyLock<Vec<CredentialFile>> = LazyLock::new(|| FILES.lines().filter_map(read).collect());
    ROWS.iter().copied()
}

/// Returns the patterns that are forbidden by default, in the order of the table.
pub fn forbidden_patterns(scope: FloorScope) -> impl Iterator<Item = String> {
    let applies = move |floor| scope == FloorScope::Tools || floor == FloorScope::All;
    let files = credential_files().filter(move |file| file.floor.is_some_and(applies));
    files.map(|file| format!("**/{}", file.pattern))
}

/// Returns the patterns of files that show how a file with secrets is written and hold none.
pub fn template_patterns() -> impl Iterator<Item = &'static str> {
    TEMPLATE.lines()
}

/// Returns the beginnings of the names beside private keys that are public.
pub fn public_key_names() -> impl Iterator<Item = &'static str> {
    PUBLIC.lines()
}

impl CredentialFile {
    /// Returns the path of the file or of the directory itself.
    #[must_use]
    pub fn path(&self) -> &'static str {
        self.pattern.strip_suffix("/**").unwrap_or(self.pattern)
    }
}

impl SecretStore {
    /// Returns the noun for it in a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "a private key",
            Self::Credential => "stored credentials",
            Self::Variables => "a file with secrets",
            Self::Browser => "what a browser keeps",
            Self::Wallet => "a wallet",
            Self::Keychain => "a password store",
            Self::Agent => "an agent's memory or settings",
            Self::History => "what was typed in a shell",
            Self::Accounts => "the system's accounts",
        }
    }

    /// Returns true if nothing but its owner has any reason to read it.
    #[must_use]
    pub fn is_private(self) -> bool {
        matches!(self, Self::Key | Self::Browser | Self::Wallet | Self::Keychain | Self::Accounts)
    }

    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "key" => Self::Key,
            "credential" => Self::Credential,
            "variables" => Self::Variables,
            "browser" => Self::Browser,
            "wallet" => Self::Wallet,
            "keychain" => Self::Keychain,
            "agent" => Self::Agent,
            "history" => Self::History,
            "accounts" => Self::Accounts,
            _ => return None,
        })
    }
}

fn read(line: &'static str) -> Option<CredentialFile> {
    let mut columns = line.split('|');
    let mut next = || columns.next();
    let text = |column: &'static str| (!column.is_empty()).then_some(column);
    Some(CredentialFile {
        pattern: next()?,
        root: match next()? {
            "home" => CredentialRoot::Home,
            "system" => CredentialRoot::System,
            _ => CredentialRoot::Any,
        },
        floor: match next()? {
            "all" => Some(FloorScope::All),
            "tools" => Some(FloorScope::Tools),
            _ => None,
        },
        read: text(next()?),
        change: text(next()?),
        learn: text(next()?),
        store: SecretStore::read(next()?),
        directory: SecretStore::read(next()?),
        command: match next()? {
            "key" => Some(SecretClass::Key),
            "credentials" => Some(SecretClass::Credentials),
            "settings" => Some(SecretClass::Settings),
            _ => None,
        },
        closed: next()? == "true",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_used() {
        assert_eq!(credential_files().count(), FILES.lines().count());
        for file in credential_files() {
            let texts = [file.read, file.change, file.learn].iter().flatten().count();
            let uses = [
                file.floor.is_some(),
                file.store.is_some(),
                file.directory.is_some(),
                file.command.is_some(),
            ];
            assert!(texts > 0 || uses.contains(&true), "{file:?}");
            assert_eq!(file.pattern.starts_with('/'), file.root == CredentialRoot::System, "{file:?}");
            assert!(file.read.is_none() || file.root != CredentialRoot::Any, "{file:?}");
            assert!(
                file.learn.is_none() || file.root == CredentialRoot::Home && !file.path().contains('*'),
                "{file:?}"
            );
        }
    }

    #[test]
    fn file_tools_forbid_all_that_a_jail_hides() {
        let tools: Vec<_> = forbidden_patterns(FloorScope::Tools).collect();
        let all: Vec<_> = forbidden_patterns(FloorScope::All).collect();
        assert!(all.iter().all(|pattern| tools.contains(pattern)) && tools.len() > all.len());
        for pattern in ["**/.ssh/**", "**/id_ed25519*", "**/.env*", "**/.yarnrc", "**/.aws/credentials"] {
            assert!(all.iter().any(|known| known == pattern), "{pattern}");
        }
    }
}
