//! A decision and its reason.

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use crate::path_index::Reach;
use crate::{Code, Shown};

/// Effect of a rule that matches. Ordered by strictness: the largest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The request may go on, inside its jail.
    Allow,
    /// A person decides. Without an approver: deny.
    Ask,
    /// The request does not happen.
    Deny,
}

impl Effect {
    /// The word used in policy files and output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Returns the reach of a path pattern with this effect.
    #[must_use]
    pub const fn reach(self) -> Reach {
        match self {
            Self::Allow => Reach::Narrow,
            Self::Ask | Self::Deny => Reach::Wide,
        }
    }
}

/// The answer to a request. There is no `Default`: silence is not consent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// It may happen.
    Allow(Reason),
    /// A person decides.
    Ask(Reason),
    /// It does not happen.
    Deny(Reason),
}

impl Decision {
    /// Makes the decision that an effect stands for.
    pub fn new(effect: Effect, reason: Reason) -> Self {
        match effect {
            Effect::Allow => Self::Allow(reason),
            Effect::Ask => Self::Ask(reason),
            Effect::Deny => Self::Deny(reason),
        }
    }

    /// Allow, ask or deny, without the reason.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            Self::Allow(_) => Effect::Allow,
            Self::Ask(_) => Effect::Ask,
            Self::Deny(_) => Effect::Deny,
        }
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        match self {
            Self::Allow(reason) | Self::Ask(reason) | Self::Deny(reason) => reason,
        }
    }

    /// The stricter of two decisions; the first of two equally strict ones.
    pub fn stricter(self, other: Self) -> Self {
        if other.effect() > self.effect() { other } else { self }
    }
}

/// Why a decision was taken: code, sentence, the line it stands on, and what would allow it.
///
/// Cheap to clone: a rule makes its reason once, when the policy is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The cause, with a manual page behind it.
    pub code: Code,
    /// One sentence for a person.
    pub text: Arc<str>,
    /// The rule that decided, if a rule did.
    pub rule: Option<RuleRef>,
    /// A change that would allow the request; `None` when nothing can or nothing needs to.
    pub remedy: Option<Arc<str>>,
    /// The question that the deciding permission is an exception to.
    pub exception_to: Option<Box<RuleRef>>,
}

impl Reason {
    /// A reason that no rule stands behind.
    pub fn new(code: Code, text: impl Into<Arc<str>>) -> Self {
        Self { code, text: text.into(), rule: None, remedy: None, exception_to: None }
    }

    /// Names the rule that decided.
    #[must_use]
    pub fn by(mut self, rule: Option<RuleRef>) -> Self {
        self.rule = rule;
        self
    }

    /// Says which question the permission is an exception to.
    #[must_use]
    pub(crate) fn except(mut self, ask: Option<RuleRef>) -> Self {
        self.exception_to = ask.map(Box::new);
        self
    }

    /// Says what would allow the request.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Arc<str>>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// File and line of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRef {
    /// The policy file.
    pub file: Arc<Path>,
    /// The line, counted from one.
    pub line: NonZeroU32,
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Shown::path(&self.file), self.line)
    }
}
