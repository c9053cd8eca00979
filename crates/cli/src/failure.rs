//! A failure as a person sees it: message, causes, hints.

use std::error::Error;
use std::fmt;
use std::io;

use policy::{Code, Shown};
use serde_json::{Value, json};

use ringfence::run::{RunError, RunErrorKind};

use crate::check::draw;
use crate::exit::Exit;
use crate::report;
use crate::surroundings::columns;
use crate::terminal::{Format, Terminal, plain_json};

/// Reason why a command could not do its work, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// Exit of the process.
    pub exit: Exit,
    /// Text before the message, drawn already; empty for most failures.
    pub drawing: String,
    /// The cause, where it has a manual page.
    pub code: Option<Code>,
    /// The failure in one sentence.
    pub message: String,
    /// Causes, outermost first.
    pub causes: Vec<String>,
    /// Remedies.
    pub hints: Vec<String>,
    /// True if the reader closed the pipe: then nothing is printed.
    pub unread: bool,
}

impl Failure {
    /// A failure with nothing but a message.
    pub fn new(message: impl Into<String>) -> Self {
        let (drawing, causes, hints) = (String::new(), Vec::new(), Vec::new());
        Self {
            exit: Exit::Failed,
            drawing,
            code: None,
            message: message.into(),
            causes,
            hints,
            unread: false,
        }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    /// A failure whose cause has a manual page.
    pub fn coded(code: Code, message: impl Into<String>) -> Self {
        Self { code: Some(code), ..Self::new(message) }
    }

    /// Ends the process in another way.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Adds an error and everything behind it.
    #[must_use]
    pub fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Adds what would help.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl Failure {
    /// Tells it on standard error, in the format that was asked for.
    pub fn tell(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        match terminal.format {
            Format::Json if !self.unread => {
                writeln!(terminal.err, "{}", plain_json(&self.json().to_string()))
            }
            _ => write!(terminal.err, "{self}"),
        }
    }

    fn json(&self) -> Value {
        json!({
            "version": 1,
            "event": "error",
            "code": self.code.map(|code| code.to_string()),
            "message": self.message,
            "details": (!self.drawing.is_empty()).then_some(self.drawing.trim_end()),
            "causes": self.causes,
            "hints": self.hints,
            "exit": self.exit.code(),
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unread {
            return Ok(());
        }
        f.write_str(&self.drawing)?;
        let code = self.code.map(|code| format!("[{code}]")).unwrap_or_default();
        writeln!(f, "error{code}: {}", Shown::text(&self.message))?;
        self.causes.iter().try_for_each(|cause| writeln!(f, "  because: {}", Shown::text(cause)))?;
        self.hints.iter().try_for_each(|hint| writeln!(f, "hint: {}", Shown::text(hint)))?;
        self.code.map_or(Ok(()), |code| writeln!(f, "hint: `ringfence explain {code}` says more"))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let unread = Terminal::is_unread(&error);
        let exit = if unread { Exit::Ok } else { Exit::Failed };
        Self { exit, unread, ..Self::new("cannot write the output").because(&error) }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let RunError { kind, code, message, causes, hints, .. } = error;
        let exit = match &kind {
            RunErrorKind::Policy(problems) => return report::failure(problems),
            RunErrorKind::Options { problems, widens } => {
                let exit = if *widens { Exit::Refused } else { Exit::Usage };
                return Self { exit, message, ..report::failure(problems) };
            }
            RunErrorKind::Denied(line) | RunErrorKind::NeedsApproval(line) => {
                let drawing = line.place.map(|place| draw(&line.text, place, columns(io::stdout())));
                let drawing = drawing.unwrap_or_default();
                let denied = matches!(kind, RunErrorKind::Denied(_));
                let exit = if denied { Exit::Refused } else { Exit::Ask };
                return Self { exit, drawing, code, causes, hints, ..Self::new(message) };
            }
            RunErrorKind::Usage => Exit::Usage,
            RunErrorKind::Refused => Exit::Refused,
            RunErrorKind::NoJail => Exit::NoJail,
            RunErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failed,
        };
        Self { exit, code, causes, hints, ..Self::new(message) }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use config::{Files, Places};
    use ringfence::run::{Consent, Host, Options, Prepared};

    use super::*;

    #[test]
    fn a_refusal_shows_the_token_that_it_rests_on() {
        let place = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(place.path()).unwrap();
        let at = |name: &str| top.join(name);
        std::fs::create_dir_all(at("ws")).unwrap();
        let places =
            Places { workspace: at("ws"), home: Some(at("home")), state: Some(at("state")), run: None };
        let files = Files { managed: None, user: None, project: None };
        let environment = Vec::new();
        let host = Host { cwd: at("ws"), places, files, runtime: None, agent: None, environment };
        let command = ["sh", "-c", "rm -rf /"].map(OsString::from).to_vec();
        let prepared = Prepared::new(host.load().unwrap(), Options::new(command), host).unwrap();
        let Err(error) = prepared.authorize(Consent::Nobody) else { panic!("it is allowed") };
        let refused = Failure::from(error);
        assert_eq!(refused.exit, Exit::Refused);
        insta::assert_snapshot!(refused, @r"
            sh -c rm -rf /
                         ^
        error[RF-S018]: the policy denies: sh -c rm -rf /
          because: `rm` would delete `/`, which is a directory that the system needs or all that is in it
        hint: to allow it: name what is meant inside the workspace, such as `rm -r build`
        hint: `ringfence explain RF-S018` says more
        ");
        assert!(at("state").exists(), "the decision is recorded");
    }
}
