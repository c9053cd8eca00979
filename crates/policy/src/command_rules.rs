//! Links that deny commands or ask about them, for callers without a policy file.

use crate::Code;
use crate::chain::Policy;
use crate::command::CommandPattern;
use crate::decision::{Decision, Effect, Reason};
use crate::glob::GlobError;
use crate::pattern::PatternError;
use crate::request::{Request, Want};
use crate::rule::{Rule, Subject};
use crate::rules::RuleSet;
use crate::shown::Shown;

/// A link that denies commands or asks about them, made by [`deny_commands`] or [`approve_commands`].
pub struct CommandRules {
    name: &'static str,
    rules: RuleSet,
}

/// Why a link on commands was not made. No pattern is skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRulesError {
    /// A pattern cannot be read.
    #[error("cannot read the command pattern `{}`: {source}", Shown::text(.pattern))]
    Pattern {
        /// The pattern as written.
        pattern: Box<str>,
        /// The fault in it.
        source: PatternError,
    },
    /// The patterns together are too large.
    #[error("the command patterns together are too large: {0}")]
    TooLarge(#[from] GlobError),
}

/// Denies commands that match a pattern, as `commands.deny` of a policy file does.
///
/// ```
/// use ringfence_policy::{Policy as _, approve_commands, deny_commands};
///
/// let deny = deny_commands(["cargo publish *", "re:git (push|fetch) .*"])?;
/// let ask = approve_commands(["npm install *"])?;
/// assert_eq!((deny.name(), ask.name()), ("deny-commands", "approve-commands"));
/// assert!(deny_commands(["re:("]).is_err());
/// # Ok::<(), ringfence_policy::CommandRulesError>(())
/// ```
pub fn deny_commands<T: AsRef<str>>(
    patterns: impl IntoIterator<Item = T>,
) -> Result<CommandRules, CommandRulesError> {
    CommandRules::new("deny-commands", Effect::Deny, patterns)
}

/// Asks about commands that match a pattern, as `commands.approve` of a policy file does.
pub fn approve_commands<T: AsRef<str>>(
    patterns: impl IntoIterator<Item = T>,
) -> Result<CommandRules, CommandRulesError> {
    CommandRules::new("approve-commands", Effect::Ask, patterns)
}

impl CommandRules {
    fn new<T: AsRef<str>>(
        name: &'static str,
        effect: Effect,
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, CommandRulesError> {
        let rule = |(id, text): (usize, T)| {
            let text = text.as_ref();
            let pattern = CommandPattern::parse(text)
                .map_err(|source| CommandRulesError::Pattern { pattern: text.into(), source })?;
            let verb = if effect == Effect::Deny { "denied" } else { "to be approved" };
            let reason = Reason::new(Code::Rule, format!("{verb} by `{text}`"))
                .remedy(format!("remove `{text}` from the patterns of `{name}`"));
            let subject = Subject::Command(pattern);
            Ok(Rule { id, effect, tool: None, subject, arguments: Vec::new(), reason })
        };
        let rules = patterns.into_iter().enumerate().map(rule).collect::<Result<_, CommandRulesError>>()?;
        Ok(Self { name, rules: RuleSet::new(rules)? })
    }
}

impl Policy for CommandRules {
    fn name(&self) -> &str {
        self.name
    }

    fn decide(&self, request: &Request<'_>) -> Option<Decision> {
        matches!(request.want, Want::Exec(_)).then(|| self.rules.decide(request)).flatten()
    }
}
