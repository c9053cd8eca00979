//! All tools of an agent behind one call: permitted, recorded, done, recorded.

use std::time::{Duration, Instant};

use ringfence::Session;
use ringfence::audit::{By, Event, Name, Outcome, Text};
use ringfence::guard::Abort;
use ringfence::policy::{self, ToolName};
use serde_json::Value;

use crate::error::{ErrorKind, ToolError};
use crate::tool::{Call, Extent, Output, Tool};

/// The tools of an agent.
pub struct Toolbox {
    tools: Vec<Box<dyn Tool>>,
}

impl Toolbox {
    /// The tools that Ringfence has.
    #[must_use]
    pub fn new() -> Self {
        Self { tools: crate::all() }
    }

    /// Those that the agent of a session may call.
    pub fn of<'a>(&'a self, session: &'a Session) -> impl Iterator<Item = &'a dyn Tool> {
        let tools = self.tools.iter().map(AsRef::as_ref);
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
        let (name, tool) = self.find(name)?;
        let guard = session.guard(&name);
        let permit = guard.call(&words(&arguments), abort)?;
        let recorded = Recorded { session, id: permit.id(), tool };
        recorded.started(&arguments)?;
        let begin = Instant::now();
        let outcome = tool.call(&Call { session, guard: &guard, abort }, arguments);
        recorded.finished(outcome.as_ref(), begin.elapsed())?;
        outcome
    }

    fn find(&self, name: &str) -> Result<(ToolName, &dyn Tool), ToolError> {
        let unknown = || {
            let known: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
            ToolError::new(
                ErrorKind::UnknownTool,
                format!("there is no tool `{}`", policy::Shown::text(name)),
            )
            .hint(format!("the tools are {}", known.join(", ")))
        };
        let name = ToolName::parse(name).map_err(|_| unknown())?;
        let tool = self.tools.iter().find(|tool| tool.name() == name.as_str()).ok_or_else(unknown)?;
        Ok((name, tool.as_ref()))
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

    fn finished(&self, came: Result<&Output, &ToolError>, took: Duration) -> Result<(), ToolError> {
        let extent = came.map_or_else(|_| Extent::default(), |output| output.extent);
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
            cut: extent.cut,
            whole_chars: extent.whole_chars(),
            returned_chars: extent.returned_chars,
        })
    }

    fn by(&self) -> By<'_> {
        By { id: Some(self.id), ..self.session.by() }
    }

    fn record(&self, event: &Event<'_>) -> Result<(), ToolError> {
        self.session.parts().sink.record(event).map_err(|error| {
            let message = format!("the call cannot be recorded: {error}");
            ToolError { code: Some(error.code().id()), ..ToolError::new(ErrorKind::Unrecorded, message) }
        })
    }
}
