//! A path as typed, turned into a location without opening anything.
//!
//! Nothing is done with the answer but showing it: whoever opens a file resolves it by handle.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use policy::{Location, lexical};

use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Links that are followed before giving up, as the kernel does.
const MAX_LINKS: usize = 40;

/// Finds the real place of a path and every name it was reached by.
pub(crate) fn locate(path: &Path, around: &Surroundings) -> Result<Location, Failure> {
    let refuse = |error: &dyn std::error::Error| {
        Failure::new(format!("the path {} cannot be judged", policy::Shown::path(path))).because(error)
    };
    if path.as_os_str().is_empty() {
        return Err(Failure::usage("the path is empty"));
    }
    let workspace = &around.places.workspace;
    let written = around.cwd.join(path);
    let real = resolve(&written).map_err(|error| refuse(&error))?;
    let location = Location::new(workspace, &real).map_err(|error| refuse(&error))?;
    let location = location.also(workspace, &lexical(&written)).map_err(|error| refuse(&error))?;
    Ok(if path.is_absolute() { location.spelled_absolute() } else { location })
}

/// Follows links component by component; what does not exist is taken as written.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut rest: Vec<OsString> = components(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = rest.pop() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        match std::fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::from(rustix::io::Errno::LOOP));
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(components(&target));
            }
            // Not a link, or nothing there.
            Err(error) if is_plain(&error) => real = next,
            Err(error) => return Err(error),
        }
    }
    Ok(real)
}

fn is_plain(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The names in a path, the last first.
fn components(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<_> = names.collect();
    names.reverse();
    names
}
