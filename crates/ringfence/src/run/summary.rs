//! The summary of a run that has ended, as data: refusals, changes and losses, each with the setting that would change it.
//!
//! It is recorded before a front end shows it.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use audit::{AuditError, Written};
use broker::Report;
use jail::{Amount, End, Outcome, Overrun, ProtectedCommit, ProtectedWrite, WriteResult};
use policy::{Code, ProtectedName, Shown};

use super::error::RunError;
use super::tripwire::{Change, Tripwire, TripwireHits};
use crate::denied::{DeniedAction, quote_path};
use crate::egress;
use crate::journal::Journal;

/// One row of a summary.
#[derive(Debug)]
pub enum Row {
    /// A gap in the ledger.
    Unrecorded(RunError),
    /// The limit that ended the command.
    Limit(Overrun, String),
    /// New content that did not reach a protected name.
    Withheld(PathBuf, &'static ProtectedName),
    /// A protected name that has changed without permission.
    Tripped(PathBuf, String),
    /// Something that the command was refused.
    Denied(CodedDenial),
    /// A connection that the broker refused.
    Refused(CodedDenial),
    /// Output that did not arrive.
    LostOutput(String),
    /// Files that were left in the private home.
    LostFiles(u64),
    /// A memory limit that a person set for a command which then failed.
    MemoryLimit(u64),
    /// A protected name that the command wrote or removed.
    Changed(PathBuf, &'static ProtectedName, Change),
    /// A commit that changes protected names.
    Commit(ProtectedCommit),
    /// Something else that the jail has to say.
    Note(String),
    /// Content that the repository had before and that came to a protected name.
    Known(PathBuf, &'static ProtectedName),
    /// A tree that was too large to look at all of it.
    NotAllSeen,
}

/// A refused action and its code.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CodedDenial {
    /// The action. A setting that would allow it may be missing.
    pub action: DeniedAction,
    /// Cause.
    pub code: Code,
}

impl Deref for CodedDenial {
    type Target = DeniedAction;

    fn deref(&self) -> &DeniedAction {
        &self.action
    }
}

/// Audience of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Audience {
    /// A program or a log: refusals and losses.
    Log,
    /// A person at a terminal: also what has changed.
    Person,
    /// A person who wants to know everything.
    Curious,
}

/// So many rows of each kind are kept for programs and for the ledger.
pub(crate) const MOST_KEPT: usize = 1000;
/// So many names of a commit are shown.
const MOST_PATHS: usize = 5;
const MOST_SUBJECT: usize = 60;

/// Summary of a run that has ended, the most important rows first.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    rows: Vec<Row>,
    /// Paths below this directory are shown from there.
    cwd: PathBuf,
}

/// Facts that a summary is made from.
pub struct SummaryInput<'a> {
    /// Outcome of the jail.
    pub outcome: &'a Outcome,
    /// Refused actions.
    pub denials: Vec<DeniedAction>,
    /// Tripwire that was set before the start.
    pub wire: &'a Tripwire,
    /// Hits of the tripwire.
    pub hits: TripwireHits,
    /// The memory limit, if a person set it for this run.
    pub memory: Option<u64>,
    /// Function that returns a hint on how to raise the limit that ended the command.
    pub raise: &'a dyn Fn(&str) -> String,
    /// Names that a person left unprotected for this run.
    pub unprotected: &'a [String],
}

impl Summary {
    /// Collects it. Paths below `cwd` are shown from there.
    pub fn new(input: SummaryInput<'_>, cwd: &Path) -> Self {
        let SummaryInput { outcome, denials, wire, hits, memory, raise, unprotected } = input;
        let mut summary = Self { rows: Vec::new(), cwd: cwd.to_owned() };
        if let End::Limit(overrun) = outcome.end {
            summary.rows.push(Row::Limit(overrun, raise(overrun.limit.word())));
        }
        summary.protected(&outcome.protected_writes, &wire.removed(), unprotected, |path| wire.change(path));
        summary.keep(hits.hits.into_iter().map(|(path, why)| Row::Tripped(path, why)));
        let coded = |action| Row::Denied(CodedDenial { action, code: Code::JailDenied });
        summary.keep(denials.into_iter().map(coded));
        summary.keep(outcome.lost_output.iter().cloned().map(Row::LostOutput));
        summary.keep((outcome.lost_files > 0).then_some(Row::LostFiles(outcome.lost_files)));
        let failed = !matches!(outcome.end, End::Exited(0) | End::Limit(_) | End::Stopped);
        summary.keep(memory.filter(|_| failed).map(Row::MemoryLimit));
        summary.keep(outcome.commits.iter().cloned().map(Row::Commit));
        summary.keep(outcome.notes.iter().cloned().map(Row::Note));
        summary.keep(hits.cut.then_some(Row::NotAllSeen));
        summary.rows.sort_by_key(Row::rank);
        summary
    }

