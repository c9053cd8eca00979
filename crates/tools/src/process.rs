//! `process`: the commands of the session, running and ended.

use std::sync::Arc;
use std::time::Duration;

use ringfence::audit::Impact;
use ringfence::jail::Stream;
use ringfence::job::{Cleaner, Job, LastLines, Piece, Status, TruncationCause};
use ringfence::policy::Shown;
use ringfence::source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{ErrorKind, ToolError};
use crate::exec::told;
use crate::listing::Page;
use crate::reply::{Keep, Reply, Row, Rows, TextBody};
use crate::tool::{Call, Tool};

/// Looks after the commands of the session.
#[derive(Debug, Clone, Copy)]
pub struct Process;

/// Parameters of `process`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessParameters {
    /// Action.
    pub action: Action,
    /// The command, by the name that `exec` returned. Not for list.
    #[serde(default, alias = "jobId", alias = "sessionId", skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Number of the last lines to show, for log.
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

/// Action of `process`.
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

impl Tool for Process {
    type Parameters = ProcessParameters;
    const NAME: &'static str = "process";
    const DESCRIPTION: &'static str = "Looks after commands that `exec` started in this session: list, status, log (the last lines, or \
        everything from an offset on) and kill.";
    const IMPACT: Impact = Impact::Mutate;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("jobId", "job"), ("sessionId", "job")];

    fn run(&self, call: &Call<'_>, parameters: ProcessParameters) -> Result<Reply, ToolError> {
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

/// A job that is asked to end is killed a second later.
const SOON: Duration = Duration::from_secs(10);

/// Amount that is shown at once from an offset on, in bytes and in characters.
const PIECE: usize = 49_000;
/// Amount of the last lines in a list.
const GLIMPSE: usize = 500;

fn find(call: &Call<'_>, job: Option<&str>) -> Result<Arc<Job>, ToolError> {
    let Some(id) = job else {
        return Err(ToolError::new(ErrorKind::InvalidArguments, "`job` is missing: which command is meant?"));
    };
    call.session.jobs().get(id).ok_or_else(|| {
        ToolError::new(ErrorKind::NotFound, format!("there is no job {} in this session", Shown::text(id)))
            .hint("the action `list` shows all jobs")
    })
}

fn list(jobs: &[Arc<Job>]) -> Reply {
    let rows: Vec<Row> = jobs.iter().enumerate().map(|(item, job)| listed(item, row(job))).collect();
    let head = if rows.is_empty() { "[no commands]" } else { "" };
    let page = Page { offset: 0, limit: rows.len() };
    let total = rows.len();
    Reply::new(head, json!({})).rows(Rows {
        key: "jobs",
        what: "commands",
        page,
        total,
        shown: rows,
        all: String::new(),
        cut: false,
    })
}

fn listed(item: usize, data: Value) -> Row {
    let field = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    let text = format!("{} {} {}\n", field("job"), field("status"), field("command"));
    Row { item, text, data }
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
        "last_lines": source::tail(&job.log(Stream::Output, 5).text, GLIMPSE),
    })
}

fn log(job: &Job, parameters: &ProcessParameters) -> Result<Reply, ToolError> {
    let stream = match parameters.stream {
        StreamName::Stdout => Stream::Output,
        StreamName::Stderr => Stream::Error,
    };
    match parameters.offset {
        None => Ok(tail(job, stream, parameters.lines)),
        Some(offset) => piece(job, stream, offset),
    }
}

fn tail(job: &Job, stream: Stream, lines: usize) -> Reply {
    let kept = (!kept_as_text(job, stream)).then(|| job.read(stream, 0, 0).map_or(0, |piece| piece.total));
    let LastLines { text, first, total, missing, .. } = job.log(stream, lines);
    let running = job.status().is_running();
    let data = json!({
        "job": job.id(), "running": running, "text": "", "first_line": first, "total_lines": total, "truncated": missing,
    });
    let state = state(running);
    if let Some(bytes) = kept {
        let bytes_told = source::count(usize::try_from(bytes).unwrap_or(usize::MAX), "byte");
        return Reply::new(format!("[{state}; {bytes_told} that are not text]\n"), data)
            .not_text("text", bytes);
    }
    let which = if text.is_empty() {
        format!("nothing of {total} lines")
    } else {
        format!("lines {first} to {total} of {total}")
    };
    let why =
        if missing { "; lines before them are not kept: read them with an offset, from 0 on" } else { "" };
    let reply = Reply::new(format!("[{state}; {which}{why}]\n"), data);
    reply.text(TextBody::whole("text", text, Keep::Tail).framed("log"))
}

