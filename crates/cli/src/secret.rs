//! `ringfence secret`: values that the broker adds to requests, kept outside of every jail.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::SystemTime;

use broker::{FileStore, MAX_VALUE, Secret, SecretError, SecretName};
use config::Settings;
use policy::{SecretSource, Shown};
use ringfence::run::Host;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

/// Subcommands of `ringfence secret`.
#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum SecretCommand {
    /// Store a value that is read from standard input; a terminal does not echo it
    Set {
        /// The name of the secret, as in `[[secrets]]` of the policy
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// List the names of secrets, never their values
    List,
    /// Remove a secret
    Remove {
        /// The name of the secret
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Stores, lists or removes secrets.
pub(crate) fn run(
    command: &SecretCommand,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let directory = around.secret_directory().ok_or_else(|| {
        Failure::new("cannot determine where secrets are kept: HOME and XDG_STATE_HOME are unset")
    })?;
    let store = FileStore::new(&directory);
    match command {
        SecretCommand::Set { name } => {
            around.protect_memory()?;
            set(&store, name, terminal)
        }
        SecretCommand::Remove { name } => remove(&store, name, terminal),
        SecretCommand::List => {
            let settings = crate::policy::settings(around, terminal)?;
            list(&store, &directory, &settings, terminal)
        }
    }
}

fn set(store: &FileStore, name: &str, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let name = SecretName::parse(name).map_err(|error| failure(&error))?;
    let value = read_value(&name, terminal)?;
    store.set(&name, &value).map_err(|error| failure(&error))?;
    answer(&name, "stored", "set", terminal)
}

fn remove(store: &FileStore, name: &str, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let name = SecretName::parse(name).map_err(|error| failure(&error))?;
    if !store.remove(&name).map_err(|error| failure(&error))? {
        let message = format!("there is no secret `{name}`");
        return Err(Failure::new(message).hint("`ringfence secret list` lists them"));
    }
    answer(&name, "removed", "removed", terminal)
}

fn answer(name: &SecretName, word: &str, key: &str, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    match terminal.format {
        Format::Json => terminal.json(&json!({ "version": 1, "secret": name.as_str(), key: true }))?,
        Format::Text => writeln!(terminal.out, "{word} {name}")?,
    }
    Ok(Exit::Ok)
}

/// Reads a value to the end of the input, or one line of a terminal with its echo off.
fn read_value(name: &SecretName, terminal: &mut Terminal<'_>) -> Result<Secret, Failure> {
    let unreadable =
        |error: io::Error| Failure::new("cannot read the value from standard input").because(&error);
    // A secret overwrites this buffer when it is dropped, also if the value is not accepted. It never grows, so there is no copy.
    let mut bytes = Vec::with_capacity(MOST_READ);
    let read = if io::stdin().is_terminal() {
        write!(terminal.err, "Value of {name}: ")?;
        terminal.err.flush()?;
        let line = {
            let _quiet = Quiet::start().map_err(unreadable)?;
            read_up_to(Some(b'\n'), &mut bytes)
        };
        writeln!(terminal.err)?;
        line
    } else {
        read_up_to(None, &mut bytes)
    };
    let secret = Secret::new(bytes);
    read.map_err(unreadable)?;
    secret.map_err(|error| failure(&error))
}

/// Most bytes that are read: a value and the end of its line.
const MOST_READ: usize = MAX_VALUE + 2;

/// Reads standard input byte by byte up to a last one or its end, without the buffer of the standard library, which keeps what was read.
fn read_up_to(last: Option<u8>, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut byte = [0];
    while bytes.len() < MOST_READ {
        match rustix::io::read(rustix::stdio::stdin(), &mut byte) {
            Ok(0) => break,
            Ok(_) if Some(byte[0]) == last => break,
            Ok(_) => bytes.push(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A terminal without echo until it is dropped.
struct Quiet {
    before: Termios,
}

impl Quiet {
    fn start() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
        Ok(Self { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone needs no echo.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.before).ok();
    }
}

/// A secret as it is listed.
struct Listed {
    name: String,
    updated: Option<SystemTime>,
    /// Hosts that it is sent to.
    hosts: Vec<String>,
}

fn list(
    store: &FileStore,
    directory: &std::path::Path,
    settings: &Settings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let names = store.list().map_err(|error| failure(&error))?;
    let all: Vec<_> =
        names.iter().map(|name| listed(name, &directory.join(name.as_str()), settings)).collect();
    match terminal.format {
        Format::Json => {
            let secrets: Vec<_> = all.iter().map(Listed::json).collect();
            terminal.json(&json!({ "version": 1, "secrets": secrets }))?;
        }
        Format::Text if all.is_empty() => {
            writeln!(terminal.err, "no secrets; store one: ringfence secret set NAME")?;
        }
        Format::Text => {
            for secret in &all {
                let hosts =
                    if secret.hosts.is_empty() { "no route".to_owned() } else { secret.hosts.join(", ") };
                writeln!(terminal.out, "{}  {hosts}", secret.name)?;
            }
        }
    }
    Ok(Exit::Ok)
}

fn listed(name: &SecretName, path: &Path, settings: &Settings) -> Listed {
    let stored = settings.routes().iter().filter(|route| route.source == SecretSource::Store);
    let hosts =
        stored.filter(|route| *route.secret == *name.as_str()).map(|route| route.endpoint.to_string());
    let proxy = settings.upstream_proxy().filter(|proxy| proxy.secret.as_deref() == Some(name.as_str()));
    let proxy = proxy.map(|proxy| format!("proxy {}", proxy.endpoint));
    let updated = path.symlink_metadata().and_then(|found| found.modified()).ok();
    Listed { name: Shown::text(name.as_str()).to_string(), updated, hosts: hosts.chain(proxy).collect() }
}

impl Listed {
    fn json(&self) -> Value {
        let since = self.updated.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        json!({ "name": self.name, "updated": since.map(|since| since.as_secs()), "routes": self.hosts })
    }
}

fn failure(error: &SecretError) -> Failure {
    match error {
        SecretError::Name => Failure::usage(error.to_string()),
        other => Failure::new("cannot use the store of secrets").because(other),
    }
}
