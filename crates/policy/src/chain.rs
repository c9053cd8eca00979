//! Policies in order.
//!
//! The phases are fixed: the floor denies, the session denies, rules deny, the session allows, rules ask, rules allow,
//! the default of the section decides. Without any answer: deny.

use std::sync::Arc;

use crate::Code;
use crate::answers::Answers;
use crate::decision::{Decision, Effect, Reason};
use crate::request::Request;

/// A link that can only forbid, and that nothing overrules.
pub trait Floor: Send + Sync {
    /// Name in a trace.
    fn name(&self) -> &'static str;
    /// Why the request is forbidden; `None` when it is not.
    fn forbid(&self, request: &Request<'_>) -> Option<Reason>;
}

/// A link that answers or passes. `None` means: not mine, ask the next.
pub trait Policy: Send + Sync {
    /// Name in a trace.
    fn name(&self) -> &str;
    /// Answer to the request; `None` passes.
    fn decide(&self, request: &Request<'_>) -> Option<Decision>;
    /// The same without the reason, for those who ask often.
    fn effect(&self, request: &Request<'_>) -> Option<Effect> {
        self.decide(request).map(|decision| decision.effect())
    }
}

/// Policies in order. Cheap to clone: the links are shared.
#[derive(Clone)]
pub struct Chain {
    floor: Vec<Arc<dyn Floor>>,
    rules: Vec<Arc<dyn Policy>>,
    /// Links that can only make an answer stricter.
    narrowing: Vec<Arc<dyn Policy>>,
    defaults: Vec<Arc<dyn Policy>>,
    /// Links that came while the chain was in use.
    added: Vec<Arc<dyn Policy>>,
}

/// Position of a link among those that came before it. Among equally strict answers the first is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position<'a> {
    /// After all others.
    Last,
    /// Before the one of this name; after all others if there is none.
    Before(&'a str),
}

/// A name that belongs to the chain itself: a link that came later must not pass for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the chain has a link `{0}` of its own")]
pub struct NameTaken(pub Box<str>);

/// The phases of a decision, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Nothing overrules it.
    FloorDeny,
    /// A person said no for this session.
    SessionDeny,
    /// A rule says no.
    RuleDeny,
    /// A person said yes for this session.
    SessionAllow,
    /// A rule says that a person decides.
    RuleAsk,
    /// A rule says yes.
    RuleAllow,
    /// No rule matched; the section has a default.
    Default,
    /// No link answered.
    Nobody,
}

impl Phase {
    /// The words used in a trace.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::FloorDeny => "floor deny",
            Self::SessionDeny => "session deny",
            Self::RuleDeny => "rule deny",
            Self::SessionAllow => "session allow",
            Self::RuleAsk => "rule ask",
            Self::RuleAllow => "rule allow",
            Self::Default => "default",
            Self::Nobody => "nobody answered",
        }
    }
}

/// Answer of one link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The link.
    pub link: Box<str>,
    /// Its answer; `None` when it passed.
    pub decision: Option<Decision>,
    /// True if it is asked only when no rule answers.
    pub is_default: bool,
}

/// The decision with everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The decision.
    pub decision: Decision,
    /// The phase in which it was decided.
    pub phase: Phase,
    /// Answers of all links, in order.
    pub said: Vec<Said>,
}

impl Chain {
    /// A chain begins with what nothing overrules.
    #[must_use]
    pub fn new(floor: Vec<Box<dyn Floor>>) -> Self {
        let (rules, narrowing, defaults, added) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let floor = floor.into_iter().map(Arc::from).collect();
        Self { floor, rules, narrowing, defaults, added }
    }

    /// Adds a link to the floor.
    #[must_use]
    pub fn forbidden_by(mut self, link: impl Floor + 'static) -> Self {
        self.floor.push(Arc::new(link));
        self
    }

    /// Adds a link. Among links the strictest answer wins, so their order decides nothing.
    #[must_use]
    pub fn then(mut self, link: impl Policy + 'static) -> Self {
        self.rules.push(Arc::new(link));
        self
    }

    /// Adds a link of a layer that may only narrow: what it allows counts for nothing, and where it asks, a denial
    /// stays a denial.
    #[must_use]
    pub fn narrowed_by(mut self, link: impl Policy + 'static) -> Self {
        self.narrowing.push(Arc::new(link));
        self
    }

    /// Adds a link that is asked only when no other answered.
    #[must_use]
    pub fn otherwise(mut self, link: impl Policy + 'static) -> Self {
        self.defaults.push(Arc::new(link));
        self
    }

    /// Adds a link while the chain is in use, in place of one that was added under the same name.
    pub fn add(&mut self, link: Arc<dyn Policy>, position: Position<'_>) -> Result<(), NameTaken> {
        self.added.retain(|other| other.name() != link.name());
        if self.names().any(|name| name == link.name()) {
            return Err(NameTaken(link.name().into()));
        }
        let before = |name| self.added.iter().position(|other| other.name() == name);
        let at = match position {
            Position::Last => None,
            Position::Before(name) => before(name),
        };
        self.added.insert(at.unwrap_or(self.added.len()), link);
        Ok(())
    }

