//! `ringfence check command --jsonl`: many command lines, one answer each.

use std::io::{self, BufRead, BufReader, Read, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::ValueEnum as _;
use config::Settings;
use policy::{Certainty, Decision, Finding, Invocation};
use ringfence::run::Host;
use ringfence::run::command_line::{self, CommandLine};
use serde_json::{Value, json};

use super::command::ShellArg;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::plain_json;

/// The longest line of the stream, in bytes.
const LONGEST: u64 = 16 << 20;

/// Answers every line of a stream, and goes on after those that mean nothing.
pub(super) fn answer(
    shell: ShellArg,
    around: &Host,
    settings: &Settings,
    from: &mut dyn Read,
    to: &mut dyn Write,
) -> Result<Exit, Failure> {
    let mut from = BufReader::with_capacity(1 << 16, from);
    while let Some(line) = next(&mut from)
        .map_err(|error| Failure::new("cannot read the stream of questions").because(&error))?
    {
        let answered = line
            .and_then(|line| Question::parse(&line, shell))
            .map_or_else(Malformed::refused, |question| question.answer(around, settings));
        // A reader of lines may take other characters than a line feed for the end of one.
        let json = serde_json::to_string(&answered).map_err(io::Error::from)?;
        to.write_all(plain_json(&json).as_bytes())?;
        to.write_all(b"\n")?;
        // A client that waits for this answer before the next question gets it.
        if from.buffer().is_empty() {
            to.flush()?;
        }
    }
    Ok(Exit::Ok)
}

/// The next line without its end; `None` after the last. One that is too long is skipped as a whole.
fn next(from: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, Malformed>>> {
    let mut line = Vec::new();
    from.take(LONGEST).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 == LONGEST && !line.ends_with(b"\n") {
        from.skip_until(b'\n')?;
        return Ok(Some(Err(Malformed::new(Value::Null, "the line is too long"))));
    }
    Ok(Some(Ok(line)))
}

/// A line that has no answer.
struct Malformed {
    id: Value,
    error: String,
}

impl Malformed {
    fn new(id: Value, error: impl Into<String>) -> Self {
        Self { id, error: error.into() }
    }

    /// A question that cannot be read cannot be allowed.
    fn refused(self) -> Value {
        json!({ "id": self.id, "verdict": "deny", "error": self.error })
    }
}

/// One line of the stream.
struct Question {
    id: Value,
    line: CommandLine,
    shell: ShellArg,
}

impl Question {
    fn parse(line: &[u8], shell: ShellArg) -> Result<Self, Malformed> {
        let read: Value =
            serde_json::from_slice(line).map_err(|error| Malformed::new(Value::Null, error.to_string()))?;
        let Value::Object(fields) = read else {
            return Err(Malformed::new(Value::Null, "the line is not an object"));
        };
        let id = fields.get("id").cloned().unwrap_or(Value::Null);
        let wrong = |error: &str| Malformed::new(id.clone(), error);
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(wrong(&format!("`{name}` is not a text"))),
        };
        let shell = match text("shell")? {
            None => shell,
            Some(name) => ShellArg::from_str(name, false).map_err(|_| wrong("the shell is not known"))?,
        };
        // If both are there, the text is a lossy form of bytes that are no text.
        let bytes = match (text("command_b64")?, text("command")?) {
            (Some(coded), _) => {
                BASE64_STANDARD.decode(coded).map_err(|_| wrong("`command_b64` is not Base64"))?
            }
            (None, Some(text)) => text.as_bytes().to_vec(),
            (None, None) => return Err(wrong("there is no command")),
        };
        Ok(Self { id, line: CommandLine::Text(bytes), shell })
    }

    fn answer(&self, around: &Host, settings: &Settings) -> Value {
        let home = around.places.home.as_deref();
        let place = command_line::surroundings(self.shell.dialects(), &around.cwd, home, None);
        let invocation = self.line.read(&place);
        let decision = command_line::decide(settings, &self.line, &invocation);
        self.json(&invocation, &decision)
    }

    fn json(&self, invocation: &Invocation, decision: &Decision) -> Value {
        let finding = |found: &Finding| {
            json!({
                "code": found.code.id(),
                "start": found.span.start,
                "end": found.span.end,
                "text": &*found.text,
            })
        };
        let reason = decision.reason();
        json!({
            "id": self.id,
            "verdict": decision.effect().word(),
            "reason": format!("{} {}", reason.code, reason.text),
            "commands": commands(invocation),
            "findings": invocation.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

/// The first word of every program, and of those that it is reached through.
fn commands(invocation: &Invocation) -> Vec<&str> {
    let all = invocation.programs.iter().flat_map(|program| program.through.iter().chain([&program.argv]));
    let first = all.filter_map(|argv| argv.words().first());
    first.filter(|word| word.certainty != Certainty::Unknown).map(|word| word.text.as_str()).collect()
}
