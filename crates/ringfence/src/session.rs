//! One agent's run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use audit::{AuditError, By, Ended, Event, FilePath, Name};
use guard::{Guard, Guards};
use policy::{ToolName, ToolSet};

use crate::declared::Declared;
use crate::job::{Jobs, SpillError, Spills};
use crate::sandbox::{Parts, SessionError};
#[cfg(feature = "skill")]
use crate::skills::Skills;

/// Name of the profile in the records of a session, which has no policy file.
pub(crate) const PROFILE: &str = "library";

/// One agent's run: its guards, its answers, its commands.
pub struct Session {
    parts: Arc<Parts>,
    guards: Guards,
    agent: String,
    name: String,
    began: Instant,
    jobs: Jobs,
    spills: Mutex<Option<Arc<Spills>>>,
    #[cfg(feature = "skill")]
    pub(crate) skills: Arc<Skills>,
    pub(crate) declared: Arc<Declared>,
}

impl Session {
    pub(crate) fn open(parts: Arc<Parts>, agent: String, name: String) -> Result<Self, SessionError> {
        let declared = Arc::new(Declared::default());
        let chain = parts.chain.clone();
        #[cfg(feature = "skill")]
        let skills = Skills::new(parts.tools.clone());
        #[cfg(feature = "skill")]
        let chain = chain.narrowed_by(skills.link());
        let guards = Guards::new(guard::Parts {
            workspace: parts.workspace.clone(),
            chain: chain.narrowed_by(declared.link()),
            approver: Arc::clone(&parts.approver),
            cover: parts.cover,
            sink: Arc::clone(&parts.sink),
            session: name.clone(),
            agent: agent.clone(),
        })
        .map_err(SessionError::Workspace)?;
        let jobs = Jobs::new(Jobs::MOST);
        let session = Self {
            parts,
            guards,
            agent,
            name,
            began: Instant::now(),
            jobs,
            spills: Mutex::default(),
            #[cfg(feature = "skill")]
            skills,
            declared,
        };
        session.parts.sink.record(&Event::SessionOpened {
            by: session.by(),
            profile: Name(PROFILE),
            workspace: FilePath(session.guards.workspace()),
            person: None,
            tenant: None,
        })?;
        Ok(session)
    }

    /// The guard of a tool, the same one each time.
    #[must_use]
    pub fn guard(&self, tool: &ToolName) -> Guard {
        self.guards.tool(tool)
    }

    /// The guards of all tools.
    #[must_use]
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// The tools that the agent may call now: those of the sandbox, as far as the skills in use want them.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        #[cfg(feature = "skill")]
        return self.skills.tools();
        #[cfg(not(feature = "skill"))]
        self.parts.tools.clone()
    }

    /// The commands of the session, running and ended.
    #[must_use]
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Returns the directory for long output of commands: opened by the first that wants it, and no matter what its path leads to later.
    pub(crate) fn spills(&self) -> Result<Arc<Spills>, SpillError> {
        let mut spills = self.spills.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spills) = &*spills {
            return Ok(Arc::clone(spills));
        }
        let opened = Spills::open(&self.parts.spill, Spills::DEFAULT)?;
        Ok(Arc::clone(spills.insert(opened)))
    }

    /// Returns the name of the session in the ledger.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Records an event in the ledger of the session.
    pub fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        self.parts.sink.record(event)
    }

    /// Returns the parts of the sandbox.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// On whose behalf something happens, for a record.
    #[must_use]
    pub fn by(&self) -> By<'_> {
        By { session: Some(&self.name), agent: Some(&self.agent), id: None }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The last record is that of the session.
        self.jobs.stop();
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (requests, denied) = self.guards.counted();
        let event =
            Event::SessionClosed { by: self.by(), ended: Ended::Finished, duration_ms, requests, denied };
        // Nothing is left to refuse: the session has ended, recorded or not.
        drop(self.parts.sink.record(&event));
    }
}
