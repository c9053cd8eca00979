//! `ringfence skill`: what a stranger's skill would do, before a model reads it.

mod clean;
mod gather;
mod json;
mod load;
mod one;
mod pins;
mod profile;
mod progress;
mod read;
mod record;
mod sarif;
mod scan;
mod scanned;
mod text;

pub(crate) use load::load_profile;

use ringfence::run::Host;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Shape, Terminal};

/// What is done with skills.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum SkillCommand {
    /// Look for what a skill or a manifest should not do
    Scan(scan::ScanArgs),
    /// Print a text without anything that hides in it
    Clean(clean::CleanArgs),
    /// Print what the model would see, if the policy lets it
    Load(load::LoadArgs),
}

/// Runs a skill command.
pub(crate) fn run(
    command: &SkillCommand,
    shape: Shape,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    match command {
        SkillCommand::Scan(args) => scan::run(args, shape, around, terminal),
        SkillCommand::Clean(args) => clean::run(args, terminal),
        SkillCommand::Load(args) => load::run(args, around, terminal),
    }
}
