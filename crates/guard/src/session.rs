//! State that the guards of one session share.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use audit::Sink;
use policy::{Answers, Chain, Cover, Remembered, Request, RequestKey, ToolName};

use crate::ask::{Approver, Pending};
use crate::guard::Guard;
use crate::refusal::Failed;
use crate::resolve::Workspace;
use crate::shared::SharedFiles;

/// Parts of a session's guards. There is no `Default`: protection has to be stated.
pub struct Parts {
    /// The directory that the agent works in.
    pub workspace: PathBuf,
    /// The policy.
    pub chain: Chain,
    /// Answers questions.
    pub approver: Arc<dyn Approver>,
    /// Tools that an answer for the session covers: the one that asked, or all.
    pub cover: Cover,
    /// The ledger.
    pub sink: Arc<dyn Sink>,
    /// Name of the session in the ledger.
    pub session: String,
    /// Name of the agent in the ledger and in questions.
    pub agent: String,
}

/// The guards of one session, one for each tool.
#[derive(Clone)]
pub struct Guards(Arc<Session>);

/// The policies of a tool after a change, and the answers that hold for the session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The tool.
    pub tool: ToolName,
    /// The names of its policies, in order.
    pub policies: Vec<String>,
    /// The number of answers that hold for the session.
    pub answers: usize,
}

/// Registration of a listener to changes, until it is dropped.
pub struct Subscription {
    session: Arc<Session>,
    id: u64,
}

type Listener = Arc<dyn Fn(&Snapshot) + Send + Sync>;

pub(crate) struct Session {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) name: String,
    pub(crate) agent: String,
    pub(crate) pending: Pending,
    cover: Cover,
    answers: RwLock<Answers>,
    base: Arc<Chain>,
    tools: Mutex<HashMap<ToolName, Arc<Own>>>,
    listeners: Mutex<Vec<(u64, Listener)>>,
    counter: AtomicU64,
    requests: AtomicU64,
    refused: AtomicU64,
}

/// State of one tool.
pub(crate) struct Own {
    pub(crate) tool: ToolName,
    chain: Mutex<Arc<Chain>>,
}

impl Guards {
    /// Opens the workspace. Nothing else happens.
    pub fn new(parts: Parts) -> Result<Self, Failed> {
        let workspace =
            Workspace::open(&parts.workspace).map_err(|trouble| Failed::new(trouble, &parts.workspace))?;
        Ok(Self(Arc::new(Session {
            workspace: Arc::new(workspace),
            approver: parts.approver,
            sink: parts.sink,
            name: parts.session,
            agent: parts.agent,
            pending: Pending::default(),
            cover: parts.cover,
            answers: RwLock::new(Answers::none()),
            base: Arc::new(parts.chain.narrowed_by(SharedFiles)),
            tools: Mutex::default(),
            listeners: Mutex::default(),
            counter: AtomicU64::new(1),
            requests: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })))
    }

    /// The guard of a tool, the same one each time.
    #[must_use]
    pub fn tool(&self, tool: &ToolName) -> Guard {
        let own = {
            let mut tools = lock(&self.0.tools);
            let make = || Arc::new(Own { tool: tool.clone(), chain: Mutex::new(Arc::clone(&self.0.base)) });
            Arc::clone(tools.entry(tool.clone()).or_insert_with(make))
        };
        Guard { session: Arc::clone(&self.0), own, call: None }
    }

    /// Calls `listener` after every change of a tool's policies and after every new answer that holds for the session.
    #[must_use]
    pub fn on_change(&self, listener: impl Fn(&Snapshot) + Send + Sync + 'static) -> Subscription {
        let id = self.0.counter.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.listeners).push((id, Arc::new(listener)));
        Subscription { session: Arc::clone(&self.0), id }
    }

    /// Returns the number of requests that were decided, and the number of them that did not end in a yes.
    #[must_use]
    pub fn counted(&self) -> (u64, u64) {
        (self.0.requests.load(Ordering::Relaxed), self.0.refused.load(Ordering::Relaxed))
    }

    /// The directory that relative paths start from, by its real path.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.0.workspace.path
    }
}

impl Session {
    pub(crate) fn answers(&self) -> RwLockReadGuard<'_, Answers> {
        self.answers.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an answer for the session, and tells listeners about each tool that it concerns. An answer that was kept before
    /// changes nothing.
    pub(crate) fn remember(&self, request: &Request<'_>, answer: Remembered) {
        let is_new = {
            let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
            answers.remember(request, answer, self.cover)
        };
        if !is_new {
            return;
        }
        let mut tools: Vec<_> = lock(&self.tools).values().cloned().collect();
        tools.retain(|own| self.cover == Cover::Session || own.tool == *request.tool);
        tools.sort_by(|one, other| one.tool.cmp(&other.tool));
        for own in &tools {
            self.tell(own);
        }
    }

    /// Questions are the same where one answer would cover both.
    pub(crate) fn covered(&self, key: RequestKey) -> RequestKey {
        match self.cover {
            Cover::Tool => key,
            Cover::Session => key.of_every_tool(),
        }
    }

    pub(crate) fn count<T, E>(&self, outcome: Result<T, E>) -> Result<T, E> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.refused.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
        outcome
    }

    pub(crate) fn next_id(&self) -> String {
        format!("{}-{}", self.name, self.counter.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn tell(&self, own: &Own) {
        let policies = own.lock().names().map(str::to_owned).collect();
        let answers = self.answers().len();
        let snapshot = Snapshot { tool: own.tool.clone(), policies, answers };
        // A listener may add a policy or a listener itself.
        let listeners: Vec<_> =
            lock(&self.listeners).iter().map(|(_, listener)| Arc::clone(listener)).collect();
        for listener in listeners {
            listener(&snapshot);
        }
    }
}

impl Own {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Arc<Chain>> {
        lock(&self.chain)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        lock(&self.session.listeners).retain(|(id, _)| *id != self.id);
    }
}

impl fmt::Debug for Guards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guards").field(&self.0.workspace.path).finish()
    }
}

/// Changes under these locks are made in one step, so a panic elsewhere leaves nothing to repair.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
