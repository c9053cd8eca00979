//! The command in its jail: held, recorded, released, followed to its end.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use config::Scope;
use jail::bridge::{Closed, Doors};
use jail::{
    Amount, Choice, Command, Early, End, GitStateSnapshot, Held, JailError, Outcome, Overrun, Provider,
    RemovedInstruction, Streams,
};
use policy::{Code, Shown};
use rustix::io::Errno;

use super::denied::Denied;
use super::record::{Came, Journal, Started};
use super::summary::{Audience, Ended, Row, Summary};
use super::told::{self, Before};
use super::tripwire::Tripwire;
use super::{Run, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal, plain_json};

/// Why there is no jail around the command.
pub(crate) enum NoJail {
    /// No provider works on this machine.
    Unavailable(Failure),
    /// Anything else. Nothing makes up for it.
    Refused(Failure),
}

/// Makes the jail. The command waits at its gate.
pub(crate) fn hold(run: &Run, early: Early, args: &RunArgs) -> Result<(Held, Doors), NoJail> {
    let command = Command {
        argv: args.command.clone(),
        cwd: run.cwd.clone(),
        streams: Streams::Inherit,
        observe: args.explain_denials,
    };
    let choice = choice(&run.settings.provider).map_err(NoJail::Refused)?;
    let doors = Doors::open(&run.settings.ports).map_err(|closed| NoJail::Refused(no_port(&closed)))?;
    let mut spec = run.spec.clone();
    (spec.listen, spec.dial) = (doors.listen(), doors.dials());
    let held = early.hold(choice, &spec, &command).map_err(|error| match error {
        JailError::Unavailable { .. } => NoJail::Unavailable(failure(&error)),
        _ => NoJail::Refused(failure(&error)),
    })?;
    Ok((held, doors))
}

fn no_port(closed: &Closed) -> Failure {
    let failure = Failure::coded(Code::JailConflict, format!("port {} cannot be opened", closed.port));
    failure.because(&closed.why).hint("end whoever has it, or choose another, such as --port-in 8080:3000")
}

fn choice(word: &str) -> Result<Choice, Failure> {
    if word == "auto" {
        return Ok(Choice::Auto);
    }
    let known = Provider::ALL.into_iter().find(|provider| provider.word() == word).map(Choice::Only);
    known.ok_or_else(|| {
        Failure::coded(Code::JailUnavailable, format!("the provider `{word}` is not built yet"))
    })
}

/// Records what is enforced, lets the command go, and follows it to its end. `has_run` is set when it has ended.
pub(crate) fn follow(
    run: &Run,
    (held, doors): (Held, Doors),
    args: &RunArgs,
    has_run: &Cell<bool>,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    start(run, &held, args)?;
    let verbose = args.verbose || terminal.format == Format::Json;
    if verbose {
        before(run, &held, terminal)?;
    }
    let wire = Tripwire::set(&run.spec);
    // Everything is recorded before anything is told: standard error may be closed.
    let followed = let_go(run, held, doors, |outcome, removed| {
        let mut summary = summary(run, args, &wire, outcome, removed);
        summary.record(&run.journal);
        if let Err(unrecorded) = recorded(&run.journal, outcome) {
            summary.add(Row::Unrecorded(unrecorded));
        }
        summary
    });
    has_run.set(true);
    let (outcome, mut summary, turned_away) = followed?;
    if let Some(note) = turned_away {
        let unrecorded = run.journal.noted(&note).err();
        summary.add(Row::Note(note));
        if let Some(unrecorded) = unrecorded {
            summary.add(Row::Unrecorded(unrecorded));
        }
    }
    // The command has run, and its exit code is the answer, whether or not standard error takes what there is to say.
    let _told = tell(run, &outcome, &summary, verbose, terminal);
    Ok(exit(&outcome))
}

/// The command's own exit code, unless it could not know that its output did not arrive.
fn exit(outcome: &Outcome) -> Exit {
    match came(outcome.end) {
        Came::Exited(0) if outcome.lost_output.is_some() => Exit::Failed,
        came => super::exit(came),
    }
}

fn summary(
    run: &Run,
    args: &RunArgs,
    wire: &Tripwire,
    outcome: &Outcome,
    removed: Vec<RemovedInstruction>,
) -> Summary {
    let denied = |denial| Denied::of(denial, &run.spec, &run.settings.profile);
    let typed = args.limits.iter().any(|limit| limit.starts_with("memory="));
    let ended = Ended {
        outcome,
        denials: outcome.denials.iter().map(denied).collect(),
        wire,
        sprung: wire.sprung(outcome.duration, &outcome.protected_writes).with(removed),
        memory: run.spec.limits.memory.filter(|_| typed),
        raise: &|name| raise(run, args, name),
        unprotected: &args.unprotect,
    };
    Summary::new(ended, &run.cwd)
}

