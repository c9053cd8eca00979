//! Path that a word points to, as far as the text says.

use policy::Certainty;

use super::name::{fits, is_everything, meets, names};
use super::options::Piece;
use super::paths;

/// A path without `.`, `..` and doubled slashes.
#[derive(Debug)]
pub(crate) struct Place {
    path: String,
    /// Length of the home directory at its beginning, if it lies there.
    home: Option<usize>,
    /// True if it may be a pattern.
    wild: bool,
}

/// A directory whose loss takes the machine or a person's files with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// A directory of the system.
    System,
    /// A home directory.
    Home,
    /// The place is relative and could be any directory.
    Unsure,
}

/// Directories that paths are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) cwd: Option<&'a str>,
    pub(crate) home: Option<&'a str>,
}

impl View<'_> {
    /// Resolves a piece of a word.
    pub(crate) fn place(self, piece: Piece<'_>) -> Place {
        self.resolve(piece.text, piece.word.certainty != Certainty::Literal)
    }

    /// Resolves a text. `wild`: it may be a pattern.
    pub(crate) fn resolve(self, text: &str, wild: bool) -> Place {
        let mut path = String::with_capacity(text.len() + self.cwd.map_or(0, str::len) + 1);
        let text = self.begin(text, &mut path);
        walk(&mut path, text);
        self.alias(&mut path);
        let home = self.home.filter(|home| *home != "/").and_then(|home| below(&path, home));
        Place { path, home, wild }
    }

    /// Puts the directory that the text starts from, and gives the text after it.
    fn begin<'b>(self, text: &'b str, path: &mut String) -> &'b str {
        if let Some((user, rest)) = home_spelling(text) {
            match user {
                "" => walk(path, self.home.unwrap_or("/home/~")),
                "root" => path.push_str("/root"),
                user => walk(path, &format!("/home/{user}")),
            }
            return rest;
        }
        if !text.starts_with('/') {
            walk(path, self.cwd.unwrap_or_default());
        }
        text
    }

    /// Other names of the root and of directories: `/proc/self/root`, `/private/etc`.
    fn alias(self, path: &mut String) {
        let mut real = path.as_str();
        while let Some(rest) = proc_link(real, "root") {
            real = rest;
        }
        if let (Some(rest), Some(cwd)) = (proc_link(real, "cwd"), self.cwd) {
            let mut joined = String::new();
            walk(&mut joined, cwd);
            walk(&mut joined, rest);
            *path = joined;
        } else if real.len() < path.len() {
            *path = real.to_owned();
        }
        if ["/private/etc", "/private/var", "/private/tmp"].iter().any(|name| path.starts_with(name)) {
            path.drain(.."/private".len());
        }
    }
}

/// `~`, `~/x`, `~user/x`, and `$HOME` where it stayed in the text: the user, and what follows.
fn home_spelling(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix('~') {
        return Some(rest.split_at(rest.find('/').unwrap_or(rest.len())));
    }
    let rest = text.strip_prefix("$HOME").or_else(|| text.strip_prefix("${HOME}"))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(("", rest))
}

/// Adds names one after the other. A relative path keeps the `..` it begins with.
fn walk(path: &mut String, text: &str) {
    if text.starts_with('/') && path.is_empty() {
        path.push('/');
    }
    for name in names(text) {
        match name {
            "." => {}
            ".." => climb(path),
            name => join(path, name),
        }
    }
}

fn climb(path: &mut String) {
    if path.is_empty() || path == ".." || path.ends_with("/..") {
        return join(path, "..");
    }
    match path.rfind('/') {
        Some(at) => path.truncate(at.max(1)),
        None => path.clear(),
    }
}

fn join(path: &mut String, name: &str) {
    if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(name);
}

/// Returns the part after `/proc/PROCESS/LINK`, as a path.
fn proc_link<'a>(path: &'a str, link: &str) -> Option<&'a str> {
    let (_, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    match rest.strip_prefix(link)? {
        "" => Some("/"),
        rest => rest.starts_with('/').then_some(rest),
    }
}

/// Returns the length of a directory at the beginning of a path.
fn below(path: &str, directory: &str) -> Option<usize> {
    let directory = directory.trim_end_matches('/');
    let rest = path.strip_prefix(directory)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(directory.len())
}

impl Place {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns true if it fits one of these rows, which begin at the root.
    pub(crate) fn fits_any(&self, rows: &[&str]) -> bool {
        self.is_absolute() && rows.iter().any(|row| fits(row, &self.path, self.wild))
    }

