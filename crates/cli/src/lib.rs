//! Everything a person sees of Ringfence.

mod audit;
mod caret;
mod check;
mod complete;
mod doctor;
mod exit;
mod explain;
mod failure;
mod help;
mod home;
mod journal;
mod learn;
mod overlay;
mod policy;
mod report;
mod run;
mod secret;
mod skill;
mod surroundings;
mod terminal;
mod unbuilt;
mod write;

pub use clap_complete::Shell;
pub use complete::completions;
pub use exit::Exit;
pub use failure::Failure;
pub use surroundings::{Color, SurroundingsArgs};
pub use terminal::{Format, Shape, Terminal};

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use config::Files;
use ringfence::run::Host;

use clap::{CommandFactory as _, Parser};

/// Ringfence stands between an AI agent and the machine it works on.
#[derive(Debug, Parser)]
#[command(name = "ringfence", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Exit codes: 0 done or allowed, 1 failed, 3 ask, 4 denied, 64 wrong command line.")]
struct Arguments<C: clap::Subcommand> {
    #[command(subcommand)]
    command: C,
    /// The shape of the output
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "text",
        value_name = "FORMAT",
        display_order = 90
    )]
    format: Shape,
    /// When to colour the output
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", display_order = 91)]
    color: Color,
    #[command(flatten)]
    around: SurroundingsArgs,
}

/// The command that is started most, and whose start is waited for: the parser for all of them takes longer to set up than
/// a policy to load.
#[derive(Debug, clap::Subcommand)]
enum OnlyRun {
    Run(Box<run::RunArgs>),
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run a command in a jail around this directory
    Run(Box<run::RunArgs>),
    /// Run a command, watch what it uses, and propose the narrowest policy for it
    Learn(learn::LearnArgs),
    /// Say what the policy decides and why; nothing is done
    Check {
        #[command(subcommand)]
        command: check::CheckCommand,
        /// Also print what every link of the chain said
        #[arg(long, global = true)]
        trace: bool,
    },
    /// Print the manual page of a code such as RF-F003
    Explain {
        /// The code; without one, all codes are listed
        code: Option<String>,
    },
    /// See, question and change the policy
    Policy {
        #[command(subcommand)]
        command: policy::PolicyCommand,
    },
    /// Read, check and export the record of every decision
    Audit {
        #[command(subcommand)]
        command: audit::AuditCommand,
    },
    /// Scan untrusted skills before a model reads them
    Skill {
        #[command(subcommand)]
        command: skill::SkillCommand,
    },
    /// Show what a command changed in its overlay
    Review(overlay::ReviewArgs),
    /// Make the changes of an overlay real
    Apply(overlay::ApplyArgs),
    /// Throw the changes of an overlay away
    Discard(overlay::DiscardArgs),
    /// List and remove home directories that were kept
    Home {
        #[command(subcommand)]
        command: home::HomeCommand,
    },
    /// Store, list and remove secrets that the broker adds to requests
    Secret {
        #[command(subcommand)]
        command: secret::SecretCommand,
    },
    /// Say what this machine can enforce, what is lost, what to change
    Doctor(doctor::DoctorArgs),
    /// Print shell completions
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Say how something is done, by topic
    Help {
        /// The topic; without one, all topics are listed
        topic: Option<String>,
    },
}

/// The command line, for completions and references.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::<Command>::command()
}

/// Returns true if the command line asks for help before its `--`.
fn asks_for_help(line: &[OsString]) -> bool {
    let mut words = line.iter().skip(2).take_while(|word| *word != "--");
    words.any(|word| word == "-h" || word == "--help")
}

