//! The way back from a change, for callers that make several that belong together.

use std::sync::Arc;

use policy::Location;
use rustix::fs::{AtFlags, OFlags, Stat};

use crate::attributes::Like;
use crate::change::{Entry, Made};
use crate::resolve::{Here, Workspace};
use crate::stage::Unnamed;
use crate::trouble::Trouble;

/// The way back from one change. It was authorised with the change: what it leads to is what was there before.
#[derive(Debug)]
pub struct Undo {
    pub(crate) location: Location,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) way: Way,
}

#[derive(Debug)]
pub(crate) enum Way {
    /// A file was replaced: the old one takes the place of the new one.
    Restore(Entry, Here, Stat),
    /// A file was made: it goes, and the directories that were made for it.
    Remove(Entry, Stat, Made),
    /// A file was removed: it comes back.
    Return(Entry, Here),
    /// A file was moved: it goes back to where it was, and what it was moved over comes back.
    Back { from: (Entry, Location), stat: Stat, to: Entry, made: Made, over: Option<Here> },
}

impl Undo {
    /// Returns the location of the change.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Goes back. An entry that another process has put there meanwhile stays, and is the trouble.
    pub fn undo(self) -> Result<(), Trouble> {
        let Self { location, workspace, way } = self;
        let _alone = workspace.alone();
        match way {
            Way::Restore(entry, old, new) => {
                let again = again(&entry, &old, &workspace)?;
                entry.is_still(&location, &workspace)?;
                again.take_place(&entry, &new, &workspace)
            }
            Way::Remove(entry, new, made) => {
                entry.is_still(&location, &workspace)?;
                entry.is_still_called(&new)?;
                rustix::fs::unlinkat(&entry.parent, &entry.name, AtFlags::empty())?;
                made.take_back();
                Ok(())
            }
            Way::Return(entry, old) => {
                entry.is_still(&location, &workspace)?;
                again(&entry, &old, &workspace)?.appear(&entry, &workspace)
            }
            Way::Back { from, stat, to, made, over } => {
                to.is_still(&location, &workspace)?;
                to.is_still_called(&stat)?;
                from.0.is_still(&from.1, &workspace)?;
                from.0.becomes(&to.parent, &to.name)?;
                if let Some(old) = over {
                    return again(&to, &old, &workspace)?.appear(&to, &workspace);
                }
                made.take_back();
                Ok(())
            }
        }
    }
}

/// The old file once more. Its name is gone, and the handle still leads to what was in it.
fn again(entry: &Entry, old: &Here, workspace: &Workspace) -> Result<Unnamed, Trouble> {
    let content = workspace.handles.open(&old.handle, OFlags::RDONLY)?;
    let unnamed = Unnamed::new(&entry.parent, Some(Like::of(old, workspace)?))?;
    unnamed.write(std::fs::File::from(content))?;
    Ok(unnamed)
}
