//! The record of commits that jails made, kept from run to run.
//!
//! A content that a repository had at a protected name before a run may come to that name again, or git could not switch
//! branches. Commits that a jail made do not count, in that run or in a later one: otherwise two runs would do what one may not.
//!
//! The record is a directory that nothing inside a jail sees. Before a run first changes references, it writes down what they
//! are (`run-…`); when it has ended, it adds the commits that have come (`made-…`) and removes the first file. A run that is
//! killed leaves its file, and what the references were before it stays all that counts. A repository that a run makes has a
//! file of its own (`new-…`) until its commits are added; one that is no longer where it was made stands in a list (`unknown`),
//! and nothing in it counts.
//!
//! **Invariant.** Files of runs are removed after commits were added, and read before them: a reader between the two sees
//! both.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use ::git::ObjectId;

/// A directory with the commits that jails made.
#[derive(Debug, Clone)]
pub struct CommitRecord {
    directory: PathBuf,
}

/// A file of this run, from before it changed references of one repository.
#[derive(Debug)]
pub(crate) struct BegunRun {
    path: PathBuf,
}

/// Record of one repository.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The commits that jails made.
    pub(crate) made: BTreeSet<ObjectId>,
    /// References from before the oldest run that has not ended; `None` if all have.
    pub(crate) oldest: Option<BTreeSet<ObjectId>>,
}

impl CommitRecord {
    /// The record in a directory, which is made when it is needed. Nothing inside a jail may see it.
    #[must_use]
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Writes down what the references of a repository are. `repository` is a word that stands for it and nothing else.
    pub(crate) fn begin(&self, repository: &str, tips: &BTreeSet<ObjectId>) -> io::Result<BegunRun> {
        /// Several runs may be of one process.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        self.make()?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let own = process(std::process::id()).ok_or(io::ErrorKind::NotFound)?;
        let name = format!("{own}-{count}-{repository}");
        let (staged, path) =
            (self.directory.join(format!("part-{name}")), self.directory.join(format!("run-{name}")));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&staged)?;
        file.write_all([&lines(tips), END, "\n"].concat().as_bytes())?;
        fs::rename(&staged, &path)?;
        Ok(BegunRun { path })
    }

    /// Writes down that a run has made a repository.
    pub(crate) fn begin_new(&self, repository: &str) -> io::Result<()> {
        self.make()?;
        let path = self.directory.join(format!("new-{repository}"));
        OpenOptions::new().append(true).create(true).mode(0o600).open(path).map(drop)
    }

    /// Adds the commits of a repository that a run has made; `None` if it is not where it was made.
    pub(crate) fn end_new(&self, repository: &str, made: Option<&BTreeSet<ObjectId>>) -> io::Result<()> {
        match made {
            Some(made) => self.append(&format!("made-{repository}"), &lines(made))?,
            None => self.add_unknown(repository)?,
        }
        remove(&self.directory.join(format!("new-{repository}")))
    }

    /// Adds a repository in which no content counts, because it is not known which commits jails made.
    pub(crate) fn add_unknown(&self, repository: &str) -> io::Result<()> {
        self.make()?;
        self.append("unknown", repository)
    }

    fn make(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)
    }

    /// Adds lines to a file. One that was cut off before ends here.
    fn append(&self, name: &str, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let path = self.directory.join(name);
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        file.write_all(format!("\n{text}\n").as_bytes())
    }

    /// Reads what is recorded of a repository.
    pub(crate) fn read(&self, repository: &str) -> io::Result<Recorded> {
        let oldest = self.oldest(repository)?;
        let is_new = self.directory.join(format!("new-{repository}")).try_exists()?;
        let unknown = self.text("unknown")?;
        let nothing = is_new || unknown.lines().any(|line| line == repository);
        // One that was cut off was not added: the file of its run is still there.
        let made = self.text(&format!("made-{repository}"))?;
        let made = made.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(Recorded { made, oldest: if nothing { Some(BTreeSet::new()) } else { oldest } })
    }

    /// References from before the oldest run that has not ended.
    fn oldest(&self, repository: &str) -> io::Result<Option<BTreeSet<ObjectId>>> {
        for path in self.unfinished(repository)? {
            let text = match text(&path) {
                // It has ended meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text?,
            };
            // One without an end was not written before the power failed, and its run has done nothing.
            let Some(ids) = text.strip_suffix("\n").and_then(|text| text.strip_suffix(END)) else { continue };
            return ids
                .lines()
                .map(|line| line.parse().map_err(io::Error::other))
                .collect::<io::Result<_>>()
                .map(Some);
        }
        Ok(None)
    }

    /// The text of a file; empty if there is none.
    fn text(&self, name: &str) -> io::Result<String> {
        match text(&self.directory.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            text => text,
        }
    }

    /// Adds commits of a run that has ended, and removes its file and those of runs that were killed.
    pub(crate) fn end(&self, run: &BegunRun, repository: &str, made: &BTreeSet<ObjectId>) -> io::Result<()> {
        self.append(&format!("made-{repository}"), &lines(made))?;
        for path in self.unfinished(repository)? {
            if path == run.path || !is_running(&path) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Keeps the oldest file only, when it is not known which commits have come: what was before it counts.
    pub(crate) fn leave(&self, run: &BegunRun, repository: &str) -> io::Result<()> {
        let oldest = self.unfinished(repository)?.into_iter().next();
        if oldest.is_some_and(|oldest| oldest != run.path) { remove(&run.path) } else { Ok(()) }
    }

    /// The files of runs that have not ended, the oldest first.
    fn unfinished(&self, repository: &str) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(rest) = name.strip_prefix("run-") else { continue };
            let parts: Vec<_> = rest.splitn(4, '-').collect();
            if let [_, started, count, of] = parts[..]
                && of == repository
            {
                let number = |text: &str| text.parse::<u64>().unwrap_or(0);
                let about = match fs::metadata(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    about => about?,
                };
                let age = (about.mtime(), about.mtime_nsec(), number(started), number(count));
                found.push((age, path));
            }
        }
        found.sort();
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }
}

