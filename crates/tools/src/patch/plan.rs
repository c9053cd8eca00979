//! A patch -> the changes it means, with every authorisation and every new content at hand. Nothing is changed yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ringfence::guard::{ReadableFile, Removable, Trouble, Version, Writable};

use super::place::{self, Unplaced, Why};
use super::{Action, Form, Hunk, Patch};
use crate::content::{Content, LONGEST};
use crate::edit::nearest::nearest;
use crate::error::{ErrorKind, ToolError};
use crate::tool::Call;

/// The bytes that all files of a patch may have together.
const TOGETHER: usize = 64_000_000;

/// One change, ready to be made.
pub(super) struct Change {
    pub(super) told: Told,
    pub(super) step: Step,
}

/// Report of a change.
pub(super) struct Told {
    pub(super) action: &'static str,
    pub(super) path: String,
    pub(super) to: Option<String>,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) notes: Vec<String>,
}

pub(super) enum Step {
    /// A new file.
    Make(Writable, Vec<u8>),
    /// Another content, in place of this version.
    Replace(Writable, Vec<u8>, Version),
    /// The same content elsewhere.
    Move(Box<(Removable, Writable)>),
    /// Another content elsewhere.
    Rewrite(Box<Rewrite>),
    /// No file any more. If the patch says what was in it, that was this version.
    Remove(Removable, Option<Box<(ReadableFile, Version)>>),
}

pub(super) struct Rewrite {
    pub(super) from: Removable,
    pub(super) source: ReadableFile,
    pub(super) version: Version,
    pub(super) to: Writable,
    pub(super) content: Vec<u8>,
}

/// Plans all changes of a patch, and none twice.
pub(super) fn plan(call: &Call<'_>, patch: Patch) -> Result<Vec<Change>, ToolError> {
    let mut planner =
        Planner { call, form: patch.form, steps: place::STEPS, room: TOGETHER, taken: BTreeSet::new() };
    let mut changes = Vec::new();
    for section in patch.sections {
        let change = match section.action {
            Action::Add { path, content } => planner.add(&path, content.into_bytes()),
            Action::Delete { path, content } => planner.delete(&path, content.as_deref()),
            Action::Update { path, to: None, hunks } => planner.update(&path, &hunks),
            Action::Update { path, to: Some(to), hunks } => planner.relocate(&path, &to, &hunks),
        };
        changes.push(change?);
    }
    planner.apart()?;
    Ok(changes)
}

struct Planner<'a> {
    call: &'a Call<'a>,
    form: Form,
    steps: usize,
    room: usize,
    /// The real paths of the files that have their change.
    taken: BTreeSet<PathBuf>,
}

