//! Result of a scan of one place, with everything that is needed to show it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ::audit::Digest;
use config::ScanSettings;
use skill::archive::{Kind, entries};
use skill::{Accepted, Content, Finding, Judged, Scanner, Severity, Suppression, Tree, Verdict};

use super::gather::{ScanTarget, joined};
use super::pins::{Difference, Pins, pin_name};
use super::read::{Trouble, read};
use crate::caret::Window;

/// Longest piece of a line that is shown, in columns.
const WIDTH: usize = 110;

/// Result of a scan of one place.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// Name.
    pub(crate) name: String,
    /// Path as it was typed.
    pub(crate) shown: PathBuf,
    /// Real path; `None` for standard input.
    pub(crate) real: Option<PathBuf>,
    /// Path as a policy names it.
    pub(crate) named: Option<PathBuf>,
    /// True if it is a single file.
    pub(crate) is_file: bool,
    /// The hash of everything in it.
    pub(crate) sha256: Digest,
    pub(crate) files: usize,
    pub(crate) bytes: usize,
    /// Findings: first those that count, then the accepted ones.
    pub(crate) found: Vec<Found>,
    pub(crate) verdict: Verdict,
    /// Name in a lock.
    pub(crate) pinned_as: String,
    /// Differences from the pins, if a lock was given.
    pub(crate) changed: Vec<Difference>,
    /// Items that could not be looked at.
    pub(crate) troubles: Vec<Trouble>,
}

/// A finding and its place, drawn.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    /// The file, as it was typed.
    pub(crate) shown: PathBuf,
    /// The line and column behind it, counted from one.
    pub(crate) end: (usize, usize),
    /// The place in its line; nothing where there are no bytes, as in a link.
    pub(crate) window: Option<Window>,
    /// Reason why it does not count.
    pub(crate) suppression: Option<Suppression>,
}

/// Parts of a scan that are the same for every place.
pub(crate) struct ScanJob<'a> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) accepted: &'a Accepted,
    pub(crate) settings: &'a ScanSettings,
    pub(crate) workspace: &'a Path,
    pub(crate) pins: Option<&'a Pins>,
}

impl ScanJob<'_> {
    /// Reads and scans one place.
    pub(crate) fn scan(&self, spot: &ScanTarget) -> Scanned {
        let (tree, mut troubles) = read(spot);
        troubles.extend(too_large(spot, &tree));
        let report = self.scanner.scan(&tree);
        let bytes = report.bytes;
        let named = spot.real.as_deref().map(|real| self.named(real));
        // A single file is where the tree is; the name in the tree is its own.
        let root = if spot.is_file() { named.as_deref().and_then(Path::parent) } else { named.as_deref() };
        let pinned_as = pin_name(named.as_deref(), &tree);
        let changed = self.pins.map(|pins| pins.differences(&pinned_as, &tree)).unwrap_or_default();
        let judged = anew(self.accepted.judge(&tree, root, report), &changed);
        let verdict = Verdict::of(&judged, self.settings.block_on_critical);
        let found = Drawing { spot, tree: &tree }.all(judged);
        Scanned {
            name: tree.name.clone(),
            shown: spot.shown.clone(),
            real: spot.real.clone(),
            named,
            is_file: spot.is_file(),
            sha256: Digest::of(&tree.listing()),
            files: tree.entries.len(),
            bytes,
            found,
            verdict,
            pinned_as,
            changed,
            troubles,
        }
    }

    /// A path as a policy names it: from the workspace, or else from the root of the file system.
    fn named(&self, real: &Path) -> PathBuf {
        real.strip_prefix(self.workspace).unwrap_or(real).to_owned()
    }
}

impl Scanned {
    /// Returns the path of something that is not as it was pinned, as it was typed.
    pub(crate) fn place_of_change(&self, difference: &Difference) -> PathBuf {
        let below = difference.path.as_deref().filter(|_| !self.is_file).unwrap_or(Path::new(""));
        joined(&self.shown, below)
    }

    /// Returns the findings that count.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(|found| found.suppression.is_none())
    }

    /// Returns the path of a finding, as a policy and a baseline name it.
    pub(crate) fn place_of(&self, found: &Found) -> PathBuf {
        let root =
            if self.is_file { self.named.as_deref().and_then(Path::parent) } else { self.named.as_deref() };
        root.map_or_else(|| found.finding.path.clone(), |root| root.join(&found.finding.path))
    }

    /// Returns the number of findings of a severity that count.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.open().filter(|found| found.finding.severity == severity).count()
    }
}

