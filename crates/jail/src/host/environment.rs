//! The environment inside a jail: by allow-list, pure, the same for every provider.
//!
//! The effect of a variable of the caller is decided by the program that reads it, so its name decides: a few names pass, the
//! rest only when asked for, and those that make programs load code or that carry secrets not at all. `table` holds the rows.
//!
//! A value that was written out was chosen for this run, and enters under any name but those that the sandbox sets: nothing of
//! ours runs inside with these variables, so none of them takes over the set-up of the jail, `LD_PRELOAD` included.
//!
//! **Invariant.** Nothing here reads the real environment: the caller's is passed in.

mod path;
mod secret;
mod table;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use policy::{Code, Shown};

/// One variable asked for on top of those that pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: OsString,
    /// Its value; without one, the caller's value is taken if there is one.
    pub value: Option<OsString>,
}

/// Directories in which every system keeps its programs.
pub const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/nix/store", "/gnu/store"];

/// Paths from which the variables that the sandbox sets are made.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Path at which the private home directory appears.
    pub home: &'a Path,
    /// The directory the agent works in.
    pub workspace: &'a Path,
    /// Directory in which the command starts.
    pub cwd: &'a Path,
    /// The name of the user inside.
    pub user: &'a OsStr,
    /// The shell of the user inside.
    pub shell: &'a Path,
    /// The private directory for temporary files.
    pub tmp: &'a Path,
    /// The directories whose programs are seen inside, such as `/usr` and `/bin`.
    pub visible: &'a [&'a Path],
}

/// Why a variable of the caller never enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// It is no name that a shell could use, or a value that no program could be given.
    Malformed,
    /// The dynamic loader or the C library acts on it.
    Loader,
    /// A shell runs it or reads a file that it names.
    Startup,
    /// An interpreter or a library loads the code that it names.
    Code,
    /// It names a program to run, or its options.
    Program,
    /// Git runs it, or looks for its repository or its settings there.
    Git,
    /// It steers where connections go and whom they trust.
    Route,
    /// It leads to a process or a socket of the host.
    Handle,
    /// It is a secret, or leads to one.
    Secret,
    /// The sandbox sets it.
    Own,
}

/// A variable that was asked for and never enters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refused {
    /// The variable.
    pub name: OsString,
    /// Kind of variable.
    pub kind: Kind,
    /// Effect that it would have.
    pub reason: &'static str,
}

/// The whole environment of a command: sorted by name, each name once.
///
/// A variable that passes by default and does not fit is left out; one that was asked for and does not fit is refused, so that no caller
/// believes it is there. Of a name that the caller has twice nothing passes: `getenv` takes the first, shells the
/// last, and a check that sees one must not vouch for the other.
pub fn inside(
    outside: &[(OsString, OsString)],
    wanted: &[Wanted],
    place: &Place<'_>,
) -> Result<Vec<(OsString, OsString)>, Refused> {
    let mut inside = filtered(outside, wanted, place)?;
    set_for_jail(&mut inside);
    Ok(inside)
}

/// Adds what programs have to know in a jail and nowhere else.
pub fn set_for_jail(environment: &mut Vec<(OsString, OsString)>) {
    // Files that git checks out at protected names get them afterwards, which changes `ctime`: git would take them for changed.
    set_git(environment, "core.trustctime", "false");
}

/// The same as [`inside`] without what is set for a jail alone.
pub fn filtered(
    outside: &[(OsString, OsString)],
    wanted: &[Wanted],
    place: &Place<'_>,
) -> Result<Vec<(OsString, OsString)>, Refused> {
    let caller = Caller::new(outside);
    let mut inside = caller.passing();
    let mut search = path::cleaned(caller.value(OsStr::new("PATH")), place);
    for one in wanted {
        match granted(one, &caller, place)? {
            Granted::Nothing => {}
            Granted::Search(value) => search = value,
            Granted::Value(value) => drop(inside.insert(one.name.clone(), value)),
        }
    }
    inside.extend(own(search, place));
    Ok(inside.into_iter().collect())
}

/// Adds a setting for git to an environment, after those that are there. Says whether it could: git does not read a count that is no number,
/// and a count that was not intended is left to git.
pub fn set_git(environment: &mut Vec<(OsString, OsString)>, key: &str, value: &str) -> bool {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let known = environment.iter().find(|(name, _)| name == COUNT).map(|(_, count)| count);
    let Some(count) = known.map_or(Some(0), |count| settings(count)) else { return false };
    let new = [
        (COUNT.into(), (count + 1).to_string().into()),
        (format!("GIT_CONFIG_KEY_{count}").into(), key.into()),
        (format!("GIT_CONFIG_VALUE_{count}").into(), value.into()),
    ];
    environment.retain(|(name, _)| new.iter().all(|(other, _)| name != other));
    environment.extend(new);
    environment.sort();
    true
}

/// Reads a number of settings to which one can be added.
fn settings(count: &OsStr) -> Option<u16> {
    const MOST: u16 = 999;
    let count = count.to_str().filter(|count| count.bytes().all(|byte| byte.is_ascii_digit()))?;
    count.parse().ok().filter(|count| *count < MOST)
}

/// The caller's environment; a name that is there twice has no value.
struct Caller<'a>(BTreeMap<&'a OsStr, Option<&'a OsStr>>);

impl<'a> Caller<'a> {
    fn new(outside: &'a [(OsString, OsString)]) -> Self {
        let mut values = BTreeMap::new();
        for (name, value) in outside {
            values
                .entry(name.as_os_str())
                .and_modify(|known| *known = None)
                .or_insert(Some(value.as_os_str()));
        }
        Self(values)
    }

