//! `exec`: a command line in the jail of the session.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ringfence::audit::Impact;
use ringfence::jail::{End, JailError};
use ringfence::job::{Job, JobOutcome, KeptOutput, Snapshot, StartError, Status, meaning};
use ringfence::policy::Arguments;
use ringfence::{AdmittedTask, NotStarted, Task, source};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::canonical::{self, Variables};
use crate::error::{ErrorKind, ToolError};
use crate::reply::{Reply, TextBody};
use crate::tool::{AdmittedCall, Call, Tool};

/// Runs a command line in the jail of the session.
#[derive(Debug, Clone, Copy)]
pub struct Exec;

/// Parameters of `exec`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecParameters {
    /// The command line, for bash.
    pub command: String,
    /// The directory to start in, inside the workspace.
    #[serde(default = "workspace")]
    pub cwd: PathBuf,
    /// The longest time from start to end, in milliseconds. It also holds in the background.
    #[serde(default = "timeout", alias = "timeoutMs")]
    #[schemars(range(min = 100, max = 600_000))]
    pub timeout_ms: u64,
    /// The longest time without output, in milliseconds.
    #[serde(default, alias = "idleTimeoutMs", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 600_000))]
    pub idle_timeout_ms: Option<u64>,
    /// Variables for the command, each written as `NAME=value`. Some never enter, such as those that make programs load code.
    #[serde(default)]
    pub env: Variables,
    /// Text for the standard input of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// True if to return at once and leave the command running.
    #[serde(default)]
    pub background: bool,
    /// After how many milliseconds to return and leave the command running; 0 for never.
    #[serde(default = "auto_background", alias = "autoBackgroundMs")]
    #[schemars(range(min = 0, max = 600_000))]
    pub auto_background_ms: u64,
    /// Purpose of the command, in a few words. It is returned as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

pub(crate) fn workspace() -> PathBuf {
    PathBuf::from(".")
}

fn timeout() -> u64 {
    120_000
}

fn auto_background() -> u64 {
    15_000
}

impl Tool for Exec {
    type Parameters = ExecParameters;
    const NAME: &'static str = "exec";
    const DESCRIPTION: &'static str = "Runs a command line with bash in the workspace, in a jail: with no network, with a private home \
        that is empty, and with no state between calls (variables, the directory and files outside the workspace are gone after each). \
        The first line of the answer is how it ended, then follow the beginning and end of what it wrote, between lines with a word that \
        it cannot know. A command that takes long goes on in the background; \
        `process` looks after it. An exit code other than 0 is a result, not an error of the tool.";
    const IMPACT: Impact = Impact::Destroy;
    const PATHS: &'static [&'static str] = &["cwd"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("timeoutMs", "timeout_ms"),
        ("idleTimeoutMs", "idle_timeout_ms"),
        ("autoBackgroundMs", "auto_background_ms"),
    ];
    const REMARKS: &'static [&'static str] = &["description"];

    fn run(&self, call: &Call<'_>, parameters: ExecParameters) -> Result<Reply, ToolError> {
        let arguments = canonical::arguments_of::<Self>(&parameters, call.guard.workspace())?;
        follow(call, admit(call, &parameters, &arguments)?, parameters)
    }

    /// The request is about the command, with the arguments of the call.
    fn admit<'t>(
        &'t self,
        call: &Call<'_>,
        parameters: ExecParameters,
        arguments: &Arguments,
    ) -> Result<AdmittedCall<'t>, ToolError> {
        let task = admit(call, &parameters, arguments)?;
        let id = task.id().to_owned();
        Ok(AdmittedCall::of::<Self>(id, move |call| follow(call, task, parameters)))
    }
}

fn admit(
    call: &Call<'_>,
    parameters: &ExecParameters,
    arguments: &Arguments,
) -> Result<AdmittedTask, ToolError> {
    if parameters.command.trim().is_empty() {
        return Err(ToolError::new(ErrorKind::InvalidArguments, "the command is empty"));
    }
    let variables: Vec<_> = parameters.env.0.clone().into_iter().collect();
    let task = Task {
        line: &parameters.command,
        cwd: (parameters.cwd != Path::new(".")).then_some(&parameters.cwd),
        variables: &variables,
        input: parameters.input.as_deref().unwrap_or_default().as_bytes(),
        wall_clock: bounded(parameters.timeout_ms),
        idle: parameters.idle_timeout_ms.map(bounded),
        arguments,
    };
    call.session.admit(call.guard, &task, call.abort).map_err(ToolError::from)
}

fn follow(call: &Call<'_>, task: AdmittedTask, parameters: ExecParameters) -> Result<Reply, ToolError> {
    let job = call.session.launch(task, call.abort)?;
    let status = match patience(&parameters) {
        Patience::None => job.status(),
        Patience::For(most) => job.wait(Some(most), call.abort),
        Patience::ToTheEnd => job.wait(None, call.abort),
    };
    let reply = told(&job, &status, parameters.background)?;
    Ok(match parameters.description {
        Some(description) => reply.with("description", description.into()),
        None => reply,
    })
}

fn bounded(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds.clamp(100, 600_000))
}

/// Time that the call waits for the command.
enum Patience {
    None,
    For(Duration),
    ToTheEnd,
}

fn patience(parameters: &ExecParameters) -> Patience {
    match parameters.auto_background_ms {
        _ if parameters.background => Patience::None,
        0 => Patience::ToTheEnd,
        most => Patience::For(bounded(most)),
    }
}

