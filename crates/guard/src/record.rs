//! Records that a guard writes into the ledger.

use std::time::Duration;

use audit::{Answered, Answerer, Asked, AuditError, By, Event, Name, Scope, Sink, Text};
use policy::{Decision, Request};

use crate::ask::{Answer, Question, Unanswered};

/// The ledger as a guard uses it.
pub(crate) struct Records<'a>(pub(crate) &'a dyn Sink);

impl Records<'_> {
    pub(crate) fn decided(
        &self,
        by: &By<'_>,
        request: &Request<'_>,
        object: &str,
        decision: &Decision,
    ) -> Result<(), AuditError> {
        let reason = decision.reason();
        self.0.record(&Event::RequestDecided {
            by: *by,
            kind: request.want.kind(),
            object: Text(object),
            tool: Some(Name(request.tool.as_str())),
            impact: None,
            decision: decision.effect(),
            code: reason.code,
            reason: Text(&reason.text),
            rule: reason.rule.as_ref(),
            remedy: reason.remedy.as_deref().map(Text),
            profile: None,
            turn: None,
            sources: None,
        })
    }

    pub(crate) fn asked(&self, by: &By<'_>, question: &Question) -> Result<(), AuditError> {
        self.0.record(&Event::ApprovalAsked {
            by: *by,
            state: Asked::Pending,
            kind: question.kind,
            object: Text(&question.object),
            tool: Some(Name(&question.tool)),
            code: question.reason.code,
            reason: Text(&question.reason.text),
            timeout_ms: None,
        })
    }

    pub(crate) fn answered(
        &self,
        by: &By<'_>,
        object: &str,
        answer: Result<Answer, Unanswered>,
        waited: Duration,
    ) -> Result<(), AuditError> {
        let (state, source, scope) = outcome(answer);
        let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.0.record(&Event::ApprovalAnswered {
            by: *by,
            state,
            source,
            scope,
            object: Text(object),
            person: None,
            waited_ms,
        })
    }

    pub(crate) fn changed(&self, by: &By<'_>, tool: &str, change: &str) -> Result<(), AuditError> {
        let (tool, change) = (Some(Name(tool)), Text(change));
        self.0.record(&Event::PolicyChanged { by: *by, file: None, tool, change, sha256: None })
    }
}

fn outcome(answer: Result<Answer, Unanswered>) -> (Answered, Answerer, Scope) {
    match answer {
        Ok(Answer::AllowOnce) => (Answered::Approved, Answerer::Person, Scope::Once),
        Ok(Answer::AllowForSession) => (Answered::Approved, Answerer::Person, Scope::Session),
        Ok(Answer::DenyOnce) => (Answered::Denied, Answerer::Person, Scope::Once),
        Ok(Answer::DenyForSession) => (Answered::Denied, Answerer::Person, Scope::Session),
        Err(Unanswered::Nobody) => (Answered::Expired, Answerer::Nobody, Scope::Once),
        Err(Unanswered::Aborted) => (Answered::Withdrawn, Answerer::Nobody, Scope::Once),
    }
}
