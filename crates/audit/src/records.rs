//! Reading a ledger back, record by record, across its files, checking the chain on the way.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Take};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use policy::Code;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::chain::{Entry, Misfit, Walk, reordered};
use crate::error::{Damage, VerifyError};
use crate::ledger::PATIENCE;
use crate::lines::{self, Next};
use crate::place::{HARDENED, Identity};
use crate::record::{Flaw, Head, Record, claimed_seq};
use crate::rotate::{Segment, segments};
use crate::tail::Tail;

/// The records of a ledger, oldest first. Each was found in order, and so was everything before it.
///
/// Writers are not disturbed: what they add later is not seen until [`Records::more`].
#[derive(Debug)]
pub struct Records {
    dir: OwnedFd,
    ledger: OsString,
    path: PathBuf,
    walk: Walk,
    /// Files still to be read.
    pending: VecDeque<Segment>,
    live: Option<Live>,
    open: Option<Reading<BufReader<Take<File>>>>,
    /// True if `open` is the file that writers append to.
    at_live: bool,
    files: usize,
    /// The line that was read last.
    line: Vec<u8>,
    /// Its head, if it was read but not yet given out.
    peeked: Option<Head>,
    over: bool,
}

/// The file that writers append to, up to the size it had when we looked.
#[derive(Debug)]
struct Live {
    file: File,
    size: u64,
}

impl Records {
    /// All records.
    pub fn open(path: &Path) -> Result<Self, VerifyError> {
        Self::start(path, None, Walk::new(Entry::Beginning, None))
    }

    /// The records from a number on. Nothing before the file that holds it is read or checked.
    pub fn from(path: &Path, seq: u64) -> Result<Self, VerifyError> {
        let mut records = Self::start(path, Some(seq), Walk::new(Entry::Anywhere, None))?;
        while let Some(head) = records.step()? {
            if head.seq >= seq {
                records.peeked = Some(head);
                break;
            }
        }
        Ok(records)
    }

    pub(crate) fn checked(path: &Path, expected: Option<Head>) -> Result<Self, VerifyError> {
        Self::start(path, None, Walk::new(Entry::Beginning, expected))
    }

    /// The newest record, read from the end of the ledger without walking there.
    pub fn head(path: &Path) -> Result<Head, VerifyError> {
        let mut records = Self::start(path, None, Walk::new(Entry::Anywhere, None))?;
        let unreadable = |errno| VerifyError::unreadable(path, errno);
        if let Some(live) = records.live.take().filter(|live| live.size > 0) {
            return newest(path, &live.file, live.size);
        }
        let Some(segment) = records.pending.pop_back() else { return Err(empty(path)) };
        let (file, size) = open_segment(&records.dir, &segment.name).map_err(unreadable)?;
        newest(&path.with_file_name(&segment.name), &file, size)
    }

    /// Progress of reading.
    pub(crate) fn walk(&self) -> &Walk {
        &self.walk
    }

    /// Number of files opened so far.
    pub(crate) fn files(&self) -> usize {
        self.files
    }

    /// After the end: looks whether more was written, and goes on if so.
    pub fn more(&mut self) -> Result<(), VerifyError> {
        self.over = false;
        let named = identity_of_name(&self.dir, &self.ledger).map_err(|errno| self.unreadable(errno))?;
        let (Some(reading), true) = (&mut self.open, self.at_live) else { return self.look_again() };
        let grown = reading.grow().map_err(|error| VerifyError::unreadable(&self.path, error))?;
        if grown.identity == named {
            return Ok(());
        }
        if grown.read == 0 {
            // Nothing of it was read, so it is found again under its new name.
            self.open = None;
        }
        self.look_again()
    }

    /// The file that was live was completed: the next ones are found by name.
    fn look_again(&mut self) -> Result<(), VerifyError> {
        let due = self.walk.due();
        let (live, all) = snapshot(&self.dir, &self.ledger).map_err(|errno| self.unreadable(errno))?;
        self.pending = all.into_iter().filter(|segment| segment.first >= due).collect();
        self.live = live;
        self.at_live = false;
        Ok(())
    }

