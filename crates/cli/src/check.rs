//! `ringfence check`: the decision and why. Nothing is done.

use std::io;
use std::path::PathBuf;

use config::Settings;
use policy::{
    Arguments, Code, Decision, Effect, Endpoint, HostError, Location, Reason, Request, Shown, ToolName,
    Trace, Want,
};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::locate::locate;
use crate::surroundings::Surroundings;
use crate::terminal::{Format, Terminal};

/// What is checked.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CheckCommand {
    /// May this file be read or written?
    Path {
        /// The file; it need not exist
        path: PathBuf,
        /// Ask for writing
        #[arg(long)]
        write: bool,
        /// The tool that asks [default: read, or write with --write]
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
    },
    /// May this host be connected to?
    Host {
        /// Host and port; the port is 443 if not given
        #[arg(value_name = "HOST[:PORT]")]
        host: String,
        /// The tool that asks
        #[arg(long, value_name = "NAME", default_value = "web_fetch")]
        tool: String,
    },
    /// May this tool be called?
    Tool {
        /// The tool
        name: String,
        /// An argument of the call; may be repeated
        #[arg(long = "arg", value_name = "NAME=VALUE")]
        arguments: Vec<String>,
    },
}

/// Decides and prints the decision. The exit code is the decision: 0 allow, 3 ask, 4 deny.
pub(crate) fn run(
    command: &CheckCommand,
    trace: bool,
    around: &Surroundings,
    settings: &Settings,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let verdict = match command {
        CheckCommand::Path { path, write, tool } => {
            let location = locate(path, around)?;
            let tool = tool_name(tool.as_deref().unwrap_or(if *write { "write" } else { "read" }))?;
            let want = if *write { Want::Write(&location) } else { Want::Read(&location) };
            Verdict::of(settings, &Request { tool: &tool, want }, location.to_string(), names(&location))
        }
        CheckCommand::Host { host, tool } => host_verdict(settings, host, &tool_name(tool)?),
        CheckCommand::Tool { name, arguments } => {
            let (tool, arguments) = (tool_name(name)?, parse_arguments(arguments)?);
            Verdict::of(
                settings,
                &Request { tool: &tool, want: Want::Call(&arguments) },
                tool.to_string(),
                vec![],
            )
        }
    };
    verdict.print(trace, terminal)?;
    Ok(match verdict.trace.decision.effect() {
        Effect::Allow => Exit::Ok,
        Effect::Ask => Exit::Ask,
        Effect::Deny => Exit::Deny,
    })
}

/// A text that is not a host is denied: it is what an agent would have asked for.
fn host_verdict(settings: &Settings, host: &str, tool: &ToolName) -> Verdict {
    match Endpoint::parse(host, 443) {
        Ok(endpoint) => {
            let request = Request { tool, want: Want::Connect(&endpoint) };
            Verdict::of(settings, &request, endpoint.to_string(), vec![])
        }
        Err(error) => Verdict::refused(host, error),
    }
}

fn tool_name(text: &str) -> Result<ToolName, Failure> {
    ToolName::parse(text).map_err(|error| Failure::usage(format!("`{text}` is not a tool")).because(&error))
}

fn parse_arguments(pairs: &[String]) -> Result<Arguments, Failure> {
    let pair = |text: &String| {
        let (name, value) =
            text.split_once('=').ok_or_else(|| Failure::usage(format!("`{text}` is not NAME=VALUE")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    pairs.iter().map(pair).collect::<Result<_, Failure>>().map(Arguments::new)
}

fn names(location: &Location) -> Vec<String> {
    location.names().map(|name| Shown::bytes(name).to_string()).collect()
}

/// A decision with what it is about.
struct Verdict {
    kind: &'static str,
    object: String,
    names: Vec<String>,
    trace: Trace,
}

impl Verdict {
    fn of(settings: &Settings, request: &Request<'_>, object: String, names: Vec<String>) -> Self {
        Self { kind: request.want.kind().word(), object, names, trace: settings.explain(request) }
    }

    fn refused(host: &str, error: HostError) -> Self {
        let decision = Decision::Deny(Reason::new(Code::BadHost, error.to_string()));
        let trace = Trace { decision, phase: policy::Phase::FloorDeny, said: vec![] };
        Self { kind: "connect", object: Shown::text(host).to_string(), names: vec![], trace }
    }

    fn print(&self, trace: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
        match terminal.format {
            Format::Json => terminal.json(&self.json()),
            Format::Text => self.text(trace, terminal),
        }
    }

    fn text(&self, trace: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
        let reason = self.trace.decision.reason();
        let word = terminal.effect(self.trace.decision.effect());
        writeln!(terminal.out, "{word} {} {}", self.kind, self.object)?;
        writeln!(terminal.out, "  {} {}", reason.code, Shown::text(&reason.text))?;
        if let Some(rule) = &reason.rule {
            writeln!(terminal.out, "  by {rule}")?;
        }
        if let (Some(remedy), false) = (&reason.remedy, matches!(self.trace.decision, Decision::Allow(_))) {
            writeln!(terminal.out, "  to allow it: {}", Shown::text(remedy))?;
        }
        if trace { self.trace_text(terminal) } else { Ok(()) }
    }

    fn trace_text(&self, terminal: &mut Terminal<'_>) -> io::Result<()> {
        if self.names.len() > 1 {
            writeln!(terminal.out, "names judged: {}", self.names.join("  "))?;
        }
        writeln!(terminal.out, "decided in phase: {}", self.trace.phase.words())?;
        for said in &self.trace.said {
            let (word, place) = match &said.decision {
                None => ("pass", String::new()),
                Some(decision) => (
                    decision.effect().word(),
                    decision.reason().rule.as_ref().map(ToString::to_string).unwrap_or_default(),
                ),
            };
            writeln!(terminal.out, "{}", format!("  {:<18} {word:<6} {place}", said.link).trim_end())?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let said =
            self.trace.said.iter().map(
                |said| json!({ "link": said.link, "decision": said.decision.as_ref().map(decision_json) }),
            );
        json!({
            "version": 1,
            "kind": self.kind,
            "object": self.object,
            "names": self.names,
            "decision": self.trace.decision.effect().word(),
            "reason": reason_json(self.trace.decision.reason()),
            "phase": self.trace.phase.words(),
            "trace": said.collect::<Vec<_>>(),
        })
    }
}

fn decision_json(decision: &Decision) -> Value {
    json!({ "decision": decision.effect().word(), "reason": reason_json(decision.reason()) })
}

fn reason_json(reason: &Reason) -> Value {
    let rule =
        reason.rule.as_ref().map(|rule| json!({ "file": rule.file.to_string_lossy(), "line": rule.line }));
    json!({ "code": reason.code.id(), "text": &*reason.text, "rule": rule, "remedy": reason.remedy.as_deref() })
}
