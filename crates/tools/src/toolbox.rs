//! All tools of an agent behind one call: permitted, recorded, done, capped, recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence::Session;
use ringfence::audit::{AuditError, By, Event, Name, Outcome, Text};
use ringfence::guard::Abort;
use ringfence::policy::{self, Policy, ToolName};
use ringfence::source::{self, Capped, Strategy};
use serde_json::{Value, json};

use crate::error::{ErrorKind, ToolError};
use crate::tool::{Call, Output, Tool};

/// How many characters of data for programs come with each character of text.
const DATA: usize = 4;

/// The tools of an agent.
pub struct Toolbox {
    tools: Vec<Held>,
}

/// A tool, and what it declares.
struct Held {
    tool: Box<dyn Tool>,
    policies: Vec<Arc<dyn Policy>>,
}

impl Toolbox {
    /// The tools that Ringfence has.
    #[must_use]
    pub fn new() -> Self {
        crate::all().into_iter().fold(Self { tools: Vec::new() }, Self::with)
    }

    /// Adds a tool of the caller's own, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, tool: Box<dyn Tool>) -> Self {
        self.tools.retain(|known| known.tool.name() != tool.name());
        self.tools.push(Held { policies: tool.policies(), tool });
        self
    }

    /// Those that the agent of a session may call.
    pub fn of<'a>(&'a self, session: &'a Session) -> impl Iterator<Item = &'a dyn Tool> {
        let tools = self.tools.iter().map(|held| held.tool.as_ref());
        tools.filter(|tool: &&dyn Tool| {
            ToolName::parse(tool.name()).is_ok_and(|name| session.tools().contains(&name))
        })
    }

    /// Calls a tool. The call is permitted and recorded before anything happens, and what came of it is recorded before it is
    /// returned.
    pub fn call(
        &self,
        session: &Session,
        name: &str,
        arguments: Value,
        abort: &Abort,
    ) -> Result<Output, ToolError> {
        let (name, Held { tool, policies }) = self.find(name)?;
        let tool = tool.as_ref();
        session.declare(&name, policies).map_err(|error| unrecorded(&error))?;
        let guard = session.guard(&name);
        let permit = guard.call(&words(&arguments), abort)?;
        let recorded = Recorded { session, id: permit.id(), tool };
        recorded.started(&arguments)?;
        let begin = Instant::now();
        let outcome = tool
            .call(&Call { session, guard: &guard, abort }, arguments)
            .map(|output| cap(name.as_str(), output));
        recorded.finished(outcome.as_ref(), begin.elapsed())?;
        outcome.map(|(output, _)| output)
    }

    fn find(&self, name: &str) -> Result<(ToolName, &Held), ToolError> {
        let unknown = || {
            let known: Vec<_> = self.tools.iter().map(|held| held.tool.name()).collect();
            ToolError::new(
                ErrorKind::UnknownTool,
                format!("there is no tool `{}`", policy::Shown::text(name)),
            )
            .hint(format!("the tools are {}", known.join(", ")))
        };
        let name = ToolName::parse(name).map_err(|_| unknown())?;
        let held = self.tools.iter().find(|held| held.tool.name() == name.as_str()).ok_or_else(unknown)?;
        Ok((name, held))
    }
}

impl Default for Toolbox {
    fn default() -> Self {
        Self::new()
    }
}

/// The arguments as rules see them: texts as they are, everything else as JSON.
fn words(arguments: &Value) -> policy::Arguments {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = arguments.as_object().into_iter().flatten();
    policy::Arguments::new(pairs.map(|(name, value)| (name.clone(), word(value))).collect())
}

/// Caps what a tool returns by its profile. Pictures have a bound of their own.
fn cap(name: &str, output: Output) -> (Output, Capped) {
    let profile = source::profile(name);
    let mut text = source::cap(&output.text, &profile);
    let data = if output.data["kind"] == "image" { output.data } else { cap_data(output.data, profile) };
    let capped = Output { text: std::mem::take(&mut text.text), data };
    (capped, text)
}

fn cap_data(data: Value, profile: source::Profile) -> Value {
    let whole = data.to_string();
    let most =
        source::Profile::new(profile.max_bytes(), profile.max_chars() * DATA, Strategy::Structured, false);
    let capped = source::cap(&whole, &most);
    if capped.dropped.is_none() {
        return data;
    }
    // What could not be cut as JSON is not returned as JSON.
    serde_json::from_str(&capped.text).unwrap_or_else(|_| json!({ "cut": capped.text }))
}

/// The records of one call.
struct Recorded<'a> {
    session: &'a Session,
    id: &'a str,
    tool: &'a dyn Tool,
}

impl Recorded<'_> {
    fn started(&self, arguments: &Value) -> Result<(), ToolError> {
        let arguments = arguments.to_string();
        self.record(&Event::ToolStarted {
            by: self.by(),
            tool: Name(self.tool.name()),
            impact: self.tool.impact(),
            arguments: ringfence::audit::Arguments(&arguments),
        })
    }

    fn finished(&self, came: Result<&(Output, Capped), &ToolError>, took: Duration) -> Result<(), ToolError> {
        let (cut, whole, returned) =
            came.map_or((false, 0, 0), |(_, text)| (text.is_cut(), text.whole.chars, text.returned));
        let outcome = match came {
            Ok(_) => Outcome::Ok,
            Err(error) if error.kind == ErrorKind::Aborted => Outcome::Cancelled,
            Err(_) => Outcome::Error,
        };
        let kind = came.err().map(|error| error.kind.word());
        self.record(&Event::ToolFinished {
            by: self.by(),
            tool: Name(self.tool.name()),
            outcome,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            error: came.err().map(|error| Text(&error.message)),
            error_kind: kind.as_deref().map(Name),
            summary: None,
            cut,
            whole_chars: whole as u64,
            returned_chars: returned as u64,
        })
    }

    fn by(&self) -> By<'_> {
        By { id: Some(self.id), ..self.session.by() }
    }

    fn record(&self, event: &Event<'_>) -> Result<(), ToolError> {
        self.session.parts().sink.record(event).map_err(|error| unrecorded(&error))
    }
}

fn unrecorded(error: &AuditError) -> ToolError {
    let message = format!("the call cannot be recorded: {error}");
    ToolError { code: Some(error.code().id()), ..ToolError::new(ErrorKind::Unrecorded, message) }
}
