//! A decision as it is shown.

use std::io;

use policy::{Code, Decision, HostError, Reason, Request, RuleRef, Shown, Trace};
use serde_json::{Value, json};

use config::{Scope, Settings};

use crate::exit::Exit;
use crate::terminal::Terminal;

/// A decision with what it is about.
pub(super) struct Verdict {
    pub(super) kind: &'static str,
    /// The object, ready for a terminal.
    pub(super) object: String,
    /// Every name of the object that was judged.
    pub(super) names: Vec<String>,
    pub(super) trace: Trace,
}

impl Verdict {
    pub(super) fn of(settings: &Settings, request: &Request<'_>, object: String, names: Vec<String>) -> Self {
        Self { kind: request.want.kind().word(), object, names, trace: settings.explain(request) }
    }

    pub(super) fn refused(host: &str, error: HostError) -> Self {
        let decision = Decision::Deny(Reason::new(Code::BadHost, error.to_string()));
        let trace = Trace { decision, phase: policy::Phase::FloorDeny, said: vec![] };
        Self { kind: "connect", object: Shown::text(host).to_string(), names: vec![], trace }
    }

    /// The exit code is the decision.
    pub(super) fn exit(&self) -> Exit {
        match self.trace.decision {
            Decision::Allow(_) => Exit::Ok,
            Decision::Ask(_) => Exit::Ask,
            Decision::Deny(_) => Exit::Deny,
        }
    }

    /// The decision, why, and what would allow it.
    pub(super) fn text(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let reason = self.trace.decision.reason();
        let word = terminal.effect(self.trace.decision.effect());
        writeln!(terminal.out, "{word} {} {}", self.kind, self.object)?;
        writeln!(terminal.out, "  {} {}", reason.code, Shown::text(&reason.text))?;
        if let Some(rule) = &reason.rule {
            let ask = reason.exception_to.as_ref().map(|ask| format!(", an exception to {ask}"));
            writeln!(terminal.out, "  by {}{}", origin(rule), ask.unwrap_or_default())?;
        }
        if let (Some(remedy), false) = (&reason.remedy, matches!(self.trace.decision, Decision::Allow(_))) {
            writeln!(terminal.out, "  to allow it: {}", Shown::text(remedy))?;
        }
        Ok(())
    }

    /// Prints the answer of every link of the chain.
    pub(super) fn trace_text(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        writeln!(terminal.out, "decided in phase: {}", self.trace.phase.words())?;
        for said in &self.trace.said {
            let (word, place) = match &said.decision {
                None => ("pass", String::new()),
                Some(decision) => (decision.effect().word(), place(decision.reason())),
            };
            writeln!(terminal.out, "{}", format!("  {:<20} {word:<6} {place}", said.link).trim_end())?;
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        let said =
            self.trace.said.iter().map(
                |said| json!({ "link": said.link, "decision": said.decision.as_ref().map(decision_json) }),
            );
        json!({
            "version": 1,
            "kind": self.kind,
            "object": self.object,
            "names": self.names,
            "decision": self.trace.decision.effect().word(),
            "reason": reason_json(self.trace.decision.reason()),
            "phase": self.trace.phase.words(),
            "trace": said.collect::<Vec<_>>(),
        })
    }
}

/// Returns the file and line of a rule. Those of the built-in policy can be printed.
fn origin(rule: &RuleRef) -> String {
    if rule.file.as_os_str() == Scope::BuiltIn.word() {
        return format!("the built-in policy (`ringfence policy show --builtin`, line {})", rule.line);
    }
    rule.to_string()
}

/// Returns the place of a rule, and the ask that it is an exception to.
fn place(reason: &Reason) -> String {
    let rule = reason.rule.as_ref().map(ToString::to_string).unwrap_or_default();
    match &reason.exception_to {
        Some(ask) => format!("{rule}, an exception to {ask}"),
        None => rule,
    }
}

fn decision_json(decision: &Decision) -> Value {
    json!({ "decision": decision.effect().word(), "reason": reason_json(decision.reason()) })
}

pub(super) fn reason_json(reason: &Reason) -> Value {
    let place = |rule: &RuleRef| json!({ "file": rule.file.to_string_lossy(), "line": rule.line });
    json!({
        "code": reason.code.id(),
        "text": &*reason.text,
        "rule": reason.rule.as_ref().map(place),
        "exception_to": reason.exception_to.as_deref().map(place),
        "remedy": reason.remedy.as_deref(),
    })
}
