//! The files of one ledger: `ledger.jsonl` is written, `ledger.jsonl.000000000001` and so on are complete.
//!
//! A complete file is named after the number of its first record. Nothing is ever written to it again: a writer
//! looks under the lock whether the file still has the ledger's name, and the name is taken away under that lock.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use policy::Code;
use rustix::fs::{AtFlags, Dir, RenameFlags};
use rustix::io::Errno;

use crate::chain::Misfit;
use crate::error::AuditError;
use crate::place::Place;
use crate::record::{Digest, Flaw, Head, MAX_RECORD, Record, open};
use crate::records::last_changed;
use crate::tail::Tail;

/// A complete file of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    /// The number of its first record.
    pub(crate) first: u64,
    /// Its name in the ledger's directory.
    pub(crate) name: OsString,
}

/// The complete files of the ledger, oldest first.
pub(crate) fn segments(dir: impl AsFd, ledger: &OsStr) -> Result<Vec<Segment>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(dir)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        found.extend(first_of(ledger, &name).map(|first| Segment { first, name }));
    }
    found.sort();
    Ok(found)
}

/// Takes the ledger's name away from the file that has it. The caller holds the lock on that file.
pub(crate) fn retire(place: &Place, first: u64) -> Result<(), AuditError> {
    let name = segment_name(&place.name, first);
    let renamed =
        rustix::fs::renameat_with(&place.dir, &place.name, &place.dir, &name, RenameFlags::NOREPLACE);
    renamed.map_err(|errno| match errno {
        Errno::EXIST => AuditError::Untrusted {
            path: place.beside(&name),
            why: "it stands where a file of the ledger should go",
        },
        errno => place.unwritable("rename", errno),
    })
}

/// Deletes the oldest files until `keep` are left, and says how many went.
pub(crate) fn prune(place: &Place, segments: &[Segment], keep: usize) -> Result<u64, AuditError> {
    let surplus = &segments[..segments.len().saturating_sub(keep)];
    for segment in surplus {
        match rustix::fs::unlinkat(&place.dir, &segment.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(place.unwritable("delete the oldest file of", errno)),
        }
    }
    Ok(surplus.len() as u64)
}

/// Facts about a complete file that the next one has to know.
pub(crate) struct End {
    /// Its newest record.
    pub(crate) head: Head,
    /// The hash of the ledger's very first record.
    pub(crate) chain: Digest,
}

/// Reads both ends of a complete file.
pub(crate) fn end_of(place: &Place, segment: &Segment) -> Result<End, AuditError> {
    let file = place.open_segment(&segment.name)?;
    let stat =
        rustix::fs::fstat(&file).map_err(|errno| place.unwritable("look at the last file of", errno))?;
    place.trust_file(&stat)?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let tail = Tail::read(&file, size).map_err(|errno| place.unwritable("read the last file of", errno))?;
    let head = match tail.head() {
        Some(Ok(head)) if tail.torn().is_empty() => head,
        Some(Err(flaw)) => return Err(last_changed(flaw).at(&place.beside(&segment.name), 0).into()),
        Some(Ok(_)) | None => {
            return Err(last_changed(Flaw::Form).at(&place.beside(&segment.name), 0).into());
        }
    };
    Ok(End { head, chain: first_record(place, &file)?.chain })
}

/// The first record of a file.
pub(crate) struct First {
    pub(crate) seq: u64,
    /// The hash of the ledger's very first record.
    chain: Digest,
}

/// Reads the first record of a file, which names the chain.
pub(crate) fn first_record(place: &Place, file: impl AsFd) -> Result<First, AuditError> {
    let mut line = vec![0; MAX_RECORD];
    let read = rustix::io::retry_on_intr(|| rustix::io::pread(&file, &mut line, 0));
    line.truncate(read.map_err(|errno| place.unwritable("read", errno))?);
    let end = line.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    first_of_chain(&line[..end]).ok_or_else(|| {
        let sentence = "the first line is not the first record of a file".to_owned();
        Misfit { seq: 0, code: Code::RecordRemoved, sentence }.at(&place.path, 1).into()
    })
}

fn first_of_chain(line: &[u8]) -> Option<First> {
    let sealed = open(line).ok()?;
    let chain = match sealed.event {
        "ledger.started" => sealed.head.hash,
        "ledger.continued" => Digest::read(Record::read(line, sealed.head)?.text("chain")?.as_bytes())?,
        _ => return None,
    };
    Some(First { seq: sealed.head.seq, chain })
}

fn segment_name(ledger: &OsStr, first: u64) -> OsString {
    let mut name = ledger.to_owned();
    name.push(format!(".{first:012}"));
    name
}

fn first_of(ledger: &OsStr, name: &OsStr) -> Option<u64> {
    let digits = name.as_bytes().strip_prefix(ledger.as_bytes())?.strip_prefix(b".")?;
    let first = std::str::from_utf8(digits).ok()?.parse().ok()?;
    // One number, one name: `.1` or `.+01` beside `.000000000001` are not ours.
    (segment_name(ledger, first) == name).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_we_would_give_are_files_of_the_ledger() {
        let rows: &[(&str, Option<u64>)] = &[
            ("ledger.jsonl.000000000001", Some(1)),
            ("ledger.jsonl.123456789012", Some(123_456_789_012)),
            ("ledger.jsonl.1234567890123", Some(1_234_567_890_123)),
            ("ledger.jsonl", None),
            ("ledger.jsonl.", None),
            ("ledger.jsonl.1", None),
            ("ledger.jsonl.+00000000001", None),
            ("ledger.jsonl.00000000000a", None),
            ("ledger.jsonl.0000000000001", None),
            ("other.jsonl.000000000001", None),
        ];
        for (name, first) in rows {
            assert_eq!(first_of(OsStr::new("ledger.jsonl"), OsStr::new(name)), *first, "{name}");
        }
    }
}
