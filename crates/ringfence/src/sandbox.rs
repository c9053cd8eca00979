//! What all sessions of a sandbox have in common.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use audit::{AuditError, Sink};
use guard::{Approver, Failed};
use jail::{Choice, Mode, Spec};
use policy::{Chain, Cover, Shown, ToolName, ToolSet};

use crate::session::Session;

/// What a sandbox is made of. There is no `Default`: what protects has to be said.
pub struct Parts {
    /// The directory that agents work in.
    pub workspace: PathBuf,
    /// The policy.
    pub chain: Chain,
    /// The jail that commands run in.
    pub spec: Spec,
    /// Other jails for the commands of single tools.
    pub tool_specs: Vec<(ToolName, Spec)>,
    /// Which implementation makes it.
    pub provider: Choice,
    /// The tools that agents may call.
    pub tools: ToolSet,
    /// Whoever answers questions.
    pub approver: Arc<dyn Approver>,
    /// Whether an answer for the session covers the tool that asked, or every tool.
    pub cover: Cover,
    /// The ledger.
    pub sink: Arc<dyn Sink>,
    /// A directory for output that is too long to be returned. No view of the spec may show it.
    pub spill: PathBuf,
}

impl Parts {
    /// The jail that the commands of a tool run in.
    #[must_use]
    pub fn spec_of(&self, tool: &ToolName) -> &Spec {
        let own = self.tool_specs.iter().find(|(known, _)| known == tool);
        own.map_or(&self.spec, |(_, spec)| spec)
    }
}

/// A sandbox that sessions can be opened in.
pub struct Sandbox {
    parts: Arc<Parts>,
    /// What single agents have instead, by their names.
    agents: BTreeMap<String, Arc<Parts>>,
    opened: AtomicU64,
}

/// Why there is no sandbox or no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The workspace cannot be opened.
    #[error("the workspace {}: {}", .0.object, .0.trouble)]
    Workspace(Failed),
    /// What an agent must not reach lies where its commands can see it.
    #[error("the directory for long output, {}, can be seen in the jail", Shown::path(.0))]
    SpillInSight(PathBuf),
    /// The session cannot be recorded.
    #[error("the session cannot be recorded, so it does not begin: {0}")]
    Unrecorded(#[from] AuditError),
}

impl Sandbox {
    /// Puts the parts together. Nothing is created and nothing runs.
    pub fn new(parts: Parts) -> Result<Self, SandboxError> {
        Ok(Self { parts: usable(parts)?, agents: BTreeMap::new(), opened: AtomicU64::new(0) })
    }

    /// Has other parts for one agent: its sessions are made of them and of nothing else.
    pub fn with_agent(mut self, agent: &str, parts: Parts) -> Result<Self, SandboxError> {
        self.agents.insert(agent.to_owned(), usable(parts)?);
        Ok(self)
    }

    /// Begins the session of an agent, with the parts of that agent if it has its own. It ends when it is dropped, and everything that it started with it.
    pub fn session(&self, agent: &str) -> Result<Session, SandboxError> {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let name = format!("s-{:x}-{:x}-{number}", std::process::id(), now.as_micros());
        let parts = self.agents.get(agent).unwrap_or(&self.parts);
        Session::open(Arc::clone(parts), agent.to_owned(), name)
    }
}

/// Long output goes to no place that a command sees, whichever tool starts it.
fn usable(parts: Parts) -> Result<Arc<Parts>, SandboxError> {
    let mut specs = std::iter::once(&parts.spec).chain(parts.tool_specs.iter().map(|(_, spec)| spec));
    if specs.any(|spec| spec.mode_at(&parts.spill).is_some_and(Mode::shows_host)) {
        return Err(SandboxError::SpillInSight(parts.spill));
    }
    Ok(Arc::new(parts))
}

/// Opens a sandbox and a session in it, does something there, and ends both.
pub fn in_sandbox<T>(parts: Parts, agent: &str, act: impl FnOnce(&Session) -> T) -> Result<T, SandboxError> {
    let session = Sandbox::new(parts)?.session(agent)?;
    Ok(act(&session))
}
