//! The parts that all sessions of a sandbox share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use audit::{AuditError, Sink};
use guard::{Approver, Failed};
use jail::{Choice, Mode, Network, Spec};
use policy::{Chain, Cover, ToolName, ToolSet};

use crate::builder::{BuildError, SandboxBuilder};
use crate::jailed::PrepareEgress;
use crate::session::Session;

/// The parts of a sandbox. [`SandboxBuilder`] puts them together, so that none of them contradicts another.
pub(crate) struct Parts {
    /// The directory that agents work in.
    pub(crate) workspace: PathBuf,
    /// The policy.
    pub(crate) chain: Chain,
    /// The jail that commands run in.
    pub(crate) spec: Spec,
    /// Other jails for the commands of single tools.
    pub(crate) tool_specs: Vec<(ToolName, Spec)>,
    /// The provider of the jails.
    pub(crate) provider: Choice,
    /// The tools that agents may call.
    pub(crate) tools: ToolSet,
    /// The approver that answers questions.
    pub(crate) approver: Arc<dyn Approver>,
    /// The requests that an answer for the session covers.
    pub(crate) cover: Cover,
    /// The ledger.
    pub(crate) sink: Arc<dyn Sink>,
    /// A directory for output that is too long to be returned. No view of a jail may show it.
    pub(crate) spill: PathBuf,
    /// The way out of jails with the broker's network.
    pub(crate) egress: Option<Arc<dyn PrepareEgress>>,
}

impl Parts {
    /// Returns the jail that the commands of a tool run in.
    pub(crate) fn spec_of(&self, tool: &ToolName) -> &Spec {
        let own = self.tool_specs.iter().find(|(known, _)| known == tool);
        own.map_or(&self.spec, |(_, spec)| spec)
    }

    /// Refuses parts whose jails show the directory for long output, or wait for a broker that no part has.
    pub(crate) fn checked(self) -> Result<Arc<Self>, BuildError> {
        let specs = || std::iter::once(&self.spec).chain(self.tool_specs.iter().map(|(_, spec)| spec));
        if specs().any(|spec| spec.mode_at(&self.spill).is_some_and(Mode::shows_host)) {
            return Err(BuildError::StateInSight(self.spill));
        }
        if self.egress.is_none() && specs().any(|spec| spec.network == Network::Broker) {
            return Err(BuildError::NoBroker);
        }
        Ok(Arc::new(self))
    }
}

/// A sandbox that sessions are opened in.
///
/// ```
/// use ringfence::{Preset, Sandbox};
///
/// # let directory = std::env::temp_dir().join(format!("ringfence-doc-sandbox-{}", std::process::id()));
/// # std::fs::create_dir_all(directory.join("project"))?;
/// # let (workspace, state) = (directory.join("project"), directory.join("state"));
/// let sandbox = Sandbox::builder().preset(Preset::Workspace).workspace(workspace).state(state).build()?;
/// let session = sandbox.session("my-agent")?;
/// assert!(session.tools().tools().any(|tool| tool == "exec"));
/// # drop((session, sandbox));
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sandbox {
    parts: Arc<Parts>,
    /// Parts of single agents, by their names.
    agents: BTreeMap<String, Arc<Parts>>,
    opened: AtomicU64,
}

/// Why a session was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The workspace cannot be opened.
    #[error("cannot open the workspace {}: {}", .0.object, .0.trouble)]
    Workspace(#[source] Failed),
    /// The session cannot be recorded.
    #[error("the session cannot be recorded, so it does not begin")]
    Unrecorded(#[from] AuditError),
}

impl Sandbox {
    /// Returns a builder, which needs a policy, a workspace and a state directory.
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder::new()
    }

    pub(crate) fn of(parts: Arc<Parts>, agents: BTreeMap<String, Arc<Parts>>) -> Self {
        Self { parts, agents, opened: AtomicU64::new(0) }
    }

    /// Gives the sessions of one agent a policy, tools and a jail of their own.
    pub fn with_agent(mut self, agent: &str, builder: SandboxBuilder) -> Result<Self, BuildError> {
        self.agents.insert(agent.to_owned(), builder.build()?.parts);
        Ok(self)
    }

    /// Opens a session for an agent. Dropping it ends it, with every process that it started.
    pub fn session(&self, agent: &str) -> Result<Session, SessionError> {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let name = format!("s-{:x}-{:x}-{number}", std::process::id(), now.as_micros());
        let parts = self.agents.get(agent).unwrap_or(&self.parts);
        Session::open(Arc::clone(parts), agent.to_owned(), name)
    }
}
