//! One way to a sandbox: a policy, a workspace, a state directory, and the approver.
//!
//! The policy is a preset, rules on files, or a policy file. All of them are compiled into one chain with the same floor, and the
//! tool set is part of that chain: the tools that a session lists are the tools that the policy allows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use audit::{AuditError, Durability, Ledger, Options, Sink};
use guard::{Approver, BadPattern, Config, Refuse};
use jail::{Choice, Spec};
use policy::{
    Chain, Code, Cover, Effect, Floor, Link, Policy, Reason, Request, Shown, ToolName, ToolSet, Want,
};

use crate::jailed::PrepareEgress;
use crate::preset;
use crate::sandbox::{Parts, Sandbox};

/// A policy for agents without a policy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// Files inside the workspace only, without the forbidden names: [`Config::default_in`].
    Workspace,
    /// As [`Preset::Workspace`], and the approver decides about files elsewhere: [`Config::daemon_in`].
    Daemon,
    /// Every file that the user has: [`Config::permissive_in`]. Commands still run in a jail.
    Permissive,
}

impl Preset {
    fn rules(self, workspace: &Path) -> Config {
        match self {
            Self::Workspace => Config::default_in(workspace),
            Self::Daemon => Config::daemon_in(workspace),
            Self::Permissive => Config::permissive_in(workspace),
        }
    }
}

/// Builds a [`Sandbox`]. A policy, a workspace and a state directory are required; everything else has a safe default.
///
/// ```
/// use std::sync::Arc;
/// use ringfence::guard::Refuse;
/// use ringfence::policy::ToolSet;
/// use ringfence::{Preset, Sandbox};
///
/// # let directory = std::env::temp_dir().join(format!("ringfence-doc-builder-{}", std::process::id()));
/// # std::fs::create_dir_all(directory.join("project"))?;
/// # let (workspace, state) = (directory.join("project"), directory.join("state"));
/// let sandbox = Sandbox::builder()
///     .preset(Preset::Workspace)
///     .workspace(workspace)
///     .state(state)
///     .environment(std::env::vars_os())
///     .tools(ToolSet::of_profile("coding")?.deny("process")?)
///     .approver(Arc::new(Refuse))
///     .build()?;
/// # drop(sandbox);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct SandboxBuilder {
    policy: Vec<PolicySource>,
    workspace: Option<PathBuf>,
    state: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    tools: Option<ToolSet>,
    approver: Arc<dyn Approver>,
    cover: Cover,
    sink: Option<Arc<dyn Sink>>,
    provider: Option<Choice>,
    links: Vec<Arc<dyn Policy>>,
    jail: Vec<EditSpec>,
    tool_jails: Vec<(ToolName, EditSpec)>,
    #[cfg(feature = "policy-file")]
    managed: Option<PathBuf>,
}

type EditSpec = Box<dyn Fn(Spec) -> Spec + Send>;

/// Source of the policy.
enum PolicySource {
    Preset(Preset),
    Rules(Config),
    #[cfg(feature = "policy-file")]
    File(PathBuf),
}