/// What is said when the command has ended and everything is recorded.
fn tell(
    run: &Run,
    outcome: &Outcome,
    summary: &Summary,
    verbose: bool,
    terminal: &mut Terminal<'_>,
) -> io::Result<()> {
    let head = run.journal.head().to_string();
    if terminal.format == Format::Json {
        let ended = told::ended_json(came(outcome.end), outcome.duration, &head, &summary.json());
        return writeln!(terminal.err, "{}", plain_json(&ended.to_string()));
    }
    let audience = match (verbose, io::stderr().is_terminal()) {
        (true, _) => Audience::Curious,
        (false, true) => Audience::Person,
        (false, false) => Audience::Log,
    };
    let mut text = summary.text(audience, &terminal.warning(Code::JailTripped));
    if verbose {
        text.extend(["ledger     ", &head, "\n"]);
    }
    terminal.err.write_all(text.as_bytes())
}

/// Records what is enforced, lets the command go, and follows it to its end, for whoever wants to know what it used.
pub(crate) fn observed(run: &Run, (held, doors): (Held, Doors), args: &RunArgs) -> Result<Outcome, Failure> {
    start(run, &held, args)?;
    let (mut outcome, (end, told), turned_away) = let_go(run, held, doors, |outcome, removed| {
        let end = recorded(&run.journal, outcome);
        (end, record_removed(&run.journal, &removed))
    })?;
    end.map_err(|unrecorded| told.iter().fold(unrecorded, Failure::hint))?;
    outcome.notes.extend(told.into_iter().chain(outcome.lost_output.clone()).chain(turned_away));
    Ok(outcome)
}

/// Records instructions that were removed, and returns a line for each.
fn record_removed(journal: &Journal, removed: &[RemovedInstruction]) -> Vec<String> {
    let line = |RemovedInstruction { path, reason }: &RemovedInstruction| {
        let line = format!("{} has changed while the command ran: {reason}", Shown::path(path));
        match journal.tripped(path, reason) {
            Ok(()) => line,
            Err(unrecorded) => format!("{line} (not recorded: {})", unrecorded.message),
        }
    };
    removed.iter().map(line).collect()
}

/// Not recorded is not released: dropping what is held ends it.
fn start(run: &Run, held: &Held, args: &RunArgs) -> Result<(), Failure> {
    run.journal.started(&Started {
        provider: held.provider().word(),
        program: &super::program(args),
        reached: held.enforcement(),
        toolchains: &run.spec.toolchains,
        ports: &run.settings.ports,
    })
}

/// Lets the command go and follows it; then removes instructions that would make git run a program outside, and does what is
/// to be done last. Signals that would end this process wait until then. Also returns what the ports have to say.
fn let_go<T>(
    run: &Run,
    mut held: Held,
    doors: Doors,
    last: impl FnOnce(&Outcome, Vec<RemovedInstruction>) -> T,
) -> Result<(Outcome, T, Option<String>), Failure> {
    close_memory()
        .map_err(|errno| run.refuse(Failure::new("our memory cannot be closed to others").because(&errno)))?;
    let bridges = doors.bridge(held.listeners(), held.sockets());
    let bridges =
        bridges.map_err(|error| run.refuse(Failure::new("ports cannot be bridged").because(&error)))?;
    let snapshot = GitStateSnapshot::capture(&run.spec);
    let running = held.release().map_err(|error| run.refuse(failure(&error)))?;
    let (waited, done) = running.wait_then(|waited| {
        let removed = snapshot.remove_new();
        match waited {
            Ok(outcome) => Ok(last(outcome, removed)),
            Err(error) => Err(lost(&run.journal, error, &removed)),
        }
    });
    let (done, outcome) = (done?, waited.map_err(|error| failure(&error))?);
    Ok((outcome, done, turned_away(bridges.end())))
}

fn turned_away(count: u64) -> Option<String> {
    (count > 0).then(|| format!("{count} connections to ports were turned away: too many at once"))
}

/// Nobody else of this user reads what we hold, not even our core.
#[cfg(target_os = "linux")]
fn close_memory() -> Result<(), Errno> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// There is no jail here either, so nobody gets this far.
#[cfg(not(target_os = "linux"))]
fn close_memory() -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// The command ran until we could not follow it any more, and was ended.
fn lost(journal: &Journal, error: &JailError, removed: &[RemovedInstruction]) -> Failure {
    let unrecorded = journal.ended(Came::Signaled(KILLED), Duration::ZERO).err();
    let told = unrecorded.map(|unrecorded| unrecorded.message).into_iter();
    told.chain(record_removed(journal, removed)).fold(failure(error), Failure::hint)
}

