//! All tools of an agent behind one call: permitted, recorded, done, recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence::Session;
use ringfence::audit::{AuditError, By, Event, Name, Outcome, Text};
use ringfence::guard::Abort;
use ringfence::policy::{self, Policy, ToolName};
use serde_json::Value;

use crate::canonical;
use crate::error::{ErrorKind, ToolError};
use crate::tool::{AnyTool, Call, Extent, Output, Tool};

/// The tools of an agent.
pub struct Toolbox {
    tools: Vec<Held>,
}

/// A tool, and what it declares.
struct Held {
    tool: Box<dyn AnyTool>,
    policies: Vec<Arc<dyn Policy>>,
}

impl Toolbox {
    /// The tools that Ringfence has.
    #[must_use]
    pub fn new() -> Self {
        crate::all().into_iter().fold(Self { tools: Vec::new() }, Self::add_any)
    }

    /// Adds a tool of the caller, in place of one of the same name. The tool set of the sandbox has to contain its name:
    /// `tools.allow` of a policy file, or [`ringfence::policy::ToolSet::allow`].
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a builder of a set, not a sum")]
    pub fn add(self, tool: impl Tool + 'static) -> Self {
        self.add_any(Box::new(tool))
    }

    fn add_any(mut self, tool: Box<dyn AnyTool>) -> Self {
        self.tools.retain(|known| known.tool.name() != tool.name());
        self.tools.push(Held { policies: tool.policies(), tool });
        self
    }

    /// Those that the agent of a session may call.
    pub fn of<'a>(&'a self, session: &'a Session) -> impl Iterator<Item = &'a dyn AnyTool> {
        let tools = self.tools.iter().map(|held| held.tool.as_ref());
        tools.filter(|tool: &&dyn AnyTool| {
            ToolName::parse(tool.name()).is_ok_and(|name| session.tools().contains(&name))
        })
    }

    /// Calls a tool with arguments as a model writes them and returns the text for the model: the result, or the error as JSON.
    #[must_use]
    pub fn respond(&self, session: &Session, name: &str, arguments: &str) -> String {
        match self.call_text(session, name, arguments, &Abort::new()) {
            Ok(output) => output.text,
            Err(error) => error.to_json().to_string(),
        }
    }

    /// Calls a tool with arguments as a model writes them. An object that has a name twice is refused.
    pub fn call_text(
        &self,
        session: &Session,
        name: &str,
        arguments: &str,
        abort: &Abort,
    ) -> Result<Output, ToolError> {
        match canonical::parse(arguments) {
            Ok(arguments) => self.call(session, name, arguments, abort),
            Err(error) => {
                let (_, tool) = self.find(name)?;
                Recorded { session, id: None, tool: tool.tool.as_ref() }.refused(arguments, error)
            }
        }
    }

    /// Calls a tool. The arguments are read once, into the canonical form that is judged, recorded and run. The call is permitted and
    /// recorded before anything happens, and what came of it is recorded before it is returned.
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
        let sent = arguments.to_string();
        let prepared = match tool.prepare(arguments, session.guards().workspace()) {
            Ok(prepared) => prepared,
            Err(error) => return Recorded { session, id: None, tool }.refused(&sent, error),
        };
        let guard = session.guard(&name).during(prepared.arguments.clone());
        let call = Call { session, guard: &guard, abort };
        let parameters = prepared.parameters.to_string();
        let admitted = match prepared.admit(&call) {
            Ok(admitted) => admitted,
            // The decision is recorded, and that is all there is to say.
            Err(error) if error.violation.is_some() || error.kind == ErrorKind::Unrecorded => {
                return Err(error);
            }
            Err(error) => return Recorded { session, id: None, tool }.refused(&parameters, error),
        };
        let id = admitted.id().to_owned();
        let recorded = Recorded { session, id: Some(&id), tool };
        recorded.started(&parameters)?;
        let begin = Instant::now();
        let outcome = admitted.run(&call);
        recorded.finished(outcome.as_ref(), begin.elapsed())?;
        outcome
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

/// The records of one call.
struct Recorded<'a> {
    session: &'a Session,
    /// The request behind it, if it came to one.
    id: Option<&'a str>,
    tool: &'a dyn AnyTool,
}

impl Recorded<'_> {
    /// A call that comes to no decision, such as one that cannot be read, is recorded without a request.
    fn refused(&self, sent: &str, error: ToolError) -> Result<Output, ToolError> {
        self.started(sent)?;
        self.finished(Err(&error), Duration::ZERO)?;
        Err(error)
    }

    fn started(&self, arguments: &str) -> Result<(), ToolError> {
        self.record(&Event::ToolStarted {
            by: self.by(),
            tool: Name(self.tool.name()),
            impact: self.tool.impact(),
            arguments: ringfence::audit::Arguments(arguments),
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
        By { id: self.id, ..self.session.by() }
    }

    fn record(&self, event: &Event<'_>) -> Result<(), ToolError> {
        self.session.record(event).map_err(|error| unrecorded(&error))
    }
}

fn unrecorded(error: &AuditError) -> ToolError {
    let message = format!("the call cannot be recorded: {error}");
    ToolError { code: Some(error.code().id()), ..ToolError::new(ErrorKind::Unrecorded, message) }
}
