//! The guard of one tool: look up, decide, ask, record, grant.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use audit::By;
use policy::{
    Arguments, Chain, Code, Decision, Endpoint, Execution, Kind, Location, NameTaken, Policy, Position,
    Reason, Remembered, Request, RequestKey, Shown, ToolName, Trace, Want,
};

use crate::ask::{Abort, Question, Unanswered};
use crate::beside::looked;
use crate::change::{Removable, Writable};
use crate::detail::details;
use crate::directory::{Directory, EntryKind, ReadableObject};
use crate::grant::{ObjectId, Permit, ReadableFile};
use crate::record::Records;
use crate::refusal::{Denied, Failed, Refusal, Violation};
use crate::resolve::{Found, Last, Written};
use crate::session::{Own, Session};
use crate::trouble::Trouble;

/// Stands between one tool of an agent and the machine.
///
/// Cheap to clone; all guards of a session share its answers, its questions and its ledger.
#[derive(Clone)]
pub struct Guard {
    pub(crate) session: Arc<Session>,
    pub(crate) own: Arc<Own>,
    /// Arguments of the tool, for approvers.
    pub(crate) call: Option<Arc<Arguments>>,
}

/// Something that is asked of a guard.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Access<'a> {
    /// `fs.read`: open a file or list a directory.
    Read(&'a Path),
    /// `fs.write`: create a file or change one.
    Write(&'a Path),
    /// `fs.write` of the name itself: remove or move it. A link is removed, not what it leads to.
    Remove(&'a Path),
    /// `command.execute`: start the programs of a command line.
    Execute(&'a str, Execution<'a>),
    /// `net.connect`: open a connection.
    Connect(&'a Endpoint),
    /// `tool.call`: call the tool itself.
    Call(&'a Arguments),
}

/// The proof that an access is allowed, and the means to do it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Grant {
    /// For reading.
    Read(ReadableFile),
    /// For writing.
    Write(Writable),
    /// For removing or moving.
    Remove(Removable),
    /// For everything that the guard does not do itself.
    Permit(Permit),
}

/// Decision of a guard, and the object it looked at.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judgement {
    /// The object with every name it is judged by.
    pub location: Location,
    /// Kind of the object; nothing if it does not exist.
    pub kind: Option<EntryKind>,
    /// Trouble with the path, if there is any; the location is then what it spells.
    pub trouble: Option<Trouble>,
    /// The decision, and what led to it.
    pub trace: Trace,
}

impl Guard {
    /// Decides about an access, asks where a person has to decide, records it, and grants it.
    pub fn authorize(&self, access: Access<'_>, abort: &Abort) -> Result<Grant, Refusal> {
        match access {
            Access::Read(path) => self.read(path, abort).map(Grant::Read),
            Access::Write(path) => self.write(path, abort).map(Grant::Write),
            Access::Remove(path) => self.remove(path, abort).map(Grant::Remove),
            Access::Execute(line, execution) => self.execute(line, execution, abort).map(Grant::Permit),
            Access::Connect(endpoint) => self.connect(endpoint, abort).map(Grant::Permit),
            Access::Call(arguments) => self.call(arguments, abort).map(Grant::Permit),
        }
    }

    /// Opens a file or a directory for reading.
    pub fn read(&self, path: &Path, abort: &Abort) -> Result<ReadableFile, Refusal> {
        let found = self.found(path, Kind::Read, Last::Follow, abort)?;
        let permit = self.approve(Want::Read(&found.location), &found.location.to_string(), abort)?;
        ReadableFile::new(permit, found, &self.session.workspace).map_err(|trouble| failed(trouble, path))
    }

    /// Opens a directory to look through, with everything in it that the policy does not let the tool read left out.
    pub fn list(&self, path: &Path, abort: &Abort) -> Result<Directory, Refusal> {
        match self.look_at(path, abort)? {
            ReadableObject::Directory(directory) => Ok(directory),
            ReadableObject::File(_) => Err(failed(Trouble::NotADirectory, path)),
        }
    }

    /// Opens a file for reading, or a directory to look through, whichever it is: one decision, one record.
    pub fn look_at(&self, path: &Path, abort: &Abort) -> Result<ReadableObject, Refusal> {
        let opened = self.read(path, abort)?;
        if !opened.is_directory() {
            return Ok(ReadableObject::File(Box::new(opened)));
        }
        let directory = Directory::open(self.clone(), &opened);
        directory.map(ReadableObject::Directory).map_err(|trouble| failed(trouble, path))
    }

    /// Finds the place of a file that is to be written. Nothing is created before something is written.
    pub fn write(&self, path: &Path, abort: &Abort) -> Result<Writable, Refusal> {
        let found = self.found(path, Kind::Write, Last::Follow, abort)?;
        let permit = self.approve(Want::Write(&found.location), &found.location.to_string(), abort)?;
        Writable::new(permit, found, &self.session.workspace).map_err(|trouble| failed(trouble, path))
    }

    /// Finds a name that is to be removed or moved.
    pub fn remove(&self, path: &Path, abort: &Abort) -> Result<Removable, Refusal> {
        let found = self.found(path, Kind::Write, Last::Keep, abort)?;
        let permit = self.approve(Want::Write(&found.location), &found.location.to_string(), abort)?;
        let may_be_read = self.allows(Want::Read(&found.location));
        Removable::new(permit, (found, path), may_be_read, &self.session.workspace)
            .map_err(|trouble| failed(trouble, path))
    }

    /// Permits a command line. It says nothing about where it runs.
    pub fn execute(&self, line: &str, execution: Execution<'_>, abort: &Abort) -> Result<Permit, Refusal> {
        self.approve(Want::Exec(execution), line, abort)
    }

    /// Permits a connection.
    pub fn connect(&self, endpoint: &Endpoint, abort: &Abort) -> Result<Permit, Refusal> {
        self.approve(Want::Connect(endpoint), &endpoint.to_string(), abort)
    }

    /// Permits a call of the tool.
    pub fn call(&self, arguments: &Arguments, abort: &Abort) -> Result<Permit, Refusal> {
        self.approve(Want::Call(arguments), self.own.tool.as_str(), abort)
    }

    /// Returns the guard during one call: an approver of something that the call does sees the arguments of the call.
    #[must_use]
    pub fn during(&self, arguments: Arguments) -> Self {
        Self { call: Some(Arc::new(arguments)), ..self.clone() }
    }

    /// Returns true if an access would be granted without asking. It never asks and never records: an ask is a no.
    #[must_use]
    pub fn can_access(&self, access: Access<'_>) -> bool {
        let (path, last, writes) = match access {
            Access::Read(path) => (path, Last::Follow, false),
            Access::Write(path) => (path, Last::Follow, true),
            Access::Remove(path) => (path, Last::Keep, true),
            Access::Execute(_, execution) => return self.allows(Want::Exec(execution)),
            Access::Connect(endpoint) => return self.allows(Want::Connect(endpoint)),
            Access::Call(arguments) => return self.allows(Want::Call(arguments)),
        };
        let found = self.session.workspace.find(written(path), last);
        found.is_ok_and(|Found { location, .. }| {
            let location = if writes { looked(&self.session.workspace, location) } else { location };
            self.allows(if writes { Want::Write(&location) } else { Want::Read(&location) })
        })
    }

    /// Decides about a connection, with the answers of the session. It never asks and never records.
    pub fn decide_connection(&self, endpoint: &Endpoint) -> Decision {
        let request = Request { tool: &self.own.tool, want: Want::Connect(endpoint) };
        self.chain().decide(&request, &self.session.answers())
    }

    /// Judges an access to a file, with everything that led to it. Nothing is asked, recorded or opened.
    ///
    /// A relative path is completed from `from`.
    pub fn judge(&self, path: &Path, from: &Path, kind: Kind) -> Result<Judgement, Failed> {
        let joined = from.join(path);
        let written = Written { path: &joined, absolute: path.is_absolute() };
        // An empty path stays one.
        let written = if path.as_os_str().is_empty() { Written { path, ..written } } else { written };
        let looked = self.session.workspace.find(written, Last::Follow);
        let (location, kind_found, trouble) = match looked {
            Ok(found) => (self.judged(kind, found.location), found.object.kind(), None),
            Err(trouble) => {
                let spelled = self.session.workspace.spelled(written);
                let spelled = spelled.map_err(|trouble| Failed::new(trouble, path))?;
                (spelled, None, Some(trouble))
            }
        };
        let request = Request { tool: &self.own.tool, want: want(kind, &location) };
        let mut trace = self.chain().explain(&request, &self.session.answers());
        if let (Some(Trouble::MagicLink), Decision::Allow(_) | Decision::Ask(_)) = (trouble, &trace.decision)
        {
            trace.decision = Decision::Deny(magic());
        }
        Ok(Judgement { location, kind: kind_found, trouble, trace })
    }

    /// Adds a policy to this tool's chain, in place of one that was added under the same name. Listeners are told.
    pub fn add_policy(
        &self,
        policy: Arc<dyn Policy>,
        position: Position<'_>,
    ) -> Result<(), PolicyChangeError> {
        let change = format!("added the policy `{}`", policy.name());
        self.change_chain(&change, |chain| Ok(chain.add(policy, position)?))
    }

    /// Removes a policy that was added to this tool's chain. Policies that the chain was made with cannot be removed. Listeners
    /// are told.
    pub fn remove_policy(&self, name: &str) -> Result<(), PolicyChangeError> {
        let change = format!("removed the policy `{name}`");
        self.change_chain(&change, |chain| {
            if chain.remove(name) { Ok(()) } else { Err(PolicyChangeError::NotAdded(name.into())) }
        })
    }

    /// Changes the chain of this tool, unless the change cannot be recorded.
    fn change_chain(
        &self,
        change: &str,
        apply: impl FnOnce(&mut Chain) -> Result<(), PolicyChangeError>,
    ) -> Result<(), PolicyChangeError> {
        let mut chain = self.own.lock();
        let mut changed = Chain::clone(&chain);
        apply(&mut changed)?;
        let id = self.session.next_id();
        self.records().changed(&self.by(&id), self.own.tool.as_str(), change)?;
        *chain = Arc::new(changed);
        drop(chain);
        self.session.tell(&self.own);
        Ok(())
    }

    /// The names of the policies in force, in order.
    #[must_use]
    pub fn policies(&self) -> Vec<String> {
        self.chain().names().map(str::to_owned).collect()
    }

    /// The tool it stands in front of.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.own.tool
    }

    /// The directory that relative paths start from, by its real path.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.session.workspace.path
    }

    /// Which object the workspace is, by the handle that was opened when the session began.
    pub fn workspace_object(&self) -> Result<ObjectId, Trouble> {
        Ok(ObjectId::of(&rustix::fs::fstat(&self.session.workspace.handle)?))
    }

    pub(crate) fn chain(&self) -> Arc<Chain> {
        Arc::clone(&self.own.lock())
    }

    fn allows(&self, want: Want<'_>) -> bool {
        let request = Request { tool: &self.own.tool, want };
        self.chain().allows(&request, &self.session.answers())
    }

    /// Looks a path up. If that fails, the spelled path is judged first: a location that is denied is denied,
    /// even if something is wrong with the path.
    fn found(&self, path: &Path, kind: Kind, last: Last, abort: &Abort) -> Result<Found, Refusal> {
        let trouble = match self.session.workspace.find(written(path), last) {
            Ok(Found { location, object }) => {
                return Ok(Found { location: self.judged(kind, location), object });
            }
            Err(trouble) => trouble,
        };
        let spelled = self.session.workspace.spelled(written(path));
        let location = spelled.map_err(|trouble| failed(trouble, path))?;
        let (want, object) = (want(kind, &location), location.to_string());
        let _unused = match trouble {
            Trouble::MagicLink => self.settle(want, Decision::Deny(magic()), &object, abort)?,
            _ => self.approve(want, &object, abort)?,
        };
        Err(failed(trouble, path))
    }

    /// A place as it is judged: what is to be written may depend on what lies beside it.
    fn judged(&self, kind: Kind, location: Location) -> Location {
        if kind == Kind::Write { looked(&self.session.workspace, location) } else { location }
    }

    /// Decides, asks and records.
    fn approve(&self, want: Want<'_>, object: &str, abort: &Abort) -> Result<Permit, Refusal> {
        // The answers are not held while a person thinks.
        let decision = {
            let answers = self.session.answers();
            self.chain().decide(&Request { tool: &self.own.tool, want }, &answers)
        };
        self.settle(want, decision, object, abort)
    }

    /// Records what was decided, and asks where it has to be.
    fn settle(
        &self,
        want: Want<'_>,
        decision: Decision,
        object: &str,
        abort: &Abort,
    ) -> Result<Permit, Refusal> {
        let request = Request { tool: &self.own.tool, want };
        let id = self.session.next_id();
        self.records().decided(&self.by(&id), &request, object, &decision)?;
        let kind = want.kind();
        self.session.count(match decision {
            Decision::Allow(_) => Ok(Permit::new(id)),
            Decision::Deny(reason) => Err(denied(Violation::of(reason.code, kind), want, object, reason)),
            Decision::Ask(reason) => self.ask(&request, id, object, reason, abort),
        })
    }

    fn ask(
        &self,
        request: &Request<'_>,
        id: String,
        object: &str,
        reason: Reason,
        abort: &Abort,
    ) -> Result<Permit, Refusal> {
        let kind = request.want.kind();
        let key = self.session.covered(RequestKey::of(request));
        let question = Question {
            id: id.clone(),
            agent: self.session.agent.clone(),
            tool: self.own.tool.to_string(),
            kind,
            object: Shown::text(object).to_string(),
            arguments: request.want.arguments().or(self.call.as_deref()).map(details).unwrap_or_default(),
            reason: reason.clone(),
        };
        let by = self.by(&id);
        self.records().asked(&by, &question)?;
        let began = Instant::now();
        let answer = self.session.pending.ask(&key, &self.session.approver, &question, abort);
        self.records().answered(&by, object, answer, began.elapsed())?;
        if let Ok(answer) = answer
            && answer.stays()
        {
            self.session
                .remember(request, if answer.allows() { Remembered::Allow } else { Remembered::Deny });
        }
        let (code, text) = match answer {
            Ok(answer) if answer.allows() => return Ok(Permit::new(id)),
            Ok(_) => (Code::AnsweredNo, "a person was asked and said no"),
            Err(Unanswered::Nobody) => {
                (Code::AskUnanswered, "this needs approval, and there is no terminal or approver to ask")
            }
            Err(Unanswered::Aborted) => {
                (Code::AskAborted, "the question was cancelled before it was answered")
            }
        };
        let why = Reason { code, text: format!("{text}: {}", reason.text).into(), ..reason };
        Err(denied(Violation::of(code, kind), request.want, object, why))
    }

    fn records(&self) -> Records<'_> {
        Records(&*self.session.sink)
    }

    fn by<'a>(&'a self, id: &'a str) -> By<'a> {
        By { session: Some(&self.session.name), agent: Some(&self.session.agent), id: Some(id) }
    }
}