/// Reopens the findings in content that changed since it was pinned: it was not there before, so no baseline accepts anything in it.
fn anew(judged: Judged, changed: &[Difference]) -> Judged {
    let is_new = |finding: &Finding| changed.iter().any(|difference| difference.concerns(&finding.path));
    let again = |(finding, suppression): &(Finding, Suppression)| {
        *suppression == Suppression::Baseline && is_new(finding)
    };
    let (again, suppressed): (Vec<_>, Vec<_>) = judged.suppressed.into_iter().partition(again);
    let mut open = judged.open;
    open.extend(again.into_iter().map(|(finding, _)| finding));
    open.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Judged { open, suppressed }
}

struct Drawing<'a> {
    spot: &'a ScanTarget,
    tree: &'a Tree,
}

impl Drawing<'_> {
    fn all(&self, judged: Judged) -> Vec<Found> {
        let open = judged.open.into_iter().map(|finding| (finding, None));
        let suppressed =
            judged.suppressed.into_iter().map(|(finding, suppression)| (finding, Some(suppression)));
        let mut files = Files::of(self.tree);
        let all = open.chain(suppressed);
        all.map(|(finding, suppression)| self.one(files.bytes(&finding.path), &finding, suppression))
            .collect()
    }

    fn one(&self, bytes: &[u8], finding: &Finding, suppression: Option<Suppression>) -> Found {
        let end = end(bytes, finding);
        let window = (!bytes.is_empty()).then(|| Window::new(bytes, finding.span.clone(), WIDTH));
        Found { finding: finding.clone(), shown: self.shown(&finding.path), end, window, suppression }
    }

    /// A path of the tree, as it was typed. What is in an archive is shown below it.
    fn shown(&self, path: &Path) -> PathBuf {
        let shown = &self.spot.shown;
        if !self.spot.is_file() {
            return joined(shown, path);
        }
        let own = self.tree.entries.first().map_or(Path::new(""), |entry| &entry.path);
        path.strip_prefix(own).map_or_else(|_| shown.clone(), |inner| joined(shown, inner))
    }
}

/// Returns the files left out for their size. Their content was not read, whether or not a rule reports them.
fn too_large(spot: &ScanTarget, tree: &Tree) -> Vec<Trouble> {
    let drawing = Drawing { spot, tree };
    let large = tree.entries.iter().filter_map(|entry| match entry.content {
        Content::TooLarge { length } => {
            Some(Trouble::new(&drawing.shown(&entry.path), format!("it is too large, with {length} bytes")))
        }
        _ => None,
    });
    large.collect()
}

/// The files of a tree by their paths, and those in its archives once one of them is asked for.
struct Files<'a> {
    plain: BTreeMap<&'a Path, &'a [u8]>,
    unpacked: BTreeMap<PathBuf, Vec<u8>>,
    opened: BTreeSet<&'a Path>,
}

impl<'a> Files<'a> {
    fn of(tree: &'a Tree) -> Self {
        let plain = tree.entries.iter().filter_map(|entry| match &entry.content {
            Content::File { bytes, .. } => Some((entry.path.as_path(), bytes.as_slice())),
            _ => None,
        });
        Self { plain: plain.collect(), unpacked: BTreeMap::new(), opened: BTreeSet::new() }
    }

    /// The bytes of a file; none where there is no such file.
    fn bytes(&mut self, path: &Path) -> &[u8] {
        if let Some(bytes) = self.plain.get(path) {
            return bytes;
        }
        let archive = path.ancestors().skip(1).find_map(|above| self.plain.get_key_value(above));
        if let Some((&above, &bytes)) = archive
            && self.opened.insert(above)
        {
            for entry in entries(bytes).unwrap_or_default() {
                if let Kind::File { bytes, .. } = entry.kind {
                    self.unpacked.insert(above.join(entry.name), bytes);
                }
            }
        }
        self.unpacked.get(path).map_or(&[], Vec::as_slice)
    }
}

/// Line and column behind a finding.
fn end(bytes: &[u8], finding: &Finding) -> (usize, usize) {
    let text = bytes.get(finding.span.clone()).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').count() - 1;
    let last = text.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let columns = String::from_utf8_lossy(last).chars().count();
    let column = if lines == 0 { finding.column + columns } else { columns + 1 };
    (finding.line + lines, column)
}
