//! The first step of a run: settings, options and facts about the host become a jail spec.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use config::{JailSettings, Settings, Wish};
use jail::bridge::Direction;
use jail::environment::Wanted;
use jail::{Network, Spec};
use policy::{AgentRecipe, Code, Route};

use super::error::RunError;
use super::host::Host;
use super::host_spec::{HostSpec, refused_wish};
use super::kept_home::KeptHome;
use super::recipe;
use super::skill::SkillConfinement;
use crate::egress::HostApprover;

/// Options of one run.
#[derive(Default)]
#[non_exhaustive]
pub struct Options {
    /// Program and its arguments.
    pub command: Vec<OsString>,
    /// Wishes about the jail.
    pub wish: Wish,
    /// Variables that are passed in or set.
    pub variables: Vec<Wanted>,
    /// Overlay that takes the changes.
    pub overlay: Option<overlay::OverlayChoice>,
    /// Skill that the command belongs to.
    pub skill: Option<SkillConfinement>,
    /// Purpose of the run.
    pub purpose: Purpose,
    /// True if actions that the jail refuses are observed.
    pub observe: bool,
    /// True if all notes are wanted.
    pub verbose: bool,
    /// Asks about hosts that no rule names, while the command runs.
    pub host_approver: Option<Arc<dyn HostApprover>>,
}

impl Options {
    /// Creates options for a command, without any wishes.
    #[must_use]
    pub fn new(command: Vec<OsString>) -> Self {
        Self { command, ..Self::default() }
    }
}

/// Purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// The work of the command.
    #[default]
    Work,
    /// Learning the paths and hosts that it uses; no home is kept.
    Learning,
}

/// A run before any decision. Nothing was started or recorded.
pub struct Prepared {
    pub(crate) policy: Arc<Settings>,
    pub(crate) settings: JailSettings,
    pub(crate) options: Options,
    pub(crate) host: Host,
    pub(crate) spec: Spec,
    pub(crate) cwd: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) own: Vec<PathBuf>,
    pub(crate) ledger: PathBuf,
    /// Environment of a command without a jail.
    pub(crate) unjailed: Vec<(OsString, OsString)>,
    /// Name of the profile in the records.
    pub(crate) label: String,
    pub(crate) kept: Option<KeptHome>,
    /// Recipe of the agent that is run, if it is a known one.
    pub(crate) recipe: Option<&'static AgentRecipe>,
    pub(crate) notes: Vec<String>,
}

impl Prepared {
    /// Prepares a run under a policy.
    pub fn new(policy: Settings, options: Options, host: Host) -> Result<Self, RunError> {
        let mut wish = options.wish.clone();
        options.skill.iter().for_each(|skill| skill.show(&mut wish));
        let policy = policy.allowing(&wish.allow).map_err(refused_wish)?;
        let mut settings = policy.jail(&wish).map_err(refused_wish)?;
        options.skill.iter().try_for_each(|skill| skill.narrow_jail(&mut settings))?;
        check_ports(&settings)?;
        let policy = policy.in_mode(settings.commands).map_err(RunError::policy)?;
        let policy = options.skill.iter().fold(policy, |policy, skill| skill.narrow_policy(policy));
        let (keep_home, label) = match options.purpose {
            Purpose::Work => (settings.keep_home, settings.profile.clone()),
            Purpose::Learning => (false, format!("{} (learning)", settings.profile)),
        };
        let (state, workspace) = (host.places.state.as_deref(), &host.places.workspace);
        let kept = keep_home.then(|| KeptHome::begin(state, workspace)).transpose()?;
        let inside = kept.as_ref().map(|kept| kept.path.as_path());
        let built = HostSpec::build(&policy, &settings, &host, &options.variables, inside)?;
        let place = recipe::Place { cwd: &built.cwd, workspace, kept: inside };
        let program = options.command.first().filter(|_| options.skill.is_none());
        let recipe = program.and_then(|program| recipe::find(program, &built.spec, &place));
        let (policy, recipe_note) = match recipe.map(|recipe| recipe::hosts(recipe, &policy)) {
            Some(Ok(hosts)) => (policy.allowing(&hosts).map_err(refused_wish)?, None),
            Some(Err(note)) => (policy, Some(note)),
            None => (policy, None),
        };
        let git = built.git_notes(options.command.first().map(OsString::as_os_str), options.verbose);
        let notes =
            git.chain(options.skill.as_ref().and_then(SkillConfinement::note)).chain(recipe_note).collect();
        let HostSpec { mut spec, cwd, home, own, ledger, unjailed, .. } = built;
        if let Some(recipe) = recipe.filter(|_| kept.is_none()) {
            recipe::show(recipe, &home, &options.variables, &mut spec);
        }
        Ok(Self {
            policy: Arc::new(policy),
            settings,
            options,
            host,
            spec,
            cwd,
            home,
            own,
            ledger,
            unjailed,
            label,
            kept,
            recipe,
            notes,
        })
    }

    /// Returns the routes of the keys of a known agent.
    pub(crate) fn recipe_routes(&self) -> Result<Vec<Route>, RunError> {
        let routes = self.recipe.map(|recipe| recipe::routes(recipe, &self.policy, &self.host));
        Ok(routes.transpose()?.unwrap_or_default())
    }

    /// Returns advice if a known agent has no key.
    pub(crate) fn missing_key(&self) -> Result<Option<String>, RunError> {
        let is_missing = self.policy.routes().is_empty() && self.recipe_routes()?.is_empty();
        Ok(self.recipe.filter(|_| is_missing).and_then(recipe::missing_key))
    }

    /// Returns the settings of the jail.
    #[must_use]
    pub fn settings(&self) -> &JailSettings {
        &self.settings
    }

    /// Returns the jail.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }
}

/// Refuses ports in the host's network: there, a port inside is the host's own.
fn check_ports(settings: &JailSettings) -> Result<(), RunError> {
    let Some(port) = settings.ports.first().filter(|_| settings.network == Network::Open) else {
        return Ok(());
    };
    let message = format!("the port `{port}` leads nowhere: the command has the host's network");
    let own = match port.way {
        Direction::In => "a server inside is reached at its own port: leave the port out",
        Direction::Out => "a server of the host is reached at its own port: leave the port out",
    };
    Err(RunError::coded(Code::JailConflict, message).hint(format!("{own}, or choose `--network none`")))
}
