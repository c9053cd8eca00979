//! The search path inside: only directories that are seen, none that the agent can fill.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Place;

/// Directories in which every system keeps its programs; for a caller whose search path leads nowhere.
const FALLBACK: &str = "/usr/local/bin:/usr/bin:/bin";

/// The entries that lead somewhere, in their order, each once.
pub(super) fn cleaned(search: Option<&OsStr>, place: &Place<'_>) -> OsString {
    let mut kept: Vec<PathBuf> = Vec::new();
    for entry in search.iter().flat_map(std::env::split_paths).filter_map(|entry| plain(&entry)) {
        if leads_somewhere(&entry, place) && !kept.contains(&entry) {
            kept.push(entry);
        }
    }
    if kept.is_empty() { FALLBACK.into() } else { joined(&kept) }
}

/// Returns true if every entry leads somewhere: a search path that was asked for is never changed silently.
pub(super) fn reachable(search: &OsStr, place: &Place<'_>) -> bool {
    std::env::split_paths(search)
        .all(|entry| plain(&entry).is_some_and(|entry| leads_somewhere(&entry, place)))
}

/// The deepest directory that holds an entry counts. The workspace and the private directories hold what the agent
/// put there, so a program of theirs would stand in for the system's.
fn leads_somewhere(entry: &Path, place: &Place<'_>) -> bool {
    let depth = |dir: &Path| entry.starts_with(dir).then(|| dir.components().count());
    let seen = place.visible.iter().filter(|dir| dir.is_absolute()).filter_map(|dir| depth(dir)).max();
    let filled = [place.workspace, place.home, place.tmp].into_iter().filter_map(depth).max();
    seen > filled
}

/// An entry without `.` and `..`, spelled one way. That it is absolute follows from where it has to lie.
fn plain(entry: &Path) -> Option<PathBuf> {
    let bytes = entry.as_os_str().as_encoded_bytes();
    let dots = bytes.split(|&byte| byte == b'/').any(|part| part == b"." || part == b"..");
    let printable = !bytes.iter().any(u8::is_ascii_control);
    (printable && !dots).then(|| entry.components().collect())
}

fn joined(entries: &[PathBuf]) -> OsString {
    let mut search = OsString::new();
    for (at, entry) in entries.iter().enumerate() {
        search.push(if at == 0 { "" } else { ":" });
        search.push(entry);
    }
    search
}
