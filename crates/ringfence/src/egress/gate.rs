//! Decides about hosts for the broker: the policy first, then a person.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use broker::{Gate, Program, Question};
use config::{Scope, Settings};
use guard::{Abort, Guard, Refusal};
use policy::{
    Code, Decision, Effect, Endpoint, HostIndex, HostSet, Reason, Request, Rule, Subject, ToolName, Want,
    sets_containing,
};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(110);

/// A question about a host that no rule names.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostQuestion<'a> {
    /// Host and port.
    pub endpoint: &'a Endpoint,
    /// Named set that has the host, if one does.
    pub set: Option<&'static HostSet>,
    /// Program that connects, if it is known.
    pub program: Option<&'a Program>,
    /// Reason why a person has to decide.
    pub reason: &'a Reason,
}

impl<'a> HostQuestion<'a> {
    /// Makes the question about a host. Its set is looked up.
    #[must_use]
    pub fn new(endpoint: &'a Endpoint, program: Option<&'a Program>, reason: &'a Reason) -> Self {
        let set = sets_containing(endpoint).into_iter().find(|set| has_whole_host(set, endpoint));
        Self { endpoint, set, program, reason }
    }
}

/// Answer about a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAnswer {
    /// This one connection.
    Once,
    /// The host, or the set, until the command ends. An answer for ever is this and a change of the policy file.
    Run,
    /// No.
    Deny,
    /// No answer came in time.
    Expired,
}

/// Asks a person about hosts while a command runs.
pub trait HostApprover: Send + Sync {
    /// Puts the question. `ask` shows a text at the terminal and returns the line that was typed.
    fn approve(&self, question: &HostQuestion<'_>, ask: &dyn Fn(&str) -> Option<String>) -> HostAnswer;
}

/// A person at the terminal of a running command.
pub(super) struct Person {
    pub(super) approver: Arc<dyn HostApprover>,
    pub(super) questions: jail::Questions,
}

/// The policy of a run, and the answers that were given in it.
pub(super) struct HostGate {
    policy: Arc<Settings>,
    tool: ToolName,
    person: Option<Person>,
    answers: Mutex<Answers>,
}

/// Answers of this run.
#[derive(Default)]
struct Answers {
    granted: HostIndex,
    /// Hosts and ports that a person granted by themselves, not as a part of a set.
    named: HashSet<Endpoint>,
    denied: HashSet<Endpoint>,
    /// Hosts and ports that a person said yes to, once or for the run: any protocol may pass there.
    ports: HashSet<Endpoint>,
}

impl HostGate {
    pub(super) fn new(policy: Arc<Settings>, person: Option<Person>) -> Self {
        Self { policy, tool: ToolName::exec(), person, answers: Mutex::default() }
    }

    /// Returns the answer that was given about an endpoint.
    fn answer(&self, endpoint: &Endpoint) -> Option<Decision> {
        let answers = self.answers();
        if answers.denied.contains(endpoint) {
            let reason = Reason::new(Code::AnsweredNo, "a person said no for this run");
            return Some(Decision::Deny(reason.remedy(remedy(endpoint))));
        }
        let mut granted = answers.named.contains(endpoint);
        answers.granted.matches(endpoint, |_| granted = true);
        let reason = || Reason::new(Code::SessionAnswer, "allowed by a person for this run");
        granted.then(|| Decision::Allow(reason()))
    }