/// Why a sandbox was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A required part is missing.
    #[error("the sandbox has no {0}: call `SandboxBuilder::{0}`")]
    Missing(&'static str),
    /// The policy was given twice.
    #[error("the sandbox has {0} policies; give one preset, one set of file rules or one policy file")]
    SeveralPolicies(usize),
    /// A directory cannot be used.
    #[error("cannot use the directory {}", Shown::path(.path))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Rules on files were made for another directory than the workspace.
    #[error("the file rules are for {}, and the workspace is {}", Shown::path(.rules), Shown::path(.workspace))]
    OtherWorkspace {
        /// The directory of the rules.
        rules: PathBuf,
        /// The workspace.
        workspace: PathBuf,
    },
    /// A pattern of the file rules cannot be read.
    #[error("cannot read a pattern of the file rules")]
    Pattern(#[from] BadPattern),
    /// The policy file cannot be used.
    #[cfg(feature = "policy-file")]
    #[error("cannot use the policy file: {0}")]
    PolicyFile(#[from] config::Problems),
    /// The jail of the policy file cannot be made on this machine.
    #[cfg(feature = "policy-file")]
    #[error("cannot make the jail of the policy file: {0}")]
    Jail(#[from] crate::run::RunError),
    /// The policy file names a provider that does not exist.
    #[error("the jail provider `{}` is not built yet", Shown::text(.0))]
    Provider(String),
    /// A jail shows the state directory, so that commands could read or change the ledger.
    #[error("the state directory {} can be seen in the jail; choose one outside of the workspace", Shown::path(.0))]
    StateInSight(PathBuf),
    /// A jail has the broker's network, and there is no policy for hosts.
    #[error("a jail has the broker's network, which needs a policy file: call `SandboxBuilder::policy_file`")]
    NoBroker,
    /// A tool or profile is not known.
    #[error("cannot make the tool set")]
    Tools(#[from] policy::ToolError),
    /// The ledger cannot be opened.
    #[error("cannot open the ledger")]
    Ledger(#[from] AuditError),
}

/// A policy that was read: the chain and the jail that go together.
pub(crate) struct CompiledPolicy {
    pub(crate) chain: Chain,
    pub(crate) tools: ToolSet,
    pub(crate) spec: Spec,
    pub(crate) tool_specs: Vec<(ToolName, Spec)>,
    pub(crate) provider: Choice,
    pub(crate) ledger: PathBuf,
    pub(crate) egress: Option<Arc<dyn PrepareEgress>>,
}

/// The directories and variables that a policy is compiled for.
pub(crate) struct Surroundings<'a> {
    /// The workspace, by its real path.
    pub(crate) workspace: &'a Path,
    /// The state directory, by its real path.
    pub(crate) state: &'a Path,
    /// The caller's variables.
    pub(crate) environment: &'a [(OsString, OsString)],
}

impl SandboxBuilder {
    pub(crate) fn new() -> Self {
        Self {
            policy: Vec::new(),
            workspace: None,
            state: None,
            environment: Vec::new(),
            tools: None,
            approver: Arc::new(Refuse),
            cover: Cover::Tool,
            sink: None,
            provider: None,
            links: Vec::new(),
            jail: Vec::new(),
            tool_jails: Vec::new(),
            #[cfg(feature = "policy-file")]
            managed: None,
        }
    }

    /// Uses a preset as the policy.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.policy.push(PolicySource::Preset(preset));
        self
    }

    /// Uses rules on files as the policy, such as those read from JSON. Their directory is the workspace.
    pub fn file_rules(mut self, rules: Config) -> Self {
        self.policy.push(PolicySource::Rules(rules));
        self
    }

    /// Uses a policy file. The project's `ringfence.toml` in the workspace narrows it, and `[agents.NAME]` holds for the sessions
    /// of that agent. The decisions are those of `ringfence check --user-policy FILE`.
    #[cfg(feature = "policy-file")]
    #[cfg_attr(docsrs, doc(cfg(feature = "policy-file")))]
    pub fn policy_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.policy.push(PolicySource::File(path.into()));
        self
    }

    /// Puts another administrator's policy file below [`SandboxBuilder::policy_file`] than [`config::MANAGED_FILE`]. One that does not
    /// exist is left out.
    #[cfg(feature = "policy-file")]
    #[cfg_attr(docsrs, doc(cfg(feature = "policy-file")))]
    pub fn managed_policy_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.managed = Some(path.into());
        self
    }

    /// Sets the directory that agents work in.
    pub fn workspace(mut self, directory: impl Into<PathBuf>) -> Self {
        self.workspace = Some(directory.into());
        self
    }

    /// Sets the directory for the ledger and for long output, outside of the workspace. It is created if it does not exist.
    pub fn state(mut self, directory: impl Into<PathBuf>) -> Self {
        self.state = Some(directory.into());
        self
    }

    /// Sets the caller's variables, such as `std::env::vars_os()`. Commands get those of an allow-list; without this, none.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.environment = variables.into_iter().collect();
        self
    }

    /// Sets the tools that agents may call; the profile `coding` if this is not called. With a policy file an agent has the tools that
    /// both the file and this set contain.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Sets the approver that answers what the policy asks. Without one, every question is answered with no.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Sets the requests that an answer for the session covers: those of the tool that asked, if this is not called.
    pub fn answers_cover(mut self, cover: Cover) -> Self {
        self.cover = cover;
        self
    }

    /// Records to `sink` instead of the ledger file.
    pub fn sink(mut self, sink: Arc<dyn Sink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Adds a link to the chain. The strictest answer of all links wins, and the floor overrules them.
    pub fn policy(mut self, link: impl Policy + 'static) -> Self {
        self.links.push(Arc::new(link));
        self
    }

    /// Chooses the provider of the jails.
    pub fn provider(mut self, provider: Choice) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Changes every jail that commands run in: of all agents and all tools.
    pub fn jail(mut self, change: impl Fn(Spec) -> Spec + Send + 'static) -> Self {
        self.jail.push(Box::new(change));
        self
    }

    /// Gives the commands of one tool a jail of their own, made from the one that its commands would run in.
    pub fn tool_jail(mut self, tool: ToolName, change: impl Fn(Spec) -> Spec + Send + 'static) -> Self {
        self.tool_jails.push((tool, Box::new(change)));
        self
    }

    /// Reads the policy and opens the ledger. No process is started.
    pub fn build(mut self) -> Result<Sandbox, BuildError> {
        let policy = match self.policy.len() {
            0 => return Err(BuildError::Missing("preset")),
            1 => self.policy.remove(0),
            several => return Err(BuildError::SeveralPolicies(several)),
        };
        let workspace = self.workspace.take().ok_or(BuildError::Missing("workspace"))?;
        let workspace = std::fs::canonicalize(&workspace).map_err(unusable(&workspace))?;
        let state = self.state.take().ok_or(BuildError::Missing("state"))?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(state.join(SPILL));
        let state = made.and_then(|()| std::fs::canonicalize(&state)).map_err(unusable(&state))?;
        let environment = std::mem::take(&mut self.environment);
        let around = Surroundings { workspace: &workspace, state: &state, environment: &environment };
        let (compiled, agents) = self.compile(policy, &around)?;
        self.assemble(compiled, agents, &around)
    }

    /// Compiles the policy, and what a policy file says about single agents.
    fn compile(
        &mut self,
        policy: PolicySource,
        around: &Surroundings<'_>,
    ) -> Result<(CompiledPolicy, Vec<(String, CompiledPolicy)>), BuildError> {
        let rules = match policy {
            PolicySource::Preset(preset) => preset.rules(around.workspace),
            PolicySource::Rules(rules) => in_workspace(rules, around.workspace)?,
            #[cfg(feature = "policy-file")]
            PolicySource::File(path) => {
                let managed = self.managed.as_deref().unwrap_or(Path::new(config::MANAGED_FILE));
                return crate::policy_file::compile(&path, managed, around);
            }
        };
        let tools = self.tools.take().map_or_else(|| ToolSet::of_profile("coding"), Ok)?;
        Ok((preset::compile(&rules, tools, around)?, Vec::new()))
    }

    fn assemble(
        self,
        compiled: CompiledPolicy,
        agents: Vec<(String, CompiledPolicy)>,
        around: &Surroundings<'_>,
    ) -> Result<Sandbox, BuildError> {
        let sink = match &self.sink {
            Some(sink) => Arc::clone(sink),
            None => Arc::new(Ledger::open(&compiled.ledger, Options::new(Durability::Process))?.0),
        };
        let own = OwnPaths(vec![around.state.to_owned(), compiled.ledger.clone()]);
        let shared = SharedParts {
            tools: self.tools,
            approver: self.approver,
            cover: self.cover,
            sink,
            provider: self.provider,
            links: self.links,
            workspace: around.workspace.to_owned(),
            spill: around.state.join(SPILL),
            own,
            jail: self.jail,
            tool_jails: self.tool_jails,
        };
        let parts = shared.parts(compiled);
        let agents = agents.into_iter().map(|(name, own)| Ok((name, shared.parts(own).checked()?)));
        let agents = agents.collect::<Result<BTreeMap<_, _>, BuildError>>()?;
        Ok(Sandbox::of(parts.checked()?, agents))
    }
}

/// The directory for long output, in the state directory.
const SPILL: &str = "spill";

/// The parts that do not depend on the agent.
struct SharedParts {
    tools: Option<ToolSet>,
    approver: Arc<dyn Approver>,
    cover: Cover,
    sink: Arc<dyn Sink>,
    provider: Option<Choice>,
    links: Vec<Arc<dyn Policy>>,
    workspace: PathBuf,
    spill: PathBuf,
    own: OwnPaths,
    jail: Vec<EditSpec>,
    tool_jails: Vec<(ToolName, EditSpec)>,
}

/// Directories and files of the sandbox itself. No tool of an agent writes there, at any answer and under any policy.
#[derive(Clone)]
struct OwnPaths(Vec<PathBuf>);

impl Floor for OwnPaths {
    fn name(&self) -> &'static str {
        "state of the sandbox"
    }

    fn forbid(&self, request: &Request<'_>) -> Option<Reason> {
        let Want::Write(location) = request.want else { return None };
        let own = self.0.iter().any(|own| location.is_at_or_below(own));
        own.then(|| {
            Reason::new(
                Code::OwnPolicyFile,
                "the ledger and the state of the sandbox are not written by agents",
            )
        })
    }
}