/// The last line of a whole file of a run.
const END: &str = "end";

/// Removes a file, unless another run was quicker.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// A process by its number and when it was started, because numbers are used again.
fn process(number: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let started = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{number}-{started}"))
}

/// Returns true if the process of a run's file still exists.
fn is_running(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut parts = name.splitn(4, '-').skip(1);
    let number = parts.next().and_then(|number| number.parse().ok());
    let same = |now: String| parts.next().is_some_and(|started| now.ends_with(&format!("-{started}")));
    number.and_then(process).is_some_and(same)
}

/// Longer than the names of all references of any repository.
const LONGEST: u64 = 64 << 20;

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if read as u64 > LONGEST { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

fn lines(ids: &BTreeSet<ObjectId>) -> String {
    ids.iter().map(ToString::to_string).flat_map(|id| [id, "\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(digits: &[char]) -> BTreeSet<ObjectId> {
        digits.iter().map(|digit| digit.to_string().repeat(40).parse().unwrap()).collect()
    }

    #[test]
    fn the_oldest_run_that_has_not_ended_counts() {
        let place = tempfile::tempdir().unwrap();
        let record = CommitRecord::at(&place.path().join("commits"));
        assert_eq!(record.read("r").unwrap().oldest, None);
        let first = record.begin("r", &of(&['1'])).unwrap();
        let other = record.begin("s", &of(&['9'])).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = record.begin("r", &of(&['1', '2'])).unwrap();
        assert_eq!(record.read("r").unwrap().oldest, Some(of(&['1'])));
        record.end(&first, "r", &of(&['3'])).unwrap();
        let now = record.read("r").unwrap();
        assert_eq!((now.made, now.oldest), (of(&['3']), Some(of(&['1', '2']))));
        record.end(&second, "r", &of(&[])).unwrap();
        assert_eq!(record.read("r").unwrap().oldest, None);
        let now = record.read("s").unwrap();
        assert_eq!((now.made, now.oldest), (of(&[]), Some(of(&['9']))));
        record.leave(&other, "s").unwrap();
        assert_eq!(record.read("s").unwrap().oldest, Some(of(&['9'])));
    }

    #[test]
    fn a_run_that_was_killed_counts_until_another_has_ended() {
        let place = tempfile::tempdir().unwrap();
        let record = CommitRecord::at(place.path());
        // No process has this number.
        fs::write(place.path().join("run-4194305-1-0-r"), format!("{}\nend\n", "1".repeat(40))).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let run = record.begin("r", &of(&['1', '2'])).unwrap();
        assert_eq!(record.read("r").unwrap().oldest, Some(of(&['1'])));
        record.leave(&run, "r").unwrap();
        assert_eq!(record.read("r").unwrap().oldest, Some(of(&['1'])));
        let run = record.begin("r", &of(&['1', '2'])).unwrap();
        record.end(&run, "r", &of(&['2'])).unwrap();
        let now = record.read("r").unwrap();
        assert_eq!((now.made, now.oldest), (of(&['2']), None));
    }

    #[test]
    fn what_was_cut_off_does_not_count() {
        let place = tempfile::tempdir().unwrap();
        let record = CommitRecord::at(place.path());
        // A line without an end, and one that follows it.
        fs::write(place.path().join("made-r"), "\n123").unwrap();
        let run = record.begin("r", &of(&['1'])).unwrap();
        record.end(&run, "r", &of(&['2'])).unwrap();
        assert_eq!(record.read("r").unwrap().made, of(&['2']));
        for text in ["", "1111"] {
            fs::write(place.path().join("run-4194305-1-0-r"), text).unwrap();
            assert_eq!(record.read("r").unwrap().oldest, None, "{text}");
        }
        fs::write(place.path().join("run-4194305-1-0-r"), "1111\nend\n").unwrap();
        assert!(record.read("r").is_err());
    }

    #[test]
    fn nothing_counts_in_a_repository_that_a_run_has_made_until_its_commits_are_known() {
        let place = tempfile::tempdir().unwrap();
        let record = CommitRecord::at(place.path());
        record.begin_new("r").unwrap();
        record.begin_new("s").unwrap();
        assert_eq!(record.read("r").unwrap().oldest, Some(of(&[])));
        record.end_new("r", Some(&of(&['1']))).unwrap();
        record.end_new("s", None).unwrap();
        let now = record.read("r").unwrap();
        assert_eq!((now.made, now.oldest), (of(&['1']), None));
        assert_eq!(record.read("s").unwrap().oldest, Some(of(&[])));
    }
}
