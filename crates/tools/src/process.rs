//! `process`: the commands of the session, running and ended.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use ringfence::audit::Impact;
use ringfence::jail::Stream;
use ringfence::job::{Cleaner, Cut, Job, Piece, Status};
use ringfence::policy::Shown;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{ErrorKind, ToolError};
use crate::exec::told;
use crate::tool::{Call, Output, Typed};

/// Looks after the commands of the session.
#[derive(Debug, Clone, Copy)]
pub struct Process;

/// What `process` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessParameters {
    /// What to do.
    pub action: Action,
    /// The command, by the name that `exec` returned. Not for list.
    #[serde(default, alias = "jobId", alias = "sessionId", skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// How many of the last lines to show, for log.
    #[serde(default = "last_lines")]
    #[schemars(range(min = 1))]
    pub lines: usize,
    /// Which stream to show, for log.
    #[serde(default)]
    pub stream: StreamName,
    /// From which byte on to show what was written, for log, instead of the last lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

fn last_lines() -> usize {
    200
}

/// What `process` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Lists the commands of the session.
    List,
    /// Says how a command is doing, with the beginning and end of its output.
    Status,
    /// Shows what a command has written.
    Log,
    /// Ends a command.
    Kill,
}

/// A stream by its usual name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamName {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
}

impl Typed for Process {
    type Parameters = ProcessParameters;
    const NAME: &'static str = "process";
    const DESCRIPTION: &'static str = "Looks after commands that `exec` started in this session: list, status, log (the last lines, or \
        everything from an offset on) and kill.";
    const IMPACT: Impact = Impact::Mutate;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("jobId", "job"), ("sessionId", "job")];

    fn run(&self, call: &Call<'_>, parameters: ProcessParameters) -> Result<Output, ToolError> {
        if parameters.action == Action::List {
            return Ok(list(&call.session.jobs().list()));
        }
        let job = find(call, parameters.job.as_deref())?;
        match parameters.action {
            Action::Log => log(&job, &parameters),
            Action::Kill => {
                job.stop();
                told(&job, &job.wait(Some(SOON), call.abort), true)
            }
            Action::Status | Action::List => told(&job, &job.status(), true),
        }
    }
}

/// What is asked to end is killed a second later.
const SOON: Duration = Duration::from_secs(10);

/// How much is shown at once from an offset on, in bytes.
const PIECE: usize = 50_000;

fn find(call: &Call<'_>, job: Option<&str>) -> Result<Arc<Job>, ToolError> {
    let Some(id) = job else {
        return Err(ToolError::new(ErrorKind::InvalidArguments, "`job` is missing: which command is meant?"));
    };
    call.session.jobs().get(id).ok_or_else(|| {
        ToolError::new(ErrorKind::NotFound, format!("there is no job {} in this session", Shown::text(id)))
            .hint("action list shows those that there are")
    })
}

fn list(jobs: &[Arc<Job>]) -> Output {
    let rows: Vec<Value> = jobs.iter().map(|job| row(job)).collect();
    let mut text = String::new();
    for row in &rows {
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        // Writing to a text does not fail.
        let _written = writeln!(text, "{} {} {}", field("job"), field("status"), field("command"));
    }
    if rows.is_empty() {
        text.push_str("[no commands]");
    }
    Output { text, data: json!({ "jobs": rows }) }
}

fn row(job: &Job) -> Value {
    let (status, code) = match job.status() {
        Status::Running => ("running", None),
        Status::Ended(ended) => ("ended", Some(ended.end.code())),
        Status::Failed(_) => ("failed", None),
    };
    let line: String = job.line().chars().take(200).collect();
    json!({
        "job": job.id(),
        "status": status,
        "exit_code": code,
        "command": Shown::text(&line).to_string(),
        "duration_ms": u64::try_from(job.duration().as_millis()).unwrap_or(u64::MAX),
        "last_lines": job.log(Stream::Output, 5),
    })
}

fn log(job: &Job, parameters: &ProcessParameters) -> Result<Output, ToolError> {
    let stream = match parameters.stream {
        StreamName::Stdout => Stream::Output,
        StreamName::Stderr => Stream::Error,
    };
    let running = job.status().is_running();
    let Some(offset) = parameters.offset else {
        let text = job.log(stream, parameters.lines);
        let data = json!({ "job": job.id(), "running": running, "text": text });
        return Ok(Output { text, data });
    };
    let system = |error: std::io::Error| ToolError::new(ErrorKind::System, error.to_string());
    let Piece { mut bytes, mut next, recorded, total, cut } =
        job.read(stream, offset, PIECE).map_err(system)?;
    if next < recorded {
        let whole = whole_characters(&bytes);
        next -= (bytes.len() - whole) as u64;
        bytes.truncate(whole);
    }
    let (mut text, mut cleaner) = (String::new(), Cleaner::new());
    cleaner.push(&bytes, &mut text);
    cleaner.finish(&mut text);
    let missing = cut.map(|cut| missing(&cut));
    let data = json!({
        "job": job.id(), "running": running, "text": text, "offset": offset, "next_offset": next,
        "recorded_bytes": recorded, "total_bytes": total, "not_recorded_because": missing,
    });
    let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let why = missing.map(|why| format!("; the rest is not recorded: {why}")).unwrap_or_default();
    let text = format!("{text}{line_end}[bytes {offset} to {next} of {recorded}{why}]");
    Ok(Output { text, data })
}

/// How many bytes there are up to a character that is cut at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    let cut = (start..bytes.len()).find(|at| {
        std::str::from_utf8(&bytes[*at..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    cut.filter(|at| *at > 0).unwrap_or(bytes.len())
}

fn missing(cut: &Cut) -> &'static str {
    match cut {
        Cut::Nowhere => "there is no place for long output",
        Cut::Each(_) => "the output of one command is recorded up to 64 MiB per stream",
        Cut::All => "the commands of this session have used up the room for long output",
        Cut::Refused(_) => "the disk refused it",
    }
}
