//! The file that events are appended to.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use policy::Code;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::Sink;
use crate::error::{AuditError, Damage};
use crate::event::By;
use crate::field::Name;
use crate::place::{Identity, Place};
use crate::record::{Digest, Head, MAX_RECORD, is_torn_record, seal};
use crate::records::{last_changed, lock};
use crate::redact::{Redactor, UnfitSecret};
use crate::rotate::{self, Segment};
use crate::tables::events::Event;
use crate::tail::Tail;

/// Failures that a record survives once `record` has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of this process, however sudden: the kernel has the line.
    Process,
    /// The end of the machine, too: the disk has the line.
    Disk,
}

/// Options of a ledger.
#[derive(Debug)]
pub struct Options {
    /// Failures that a record survives.
    pub durability: Durability,
    /// The size at which the file is completed and a new one begun, in bytes.
    pub rotate_at: u64,
    /// Number of complete files that are kept; all if absent.
    pub keep: Option<usize>,
    /// Redactor of every text.
    pub redactor: Redactor,
    /// Source of time stamps.
    pub clock: fn() -> Timestamp,
}

impl Options {
    /// Files of 64 MiB, all of them kept, and the secret shapes of `tables/secrets.toml`.
    #[must_use]
    pub fn new(durability: Durability) -> Self {
        Self { durability, rotate_at: 64 << 20, keep: None, redactor: Redactor::new(), clock: Timestamp::now }
    }
}

/// State found when the ledger was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenReport {
    /// The newest record.
    pub head: Head,
    /// True if the file was made just now.
    pub created: bool,
    /// Remains of a crash, if any. They are gone from the file, and a record says so.
    pub recovered: Option<Recovery>,
}

/// The end of a file that a crash had cut off in the middle of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Number of bytes that were removed.
    pub bytes: u64,
    /// Their hash.
    pub sha256: Digest,
}

/// An append-only, hash-chained file of events.
///
/// It can be shared between threads; the file can be shared between processes.
#[derive(Debug)]
pub struct Ledger {
    writer: Mutex<Writer>,
}

impl Ledger {
    /// Opens the ledger, making it for us alone if there is none.
    pub fn open(path: &Path, options: Options) -> Result<(Self, OpenReport), AuditError> {
        let place = Place::open(path)?;
        let held = Held::open(&place)?;
        let (body, line) = (Vec::with_capacity(1024), Vec::with_capacity(1024));
        let mut writer = Writer { place, options, held, head: Head::GENESIS, unreported: None, body, line };
        let settled = writer.locked(Writer::settle)?;
        let opened = OpenReport { head: writer.head, created: settled.created, recovered: settled.recovered };
        Ok((Self { writer: Mutex::new(writer) }, opened))
    }

    /// The newest record that this process knows of.
    #[must_use]
    pub fn head(&self) -> Head {
        self.writer().head
    }

    /// From now on takes this value out of every text, in all common encodings.
    pub fn hide(&self, name: &str, value: &str) -> Result<(), UnfitSecret> {
        self.writer().options.redactor.hide(name, value)
    }

    /// A panic elsewhere cannot leave the writer in a state that the next append would not notice: it compares what it
    /// knows with the file each time.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Ledger {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        let mut writer = self.writer();
        let writer = &mut *writer;
        // Redacts before the lock: no other writer has to wait for it.
        event.put(&mut writer.body, &writer.options.redactor);
        writer.locked(|writer| {
            writer.settle()?;
            writer.append()
        })
    }
}

/// Has the disk take what was written.
#[cfg(not(target_vendor = "apple"))]
fn sync(file: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::fdatasync(file)
}

/// Has the disk take what was written. Apple's systems have a call of their own for that: the usual one stops at the drive.
#[cfg(target_vendor = "apple")]
fn sync(file: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::fcntl_fullfsync(file)
}

/// Everything that happens under the mutex.
#[derive(Debug)]
struct Writer {
    place: Place,
    options: Options,
    held: Held,
    head: Head,
    /// A recovery whose record could not be written yet.
    unreported: Option<Recovery>,
    body: Vec<u8>,
    line: Vec<u8>,
}

/// The file as we know it.
#[derive(Debug)]
struct Held {
    file: OwnedFd,
    identity: Identity,
    /// End of the record `head`, up to which the file was read. None: not looked at yet.
    size: Option<u64>,
}

/// Repairs that settling had to do.
#[derive(Debug, Clone, Copy, Default)]
struct Settled {
    created: bool,
    recovered: Option<Recovery>,
}

