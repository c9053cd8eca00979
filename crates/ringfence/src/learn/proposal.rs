//! From the uses of a command to what a policy would have to say so that it may. Pure, but for the look at the disk that is passed in.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::Places;
use jail::plan::Sight;
use jail::{Use, Uses};
use policy::floor::Forbidden;
use policy::{
    Act, Code, Ground, HostName, HostPattern, Kind, Protected, Shown, Verdict, is_metadata, misleads,
    not_public,
};

use super::fold::{Borders, Folded, covers, fold};
use super::table::{APART, Row, SOCKET_PARTS, SOCKETS};
use super::wide::is_forbidden;
use crate::egress::host_entry;

/// Additions that a policy would need to permit the uses of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Paths to be seen.
    pub read: Vec<String>,
    /// Paths to be changed.
    pub write: Vec<String>,
    /// Hosts to be reached.
    pub hosts: Vec<String>,
    /// Commands to be allowed.
    pub commands: Vec<String>,
    /// Uses that stay refused.
    pub refused: Vec<RefusedUse>,
    /// Notes on uses that no setting permits, or that are better avoided.
    pub notes: Vec<String>,
}

/// A use that is not proposed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedUse {
    /// Kind of the use, as a word.
    pub want: &'static str,
    /// Object of the use.
    pub object: String,
    /// Reason.
    pub because: String,
}

/// Facts for judging uses.
pub(crate) struct Judge<'a> {
    /// Paths that the jail of the profile shows by itself.
    pub(crate) base: &'a Sight,
    /// Bounds on the paths that may be an entry.
    pub(crate) borders: &'a Borders,
    /// Bounds on the paths that may be an entry that is written.
    pub(crate) writing: &'a Borders,
    /// Names that nothing overrules; without them, nothing is proposed.
    pub(crate) names: &'a Forbidden,
    /// The real home directory.
    pub(crate) home: &'a Path,
    /// Directories that a policy speaks of.
    pub(crate) places: &'a Places,
    /// Function that returns the real path of a path, and true if it is a directory.
    pub(crate) look: &'a dyn Fn(&Path) -> Option<(PathBuf, bool)>,
    /// Connections through the broker, which knows hosts by their names; `None` if there was none.
    pub(crate) connections: Option<&'a broker::Report>,
}

/// Entries collected while judging.
#[derive(Default)]
struct Sorted {
    reads: BTreeMap<PathBuf, bool>,
    writes: BTreeMap<PathBuf, bool>,
    /// Written in the private home directory, and gone afterwards.
    private: BTreeMap<PathBuf, bool>,
    hosts: BTreeSet<String>,
    refused: BTreeSet<RefusedUse>,
    notes: BTreeSet<String>,
}

