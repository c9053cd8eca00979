//! `ringfence learn`: shows and writes the proposal that [`ringfence::learn`] makes of a command under observation.

mod shown;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use config::Scope;
use policy::Shown;
use ringfence::learn::{Learning, Observation, Report};
use ringfence::run::Purpose;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::policy::{check_layers, record_change};
use crate::report;
use crate::run::{RunArgs, authorize, nothing_ran};
use crate::surroundings::SurroundingsArgs;
use crate::terminal::{Format, Terminal};
use crate::write::replace;

use shown::Render as _;

/// What a person types after `ringfence learn`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct LearnArgs {
    /// The profile whose policy is to be found
    #[arg(short, long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Let a variable in, or set it; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,
    /// Which network the command sees
    #[arg(long, value_enum, value_name = "NETWORK")]
    network: Option<crate::run::NetworkArg>,
    /// Another limit for this run, such as wall-clock=10m; may be repeated
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    limits: Vec<String>,
    /// Run what a person would be asked about; the words say why, for the ledger
    #[arg(long, value_name = "WORDS", value_parser = crate::run::some_words)]
    approve: Option<String>,
    /// Write the proposal to your policy file without asking
    #[arg(long)]
    yes: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXITS: &str = "Exit codes: 0 the command ran and the proposal is shown, whatever the command's own code; 1 it was \
                     not\nwritten although it should have been, 125 no jail, 126 refused or not executable, 127 not \
                     found.";

impl LearnArgs {
    fn as_run(&self) -> RunArgs {
        RunArgs {
            approve: self.approve.clone(),
            skill: None,
            skill_lock: None,
            profile: self.profile.clone(),
            read: Vec::new(),
            write: Vec::new(),
            hide: Vec::new(),
            env: self.env.clone(),
            allow: Vec::new(),
            network: self.network,
            provider: None,
            accept_partial: Vec::new(),
            limits: self.limits.clone(),
            toolchains: Vec::new(),
            port_in: Vec::new(),
            port_out: Vec::new(),
            unprotect: Vec::new(),
            overlay: None,
            keep_home: false,
            explain_denials: true,
            verbose: false,
            command: self.command.clone(),
        }
    }
}

/// Runs a command under observation and proposes a policy for it.
pub(crate) fn run(
    args: &LearnArgs,
    around: &SurroundingsArgs,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let report = learn(args, around).map_err(nothing_ran)?;
    tell(&report, terminal)?;
    let wanted = args.yes || report.changes() && terminal.format == Format::Text && agreed(terminal)?;
    match report.text.as_ref().filter(|_| wanted) {
        Some(text) => write(&report, text, terminal)?,
        None if args.yes => writeln!(terminal.err, "nothing to write")?,
        None => {}
    }
    Ok(Exit::Ok)
}

fn learn(args: &LearnArgs, around: &SurroundingsArgs) -> Result<Report, Failure> {
    let learning = Learning::new(authorize(&args.as_run(), around, Purpose::Learning)?)?;
    Ok(apart(learning)?.report()?)
}

/// Runs the command with its output on standard error, so that the proposal stands alone.
fn apart(learning: Learning) -> Result<Observation, Failure> {
    let moved = |error: io::Error| Failure::new("cannot redirect the output of the command").because(&error);
    let kept = rustix::io::dup(io::stdout()).map_err(|errno| moved(errno.into()))?;
    rustix::stdio::dup2_stdout(io::stderr()).map_err(|errno| moved(errno.into()))?;
    let observed = learning.observe();
    rustix::stdio::dup2_stdout(&kept).map_err(|errno| moved(errno.into()))?;
    Ok(observed?)
}

fn tell(report: &Report, terminal: &mut Terminal<'_>) -> io::Result<()> {
    match terminal.format {
        Format::Json => terminal.json(&report.json()),
        Format::Text => {
            let color = terminal.color;
            write!(terminal.out, "{}", report.diff(color))?;
            terminal.out.flush()?;
            write!(terminal.err, "{}", report.said())
        }
    }
}

/// Writes the new text, if the file still holds the old one and the policy still loads with it.
fn write(learned: &Report, text: &str, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
    let (file, host) = (&learned.file, &learned.host);
    let now = config::read(Scope::User, file, &host.places.workspace)
        .map_err(|problem| report::failure(&problem.into()))?;
    if now.map(|source| source.text) != learned.before {
        let message = format!("{} has changed meanwhile, so nothing is written", Shown::path(file));
        return Err(Failure::new(message).hint("learn again"));
    }
    let settings = check_layers(Scope::User, file, text, host)?;
    let head = record_change(&settings, file, &learned.change(), text)?;
    replace(Scope::User, file, text)?;
    writeln!(terminal.err, "{} changed; the ledger's head is {head}", Shown::path(file))?;
    Ok(())
}

/// Asks for consent at the terminal. Returns false if there is no terminal.
fn agreed(terminal: &mut Terminal<'_>) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    // Discard pending input: bytes typed for the command are not an answer.
    let _unread = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    write!(terminal.err, "write it? [y/N] ")?;
    terminal.err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
