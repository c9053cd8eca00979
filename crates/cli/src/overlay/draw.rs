//! Changes as a person reads them, and as programs do.

use ::overlay::{Change, GitChanges, Head, Kind, Node, Overlay, RefChange, Touched, Verb};
use policy::Shown;

use super::diff::{self, Line};
use super::listing::Entry;
use super::{failure, shown, shown_path};
use crate::failure::Failure;

/// Style in which changes are drawn.
pub(crate) struct Drawing<'a> {
    pub(crate) overlay: &'a Overlay,
    /// Without what is in files.
    pub(crate) stat: bool,
    pub(crate) color: bool,
}

/// Longer files are told by their size.
pub(crate) const LONGEST: u64 = 1 << 20;
/// More lines of one kind are counted.
const MOST: usize = 10;

impl Drawing<'_> {
    /// Every entry. Of ignored names those with the most changes are listed, and the rest is counted.
    pub(crate) fn entries(&self, entries: &[Entry<'_>], text: &mut String) -> Result<(), Failure> {
        let (mut ignored, listed): (Vec<_>, Vec<_>) =
            entries.iter().partition(|entry| matches!(entry, Entry::Ignored { .. }));
        for entry in listed {
            text.push_str(&self.entry(entry)?);
        }
        ignored.sort_by_key(|entry| std::cmp::Reverse(entry.changes().len()));
        let rest = ignored.split_off(MOST.min(ignored.len()));
        for entry in ignored {
            text.push_str(&self.entry(entry)?);
        }
        if !rest.is_empty() {
            let changes: Vec<_> = rest.iter().flat_map(|entry| entry.changes()).collect();
            let names = if rest.len() == 1 { "name" } else { "names" };
            let line = format!("ignored {} more {names}: {}", rest.len(), tally(&changes));
            text.push_str(&(line + "\n"));
        }
        Ok(())
    }

    /// One entry, as lines.
    pub(crate) fn entry(&self, entry: &Entry<'_>) -> Result<String, Failure> {
        let lines = match entry {
            Entry::Change(change) => self.change(change)?,
            Entry::Renamed { from, to, alike } => self.renamed(from, to, *alike)?,
            Entry::Repository { git, changes } => self.repository(git, changes),
            Entry::Ignored { path, changes } => {
                let view = changes.first().map_or(0, |change| change.view);
                let path = shown_path(self.overlay, view, path);
                let slash =
                    if changes.iter().any(|change| change.path.components().count() > path_depth(entry)) {
                        "/"
                    } else {
                        ""
                    };
                vec![format!("ignored {path}{slash}: {}", tally(changes))]
            }
        };
        Ok(lines.join("\n") + "\n")
    }

    fn change(&self, change: &Change) -> Result<Vec<String>, Failure> {
        let (verb, path) = (change.verb(), shown(self.overlay, change));
        let difference = self.lines(change, change)?;
        let line = format!(
            "{:<7} {path}{}{}",
            verb.word(),
            detail(change),
            counts(difference.as_deref().filter(|_| is_file(change.before.as_ref())))
        );
        let mut lines = vec![match (change.protected, verb) {
            (Some(_), _) => self.painted("1;31", &line),
            (None, Verb::Added) => self.painted("1;32", &line),
            (None, _) => self.painted("1", &line),
        }];
        let because = change.protected.map(|name| format!("        protected: {}", name.because));
        lines.extend(because.map(|text| self.painted("31", &text)));
        lines.extend(notes(change));
        lines.extend(self.drawn(difference));
        Ok(lines)
    }

    fn renamed(&self, from: &Change, to: &Change, alike: u64) -> Result<Vec<String>, Failure> {
        let [old, new] = [from, to].map(|change| shown(self.overlay, change));
        let difference = if alike < 100 { self.lines(from, to)? } else { None };
        let part = if alike < 100 { format!(", {alike}% alike") } else { String::new() };
        let line = format!("renamed {old} -> {new}{part}{}", counts(difference.as_deref()));
        let mut lines = vec![self.painted("1", &line)];
        let modes =
            from.before.as_ref().zip(to.after.as_ref()).filter(|(before, after)| before.mode != after.mode);
        lines.extend(
            modes.map(|(before, after)| format!("        mode {:o} -> {:o}", before.mode, after.mode)),
        );
        lines.extend(notes(from).chain(notes(to)));
        lines.extend(self.drawn(difference));
        Ok(lines)
    }

    fn drawn(&self, lines: Option<Vec<Line>>) -> Vec<String> {
        let lines = lines.filter(|_| !self.stat).unwrap_or_default();
        lines.iter().map(|line| self.line(line)).collect()
    }

    /// A line of a difference. Each is escaped on its own: a text cannot draw a line of ours.
    pub(crate) fn line(&self, line: &Line) -> String {
        let color = match line {
            Line::Place(_) => "36",
            Line::Same(_) => "",
            Line::Gone(_) => "31",
            Line::New(_) => "32",
        };
        let (sign, text) = line.parts();
        let pieces: Vec<_> = text.split('\t').map(|piece| Shown::text(piece).to_string()).collect();
        self.painted(color, &format!("  {sign}{}", pieces.join("\t")))
    }

    pub(crate) fn painted(&self, color: &str, text: &str) -> String {
        if self.color && !color.is_empty() { format!("\x1b[{color}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The lines that differ. What was removed is told by its name alone.
    pub(crate) fn lines(&self, from: &Change, to: &Change) -> Result<Option<Vec<Line>>, Failure> {
        if !is_file(to.after.as_ref()) || !(to.content || from.path != to.path) {
            return Ok(None);
        }
        let old = self.overlay.contents(from, LONGEST).map_err(|error| failure(&error))?;
        let new = self.overlay.contents(to, LONGEST).map_err(|error| failure(&error))?;
        let ([before, _], [_, after]) = (old, new);
        let before = if is_file(from.before.as_ref()) { before } else { Some(Vec::new()) };
        Ok(before.zip(after).and_then(|(before, after)| diff::lines(&before, &after)))
    }

    fn repository(&self, git: &GitChanges, changes: &[&Change]) -> Vec<String> {
        let others = changes.iter().filter(|change| !is_object(git, change) && !is_directory(change)).count();
        let parts = [
            (git.commits.len() as u64, "commit", "commits"),
            (git.objects, "object", "objects"),
            (others as u64, "other file", "other files"),
        ];
        let parts = parts.iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<_> = parts.map(|(count, one, many)| counted(*count, one, many)).collect();
        let path = shown_path(self.overlay, git.view, &git.path);
        let mut lines = vec![self.painted("1", &format!("git     {path}: {}", parts.join(", ")))];
        let refs: Vec<_> = git.refs.iter().filter(|it| is_worth_telling(it)).map(reference).collect();
        lines.extend(cut(refs, "references"));
        let outside = changes.iter().filter(|change| change.outside);
        let outside: Vec<_> = outside
            .map(|change| format!("        changed outside, too: {}", shown(self.overlay, change)))
            .collect();
        lines.extend(cut(outside, "changed outside, too"));
        lines
            .extend(cut(protected_lines(git), "protected").into_iter().map(|line| self.painted("31", &line)));
        if !self.stat {
            let commits = git
                .commits
                .iter()
                .map(|it| format!("          {} {}", &it.id[..7], Shown::text(&it.subject)));
            lines.extend(cut(commits.collect(), "commits"));
        }
        lines
    }
}

/// Returns notes on a change.
fn notes(change: &Change) -> impl Iterator<Item = String> + use<> {
    let outside = change.outside.then(|| "        changed outside, too, since the command began".to_owned());
    let cannot = change.cannot.map(|why| format!("        cannot be applied: {why}"));
    outside.into_iter().chain(cannot)
}

/// Returns the changes of a repository that need a person who agrees, line by line.
pub(crate) fn protected_lines(git: &GitChanges) -> Vec<String> {
    let touched = |of: &str, it: &Touched| {
        format!("        protected: {of} brings {}: {}", Shown::path(&it.path), it.name.because)
    };
    let commits = git.commits.iter().flat_map(|commit| {
        let of = format!("commit {} ({})", &commit.id[..7], Shown::text(&commit.subject));
        commit.touched.iter().map(move |it| touched(&of, it))
    });
    let staged = git.staged.iter().map(|it| touched("what is staged", it));
    let unreadable = git
        .unreadable
        .iter()
        .map(|why| format!("        protected: its commits cannot be read: {}", Shown::text(why)));
    commits.chain(staged).chain(unreadable).collect()
}

fn cut(mut lines: Vec<String>, what: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    lines.extend((more > 0).then(|| format!("        {more} more {what}")));
    lines
}

/// Heads that git keeps for itself are told by the branches.
fn is_worth_telling(reference: &RefChange) -> bool {
    reference.name != "ORIG_HEAD"
}

fn reference(reference: &RefChange) -> String {
    let name = reference.name.strip_prefix("refs/heads/").unwrap_or(&reference.name);
    let said = |head: &Head| match head {
        Head::Object(id) => id[..7].to_owned(),
        Head::Reference(name) => Shown::text(name.strip_prefix("refs/heads/").unwrap_or(name)).to_string(),
    };
    let moved = match (&reference.before, &reference.after) {
        (Some(Head::Object(old)), Some(Head::Object(new))) => format!("{}..{}", &old[..7], &new[..7]),
        (Some(old), Some(new)) => format!("{} -> {}", said(old), said(new)),
        (None, Some(new)) => format!("new at {}", said(new)),
        (Some(old), None) => format!("removed, was {}", said(old)),
        (None, None) => String::new(),
    };
    let commits = match reference.commits {
        0 => String::new(),
        count => format!(", {}", counted(count as u64, "commit", "commits")),
    };
    format!("        {} {moved}{commits}", Shown::text(name))
}

/// Returns true if something is a file.
pub(crate) fn is_file(node: Option<&Node>) -> bool {
    matches!(node, Some(Node { kind: Kind::File, .. }))
}

pub(crate) fn is_directory(change: &Change) -> bool {
    let node = change.after.as_ref().or(change.before.as_ref());
    node.is_some_and(|node| node.kind == Kind::Directory)
}

fn is_object(git: &GitChanges, change: &Change) -> bool {
    change.before.is_none() && change.path.starts_with(git.path.join("objects"))
}

fn path_depth(entry: &Entry<'_>) -> usize {
    match entry {
        Entry::Ignored { path, .. } => path.components().count(),
        _ => 0,
    }
}

/// Returns the number of files, their size, and the operations on them.
fn tally(changes: &[&Change]) -> String {
    let files: Vec<_> = changes.iter().filter(|change| !is_directory(change)).collect();
    let size = files.iter().filter_map(|change| change.after.as_ref()).map(|node| node.size).sum();
    let of = |verb: Verb| files.iter().filter(|change| change.verb() == verb).count() as u64;
    let verbs = [Verb::Added, Verb::Changed, Verb::Removed].map(|verb| (of(verb), verb.word()));
    let verbs = verbs.iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<_> = verbs.map(|(count, word)| format!("{} {word}", grouped(*count))).collect();
    let outside = files.iter().filter(|change| change.outside).count() as u64;
    parts.extend((outside > 0).then(|| format!("{} changed outside, too", grouped(outside))));
    format!("{}, {} ({})", counted(files.len() as u64, "file", "files"), rounded(size), parts.join(", "))
}

/// Lines that come and go.
fn counts(lines: Option<&[Line]>) -> String {
    let Some(lines) = lines else { return String::new() };
    let of = |fits: fn(&Line) -> bool| lines.iter().filter(|line| fits(line)).count() as u64;
    let (new, gone) = (of(|line| matches!(line, Line::New(_))), of(|line| matches!(line, Line::Gone(_))));
    format!(", +{} -{}", grouped(new), grouped(gone))
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A number in groups of three digits.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A length as people say it.
fn rounded(count: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", count / unit, count % unit * 10 / unit),
        None => bytes(count),
    }
}

fn bytes(count: u64) -> String {
    format!("{count} {}", if count == 1 { "byte" } else { "bytes" })
}

/// Describes differences besides the text of a file.
fn detail(change: &Change) -> String {
    let said = |node: &Node| match &node.kind {
        Kind::Link(target) => format!("link to {}", Shown::path(target)),
        Kind::File => format!("file of {}", bytes(node.size)),
        other => other.word().to_owned(),
    };
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.kind.word() == after.kind.word() => {
            let mut parts = Vec::new();
            if before.mode != after.mode && !matches!(after.kind, Kind::Link(_)) {
                parts.push(format!("mode {:o} -> {:o}", before.mode, after.mode));
            }
            if change.content {
                parts.push(match (&before.kind, &after.kind) {
                    (Kind::File, Kind::File) => format!("{} -> {}", before.size, bytes(after.size)),
                    _ => format!("{} -> {}", said(before), said(after)),
                });
            }
            if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
        }
        (Some(before), Some(after)) => format!(": {} -> {}", said(before), said(after)),
        (None, Some(after)) if after.kind == Kind::File => {
            let runs = if after.mode & 0o111 == 0 { "" } else { ", executable" };
            format!(": {}{runs}", bytes(after.size))
        }
        (None, Some(node)) | (Some(node), None) => format!(": {}", said(node)),
        (None, None) => String::new(),
    }
}
