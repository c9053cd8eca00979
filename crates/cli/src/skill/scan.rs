//! `ringfence skill scan`: everything in skills and manifests, looked at.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use config::{ScanSettings, Scope};
use policy::Shown;
use ringfence::run::Host;
use ringfence::skill_files::{MAX_FILE, read_file};
use skill::{Accepted, Allow, Baseline, Content, Scanner, Verdict};

use super::gather::{ScanTarget, ScanTargets, gather};
use super::pins::Pins;
use super::progress::Progress;
use super::read::Trouble;
use super::scanned::{ScanJob, Scanned};
use super::{json, pins, record, sarif, text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Shape, Terminal};
use crate::write::replace;

/// What a person types after `ringfence skill scan`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXITS)]
pub(crate) struct ScanArgs {
    /// Skills, directories with skills, files, archives; `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Which rules are tried
    #[arg(long, value_enum, default_value = "all", value_name = "RULES")]
    rules: Rules,
    /// Leave out what this file says was there before; nothing critical
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what is found now to a file for --baseline; nothing critical
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Say what has changed since it was pinned in this file
    #[arg(long, value_name = "FILE")]
    lock: Option<PathBuf>,
    /// Pin everything that is not blocked, in a file for --lock
    #[arg(long, value_name = "FILE", conflicts_with = "lock")]
    write_lock: Option<PathBuf>,
    /// Let comments in the files accept findings, `# ringfence: allow RULE because …`; nothing critical
    #[arg(long)]
    inline_suppressions: bool,
    /// Also show findings that were accepted
    #[arg(long)]
    show_suppressed: bool,
}

impl ScanArgs {
    /// Says early what could not be written, and leaves everything alone that is something else.
    fn may_be_written(&self, around: &Host) -> Result<(), Failure> {
        let is_baseline = |bytes: &[u8]| Baseline::read(&String::from_utf8_lossy(bytes)).is_ok();
        // Also one that was merged and cannot be read any more.
        let is_lock = |bytes: &[u8]| bytes.starts_with(b"{\"ringfence-lock\":");
        let baseline =
            self.write_baseline.as_deref().map(|path| replaceable(&around.cwd.join(path), is_baseline));
        let lock = self.write_lock.as_deref().map(|path| replaceable(&around.cwd.join(path), is_lock));
        baseline.into_iter().chain(lock).collect()
    }
}

/// Checks that a file may be written under a name: its directory exists, and the name is free or holds an older file of the same kind.
fn replaceable(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
    let shown = Shown::path(path);
    if !path.parent().is_some_and(Path::is_dir) {
        return Err(Failure::new(format!("{shown} cannot be written")).hint("there is no such directory"));
    }
    if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    match read_file(path, MAX_FILE) {
        Ok(Content::File { bytes, .. }) if bytes.is_empty() || is_ours(&bytes) => Ok(()),
        _ => Err(Failure::new(format!("{shown} is not a file of this kind, so it is not overwritten"))
            .hint("name another file, or remove it")),
    }
}

/// A set of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Rules {
    /// The eighteen base rules
    Base,
    /// Every rule
    All,
}

impl Rules {
    fn scanner(self) -> Scanner {
        match self {
            Self::Base => Scanner::base(),
            Self::All => Scanner::new(&skill::all_rules()),
        }
    }
}

const EXITS: &str =
    "Exit codes: 0 clean, 1 flagged, not as pinned, or something could not be read, 2 blocked.";

/// Scans, tells and records.
pub(crate) fn run(
    args: &ScanArgs,
    shape: Shape,
    around: &Host,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let settings = crate::policy::settings(around, terminal)?;
    let scan_settings = settings.skills();
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let mut accepted = Accepted { allow: allows(&scan_settings), inline: args.inline_suppressions, baseline };
    let pins = args.lock.as_deref().map(Pins::read).transpose()?;
    args.may_be_written(around)?;
    let scanner = args.rules.scanner();
    let mut whole = ScanReport::new(gather(&args.paths));
    let workspace = &around.places.workspace;
    loop {
        let (scanner, settings, pins) = (&scanner, &scan_settings, pins.as_ref());
        let job = ScanJob { scanner, accepted: &accepted, settings, workspace, pins };
        whole.scanned = scan_all(&job, &whole.gathered.spots, terminal)?;
        let Some(path) = args.write_baseline.as_deref().filter(|_| accepted.baseline.is_none()) else {
            break;
        };
        // The baseline just written counts already.
        accepted.baseline = Some(write_baseline(&around.cwd.join(path), &whole.scanned)?);
    }
    if let Some(pins) = &pins {
        whole.miss(pins, &args.paths, workspace);
    }
    if let Some(path) = &args.write_lock {
        pins::write(&around.cwd.join(path), &whole.gathered.spots, &whole.scanned)?;
    }
    let recorded = record::scanned(&settings, &whole.scanned);
    let told = whole.tell(shape, args.show_suppressed, terminal);
    let warned = recorded.or_else(|failure| record::unrecorded(&failure, terminal));
    // The verdict is an answer too, also to a caller that reads nothing else.
    let exit = whole.exit();
    match told.and(warned) {
        Err(error) if !Terminal::is_unread(&error) => {
            let failed = if exit == Exit::Ok { Exit::Failed } else { exit };
            Err(Failure::from(error).exit(failed))
        }
        _ => Ok(exit),
    }
}