impl SharedParts {
    /// Applies the caller's changes to every jail.
    fn change_jails(&self, spec: Spec, tool_specs: Vec<(ToolName, Spec)>) -> (Spec, Vec<(ToolName, Spec)>) {
        let change = |spec: Spec| self.jail.iter().fold(spec, |spec, change| change(spec));
        let spec = change(spec);
        let mut tool_specs: Vec<_> = tool_specs.into_iter().map(|(tool, own)| (tool, change(own))).collect();
        for (tool, change) in &self.tool_jails {
            let known = tool_specs.iter().position(|(known, _)| known == tool);
            let before = known.map_or_else(|| spec.clone(), |index| tool_specs.swap_remove(index).1);
            tool_specs.push((tool.clone(), change(before)));
        }
        (spec, tool_specs)
    }

    fn parts(&self, compiled: CompiledPolicy) -> Parts {
        let CompiledPolicy { chain, mut tools, spec, tool_specs, provider, egress, .. } = compiled;
        let (spec, tool_specs) = self.change_jails(spec, tool_specs);
        let mut chain = chain.forbidden_by(self.own.clone());
        if let Some(bound) = &self.tools {
            tools = tools.within(bound.clone());
            chain = chain.narrowed_by(Link::new("tools of the caller", judge_tool(tools.clone())));
        }
        for link in &self.links {
            chain = chain.then(SharedLink(Arc::clone(link)));
        }
        Parts {
            workspace: self.workspace.clone(),
            chain,
            spec,
            tool_specs,
            provider: self.provider.unwrap_or(provider),
            tools,
            approver: Arc::clone(&self.approver),
            cover: self.cover,
            sink: Arc::clone(&self.sink),
            spill: self.spill.clone(),
            egress,
        }
    }
}

