//! `ringfence learn`: a command runs under observation, and what it used becomes a proposal.
//!
//! The command runs in the jail of its profile, which shows the rest of the machine read-only while it is learned, without what
//! is closed: credentials, Ringfence's own files, forbidden names. What it writes it may write as in any run, and nothing else.

mod executed;
mod fold;
mod proposal;
mod shown;
mod table;
mod wide;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use config::edit::Edit;
use config::{Scope, Source};
use jail::bridge::Doors;
use jail::{Early, End, Held, Mode, Outcome, Provider, Spec, View, mode_at};
use policy::{Code, Decision, Kind, Shown};
use ringfence::run::{Inside, filter_variables};
use shell::Dialect;

use crate::command::{self, Line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::policy::{check_layers, record_change};
use crate::report;
use crate::run::denied::Denied;
use crate::run::jailed::{self, NoJail};
use crate::run::{Origin, Purpose, Run, RunArgs, nothing_ran, prepare};
use crate::surroundings::SurroundingsArgs;
use crate::terminal::{Format, Terminal};
use crate::write::replace;

use executed::{Executed, Finder};
use proposal::{Judge, Proposal};
use shown::Report;
use wide::{Machine, Wide};

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
    /// Which network the command sees; `open` to find out which addresses it calls
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
            purpose: Purpose::Learning,
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
    let learned = learn(args, around).map_err(nothing_ran)?;
    learned.tell(terminal)?;
    let wanted = args.yes || learned.report.changes() && terminal.format == Format::Text && agreed(terminal)?;
    match learned.report.text.as_ref().filter(|_| wanted) {
        Some(text) => learned.write(text, terminal)?,
        None if args.yes => writeln!(terminal.err, "nothing to write")?,
        None => {}
    }
    Ok(Exit::Ok)
}

/// What came out of watching a command.
struct Learned {
    origin: Origin,
    report: Report,
    file: PathBuf,
    before: Option<Source>,
}

fn learn(args: &LearnArgs, around: &SurroundingsArgs) -> Result<Learned, Failure> {
    let run_args = args.as_run();
    let (mut run, origin) = prepare(&run_args, around, |profile| format!("{profile} (learning)"))?;
    let file = origin.around.files.user.clone();
    let file =
        file.ok_or_else(|| Failure::new("there is no file to learn for").hint("set HOME or --user-policy"))?;
    let before = read(&file, &origin)?;
    let base = jail::sight(&run.spec)
        .map_err(|conflict| Failure::coded(conflict.code(), conflict.to_string()).hint(conflict.hint()))?;
    let machine = Machine {
        home: &origin.home,
        workspace: &origin.around.places.workspace,
        own: &origin.own,
        names: &origin.policy.forbidden,
    };
    let (wide, outcome) = watched(&mut run, &run_args, &origin, &machine)?;
    let judge = Judge {
        base: &base,
        borders: &wide.borders,
        writing: &wide.borders.for_writing(executed(&origin)),
        names: machine.names,
        home: &origin.home,
        places: &origin.around.places,
        look: &|path| Some((std::fs::canonicalize(path).ok()?, path.is_dir())),
    };
    let mut proposal = judge.proposal(&outcome.uses);
    proposal.notes.extend(outcome.notes.iter().cloned());
    proposal.commands = unnamed(&origin, &run_args, &mut proposal.notes);
    record(&run, &proposal)?;
    let report = report(&origin, &run, outcome.end, proposal, (&file, before.as_ref()))?;
    Ok(Learned { origin, report, file, before })
}

/// The places from which programs of the host execute, as they are when the command has ended.
fn executed(origin: &Origin) -> Executed {
    let files = [&origin.around.files.user, &origin.around.files.managed].into_iter().flatten();
    let own: Vec<_> = origin.own.iter().chain(files).cloned().collect();
    Finder {
        home: &origin.home,
        workspace: &origin.around.places.workspace,
        own: &own,
        root: rustix::process::geteuid().is_root(),
        variables: &origin.around.environment,
    }
    .find()
}

fn read(file: &Path, origin: &Origin) -> Result<Option<Source>, Failure> {
    let workspace = &origin.around.places.workspace;
    config::read(Scope::User, file, workspace).map_err(|problem| report::failure(&problem.into()))
}