impl Judge<'_> {
    /// Judges everything that was used.
    pub(crate) fn proposal(&self, uses: &Uses) -> Proposal {
        let mut sorted = Sorted::default();
        for used in uses.iter() {
            match used {
                Use::Program(path) => self.program(path, &mut sorted),
                Use::Read(path) => drop(self.read(path, Kind::Read, &mut sorted)),
                Use::Write(path) | Use::Name(path) => {
                    self.written(path, matches!(used, Use::Name(_)), &mut sorted);
                }
                Use::Socket(path) => self.socket(path, &mut sorted),
                // Inside, every address leads to the broker.
                Use::Connection(_) if self.connections.is_some() => {}
                Use::Connection(address) => sorted.connection(*address),
            }
        }
        let refusals = self.connections.iter().flat_map(|report| &report.refusals);
        refusals.for_each(|refused| sorted.refused_host(refused));
        if uses.is_cut() {
            let note = format!("only the first {} things that were used are looked at", Uses::MOST);
            sorted.notes.insert(note);
        }
        self.entries(sorted)
    }

    /// A program is found in a directory of the search path, which has to be seen as a whole.
    fn program(&self, path: &Path, sorted: &mut Sorted) {
        let Some(real) = self.read(path, Kind::Exec, sorted) else { return };
        for parent in [real.parent(), path.parent()].into_iter().flatten() {
            let Some((parent, true)) = (self.look)(parent) else { continue };
            if self.borders.may_be_entry(&parent) && self.base.refusal(&parent, false).is_some() {
                sorted.reads.insert(parent, true);
            }
        }
    }

    /// Something that was read; the path behind it, if it is to be proposed.
    fn read(&self, path: &Path, kind: Kind, sorted: &mut Sorted) -> Option<PathBuf> {
        self.base.refusal(path, false)?;
        let (real, directory) = (self.look)(path).filter(|_| !self.is_apart(path))?;
        if let Some(because) = self.closed(&real, path) {
            sorted.refuse(kind.word(), path, because);
            return None;
        }
        if real != path {
            let (path, real) = (Shown::path(path), Shown::path(&real));
            sorted.notes.insert(format!("{path} leads to {real}: a jail shows what is there, not the link"));
        }
        self.base.refusal(&real, false)?;
        sorted.reads.insert(real.clone(), directory);
        Some(real)
    }

    /// Something that was written, or a name that was made, moved or taken away.
    fn written(&self, path: &Path, named: bool, sorted: &mut Sorted) {
        let Some((place, whole)) = self.to_be_changed(path, named) else { return };
        let refused = |writes| self.base.refusal(&place, writes).is_some();
        if !place.starts_with(self.home) && !refused(true) {
            return;
        }
        let closed = || self.closed(&place, path).filter(|_| !self.is_apart(path));
        if let Some(because) = closed().or_else(|| self.trusted(path)).or_else(|| self.trusted(&place)) {
            sorted.refuse(Kind::Write.word(), path, because);
            return;
        }
        // A layer of a toolchain, or the host's own.
        if !refused(false) && !refused(true) {
            return;
        }
        // Private space accepts all writes, and shows nothing of what the host has there.
        let in_private = refused(false) && !refused(true);
        if in_private && self.is_hidden_name(&place) {
            sorted.private.insert(place, whole);
        } else if let Some(because) = self.executed(&place, path) {
            sorted.refuse_executed(&place, because);
        } else if (in_private || refused(true)) && !self.is_apart(path) {
            sorted.writes.insert(place, whole);
        }
    }

    /// Why nothing may be written there by a policy that was learned.
    fn executed(&self, place: &Path, path: &Path) -> Option<String> {
        self.writing.executed(place).or_else(|| self.writing.executed(path)).map(str::to_owned)
    }

    /// Returns the path that has to be writable: a file that exists, or the directory in which a name comes or goes.
    fn to_be_changed(&self, path: &Path, named: bool) -> Option<(PathBuf, bool)> {
        match (self.look)(path) {
            // Making what is there already changes nothing.
            Some((_, true)) => None,
            Some((real, false)) if !named => Some((real, false)),
            _ => (self.look)(path.parent()?).filter(|(_, directory)| *directory),
        }
    }

    /// Returns true if a place in the home directory lies behind a name that begins with a dot.
    fn is_hidden_name(&self, path: &Path) -> bool {
        let first = path.strip_prefix(self.home).ok().and_then(|below| below.components().next());
        first.is_some_and(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
    }

    /// Why a path is never proposed.
    fn closed(&self, real: &Path, path: &Path) -> Option<String> {
        let closed = self.borders.closed(real).or_else(|| self.borders.closed(path));
        if let Some(because) = closed {
            return Some(because.to_owned());
        }
        if self.borders.stores.iter().any(|store| real.starts_with(store)) {
            return None;
        }
        let forbidden = |path| is_forbidden(self.names, &self.places.workspace, path);
        (forbidden(real) || forbidden(path)).then(|| "the name is forbidden by `files.forbidden`".to_owned())
    }

    /// Why a name is not made: a tool outside would trust it.
    fn trusted(&self, path: &Path) -> Option<String> {
        let below = [self.places.workspace.as_path(), self.home, Path::new("/")];
        let below = below.into_iter().find_map(|top| path.strip_prefix(top).ok())?;
        match Protected::all().judge(Ground::Tree, below, Act::File) {
            Verdict::Kept(name)
            | Verdict::Pointer(name)
            | Verdict::Settings(name)
            | Verdict::Common(name) => Some(format!("`{}` is protected: {}", name.name, name.because)),
            _ => None,
        }
    }

    fn socket(&self, path: &Path, sorted: &mut Sorted) {
        if self.base.refusal(path, false).is_none() || (self.look)(path).is_none() {
            return;
        }
        let text = path.to_string_lossy();
        let named = SOCKETS.iter().find(|row| path.ends_with(row.name));
        let row = named.or_else(|| SOCKET_PARTS.iter().find(|row: &&Row| text.contains(row.name)));
        match row {
            Some(row) => sorted.refuse(Kind::Connect.word(), path, row.because.to_owned()),
            None => drop(sorted.notes.insert(format!("{}: no setting shows a socket", Shown::path(path)))),
        }
    }

    fn entries(&self, mut sorted: Sorted) -> Proposal {
        let reads = fold(&sorted.reads, self.borders);
        // If something is read at a place, a write goes there too and not into private space.
        let (kept, private): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut sorted.private)
            .into_iter()
            .partition(|(path, _)| covers(&reads.entries, path));
        for (path, whole) in kept {
            match self.executed(&path, &path) {
                Some(because) => sorted.refuse_executed(&path, because),
                None => drop(sorted.writes.insert(path, whole)),
            }
        }
        let writes = fold(&sorted.writes, self.writing);
        let private = fold(&private, self.borders);
        for path in private.entries.iter().chain(&private.left) {
            let note = format!(
                "{} is private in a jail: what is written there works, and is gone afterwards",
                self.shown(path)
            );
            sorted.notes.insert(note);
        }
        let needed: BTreeSet<_> =
            reads.entries.iter().filter(|path| !covers(&writes.entries, path)).cloned().collect();
        for (left, borders) in [(&reads.left, self.borders), (&writes.left, self.writing)] {
            sorted.notes.extend(left.iter().map(|path| self.too_much(path, borders)));
        }
        let read = self.texts(Folded { entries: needed, ..reads }, &mut sorted);
        let write = self.texts(writes, &mut sorted);
        let Sorted { hosts, refused, notes, .. } = sorted;
        Proposal {
            read,
            write,
            hosts: hosts.into_iter().collect(),
            commands: Vec::new(),
            refused: refused.into_iter().collect(),
            notes: notes.into_iter().collect(),
        }
    }

    fn too_much(&self, path: &Path, borders: &Borders) -> String {
        match borders.closed_within(path) {
            Some(closed) if closed != path && !borders.wide.contains(path) => {
                format!("{} is not proposed: {} is in it", self.shown(path), self.shown(closed))
            }
            _ => format!("{} is not proposed: it is too much; name what is needed in it", self.shown(path)),
        }
    }

    fn texts(&self, folded: Folded, sorted: &mut Sorted) -> Vec<String> {
        let mut texts = Vec::new();
        for path in folded.entries {
            if let Some(text) = self.text(&path) {
                texts.push(text);
            } else {
                let note = format!("{} is not proposed: no entry can name it", Shown::path(&path));
                sorted.notes.insert(note);
            }
        }
        texts
    }

    /// A path as an entry; `None` where the entry would mean something else.
    fn text(&self, path: &Path) -> Option<String> {
        let whole = path.to_str().filter(|text| !text.contains(misleads) && !text.contains('$'))?;
        let below =
            path.strip_prefix(self.home).ok().and_then(Path::to_str).map(|below| format!("~/{below}"));
        let mut ways = below.into_iter().chain([whole.to_owned()]);
        ways.find(|text| self.places.absolute(text).as_deref() == Some(path))
    }

    /// Returns true if a path lies where nothing is learned: what every jail has for itself, and other people's.
    fn is_apart(&self, path: &Path) -> bool {
        let own = path.starts_with(self.home) || path.starts_with(&self.places.workspace);
        !own && APART.iter().any(|row| path.starts_with(row.name))
    }

    fn shown(&self, path: &Path) -> String {
        self.text(path).unwrap_or_else(|| Shown::path(path).to_string())
    }
}

