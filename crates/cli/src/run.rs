//! `ringfence run`: a command in a jail.
//!
//! Decide, make the jail, learn what the kernel enforces, record, and only then let the command go.

mod arguments;
mod decide;
pub(crate) mod denied;
mod git;
pub(crate) mod jailed;
mod kept_home;
mod layered;
pub(crate) mod record;
mod skill;
mod spec;
mod summary;
mod told;
mod toolchains;
mod tripwire;
mod unjailed;

use std::borrow::Cow;
use std::cell::Cell;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use config::{JailSettings, Jailing, Problems, Settings};
use jail::environment::{self, Wanted};
use jail::toolchain;
use jail::{CommitRecord, Early, Mode, Spec};
use policy::{Code, RuleRef, Shown};
use serde_json::json;
use shell::Dialect;

use crate::command::{self, Line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::surroundings::{Surroundings, SurroundingsArgs};
use crate::terminal::{BoundedErrors, Format, Terminal, plain_json};
use crate::unbuilt;

pub(crate) use arguments::{NetworkArg, Purpose, RunArgs, some_words};
use decide::Consent;
use git::GitSettings;
use jailed::NoJail;
use kept_home::KeptHome;
pub(crate) use kept_home::shown as shown_home;
use layered::Layered;
use record::{Came, Journal};
use skill::RunSkill;
use spec::Sight;

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
    pub(crate) around: Surroundings,
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
    let around = Surroundings::find(around)?;
    let policy = around.load().map_err(|problems| report::failure(&problems))?;
    let skill = RunSkill::load(args, &policy, &around)?;
    let mut wish = args.wish(&around.cwd)?;
    if let Some(skill) = &skill {
        skill.show(&mut wish);
    }
    let mut settings = policy.jail(&wish).map_err(|problems| refused_wish(&problems))?;
    skill.iter().try_for_each(|skill| skill.narrow_jail(&mut settings))?;
    arguments::bridgeable(&settings)?;
    let ledger = policy.ledger().ok_or_else(|| {
        Failure::new("it is not known where the ledger is").hint("set HOME or XDG_STATE_HOME")
    })?;
    let home = home(&around);
    let cwd = start(&settings, &around);
    let own = own_files(&around, &ledger);
    let state = around.places.state.as_deref();
    let kept = settings.keep_home && args.purpose == Purpose::Work;
    let kept = kept.then(|| KeptHome::begin(state, &around.places.workspace)).transpose()?;
    let seen = kept.as_ref().map_or(&home, |kept| &kept.path);
    let outside = env::vars_os().collect();
    let outside = if kept.is_some() { kept_home::leading_home(&home, outside) } else { outside };
    let homes = toolchains::Homes { outside: &home, inside: seen };
    let (toolchains, outside) = toolchains::toolchains(&settings, &homes, &around, &own, outside);
    let place = Inside { home: seen, cwd: &cwd, toolchains: &toolchains };
    let unjailed = variables(args, &settings, &around, &place, &outside)?;
    let mut environment = unjailed.clone();
    environment::set_for_jail(&mut environment);
    let git = GitSettings::find(&home, &around.places.workspace, foreign(&settings, &around));
    if kept.is_some() {
        git.lead(&mut environment);
    }
    let unsigned = git.without_signatures(&mut environment).filter(|_| args.verbose);
    let project = around.files.project.as_deref().filter(|path| is_file(path));
    let workspace = &around.places.workspace;
    let found = jail::repository(workspace);
    let (repository, note) = git::repository(&found, &policy, &settings);
    let sight =
        Sight { workspace, home: &home, git: &git.files, repository, project, own: &own, environment };
    let mut spec = spec::spec(&settings, sight)?;
    spec.toolchains = toolchains;
    spec.commit_record = state.map(|state| CommitRecord::at(&state.join("ringfence/commits")));
    spec.forbidden = Some(Arc::clone(&policy.forbidden));
    spec.links = git.links;
    let note = note.filter(|_| git::is_worth_saying(&found, args));
    let hosts = skill.as_ref().and_then(RunSkill::note);
    let notes = note.into_iter().chain(unsigned).chain(hosts).collect();
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

/// The real home directory, which is private inside; a user without one gets one.
fn home(around: &Surroundings) -> PathBuf {
    let known = around.places.home.as_deref().filter(|home| *home != Path::new("/"));
    let real = known.map(|home| std::fs::canonicalize(home).unwrap_or_else(|_| home.to_owned()));
    real.unwrap_or_else(|| PathBuf::from("/home/agent"))
}

/// Where the command starts: here, if here can be seen.
fn start(settings: &JailSettings, around: &Surroundings) -> PathBuf {
    let workspace = &around.places.workspace;
    let shown = settings.views.iter().filter(|view| view.mode.shows_host());
    let mut seen = shown.map(|view| &view.path).chain([workspace]);
    if seen.any(|path| around.cwd.starts_with(path)) { around.cwd.clone() } else { workspace.clone() }
}

/// Where the agent can make links: none of them is followed from outside.
fn foreign(settings: &JailSettings, around: &Surroundings) -> Vec<PathBuf> {
    let writable = settings.views.iter().filter(|view| view.mode == Mode::ReadWrite);
    writable.map(|view| view.path.clone()).chain([around.places.workspace.clone()]).collect()
}

/// What of the inside variables are made of.
pub(crate) struct Inside<'a> {
    pub(crate) home: &'a Path,
    pub(crate) cwd: &'a Path,
    pub(crate) toolchains: &'a toolchain::Shown,
}

