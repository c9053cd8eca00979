//! Ledger records of skills.

use std::io;

use ::audit::{By, Event, FilePath, Name, Names};
use config::Settings;
use policy::{Code, Shown};
use skill::Severity;

use super::scanned::Scanned;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::terminal::Terminal;

/// Records that skills were scanned, each with its verdict. A scan decides nothing and grants nothing, so a scan that cannot be
/// recorded still runs, and reports that.
pub(crate) fn scanned(settings: &Settings, scanned: &[Scanned]) -> Result<(), Failure> {
    if scanned.is_empty() {
        return Ok(());
    }
    let journal = Journal::of(settings)?;
    scanned.iter().try_for_each(|one| {
        journal.record(&Event::SkillScanned {
            by: By::default(),
            skill: Name(&one.name),
            path: FilePath(one.real.as_deref().unwrap_or(&one.shown)),
            sha256: one.sha256,
            verdict: Name(one.verdict.word()),
            critical: one.count(Severity::Critical) as u64,
            warnings: one.count(Severity::Warning) as u64,
            codes: Names(&codes(one)),
        })
    })
}

/// Says that a scan left no record, and what to do about it.
pub(crate) fn unrecorded(failure: &Failure, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let code = failure.code.unwrap_or(Code::LedgerUnwritable);
    let warning = terminal.warning(code);
    writeln!(terminal.err, "{warning}: the scan was not recorded")?;
    let causes =
        if failure.causes.is_empty() { std::slice::from_ref(&failure.message) } else { &failure.causes };
    causes.iter().try_for_each(|cause| writeln!(terminal.err, "  because: {}", Shown::text(cause)))?;
    writeln!(
        terminal.err,
        "hint: let XDG_STATE_HOME, or `path` in `[audit]` of your policy, name a place that you can write"
    )?;
    writeln!(terminal.err, "hint: `ringfence explain {code}` says more")
}

/// The rules that found something that counts, each once.
pub(crate) fn codes(scanned: &Scanned) -> Vec<&'static str> {
    let mut codes: Vec<_> = scanned.open().map(|found| found.finding.rule.id).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}