impl Sorted {
    /// A host that the broker refused: proposed if no rule has decided about it.
    fn refused_host(&mut self, refused: &broker::RefusedHost) {
        let undecided = matches!(refused.code, Code::UnknownHost | Code::AskUnanswered);
        match &refused.endpoint {
            Some(endpoint) if undecided => {
                self.hosts.insert(host_entry(endpoint));
            }
            endpoint => {
                let object = endpoint.as_ref().map_or_else(|| "a host".to_owned(), ToString::to_string);
                let (want, because) = (Kind::Connect.word(), refused.reason.clone());
                self.refused.insert(RefusedUse { want, object, because });
            }
        }
    }

    fn connection(&mut self, address: SocketAddr) {
        let host = HostName::Address(address.ip());
        // Port 0 is how libraries compare addresses, 53 how they look names up.
        if matches!(address.port(), 0 | 53) || address.ip().is_unspecified() {
            return;
        }
        if is_metadata(&host) {
            let because = "a cloud metadata service, which hands out the machine's credentials";
            let object = address.to_string();
            self.refused.insert(RefusedUse {
                want: Kind::Connect.word(),
                object,
                because: because.to_owned(),
            });
        } else if address.ip().is_loopback() {
            let note = format!("{address}: a jail without the host's network has a loopback of its own");
            self.notes.insert(note);
        } else if HostPattern::parse(&address.to_string()).is_ok() {
            if let Some(why) = not_public(&host) {
                self.notes.insert(format!("{address} is not public: {why}"));
            }
            self.hosts.insert(address.to_string());
        } else {
            self.notes.insert(format!("{address}: no entry can name this address"));
        }
    }

    fn refuse_executed(&mut self, path: &Path, because: String) {
        self.refuse(Kind::Write.word(), path, because);
        self.notes.insert(BY_HAND.to_owned());
    }

    fn refuse(&mut self, want: &'static str, path: &Path, because: String) {
        self.refused.insert(RefusedUse { want, object: Shown::path(path).to_string(), because });
    }
}

const BY_HAND: &str = "places from which programs of the host execute are not proposed to be written: if you want that, write \
                       the view into the policy by hand";

#[cfg(test)]
mod tests;
