//! Whether a typed command may start at all. Where it runs is another question.

use std::ffi::{OsStr, OsString};

use config::Settings;
use policy::{
    Argv, Certainty, Code, Decision, Effect, Invocation, Kind, Link, Program, Reason, Request, Shown,
    ToolName, Want, Word,
};

use crate::exit::Exit;
use crate::failure::Failure;

/// The command as the policy judges it.
///
/// Words are taken as they are, never joined into a line that would have to be read again. What stands behind `env` is
/// judged besides: it is what really runs.
pub(crate) fn invocation(command: &[OsString]) -> Invocation {
    let words: Vec<Word> = command.iter().map(|word| self::word(word)).collect();
    let behind_env = words.first().filter(|word| word.text.rsplit('/').next() == Some("env")).map(|_| {
        words.iter().skip(1).skip_while(|word| word.text.contains('=') || word.text.starts_with('-')).cloned()
    });
    let behind = behind_env.and_then(|words| Argv::new(words.collect()));
    let programs = Argv::new(words).into_iter().chain(behind).map(|argv| Program::alone(argv, None));
    Invocation { programs: programs.collect(), findings: Vec::new() }
}

/// A word that is not UTF-8 is not known as text.
fn word(word: &OsStr) -> Word {
    let certainty = if word.to_str().is_some() { Certainty::Literal } else { Certainty::Unknown };
    Word { certainty, ..Word::literal(word.to_string_lossy()) }
}

/// Adds the last link for `run`: a person who types a command has allowed it. Rules come first, so one that denies or
/// asks still stops it.
pub(crate) fn with_typed(settings: Settings) -> Settings {
    let typed = |request: &Request<'_>| {
        let reason = || Reason::new(Code::Typed, "a person typed this command, and no rule is against it");
        (request.want.kind() == Kind::Exec).then(|| (Effect::Allow, reason()))
    };
    Settings { chain: settings.chain.otherwise(Link::new("typed", typed)), ..settings }
}

/// Decides about the command.
pub(crate) fn decide(settings: &Settings, invocation: &Invocation) -> Result<Decision, Failure> {
    let tool =
        ToolName::parse("exec").map_err(|error| Failure::new("the tool has no name").because(&error))?;
    Ok(settings.decide(&Request { tool: &tool, want: Want::Exec(invocation) }))
}

/// Why a command does not start; `None` when it may.
pub(crate) fn refusal(decision: &Decision, line: &str) -> Option<Failure> {
    let (said, reason) = match decision {
        Decision::Allow(_) => return None,
        Decision::Ask(reason) => ("wants a person to be asked about, and nobody can be asked here", reason),
        Decision::Deny(reason) => ("denies", reason),
    };
    let message = format!("the policy {said}: {}", Shown::text(line));
    let mut failure = Failure::coded(reason.code, message).exit(Exit::Refused);
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
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn words_are_taken_as_they_are() {
        let rows: [(&[&str], &[&str]); 5] = [
            (&["git", "push", "--force now"], &["git push --force now"]),
            (&["env", "A=1", "git", "push"], &["env A=1 git push", "git push"]),
            (&["/usr/bin/env", "-i", "make"], &["/usr/bin/env -i make", "make"]),
            (&["env"], &["env"]),
            (&["sh", "-c", "git push"], &["sh -c git push"]),
        ];
        for (command, programs) in rows {
            let command: Vec<_> = command.iter().map(OsString::from).collect();
            let lines: Vec<_> =
                invocation(&command).programs.iter().map(|program| program.argv.line()).collect();
            assert_eq!(lines, programs);
        }
        let odd = invocation(&[OsString::from_vec(b"a\xff".to_vec())]);
        assert!(!odd.programs[0].argv.words()[0].is_literal());
    }
}