    /// Removes a link that was added while the chain was in use. Links that the chain was made with stay: returns false for them,
    /// as for names that no link has.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.added.len();
        self.added.retain(|link| link.name() != name);
        self.added.len() < before
    }

    /// The names of all links, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let links = [&self.rules, &self.narrowing, &self.added, &self.defaults];
        let links = links.into_iter().flatten().map(|link| link.name());
        self.floor.iter().map(|link| link.name()).chain(links)
    }

    /// Decides. Without any answer: deny.
    pub fn decide(&self, request: &Request<'_>, answers: &Answers) -> Decision {
        self.decide_in_phase(request, answers).1
    }

    /// Returns true if the decision would be allow. It gives no reason, so that asking about every entry of a tree is cheap.
    #[must_use]
    pub fn allows(&self, request: &Request<'_>, answers: &Answers) -> bool {
        if self.floor.iter().any(|link| link.forbid(request).is_some()) {
            return false;
        }
        let answer = answers.decide(request).map(|decision| decision.effect());
        let ruled = strictest_effect(&self.rules, request).max(strictest_effect(&self.added, request));
        let narrowed = strictest_effect(&self.narrowing, request);
        if [answer, ruled, narrowed].contains(&Some(Effect::Deny)) {
            return false;
        }
        let unanswered = || ruled.or_else(|| strictest_effect(&self.defaults, request));
        answer == Some(Effect::Allow)
            || (narrowed != Some(Effect::Ask) && unanswered() == Some(Effect::Allow))
    }

    fn decide_in_phase(&self, request: &Request<'_>, answers: &Answers) -> (Phase, Decision) {
        if let Some(reason) = self.floor.iter().find_map(|link| link.forbid(request)) {
            return (Phase::FloorDeny, Decision::Deny(reason));
        }
        let answer = answers.decide(request);
        if let Some(deny @ Decision::Deny(_)) = answer {
            return (Phase::SessionDeny, deny);
        }
        let ruled = strictest(self.rules.iter().chain(&self.added), request);
        let narrowed = strictest(self.narrowing.iter(), request);
        match (ruled, narrowed, answer) {
            (Some(deny @ Decision::Deny(_)), _, _) | (_, Some(deny @ Decision::Deny(_)), _) => {
                (Phase::RuleDeny, deny)
            }
            (_, _, Some(answer)) => (Phase::SessionAllow, answer),
            (ruled, narrowed, None) => narrow(self.unanswered(ruled, request), narrowed),
        }
    }

    /// Decides by rules and defaults, when no person has answered and no rule denies.
    fn unanswered(&self, ruled: Option<Decision>, request: &Request<'_>) -> (Phase, Decision) {
        match ruled {
            Some(allow @ Decision::Allow(_)) => (Phase::RuleAllow, allow),
            Some(ask) => (Phase::RuleAsk, ask),
            None => self.fall_back(request),
        }
    }

    fn fall_back(&self, request: &Request<'_>) -> (Phase, Decision) {
        match strictest(self.defaults.iter(), request) {
            Some(decision) => (Phase::Default, decision),
            None => (Phase::Nobody, Decision::Deny(nobody(request))),
        }
    }

    /// Decides, and says what every link answered, also those that were not needed.
    #[must_use]
    pub fn explain(&self, request: &Request<'_>, answers: &Answers) -> Trace {
        let said = |link: &str, decision, is_default| Said { link: link.into(), decision, is_default };
        let floor =
            self.floor.iter().map(|link| said(link.name(), link.forbid(request).map(Decision::Deny), false));
        let session = std::iter::once(said("session", answers.decide(request), false));
        let rules = self.rules.iter().chain(&self.narrowing).chain(&self.added);
        let rules = rules.map(|link| said(link.name(), link.decide(request), false));
        let defaults = self.defaults.iter().map(|link| said(link.name(), link.decide(request), true));
        let said = floor.chain(session).chain(rules).chain(defaults).collect();
        let (phase, decision) = self.decide_in_phase(request, answers);
        Trace { decision, phase, said }
    }
}

fn strictest<'a>(
    links: impl Iterator<Item = &'a Arc<dyn Policy>>,
    request: &Request<'_>,
) -> Option<Decision> {
    links.filter_map(|link| link.decide(request)).reduce(Decision::stricter)
}

fn strictest_effect(links: &[Arc<dyn Policy>], request: &Request<'_>) -> Option<Effect> {
    links.iter().fold(None, |strictest, link| strictest.max(link.effect(request)))
}

fn narrow(base: (Phase, Decision), narrowed: Option<Decision>) -> (Phase, Decision) {
    match (base, narrowed) {
        ((_, Decision::Allow(_)), Some(ask @ Decision::Ask(_))) => (Phase::RuleAsk, ask),
        (base, _) => base,
    }
}

fn nobody(request: &Request<'_>) -> Reason {
    let kind = request.want.kind().word();
    Reason::new(Code::NobodyAnswered, format!("no rule allows this {kind} request"))
        .remedy("add a rule that allows it to your own policy file")
}

/// A link made of a closure.
pub struct Link<F> {
    name: &'static str,
    decide: F,
}

impl<F: Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync> Link<F> {
    /// Names the link and says what it answers.
    pub fn new(name: &'static str, decide: F) -> Self {
        Self { name, decide }
    }
}

impl<F: Fn(&Request<'_>) -> Option<(Effect, Reason)> + Send + Sync> Policy for Link<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        (self.decide)(request).map(|(effect, reason)| Decision::new(effect, reason))
    }
}
