//! Is the ledger what was written?

use std::io::BufRead;
use std::path::{Path, PathBuf};

use policy::Code;

use crate::chain::{Entry, Walk};
use crate::error::VerifyError;
use crate::record::Head;
use crate::records::{Reading, Records, Stop, moved};

/// Summary of a valid ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The number of the oldest record; more than 1 if older files were deleted.
    pub first: u64,
    /// Number of records.
    pub records: u64,
    /// In how many files.
    pub segments: usize,
    /// The newest record; none in an empty ledger.
    pub head: Option<Head>,
}

/// Reads the whole ledger and finds the first record that was changed, removed, moved, doubled or cut off.
///
/// With a head that was published earlier it also finds that the end was cut off or all of it rewritten.
pub fn verify(path: &Path, expected: Option<&Head>) -> Result<Verification, VerifyError> {
    let mut records = Records::checked(path, expected.copied())?;
    while records.step()?.is_some() {}
    Ok(verified(records.walk(), records.files()))
}

/// [`verify`] for one file that is already open. Never panics and uses constant memory, on any input.
pub fn verify_reader(mut reader: impl BufRead, expected: Option<&Head>) -> Result<Verification, VerifyError> {
    let path = PathBuf::from("-");
    let mut walk = Walk::new(Entry::Beginning, expected.copied());
    let mut reading = Reading::new(path.clone(), &mut reader);
    let mut line = Vec::new();
    loop {
        match reading.step(&mut walk, &mut line) {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(Stop::Io(path, source)) => return Err(VerifyError::Unreadable { path, source }),
            Err(Stop::Damaged(damage)) => {
                let elsewhere = damage.code == Code::RecordRemoved && reading.holds(damage.seq);
                return Err(VerifyError::Damaged(if elsewhere { moved(&damage) } else { damage }));
            }
        }
    }
    walk.end().map_err(|misfit| VerifyError::Damaged(misfit.at(&path, 0)))?;
    Ok(verified(&walk, 1))
}

fn verified(walk: &Walk, segments: usize) -> Verification {
    Verification { first: walk.first().unwrap_or(1), records: walk.records(), segments, head: walk.last() }
}
