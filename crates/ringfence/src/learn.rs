//! Learning: a command runs under observation, and the paths and hosts that it uses become a proposal for the policy.
//!
//! The command runs in the jail of its profile, which shows the rest of the machine read-only while it is learned, without closed
//! places: credentials, files of Ringfence, forbidden names. It may write as in any run, and nothing else.

mod executed;
mod fold;
mod proposal;
mod table;
mod wide;

use std::path::{Path, PathBuf};

use config::edit::Edit;
use config::{Scope, Source};
use jail::{Early, End, Mode, Network, Outcome, Provider, Spec, View, mode_at, plan};
use policy::{Code, Decision, Kind};
use shell::Dialect;

use crate::run::command_line::{self, CommandLine};
use crate::run::{
    Authorized, DeniedAction, HoldFailure, Host, Inside, JailWithEgress, RunError, filter_variables,
};

use executed::{Executed, Finder};
use proposal::Judge;
pub use proposal::{Proposal, RefusedUse};
use wide::{Machine, Wide};

/// So many refused uses are recorded.
pub const MOST_REFUSED: usize = 30;

/// A command that is allowed and will be observed.
pub struct Learning {
    run: Authorized,
    file: PathBuf,
    before: Option<Source>,
    base: plan::Sight,
}

/// A command that was observed.
pub struct Observation {
    learning: Learning,
    wide: Wide,
    outcome: Outcome,
    connections: Option<broker::Report>,
}

/// The proposal, with the change of the policy file that it amounts to.
pub struct Report {
    /// Policy file that would be changed.
    pub file: PathBuf,
    /// Text of the file before the command ran; `None` without a file.
    pub before: Option<String>,
    /// New text, if there is an addition.
    pub text: Option<String>,
    /// Additions, by key.
    pub added: Vec<(String, Vec<String>)>,
    /// The proposal.
    pub proposal: Proposal,
    /// End of the command.
    pub end: End,
    /// Network that the command had.
    pub network: Network,
    /// Caller and machine that the policy was loaded for.
    pub host: Host,
}

impl Learning {
    /// Begins to learn a command that is allowed.
    pub fn new(run: Authorized) -> Result<Self, RunError> {
        let file = run.run.host.files.user.clone();
        let file = file.ok_or_else(|| {
            RunError::new("there is no file to learn for").hint("set HOME or --user-policy")
        })?;
        let before = config::read(Scope::User, &file, &run.run.host.places.workspace)
            .map_err(|problem| RunError::policy(problem.into()))?;
        let base = jail::sight(&run.run.spec).map_err(|conflict| RunError::from(&conflict))?;
        Ok(Self { run, file, before, base })
    }

    /// Runs the command in a jail that shows the machine read-only, and follows it to its end.
    pub fn observe(mut self) -> Result<Observation, RunError> {
        let (wide, held) = self.hold()?;
        self.run.record_start(&held.jail)?;
        let (outcome, connections) = self.run.observe(held)?;
        Ok(Observation { learning: self, wide, outcome, connections })
    }

    fn hold(&mut self) -> Result<(Wide, JailWithEgress), RunError> {
        // The look at the machine leaves forbidden names out of the additional views.
        self.run.find_forbidden()?;
        let prepared = &self.run.run;
        let narrow =
            (prepared.spec.views.clone(), prepared.spec.toolchains.clone(), prepared.settings.views.clone());
        let (mut attempts, mut layered) = (0, true);
        loop {
            attempts += 1;
            let prepared = &mut self.run.run;
            (prepared.spec.views, prepared.spec.toolchains, prepared.settings.views) = narrow.clone();
            let wide = self.machine().look();
            self.widen(&wide, layered)?;
            match self.run.make_jail(Early::begin()) {
                Ok(held) if held.jail.provider() == Provider::Native => return Ok((wide, held)),
                Ok(held) => {
                    let provider = held.jail.provider().word();
                    let message = format!("the {provider} provider cannot tell what a command uses");
                    return Err(self.run.refuse(RunError::coded(Code::JailUnavailable, message)));
                }
                Err(HoldFailure::Refused(error)) if attempts < ATTEMPTS && has_moved(&error) => {}
                Err(_) if layered => layered = false,
                Err(HoldFailure::Unavailable(error) | HoldFailure::Refused(error)) => {
                    return Err(self.run.refuse(error));
                }
            }
        }
    }

