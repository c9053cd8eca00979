//! Commands of a session: read, decided, recorded, started in a jail.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use guard::{Abort, Guard, Permit, Refusal};
use jail::environment::{self, Refused, Wanted};
use jail::{End, Network, Spec};
use policy::{Arguments, Execution, Shown, ToolName};
use shell::{Dialect, Surroundings};

use crate::approved::{Approved, directory};
use crate::jailed::{PrepareEgress, SessionEgress};
use crate::job::{Admission, Job, JobRequest, Snapshot, StartError, Status};
use crate::journal::Journal;
use crate::session::{PROFILE, Session};

/// Command that an agent wants to be started.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// A line for a shell.
    pub line: &'a str,
    /// Directory in which it starts, if not in the workspace.
    pub cwd: Option<&'a Path>,
    /// Variables on top of those that the sandbox has.
    pub variables: &'a [(String, String)],
    /// Standard input.
    pub input: &'a [u8],
    /// The time from start to end, within what the policy allows.
    pub wall_clock: Duration,
    /// The time without output, within what the policy allows.
    pub idle: Option<Duration>,
    /// The arguments of the call, for rules on arguments and for the approver. What is above is added where it is missing.
    pub arguments: &'a Arguments,
}

/// A command that was allowed and has not started.
#[must_use]
pub struct AdmittedTask {
    permit: Permit,
    approved: Approved,
    spec: Spec,
    order: JobRequest,
    guard: Guard,
    /// Variables that the agent asked for.
    variables: Vec<(String, String)>,
}