/// Shows the rest of the machine, as far as the files of others let it be shown. In the home directory, installed toolchains
/// included, a command that writes goes on with a layer of its own where there can be layers.
fn widen(run: &mut Run, args: &RunArgs, origin: &Origin, wide: &Wide, layered: bool) -> Result<(), Failure> {
    let shown = wide.shown.iter().map(|path| View { path: path.clone(), mode: Mode::ReadOnly });
    // What the profile or a toolchain shows is seen as in any run.
    let fresh = |spec: &Spec, path: &Path| {
        spec.views.iter().chain(&spec.toolchains.views).all(|view| view.path != path)
    };
    let shown: Vec<_> =
        shown.filter(|view| origin.policy.admits(view) && fresh(&run.spec, &view.path)).collect();
    // What a view of the profile shows on purpose stays; only what learning would show is covered.
    let hidden = wide.borders.closed.keys().filter(|path| {
        mode_at(&shown, path).is_some() && run.spec.mode_at(path).is_none() && can_be_hidden(path)
    });
    let hidden: Vec<_> = hidden.map(|path| View { path: path.clone(), mode: Mode::Hidden }).collect();
    let in_home = |view: &View| view.path.starts_with(&origin.home) && view.path.is_dir();
    let seen = |view: View| {
        let writes = layered && in_home(&view);
        View { mode: if writes { Mode::Layered } else { view.mode }, ..view }
    };
    let shown: Vec<_> = shown.into_iter().map(seen).collect();
    run.settings.views.extend(shown.iter().cloned());
    run.spec.views.extend(shown.into_iter().chain(hidden));
    let place = Inside { home: &origin.home, cwd: &run.cwd, toolchains: &run.spec.toolchains };
    let outside = &origin.around.environment;
    run.spec.environment = filter_variables(&run.settings, &origin.around, &args.wanted(), &place, outside)?;
    jail::environment::set_for_jail(&mut run.spec.environment);
    if layered {
        let mut installed = run.spec.toolchains.views.iter_mut().filter(|view| view.mode == Mode::ReadOnly);
        installed.by_ref().filter(|view| in_home(view)).for_each(|view| view.mode = Mode::Layered);
    }
    Ok(())
}

fn can_be_hidden(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() || found.is_file())
}

/// Runs the command. Its output goes where ours does not, so that the proposal stands alone.
fn watched(
    run: &mut Run,
    args: &RunArgs,
    origin: &Origin,
    machine: &Machine<'_>,
) -> Result<(Wide, Outcome), Failure> {
    let moved = |error: io::Error| Failure::new("the output cannot be kept apart").because(&error);
    let kept = rustix::io::dup(io::stdout()).map_err(|errno| moved(errno.into()))?;
    rustix::stdio::dup2_stdout(io::stderr()).map_err(|errno| moved(errno.into()))?;
    let held = held(run, args, origin, machine);
    let watched = held.and_then(|(wide, held)| Ok((wide, jailed::observed(run, held, args)?)));
    rustix::stdio::dup2_stdout(&kept).map_err(|errno| moved(errno.into()))?;
    watched
}

/// So often is looked again when something that was seen has gone meanwhile.
const ATTEMPTS: usize = 5;

fn held(
    run: &mut Run,
    args: &RunArgs,
    origin: &Origin,
    machine: &Machine<'_>,
) -> Result<(Wide, (Held, Doors)), Failure> {
    // Of what is shown besides, the look at the machine leaves forbidden names out.
    run.look()?;
    let narrow = (run.spec.views.clone(), run.spec.toolchains.clone(), run.settings.views.clone());
    let (mut attempts, mut layered) = (0, true);
    loop {
        attempts += 1;
        (run.spec.views, run.spec.toolchains, run.settings.views) = narrow.clone();
        let wide = machine.look();
        widen(run, args, origin, &wide, layered)?;
        match jailed::hold(run, Early::begin(), args) {
            Ok(held) if held.0.provider() == Provider::Native => return Ok((wide, held)),
            Ok(held) => {
                let message =
                    format!("the {} provider cannot tell what a command uses", held.0.provider().word());
                return Err(run.refuse(Failure::coded(Code::JailUnavailable, message)));
            }
            Err(NoJail::Refused(failure)) if attempts < ATTEMPTS && has_moved(&failure) => {}
            Err(_) if layered => layered = false,
            Err(NoJail::Unavailable(failure) | NoJail::Refused(failure)) => return Err(run.refuse(failure)),
        }
    }
}

/// Whether a jail failed because of what it would show: others go on working on the machine.
fn has_moved(failure: &Failure) -> bool {
    matches!(failure.code, Some(Code::JailMissingPath | Code::JailConflict | Code::JailStepFailed))
}

