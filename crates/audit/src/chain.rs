//! Walking along the chain: each record must follow from the one before.

use policy::Code;

use crate::record::{Head, Sealed, open};

/// Progress of a walk.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// The newest record seen.
    last: Option<Head>,
    /// The number of the oldest record seen.
    first: Option<u64>,
    records: u64,
    expected: Option<Head>,
    entry: Entry,
    /// The number that the first record should have, as far as the name of its file says.
    begins: u64,
}

/// Requirement for the first record of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The first of all, or the first of a file whose predecessors were deleted.
    Beginning,
    /// Any: the walk starts in the middle on purpose.
    Anywhere,
}

/// Why a line does not belong where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) seq: u64,
    pub(crate) code: Code,
    pub(crate) sentence: String,
}

impl Walk {
    pub(crate) fn new(entry: Entry, expected: Option<Head>) -> Self {
        Self { last: None, first: None, records: 0, expected, entry, begins: 1 }
    }

    pub(crate) fn begins_with(&mut self, seq: u64) {
        self.begins = seq;
    }

    pub(crate) fn last(&self) -> Option<Head> {
        self.last
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.first
    }

    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The number that the next record must have.
    pub(crate) fn due(&self) -> u64 {
        self.last.map_or(self.begins, |last| last.seq + 1)
    }

    /// Takes the next complete line.
    pub(crate) fn step<'l>(&mut self, line: &'l [u8]) -> Result<Sealed<'l>, Misfit> {
        let due = self.due();
        let sealed = open(line)
            .map_err(|flaw| changed(due, format!("record {due} was changed: {}", flaw.sentence())))?;
        match self.last {
            Some(last) => follows(&last, &sealed)?,
            None => self.enters(&sealed)?,
        }
        self.published(&sealed)?;
        self.last = Some(sealed.head);
        self.first.get_or_insert(sealed.head.seq);
        self.records += 1;
        Ok(sealed)
    }

    /// Takes the end of the ledger.
    pub(crate) fn end(&self) -> Result<(), Misfit> {
        let Some(expected) = self.expected else { return Ok(()) };
        if self.due() > expected.seq {
            return Ok(());
        }
        let sentence = format!(
            "the ledger ends with record {}, but record {} was published: the end was cut off",
            self.due() - 1,
            expected.seq
        );
        Err(Misfit { seq: self.due(), code: Code::LedgerTruncated, sentence })
    }

    fn enters(&self, sealed: &Sealed<'_>) -> Result<(), Misfit> {
        if self.entry == Entry::Anywhere {
            return Ok(());
        }
        let Head { seq, .. } = sealed.head;
        if seq == 1 && sealed.prev == Head::GENESIS.hash {
            return Ok(());
        }
        if seq == 1 {
            return Err(changed(1, "record 1 claims a record before it".to_owned()));
        }
        if sealed.event != "ledger.continued" {
            return Err(removed(1, seq));
        }
        self.reaches(sealed)
    }

    /// A ledger whose oldest files are gone cannot be held against a head from that time.
    fn reaches(&self, sealed: &Sealed<'_>) -> Result<(), Misfit> {
        let before = sealed.head.seq - 1;
        match self.expected {
            Some(expected) if expected.seq == before && expected.hash != sealed.prev => Err(replaced(before)),
            Some(expected) if expected.seq < before => Err(removed(expected.seq, sealed.head.seq)),
            _ => Ok(()),
        }
    }

    fn published(&self, sealed: &Sealed<'_>) -> Result<(), Misfit> {
        match self.expected {
            Some(expected) if expected.seq == sealed.head.seq && expected.hash != sealed.head.hash => {
                Err(replaced(expected.seq))
            }
            _ => Ok(()),
        }
    }
}

/// The record after `last` has the next number and carries the hash of `last`.
fn follows(last: &Head, sealed: &Sealed<'_>) -> Result<(), Misfit> {
    let (due, seq) = (last.seq + 1, sealed.head.seq);
    if seq > due {
        return Err(removed(due, seq));
    }
    if seq == last.seq && sealed.head.hash == last.hash {
        return Err(reordered(seq, format!("record {seq} is there twice")));
    }
    if seq < due {
        return Err(reordered(seq, format!("record {seq} stands where record {due} should be")));
    }
    if sealed.prev != last.hash {
        let sentence =
            format!("record {due} does not follow from record {}: one of them was replaced", last.seq);
        return Err(changed(due, sentence));
    }
    Ok(())
}

fn changed(seq: u64, sentence: String) -> Misfit {
    Misfit { seq, code: Code::RecordChanged, sentence }
}

fn replaced(seq: u64) -> Misfit {
    changed(seq, format!("record {seq} is not the one that was published: the ledger was rewritten"))
}

pub(crate) fn reordered(seq: u64, sentence: String) -> Misfit {
    Misfit { seq, code: Code::RecordReordered, sentence }
}

fn removed(due: u64, found: u64) -> Misfit {
    let sentence = match found - due {
        1 => format!("record {due} is missing"),
        _ => format!("records {due} to {} are missing", found - 1),
    };
    Misfit { seq: due, code: Code::RecordRemoved, sentence }
}
