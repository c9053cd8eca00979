//! `ringfence check command`: what a command line would start, and whether it may.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use config::Settings;
use policy::finding::Mode;
use policy::{Kind, Shown};
use ringfence::run::Host;
use ringfence::run::command_line::{self, CommandLine};
use serde_json::Value;
use shell::Dialect;

use super::found::Found;
use super::stream;
use super::verdict::Verdict;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::surroundings::columns;
use crate::terminal::{Format, Terminal};

/// Arguments of `ringfence check command`.
#[derive(Debug, clap::Args)]
#[command(after_help = WORDS)]
pub(crate) struct CommandArgs {
    /// The line, as a shell would get it, in one word
    #[arg(value_name = "LINE", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    line: Vec<OsString>,
    /// The shell that would run it
    #[arg(long, value_enum, default_value = "bash", value_name = "SHELL")]
    shell: ShellArg,
    /// File with the standard input of the command; `-` for our own
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    stdin: Option<PathBuf>,
    /// Judge findings in this mode instead of the policy's
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeArg>,
    /// Answer a stream: one JSON object a line in, one out
    #[arg(long)]
    jsonl: bool,
}

const WORDS: &str = "One word is a line for a shell. Several words after `--` are a program and its arguments, which no \
                     shell\nreads first, as in `ringfence run`.";

/// The shells whose language a line can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ShellArg {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// dash, and what POSIX says
    #[value(alias = "dash")]
    Sh,
    /// Whichever: what any of them would do counts
    Any,
}

impl ShellArg {
    pub(super) const fn dialects(self) -> &'static [Dialect] {
        match self {
            Self::Bash => &[Dialect::Bash],
            Self::Zsh => &[Dialect::Zsh],
            Self::Sh => &[Dialect::Sh],
            Self::Any => Dialect::ALL,
        }
    }
}

/// Strictness with which findings are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModeArg {
    /// Refuse constructs that hide a command
    Strict,
    /// Judge the commands inside
    Standard,
    /// Only what nothing overrules
    Off,
}

impl ModeArg {
    const fn mode(self) -> Mode {
        match self {
            Self::Strict => Mode::Strict,
            Self::Standard => Mode::Standard,
            Self::Off => Mode::Off,
        }
    }
}

/// The largest text that a command is said to read, in bytes.
const LONGEST_STDIN: u64 = 1 << 20;

/// Reads the line, decides and prints. The exit code is the decision; of a stream, that it was answered.
pub(super) fn run(
    args: &CommandArgs,
    trace: bool,
    around: &Host,
    settings: Settings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let mode = args.mode.map_or(settings.mode, ModeArg::mode);
    let settings = settings.in_mode(mode).map_err(|problems| report::failure(&problems))?;
    if args.jsonl {
        return stream::answer(args.shell, around, &settings, &mut io::stdin().lock(), terminal.out);
    }
    let (line, stdin) = (line(&args.line), args.stdin.as_deref().map(read_stdin).transpose()?);
    let home = around.places.home.as_deref();
    let place = command_line::surroundings(args.shell.dialects(), &around.cwd, home, stdin.as_deref());
    let invocation = line.read(&place);
    let decided = command_line::explain(&settings, &line, &invocation);
    let object = object(line.text(), terminal.format);
    let verdict = Verdict { kind: Kind::Exec.word(), object, names: vec![], trace: decided };
    let found =
        Found { text: line.text(), invocation: &invocation, cwd: place.cwd, findings: &settings.findings };
    print(&verdict, &found, trace, terminal)?;
    Ok(verdict.exit())
}

/// One word is a text for a shell, several are words.
fn line(words: &[OsString]) -> CommandLine {
    match words {
        [text] => CommandLine::Text(text.clone().into_vec()),
        words => CommandLine::words(words),
    }
}

fn read_stdin(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = || {
        if path == Path::new("-") { bounded(io::stdin().lock()) } else { bounded(File::open(path)?) }
    };
    let shown = Shown::path(path).to_string();
    let text = read().map_err(|error| Failure::new(format!("{shown} cannot be read")).because(&error))?;
    if text.len() as u64 > LONGEST_STDIN {
        return Err(Failure::new(format!("{shown} is larger than {LONGEST_STDIN} bytes")));
    }
    Ok(text)
}

fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(LONGEST_STDIN + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// Longest line that is shown to a person as a whole, in bytes.
const LONGEST_SHOWN: usize = 400;

fn object(text: &[u8], format: Format) -> String {
    let begins = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 != 0x80);
    let cut = text.len() > LONGEST_SHOWN && format == Format::Text;
    // Not in the middle of a character.
    match (0..=LONGEST_SHOWN).rev().find(begins).filter(|_| cut) {
        Some(end) => format!("{}…", Shown::bytes(text.get(..end).unwrap_or(text))),
        None => Shown::bytes(text).to_string(),
    }
}

fn print(verdict: &Verdict, found: &Found<'_>, trace: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
    if terminal.format == Format::Json {
        let mut json = verdict.json();
        if let Value::Object(fields) = &mut json {
            fields.insert("programs".to_owned(), found.programs_json());
            fields.insert("findings".to_owned(), found.findings_json());
        }
        return terminal.json(&json);
    }
    verdict.text(terminal)?;
    found.text(columns(std::io::stdout()), terminal)?;
    if trace { verdict.trace_text(terminal) } else { Ok(()) }
}
