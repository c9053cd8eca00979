//! Selects the changes to apply: those that a person wants, without what is protected unless that is said.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use ::overlay::{Change, GitChanges, Overlay};
use policy::Code;

use super::draw::protected_lines;
use super::listing::Found;
use super::{ask, listed, place, shown, shown_path};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Selection on the command line.
pub(crate) struct Wish {
    /// None for everything.
    pub(crate) paths: Vec<PathBuf>,
    /// Protected names that are wanted, too.
    pub(crate) protected: Vec<PathBuf>,
    /// True if commits are wanted that bring new content to protected names.
    pub(crate) commits: bool,
}

/// A choice among changes.
pub(crate) struct Selection<'a> {
    pub(crate) overlay: &'a Overlay,
    pub(crate) found: &'a Found,
    pub(crate) wish: &'a Wish,
}

type Changes<'a> = Vec<&'a Change>;

impl<'a> Selection<'a> {
    fn is_in(&self, change: &Change, paths: &[PathBuf]) -> bool {
        let place = place(self.overlay, change);
        paths.iter().any(|path| place.starts_with(path))
    }

    fn is_wanted(&self, change: &Change) -> bool {
        self.wish.paths.is_empty() || self.is_in(change, &self.wish.paths)
    }

    fn is_named(&self, change: &Change) -> bool {
        self.is_in(change, &self.wish.protected)
    }

    /// Refuses to take a repository without what git has not finished in it: a rebase in the middle is a head, branches and
    /// a list of steps, and the steps are protected.
    pub(crate) fn is_finished(&self) -> Result<(), Failure> {
        for git in &self.found.repositories {
            let own = || self.found.changes.iter().filter(|change| git.holds(change));
            let unfinished = own().find(|it| it.is_unfinished() && it.after.is_some() && !self.is_named(it));
            let others = own().any(|it| it.protected.is_none() && self.is_wanted(it));
            if let Some(change) = unfinished.filter(|_| others) {
                return Err(self.unfinished(git, change));
            }
        }
        Ok(())
    }

    fn unfinished(&self, git: &GitChanges, change: &Change) -> Failure {
        let row = change.protected.map_or("", |row| row.name);
        let (what, command) = match row {
            ".git/rebase-merge" => ("a rebase", "rebase"),
            ".git/rebase-apply" => ("a rebase or a series of patches", "rebase"),
            _ => ("a cherry-pick or a revert", "cherry-pick"),
        };
        let repository = shown_path(self.overlay, git.view, &git.path);
        let name = row.strip_prefix(".git/").unwrap_or(row);
        let id = &self.overlay.id;
        let message = format!("nothing was applied: {what} is unfinished in {repository}");
        let because = change.protected.map_or("", |row| row.because);
        let steps =
            format!("{repository}/{name} is protected, and the rest makes no sense without it: {because}");
        listed(Code::OverlayProtected, message, &[steps])
            .hint(format!(
                "finish it inside: ringfence run --overlay={id} -- git {command} --continue (or --abort)"
            ))
            .hint(format!("or take files only: ringfence apply {id} PATH…"))
            .hint(format!("or take it as it is: ringfence apply {id} --protected {repository}/{name}"))
    }

    /// Divides the changes into those that are applied, and protected names that are left.
    pub(crate) fn divide(&self, terminal: &mut Terminal<'_>) -> Result<(Changes<'a>, Changes<'a>), Failure> {
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for change in self.found.changes.iter().filter(|change| !self.is_way(change)) {
            match change.protected {
                _ if self.is_named(change) => taken.push(change),
                _ if !self.is_wanted(change) => {}
                None => taken.push(change),
                Some(name) => {
                    let path = shown(self.overlay, change);
                    let verb = change.verb().word();
                    let question = format!("{path} is {verb}. It is protected: {}. Apply it?", name.because);
                    let agreed = ask(&question, terminal)?.unwrap_or(false);
                    if agreed { &mut taken } else { &mut left }.push(change);
                }
            }
        }
        Ok((taken, left))
    }

    /// Takes out repositories that bring new content to protected names by commits or staged files, unless a person agrees:
    /// such content arrives with the next `git restore`, and leaves with the next push.
    pub(crate) fn hold_back(
        &self,
        mut taken: Changes<'a>,
        terminal: &mut Terminal<'_>,
    ) -> Result<(Changes<'a>, Vec<&'a GitChanges>), Failure> {
        let mut held = Vec::new();
        for git in self.found.repositories.iter().filter(|git| git.carries_protected() && !self.wish.commits)
        {
            if !taken.iter().any(|change| git.holds(change)) {
                continue;
            }
            let path = shown_path(self.overlay, git.view, &git.path);
            let question = format!("{}\nApply {path} with that?", self.reasons(git));
            if !ask(&question, terminal)?.unwrap_or(false) {
                taken.retain(|change| !git.holds(change) || self.is_named(change));
                held.push(git);
            }
        }
        Ok((taken, held))
    }

    fn reasons(&self, git: &GitChanges) -> String {
        const MOST: usize = 20;
        let mut lines = protected_lines(git);
        let more = lines.len().saturating_sub(MOST);
        lines.truncate(MOST);
        lines.extend((more > 0).then(|| format!("        {more} more")));
        let path = shown_path(self.overlay, git.view, &git.path);
        format!("{path} brings new content to protected names:\n{}", lines.join("\n"))
    }

    /// A new directory comes with what is in it, and is not asked about for itself.
    fn is_way(&self, change: &Change) -> bool {
        change.carries() && self.holds_more(change)
    }

    /// Returns true if other changes lie in a directory.
    fn holds_more(&self, way: &Change) -> bool {
        let changes = &self.found.changes;
        let after = |other: &Change| (other.view, &other.path) <= (way.view, &way.path);
        let next = changes.get(changes.partition_point(after));
        next.is_some_and(|next| next.view == way.view && next.is_beneath(&way.path))
    }

    /// Adds new directories that something comes into, and old ones of which everything goes.
    pub(crate) fn with_directories(&self, mut taken: Changes<'a>) -> Changes<'a> {
        let known: HashSet<(usize, &Path)> =
            taken.iter().map(|change| (change.view, change.path.as_path())).collect();
        let above: HashSet<(usize, &Path)> = taken
            .iter()
            .flat_map(|change| change.path.ancestors().skip(1).map(|above| (change.view, above)))
            .collect();
        // Number of changes of each directory that are not taken.
        let mut left: BTreeMap<(usize, &Path), usize> = BTreeMap::new();
        for change in self.found.changes.iter().filter(|change| !self.found.is_on_the_way(change)) {
            if !known.contains(&(change.view, change.path.as_path())) {
                for directory in change.path.ancestors().skip(1) {
                    *left.entry((change.view, directory)).or_default() += 1;
                }
            }
        }
        let follows = |way: &&Change| {
            let key = (way.view, way.path.as_path());
            let comes = self.is_way(way);
            let goes = way.after.is_none()
                && self.is_wanted(way)
                && self.found.is_on_the_way(way)
                && !left.contains_key(&key);
            !known.contains(&key) && above.contains(&key) && (comes || goes)
        };
        let more: Vec<_> = self.found.changes.iter().filter(follows).collect();
        taken.extend(more);
        taken
    }
}
