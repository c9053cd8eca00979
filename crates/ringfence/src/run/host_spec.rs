//! The jail spec of a policy on this host: views, toolchains, git settings, environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{JailSettings, Settings};
use jail::environment::{self, Wanted};
use jail::toolchain::{self, Ask, Disk};
use jail::{CommitRecord, Repository, Spec};
use policy::Code;

use super::error::{RunError, RunErrorKind};
use super::git::{self, GitSettings};
use super::host::Host;
use super::kept_home;
use super::spec::{VisiblePaths, build_spec};

/// A jail spec for one host, with the facts that it was built from.
#[derive(Debug)]
pub(crate) struct HostSpec {
    /// The jail.
    pub spec: Spec,
    /// Directory a command starts in.
    pub cwd: PathBuf,
    /// Real home directory.
    pub home: PathBuf,
    /// Files and directories of Ringfence.
    pub own: Vec<PathBuf>,
    /// Ledger of the policy.
    pub ledger: PathBuf,
    /// Environment of a command that runs without a jail.
    pub unjailed: Vec<(OsString, OsString)>,
    repository: Repository,
    repository_note: Option<String>,
    unsigned_note: Option<String>,
}

/// A wish that the policy forbids is a refusal; one without a meaning is a usage error.
pub(crate) fn refused_wish(problems: config::Problems) -> RunError {
    let widens = problems.0.iter().any(|problem| problem.code == Code::LayerWidens);
    let message = if widens { "the policy does not allow this" } else { "the command line is wrong" };
    let kind = RunErrorKind::Options { problems, widens };
    RunError::new(message).kind(kind)
}

impl HostSpec {
    /// Builds the spec. `kept_home` is the home directory inside, if it is kept for the next run.
    pub(crate) fn build(
        policy: &Settings,
        settings: &JailSettings,
        host: &Host,
        wanted: &[Wanted],
        kept_home: Option<&Path>,
    ) -> Result<Self, RunError> {
        let ledger = policy.ledger().ok_or_else(|| {
            RunError::new("cannot determine the ledger path: HOME and XDG_STATE_HOME are unset")
                .hint("set HOME or XDG_STATE_HOME")
        })?;
        let (home, cwd, own) = (host.home(), host.start_directory(settings), host.own_files(&ledger));
        let workspace = &host.places.workspace;
        let outside = host.environment.clone();
        let outside = if kept_home.is_some() { kept_home::with_real_home(&home, outside) } else { outside };
        let inside = kept_home.unwrap_or(&home);
        let (toolchains, outside) = find_toolchains(settings, host, &home, inside, &own, outside);
        let place = Inside { home: inside, cwd: &cwd, toolchains: &toolchains };
        let unjailed = filter_variables(settings, host, wanted, &place, &outside)?;
        let mut environment = unjailed.clone();
        environment::set_for_jail(&mut environment);
        let git = GitSettings::find(&home, workspace, host.agent_writable(settings));
        if kept_home.is_some() {
            git.lead(&mut environment);
        }
        let unsigned_note = git.without_signatures(&mut environment);
        let repository = jail::repository(workspace);
        let (shown, repository_note) = git::show_repository(&repository, policy, settings);
        let visible = VisiblePaths {
            workspace,
            home: &home,
            git: &git.files,
            repository: shown,
            project: host.project_file(),
            own: &own,
            environment,
        };
        let mut spec = build_spec(settings, visible)?;
        spec.toolchains = toolchains;
        let state = host.places.state.as_deref();
        spec.commit_record = state.map(|state| CommitRecord::at(&state.join("ringfence/commits")));
        spec.forbidden = Some(Arc::clone(&policy.forbidden));
        spec.links = git.links;
        Ok(Self { spec, cwd, home, own, ledger, unjailed, repository, repository_note, unsigned_note })
    }

    /// Returns the notes on git. A repository further up is of interest to git itself, and to a caller that wants all notes.
    pub(crate) fn git_notes(&self, program: Option<&OsStr>, verbose: bool) -> impl Iterator<Item = String> {
        let program = program.and_then(|program| Path::new(program).file_name());
        let relevant =
            !matches!(self.repository, Repository::Above(_)) || verbose || program == Some(OsStr::new("git"));
        let repository = self.repository_note.clone().filter(|_| relevant);
        repository.into_iter().chain(self.unsigned_note.clone().filter(|_| verbose))
    }
}

/// Finds the toolchains that a command sees, and leads the caller's search path to them.
fn find_toolchains(
    settings: &JailSettings,
    host: &Host,
    home: &Path,
    inside: &Path,
    own: &[PathBuf],
    mut environment: Vec<(OsString, OsString)>,
) -> (toolchain::Shown, Vec<(OsString, OsString)>) {
    let files = Disk::new(home, host.agent_writable(settings));
    let ask = Ask {
        choose: &settings.toolchains,
        outside: home,
        home: inside,
        workspace: &host.places.workspace,
        environment: &environment,
        views: &settings.views,
        closed: own,
    };
    let shown = toolchain::shown(&ask, &files);
    shown.lead(&mut environment, &files);
    (shown, environment)
}

/// Parts of the jail that variables are made from.
pub(crate) struct Inside<'a> {
    /// Home directory inside.
    pub home: &'a Path,
    /// Directory the command starts in.
    pub cwd: &'a Path,
    /// Visible toolchains.
    pub toolchains: &'a toolchain::Shown,
}

/// Selects the caller's variables that a command gets, without those that are set for a jail.
pub(crate) fn filter_variables(
    settings: &JailSettings,
    host: &Host,
    wanted: &[Wanted],
    inside: &Inside<'_>,
    outside: &[(OsString, OsString)],
) -> Result<Vec<(OsString, OsString)>, RunError> {
    let shown = settings.views.iter().filter(|view| view.mode.shows_host());
    let shown = shown.map(|view| view.path.as_path()).chain(inside.toolchains.programs());
    let visible: Vec<_> = environment::SYSTEM.iter().map(Path::new).chain(shown).collect();
    let bash = Path::new("/bin/bash");
    let place = environment::Place {
        home: inside.home,
        workspace: &host.places.workspace,
        cwd: inside.cwd,
        user: &host.user(),
        shell: if bash.exists() { bash } else { Path::new("/bin/sh") },
        tmp: Path::new("/tmp"),
        visible: &visible,
    };
    environment::filtered(outside, wanted, &place).map_err(|refused| {
        RunError::coded(Code::JailEnvironment, "cannot pass a variable in")
            .because(&refused)
            .hint(refused.hint())
            .kind(RunErrorKind::Refused)
    })
}