impl Planner<'_> {
    fn add(&mut self, path: &Path, content: Vec<u8>) -> Result<Change, ToolError> {
        let writable = self.free(path)?;
        self.fits(content.len())?;
        let added = crate::content::lines(&content);
        let told = Told { added, ..Told::new("add", writable.location().to_string()) };
        Ok(Change { told, step: Step::Make(writable, content) })
    }

    fn update(&mut self, path: &Path, hunks: &[Hunk]) -> Result<Change, ToolError> {
        let opened = self.call.guard.read(path, self.call.abort)?;
        let writable = self.call.guard.write(path, self.call.abort)?;
        self.take(opened.location().path())?;
        let name = opened.location().to_string();
        if writable.location().path() != opened.location().path() {
            return Err(ToolError::trouble(&name, Trouble::Changed));
        }
        let old = self.content(&opened)?;
        let mut told = Told::new("update", name);
        let content = self.apply(&old.bytes, hunks, &mut told)?;
        Ok(Change { told, step: Step::Replace(writable, content, old.version) })
    }

    fn relocate(&mut self, path: &Path, to: &Path, hunks: &[Hunk]) -> Result<Change, ToolError> {
        // A caller that moves a file to a readable place has to be allowed to read it.
        let opened = self.call.guard.read(path, self.call.abort)?;
        let from = self.removable(path, Some(&opened))?;
        let writable = self.free(to)?;
        let mut told = Told::new("move", opened.location().to_string());
        told.to = Some(writable.location().to_string());
        if hunks.is_empty() {
            return Ok(Change { told, step: Step::Move(Box::new((from, writable))) });
        }
        let old = self.content(&opened)?;
        let content = self.apply(&old.bytes, hunks, &mut told)?;
        let rewrite = Rewrite { from, source: opened, version: old.version, to: writable, content };
        Ok(Change { told, step: Step::Rewrite(Box::new(rewrite)) })
    }

    fn delete(&mut self, path: &Path, content: Option<&str>) -> Result<Change, ToolError> {
        let Some(content) = content else {
            let removable = self.removable(path, None)?;
            let told = Told::new("delete", removable.location().to_string());
            return Ok(Change { told, step: Step::Remove(removable, None) });
        };
        let opened = self.call.guard.read(path, self.call.abort)?;
        let removable = self.removable(path, Some(&opened))?;
        let name = opened.location().to_string();
        let old = self.content(&opened)?;
        if old.bytes != content.as_bytes() {
            let text = format!("{name}: what the patch deletes is not what is in the file");
            return Err(ToolError::new(ErrorKind::NoMatch, text).hint("read it again"));
        }
        let told = Told { removed: crate::content::lines(&old.bytes), ..Told::new("delete", name) };
        Ok(Change { told, step: Step::Remove(removable, Some(Box::new((opened, old.version)))) })
    }

    /// A file that goes away from where it is. Links and directories do not.
    fn removable(&mut self, path: &Path, opened: Option<&ReadableFile>) -> Result<Removable, ToolError> {
        let removable = self.call.guard.remove(path, self.call.abort)?;
        let name = removable.location().to_string();
        removable.is_file().map_err(|trouble| match trouble {
            Trouble::Special => {
                let text = format!("{name} is a link or something else that is not a file");
                ToolError::new(ErrorKind::WrongType, text).hint("name the file that it leads to")
            }
            trouble => ToolError::trouble(&name, trouble),
        })?;
        if opened.is_some_and(|opened| opened.location().path() != removable.location().path()) {
            return Err(ToolError::trouble(&name, Trouble::Changed));
        }
        self.take(removable.location().path())?;
        Ok(removable)
    }

    /// A place where nothing is.
    fn free(&mut self, path: &Path) -> Result<Writable, ToolError> {
        let writable = self.call.guard.write(path, self.call.abort)?;
        self.take(writable.location().path())?;
        if writable.exists() {
            let text = format!("{} exists already", writable.location());
            return Err(ToolError::new(ErrorKind::Conflict, text)
                .hint("update it, or delete it in a patch of its own"));
        }
        Ok(writable)
    }

    fn take(&mut self, path: &Path) -> Result<(), ToolError> {
        if self.taken.insert(path.to_owned()) {
            return Ok(());
        }
        let text = format!("{} is in the patch twice", ringfence::policy::Shown::path(path));
        Err(ToolError::new(ErrorKind::Malformed, text).hint("bring everything about a file into one section"))
    }

    /// No file of a patch is the directory of another.
    fn apart(&self) -> Result<(), ToolError> {
        let inside =
            self.taken.iter().find(|path| path.ancestors().skip(1).any(|above| self.taken.contains(above)));
        inside.map_or(Ok(()), |path| {
            let path = ringfence::policy::Shown::path(path);
            Err(ToolError::new(ErrorKind::Malformed, format!("{path} is below another file of the patch")))
        })
    }

    fn content(&mut self, opened: &ReadableFile) -> Result<Content, ToolError> {
        let content = Content::read(opened, LONGEST)?;
        self.fits(content.bytes.len())?;
        let binary = || format!("{} is not text: it contains NUL bytes", opened.location());
        let is_text = !content.bytes.contains(&0);
        is_text.then_some(content).ok_or_else(|| ToolError::new(ErrorKind::Binary, binary()))
    }

    fn fits(&mut self, bytes: usize) -> Result<(), ToolError> {
        self.room = self.room.checked_sub(bytes).ok_or_else(|| {
            let text = format!("the files of the patch have more than {TOGETHER} bytes together");
            ToolError::new(ErrorKind::TooLarge, text).hint("apply it in parts")
        })?;
        Ok(())
    }

    fn apply(&mut self, old: &[u8], hunks: &[Hunk], told: &mut Told) -> Result<Vec<u8>, ToolError> {
        let applied = place::apply(old, self.form, hunks, &mut self.steps)
            .map_err(|unplaced| told_why(&told.path, old, hunks, &unplaced))?;
        self.fits(applied.content.len())?;
        (told.added, told.removed, told.notes) = (applied.added, applied.removed, applied.notes);
        Ok(applied.content)
    }
}

impl Told {
    pub(super) fn new(action: &'static str, path: String) -> Self {
        Self { action, path, to: None, added: 0, removed: 0, notes: Vec::new() }
    }
}

fn told_why(name: &str, old: &[u8], hunks: &[Hunk], unplaced: &Unplaced) -> ToolError {
    let what = format!("{name}: the hunk on line {} of the patch", unplaced.line);
    match &unplaced.why {
        Why::Missing => {
            let error = ToolError::new(ErrorKind::NoMatch, format!("{what}: its lines are not there"));
            match meant(old, hunks, unplaced.line) {
                Some(meant) => error.hint(meant),
                None => error.hint("read the file again; hunks go from top to bottom"),
            }
        }
        Why::NoAnchor(anchor) => {
            let anchor = ringfence::policy::Shown::text(anchor);
            ToolError::new(ErrorKind::NoMatch, format!("{what}: there is no line `{anchor}` before it"))
                .hint("after `@@` stands a whole line of the file")
        }
        Why::Ambiguous(lines) => {
            let listed: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let text = format!("{what}: it may belong on any of the lines {}", listed.join(", "));
            ToolError::new(ErrorKind::NotUnique, text)
                .hint("add more lines around the change, or a line after `@@`")
        }
        Why::Nowhere => {
            ToolError::new(ErrorKind::NotUnique, format!("{what}: it only adds lines and does not say where"))
                .hint("add a line that stays, or a line after `@@`, or `*** End of File` behind it")
        }
        Why::TooLong => {
            ToolError::new(ErrorKind::TooLarge, format!("{what}: looking for its place takes too long"))
                .hint("use fewer hunks, or exact line numbers")
        }
    }
}

fn meant(old: &[u8], hunks: &[Hunk], line: usize) -> Option<String> {
    let hunk = hunks.iter().find(|hunk| hunk.line == line)?;
    let kept = hunk.lines.iter().filter(|line| line.sign != super::Sign::Add);
    let wanted: String = kept.map(|line| line.text.as_str()).collect();
    nearest(&String::from_utf8_lossy(old), &wanted).map(|nearest| nearest.to_string())
}