    fn start(path: &Path, from: Option<u64>, mut walk: Walk) -> Result<Self, VerifyError> {
        let unreadable = |errno: Errno| VerifyError::unreadable(path, errno);
        let ledger = path.file_name().ok_or_else(|| unreadable(Errno::ISDIR))?.to_owned();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(CWD, parent, flags, Mode::empty()).map_err(unreadable)?;
        let (live, all) = snapshot(&dir, &ledger).map_err(unreadable)?;
        if live.is_none() && all.is_empty() {
            return Err(unreadable(Errno::NOENT));
        }
        let mut pending = VecDeque::from(all);
        skip_before(&mut pending, live.as_ref(), from).map_err(unreadable)?;
        walk.begins_with(pending.front().map_or(1, |segment| segment.first));
        let path = path.to_owned();
        Ok(Self {
            dir,
            ledger,
            path,
            walk,
            pending,
            live,
            open: None,
            at_live: false,
            files: 0,
            line: Vec::new(),
            peeked: None,
            over: false,
        })
    }

    /// Moves on by one record, which is then in `line`.
    pub(crate) fn step(&mut self) -> Result<Option<Head>, VerifyError> {
        while !self.over {
            self.open_next()?;
            let Some(reading) = &mut self.open else { return self.finish() };
            match reading.step(&mut self.walk, &mut self.line) {
                Ok(Some(head)) => return Ok(Some(head)),
                // Kept open: more may be written to it.
                Ok(None) if self.at_live => return self.finish(),
                Ok(None) => self.open = None,
                Err(stop) => {
                    self.over = true;
                    return Err(self.explain(stop));
                }
            }
        }
        Ok(None)
    }

    fn finish(&mut self) -> Result<Option<Head>, VerifyError> {
        self.over = true;
        self.walk.end().map(|()| None).map_err(|misfit| VerifyError::Damaged(misfit.at(&self.path, 0)))
    }

    /// Opens the next file, unless one is open or none is left.
    fn open_next(&mut self) -> Result<(), VerifyError> {
        if self.open.is_none() {
            self.open = self.next_file()?;
            self.files += usize::from(self.open.is_some());
        }
        Ok(())
    }

    fn next_file(&mut self) -> Result<Option<Reading<BufReader<Take<File>>>>, VerifyError> {
        if let Some(segment) = self.pending.pop_front() {
            let path = self.path.with_file_name(&segment.name);
            let opened = open_segment(&self.dir, &segment.name);
            let (file, size) = opened.map_err(|errno| VerifyError::unreadable(&path, errno))?;
            return Ok(Some(Reading::new(path, buffered(file, size))));
        }
        let live = self.live.take();
        self.at_live |= live.is_some();
        Ok(live.map(|live| Reading::new(self.path.clone(), buffered(live.file, live.size))))
    }

    /// A record that is missing here and stands further on was not removed, but moved.
    fn explain(&mut self, stop: Stop) -> VerifyError {
        match stop {
            Stop::Io(path, error) => VerifyError::Unreadable { path, source: error },
            Stop::Damaged(mut damage) => {
                if damage.code == Code::RecordRemoved && self.stands_later(damage.seq) {
                    damage = moved(&damage);
                }
                VerifyError::Damaged(damage)
            }
        }
    }

    fn stands_later(&mut self, seq: u64) -> bool {
        while self.open_next().is_ok() {
            let Some(reading) = &mut self.open else { return false };
            if reading.holds(seq) {
                return true;
            }
            self.open = None;
        }
        false
    }

    fn unparsable(&self, seq: u64) -> VerifyError {
        let sentence = format!("record {seq} is JSON that cannot be represented");
        VerifyError::Damaged(Misfit { seq, code: Code::RecordChanged, sentence }.at(&self.path, 0))
    }

    fn unreadable(&self, errno: Errno) -> VerifyError {
        VerifyError::unreadable(&self.path, errno)
    }
}

