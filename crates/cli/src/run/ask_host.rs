//! The question about a host, at the terminal of a running command.

use std::fs;
use std::io;
use std::path::PathBuf;

use config::Scope;
use config::edit::Edit;
use policy::Shown;
use ringfence::run::{HostAnswer, HostApprover, HostQuestion, host_entry};

use crate::failure::Failure;
use crate::write;

/// Asks at the terminal. An answer for ever is written to the user's policy file.
pub(super) struct TerminalApprover {
    /// Policy file of the user, if there is a place for one.
    pub(super) file: Option<PathBuf>,
}

/// Answer as it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Typed {
    Once,
    Session,
    Always,
    No,
}

impl HostApprover for TerminalApprover {
    fn approve(&self, question: &HostQuestion<'_>, ask: &dyn Fn(&str) -> Option<String>) -> HostAnswer {
        let Some(line) = ask(&self.text(question)) else { return HostAnswer::Expired };
        match parse(&line) {
            Typed::Once => HostAnswer::Once,
            Typed::Session => HostAnswer::Run,
            Typed::No => HostAnswer::Deny,
            Typed::Always => match self.remember(&host_entry(question.endpoint)) {
                Ok(()) => HostAnswer::Run,
                Err(failure) => {
                    let again = format!("{failure}allow it for this run only? [y/N] ");
                    let answer = ask(&again).map(|line| line == "y" || line == "yes");
                    answer.map_or(
                        HostAnswer::Expired,
                        |yes| if yes { HostAnswer::Run } else { HostAnswer::Deny },
                    )
                }
            },
        }
    }
}

impl TerminalApprover {
    fn text(&self, question: &HostQuestion<'_>) -> String {
        let HostQuestion { endpoint, set, program, reason, .. } = question;
        let by = program.map_or_else(String::new, |program| {
            let path = Shown::path(&program.executable).to_string();
            format!("  for the program {}\n", quoted(&path))
        });
        let set_note = set.map_or_else(String::new, |set| {
            let shared = if set.is_shared() { "; data sent there can reach third parties" } else { "" };
            format!("  @{}: {}{shared}\n", set.name, set.because)
        });
        let always = self.file.as_ref().map_or_else(String::new, |file| {
            format!("  always   adds \"{}\" to {}\n", host_entry(endpoint), Shown::path(file))
        });
        let scope = set.map_or_else(|| "this host".to_owned(), |set| format!("all of @{}", set.name));
        format!(
            "ringfence: connect to {endpoint}?\n{by}{set_note}  {}\n  \
             o        this connection\n  s        {scope}, for this run\n{always}  n        no\n\
             allow it? [o/s/always/N] ",
            Shown::text(&reason.text)
        )
    }

    /// Adds an entry to `network.allow` of the user's policy file, and keeps everything else in it.
    fn remember(&self, entry: &str) -> Result<(), Failure> {
        let file = self.file.as_ref().ok_or_else(|| Failure::new("there is no place for a policy file"))?;
        let old = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                let message = format!("{} cannot be read", Shown::path(file));
                return Err(Failure::new(message).because(&error));
            }
        };
        let broken = |problem: config::Problem| crate::report::failure(&problem.into());
        let mut edit = Edit::new(&old).map_err(broken)?;
        edit.extend("network.allow", &[entry.to_owned()]).map_err(broken)?;
        let text = edit.finish(Scope::User, file).map_err(|problems| crate::report::failure(&problems))?;
        write::replace(Scope::User, file, &text)
    }
}

/// Longest path of a program that is shown.
const LONGEST_PATH: usize = 60;

/// A path in quotes, cut: the command chooses the names of its programs.
fn quoted(path: &str) -> String {
    let cut: String = path.chars().take(LONGEST_PATH).collect();
    let more = if cut.len() < path.len() { "…" } else { "" };
    format!("\"{cut}{more}\"")
}

/// Reads an answer. Everything that is not understood is a no.
fn parse(line: &str) -> Typed {
    match line {
        "o" | "once" => Typed::Once,
        "s" | "session" => Typed::Session,
        // A single key must not change a file.
        "always" => Typed::Always,
        _ => Typed::No,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use policy::{Code, Endpoint, Reason};

    use super::*;

    #[test]
    fn answers() {
        let rows = [
            ("o", Typed::Once),
            ("yes", Typed::No),
            ("a", Typed::No),
            ("s", Typed::Session),
            ("always", Typed::Always),
            ("", Typed::No),
            ("n", Typed::No),
            ("O", Typed::No),
            ("allow", Typed::No),
        ];
        for (line, expected) in rows {
            assert_eq!(parse(line), expected, "{line}");
        }
    }

    fn answer(approver: &TerminalApprover, host: &str, lines: &[&str]) -> (HostAnswer, String) {
        let endpoint = Endpoint::parse(host, 443).unwrap();
        let reason = Reason::new(Code::UnknownHost, "no rule names this host");
        let question = HostQuestion::new(&endpoint, None, &reason);
        let (shown, left) = (RefCell::new(String::new()), RefCell::new(lines.iter()));
        let answer = approver.approve(&question, &|text| {
            shown.borrow_mut().push_str(text);
            left.borrow_mut().next().map(|line| (*line).to_owned())
        });
        (answer, shown.into_inner())
    }

    #[test]
    fn a_question_names_program_host_set_and_the_entry_that_always_would_add() {
        let approver = TerminalApprover { file: Some("/home/me/.config/ringfence/policy.toml".into()) };
        let (given, shown) = answer(&approver, "registry.npmjs.org", &["n"]);
        assert_eq!(given, HostAnswer::Deny);
        insta::assert_snapshot!(shown, @"
        ringfence: connect to registry.npmjs.org:443?
          @npm: packages of JavaScript; data sent there can reach third parties
          no rule names this host
          o        this connection
          s        all of @npm, for this run
          always   adds \"@npm\" to /home/me/.config/ringfence/policy.toml
          n        no
        allow it? [o/s/always/N]
        ");
        assert_eq!(answer(&approver, "a.example", &[]).0, HostAnswer::Expired);
    }

    #[test]
    fn always_adds_one_entry_and_keeps_the_rest_of_the_file() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("ringfence/policy.toml");
        let approver = TerminalApprover { file: Some(file.clone()) };
        assert_eq!(answer(&approver, "registry.npmjs.org", &["always"]).0, HostAnswer::Run);
        let first = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("# mine\n{first}")).unwrap();
        assert_eq!(answer(&approver, "a.example:8443", &["always"]).0, HostAnswer::Run);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# mine\n"), "{text}");
        assert!(text.contains("\"@npm\"") && text.contains("\"a.example:8443\""), "{text}");
    }

    #[test]
    fn a_file_that_cannot_be_changed_is_told_and_asked_about() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("policy.toml");
        fs::write(&file, "version = 1\nnonsense\n").unwrap();
        let approver = TerminalApprover { file: Some(file) };
        assert_eq!(answer(&approver, "a.example", &["always", "n"]).0, HostAnswer::Deny);
        assert_eq!(answer(&approver, "a.example", &["always", "y"]).0, HostAnswer::Run);
        assert_eq!(answer(&approver, "a.example", &["always"]).0, HostAnswer::Expired);
    }
}
