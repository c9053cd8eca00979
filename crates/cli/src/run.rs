//! `ringfence run`: arguments in, exit code out. The run itself is [`ringfence::run`].

mod arguments;
mod ask_host;
mod report;
mod skill;
mod summary;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::sync::Arc;

use jail::Early;
use policy::{Code, Reason, Shown};
use ringfence::run::{Audience, Authorized, Consent, Outcome, OverlayOutcome, Prepared, Purpose};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::surroundings::{self, SurroundingsArgs};
use crate::terminal::{BoundedErrors, Format, Terminal, plain_json};
use crate::unbuilt;

pub(crate) use arguments::{NetworkArg, RunArgs, some_words};
use ask_host::TerminalApprover;

/// Runs a command in a jail, and ends as it ended. Errors are told here: for programs, in their format, and when the command
/// has run, without waiting for a reader.
pub(crate) fn run(
    args: &RunArgs,
    early: Early,
    around: &SurroundingsArgs,
    terminal: &mut Terminal<'_>,
) -> Exit {
    let has_run = Cell::new(false);
    let mut err = BoundedErrors::new(&mut *terminal.err, &has_run);
    let (format, color) = (terminal.format, terminal.color);
    let terminal = &mut Terminal { out: &mut *terminal.out, err: &mut err, format, color };
    let ended = authorize(args, around, Purpose::Work)
        .and_then(|run| follow(run, early, args.verbose, &has_run, terminal))
        .map_err(nothing_ran);
    ended.unwrap_or_else(|failure| {
        // If even this message cannot be written, only the exit code is left.
        let _told = failure.tell(terminal);
        failure.exit
    })
}

/// Tells a note or a warning before the command starts, in the format that was asked for.
pub(crate) fn note(terminal: &mut Terminal<'_>, code: Option<Code>, text: &str) -> io::Result<()> {
    let (kind, shown) = (if code.is_some() { "warning" } else { "note" }, Shown::text(text));
    match (terminal.format, code) {
        (Format::Json, code) => {
            let code = code.map(|code| code.to_string());
            let note = json!({ "version": 1, "event": kind, "code": code, "text": text });
            writeln!(terminal.err, "{}", plain_json(&note.to_string()))
        }
        (Format::Text, Some(code)) => writeln!(terminal.err, "{kind}[{code}]: {shown}"),
        (Format::Text, None) => writeln!(terminal.err, "{kind}: {shown}"),
    }
}

/// Changes the exit code of a failure before the start: 1 would be taken for the command's own.
pub(crate) fn nothing_ran(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Failed | Exit::Ok => failure.exit(Exit::NoJail),
        _ => failure,
    }
}

/// Prepares a command and decides about it, asking at the terminal where a person typed it.
pub(crate) fn authorize(
    args: &RunArgs,
    around: &SurroundingsArgs,
    purpose: Purpose,
) -> Result<Authorized, Failure> {
    let host = surroundings::find(around)?;
    let policy =
        host.load_for_run(args.profile.as_deref()).map_err(|problems| crate::report::failure(&problems))?;
    let skill = skill::load(args, &policy, &host)?;
    let mut options = args.options(&host.cwd, skill, purpose)?;
    let typed = jail::is_typed(io::stdin());
    // Input may come from a file while a person looks on.
    if (typed || jail::is_typed(io::stderr())) && args.approve.is_none() {
        let file = host.files.user.clone();
        options.host_approver = Some(Arc::new(TerminalApprover { file }));
    }
    let consent = match &args.approve {
        Some(words) => Consent::Approved(words),
        None if typed => Consent::Person(&ask),
        None => Consent::Nobody,
    };
    Ok(Prepared::new(policy, options, host)?.authorize(consent)?)
}

/// Asks the person at the terminal. Input from before the question is no answer to it.
fn ask(line: &[u8], reason: &Reason) -> io::Result<bool> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    rustix::termios::tcflush(&terminal, rustix::termios::QueueSelector::IFlush)?;
    let place = reason.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
    let (shown, why) = (Shown::bytes(line), Shown::text(&reason.text));
    write!(terminal, "{shown}\n  {why}{place}\nrun it? [y/N] ")?;
    let mut answer = String::new();
    BufReader::new(&terminal).read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Holds the command, tells what is enforced, releases it and tells the outcome. `has_run` is set when it has ended.
fn follow(
    run: Authorized,
    early: Early,
    verbose: bool,
    has_run: &Cell<bool>,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    unbuilt::tell(&unbuilt::warnings(run.policy(), Some(run.settings())), terminal)?;
    run.notes().iter().try_for_each(|text| note(terminal, None, text))?;
    let held = run.hold(early)?;
    held.notes().try_for_each(|(code, text)| note(terminal, code, text))?;
    let verbose = verbose || terminal.format == Format::Json;
    if let Some(jail) = held.jail().filter(|_| verbose) {
        match terminal.format {
            Format::Text => write!(terminal.err, "{}", report::jail_text(&jail))?,
            Format::Json => writeln!(terminal.err, "{}", report::jail_json(&jail))?,
        }
    }
    let ended = held.release_and_wait();
    has_run.set(true);
    let outcome = ended?;
    // The command has run, and its exit code is the answer, whether or not standard error takes the rest.
    let _told = tell(&outcome, verbose, terminal);
    let _told = outcome.overlay.as_ref().map(|overlay| tell_overlay(overlay, terminal));
    Ok(Exit::Own(outcome.exit_code()))
}

/// Tells the outcome of a command that ran in a jail.
fn tell(outcome: &Outcome, verbose: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let Some(summary) = &outcome.summary else { return Ok(()) };
    if terminal.format == Format::Json {
        let ended = report::ended_json(outcome, &summary::json(summary));
        return writeln!(terminal.err, "{}", plain_json(&ended.to_string()));
    }
    let audience = match (verbose, io::stderr().is_terminal()) {
        (true, _) => Audience::Curious,
        (false, true) => Audience::Person,
        (false, false) => Audience::Log,
    };
    let mut text = summary::text(summary, audience, &terminal.warning(Code::JailTripped));
    if verbose {
        text.extend(["ledger     ", &outcome.ledger_head.to_string(), "\n"]);
    }
    terminal.err.write_all(text.as_bytes())
}

/// Tells which overlay holds the changes.
fn tell_overlay(overlay: &OverlayOutcome, terminal: &mut Terminal<'_>) -> io::Result<()> {
    if let Some(error) = &overlay.error {
        write!(terminal.err, "{}", Failure::from(error.clone()))?;
    }
    let (id, changed) = (&overlay.id, overlay.changed);
    match terminal.format {
        Format::Json => {
            let event = json!({ "version": 1, "event": "overlay", "overlay": id, "changed": changed });
            writeln!(terminal.err, "{event}")
        }
        Format::Text if changed => {
            writeln!(terminal.err, "note: changes are in the overlay {id}; see them: ringfence review {id}")
        }
        Format::Text => Ok(()),
    }
}