/// Everything that one command looked at.
pub(crate) struct ScanReport {
    pub(crate) gathered: ScanTargets,
    pub(crate) scanned: Vec<Scanned>,
    /// Pinned items that were not found.
    pub(crate) gone: Vec<PathBuf>,
}

impl ScanReport {
    fn new(gathered: ScanTargets) -> Self {
        Self { gathered, scanned: Vec::new(), gone: Vec::new() }
    }

    /// Notes what is pinned below the places that a person typed, and is not there.
    fn miss(&mut self, pins: &Pins, typed: &[PathBuf], workspace: &Path) {
        let real = typed.iter().filter_map(|place| std::fs::canonicalize(place).ok());
        let named = real.filter_map(|real| Some(real.strip_prefix(workspace).ok()?.to_owned()));
        let found = self.scanned.iter().map(|scanned| scanned.pinned_as.as_str()).collect();
        self.gone = pins.gone(&named.collect::<Vec<_>>(), &found);
    }

    fn tell(&self, shape: Shape, show_suppressed: bool, terminal: &mut Terminal<'_>) -> io::Result<()> {
        match shape {
            Shape::Text => text::tell(self, show_suppressed, terminal)?,
            Shape::Json => terminal.json(&json::whole(self))?,
            Shape::Sarif => terminal.json(&sarif::log(self))?,
        }
        terminal.out.flush()
    }

    /// The verdict on everything.
    pub(crate) fn verdict(&self) -> Verdict {
        self.scanned.iter().map(|scanned| scanned.verdict).max().unwrap_or(Verdict::Clean)
    }

    /// Returns what could not be looked at.
    pub(crate) fn troubles(&self) -> impl Iterator<Item = &Trouble> {
        self.gathered.troubles.iter().chain(self.scanned.iter().flat_map(|scanned| &scanned.troubles))
    }

    fn exit(&self) -> Exit {
        match self.verdict() {
            Verdict::Blocked => Exit::Blocked,
            Verdict::Flagged => Exit::Failed,
            Verdict::Clean if self.troubles().next().is_some() => Exit::Failed,
            Verdict::Clean if self.scanned.iter().any(|scanned| !scanned.changed.is_empty()) => Exit::Failed,
            Verdict::Clean if !self.gone.is_empty() => Exit::Failed,
            Verdict::Clean => Exit::Ok,
        }
    }
}

/// Returns the findings that the policy accepts.
pub(crate) fn allows(settings: &ScanSettings) -> Vec<Allow> {
    let allow = |allow: &config::ScanAllow| Allow {
        rule: allow.rule.clone(),
        path: allow.path.clone(),
        reason: allow.reason.clone(),
    };
    settings.allow.iter().map(allow).collect()
}

fn read_baseline(path: &Path) -> Result<Baseline, Failure> {
    let unusable = || format!("the baseline {} cannot be used", Shown::path(path));
    let taken = read_file(path, MAX_FILE).map_err(|error| Failure::new(unusable()).because(&error))?;
    let Content::File { bytes, .. } = taken else {
        return Err(Failure::new(unusable()).hint("it is too large"));
    };
    Baseline::read(&String::from_utf8_lossy(&bytes)).map_err(|error| Failure::new(unusable()).because(&error))
}

fn write_baseline(path: &Path, scanned: &[Scanned]) -> Result<Baseline, Failure> {
    let mut baseline = Baseline::default();
    for one in scanned {
        for found in one.open() {
            baseline.add(&found.finding, &one.place_of(found));
        }
    }
    let text =
        baseline.write().map_err(|error| Failure::new("the baseline cannot be written").because(&error))?;
    replace(Scope::Project, path, &text)?;
    Ok(baseline)
}

/// Time between two looks at the progress.
const PACE: Duration = Duration::from_millis(100);

/// Scans every place, several at once. The answers come in the order of the places.
fn scan_all(
    job: &ScanJob<'_>,
    spots: &[ScanTarget],
    terminal: &mut Terminal<'_>,
) -> io::Result<Vec<Scanned>> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(spots.len().max(1));
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut progress = Progress::new(spots.len());
    let mut scanned: Vec<Option<Scanned>> = spots.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((number, spot)) = take(next, spots) {
                    if sender.send((number, job.scan(spot))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(PACE) {
                Ok((number, one)) => {
                    progress.step(&one.shown, terminal.err)?;
                    scanned[number] = Some(one);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => progress.draw(terminal.err)?,
                Err(mpsc::RecvTimeoutError::Disconnected) => break progress.clear(terminal.err),
            }
        }
    })?;
    Ok(scanned.into_iter().flatten().collect())
}

fn take<'a>(next: &AtomicUsize, spots: &'a [ScanTarget]) -> Option<(usize, &'a ScanTarget)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, spots.get(number)?))
}