    fn machine(&self) -> Machine<'_> {
        let run = &self.run.run;
        Machine {
            home: &run.home,
            workspace: &run.host.places.workspace,
            own: &run.own,
            names: &run.policy.forbidden,
        }
    }

    /// Shows the rest of the machine, as far as the policy admits it. In the home directory, installed toolchains included,
    /// writes go to a layer of the run where there can be layers.
    fn widen(&mut self, wide: &Wide, layered: bool) -> Result<(), RunError> {
        let run = &mut self.run.run;
        let shown = wide.shown.iter().map(|path| View { path: path.clone(), mode: Mode::ReadOnly });
        // Views of the profile and of toolchains stay as in any run.
        let fresh = |spec: &Spec, path: &Path| {
            spec.views.iter().chain(&spec.toolchains.views).all(|view| view.path != path)
        };
        let shown: Vec<_> =
            shown.filter(|view| run.policy.admits(view) && fresh(&run.spec, &view.path)).collect();
        // Views of the profile stay; only additional views are covered.
        let hidden = wide.borders.closed.keys().filter(|path| {
            mode_at(&shown, path).is_some() && run.spec.mode_at(path).is_none() && can_be_hidden(path)
        });
        let hidden: Vec<_> = hidden.map(|path| View { path: path.clone(), mode: Mode::Hidden }).collect();
        let home = run.home.clone();
        let in_home = |view: &View| view.path.starts_with(&home) && view.path.is_dir();
        let seen = |view: View| {
            let writes = layered && in_home(&view);
            View { mode: if writes { Mode::Layered } else { view.mode }, ..view }
        };
        let shown: Vec<_> = shown.into_iter().map(seen).collect();
        run.settings.views.extend(shown.iter().cloned());
        run.spec.views.extend(shown.into_iter().chain(hidden));
        let place = Inside { home: &run.home, cwd: &run.cwd, toolchains: &run.spec.toolchains };
        let (wanted, outside) = (&run.options.variables, &run.host.environment);
        run.spec.environment = filter_variables(&run.settings, &run.host, wanted, &place, outside)?;
        jail::environment::set_for_jail(&mut run.spec.environment);
        if layered {
            let installed = run.spec.toolchains.views.iter_mut();
            let installed = installed.filter(|view| view.mode == Mode::ReadOnly && in_home(view));
            installed.for_each(|view| view.mode = Mode::Layered);
        }
        Ok(())
    }

    /// Finds the places from which programs of the host execute, after the command has ended.
    fn executed(&self) -> Executed {
        let run = &self.run.run;
        let files = [&run.host.files.user, &run.host.files.managed].into_iter().flatten();
        let own: Vec<_> = run.own.iter().chain(files).cloned().collect();
        Finder {
            home: &run.home,
            workspace: &run.host.places.workspace,
            own: &own,
            root: rustix::process::geteuid().is_root(),
            variables: &run.host.environment,
        }
        .find()
    }

    /// Returns the command as an entry, if it was allowed only because a person typed it.
    fn unnamed_command(&self, notes: &mut Vec<String>) -> Vec<String> {
        let run = &self.run.run;
        let line = CommandLine::words(&run.options.command);
        let place = command_line::surroundings(Dialect::ALL, &run.host.cwd, Some(&run.home), None);
        let decision = command_line::decide(&run.policy, &line, &line.read(&place));
        let by_default = matches!(&decision, Decision::Ask(reason) if reason.code == Code::CommandDefault);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
        let words: Option<Vec<_>> = run.options.command.iter().map(|word| word.to_str()).collect();
        match words.filter(|_| by_default) {
            Some(words) if words.iter().all(|word| !word.is_empty() && word.chars().all(plain)) => {
                vec![words.join(" ")]
            }
            Some(_) => {
                notes.push(
                    "the command has words that a rule cannot name: write one for it by hand".to_owned(),
                );
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Records uses that stay refused.
    fn record(&self, proposal: &Proposal) -> Result<(), RunError> {
        let kinds = [Kind::Read, Kind::Write, Kind::Exec, Kind::Connect];
        proposal.refused.iter().take(MOST_REFUSED).try_for_each(|refused| {
            let kind = kinds.into_iter().find(|kind| kind.word() == refused.want).unwrap_or(Kind::Read);
            let denied = DeniedAction {
                kind,
                object: refused.object.clone(),
                by: refused.because.clone(),
                allow: "nothing that `learn` proposes".to_owned(),
            };
            self.run.journal.record_denial(&denied).map_err(|error| RunError::unrecorded_end(&error))
        })
    }
}

/// So many times a jail is tried again after a path that was seen has gone.
const ATTEMPTS: usize = 5;

/// Returns whether a jail failed because of a path that has changed since it was seen.
fn has_moved(error: &RunError) -> bool {
    matches!(error.code, Some(Code::JailMissingPath | Code::JailConflict | Code::JailStepFailed))
}

fn can_be_hidden(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() || found.is_file())
}

impl Observation {
    /// Judges the uses of the command, records those that stay refused, and proposes additions to the policy.
    pub fn report(self) -> Result<Report, RunError> {
        let Self { learning, wide, outcome, connections } = self;
        let run = &learning.run.run;
        let judge = Judge {
            base: &learning.base,
            borders: &wide.borders,
            writing: &wide.borders.for_writing(learning.executed()),
            names: &run.policy.forbidden,
            home: &run.home,
            places: &run.host.places,
            look: &|path| Some((std::fs::canonicalize(path).ok()?, path.is_dir())),
            connections: connections.as_ref(),
        };
        let mut proposal = judge.proposal(&outcome.uses);
        proposal.notes.extend(outcome.notes.iter().cloned());
        proposal.commands = learning.unnamed_command(&mut proposal.notes);
        learning.record(&proposal)?;
        let (added, text) = learning.additions(&proposal)?;
        let network = run.settings.network;
        let Learning { run, file, before, .. } = learning;
        let (end, before, host) = (outcome.end, before.map(|source| source.text), run.run.host);
        Ok(Report { file, before, text, added, proposal, end, network, host })
    }
}

/// Additions by key, and the new text of the policy file.
type Additions = (Vec<(String, Vec<String>)>, Option<String>);

impl Learning {
    fn additions(&self, proposal: &Proposal) -> Result<Additions, RunError> {
        let old = self.before.as_ref().map_or("", |source| &source.text);
        let (read, write) = self.run.run.policy.view_keys(&self.run.run.settings.profile);
        let lists = [
            (read, &proposal.read),
            (write, &proposal.write),
            ("network.allow".to_owned(), &proposal.hosts),
            ("commands.allow".to_owned(), &proposal.commands),
        ];
        let added: Vec<_> = lists.into_iter().filter(|(_, texts)| !texts.is_empty()).collect();
        let broken = |problem: config::Problem| RunError::policy(problem.into());
        let mut text = None;
        if !added.is_empty() {
            let mut edit = Edit::new(old).map_err(broken)?;
            added.iter().try_for_each(|(key, texts)| edit.extend(key, texts)).map_err(broken)?;
            text = Some(edit.finish(Scope::User, &self.file).map_err(RunError::policy)?);
        }
        Ok((added.into_iter().map(|(key, texts)| (key, texts.clone())).collect(), text))
    }
}