    fn value(&self, name: &OsStr) -> Option<&'a OsStr> {
        self.0.get(name).copied().flatten()
    }

    fn passing(&self) -> BTreeMap<OsString, OsString> {
        let known = self.0.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let passing = known.filter(|(name, value)| table::passes(name, value) && fault(value).is_none());
        passing.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

enum Granted {
    Nothing,
    Value(OsString),
    Search(OsString),
}

fn granted(wanted: &Wanted, caller: &Caller<'_>, place: &Place<'_>) -> Result<Granted, Refused> {
    let refused = |(kind, reason)| Refused { name: wanted.name.clone(), kind, reason };
    if let Some(reason) = table::own(&wanted.name) {
        return match &wanted.value {
            None => Ok(Granted::Nothing),
            Some(value) if wanted.name == "PATH" && path::reachable(value, place) => {
                Ok(Granted::Search(path::cleaned(Some(value), place)))
            }
            Some(_) => Err(refused((Kind::Own, reason))),
        };
    }
    let typed = wanted.value.as_deref();
    let value = typed.or_else(|| caller.value(&wanted.name));
    let wrong = match typed {
        Some(value) => malformed(&wanted.name).or_else(|| cut(value)),
        None => never(&wanted.name).or_else(|| fault(value?)),
    };
    match (wrong, value) {
        (Some(wrong), _) => Err(refused(wrong)),
        (None, Some(value)) => Ok(Granted::Value(value.to_owned())),
        (None, None) => Ok(Granted::Nothing),
    }
}

type Fault = (Kind, &'static str);

/// Why a name of the caller does not enter, if there is a reason.
fn never(name: &OsStr) -> Option<Fault> {
    let Some(name) = identifier(name) else { return Some(NOT_A_NAME) };
    if table::harmless(name) {
        return None;
    }
    table::never(name).or_else(|| secret::name(name).map(|reason| (Kind::Secret, reason)))
}

const NOT_A_NAME: Fault = (Kind::Malformed, "not a name: letters, digits and `_`, no digit first");

fn malformed(name: &OsStr) -> Option<Fault> {
    identifier(name).is_none().then_some(NOT_A_NAME)
}

fn cut(value: &OsStr) -> Option<Fault> {
    let cut = value.as_encoded_bytes().contains(&0);
    cut.then_some((Kind::Malformed, "the value holds a NUL, where programs would cut it"))
}

/// Why a value of the caller does not enter, if there is a reason.
fn fault(value: &OsStr) -> Option<Fault> {
    let bytes = value.as_encoded_bytes();
    let function = bytes.trim_ascii_start().starts_with(b"()");
    let function =
        function.then_some((Kind::Startup, "the value is a function that old shells define on start"));
    cut(value).or(function).or_else(|| secret::value(bytes).map(|reason| (Kind::Secret, reason)))
}

/// The name as text, if a shell could set it. Others exist to get past checks, or carry functions of a shell.
fn identifier(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (plain && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())).then_some(name)
}

/// Returns the variables that the sandbox sets, regardless of the caller's.
fn own(search: OsString, place: &Place<'_>) -> [(OsString, OsString); 9] {
    let owned = |name: &str, value: &OsStr| (name.into(), value.to_owned());
    [
        owned("HOME", place.home.as_os_str()),
        owned("LOGNAME", place.user),
        ("PATH".into(), search),
        owned("PWD", place.cwd.as_os_str()),
        owned("RINGFENCE", OsStr::new("1")),
        owned("SHELL", place.shell.as_os_str()),
        // A bash without it and with a socket as standard input takes itself for a remote shell and reads `.bashrc`.
        owned("SHLVL", OsStr::new("1")),
        owned("TMPDIR", place.tmp.as_os_str()),
        owned("USER", place.user),
    ]
}

impl Wanted {
    /// Reads `NAME` or `NAME=VALUE`, as on a command line.
    #[must_use]
    pub fn parse(text: &OsStr) -> Self {
        let bytes = text.as_encoded_bytes();
        match bytes.iter().position(|&byte| byte == b'=') {
            None => Self { name: text.to_owned(), value: None },
            Some(at) => Self { name: part(&bytes[..at]), value: Some(part(&bytes[at + 1..])) },
        }
    }
}

fn part(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

impl Kind {
    /// The word of the documentation.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Loader => "loader",
            Self::Startup => "start-up",
            Self::Code => "code",
            Self::Program => "program",
            Self::Git => "git",
            Self::Route => "route",
            Self::Handle => "handle",
            Self::Secret => "secret",
            Self::Own => "own",
        }
    }
}

impl Refused {
    /// The code of every refusal.
    #[must_use]
    pub const fn code(&self) -> Code {
        Code::JailEnvironment
    }

    /// Returns a hint on what to do instead.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self.kind {
            Kind::Malformed => "use NAME or NAME=VALUE, with a name that a shell could set",
            Kind::Own => "leave it out; to search a directory of programs, show it with --read",
            Kind::Secret => {
                "everything that runs inside could read it and pass it on; if that is meant, write the value out: NAME=VALUE"
            }
            Kind::Route => {
                "the way out is chosen by the network setting; to set it all the same, write the value out: NAME=VALUE"
            }
            Kind::Handle => {
                "what it leads to is not inside; to set it all the same, write the value out: NAME=VALUE"
            }
            Kind::Loader | Kind::Startup | Kind::Code | Kind::Program | Kind::Git => {
                "write the value out, as NAME=VALUE, if it is meant"
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Shown::bytes(self.name.as_encoded_bytes());
        match self.kind {
            Kind::Own => write!(f, "the variable `{name}` is set by the sandbox: {}", self.reason),
            _ => write!(f, "the variable `{name}` is not passed in: {}", self.reason),
        }
    }
}

#[cfg(test)]
mod tests;
