//! The changes of a patch, made: all of them, or none.

use std::fmt::Write as _;

use ringfence::guard::{Abort, ReadableFile, Removable, StagedFile, Trouble, Undo, Version, Writable};

use super::plan::{Change, Rewrite, Step, Told};
use crate::content;
use crate::error::{ErrorKind, ToolError};

/// Makes all changes. First everything is written to unnamed files, then it is put in its place, and a failure on the way
/// brings back what was there before.
pub(super) fn commit(changes: Vec<Change>, abort: &Abort) -> Result<Vec<Told>, ToolError> {
    let mut ready = Ready::default();
    let mut told = Vec::with_capacity(changes.len());
    for change in changes {
        let name = change.told.path.clone();
        ready.stage(&name, change.step).map_err(|trouble| ToolError::trouble(&name, trouble))?;
        told.push(change.told);
    }
    if abort.is_aborted() {
        return Err(ToolError::new(ErrorKind::Aborted, "the patch was cancelled; nothing was changed"));
    }
    ready.unchanged()?;
    ready.make()?;
    Ok(told)
}

/// Everything that has to be put, moved and removed, in this order: what is new is there before what is old is gone.
#[derive(Default)]
struct Ready {
    puts: Vec<(String, StagedFile, Option<Version>)>,
    moves: Vec<(String, Removable, Writable)>,
    removals: Vec<(String, Removable)>,
    /// Files that are not written themselves, and must not have changed.
    watched: Vec<(String, ReadableFile, Version)>,
}

impl Ready {
    fn stage(&mut self, name: &str, step: Step) -> Result<(), Trouble> {
        let name = name.to_owned();
        match step {
            Step::Make(to, content) => self.puts.push((name, to.stage(&content)?, None)),
            Step::Replace(to, content, version) => self.puts.push((name, to.stage(&content)?, Some(version))),
            Step::Move(both) => self.moves.push((name, both.0, both.1)),
            Step::Rewrite(rewrite) => {
                let Rewrite { from, source, version, to, content } = *rewrite;
                let place = to.location().to_string();
                self.puts.push((place, to.stage_like(&content, &source)?, None));
                self.watched.push((name.clone(), source, version));
                self.removals.push((name, from));
            }
            Step::Remove(from, known) => {
                self.watched.extend(known.map(|known| (name.clone(), known.0, known.1)));
                self.removals.push((name, from));
            }
        }
        Ok(())
    }

    /// Returns an error unless every file is still the one that the plan was made for.
    fn unchanged(&self) -> Result<(), ToolError> {
        let puts = self.puts.iter().map(|(name, staged, version)| (name, staged.version(), *version));
        let watched = self.watched.iter();
        let watched =
            watched.map(|(name, opened, version)| (name, opened.version().map(Some), Some(*version)));
        for (name, now, then) in puts.chain(watched) {
            if now.map_err(|trouble| ToolError::trouble(name, trouble))? != then {
                return Err(content::changed(name));
            }
        }
        Ok(())
    }

    fn make(self) -> Result<(), ToolError> {
        let mut done = Vec::new();
        let puts =
            self.puts.into_iter().map(|(name, staged, version)| (name, Last::Put(Box::new(staged), version)));
        let moves = self.moves.into_iter().map(|(name, from, to)| (name, Last::Move(Box::new((from, to)))));
        let removals = self.removals.into_iter().map(|(name, from)| (name, Last::Remove(Box::new(from))));
        for (name, last) in puts.chain(moves).chain(removals) {
            match last.make() {
                Ok(undo) => done.push(undo),
                Err(trouble) => return Err(failed(&name, trouble, done)),
            }
        }
        Ok(())
    }
}

/// The last step of a change.
enum Last {
    Put(Box<StagedFile>, Option<Version>),
    Move(Box<(Removable, Writable)>),
    Remove(Box<Removable>),
}

impl Last {
    fn make(self) -> Result<Undo, Trouble> {
        match self {
            Self::Put(staged, version) if staged.version()? == version => staged.put(),
            Self::Put(..) => Err(Trouble::Changed),
            Self::Move(both) => both.0.take_to(both.1),
            Self::Remove(from) => from.take_away(),
        }
    }
}