/// Returns true if a command line that cannot be read asks for JSON all the same.
fn wants_json(line: &[OsString]) -> bool {
    let words: Vec<_> = line.iter().take_while(|word| *word != "--").collect();
    words.iter().any(|word| *word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Parses the command line. The whole parser explains what the short one for `run` does not understand.
fn parse(line: Vec<OsString>, is_run: bool) -> Result<Arguments<Command>, clap::Error> {
    if is_run
        && let Ok(Arguments { command: OnlyRun::Run(run), format, color, around }) =
            Arguments::<OnlyRun>::try_parse_from(&line)
    {
        return Ok(Arguments { command: Command::Run(run), format, color, around });
    }
    Arguments::try_parse_from(line)
}

/// Runs the command and says how it ended. Everything that goes wrong is told on `err`.
pub fn run(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let line: Vec<OsString> = arguments.into_iter().collect();
    let is_run = line.get(1).is_some_and(|word| word == "run");
    // The kernel makes namespaces while we read the command line and the policy. A wrong guess costs a process that ends at once.
    let early = (is_run && !asks_for_help(&line)).then(jail::Early::begin);
    let format = if wants_json(&line) { Format::Json } else { Format::Text };
    let arguments = match parse(line, is_run) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error, format, out, err),
    };
    let mut terminal =
        Terminal { out, err, format: arguments.format.format(), color: arguments.color.wanted() };
    let result = dispatch(&arguments, early, &mut terminal);
    let result = result.and_then(|exit| match terminal.out.flush() {
        // The exit code is an answer too, also to a caller that reads nothing else.
        Err(error) if !Terminal::is_unread(&error) => Err(error.into()),
        _ => Ok(exit),
    });
    result.unwrap_or_else(|failure| {
        // If even this message cannot be written, only the exit code is left.
        let _told = failure.tell(&mut terminal);
        failure.exit
    })
}

/// Lets a panic be told on a terminal that shows it properly, and leaves that terminal usable.
pub fn restore_terminal_on_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        jail::restore_terminal();
        tell(panic);
    }));
}

fn dispatch(
    arguments: &Arguments<Command>,
    early: Option<jail::Early>,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let is_scan = matches!(arguments.command, Command::Skill { command: skill::SkillCommand::Scan(_) });
    if arguments.format == Shape::Sarif && !is_scan {
        return Err(Failure::usage("SARIF output exists for `skill scan` only"));
    }
    match &arguments.command {
        Command::Run(args) => {
            let early = early.unwrap_or_else(jail::Early::begin);
            Ok(run::run(args, early, &arguments.around, terminal))
        }
        Command::Learn(args) => learn::run(args, &arguments.around, terminal),
        Command::Explain { code } => explain::run(code.as_deref(), terminal),
        Command::Completions { shell } => {
            terminal.out.write_all(&completions(*shell))?;
            Ok(Exit::Ok)
        }
        Command::Help { topic } => help::run(topic.as_deref(), terminal),
        Command::Check { command, trace } => {
            let around = surroundings::find(&arguments.around)?;
            let settings = policy::settings(&around, terminal)?;
            unbuilt::warn(&settings, terminal)?;
            check::run(command, *trace, &around, settings, terminal)
        }
        Command::Audit { command } => audit::run(command, &ledger(command, arguments, terminal)?, terminal),
        Command::Skill { command } => {
            skill::run(command, arguments.format, &surroundings::find(&arguments.around)?, terminal)
        }
        Command::Review(args) => overlay::review(args, &surroundings::find(&arguments.around)?, terminal),
        Command::Apply(args) => overlay::apply(args, &surroundings::find(&arguments.around)?, terminal),
        Command::Discard(args) => overlay::discard(args, &surroundings::find(&arguments.around)?, terminal),
        Command::Home { command } => home::run(command, &surroundings::find(&arguments.around)?, terminal),
        Command::Secret { command } => {
            secret::run(command, &surroundings::find(&arguments.around)?, terminal)
        }
        Command::Doctor(args) => {
            let around = surroundings::find(&arguments.around)?;
            doctor::run(args, &doctor_places(&around), terminal)
        }
        Command::Policy { command } => {
            policy::run(command, &surroundings::find(&arguments.around)?, terminal)
        }
    }
}

/// The ledger that the command names, or else the one of the policy.
fn ledger(
    command: &audit::AuditCommand,
    arguments: &Arguments<Command>,
    terminal: &mut Terminal<'_>,
) -> Result<PathBuf, Failure> {
    if let Some(path) = command.place() {
        return Ok(path.to_owned());
    }
    let settings = policy::settings(&surroundings::find(&arguments.around)?, terminal)?;
    let unknown = || {
        Failure::new("cannot determine the ledger path: HOME and XDG_STATE_HOME are unset")
            .hint("set HOME, XDG_STATE_HOME or --ledger")
    };
    settings.ledger().ok_or_else(unknown)
}

