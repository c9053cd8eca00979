//! Other names of the same files. A hard link of a masked file shows what the mask hides, so it is masked, too.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{Look, error_number, failed};
use crate::plan::{Conflict, Mask};
use crate::spec::Mode;

/// Adds every other name of the masked files that have one, in every place where the jail shows it. Nothing is skipped.
pub(super) fn add_second_names(look: &mut Look<'_>) -> Result<(), Conflict> {
    let mut shared = HashSet::new();
    for mask in &mut look.found {
        // Gone since it was found: mounting over it says so.
        let Ok(found) = mask.path.symlink_metadata() else { continue };
        mask.id = Some((found.dev(), found.ino()));
        if !found.is_dir() && found.nlink() > 1 {
            shared.insert((found.dev(), found.ino()));
        }
    }
    if shared.is_empty() {
        return Ok(());
    }
    let views = look.spec.views.iter().filter(|view| view.mode.shows_host());
    let mut pending: Vec<PathBuf> = views.map(|view| view.path.clone()).collect();
    while let Some(directory) = pending.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if is_passed_over(&error) => continue,
            Err(error) => {
                return Err(failed(&directory, error_number(&error)));
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                let own = look.spec.views.iter().any(|view| view.path == path);
                let masked = look.found.iter().any(|mask| mask.directory && mask.path == path);
                if !own && !masked {
                    pending.push(path);
                }
            } else if kind.is_file()
                && shared.iter().any(|(_, inode)| *inode == std::os::unix::fs::DirEntryExt::ino(&entry))
            {
                let Ok(found) = entry.metadata() else { continue };
                let id = (found.dev(), found.ino());
                let known = look.found.iter().any(|mask| mask.path == path);
                if !known && shared.contains(&id) && look.spec.mode_at(&path).is_some_and(Mode::shows_host) {
                    look.found.push(Mask { path, directory: false, id: Some(id) });
                }
            }
        }
    }
    Ok(())
}

/// Returns true if the error says that the path is masked already, or is no directory, or is gone.
fn is_passed_over(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotADirectory | NotFound | PermissionDenied)
}
