//! `ringfence skill`: what a stranger's skill would do, before a model reads it.

mod directory;
mod gather;
mod json;
mod progress;
mod read;
mod record;
mod sarif;
mod scan;
mod scanned;
mod text;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::surroundings::Surroundings;
use crate::terminal::{Shape, Terminal};

/// What is done with skills.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SkillCommand {
    /// Look for what a skill or a manifest should not do
    Scan(scan::ScanArgs),
}

/// Runs a skill command.
pub(crate) fn run(
    command: &SkillCommand,
    shape: Shape,
    around: &Surroundings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    match command {
        SkillCommand::Scan(args) => scan::run(args, shape, around, terminal),
    }
}
