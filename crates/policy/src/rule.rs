//! One pattern with one effect and a reason.

use crate::command::CommandPattern;
use crate::decision::{Effect, Reason};
use crate::host_pattern::HostPattern;
use crate::invocation::{Invocation, Program, Word};
use crate::location::Location;
use crate::path_index::PathPattern;
use crate::pattern::Pattern;
use crate::request::{Arguments, Kind, Request};

/// A rule: every condition it has must hold, and a request it says nothing about is not its business.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its place among all rules of the policy, by which examples and lint find it again.
    pub id: usize,
    /// Effect when it matches.
    pub effect: Effect,
    /// Through which tools the request comes.
    pub tool: Option<Pattern>,
    /// Subject of the rule.
    pub subject: Subject,
    /// Conditions on arguments of the tool call, by name.
    pub arguments: Vec<(String, Pattern)>,
    /// Reason given when it decides.
    pub reason: Reason,
}

/// Subject of a rule. A rule about two things at once could never match.
#[derive(Debug, Clone)]
pub enum Subject {
    /// Any request of the tools it names.
    Any,
    /// Files.
    Path(PathPattern, Kinds),
    /// Commands.
    Command(CommandPattern),
    /// Connections.
    Host(HostPattern),
}

/// Which kinds of file access a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Reading, and loading skills.
    Read,
    /// Writing.
    Write,
    /// Both.
    Both,
}

impl Kinds {
    /// Returns true if a kind of request is meant.
    #[must_use]
    pub fn contains(self, kind: Kind) -> bool {
        match self {
            Self::Read => matches!(kind, Kind::Read | Kind::Load),
            Self::Write => kind == Kind::Write,
            Self::Both => matches!(kind, Kind::Read | Kind::Write | Kind::Load),
        }
    }
}

impl Rule {
    /// Returns true if tool and arguments fit. What the rule is about has been looked up before.
    #[must_use]
    pub fn conditions_hold(&self, request: &Request<'_>) -> bool {
        let tool = self.tool.as_ref().is_none_or(|pattern| pattern.matches(request.tool.as_str()));
        tool && self.arguments_hold(request)
    }

    fn arguments_hold(&self, request: &Request<'_>) -> bool {
        if self.arguments.is_empty() {
            return true;
        }
        let Some(arguments) = request.want.arguments() else { return false };
        self.arguments.iter().all(|(name, pattern)| self.argument_holds(arguments, name, pattern))
    }

    /// Returns true if a permission given by the text of a command line may cover what the line starts: text that was only
    /// searched for or that a wildcard stands for may start more than was meant.
    pub(crate) fn covers_line(&self, invocation: &Invocation) -> bool {
        let mut texts = self.arguments.iter().filter(|(name, _)| name == "command");
        let is_plain = |program: &Program| {
            let known = program.argv.words().iter().all(Word::is_literal);
            known && program.through.is_empty() && program.hazards.is_empty() && program.redirects.is_empty()
        };
        let one = matches!(&*invocation.programs, [program] if is_plain(program));
        self.effect != Effect::Allow || one || texts.all(|(_, pattern)| pattern.literal().is_some())
    }

    /// A permission needs every value of a repeated argument to fit, a restriction any.
    fn argument_holds(&self, arguments: &Arguments, name: &str, pattern: &Pattern) -> bool {
        let mut values = arguments.values(name).peekable();
        match self.effect {
            Effect::Allow => values.peek().is_some() && values.all(|value| pattern.matches(value)),
            Effect::Ask | Effect::Deny => values.any(|value| pattern.matches(value)),
        }
    }

    /// Returns true if the rule is about a file, as its own examples claim.
    #[must_use]
    pub fn matches_location(&self, location: &Location) -> bool {
        let Subject::Path(pattern, _) = &self.subject else { return false };
        location.real_names().any(|name| pattern.matches(name, self.effect.reach()))
    }

    /// Returns true if the rule matches a command line, as its own examples claim.
    #[must_use]
    pub fn matches_invocation(&self, invocation: &Invocation) -> bool {
        let Subject::Command(pattern) = &self.subject else { return false };
        let mut programs = invocation.programs.iter();
        match self.effect {
            Effect::Allow => {
                !invocation.programs.is_empty()
                    && programs.all(|program| pattern.matches(program, self.effect))
            }
            Effect::Ask | Effect::Deny => programs.any(|program| pattern.matches(program, self.effect)),
        }
    }
}