impl Iterator for Records {
    type Item = Result<Record, VerifyError>;

    fn next(&mut self) -> Option<Self::Item> {
        let head = match self.peeked.take().map_or_else(|| self.step(), |head| Ok(Some(head))) {
            Ok(head) => head?,
            Err(broken) => return Some(Err(broken)),
        };
        Some(Record::read(&self.line, head).ok_or_else(|| self.unparsable(head.seq)))
    }
}

/// One file on its way through the walk.
#[derive(Debug)]
pub(crate) struct Reading<R> {
    path: PathBuf,
    reader: R,
    number: u64,
}

/// Why reading cannot go on.
#[derive(Debug)]
pub(crate) enum Stop {
    Io(PathBuf, io::Error),
    Damaged(Damage),
}

impl<R: BufRead> Reading<R> {
    pub(crate) fn new(path: PathBuf, reader: R) -> Self {
        Self { path, reader, number: 0 }
    }

    /// Reads and checks the next line; none at the end of the file.
    pub(crate) fn step(&mut self, walk: &mut Walk, line: &mut Vec<u8>) -> Result<Option<Head>, Stop> {
        let next = lines::next(&mut self.reader, line).map_err(|error| Stop::Io(self.path.clone(), error))?;
        self.number += 1;
        let misfit = match next {
            Next::End => return Ok(None),
            Next::Line => match walk.step(line) {
                Ok(sealed) => return Ok(Some(sealed.head)),
                Err(misfit) => misfit,
            },
            Next::Torn => torn(walk.due(), line.len()),
            Next::Endless => endless(walk.due()),
        };
        Err(Stop::Damaged(misfit.at(&self.path, self.number)))
    }

    /// Returns true if a record with this number stands further on in the file.
    pub(crate) fn holds(&mut self, seq: u64) -> bool {
        let mut line = Vec::new();
        while let Ok(Next::Line) = lines::next(&mut self.reader, &mut line) {
            if claimed_seq(&line) == Some(seq) {
                return true;
            }
        }
        false
    }
}

/// Result of a second look at the live file.
struct Grown {
    identity: Option<Identity>,
    /// Number of bytes that had been read before.
    read: u64,
}

impl Reading<BufReader<Take<File>>> {
    /// Lets reading go on to where the file ends now.
    fn grow(&mut self) -> io::Result<Grown> {
        let take = self.reader.get_mut();
        let read = take.get_mut().stream_position()?;
        let size = size_between_records(take.get_ref())?;
        take.set_limit(size.saturating_sub(read));
        Ok(Grown { identity: identity_of_file(take.get_ref())?, read })
    }
}

impl Misfit {
    pub(crate) fn at(self, segment: &Path, line: u64) -> Damage {
        Damage { segment: segment.to_owned(), line, seq: self.seq, code: self.code, sentence: self.sentence }
    }
}

/// Turns "missing" into "moved".
pub(crate) fn moved(damage: &Damage) -> Damage {
    let misfit =
        reordered(damage.seq, format!("record {} stands further on: the order was changed", damage.seq));
    misfit.at(&damage.segment, damage.line)
}

fn torn(seq: u64, bytes: usize) -> Misfit {
    let sentence = format!("record {seq} was cut off by a crash: the last {bytes} bytes have no line break");
    Misfit { seq, code: Code::RecordTorn, sentence }
}

fn endless(seq: u64) -> Misfit {
    Misfit {
        seq,
        code: Code::RecordChanged,
        sentence: format!("record {seq} was changed: the line is too long"),
    }
}

/// The head that the end of a file makes.
fn newest(path: &Path, file: &File, size: u64) -> Result<Head, VerifyError> {
    let tail = Tail::read(file, size).map_err(|errno| VerifyError::unreadable(path, errno))?;
    let misfit = match tail.head() {
        Some(Ok(head)) if tail.torn().is_empty() => return Ok(head),
        Some(Ok(head)) => torn(head.seq + 1, tail.torn().len()),
        Some(Err(flaw)) => last_changed(flaw),
        None => torn(1, tail.torn().len()),
    };
    Err(VerifyError::Damaged(misfit.at(path, 0)))
}