    fn keep(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows.into_iter().take(MOST_KEPT));
    }

    fn protected(
        &mut self,
        writes: &[ProtectedWrite],
        removed: &[(PathBuf, &'static ProtectedName)],
        unprotected: &[String],
        change: impl Fn(&Path) -> Change,
    ) {
        self.keep(writes.iter().map(|ProtectedWrite { path, name, result }| match result {
            WriteResult::Withheld | WriteResult::Restored => Row::Withheld(path.clone(), name),
            WriteResult::Allowed => Row::Changed(path.clone(), name, change(path)),
            WriteResult::Known => Row::Known(path.clone(), name),
        }));
        let is_written = |path: &Path| writes.iter().any(|write| write.path == path);
        let is_free =
            |row: &ProtectedName| unprotected.iter().any(|name| name.trim_end_matches('/') == row.name);
        let removed = removed.iter().filter(|(path, row)| !is_written(path) && !is_free(row));
        self.keep(removed.map(|(path, row)| Row::Changed(path.clone(), row, Change::Removed)));
    }

    /// Adds the connections that the broker refused. It has recorded each of them.
    pub(crate) fn add_connections(&mut self, report: &Report) {
        let coded = |(action, code)| Row::Refused(CodedDenial { action, code });
        self.keep(egress::denied(report).into_iter().map(coded));
        if report.unlisted > 0 {
            self.keep([Row::Note(format!("{} more connections were refused", report.unlisted))]);
        }
        if report.unrecorded > 0 {
            let message = format!("{} ended connections could not be recorded", report.unrecorded);
            self.keep([Row::Unrecorded(RunError::coded(Code::LedgerUnwritable, message))]);
        }
        self.rows.sort_by_key(Row::rank);
    }

    /// Adds what became known later, recorded or not.
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
        self.rows.sort_by_key(Row::rank);
    }

    /// Records it. What could not be recorded becomes part of it.
    pub fn record(&mut self, journal: &Journal) {
        let failed: Vec<_> = self.rows.iter().filter_map(|row| row.record(journal).err()).collect();
        // One is enough to know that the ledger has gaps.
        if let Some(error) = failed.first() {
            self.add(Row::Unrecorded(RunError::unrecorded_end(error)));
        }
    }

    /// Returns the rows, the most important first.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the directory that paths below it are shown from.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }
}

