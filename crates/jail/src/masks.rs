//! Masked files of the host itself, and their state when a command has ended.

use std::os::unix::fs::MetadataExt as _;

use policy::Shown;

use crate::plan::Mask;
use crate::spec::{Mode, Spec};

/// Masked files of the host itself. In a layer none of them can be moved.
pub(crate) struct Masked {
    files: Vec<Mask>,
    /// Links that masked files were found by.
    links: Vec<Mask>,
}

impl Masked {
    pub(crate) fn of(spec: &Spec) -> Self {
        let real = |masks: &[Mask]| {
            let real = masks.iter().filter(|mask| spec.mode_at(&mask.path) == Some(Mode::ReadWrite));
            real.cloned().collect()
        };
        Self { files: real(&spec.masks), links: real(&spec.forbidden_links) }
    }

    /// Returns notes for the user: a directory around a masked file was renamed, or a link to one was removed.
    pub(crate) fn notes(&self) -> Vec<String> {
        let files = gone(&self.files).map(|(first, more)| {
            format!(
                "{first}{more} is forbidden and was moved or replaced while the command ran; where it is now, a later run may not mask it"
            )
        });
        let links = gone(&self.links).map(|(first, more)| {
            format!(
                "{first}{more} is forbidden, and the link was removed, moved or replaced while the command ran; what it led to stays masked where it is"
            )
        });
        files.into_iter().chain(links).collect()
    }
}

/// The first that is not where it was, and how many others there are.
fn gone(masks: &[Mask]) -> Option<(String, String)> {
    let is_there = |mask: &Mask| {
        let found = mask.path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()));
        mask.id.is_none() || found == mask.id
    };
    let mut gone = masks.iter().filter(|mask| !is_there(mask));
    let first = Shown::path(&gone.next()?.path).to_string();
    let more = match gone.count() {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    Some((first, more))
}