pub(crate) fn last_changed(flaw: Flaw) -> Misfit {
    let sentence = format!("the last record was changed: {}", flaw.sentence());
    Misfit { seq: 0, code: Code::RecordChanged, sentence }
}

fn empty(path: &Path) -> VerifyError {
    let sentence = "the ledger holds no record".to_owned();
    VerifyError::Damaged(Misfit { seq: 1, code: Code::LedgerTruncated, sentence }.at(path, 0))
}

/// The live file and the complete ones as they are at one moment. A ledger that is being moved to a new file may for a
/// moment have no live one.
fn snapshot(dir: &OwnedFd, ledger: &OsStr) -> Result<(Option<Live>, Vec<Segment>), Errno> {
    for _ in 0..PATIENCE {
        let file = match rustix::fs::openat(dir, ledger, OFlags::RDONLY | HARDENED, Mode::empty()) {
            Err(Errno::NOENT) => return Ok((None, segments(dir, ledger)?)),
            file => File::from(file?),
        };
        lock(&file, FlockOperation::LockShared)?;
        if identity_of_name(dir, ledger)? == identity_of_file(&file)? {
            let size = size_of(&file)?;
            let all = segments(dir, ledger)?;
            lock(&file, FlockOperation::Unlock)?;
            return Ok((Some(Live { file, size }), all));
        }
    }
    Err(Errno::AGAIN)
}

/// Drops the files that end before the record that is wanted.
fn skip_before(pending: &mut VecDeque<Segment>, live: Option<&Live>, from: Option<u64>) -> Result<(), Errno> {
    let Some(from) = from else { return Ok(()) };
    let live_first = match live {
        Some(live) => first_seq(&live.file)?,
        None => None,
    };
    while let Some(next_first) = pending.get(1).map(|segment| segment.first).or(live_first) {
        if pending.is_empty() || next_first > from {
            break;
        }
        pending.pop_front();
    }
    Ok(())
}

/// The number of the first record, read without moving the file's position.
fn first_seq(file: &File) -> Result<Option<u64>, Errno> {
    let mut start = [0; 64];
    let read = rustix::io::pread(file, &mut start, 0)?;
    Ok(claimed_seq(&start[..read]))
}

fn open_segment(dir: &OwnedFd, name: &OsStr) -> Result<(File, u64), Errno> {
    let file = File::from(rustix::fs::openat(dir, name, OFlags::RDONLY | HARDENED, Mode::empty())?);
    let size = size_of(&file)?;
    Ok((file, size))
}

fn buffered(file: File, size: u64) -> BufReader<Take<File>> {
    BufReader::with_capacity(128 * 1024, file.take(size))
}

/// The size while no writer is at work, so that the end is between two records.
fn size_between_records(file: &File) -> Result<u64, Errno> {
    lock(file, FlockOperation::LockShared)?;
    let size = size_of(file);
    lock(file, FlockOperation::Unlock)?;
    size
}

/// The size of a regular file. A device or a pipe has none, and must not pass for an empty ledger.
fn size_of(file: &File) -> Result<u64, Errno> {
    let stat = rustix::fs::fstat(file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(stat.st_size.try_into().unwrap_or(0)),
        _ => Err(Errno::INVAL),
    }
}

fn identity_of_file(file: &File) -> Result<Option<Identity>, Errno> {
    Ok(Some(Identity::of(&rustix::fs::fstat(file)?)))
}

fn identity_of_name(dir: &OwnedFd, ledger: &OsStr) -> Result<Option<Identity>, Errno> {
    match rustix::fs::statat(dir, ledger, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        stat => Ok(Some(Identity::of(&stat?))),
    }
}

pub(crate) fn lock(file: impl AsFd, operation: FlockOperation) -> Result<(), Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::flock(&file, operation))
}
