//! A directory of changes, brought into a form from which single changes can be taken.

use std::path::Path;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::compare::Entry;
use crate::error::{At as _, OverlayError};
use crate::marks;
use crate::walk::DEEPEST;
use git::Directory;

/// Writes out what a mark on a directory says at once: that everything below it is gone.
///
/// An entry taken out of such a directory would be hidden by it as soon as it is real. Each step leaves the meaning as it is.
pub(crate) fn unfold(
    path: &Path,
    upper: &Directory,
    lower: Option<&Directory>,
    depth: usize,
) -> Result<(), OverlayError> {
    if marks::is_opaque(upper).at(WRITE, path)? {
        if let Some(lower) = lower {
            spell_out(upper, lower).at(WRITE, path)?;
        }
        marks::clear_opaque(upper).at(WRITE, path)?;
    }
    for name in upper.names().at(WRITE, path)? {
        let inner = path.join(&name);
        let Some(look) = upper.look(&name).at(WRITE, &inner)? else { continue };
        if !look.is_directory() || depth >= DEEPEST {
            continue;
        }
        // A directory that cannot be entered cannot be applied either.
        let Ok(above) = upper.enter(&name) else { continue };
        let below = lower.and_then(|lower| lower.enter(&name).ok());
        unfold(&inner, &above, below.as_ref(), depth + 1)?;
    }
    Ok(())
}

fn spell_out(upper: &Directory, lower: &Directory) -> Result<(), Errno> {
    for name in lower.names()? {
        match (upper.look(&name)?, lower.look(&name)?) {
            (None, _) => marks::set_removed(upper, &name)?,
            (Some(above), Some(below)) if above.is_directory() && below.is_directory() => {
                marks::set_opaque(&upper.enter(&name)?)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes what is no change any more. Says whether nothing is left.
pub(crate) fn tidy(
    path: &Path,
    upper: &Directory,
    lower: Option<&Directory>,
    depth: usize,
) -> Result<bool, OverlayError> {
    let mut empty = true;
    for name in upper.names().at(WRITE, path)? {
        let inner = path.join(&name);
        let Some(above) = Entry::of(upper, &name).at(WRITE, &inner)? else { continue };
        let below = lower.map(|lower| Entry::of(lower, &name)).transpose().at(WRITE, &inner)?.flatten();
        let directory = above.look.is_directory();
        let settled = if directory {
            depth < DEEPEST && settled(&inner, above, below, depth)?
        } else {
            is_settled(&above, below.as_ref())
        };
        if settled {
            let flags = if directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            rustix::fs::unlinkat(upper, &name, flags).at(WRITE, &inner)?;
        }
        empty &= settled;
    }
    Ok(empty)
}

/// Returns true if a directory of changes says nothing: it is like the one below, and so is everything in it.
fn settled(
    path: &Path,
    above: Entry<'_>,
    below: Option<Entry<'_>>,
    depth: usize,
) -> Result<bool, OverlayError> {
    let Ok(upper) = above.parent.enter(above.name) else { return Ok(false) };
    let lower = below.filter(|below| below.look.is_directory());
    let entered = lower.map(|below| below.parent.enter(below.name)).transpose().at(WRITE, path)?;
    let empty = tidy(path, &upper, entered.as_ref(), depth + 1)?;
    let opaque = marks::is_opaque(&upper).at(WRITE, path)?;
    Ok(empty && !opaque && lower.is_some_and(|below| below.look.mode() == above.look.mode()))
}

fn is_settled(above: &Entry<'_>, below: Option<&Entry<'_>>) -> bool {
    match below {
        None => above.look.is_whiteout(),
        Some(_) if above.look.is_whiteout() => false,
        Some(below) => above.is_like(below),
    }
}

const WRITE: &str = "cannot write down";
