//! `ringfence check`: the decision and why. Nothing is done.

mod command;
mod found;
mod host;
mod path;
mod stream;
mod verdict;

use std::path::PathBuf;

use config::Settings;
use policy::{Arguments, Execution, Kind, Request, Shown, ToolName, Want};
use ringfence::run::Host;
use shell::Dialect;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

use command::CommandArgs;
pub(crate) use found::draw;
use verdict::Verdict;

/// Subcommands of `ringfence check`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CheckCommand {
    /// May this file be read or written?
    Path {
        /// The file; it need not exist
        path: PathBuf,
        /// Ask for writing
        #[arg(long)]
        write: bool,
        /// The tool that asks [default: read, or write with --write]
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
    },
    /// May this host be connected to?
    Host {
        /// Host and port, 443 if not given; or a named set such as @npm
        #[arg(value_name = "HOST[:PORT]|@SET")]
        host: String,
        /// The tool that asks [default: `web_fetch` and `exec`, whichever reaches it]
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
    },
    /// May this tool be called?
    Tool {
        /// The tool
        name: String,
        /// An argument of the call; may be repeated
        #[arg(long = "arg", value_name = "NAME=VALUE")]
        arguments: Vec<String>,
    },
    /// May this command line be run, and what would it start?
    Command(CommandArgs),
}

/// Decides and prints the decision. The exit code is the decision: 0 allow, 3 ask, 4 deny.
pub(crate) fn run(
    command: &CheckCommand,
    trace: bool,
    around: &Host,
    settings: Settings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let verdict = match command {
        CheckCommand::Path { path, write, tool } => {
            let tool = tool_name(tool.as_deref().unwrap_or(if *write { "write" } else { "read" }))?;
            let kind = if *write { Kind::Write } else { Kind::Read };
            let found = path::judge(path, kind, &tool, around, &settings)?;
            match terminal.format {
                Format::Json => terminal.json(&found.json())?,
                Format::Text => {
                    found.verdict.text(terminal)?;
                    found.text(terminal)?;
                    if trace {
                        found.verdict.trace_text(terminal)?;
                    }
                }
            }
            return Ok(found.verdict.exit());
        }
        CheckCommand::Host { host, tool } => {
            let tool = tool.as_deref().map(tool_name).transpose()?;
            if let Some(name) = host.strip_prefix('@') {
                let set = policy::host_set(name).ok_or_else(|| no_set(name))?;
                return host::print_set(set, tool.as_ref(), &settings, terminal);
            }
            let found = host::judge(host, tool.as_ref(), &settings)?;
            return host::print(&found, trace, terminal);
        }
        CheckCommand::Tool { name, arguments } => {
            let (tool, arguments) = (tool_name(name)?, parse_arguments(arguments)?);
            call_verdict(&settings, &tool, &arguments, around)
        }
        CheckCommand::Command(args) => return command::run(args, trace, around, settings, terminal),
    };
    match terminal.format {
        Format::Json => terminal.json(&verdict.json())?,
        Format::Text => {
            verdict.text(terminal)?;
            if trace {
                verdict.trace_text(terminal)?;
            }
        }
    }
    Ok(verdict.exit())
}

/// A call that runs a command line is judged by what the line would start, as the tool itself does.
fn call_verdict(settings: &Settings, tool: &ToolName, arguments: &Arguments, around: &Host) -> Verdict {
    let Some(line) = arguments.line(tool) else {
        let request = Request { tool, want: Want::Call(arguments) };
        return Verdict::of(settings, &request, tool.to_string(), vec![]);
    };
    let home = around.places.home.as_deref();
    let input = arguments.values("input").next().map(str::as_bytes);
    let place = ringfence::run::command_line::surroundings(Dialect::Bash.alone(), &around.cwd, home, input);
    let invocation = shell::read(line.as_bytes(), &place);
    let want = Want::Exec(Execution { invocation: &invocation, arguments });
    Verdict::of(settings, &Request { tool, want }, Shown::text(line).to_string(), vec![])
}

fn no_set(name: &str) -> Failure {
    let known: Vec<_> = policy::host_sets().iter().map(|set| format!("@{}", set.name)).collect();
    Failure::usage(format!("there is no host set `@{}`", Shown::text(name)))
        .hint(format!("known: {}", known.join(", ")))
}

fn tool_name(text: &str) -> Result<ToolName, Failure> {
    ToolName::parse(text).map_err(|error| Failure::usage(format!("`{text}` is not a tool")).because(&error))
}

fn parse_arguments(pairs: &[String]) -> Result<Arguments, Failure> {
    let pair = |text: &String| {
        let (name, value) =
            text.split_once('=').ok_or_else(|| Failure::usage(format!("`{text}` is not NAME=VALUE")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    pairs.iter().map(pair).collect::<Result<_, Failure>>().map(Arguments::new)
}
