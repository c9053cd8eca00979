//! `ringfence run`: a command in a jail.
//!
//! Decide, make the jail, learn what the kernel enforces, record, and only then let the command go.

mod arguments;
mod decide;
pub(crate) mod denied;
pub(crate) mod jailed;
mod layered;
pub(crate) mod record;
mod skill;
mod summary;
mod told;
mod tripwire;
mod unjailed;

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use config::{JailSettings, Jailing, Problems, Settings};
use jail::{Early, Spec};
use policy::{Code, RuleRef, Shown};
use ringfence::run::{Host, HostSpec, KeptHome, needs_a_jail};
use serde_json::json;
use shell::Dialect;

use crate::command::{self, Line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::surroundings::{self, SurroundingsArgs};
use crate::terminal::{BoundedErrors, Format, Terminal, plain_json};
use crate::unbuilt;

pub(crate) use arguments::{NetworkArg, Purpose, RunArgs, some_words};
use decide::Consent;
use jailed::NoJail;
use layered::Layered;
use record::{Came, Journal};
use skill::RunSkill;

/// Runs a command in a jail, and ends as it ended. What goes wrong is told here: for programs, in their format, and when the command
/// has run, without waiting for whoever reads it.
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
    let ended = prepare(args, around, str::to_owned)
        .and_then(|(run, _)| run.go(early, args, &has_run, terminal))
        .map_err(nothing_ran);
    ended.unwrap_or_else(|failure| {
        // When not even this can be told, the exit code is all that is left.
        let _told = failure.tell(terminal);
        failure.exit
    })
}

/// Says something before the command starts, in the format that was asked for.
pub(crate) fn note(terminal: &mut Terminal<'_>, code: Option<Code>, text: &str) -> std::io::Result<()> {
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

/// An exit code of 1 would be taken for the command's own.
pub(crate) fn nothing_ran(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Failed | Exit::Ok => failure.exit(Exit::NoJail),
        _ => failure,
    }
}

/// Everything that is known before anything is made.
pub(crate) struct Run {
    pub(crate) settings: JailSettings,
    pub(crate) spec: Spec,
    pub(crate) cwd: PathBuf,
    pub(crate) line: String,
    pub(crate) journal: Journal,
    notes: Vec<String>,
    /// Settings that have no effect on this run.
    warnings: Vec<String>,
    /// Where looks for forbidden names are remembered.
    looks: Option<PathBuf>,
    /// Where its changes go, if not to the real files.
    overlay: Option<Layered>,
    /// No other run uses the kept home as long as this one does.
    kept: Option<KeptHome>,
    /// The environment without what is set for a jail.
    unjailed: Vec<(OsString, OsString)>,
}

/// What a run was prepared from.
pub(crate) struct Origin {
    pub(crate) around: Host,
    pub(crate) policy: Settings,
    /// The real home directory.
    pub(crate) home: PathBuf,
    /// What belongs to Ringfence.
    pub(crate) own: Vec<PathBuf>,
}

/// Prepares a run; `recorded` is what the ledger calls the profile.
pub(crate) fn prepare(
    args: &RunArgs,
    around: &SurroundingsArgs,
    recorded: impl FnOnce(&str) -> String,
) -> Result<(Run, Origin), Failure> {
    let around = surroundings::find(around)?;
    let policy = around.load().map_err(|problems| report::failure(&problems))?;
    let skill = RunSkill::load(args, &policy, &around)?;
    let mut wish = args.wish(&around.cwd)?;
    if let Some(skill) = &skill {
        skill.show(&mut wish);
    }
    let mut settings = policy.jail(&wish).map_err(|problems| refused_wish(&problems))?;
    skill.iter().try_for_each(|skill| skill.narrow_jail(&mut settings))?;
    arguments::bridgeable(&settings)?;
    let state = around.places.state.as_deref();
    let kept = settings.keep_home && args.purpose == Purpose::Work;
    let kept = kept.then(|| KeptHome::begin(state, &around.places.workspace)).transpose()?;
    let inside = kept.as_ref().map(|kept| kept.path.as_path());
    let built = HostSpec::build(&policy, &settings, &around, &args.wanted(), inside)?;
    let git_notes = built.git_notes(args.command.first().map(OsString::as_os_str), args.verbose);
    let hosts = skill.as_ref().and_then(RunSkill::note);
    let notes = git_notes.chain(hosts).collect();
    let HostSpec { mut spec, cwd, home, own, ledger, unjailed, .. } = built;
    let journal = Journal::open(&ledger, &recorded(&settings.profile))?.of_agent(around.agent.as_deref());
    // No shell reads the words first; one that is among them says itself which it is.
    let place = command::surroundings(Dialect::ALL, &cwd, Some(&home), None);
    let policy = policy.in_mode(settings.commands).map_err(|problems| report::failure(&problems))?;
    let policy = skill.iter().fold(policy, |policy, skill| skill.narrow_policy(policy));
    let line = allowed(&policy, args, &place, &journal)?;
    if let Some(kept) = &kept {
        spec = kept.put_into(spec)?;
        journal.overlaid(&kept.home.id, &kept.path)?;
    }
    let overlay = args.overlay.as_deref().map(|wanted| Layered::begin(wanted, state, &mut spec, &line));
    let overlay = overlay.transpose()?;
    overlay.iter().try_for_each(|overlay| overlay.record(&journal))?;
    let looks = state.map(|state| state.join("ringfence/looks"));
    let warnings = unbuilt::warnings(&policy, Some(&settings));
    let run = Run { settings, spec, cwd, line, journal, notes, warnings, looks, overlay, kept, unjailed };
    Ok((run, Origin { around, policy, home, own }))
}