/// What the command gets of the caller's variables; what is set for a jail is not among it.
pub(crate) fn variables(
    args: &RunArgs,
    settings: &JailSettings,
    around: &Surroundings,
    inside: &Inside<'_>,
    outside: &[(OsString, OsString)],
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let wanted: Vec<_> = args.env.iter().map(|text| Wanted::parse(text)).collect();
    let shown = settings.views.iter().filter(|view| view.mode.shows_host());
    let shown = shown.map(|view| view.path.as_path()).chain(inside.toolchains.programs());
    let visible: Vec<_> = environment::SYSTEM.iter().map(Path::new).chain(shown).collect();
    let bash = Path::new("/bin/bash");
    let place = environment::Place {
        home: inside.home,
        workspace: &around.places.workspace,
        cwd: inside.cwd,
        user: &user(),
        shell: if bash.exists() { bash } else { Path::new("/bin/sh") },
        tmp: Path::new("/tmp"),
        visible: &visible,
    };
    environment::filtered(outside, &wanted, &place).map_err(|refused| {
        Failure::coded(Code::JailEnvironment, "a variable cannot be let in")
            .because(&refused)
            .hint(refused.hint())
            .exit(Exit::Refused)
    })
}

/// The name that the user has inside: root is nobody there.
fn user() -> OsString {
    let root = rustix::process::geteuid().is_root();
    let known =
        env::var_os("USER").or_else(|| env::var_os("LOGNAME")).filter(|name| !root && !name.is_empty());
    known.unwrap_or_else(|| OsString::from("agent"))
}

/// What belongs to Ringfence on this machine, as far as it is there.
fn own_files(around: &Surroundings, ledger: &Path) -> Vec<PathBuf> {
    let state = around.places.state.iter().map(|state| state.join("ringfence"));
    let runtime = around.runtime.iter().map(|runtime| runtime.join("ringfence"));
    let policies = [&around.files.managed, &around.files.user].into_iter().flatten().map(|file| {
        // The directory, if it is ours: what appears beside the policy belongs to it.
        let parent = file.parent().filter(|parent| parent.file_name() == Some(OsStr::new("ringfence")));
        parent.unwrap_or(file).to_owned()
    });
    let all = state.chain(runtime).chain(policies).chain([ledger.to_owned()]);
    let mut real: Vec<_> = all.filter_map(|path| std::fs::canonicalize(path).ok()).collect();
    real.sort();
    // What lies in another one is hidden with it.
    real.dedup_by(|path, before| path.starts_with(before));
    real
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
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
            let needs = if self.kept.is_some() { kept_home::needs_a_jail } else { layered::needs_a_jail };
            return Err(self.refuse(needs(rule)));
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