impl Row {
    /// Returns the kind: the first word of its line, and its name for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unrecorded(_) => "unrecorded",
            Self::Limit(..) | Self::MemoryLimit(_) => "limit",
            Self::Withheld(..) => "withheld",
            Self::Tripped(..) => "tripped",
            Self::Denied(_) | Self::Refused(_) => "denied",
            Self::LostOutput(_) | Self::LostFiles(_) => "lost",
            Self::Changed(..) => "changed",
            Self::Commit(_) => "commit",
            Self::Known(..) => "known",
            Self::Note(_) | Self::NotAllSeen => "note",
        }
    }

    /// Returns the rank that rows are sorted by.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Unrecorded(_) => 0,
            Self::Withheld(..) => 1,
            Self::Tripped(..) => 2,
            Self::Denied(_) | Self::Refused(_) => 3,
            Self::Changed(..) => 4,
            Self::Commit(_) => 5,
            Self::LostOutput(_) | Self::LostFiles(_) => 6,
            Self::Known(..) => 7,
            Self::Note(_) => 8,
            Self::NotAllSeen => 9,
            Self::MemoryLimit(_) => 10,
            Self::Limit(..) => 11,
        }
    }

    /// Returns the least interested audience that is told.
    #[must_use]
    pub const fn audience(&self) -> Audience {
        match self {
            Self::Changed(..) | Self::Commit(_) | Self::LostFiles(_) => Audience::Person,
            Self::Known(..) | Self::NotAllSeen => Audience::Curious,
            _ => Audience::Log,
        }
    }

    /// Returns the reason code.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        match self {
            Self::Withheld(..) => Some(Code::JailDenied),
            Self::Denied(denied) | Self::Refused(denied) => Some(denied.code),
            Self::Tripped(..) => Some(Code::JailTripped),
            Self::Limit(..) => Some(Code::JailLimit),
            _ => None,
        }
    }

    fn record(&self, journal: &Journal) -> Result<(), AuditError> {
        match self {
            // The limit that ended the command is recorded with its end, a refused connection by the broker; what could not be recorded
            // is no record.
            Self::Unrecorded(_) | Self::Limit(..) | Self::NotAllSeen | Self::Refused(_) => Ok(()),
            Self::Withheld(path, row) => journal.record_write(path, Written::Withheld, None, row.because),
            Self::Known(path, row) => journal.record_write(path, Written::Known, None, row.because),
            Self::Changed(path, row, change) => {
                let result = if *change == Change::Removed { Written::Removed } else { Written::Allowed };
                journal.record_write(path, result, Some(&change.to_string()), row.because)
            }
            Self::Tripped(path, why) => journal.record_tripped(path, why),
            Self::Denied(denied) => journal.record_denial(denied),
            Self::Commit(commit) => journal.record_commit(commit),
            Self::LostOutput(_) | Self::LostFiles(_) | Self::MemoryLimit(_) | Self::Note(_) => {
                journal.record_note(&self.reason())
            }
        }
    }

    /// Returns the object of the row.
    #[must_use]
    pub fn object(&self, cwd: &Path) -> Option<String> {
        match self {
            Self::Withheld(path, _) | Self::Changed(path, ..) | Self::Known(path, _) => {
                Some(shown(path, cwd))
            }
            Self::Tripped(path, _) => Some(Shown::path(path).to_string()),
            Self::Denied(denied) | Self::Refused(denied) => Some(denied.object.clone()),
            Self::Commit(commit) => Some(short(&commit.id)),
            _ => None,
        }
    }

    /// Returns the event and why it matters.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Unrecorded(error) => error.message.clone(),
            Self::Limit(overrun, _) => overrun.message(),
            Self::Withheld(_, row) => {
                format!("new content was kept out: {}", row.because)
            }
            Self::Tripped(_, why) | Self::LostOutput(why) | Self::Note(why) => why.clone(),
            Self::Denied(denied) | Self::Refused(denied) => denied.by.clone(),
            Self::LostFiles(1) => "1 file in the private home is gone".to_owned(),
            Self::LostFiles(count) => format!("{count} files in the private home are gone"),
            Self::MemoryLimit(bytes) => format!(
                "each process was limited to {} of memory; one that asks for more is refused, and fails in its own way",
                Amount::Bytes(*bytes)
            ),
            Self::Changed(_, row, change) => format!("{change}: {}", row.because),
            Self::Known(_, row) => {
                format!("came with content that the repository had before: {}", row.because)
            }
            Self::Commit(commit) => {
                let paths: Vec<_> = commit
                    .paths
                    .iter()
                    .take(MOST_PATHS)
                    .map(|(path, _)| Shown::path(path).to_string())
                    .collect();
                let more = commit.paths.len().saturating_sub(MOST_PATHS);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("changes {}{more}", paths.join(", "))
            }
            Self::NotAllSeen => "the tree is large, and not all of it was looked at afterwards".to_owned(),
        }
    }

    /// Returns the one setting or step that would change it.
    #[must_use]
    pub fn setting(&self, cwd: &Path) -> Option<String> {
        match self {
            Self::Limit(_, raise) => Some(raise.clone()),
            Self::Withheld(path, row) => {
                let (path, name) = (word(path, cwd), row.name);
                Some(format!(
                    "take it outside, with `git restore {path}` if it was committed; or --unprotect {name}"
                ))
            }
            Self::Denied(denied) | Self::Refused(denied) => {
                (!denied.allow.is_empty()).then(|| format!("to allow it: {}", denied.allow))
            }
            Self::LostFiles(_) => Some("to keep such files: --write DIRECTORY".to_owned()),
            Self::MemoryLimit(_) => Some("to raise it: --limit memory=SIZE".to_owned()),
            Self::Changed(_, _, Change::Removed) => None,
            Self::Changed(..) => Some("to prevent it: protect = \"all\" in a profile".to_owned()),
            Self::Commit(commit) => {
                Some(format!("look at it before you use it: git show {}", short(&commit.id)))
            }
            _ => None,
        }
    }
}

/// A path, from the directory that the person is in.
fn shown(path: &Path, cwd: &Path) -> String {
    Shown::path(path.strip_prefix(cwd).unwrap_or(path)).to_string()
}

/// A path as one word of a command line that a person may copy: the names of directories are the command's choice.
fn word(path: &Path, cwd: &Path) -> String {
    quote_path(path.strip_prefix(cwd).unwrap_or(path))
}

fn short(id: &str) -> String {
    Shown::text(&id.chars().take(10).collect::<String>()).to_string()
}

/// Returns the subject of a commit, escaped and cut.
#[must_use]
pub fn subject(commit: &ProtectedCommit) -> String {
    let text = Shown::bytes(&commit.subject).to_string();
    let cut: String = text.chars().take(MOST_SUBJECT).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use broker::RefusedHost;

    use super::*;

    #[test]
    fn refused_connections_have_their_code_their_count_and_their_remedy() {
        let refused = |code, remedy: Option<&str>, count| RefusedHost {
            endpoint: None,
            code,
            reason: "because".to_owned(),
            remedy: remedy.map(str::to_owned),
            count,
        };
        let refusals =
            vec![refused(Code::UnknownHost, Some("--allow x"), 1), refused(Code::Unreachable, None, 3)];
        let mut summary = Summary::default();
        summary.add_connections(&Report { refusals, unrecorded: 2, ..Report::default() });
        let row = |row: &Row| (row.code(), row.reason(), row.setting(Path::new("/")));
        let rows: Vec<_> = summary.rows().iter().map(row).collect();
        let expected = [
            (None, "2 ended connections could not be recorded", None),
            (Some(Code::UnknownHost), "because", Some("to allow it: --allow x".to_owned())),
            (Some(Code::Unreachable), "because (3 times)", None),
        ];
        assert_eq!(rows, expected.map(|(code, reason, setting)| (code, reason.to_owned(), setting)));
    }
}