impl Held {
    fn open(place: &Place) -> Result<Self, AuditError> {
        let file = place.open_file()?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| place.unwritable("look at", errno))?;
        place.trust_file(&stat)?;
        Ok(Self { file, identity: Identity::of(&stat), size: None })
    }
}

impl Writer {
    /// Does something while no other process can write the file.
    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, AuditError>) -> Result<T, AuditError> {
        self.lock_the_named_file()?;
        let done = work(self);
        let unlocked = lock(&self.held.file, FlockOperation::Unlock);
        let value = done?;
        unlocked.map_err(|errno| self.place.unwritable("unlock", errno))?;
        Ok(value)
    }

    /// The lock counts only if the file still has the ledger's name once we hold it.
    fn lock_the_named_file(&mut self) -> Result<(), AuditError> {
        for _ in 0..PATIENCE {
            lock(&self.held.file, FlockOperation::LockExclusive)
                .map_err(|errno| self.place.unwritable("lock", errno))?;
            if self.place.named()? == Some(self.held.identity) {
                return Ok(());
            }
            self.held = Held::open(&self.place)?;
        }
        Err(self.place.untrusted("another file takes its place again and again"))
    }

    /// Brings our knowledge up to what is in the file, repairing what a crash left.
    fn settle(&mut self) -> Result<Settled, AuditError> {
        let stat =
            rustix::fs::fstat(&self.held.file).map_err(|errno| self.place.unwritable("look at", errno))?;
        self.place.trust_file(&stat)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let mut settled = Settled::default();
        match self.held.size {
            Some(known) if known == size => {}
            Some(known) if known > size => return Err(self.shrunk(known, size)),
            _ if size > 0 => settled.recovered = self.catch_up(size)?,
            _ => {}
        }
        if self.held.size.unwrap_or(0) == 0 {
            self.begin()?;
            settled.created = true;
        }
        self.report()?;
        Ok(settled)
    }

    /// Learns the head from the end of a file that others have written.
    fn catch_up(&mut self, size: u64) -> Result<Option<Recovery>, AuditError> {
        let tail = Tail::read(&self.held.file, size).map_err(|errno| self.place.unwritable("read", errno))?;
        let torn = !tail.torn().is_empty();
        if torn && !is_torn_record(tail.torn()) {
            return Err(self.broken(
                0,
                Code::RecordTorn,
                "the file does not end with a record or a part of one",
            ));
        }
        if let Some(head) = tail.head() {
            self.advance_to(head.map_err(|flaw| last_changed(flaw).at(&self.place.path, 0))?)?;
        }
        let recovered = if torn { Some(self.cut(&tail)?) } else { None };
        self.held.size = Some(tail.complete_size());
        Ok(recovered)
    }

    /// Cuts off what a crash left.
    fn cut(&mut self, tail: &Tail) -> Result<Recovery, AuditError> {
        self.truncate(tail.complete_size(), "repair")?;
        let recovered = Recovery { bytes: tail.torn().len() as u64, sha256: Digest::of(tail.torn()) };
        self.unreported = Some(recovered);
        Ok(recovered)
    }

    /// The chain only ever grows. A head behind the one we knew means that an older file was put back.
    fn advance_to(&mut self, head: Head) -> Result<(), AuditError> {
        if head.seq < self.head.seq || (head.seq == self.head.seq && head.hash != self.head.hash) {
            return Err(self.went_back(head.seq));
        }
        self.head = head;
        Ok(())
    }

    /// Writes the first record of an empty file: of the ledger, or of a further file of it.
    fn begin(&mut self) -> Result<(), AuditError> {
        self.held.size = Some(0);
        let listed = rotate::segments(&self.place.dir, &self.place.name);
        let segments = listed.map_err(|errno| self.place.unwritable("look for the files of", errno))?;
        match segments.last() {
            Some(newest) => self.go_on_after(newest, &segments)?,
            None if self.head.seq > 0 => return Err(self.went_back(0)),
            None => self.write_own(&Event::LedgerStarted { by: By::default(), version: Name(VERSION) })?,
        }
        self.sync_directory()
    }

    fn go_on_after(&mut self, newest: &Segment, segments: &[Segment]) -> Result<(), AuditError> {
        let end = rotate::end_of(&self.place, newest)?;
        self.advance_to(end.head)?;
        let dropped = match self.options.keep {
            Some(keep) => rotate::prune(&self.place, segments, keep)?,
            None => 0,
        };
        let segment = newest.name.to_string_lossy();
        let (by, version, segment) = (By::default(), Name(VERSION), Name(&segment));
        self.write_own(&Event::LedgerContinued { by, version, chain: end.chain, segment, dropped })
    }

    /// Writes the record of a recovery that has none yet.
    fn report(&mut self) -> Result<(), AuditError> {
        if let Some(Recovery { bytes, sha256 }) = self.unreported {
            self.write_own(&Event::LedgerRecovered { by: By::default(), bytes, sha256 })?;
            self.unreported = None;
        }
        Ok(())
    }

    /// Appends `self.body`, in a new file if this one is full.
    fn append(&mut self) -> Result<(), AuditError> {
        let size = self.held.size.unwrap_or(0) + (self.body.len() + ENVELOPE) as u64;
        if size > self.options.rotate_at {
            self.rotate()?;
        }
        let body = std::mem::take(&mut self.body);
        let written = self.write(&body);
        self.body = body;
        written
    }

    /// Completes the file and begins the next one, which carries on the chain. Both locks are held for a moment, always the older one first.
    fn rotate(&mut self) -> Result<(), AuditError> {
        let first = rotate::first_record(&self.place, &self.held.file)?;
        // A complete file is never repaired, so it must not be torn by a power cut either.
        rustix::io::retry_on_intr(|| sync(&self.held.file))
            .map_err(|errno| self.place.unwritable("sync", errno))?;
        rotate::retire(&self.place, first.seq)?;
        let full = std::mem::replace(&mut self.held, Held::open(&self.place)?);
        self.lock_the_named_file()?;
        drop(full);
        self.settle().map(|_| ())
    }

    /// Writes an event of our own.
    fn write_own(&mut self, event: &Event<'_>) -> Result<(), AuditError> {
        let mut body = Vec::new();
        event.put(&mut body, &self.options.redactor);
        self.write(&body)
    }

    /// One record, one `write`. Either the whole line is in the file, or the file is as it was.
    fn write(&mut self, body: &[u8]) -> Result<(), AuditError> {
        let before = self.held.size.unwrap_or(0);
        let head = seal(&mut self.line, &self.head, (self.options.clock)(), body);
        if let Err(error) = self.write_line() {
            let error = self.place.unwritable("append to", error);
            self.truncate(before, "undo a half-written record in")?;
            return Err(error);
        }
        self.head = head;
        self.held.size = Some(before + self.line.len() as u64);
        Ok(())
    }

    fn write_line(&self) -> io::Result<()> {
        if self.line.len() > MAX_RECORD {
            return Err(io::Error::other("the record is too long"));
        }
        let written = rustix::io::retry_on_intr(|| rustix::io::write(&self.held.file, &self.line))?;
        if written < self.line.len() {
            return Err(io::Error::other(format!("only {written} of {} bytes found room", self.line.len())));
        }
        if self.options.durability == Durability::Disk {
            rustix::io::retry_on_intr(|| sync(&self.held.file))?;
        }
        Ok(())
    }

    fn truncate(&self, size: u64, step: &'static str) -> Result<(), AuditError> {
        rustix::io::retry_on_intr(|| rustix::fs::ftruncate(&self.held.file, size))
            .map_err(|errno| self.place.unwritable(step, errno))
    }

    /// A new file that the directory does not remember after a power cut would be lost whole.
    fn sync_directory(&self) -> Result<(), AuditError> {
        match self.options.durability {
            Durability::Process => Ok(()),
            Durability::Disk => rustix::io::retry_on_intr(|| rustix::fs::fsync(&self.place.dir))
                .map_err(|errno: Errno| self.place.unwritable("sync the directory of", errno)),
        }
    }

    fn shrunk(&self, known: u64, size: u64) -> AuditError {
        let sentence =
            format!("the file had {known} bytes and now has {size}: the end was cut off while it was in use");
        self.broken(self.head.seq, Code::LedgerTruncated, &sentence)
    }

    fn went_back(&self, seq: u64) -> AuditError {
        let known = self.head.seq;
        let sentence = format!(
            "the file ends with record {seq}, but record {known} was written: it was replaced while in use"
        );
        self.broken(seq + 1, Code::LedgerTruncated, &sentence)
    }

    fn broken(&self, seq: u64, code: Code, sentence: &str) -> AuditError {
        let sentence = sentence.to_owned();
        AuditError::Broken(Damage { segment: self.place.path.clone(), line: 0, seq, code, sentence })
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Number of renames of the file that are tolerated while waiting for the lock. Busy writers get to a few.
pub(crate) const PATIENCE: usize = 1000;

/// Largest size of a line beyond the event's own part.
const ENVELOPE: usize = 256;
