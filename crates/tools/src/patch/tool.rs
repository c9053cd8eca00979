//! `apply_patch`: several files changed together, or not at all.

use std::fmt::Write as _;

use ringfence::audit::Impact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::commit::commit;
use super::plan::{Told, plan};
use crate::content::count;
use crate::error::{ErrorKind, ToolError};
use crate::listing::Page;
use crate::reply::{Reply, Row, Rows};
use crate::tool::{Call, Tool};

/// The longest patch, in bytes.
const LONGEST: usize = 1_000_000;
/// The most files of a patch.
const MOST: usize = 200;

/// Applies a patch to several files: all of it, or nothing.
#[derive(Debug, Clone, Copy)]
pub struct ApplyPatch;

/// Parameters of `apply_patch`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchParameters {
    /// The patch: an envelope with `*** Begin Patch`, sections `*** Add File: PATH`, `*** Update File: PATH` (with `*** Move to: PATH`
    /// if the file moves) and `*** Delete File: PATH`, and `*** End Patch`; or a unified diff. Paths are from the workspace. In an
    /// update, lines that stay begin with a space, those that go with `-`, new ones with `+`; hunks are separated by `@@`, which
    /// may be followed by a line of the file that stands before the hunk.
    #[serde(alias = "input")]
    pub patch: String,
}

impl Tool for ApplyPatch {
    type Parameters = PatchParameters;
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str = "Adds, changes, moves and deletes files as a patch says, all together or not at all. Takes an envelope \
        (`*** Begin Patch`) or a unified diff.";
    const IMPACT: Impact = Impact::Mutate;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("input", "patch")];

    fn run(&self, call: &Call<'_>, parameters: PatchParameters) -> Result<Reply, ToolError> {
        let length = parameters.patch.len();
        let large = |text: String| Err(ToolError::new(ErrorKind::TooLarge, text).hint("apply it in parts"));
        if length > LONGEST {
            return large(format!("the patch has {length} bytes, and at most {LONGEST} are taken"));
        }
        let patch = super::parse(&parameters.patch)
            .map_err(|malformed| ToolError::new(ErrorKind::Malformed, malformed.to_string()))?;
        let files = patch.sections.len();
        if files > MOST {
            return large(format!("the patch has {files} files, and at most {MOST} are changed at once"));
        }
        let changes = plan(call, patch)?;
        Ok(told(&commit(changes, call.abort)?))
    }
}

fn told(changes: &[Told]) -> Reply {
    let sum = |f: fn(&Told) -> usize| changes.iter().map(f).sum::<usize>();
    let (added, removed) = (sum(|told| told.added), sum(|told| told.removed));
    let head = format!(
        "{} changed: {} added, {} removed\n",
        count(changes.len(), "file"),
        count(added, "line"),
        count(removed, "line")
    );
    let total = changes.len();
    let rows = changes.iter().enumerate().map(|(item, told)| row(item, told)).collect();
    let page = Page { offset: 0, limit: total };
    Reply::new(head, json!({ "added": added, "removed": removed })).rows(Rows {
        key: "files",
        what: "files",
        page,
        total,
        shown: rows,
        all: String::new(),
        cut: false,
    })
}

fn row(item: usize, told: &Told) -> Row {
    let Told { action, path, to, added, removed, notes } = told;
    let moved = to.as_ref().map_or_else(String::new, |to| format!(" to {to}"));
    let mut text = format!("{action} {path}{moved} (+{added} -{removed})\n");
    for note in notes {
        // A string takes everything.
        let _written = writeln!(text, "  {note}");
    }
    let data = json!({
        "action": action, "path": path, "to": to, "added": added, "removed": removed, "notes": notes,
    });
    Row { item, text, data }
}