fn doctor_places(around: &Host) -> doctor::Places {
    let settings = config::load(&around.files, &around.places).ok();
    let state_dir = around.places.state.as_ref().map(|state| state.join("ringfence"));
    let ledger = settings.as_ref().and_then(config::Settings::ledger);
    doctor::Places {
        ledger: ledger.or_else(|| state_dir.as_ref().map(|state| state.join("ledger.jsonl"))),
        state_dir,
        runtime_dir: around.runtime.as_ref().map(|runtime| runtime.join("ringfence")),
        config: config_files(around),
    }
}

/// Each layer is judged on top of the wider ones, as it would be used.
fn config_files(around: &Host) -> Vec<doctor::ConfigFile> {
    let Files { managed, user, project } = around.files.clone();
    let mut files = Files { managed: None, user: None, project: None };
    let layers = [("managed", managed), ("user", user), ("project", project)];
    let judge = |(label, path): (&'static str, Option<PathBuf>)| {
        match label {
            "managed" => files.managed.clone_from(&path),
            "user" => files.user.clone_from(&path),
            _ => files.project.clone_from(&path),
        }
        let there = path.as_ref().is_some_and(|path| path.symlink_metadata().is_ok());
        let state = match config::load(&files, &around.places) {
            _ if !there => doctor::ConfigState::Absent,
            Ok(_) => doctor::ConfigState::Loaded,
            Err(problems) => {
                doctor::ConfigState::Refused(problems.0.first().map(ToString::to_string).unwrap_or_default())
            }
        };
        doctor::ConfigFile { label, path, state }
    };
    layers.into_iter().map(judge).collect()
}

/// Help and version are data; everything else is a mistake of the caller.
fn usage(error: &clap::Error, format: Format, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let wanted = !error.use_stderr();
    let rendered = error.render().to_string();
    if format == Format::Json && !wanted {
        // Up to the first empty line: what follows is help.
        let said: Vec<_> = rendered.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let message = said.join(" ");
        let message = message.trim_start_matches("error: ");
        // If even this message cannot be written, only the exit code is left.
        let _told = Failure::usage(message).tell(&mut Terminal { out, err, format, color: false });
        return Exit::Usage;
    }
    // A mistake is shown with the words it was made in, and those come from outside.
    let lines: Vec<_> = rendered.lines().map(|line| ::policy::Shown::text(line).to_string()).collect();
    let text = lines.join("\n");
    let written: io::Result<()> =
        if wanted { writeln!(out, "{text}").and_then(|()| out.flush()) } else { writeln!(err, "{text}") };
    match written {
        Ok(()) if wanted => Exit::Ok,
        Err(error) if wanted && Terminal::is_unread(&error) => Exit::Ok,
        _ => Exit::Usage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parsers_read_run_alike() {
        let rows: &[&[&str]] = &[
            &["run", "--", "ls", "-l"],
            &["run", "ls", "--format", "json"],
            &["run", "--format", "json", "-v", "-p", "review", "--read", "/a", "--read", "/b", "ls"],
            &["run", "--workspace", "/w", "--no-project-policy", "--color", "never", "--", "--help"],
            &["run", "--limit", "wall-clock=1s", "--env", "A=b", "--network", "none", "--", "run", "run"],
            // Lines that neither understands.
            &["run"],
            &["run", "--nonsense", "ls"],
            &["run", "--help"],
            &["run", "--network", "all", "ls"],
        ];
        for row in rows {
            let line: Vec<OsString> = ["ringfence"].iter().chain(*row).map(OsString::from).collect();
            let short = Arguments::<OnlyRun>::try_parse_from(&line).map(|read| format!("{read:?}"));
            let whole = Arguments::<Command>::try_parse_from(&line).map(|read| format!("{read:?}"));
            assert_eq!(short.ok(), whole.ok(), "{row:?}");
        }
    }
}