/// `SIGKILL`
const KILLED: u8 = 9;

fn before(run: &Run, held: &Held, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let before = Before {
        provider: held.provider().word(),
        profile: &run.settings.profile,
        spec: &run.spec,
        ports: &run.settings.ports,
        reached: held.enforcement(),
        without_broker: run.settings.network != run.spec.network,
    };
    match terminal.format {
        Format::Text => write!(terminal.err, "{}", before.text()),
        Format::Json => writeln!(terminal.err, "{}", before.json()),
    }
}

fn came(end: End) -> Came {
    match end {
        End::Exited(code) => Came::Exited(code),
        End::Signaled(signal) => Came::Signaled(signal),
        End::Limit(_) => Came::Limited,
        // Nobody here asks for it.
        End::Stopped => Came::Signaled(KILLED),
    }
}

/// Records the end, and the limit that had to do with it.
fn recorded(journal: &Journal, outcome: &Outcome) -> Result<(), Failure> {
    let ended_by = if let End::Limit(overrun) = outcome.end { Some(overrun) } else { outcome.survived };
    if let Some(overrun) = ended_by {
        journal.limit(
            overrun.limit.word(),
            amount(overrun.allowed),
            amount(overrun.used.unwrap_or(overrun.allowed)),
        )?;
    }
    journal.ended(came(outcome.end), outcome.duration)
}

/// Times are recorded in milliseconds.
fn amount(amount: Amount) -> u64 {
    match amount {
        Amount::Bytes(number) | Amount::Count(number) => number,
        Amount::Time(time) => u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    }
}

pub(crate) fn limited(overrun: &Overrun, raise: &str) -> Failure {
    Failure::coded(Code::JailLimit, overrun.message()).hint(raise).exit(Exit::Limit)
}

/// Who can raise a limit, and where.
fn raise(run: &Run, args: &RunArgs, name: &str) -> String {
    if args.limits.iter().any(|limit| limit.split_once('=').is_some_and(|(set, _)| set == name)) {
        return format!("`--limit {name}=…` of this run set it");
    }
    match run.settings.limit_places.iter().find(|(set, ..)| set == name) {
        Some((_, Scope::Managed, place)) => format!("the administrator set limits.{name} at {place}"),
        Some((_, Scope::User, place)) => {
            format!("raise limits.{name} at {place}, or with `--limit {name}=…`")
        }
        Some((_, Scope::Project, place)) => format!("the project lowers limits.{name} at {place}"),
        Some((_, Scope::BuiltIn, _)) | None => {
            format!("it is the built-in default: set limits.{name} in your policy, or `--limit {name}=…`")
        }
    }
}

fn failure(error: &JailError) -> Failure {
    let exit = match error {
        JailError::NotFound(_) => Exit::NotFound,
        JailError::NotExecutable(..) => Exit::Refused,
        _ => Exit::NoJail,
    };
    let mut failure = Failure::coded(error.code(), error.to_string()).exit(exit);
    failure.hints.extend(error.hint());
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use jail::Limit;

    #[test]
    fn a_limit_is_named() {
        let overrun = Overrun::new(Limit::WallClock, Amount::Time(Duration::from_secs(600)));
        insta::assert_snapshot!(limited(&overrun, "raise limits.wall-clock in your policy"), @r"
        error[RF-J009]: limit reached: wall-clock (10m): the command ran longer and was ended
        hint: raise limits.wall-clock in your policy
        hint: `ringfence explain RF-J009` says more
        ");
        assert_eq!(amount(overrun.allowed), 600_000);
    }

    #[test]
    fn a_lost_command_leaves_its_end_and_what_was_removed() {
        let place = tempfile::tempdir().unwrap();
        let journal = Journal::open(&place.path().join("ledger"), "test").unwrap();
        let error = JailError::BadCommand("lost");
        let removed = RemovedInstruction { path: "/ws/todo".into(), reason: "git runs this line".to_owned() };
        let told = lost(&journal, &error, &[removed]).to_string();
        assert!(told.contains("/ws/todo has changed while the command ran: git runs this line"), "{told}");
        drop(journal);
        let ledger = std::fs::read_to_string(place.path().join("ledger")).unwrap();
        let events = ["jail.ended", "jail.tripped", "/ws/todo", "git runs this line"];
        assert!(events.iter().all(|event| ledger.contains(event)), "{ledger}");
    }

    #[test]
    fn only_known_providers_are_chosen() {
        assert_eq!(choice("auto").ok(), Some(Choice::Auto));
        for provider in Provider::ALL {
            assert_eq!(choice(provider.word()).ok(), Some(Choice::Only(provider)));
        }
        assert!(["seatbelt", "oci", "kubernetes", ""].iter().all(|word| choice(word).is_err()));
    }
}
