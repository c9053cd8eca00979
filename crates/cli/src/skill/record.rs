//! What becomes of skills, in the ledger.

use ::audit::{By, Event, FilePath, Name, Names};
use config::Settings;
use skill::Severity;

use super::scanned::Scanned;
use crate::failure::Failure;
use crate::journal::Journal;

/// Records that skills were scanned, each with its verdict.
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

/// The rules that found something that counts, each once.
pub(crate) fn codes(scanned: &Scanned) -> Vec<&'static str> {
    let mut codes: Vec<_> = scanned.open().map(|found| found.finding.rule.id).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}
