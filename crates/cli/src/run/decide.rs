//! Whether a typed command may start at all. Where it runs is another question.

use policy::{Code, Decision, Effect, Findings, Invocation, Reason, Shown};

use crate::check::draw;
use crate::command::{Line, deciding};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::surroundings::columns;

/// What is left of the findings when a person typed the command: typing it answers what a finding would only ask.
///
/// Rules still ask, and what a finding denies stays denied.
pub(crate) fn answered(mut invocation: Invocation, findings: &Findings) -> Invocation {
    invocation.findings.retain(|found| findings.effect(found.code) != Some(Effect::Ask));
    invocation
}

/// A person who types a command has allowed what would only be asked because no rule names it.
pub(crate) fn typed(decision: Decision) -> Decision {
    match decision {
        Decision::Ask(reason) if reason.code == Code::CommandDefault => Decision::Allow(Reason::new(
            Code::Typed,
            "a person typed this command, and no rule is against it",
        )),
        decision => decision,
    }
}

/// Why a command does not start; `None` when it may.
pub(crate) fn refusal(decision: &Decision, line: &Line, invocation: &Invocation) -> Option<Failure> {
    let (said, reason) = match decision {
        Decision::Allow(_) => return None,
        Decision::Ask(reason) => ("wants a person to be asked about, and nobody can be asked here", reason),
        Decision::Deny(reason) => ("denies", reason),
    };
    let message = format!("the policy {said}: {}", Shown::bytes(line.text()));
    let mut failure = Failure::coded(reason.code, message).exit(Exit::Refused);
    failure.drawing = deciding(invocation, decision)
        .map(|found| draw(line.text(), found.span, columns(std::io::stdout())))
        .unwrap_or_default();
    failure.causes.push(match &reason.rule {
        Some(rule) => format!("{} ({rule})", reason.text),
        None => reason.text.to_string(),
    });
    Some(match &reason.remedy {
        Some(remedy) => failure.hint(format!("to allow it: {remedy}")),
        None => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::finding::Mode;
    use policy::{Finding, Span};
    use std::ffi::OsString;

    #[test]
    fn typing_a_command_answers_what_is_asked_and_nothing_that_is_denied() {
        let found = |code| Finding::new(code, Span::new(0, 1), "a sentence");
        let rows = [(Code::Unprovable, false), (Code::Destructive, true), (Code::CommandSubstitution, true)];
        for (code, stays) in rows {
            let invocation = Invocation { programs: Vec::new(), findings: vec![found(code)] };
            let findings = Findings::new(Mode::Standard, None);
            assert_eq!(answered(invocation, &findings).findings.len() == 1, stays, "{code}");
        }
    }

    #[test]
    fn a_refusal_shows_the_token_that_it_rests_on() {
        let line = Line::words(&["sh", "-c", "rm -rf /"].map(OsString::from));
        let found = Finding::new(Code::Destructive, Span::new(6, 14), "this deletes everything");
        let reason = Reason::new(found.code, &*found.text).remedy("name the directory");
        let invocation = Invocation { programs: Vec::new(), findings: vec![found] };
        let refusal = refusal(&Decision::Deny(reason), &line, &invocation).unwrap();
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