const fn state(running: bool) -> &'static str {
    if running { "running" } else { "ended" }
}

fn kept_as_text(job: &Job, stream: Stream) -> bool {
    let both = job.output();
    !match stream {
        Stream::Output => both.output,
        Stream::Error => both.error,
    }
    .is_binary()
}

fn piece(job: &Job, stream: Stream, offset: u64) -> Result<Reply, ToolError> {
    let system = |error: std::io::Error| ToolError::new(ErrorKind::System, error.to_string());
    let Piece { mut bytes, mut next, recorded, total, cut, .. } =
        job.read(stream, offset, PIECE).map_err(system)?;
    // A character that is cut here is shown by the next piece. Few bytes may take many characters to be shown.
    let mut shown = cleaned(&bytes);
    while shown.text.chars().count() > PIECE && !shown.is_binary(&bytes) {
        bytes.truncate(bytes.len() / 2);
        shown = cleaned(&bytes);
    }
    next = next.min(offset + bytes.len() as u64);
    if next < recorded {
        let whole = whole_characters(&bytes);
        next -= (bytes.len() - whole) as u64;
        bytes.truncate(whole);
        shown = cleaned(&bytes);
    }
    let missing = cut.map(|cut| missing(&cut));
    let running = job.status().is_running();
    let data = json!({
        "job": job.id(), "running": running, "text": "", "offset": offset, "next_offset": next,
        "recorded_bytes": recorded, "total_bytes": total, "not_recorded_because": missing, "truncated": next < total,
    });
    let why = missing.map(|why| format!("; the rest of {total} is not recorded: {why}")).unwrap_or_default();
    let more = if next < recorded { format!("; go on with offset: {next}") } else { String::new() };
    let binary = shown.is_binary(&bytes);
    let not_text = if binary { ", not text" } else { "" };
    let head = format!("[{}; bytes {offset} to {next} of {recorded}{not_text}{more}{why}]\n", state(running));
    let reply = Reply::new(head, data).escaped(shown.escaped);
    Ok(if binary {
        reply.not_text("text", bytes.len() as u64)
    } else {
        reply.text(TextBody::whole("text", shown.text, Keep::Head).framed("log"))
    })
}

/// A piece of a stream as text.
struct Cleaned {
    text: String,
    escaped: u64,
    binary: u64,
}

fn cleaned(bytes: &[u8]) -> Cleaned {
    let (mut text, mut cleaner) = (String::new(), Cleaner::new());
    cleaner.push(bytes, &mut text);
    let (escaped, binary) = (cleaner.escaped(), cleaner.binary());
    cleaner.finish(&mut text);
    Cleaned { text, escaped, binary }
}

impl Cleaned {
    /// One byte in ten, or more, as for the whole stream.
    const fn is_binary(&self, bytes: &[u8]) -> bool {
        self.binary > 0 && self.binary >= bytes.len() as u64 / 10
    }
}

/// Returns the number of bytes up to a character that is cut at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    let cut = (start..bytes.len()).find(|at| {
        std::str::from_utf8(&bytes[*at..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    cut.filter(|at| *at > 0).unwrap_or(bytes.len())
}

fn missing(cut: &TruncationCause) -> &'static str {
    match cut {
        TruncationCause::Nowhere => "there is no place for long output",
        TruncationCause::Each(_) => "the output of one command is recorded up to 64 MiB per stream",
        TruncationCause::All => "the commands of this session have used up the room for long output",
        TruncationCause::Refused(_) => "the disk refused it",
    }
}