    /// The first of these rows that it fits, seen from the root.
    pub(crate) fn row(&self, rows: &'static [paths::Row]) -> Option<&'static paths::Row> {
        if !self.is_absolute() {
            return None;
        }
        rows.iter().find(|row| fits(row.path, &self.path, self.wild))
    }

    /// The first of these rows that it fits, seen from a home directory.
    pub(crate) fn home_row(&self, rows: &'static [paths::Row]) -> Option<&'static paths::Row> {
        self.tails().find_map(|tail| rows.iter().find(|row| fits(row.path, tail, self.wild)))
    }

    /// The last name.
    pub(crate) fn name(&self) -> &str {
        names(&self.path).next_back().unwrap_or_default()
    }

    pub(crate) fn is_absolute(&self) -> bool {
        self.path.starts_with('/')
    }

    /// Returns the part after a home directory, for each directory that could be one.
    fn tails(&self) -> impl Iterator<Item = &str> {
        let own = self.home.and_then(|length| self.path.get(length..));
        let others = || [self.tail_of_root(), self.tail_of_user(), self.tail_of_none()];
        let others = if own.is_some() { [None; 3] } else { others() };
        own.into_iter().chain(others.into_iter().flatten())
    }

    fn tail_of_root(&self) -> Option<&str> {
        let (first, rest) = split(self.path.strip_prefix('/')?);
        if first == "var" {
            let (second, rest) = split(rest);
            return (second == "root").then_some(rest);
        }
        meets("root", first, self.wild).then_some(rest)
    }

    fn tail_of_user(&self) -> Option<&str> {
        let (first, rest) = split(self.path.strip_prefix('/')?);
        let (user, rest) = split(rest);
        let homes = ["home", "Users"].iter().any(|row| meets(row, first, self.wild));
        (homes && !user.is_empty()).then_some(rest)
    }

    /// A hidden name at the root (the home directory was a variable without a value), or one below a directory that is not known.
    fn tail_of_none(&self) -> Option<&str> {
        let tail = self.path.strip_prefix('/').unwrap_or(&self.path);
        let hidden = tail.starts_with('.') && !tail.starts_with("..");
        (hidden && (self.is_absolute() || tail.contains('/'))).then_some(tail)
    }

    /// The root that it is, or of which it is everything.
    pub(crate) fn root(&self) -> Option<Root> {
        let mut path = self.path.as_str();
        while let Some((above, name)) = path.rsplit_once('/').or((!path.is_empty()).then_some(("", path))) {
            if !is_everything(name, self.wild) {
                break;
            }
            path = above;
        }
        if !self.is_absolute() {
            return names(path).all(|name| name == "..").then_some(Root::Unsure);
        }
        self.known_root(path)
    }

    fn known_root(&self, path: &str) -> Option<Root> {
        if self.home == Some(path.len()) {
            return Some(Root::Home);
        }
        if names(path).next().is_none() || paths::ROOTS.iter().any(|row| fits(row, path, self.wild)) {
            return Some(Root::System);
        }
        paths::HOMES.iter().any(|row| fits(row, path, self.wild)).then_some(Root::Home)
    }
}

/// The first name, and the rest.
fn split(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_walked() {
        let rows = [
            ("a/./b//c", "/ws/a/b/c"),
            ("../x", "/x"),
            ("../../../x", "/x"),
            ("/", "/"),
            ("", "/ws"),
            ("~", "/home/u"),
            ("~/x/..", "/home/u"),
            ("~root/.ssh", "/root/.ssh"),
            ("~ann", "/home/ann"),
            ("$HOME/x", "/home/u/x"),
            ("$HOMEX", "/ws/$HOMEX"),
            ("/proc/self/root/etc", "/etc"),
            ("/proc/1/cwd/a", "/ws/a"),
            ("/proc/1/root", "/"),
            ("/proc/1/root/proc/2/root/etc", "/etc"),
            ("/proc/1/rootx/etc", "/proc/1/rootx/etc"),
            ("/private/etc/hosts", "/etc/hosts"),
        ];
        let view = View { cwd: Some("/ws"), home: Some("/home/u") };
        for (text, expected) in rows {
            assert_eq!(view.resolve(text, false).path(), expected, "{text}");
        }
        let blind = View { cwd: None, home: None };
        for (text, expected) in
            [("../../a", "../../a"), ("a/..", ""), ("~/a", "/home/~/a"), ("a/../..", "..")]
        {
            assert_eq!(blind.resolve(text, false).path(), expected, "{text}");
        }
    }

    #[test]
    fn roots_are_known_by_any_spelling() {
        let rows = [
            ("/", Some(Root::System)),
            ("/*", Some(Root::System)),
            ("/etc/*", Some(Root::System)),
            ("/e*", Some(Root::System)),
            ("/tmp/*", None),
            ("/tmp", None),
            ("~/*", Some(Root::Home)),
            ("~/.*", Some(Root::Home)),
            ("..", Some(Root::Home)),
            (".", None),
            ("*", None),
            ("/home/ann", Some(Root::Home)),
            ("/home/ann/x", None),
            ("/usr/bin/../bin", Some(Root::System)),
        ];
        let view = View { cwd: Some("/home/u/ws"), home: Some("/home/u") };
        for (text, expected) in rows {
            assert_eq!(view.resolve(text, true).root(), expected, "{text}");
        }
        assert_eq!(view.resolve("/*", false).root(), None);
    }
}