    /// Keeps a yes for the rest of the run: for the set of the host, or for exactly this host and port.
    fn grant(&self, endpoint: &Endpoint, set: Option<&HostSet>) {
        let mut answers = self.answers();
        let Some(set) = set else {
            answers.named.insert(endpoint.clone());
            answers.ports.insert(endpoint.clone());
            return;
        };
        // A host that the set permits some requests to is not opened for all of them.
        for host in set.hosts.iter().filter(|host| host.requests.is_everything()) {
            answers.granted.add(0, &host.pattern, Effect::Allow);
        }
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if a set has a host with every request to it.
fn has_whole_host(set: &HostSet, endpoint: &Endpoint) -> bool {
    set.hosts.iter().any(|host| host.requests.is_everything() && host.pattern.matches(endpoint))
}

impl Gate for HostGate {
    fn decide(&self, endpoint: &Endpoint) -> Decision {
        match self.policy.decide(&Request { tool: &self.tool, want: Want::Connect(endpoint) }) {
            Decision::Ask(reason) => self.answer(endpoint).unwrap_or(Decision::Ask(reason)),
            decided => decided,
        }
    }

    fn names_port(&self, endpoint: &Endpoint) -> bool {
        self.answers().ports.contains(endpoint) || names_port(&self.policy, &self.tool, endpoint)
    }

    fn ask(&self, question: &Question<'_>) -> Result<(), Reason> {
        let Question { endpoint, program, reason } = *question;
        let remedy = || remedy(endpoint);
        let Some(person) = &self.person else {
            let text = format!("{}, and there is no terminal to ask at", reason.text);
            return Err(Reason::new(reason.code, text).by(reason.rule.clone()).remedy(remedy()));
        };
        let asked = HostQuestion::new(endpoint, program, reason);
        let refused = |code, text: &str| Err(Reason::new(code, text).remedy(remedy()));
        match person.approver.approve(&asked, &|text| person.questions.ask(text, PATIENCE)) {
            HostAnswer::Once => {
                self.answers().ports.insert(endpoint.clone());
                Ok(())
            }
            HostAnswer::Run => {
                self.grant(endpoint, asked.set);
                Ok(())
            }
            HostAnswer::Deny => {
                self.answers().denied.insert(endpoint.clone());
                refused(Code::AnsweredNo, "a person said no")
            }
            HostAnswer::Expired => refused(Code::AskUnanswered, "the question expired without an answer"),
        }
    }
}

/// Returns true if a rule for a tool names the port of an endpoint.
fn names_port(policy: &Settings, tool: &ToolName, endpoint: &Endpoint) -> bool {
    let rules = policy.rules.rules().iter();
    let for_tool = |rule: &&Rule| rule.tool.as_ref().is_none_or(|named| named.matches(tool.as_str()));
    // A project can narrow a host to a port; that must not open the port for other protocols.
    let projects = policy.sources.iter().filter(|source| source.scope == Scope::Project);
    let projects: Vec<_> = projects.map(|source| source.path.clone()).collect();
    let of_project = |rule: &Rule| rule.reason.rule.as_ref().is_some_and(|own| projects.contains(&own.file));
    let mut allowed = rules.filter(|rule| rule.effect == Effect::Allow && !of_project(rule)).filter(for_tool);
    allowed.any(|rule| matches!(&rule.subject, Subject::Host(pattern) if pattern.names_port(endpoint)))
}

/// The guard of a tool: its chain, the answers of its session, and the session's approver.
pub(super) struct SessionGate {
    policy: Arc<Settings>,
    guard: Guard,
    /// Withdraws the questions of a command that has ended.
    abort: Abort,
    /// Hosts and ports that a person said yes to while this command ran.
    ports: Mutex<HashSet<Endpoint>>,
}

impl SessionGate {
    pub(super) fn new(policy: Arc<Settings>, guard: Guard, abort: Abort) -> Self {
        Self { policy, guard, abort, ports: Mutex::default() }
    }

    fn ports(&self) -> MutexGuard<'_, HashSet<Endpoint>> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate for SessionGate {
    fn decide(&self, endpoint: &Endpoint) -> Decision {
        self.guard.decide_connection(endpoint)
    }

    fn names_port(&self, endpoint: &Endpoint) -> bool {
        let answered = || {
            let decided = self.guard.decide_connection(endpoint);
            matches!(decided, Decision::Allow(reason) if reason.code == Code::SessionAnswer)
        };
        self.ports().contains(endpoint) || names_port(&self.policy, self.guard.tool(), endpoint) || answered()
    }

    fn ask(&self, question: &Question<'_>) -> Result<(), Reason> {
        let endpoint = question.endpoint;
        match self.guard.connect(endpoint, &self.abort) {
            Ok(_) => {
                self.ports().insert(endpoint.clone());
                Ok(())
            }
            Err(Refusal::Denied(denied)) => {
                let reason = Reason::new(denied.code, denied.reason).by(denied.rule);
                Err(reason.remedy(remedy(endpoint)))
            }
            Err(error) => Err(Reason::new(Code::LedgerUnwritable, error.to_string())),
        }
    }
}

/// Returns the one line that would allow a host: by the name of its set where it has one.
pub(super) fn remedy(endpoint: &Endpoint) -> String {
    let entry = entry(endpoint);
    format!("ringfence run --allow {entry} …, or network.allow = [\"{entry}\"]")
}

/// Returns the entry of `network.allow` for a host.
#[must_use]
pub fn entry(endpoint: &Endpoint) -> String {
    match sets_containing(endpoint).into_iter().find(|set| has_whole_host(set, endpoint)) {
        Some(set) => format!("@{}", set.name),
        None => endpoint.to_string(),
    }
}