/// Decides about the command and records it as it was typed, whatever the answer.
fn allowed(
    policy: &Settings,
    args: &RunArgs,
    place: &shell::Surroundings<'_>,
    journal: &Journal,
) -> Result<String, Failure> {
    let line = Line::words(&args.command);
    let consent = Consent::of(args.approve.as_deref(), args.skill.is_some());
    let (decision, invocation) = decide::decide(policy, &line, line.read(place), consent)?;
    let typed = command::quoted(&args.command);
    journal.decided(&decision, &typed)?;
    let place = command::place(policy, &line, &invocation, &decision);
    decide::refusal(&decision, &line, place).map_or(Ok(typed), Err)
}

/// What the policy forbids is a refusal; what means nothing is a mistake in the command line.
fn refused_wish(problems: &Problems) -> Failure {
    let widens = problems.0.iter().any(|problem| problem.code == Code::LayerWidens);
    let message = if widens { "the policy does not allow this" } else { "the command line is wrong" };
    let exit = if widens { Exit::Refused } else { Exit::Usage };
    Failure { message: message.to_owned(), ..report::failure(problems) }.exit(exit)
}

impl Run {
    fn go(
        mut self,
        early: Early,
        args: &RunArgs,
        has_run: &Cell<bool>,
        terminal: &mut Terminal<'_>,
    ) -> Result<Exit, Failure> {
        unbuilt::tell(&self.warnings, terminal)?;
        self.notes.iter().try_for_each(|text| note(terminal, None, text))?;
        let overlay = self.overlay.take();
        // What is kept apart by a jail is not given to a command without one.
        let without_jail = overlay.is_none() && self.kept.is_none();
        let came = self.tried(early, args, without_jail, has_run, terminal);
        match overlay {
            Some(overlay) => overlay.ended(came, terminal),
            None => came,
        }
    }

    fn tried(
        &mut self,
        early: Early,
        args: &RunArgs,
        without_jail: bool,
        has_run: &Cell<bool>,
        terminal: &mut Terminal<'_>,
    ) -> Result<Exit, Failure> {
        if !without_jail && let Jailing::Never(rule) = &self.settings.jailing {
            let failure = match self.kept {
                Some(_) => needs_a_jail(rule).into(),
                None => layered::needs_a_jail(rule),
            };
            return Err(self.refuse(failure));
        }
        if let Jailing::Never(rule) = &self.settings.jailing {
            return self.unjailed(args, rule, terminal);
        }
        self.look()?;
        match (jailed::hold(self, early, args), &self.settings.jailing) {
            (Ok(held), _) => jailed::follow(self, held, args, has_run, terminal),
            (Err(NoJail::Unavailable(failure)), Jailing::WhereAvailable(rule)) if without_jail => {
                note(terminal, None, &failure.message)?;
                self.unjailed(args, rule, terminal)
            }
            (Err(NoJail::Unavailable(failure) | NoJail::Refused(failure)), _) => Err(self.refuse(failure)),
        }
    }

    /// Looks for forbidden names in what the command would see.
    pub(crate) fn look(&mut self) -> Result<(), Failure> {
        self.spec.look(self.looks.as_deref()).map_err(|conflict| {
            let failure = Failure::coded(conflict.code(), conflict.to_string()).hint(conflict.hint());
            self.refuse(failure.exit(Exit::NoJail))
        })
    }

    /// Records that nothing is started, and why.
    pub(crate) fn refuse(&self, failure: Failure) -> Failure {
        let recorded = self.journal.refused(&self.settings.provider, &failure.message);
        // Nothing happens either way; both reasons are worth knowing.
        match recorded {
            Ok(()) => failure,
            Err(unrecorded) => failure.hint(unrecorded.message),
        }
    }

    fn unjailed(&self, args: &RunArgs, rule: &RuleRef, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
        self.journal.skipped(&program(args), rule)?;
        let text = format!("running without a jail, because {rule} says so: {}", self.line);
        note(terminal, Some(Code::JailUnjailed), &text)?;
        let start = Instant::now();
        let came = unjailed::run(&args.command, &self.unjailed, &self.cwd)?;
        self.journal.ended(came, start.elapsed())?;
        Ok(exit(came))
    }
}

/// The program as it was typed; its arguments stand in the record of the decision.
pub(crate) fn program(args: &RunArgs) -> Cow<'_, str> {
    args.command.first().map(|program| program.to_string_lossy()).unwrap_or_default()
}

fn exit(came: Came) -> Exit {
    match came {
        Came::Exited(code) => Exit::Own(code),
        Came::Signaled(signal) => Exit::Own(128_u8.saturating_add(signal)),
        Came::Limited => Exit::Limit,
    }
}
