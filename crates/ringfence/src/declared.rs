//! Policies that tools declare for themselves. They narrow the calls of their own tool, and of no other.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use audit::{AuditError, Event, Name, Text};
use policy::{Effect, Link, Policy, Reason, Request, Shown, ToolName};

use crate::session::Session;

/// Declarations of the tools of a session.
#[derive(Default)]
pub(crate) struct Declared {
    by_tool: RwLock<BTreeMap<ToolName, Vec<Arc<dyn Policy>>>>,
}

impl Declared {
    /// A link with the strictest answer of what the asking tool declares.
    pub(crate) fn link(
        self: &Arc<Self>,
    ) -> Link<impl Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync + 'static> {
        let declared = Arc::clone(self);
        Link::new("declared by the tool", move |request: &Request<'_>| {
            let by_tool = declared.by_tool.read().unwrap_or_else(PoisonError::into_inner);
            let own = by_tool.get(request.tool).into_iter().flatten();
            let decisions = own.filter_map(|policy| policy.decide(request));
            let strictest = decisions.max_by_key(policy::Decision::effect)?;
            Some((strictest.effect(), strictest.reason().clone()))
        })
    }

    fn is_known(&self, tool: &ToolName, policy: &Arc<dyn Policy>) -> bool {
        let by_tool = self.by_tool.read().unwrap_or_else(PoisonError::into_inner);
        by_tool.get(tool).into_iter().flatten().any(|known| Arc::ptr_eq(known, policy))
    }

    fn add(&self, tool: &ToolName, policy: &Arc<dyn Policy>) {
        let mut by_tool = self.by_tool.write().unwrap_or_else(PoisonError::into_inner);
        by_tool.entry(tool.clone()).or_default().push(Arc::clone(policy));
    }
}

impl Session {
    /// Narrows everything that a tool asks for by policies of its own, for the rest of the session. What they allow counts for nothing;
    /// those that are in force already change nothing. Recorded before it holds.
    pub fn declare(&self, tool: &ToolName, policies: &[Arc<dyn Policy>]) -> Result<(), AuditError> {
        for policy in policies.iter().filter(|policy| !self.declared.is_known(tool, policy)) {
            let change = format!("declared the policy `{}`", Shown::text(policy.name()));
            self.record(&Event::PolicyChanged {
                by: self.by(),
                file: None,
                tool: Some(Name(tool.as_str())),
                change: Text(&change),
                sha256: None,
            })?;
            self.declared.add(tool, policy);
        }
        Ok(())
    }
}