/// Describes the state of a command, for a model and for a program. The first line is ours; output of the command stands
/// below it, between lines that it cannot write.
pub(crate) fn told(job: &Job, status: &Status, background: bool) -> Result<Reply, ToolError> {
    let Snapshot { output, error, .. } = job.output();
    let mut data = Map::new();
    let state = match status {
        Status::Running => {
            let word = if background { "started" } else { "backgrounded" };
            data.insert("status".to_owned(), word.into());
            format!("{word}: {} goes on; `process` with this job shows its output or ends it", job.id())
        }
        Status::Ended(ended) => {
            data.insert("status".to_owned(), "completed".into());
            end(&mut data, job, ended)
        }
        Status::Failed(why) => return Err(ToolError::new(ErrorKind::System, why.to_string())),
    };
    let streams = [("stdout", output), ("stderr", error)];
    if status.is_running() || streams.iter().any(|(_, kept)| is_long(kept)) {
        data.insert("job".to_owned(), job.id().into());
    }
    data.insert("truncated".to_owned(), false.into());
    for (name, kept) in &streams {
        data.insert((*name).to_owned(), "".into());
        data.insert(format!("{name}_bytes"), kept.total.into());
    }
    let wrote: Vec<String> = streams.iter().filter_map(|(name, kept)| amount(name, kept)).collect();
    let wrote = if wrote.is_empty() { "; no output".to_owned() } else { wrote.concat() };
    let mut reply = Reply::new(format!("[{state}{wrote}]\n"), Value::Object(data));
    for (name, kept) in streams {
        reply = with_stream(reply, job.id(), name, kept);
    }
    Ok(reply)
}

/// Returns the amount that was written to a stream, if any was.
fn amount(name: &str, kept: &KeptOutput) -> Option<String> {
    let count = |number: u64, what| source::count(usize::try_from(number).unwrap_or(usize::MAX), what);
    if kept.is_binary() {
        return Some(format!("; {name}: {} that are not text", count(kept.total, "byte")));
    }
    (kept.total > 0).then(|| format!("; {name}: {}", count(kept.total, "byte")))
}

/// Returns true if more was written than one answer shows.
fn is_long(kept: &KeptOutput) -> bool {
    kept.left_out.chars > 0 || kept.total > SHOWN
}

/// Bytes that fit into an answer with everything around them.
const SHOWN: u64 = 20_000;

fn with_stream(reply: Reply, job: &str, name: &'static str, kept: KeptOutput) -> Reply {
    if kept.is_binary() {
        return reply.not_text(name, kept.total);
    }
    let KeptOutput { head, tail, left_out, total, escaped, .. } = kept;
    // If nothing was cleaned, the bytes that are shown are those that were written.
    let as_written = escaped == 0 && left_out.chars == 0 && (head.len() + tail.len()) as u64 == total;
    let job = job.to_owned();
    let more = move |shown: usize| {
        let offset = if as_written { format!("offset {shown}") } else { format!("an offset below {total}") };
        format!("; `process` with action log, job {job}, stream {name} and {offset} reads them")
    };
    reply.escaped(escaped).text(TextBody::ends(name, head, left_out, tail).framed(name).more(more))
}

/// Adds the end state. The line says it for a model.
fn end(data: &mut Map<String, Value>, job: &Job, ended: &JobOutcome) -> String {
    let code = ended.end.code();
    data.insert("exit_code".to_owned(), code.into());
    let milliseconds = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
    data.insert("duration_ms".to_owned(), milliseconds.into());
    let (word, more) = match ended.end {
        End::Exited(_) => {
            let meaning = meaning(job.line(), code);
            data.extend(meaning.map(|meaning| ("exit_code_meaning".to_owned(), meaning.into())));
            ("exit", meaning.map(|meaning| format!(": {meaning}")).unwrap_or_default())
        }
        End::Signaled(signal) => {
            data.insert("signal".to_owned(), signal.into());
            ("signal", format!(": ended by signal {signal}"))
        }
        End::Limit(overrun) => {
            data.insert("limit".to_owned(), overrun.limit.word().into());
            ("limit", format!(": {}", overrun.message()))
        }
        End::Stopped => ("stopped", ": it was stopped".to_owned()),
    };
    data.insert("ended_by".to_owned(), word.into());
    if !ended.notes.is_empty() {
        data.insert("notes".to_owned(), json!(ended.notes));
    }
    format!("exit code {code}{more}")
}

impl From<NotStarted> for ToolError {
    fn from(why: NotStarted) -> Self {
        let message = why.to_string();
        match why {
            NotStarted::Refused(refusal) => refusal.into(),
            NotStarted::Outside(_) => Self::new(ErrorKind::OutsideWorkspace, message),
            NotStarted::Variables(refused) => {
                let hint = refused.first().map(|refused| refused.hint().to_owned());
                let code = refused.first().map(|refused| refused.code().id());
                Self { hint, code, ..Self::new(ErrorKind::InvalidArguments, message) }
            }
            NotStarted::Aborted => Self::new(ErrorKind::Aborted, message),
            NotStarted::Changed(_) => Self::new(ErrorKind::Conflict, message).hint("call it again"),
            NotStarted::Start(error) => not_started(&error, message),
            _ => Self::new(ErrorKind::NotStarted, message),
        }
    }
}

fn not_started(error: &StartError, message: String) -> ToolError {
    let jail = |jail: &JailError| (Some(jail.code().id()), jail.hint());
    let (kind, (code, hint)) = match error {
        StartError::Jail(error) => (ErrorKind::NotStarted, jail(error)),
        StartError::TooMany(_) => {
            (ErrorKind::NotStarted, (None, Some("`process` lists commands and ends them".to_owned())))
        }
        StartError::Unrecorded(_) => (ErrorKind::Unrecorded, (None, None)),
        StartError::Changed(_) => (ErrorKind::Conflict, (None, Some("call it again".to_owned()))),
        _ => (ErrorKind::System, (None, None)),
    };
    ToolError { hint, code, ..ToolError::new(kind, message) }
}