impl AdmittedTask {
    /// The same in all records about the request.
    #[must_use]
    pub fn id(&self) -> &str {
        self.permit.id()
    }
}

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotStarted {
    /// The policy or a person says no, or the directory cannot be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The directory to start in is not in the workspace.
    #[error("{} is outside the workspace; a command starts inside it", Shown::path(.0))]
    Outside(PathBuf),
    /// Variables that never enter.
    #[error("{}", each(.0))]
    Variables(Vec<Refused>),
    /// The object that was approved is not there any more.
    #[error("{} changed after the command was approved, so the command was not started", Shown::path(.0))]
    Changed(PathBuf),
    /// It was called off before it began.
    #[error("the command was called off before it was started")]
    Aborted,
    /// It was started, and ended because it could not be followed.
    #[error("the command could not be followed to its end, and was ended: {0}")]
    Unfollowed(Arc<str>),
    /// There is no jail, or no room.
    #[error(transparent)]
    Start(#[from] StartError),
}

fn each(refused: &[Refused]) -> String {
    refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandResult {
    /// The exit code: the command's own, 128 and the signal, or 124 for a limit.
    pub code: u8,
    /// Way in which it ended.
    pub end: End,
    /// Standard output: beginning and end, cleaned of what steers terminals.
    pub output: String,
    /// Standard error.
    pub error: String,
    /// Time that it ran.
    pub duration: Duration,
}

impl Session {
    /// Runs a line with a shell in the jail, and waits for its end.
    pub fn run(&self, line: &str) -> Result<CommandResult, NotStarted> {
        self.run_until(line, &Abort::new())
    }

    /// Runs a line with a shell in the jail, and waits for its end; throwing `abort` ends it.
    pub fn run_until(&self, line: &str, abort: &Abort) -> Result<CommandResult, NotStarted> {
        let job = self.start_line(line, abort)?;
        let _status = job.wait(None, abort);
        read_outcome(&job)
    }

    /// Starts a line with a shell in the jail, within the limits of the sandbox.
    pub(crate) fn start_line(&self, line: &str, abort: &Abort) -> Result<Arc<Job>, NotStarted> {
        let guard = self.guard(&ToolName::exec());
        let wall_clock = self.parts().spec_of(guard.tool()).limits.wall_clock.unwrap_or(LONGEST);
        let arguments = Arguments::NONE;
        let task = Task { line, cwd: None, variables: &[], input: &[], wall_clock, idle: None, arguments };
        self.start(&guard, &task, abort)
    }

    /// Starts a command for a tool: only after the policy has allowed it, and only where it can be recorded. Comes back when it was
    /// let go.
    pub fn start(&self, guard: &Guard, task: &Task<'_>, abort: &Abort) -> Result<Arc<Job>, NotStarted> {
        let admitted = self.admit(guard, task, abort)?;
        self.launch(admitted, abort)
    }

    /// Requests a command for a tool: one request, about the line and everything that changes what it does. Nothing is started.
    pub fn admit(&self, guard: &Guard, task: &Task<'_>, abort: &Abort) -> Result<AdmittedTask, NotStarted> {
        let parts = self.parts();
        let (cwd, object) = directory(guard, task.cwd, abort)?;
        let mut spec = parts.spec_of(guard.tool()).clone();
        add_variables(&mut spec, task.variables, &cwd)?;
        let keep = spec.limits.output.and_then(|most| usize::try_from(most).ok()).unwrap_or(KEEP);
        let mut order = JobRequest::shell(task.line, &cwd, keep);
        let dialects =
            if order.argv[0] == "/bin/bash" { Dialect::Bash.alone() } else { Dialect::Sh.readers() };
        let around =
            Surroundings { dialects, cwd: cwd.to_str(), home: spec.home.to_str(), stdin: Some(task.input) };
        let invocation = shell::read(task.line.as_bytes(), &around);
        let approved = Approved::new((cwd, object), invocation, &spec);
        let arguments = approved.arguments(task, guard.workspace());
        let execution = Execution { invocation: approved.invocation(), arguments: &arguments };
        let permit = guard.execute(task.line, execution, abort)?;
        order.input = task.input.to_vec();
        order.wall_clock = Some(task.wall_clock);
        order.idle = task.idle;
        let (guard, variables) = (guard.clone(), task.variables.to_vec());
        Ok(AdmittedTask { permit, approved, spec, order, guard, variables })
    }

    /// Starts a command that was admitted, if the directory and the programs are still those that were approved.
    pub fn launch(&self, admitted: AdmittedTask, abort: &Abort) -> Result<Arc<Job>, NotStarted> {
        let AdmittedTask { permit, approved, spec, mut order, guard, variables } = admitted;
        if abort.is_aborted() {
            return Err(NotStarted::Aborted);
        }
        approved.verify().map_err(NotStarted::Changed)?;
        order.spills = Some(self.spills().map_err(StartError::Spill)?);
        let by = self.by();
        let journal = Journal::new(Arc::clone(&self.parts().sink), permit.id(), PROFILE);
        let journal = journal.on_behalf_of(by.session, by.agent);
        let egress = self.egress(&guard, &variables, &spec)?;
        let provider = self.parts().provider;
        let admission = Some(Admission { approved, egress });
        let started = self.jobs().start_admitted(provider, spec, order, journal, admission);
        started.map_err(|error| match error {
            StartError::Changed(path) => NotStarted::Changed(path),
            error => error.into(),
        })
    }

    /// Prepares the way out of a jail that has the broker's network.
    fn egress(
        &self,
        guard: &Guard,
        variables: &[(String, String)],
        spec: &Spec,
    ) -> Result<Option<SessionEgress>, StartError> {
        let wanted = self.parts().egress.as_ref().filter(|_| spec.network == Network::Broker);
        let prepare = |egress: &Arc<dyn PrepareEgress>| {
            let mut spec = spec.clone();
            let open = egress.prepare(guard, variables, &mut spec).map_err(StartError::Egress)?;
            Ok(SessionEgress { spec, open, is_optional: egress.is_optional() })
        };
        wanted.map(prepare).transpose()
    }
}

/// Returns the outcome of a command that has ended.
pub(crate) fn read_outcome(job: &Job) -> Result<CommandResult, NotStarted> {
    match job.status() {
        Status::Ended(ended) => {
            let Snapshot { output, error } = job.output();
            let [output, error] = [output, error].map(|kept| kept.text());
            Ok(CommandResult {
                code: ended.end.code(),
                end: ended.end,
                output,
                error,
                duration: ended.duration,
            })
        }
        Status::Failed(why) => Err(NotStarted::Unfollowed(why)),
        Status::Running => Err(StartError::Lost.into()),
    }
}

/// Default time that a command may run.
const LONGEST: Duration = Duration::from_secs(600);

/// Default number of bytes that are kept of each stream.
const KEEP: usize = 50_000;

/// Adds what an agent wants to the sandbox's own variables. All that never enter are named at once.
fn add_variables(spec: &mut Spec, wanted: &[(String, String)], cwd: &Path) -> Result<(), NotStarted> {
    let mut inside = std::mem::take(&mut spec.environment);
    let shown = spec.views.iter().filter(|view| view.mode.shows_host());
    let shown = shown.map(|view| view.path.as_path()).chain(spec.toolchains.programs());
    let visible: Vec<_> = environment::SYSTEM.iter().map(Path::new).chain(shown).collect();
    let place = environment::Place {
        home: &spec.home,
        workspace: &spec.workspace,
        cwd,
        user: OsStr::new("agent"),
        shell: Path::new("/bin/sh"),
        tmp: Path::new("/tmp"),
        visible: &visible,
    };
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    for (name, value) in wanted {
        let one = Wanted { name: name.into(), value: Some(value.into()) };
        match environment::inside(&[], std::slice::from_ref(&one), &place) {
            Ok(all) => allowed.extend(all.into_iter().filter(|(name, _)| *name == one.name)),
            Err(never) => refused.push(never),
        }
    }
    allowed.push(("PWD".into(), cwd.into()));
    // Without it a bash may take itself for a remote shell.
    if !inside.iter().any(|(name, _)| name == "SHLVL") {
        allowed.push(("SHLVL".into(), "1".into()));
    }
    for one in allowed {
        inside.retain(|(name, _)| *name != one.0);
        inside.push(one);
    }
    spec.environment = inside;
    if refused.is_empty() { Ok(()) } else { Err(NotStarted::Variables(refused)) }
}
