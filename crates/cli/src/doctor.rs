//! `ringfence doctor`: what this machine can enforce, what is lost, what to change.
//!
//! Three steps: measure (`jail::probe` and [`Places`]), judge (pure: `Report::of`), show. The doctor creates nothing and
//! changes nothing; it needs no home, no writable directory and no privilege.

mod cause;
mod kernel;
mod lost;
mod namespaces;
mod place;
mod provider;
mod row;
mod show;
#[cfg(test)]
mod tests;

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use jail::probe::{self, Machine};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

use place::Sites;
use provider::Support;
use row::Row;

/// Check what this machine can enforce, what is missing, and what to change.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Try namespaces in this very process and print one line; only the doctor itself has a use for it.
    #[arg(long, hide = true)]
    probe_namespaces: bool,
}

/// Paths that Ringfence uses on this machine, as the caller determined them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The directory of the ledger; none if no home is known.
    pub(crate) state_dir: Option<PathBuf>,
    /// The directory of sockets; none if no such place is known.
    pub(crate) runtime_dir: Option<PathBuf>,
    /// The policy files that are looked for, in their order.
    pub(crate) config: Vec<ConfigFile>,
    /// The ledger; none if no home is known.
    pub(crate) ledger: Option<PathBuf>,
}

/// One policy file that is looked for.
#[derive(Debug, Clone)]
pub(crate) struct ConfigFile {
    /// The layer: `managed`, `user` or `project`.
    pub(crate) label: &'static str,
    /// Path; none if it is not known, as for a user without a home.
    pub(crate) path: Option<PathBuf>,
    /// State.
    pub(crate) state: ConfigState,
}

/// State of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigState {
    /// There is none, which is fine.
    Absent,
    /// It was read and holds.
    Loaded,
    /// It is refused, and why, in one sentence.
    Refused(String),
}

/// Examines this machine and says what was found.
///
/// Ends with [`Exit::Ok`] when at least one provider could make a jail here.
pub(crate) fn run(args: &DoctorArgs, places: &Places, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    if args.probe_namespaces {
        return probe_namespaces(terminal);
    }
    let machine = Machine::measure(Path::new("/"), probe_command());
    let report = Report::of(&machine, &Sites::look(places, SystemTime::now()));
    match terminal.format {
        Format::Text => show::text(&report, terminal)?,
        Format::Json => terminal.json(&show::json(&report))?,
    }
    Ok(report.exit())
}

/// The other end of [`probe_command`].
fn probe_namespaces(terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let found = probe::namespaces_here()
        .map_err(|error| Failure::new("cannot test namespaces on this machine").because(&error))?;
    write!(terminal.out, "{found}")?;
    Ok(Exit::Ok)
}

/// Starts this very program again: by the kernel's own link to it, not by a name that could mean another file by now.
fn probe_command() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("ringfence").args(["doctor", "--probe-namespaces"]);
    command
}

/// Everything the doctor has to say.
struct Report {
    rows: Vec<Row>,
    support: Support,
}

impl Report {
    /// Judges measurements. Pure: the same machine gets the same report everywhere.
    fn of(machine: &Machine, sites: &Sites) -> Self {
        let rows = [kernel::rows(machine), place::rows(sites, machine.uid)].concat();
        Self { rows, support: Support::of(machine) }
    }

    /// A machine without any provider runs nothing, even if all else is in order.
    fn exit(&self) -> Exit {
        if self.support.strongest.is_some() { Exit::Ok } else { Exit::Failed }
    }
}