/// Why the policies of a tool were not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyChangeError {
    /// The name belongs to a link that the chain was made with.
    #[error(transparent)]
    Name(#[from] NameTaken),
    /// No policy of this name was added.
    #[error("no policy `{}` was added to this tool", Shown::text(.0))]
    NotAdded(Box<str>),
    /// The change cannot be recorded.
    #[error("the change cannot be recorded, so it does not happen: {0}")]
    Unrecorded(#[from] audit::AuditError),
}

fn written(path: &Path) -> Written<'_> {
    Written { path, absolute: path.is_absolute() }
}

fn want(kind: Kind, location: &Location) -> Want<'_> {
    if kind == Kind::Write { Want::Write(location) } else { Want::Read(location) }
}

fn magic() -> Reason {
    Reason::new(Code::MagicLink, "the path goes through a magic link of the kernel, such as /proc/self/root")
        .remedy("write the path of the file that you mean")
}

fn denied(violation: Violation, want: Want<'_>, object: &str, reason: Reason) -> Refusal {
    let path = want.location().map(|location| location.path().into());
    let object = Shown::text(object).to_string();
    let Reason { code, text, rule, remedy, .. } = reason;
    Denied { violation, code, object, path, rule, reason: text, remedy }.into()
}

fn failed(trouble: Trouble, path: &Path) -> Refusal {
    Failed::new(trouble, path).into()
}
