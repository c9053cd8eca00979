//! `ringfence home`: home directories that `run --keep-home` has kept, one for each project.

use overlay::{Home, Homes};
use policy::Shown;
use ringfence::run::Host;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::overlay::failure;
use crate::terminal::{Format, Terminal};

/// Subcommands of `ringfence home`.
#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum HomeCommand {
    /// List kept homes and the directories that they belong to
    List,
    /// Remove a kept home with everything in it
    Remove {
        /// The home, by its id [default: the one of this directory]
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// Remove every home
        #[arg(long, conflicts_with = "id")]
        all: bool,
        /// Remove homes whose directory is gone
        #[arg(long, conflicts_with_all = ["id", "all"])]
        orphans: bool,
    },
}

/// Lists or removes homes.
pub(crate) fn run(
    command: &HomeCommand,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let state = around.places.state.as_ref().ok_or_else(|| {
        Failure::new("cannot determine where homes are kept: HOME and XDG_STATE_HOME are unset")
    })?;
    let homes = Homes::at(&state.join("ringfence"));
    let all = homes.list().map_err(|error| failure(&error))?;
    let HomeCommand::Remove { id, all: every, orphans } = command else { return list(&all, terminal) };
    let workspace = &around.places.workspace;
    let chosen: Vec<_> = match id {
        Some(id) => all.iter().filter(|home| home.id == *id).collect(),
        None if *every => all.iter().collect(),
        None if *orphans => all.iter().filter(|home| home.is_orphan()).collect(),
        None => all.iter().filter(|home| home.workspace == *workspace && !home.is_orphan()).collect(),
    };
    if chosen.is_empty() && !every && !orphans {
        return Err(Failure::new("there is no such kept home").hint("`ringfence home list` lists them"));
    }
    for home in chosen {
        homes.remove(home).map_err(|error| failure(&error))?;
        match terminal.format {
            Format::Json => terminal.json(&json!({ "version": 1, "home": home.id, "removed": true }))?,
            Format::Text => writeln!(terminal.out, "removed {}", shown(home))?,
        }
    }
    Ok(Exit::Ok)
}

fn list(all: &[Home], terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    if terminal.format == Format::Json {
        let homes = all.iter().map(|home| {
            let workspace = Shown::path(&home.workspace).to_string();
            json!({ "id": home.id, "workspace": workspace, "orphan": home.is_orphan() })
        });
        terminal.json(&json!({ "version": 1, "homes": homes.collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    for home in all {
        let orphan = if home.is_orphan() { " (its directory is gone)" } else { "" };
        writeln!(terminal.out, "{}{orphan}", shown(home))?;
    }
    Ok(Exit::Ok)
}

/// Formats a home for a list.
fn shown(home: &Home) -> String {
    format!("{} {}", home.id, Shown::path(&home.workspace))
}
