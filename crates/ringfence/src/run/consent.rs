//! The decision about a command, with the consent of the caller. The jail is not part of it.

use std::fmt;
use std::io;

use config::Settings;
use policy::{Code, Decision, Effect, Finding, Invocation, Reason, Shown, Span};

use super::command_line::{self, CommandLine};
use super::error::{MarkedLine, RunError, RunErrorKind};

/// Asks a person whether a command may run; the arguments are its text and the reason to ask.
pub type Ask<'a> = &'a dyn Fn(&[u8], &Reason) -> io::Result<bool>;

/// Consent of the caller to a command that the policy would ask about.
#[derive(Clone, Copy)]
pub enum Consent<'a> {
    /// A person typed the command and can be asked.
    Person(Ask<'a>),
    /// The caller approves it, with words for the ledger.
    Approved(&'a str),
    /// The caller is a script, a pipeline or an agent and cannot be asked.
    Nobody,
}

impl fmt::Debug for Consent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Person(_) => "Person",
            Self::Approved(_) => "Approved",
            Self::Nobody => "Nobody",
        })
    }
}

/// Decides about a command, with the answer of the caller. Typing a command does not answer for the programs of a skill.
pub(crate) fn decide(
    policy: &Settings,
    line: &CommandLine,
    invocation: Invocation,
    consent: Consent<'_>,
    skill: bool,
) -> Result<(Decision, Invocation), RunError> {
    let invocation = if skill { invocation } else { without_answered(invocation, policy, consent) };
    let reason = match command_line::decide(policy, line, &invocation) {
        Decision::Ask(reason) => reason,
        decided => return Ok((decided, invocation)),
    };
    let allowed = |code, text: String| Decision::Allow(Reason::new(code, text));
    let decision = match consent {
        Consent::Approved(words) => allowed(
            Code::Approved,
            format!("approved on the command line: {words}; asked because {}", reason.text),
        ),
        _ if skill => Decision::Ask(reason),
        Consent::Person(_) if reason.code == Code::CommandDefault => {
            allowed(Code::Typed, "a person typed this command, and no rule is against it".to_owned())
        }
        Consent::Person(ask) if agrees(ask, line, &reason)? => allowed(
            Code::AnsweredYes,
            format!("a person at the terminal was asked and said yes; asked because {}", reason.text),
        ),
        Consent::Person(_) => Decision::Deny(Reason {
            code: Code::AnsweredNo,
            text: format!("a person at the terminal was asked and said no; asked because {}", reason.text)
                .into(),
            ..reason
        }),
        Consent::Nobody => Decision::Ask(reason),
    };
    Ok((decision, invocation))
}

/// Removes findings that the caller has answered. Typing a command answers a finding that would only ask. Without a person it is
/// asked all the same, except that uncertainty about the programs of a line matters only under a rule on commands: without one, a
/// jailed command may start any program.
fn without_answered(mut invocation: Invocation, policy: &Settings, consent: Consent<'_>) -> Invocation {
    let restricts = policy.restricts_commands();
    invocation.findings.retain(|found| {
        policy.findings.effect(found.code) != Some(Effect::Ask)
            || match consent {
                Consent::Person(_) => false,
                Consent::Approved(_) => true,
                Consent::Nobody => restricts || is_deed(found) || policy.sets_finding(found.code),
            }
    });
    invocation
}

/// Returns whether a finding is about an action of the command, and not about how much of it is known.
fn is_deed(found: &Finding) -> bool {
    use Code::{ForcedPush, NetworkSender, ProcessEnvironment, RaisedRights};
    matches!(found.code, ForcedPush | NetworkSender | ProcessEnvironment | RaisedRights)
}

fn agrees(ask: Ask<'_>, line: &CommandLine, reason: &Reason) -> Result<bool, RunError> {
    ask(line.text(), reason).map_err(|error| RunError::new("the question cannot be asked").because(&error))
}

/// Returns the error of a command that may not start; `None` for one that may.
pub(crate) fn refusal(decision: &Decision, line: &CommandLine, place: Option<Span>) -> Option<RunError> {
    let marked = || Box::new(MarkedLine { text: line.text().to_owned(), place });
    let (said, reason, kind) = match decision {
        Decision::Allow(_) => return None,
        Decision::Ask(reason) => {
            let said = "asks about this command, and there is no terminal or approver to ask";
            (said, reason, RunErrorKind::NeedsApproval(marked()))
        }
        Decision::Deny(reason) => ("denies", reason, RunErrorKind::Denied(marked())),
    };
    let message = format!("the policy {said}: {}", Shown::bytes(line.text()));
    let mut error = RunError::coded(reason.code, message).kind(kind);
    error.causes.push(match &reason.rule {
        Some(rule) => format!("{} ({rule})", reason.text),
        None => reason.text.to_string(),
    });
    if let Some(remedy) = &reason.remedy {
        error = error.hint(format!("to allow it: {remedy}"));
    }
    Some(match decision {
        Decision::Ask(_) => {
            error.hint("to run it this time: say why with `--approve WORDS`; the ledger keeps them")
        }
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A policy, and which of these findings stay: a value of run time, a forced push, a destructive command.
    #[test]
    fn typing_a_command_answers_what_is_asked_and_nothing_that_is_denied() {
        let ask: Ask<'_> = &|_, _| Ok(true);
        let codes = [Code::Unprovable, Code::ForcedPush, Code::Destructive];
        let rows = [
            ("", Consent::Person(ask), [false, false, true]),
            ("", Consent::Approved("why"), [true, true, true]),
            ("", Consent::Nobody, [false, true, true]),
            ("commands.default = \"ask\"", Consent::Nobody, [true, true, true]),
            ("commands.deny = [\"rm\"]", Consent::Nobody, [true, true, true]),
            ("commands.deny = [\"rm\"]", Consent::Person(ask), [false, false, true]),
            ("commands.findings = { RF-R003 = \"ask\" }", Consent::Nobody, [true, true, true]),
        ];
        for (text, consent, expected) in rows {
            let text = format!("version = 1\n{text}");
            let source = config::Source::new(config::Scope::User, Path::new("policy.toml"), text.clone());
            let places = config::Places { workspace: "/ws".into(), home: None, state: None, run: None };
            let policy = config::from_sources(vec![source], &places).unwrap();
            let stays = codes.map(|code| {
                let found = Finding::new(code, Span::new(0, 1), "a sentence");
                let invocation = Invocation { programs: Vec::new(), findings: vec![found] };
                !without_answered(invocation, &policy, consent).findings.is_empty()
            });
            assert_eq!(stays, expected, "{text} {consent:?}");
        }
    }
}