/// One link in the chains of several agents.
struct SharedLink(Arc<dyn Policy>);

impl Policy for SharedLink {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn decide(&self, request: &Request<'_>) -> Option<policy::Decision> {
        self.0.decide(request)
    }

    fn effect(&self, request: &Request<'_>) -> Option<Effect> {
        self.0.effect(request)
    }
}

/// Allows calls of the tools in a set, and denies calls and commands of the others.
pub(crate) fn judge_tool(
    tools: ToolSet,
) -> impl Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync + 'static {
    move |request| {
        let is_command = match request.want {
            Want::Exec(_) => true,
            Want::Call(_) => false,
            _ => return None,
        };
        match tools.judge(request.tool) {
            // Other links judge the command itself.
            Ok(()) if is_command => None,
            Ok(()) => {
                let reason = Reason::new(Code::ToolGranted, "the tool is in the agent's tool set");
                Some((Effect::Allow, reason))
            }
            Err(excluded) => {
                Some((Effect::Deny, Reason::new(excluded.code(), "the tool is not in the agent's tool set")))
            }
        }
    }
}

/// Rules for another directory would protect that one, and not the workspace.
fn in_workspace(mut rules: Config, workspace: &Path) -> Result<Config, BuildError> {
    let real = std::fs::canonicalize(&rules.cwd).map_err(unusable(&rules.cwd))?;
    if real != workspace {
        return Err(BuildError::OtherWorkspace { rules: rules.cwd, workspace: workspace.to_owned() });
    }
    rules.cwd = real;
    Ok(rules)
}

fn unusable(path: &Path) -> impl FnOnce(std::io::Error) -> BuildError + use<> {
    let path = path.to_owned();
    move |source| BuildError::Directory { path, source }
}
