//! Whether a command may start at all. Where it runs is another question.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};

use config::Settings;
use policy::{Code, Decision, Effect, Finding, Invocation, Reason, Shown, Span};

use crate::check::draw;
use crate::command::{self, Line};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::surroundings::columns;

/// Who stands behind a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent<'a> {
    /// A person who typed it at the terminal that we read ourselves.
    Person,
    /// Whoever started it says so, in words for the ledger.
    Approved(&'a str),
    /// Nobody who could be asked: a script, a pipeline, an agent.
    Nobody,
    /// Nobody, for a skill: typing its command does not answer for what the skill may use.
    Skill,
}

impl<'a> Consent<'a> {
    /// Who stands behind this process.
    pub(crate) fn of(approved: Option<&'a str>, skill: bool) -> Self {
        match approved {
            Some(words) => Self::Approved(words),
            None if skill => Self::Skill,
            None if jail::is_typed(io::stdin()) => Self::Person,
            None => Self::Nobody,
        }
    }
}

/// Decides about a command, with the answer of whoever stands behind it.
pub(crate) fn decide(
    policy: &Settings,
    line: &Line,
    invocation: Invocation,
    consent: Consent<'_>,
) -> io::Result<(Decision, Invocation)> {
    let invocation = without_answered(invocation, policy, consent);
    let reason = match command::decide(policy, line, &invocation) {
        Decision::Ask(reason) => reason,
        decided => return Ok((decided, invocation)),
    };
    let allowed = |code, text: String| Decision::Allow(Reason::new(code, text));
    let decision = match consent {
        Consent::Approved(words) => allowed(
            Code::Approved,
            format!("approved on the command line: {words}; asked because {}", reason.text),
        ),
        Consent::Person if reason.code == Code::CommandDefault => {
            allowed(Code::Typed, "a person typed this command, and no rule is against it".to_owned())
        }
        Consent::Person if agrees(line, &reason)? => allowed(
            Code::AnsweredYes,
            format!("a person at the terminal was asked and said yes; asked because {}", reason.text),
        ),
        Consent::Person => Decision::Deny(Reason {
            code: Code::AnsweredNo,
            text: format!("a person at the terminal was asked and said no; asked because {}", reason.text)
                .into(),
            ..reason
        }),
        Consent::Nobody | Consent::Skill => Decision::Ask(reason),
    };
    Ok((decision, invocation))
}

/// What is left of the findings. Typing a command answers what a finding would only ask. Where nobody can be asked, it is asked all
/// the same, except for this: that it is not certain what a line starts matters only where something must not be started, and
/// what runs in a jail without a rule on commands may start anything.
fn without_answered(mut invocation: Invocation, policy: &Settings, consent: Consent<'_>) -> Invocation {
    let restricts = policy.restricts_commands();
    invocation.findings.retain(|found| {
        policy.findings.effect(found.code) != Some(Effect::Ask)
            || match consent {
                Consent::Person => false,
                Consent::Approved(_) | Consent::Skill => true,
                Consent::Nobody => restricts || is_deed(found) || policy.sets_finding(found.code),
            }
    });
    invocation
}

/// Whether a finding is about what a command does, and not about how much of it is known.
fn is_deed(found: &Finding) -> bool {
    use Code::{ForcedPush, NetworkSender, ProcessEnvironment, RaisedRights};
    matches!(found.code, ForcedPush | NetworkSender | ProcessEnvironment | RaisedRights)
}

/// Asks the person at the terminal. What was typed before the question is no answer to it.
fn agrees(line: &Line, reason: &Reason) -> io::Result<bool> {
    let mut terminal = File::options().read(true).write(true).open("/dev/tty")?;
    rustix::termios::tcflush(&terminal, rustix::termios::QueueSelector::IFlush)?;
    let place = reason.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
    let (shown, why) = (Shown::bytes(line.text()), Shown::text(&reason.text));
    write!(terminal, "{shown}\n  {why}{place}\nrun it? [y/N] ")?;
    let mut answer = String::new();
    BufReader::new(&terminal).read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Why a command does not start; `None` when it may.
pub(crate) fn refusal(decision: &Decision, line: &Line, place: Option<Span>) -> Option<Failure> {
    let (said, reason, exit) = match decision {
        Decision::Allow(_) => return None,
        Decision::Ask(reason) => {
            ("wants a person to be asked about, and nobody can be asked here", reason, Exit::Ask)
        }
        Decision::Deny(reason) => ("denies", reason, Exit::Refused),
    };
    let message = format!("the policy {said}: {}", Shown::bytes(line.text()));
    let mut failure = Failure::coded(reason.code, message).exit(exit);
    let drawn = place.map(|place| draw(line.text(), place, columns(std::io::stdout())));
    failure.drawing = drawn.unwrap_or_default();
    failure.causes.push(match &reason.rule {
        Some(rule) => format!("{} ({rule})", reason.text),
        None => reason.text.to_string(),
    });
    if let Some(remedy) = &reason.remedy {
        failure = failure.hint(format!("to allow it: {remedy}"));
    }
    Some(match decision {
        Decision::Ask(_) => {
            failure.hint("to run it this time: say why with `--approve WORDS`; the ledger keeps them")
        }
        _ => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::path::Path;

    /// A policy, and which of these findings stay: a value of run time, a forced push, a destructive command.
    #[test]
    fn typing_a_command_answers_what_is_asked_and_nothing_that_is_denied() {
        let codes = [Code::Unprovable, Code::ForcedPush, Code::Destructive];
        let rows = [
            ("", Consent::Person, [false, false, true]),
            ("", Consent::Approved("why"), [true, true, true]),
            ("", Consent::Nobody, [false, true, true]),
            ("commands.default = \"ask\"", Consent::Nobody, [true, true, true]),
            ("commands.deny = [\"rm\"]", Consent::Nobody, [true, true, true]),
            ("commands.deny = [\"rm\"]", Consent::Person, [false, false, true]),
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

    #[test]
    fn a_refusal_shows_the_token_that_it_rests_on() {
        let line = Line::words(&["sh", "-c", "rm -rf /"].map(OsString::from));
        let found = Finding::new(Code::Destructive, Span::new(6, 14), "this deletes everything");
        let reason = Reason::new(found.code, &*found.text).remedy("name the directory");
        let refusal = refusal(&Decision::Deny(reason), &line, Some(found.span)).unwrap();
        insta::assert_snapshot!(refusal, @r"
            sh -c rm -rf /
                  ^^^^^^^^
        error[RF-S018]: the policy denies: sh -c rm -rf /
          because: this deletes everything
        hint: to allow it: name the directory
        hint: `ringfence explain RF-S018` says more
        ");
    }
}