/// The command as an entry, if it was allowed only because a person typed it.
fn unnamed(origin: &Origin, args: &RunArgs, notes: &mut Vec<String>) -> Vec<String> {
    let line = Line::words(&args.command);
    let place = command::surroundings(Dialect::ALL, &origin.around.cwd, Some(&origin.home), None);
    let decision = command::decide(&origin.policy, &line, &line.read(&place));
    let by_default = matches!(&decision, Decision::Ask(reason) if reason.code == Code::CommandDefault);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    let words: Option<Vec<_>> = args.command.iter().map(|word| word.to_str()).collect();
    match words.filter(|_| by_default) {
        Some(words) if words.iter().all(|word| !word.is_empty() && word.chars().all(plain)) => {
            vec![words.join(" ")]
        }
        Some(_) => {
            notes.push("the command has words that a rule cannot name: write one for it by hand".to_owned());
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// What stays refused is recorded like every refusal.
fn record(run: &Run, proposal: &Proposal) -> Result<(), Failure> {
    let kinds = [Kind::Read, Kind::Write, Kind::Exec, Kind::Connect];
    proposal.refused.iter().take(shown::MOST).try_for_each(|refused| {
        let kind = kinds.into_iter().find(|kind| kind.word() == refused.want).unwrap_or(Kind::Read);
        run.journal.denied(&Denied {
            kind,
            object: refused.object.clone(),
            by: refused.because.clone(),
            allow: "nothing that `learn` proposes".to_owned(),
        })
    })
}

fn report(
    origin: &Origin,
    run: &Run,
    end: End,
    proposal: Proposal,
    (file, before): (&Path, Option<&Source>),
) -> Result<Report, Failure> {
    let old = before.map_or("", |source| &source.text);
    let (read, write) = origin.policy.view_keys(&run.settings.profile);
    let lists = [
        (read, &proposal.read),
        (write, &proposal.write),
        ("network.allow".to_owned(), &proposal.hosts),
        ("commands.allow".to_owned(), &proposal.commands),
    ];
    let added: Vec<_> = lists.into_iter().filter(|(_, texts)| !texts.is_empty()).collect();
    let drawn = |problem: config::Problem| report::failure(&problem.into());
    let mut text = None;
    if !added.is_empty() {
        let mut edit = Edit::new(old).map_err(drawn)?;
        added.iter().try_for_each(|(key, texts)| edit.extend(key, texts)).map_err(drawn)?;
        text = Some(edit.finish(Scope::User, file).map_err(|problems| report::failure(&problems))?);
    }
    let added = added.into_iter().map(|(key, texts)| (key, texts.clone())).collect();
    let ended = match end {
        End::Exited(code) => format!("ended with {code}"),
        End::Signaled(signal) => format!("was ended by signal {signal}"),
        End::Limit(overrun) => format!("was ended: {}", overrun.message()),
        End::Stopped => "was stopped".to_owned(),
    };
    let own_network = run.settings.network != jail::Network::Open;
    Ok(Report {
        file: file.to_owned(),
        old: old.to_owned(),
        text,
        added,
        proposal,
        ended,
        exit: end.code(),
        own_network,
    })
}

impl Learned {
    fn tell(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        match terminal.format {
            Format::Json => terminal.json(&self.report.json()),
            Format::Text => {
                let color = terminal.color;
                write!(terminal.out, "{}", self.report.diff(color))?;
                terminal.out.flush()?;
                write!(terminal.err, "{}", self.report.said())
            }
        }
    }

    /// Writes the new text, if the file still holds the old one and the policy still loads with it.
    fn write(&self, text: &str, terminal: &mut Terminal<'_>) -> Result<(), Failure> {
        let now = read(&self.file, &self.origin)?;
        let same = |a: Option<&Source>, b: Option<&Source>| a.map(|a| &a.text) == b.map(|b| &b.text);
        if !same(now.as_ref(), self.before.as_ref()) {
            let message = format!("{} has changed meanwhile, so nothing is written", Shown::path(&self.file));
            return Err(Failure::new(message).hint("learn again"));
        }
        let settings = check_layers(Scope::User, &self.file, text, &self.origin.around)?;
        let head = record_change(&settings, &self.file, &self.report.change(), text)?;
        replace(Scope::User, &self.file, text)?;
        writeln!(terminal.err, "{} changed; the ledger's head is {head}", Shown::path(&self.file))?;
        Ok(())
    }
}

/// Asks the person at the terminal. Where there is none, nobody agrees.
fn agreed(terminal: &mut Terminal<'_>) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    // What was typed for the command is no answer.
    let _unread = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    write!(terminal.err, "write it? [y/N] ")?;
    terminal.err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