/// Takes everything back, the last first, and says what state is left.
fn failed(name: &str, trouble: Trouble, done: Vec<Undo>) -> ToolError {
    let mut error = ToolError::trouble(name, trouble);
    let made = done.len();
    let mut stuck = String::new();
    for undo in done.into_iter().rev() {
        let place = undo.location().to_string();
        if let Err(trouble) = undo.undo() {
            // A string takes everything.
            let _written = write!(stuck, "\n{place}: {trouble}");
        }
    }
    if stuck.is_empty() {
        let _written = match made {
            0 => write!(error.message, "; nothing was changed"),
            _ => write!(
                error.message,
                "; nothing is changed: what had been done before ({made}) was taken back"
            ),
        };
    } else {
        let _written =
            write!(error.message, "; changes of the patch at these places could not be taken back:{stuck}");
        error.hint = Some("look at these files: all others are as they were before".to_owned());
    }
    error
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use ringfence::guard::Guard;

    use super::*;
    use crate::desk::guard;

    /// Another program writes into a file in its place, between the plan and the change.
    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let changes: [fn(&Path) -> Change; 3] = [
            |dir| {
                change(dir, |guard, opened| {
                    let version = opened.version().unwrap();
                    Step::Replace(
                        guard.write(Path::new("f"), &Abort::new()).unwrap(),
                        b"mine".to_vec(),
                        version,
                    )
                })
            },
            |dir| {
                change(dir, |guard, opened| {
                    let version = opened.version().unwrap();
                    let from = guard.remove(Path::new("f"), &Abort::new()).unwrap();
                    let to = guard.write(Path::new("g"), &Abort::new()).unwrap();
                    Step::Rewrite(Box::new(Rewrite {
                        from,
                        source: opened,
                        version,
                        to,
                        content: b"mine".to_vec(),
                    }))
                })
            },
            |dir| {
                change(dir, |guard, opened| {
                    let version = opened.version().unwrap();
                    let from = guard.remove(Path::new("f"), &Abort::new()).unwrap();
                    Step::Remove(from, Some(Box::new((opened, version))))
                })
            },
        ];
        for (number, planned) in changes.into_iter().enumerate() {
            fs::write(&file, "old").unwrap();
            let change = planned(dir.path());
            fs::write(&file, "theirs").unwrap();
            let error = commit(vec![change], &Abort::new()).map(drop).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Conflict, "{number}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "theirs", "{number}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{number}");
            commit(vec![planned(dir.path())], &Abort::new()).map(drop).unwrap();
            fs::remove_file(dir.path().join("g")).unwrap_or_default();
        }
    }

    fn change(dir: &Path, step: fn(&Guard, ReadableFile) -> Step) -> Change {
        let guard = guard(dir, "apply_patch");
        let opened = guard.read(Path::new("f"), &Abort::new()).unwrap();
        Change { told: Told::new("update", "f".to_owned()), step: step(&guard, opened) }
    }

    /// A patch that removes a file and fails, while another program has taken the place of another file.
    #[test]
    fn says_what_could_not_be_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let guard = guard(dir.path(), "apply_patch");
        let writable = |name: &str| guard.write(Path::new(name), &Abort::new()).unwrap();
        let removable = |name: &str| guard.remove(Path::new(name), &Abort::new()).unwrap();
        let done =
            || vec![writable("a").stage(b"new").unwrap().put().unwrap(), removable("b").take_away().unwrap()];
        let error = failed("c", Trouble::Changed, done());
        assert_eq!(
            error.message,
            "c: the file was moved or replaced meanwhile; nothing is changed: what had been done before (2) was taken back"
        );
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!((read("a"), read("b")), ("a".to_owned(), "b".to_owned()));
        let done = done();
        fs::rename(dir.path().join("c"), dir.path().join("a")).unwrap();
        let error = failed("c", Trouble::NotFound, done);
        assert_eq!(
            error.message,
            "c: there is no such file or directory; changes of the patch at these places could not be taken back:\n\
             a: the file was moved or replaced meanwhile"
        );
        assert_eq!((read("a"), read("b")), ("c".to_owned(), "b".to_owned()));
    }
}
