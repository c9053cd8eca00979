//! Files that git itself writes where nothing else may: the pointers of a working tree, and settings that make nothing run.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Shared;
use super::path::{STRAIGHT, Spot, kind};

/// Returns the content of the `.git` of a new working tree: where the repository that expects it there has its part. `None`
/// if there is something already, or no repository expects it.
pub(super) fn pointer(shared: &Shared, spot: &Spot) -> Option<Vec<u8>> {
    if kind(&spot.directory, &spot.name).is_some() {
        return None;
    }
    let full = spot.full();
    let repositories: Vec<_> = shared.about.grounds.repositories_around(shared, &full).collect();
    repositories.iter().find_map(|repository| {
        let trees = shared.directory(&repository.join("worktrees")).ok()?;
        let id = expecting(&trees, &full)?;
        let place = repository.join("worktrees").join(OsStr::from_bytes(&id));
        Some([b"gitdir: ", place.as_os_str().as_bytes(), b"\n"].concat())
    })
}

/// The directory with the references and objects of the repository whose working tree is at a path, if the jail sees it.
pub(super) fn common_directory(shared: &Shared, tree: &Path) -> Option<PathBuf> {
    let top = shared.directory(tree).ok()?;
    match kind(&top, &c".git".to_owned())? {
        FileType::Directory => Some(tree.join(".git")),
        FileType::RegularFile => {
            let said = text(&top, b".git").ok()?;
            let own = said.strip_prefix(b"gitdir: ")?.trim_ascii_end();
            let own = plain(tree, own)?;
            let Ok(common) = text(&shared.directory(&own).ok()?, b"commondir") else { return Some(own) };
            plain(&own, common.trim_ascii_end())
        }
        _ => None,
    }
}

/// The repositories of submodules below the directory of a repository.
pub(super) fn modules(shared: &Shared, repository: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending) = (Vec::new(), vec![(repository.join("modules"), 0)]);
    while let Some((path, depth)) = pending.pop() {
        let Ok(listed) = shared.listed_directory(&path) else { continue };
        let Ok(entries) = Dir::new(listed) else { continue };
        for entry in entries.flatten().take(MOST_MODULES) {
            let name = entry.file_name().to_bytes();
            if name.starts_with(b".") || found.len() >= MOST_MODULES {
                continue;
            }
            let below = path.join(OsStr::from_bytes(name));
            let Ok(directory) = shared.directory(&below) else { continue };
            if kind(&directory, &c"HEAD".to_owned()).is_some() {
                pending.push((below.join("modules"), depth + 1));
                found.push(below);
            } else if depth < DEEPEST_MODULE {
                pending.push((below, depth + 1));
            }
        }
    }
    found
}

/// Repositories of submodules that are looked for.
const MOST_MODULES: usize = 64;
/// Names of submodules have as many parts.
const DEEPEST_MODULE: usize = 4;

/// A path from a directory, without `.` and `..`.
fn plain(from: &Path, path: &[u8]) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in from.join(OsStr::from_bytes(path)).components() {
        match part {
            std::path::Component::ParentDir => plain.pop().then_some(())?,
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// Returns the working tree of a repository that is said to be at a path.
fn expecting(trees: &OwnedFd, full: &Path) -> Option<Vec<u8>> {
    let listed =
        rustix::fs::openat(trees, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    for entry in Dir::new(listed.ok()?).ok()?.take(MOST_TREES) {
        let entry = entry.ok()?;
        let id = entry.file_name().to_bytes();
        let said = (!id.starts_with(b".")).then(|| text(trees, &[id, b"/gitdir"].concat()).ok()).flatten();
        if said.is_some_and(|said| said.trim_ascii_end() == full.as_os_str().as_bytes()) {
            return Some(id.to_vec());
        }
    }
    None
}

const MOST_TREES: usize = 1000;
/// No settings are longer.
const LONGEST: u64 = 1 << 20;

/// The text of a small plain file below a directory.
pub(super) fn text(directory: &OwnedFd, path: &[u8]) -> Result<Vec<u8>, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = rustix::fs::openat2(directory, OsStr::from_bytes(path), flags, Mode::empty(), STRAIGHT)?;
    let found = rustix::fs::fstat(&file)?;
    let plain = rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::RegularFile;
    if !plain || u64::try_from(found.st_size).unwrap_or(u64::MAX) > LONGEST {
        return Err(Errno::PERM);
    }
    let mut text = Vec::new();
    let read = File::from(file).take(LONGEST).read_to_end(&mut text);
    read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(text)
}

/// Origin of a repository.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// It was there before.
    Old,
    /// It was made by the command.
    New,
}

/// Returns true if settings differ from others in nothing that makes git run something or go elsewhere: in what branches
/// follow. Those of a repository that the command has made itself may also say what it is and where it came from.
pub(super) fn is_harmless(before: &[u8], after: &[u8], age: Age) -> bool {
    // A line that ends in a backslash goes on with the next one: what is between the two belongs to a value.
    let goes_on =
        |text: &[u8]| text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_end().ends_with(b"\\"));
    let remotes = remotes(if age == Age::New { after } else { before });
    let known: HashSet<_> = lines(before).collect();
    let followed =
        |line: Line<'_>, value: &[u8]| value == b"." || remotes.contains(value) || known.contains(&line);
    !goes_on(before) && !goes_on(after) && rest(before, age, &|_, _| true) == rest(after, age, &followed)
}

/// The names of remotes that settings have an address for. Git takes any other name for a path, or for an old file of a remote.
fn remotes(text: &[u8]) -> HashSet<Vec<u8>> {
    let settings = policy::git_settings(text).unwrap_or_default();
    let addressed = settings.into_iter().filter(|setting| setting.is("remote.*.url"));
    addressed.filter_map(|setting| setting.subsection).collect()
}

/// A line of settings, below the header that it stands under.
type Line<'a> = (&'a [u8], &'a [u8]);

/// Says whether a branch may follow the remote that a line names.
type Followed<'f> = &'f dyn Fn(Line<'_>, &[u8]) -> bool;

fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut header: &[u8] = b"";
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).map(
        move |line| {
            if line[0] == b'[' {
                header = line;
            }
            (header, line)
        },
    )
}

/// The lines of settings that make a difference.
///
/// A line that is left out is one whole line without quotes, escapes or comments: it cannot change what others mean.
fn rest<'a>(text: &'a [u8], age: Age, followed: Followed<'_>) -> Vec<Line<'a>> {
    let counts = |line: &Line<'a>| match line.1[0] {
        b'[' => section(line.1).is_none(),
        _ => !is_plain(*line, age, followed),
    };
    lines(text).filter(counts).collect()
}

/// A section, if its header is nothing but that: `[core]`, `[branch "name"]`.
fn section(header: &[u8]) -> Option<&[u8]> {
    let inner = header.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_lowercase);
    let is_name = |name: &[u8]| !name.iter().any(|byte| matches!(byte, b'"' | b'\\' | b'[' | b']'));
    match inner.iter().position(|byte| *byte == b' ') {
        None => is_word(inner).then_some(inner),
        Some(at) => {
            let name = inner[at + 1..].strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            (is_word(&inner[..at]) && is_name(name)).then_some(&inner[..at])
        }
    }
}

/// A line that says nothing that git would run or go to.
fn is_plain((header, line): Line<'_>, age: Age, followed: Followed<'_>) -> bool {
    let Some(section) = section(header) else { return false };
    let Some(at) = line.iter().position(|byte| *byte == b'=') else { return false };
    let (key, value) = (line[..at].trim_ascii_end().to_ascii_lowercase(), line[at + 1..].trim_ascii());
    if value.iter().any(|byte| matches!(byte, b'\\' | b'"' | b';' | b'#')) {
        return false;
    }
    let is_name = || value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
    let is_new = age == Age::New;
    match (section, key.as_slice()) {
        // The name of a remote, and not an address.
        (b"branch", b"remote" | b"pushremote") => is_name() && followed((header, line), value),
        (b"branch", b"merge") => value.starts_with(b"refs/heads/"),
        (b"branch", b"rebase" | b"description") => true,
        (
            b"core",
            b"repositoryformatversion"
            | b"filemode"
            | b"bare"
            | b"logallrefupdates"
            | b"ignorecase"
            | b"precomposeunicode"
            | b"symlinks",
        )
        | (b"remote", b"fetch") => is_new,
        // `helper::address` starts a helper.
        (b"remote", b"url") => {
            is_new && !value.starts_with(b"-") && !value.windows(2).any(|two| two == b"::")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_may_change_in_what_branches_follow_and_in_nothing_else() {
        let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/x\n\
            [remote \"none\"]\n\tfetch = x\n[branch \"own\"]\n\tremote = elsewhere\n";
        let follows = "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n";
        let at = |key: &str, name: &str| format!("{plain}[branch \"x\"]\n\t{key} = {name}\n");
        let rows = [
            (plain.to_owned(), true),
            (format!("{plain}{follows}"), true),
            (format!("{follows}{plain}"), true),
            (at("remote", "."), true),
            (at("pushRemote", "origin"), true),
            // A name without an address is a path, or an old file of a remote.
            (at("remote", "lib"), false),
            (at("remote", "none"), false),
            (at("remote", "elsewhere"), false),
            (at("pushRemote", "upstream"), false),
            (at("remote", ".."), false),
            (at("remote", "Origin"), false),
            (plain.replace("remote = elsewhere", "remote = other"), false),
            (plain.replace("[branch \"own\"]\n\tremote = elsewhere\n", ""), true),
            (format!("{plain}{follows}\tx = 1\n"), false),
            (format!("{plain}{follows}[core]\n\tfsmonitor = x\n"), false),
            (format!("{plain}[branch \"x\"] remote = origin\n"), false),
            (format!("{plain}[branch \"x\"]\n\tremote = origin\\\n[core]\n"), false),
            (format!("{plain}[branch \"x\"]\n\tremote = https://evil.example/x\n"), false),
            (format!("{plain}[branch \"a\\\"]\n[core \"]\n"), false),
            (format!("{plain}[Branch \"x\"]\n\tremote = origin\n"), false),
            (format!("{plain}[remote \"origin\"]\n\turl = https://evil.example/x\n"), false),
            (format!("{plain}# \n"), false),
            ("[core]\n\tbare = true\n".to_owned(), false),
            (String::new(), false),
        ];
        for (after, expected) in rows {
            assert_eq!(is_harmless(plain.as_bytes(), after.as_bytes(), Age::Old), expected, "{after}");
        }
    }

    #[test]
    fn settings_with_a_value_of_several_lines_do_not_change() {
        for end in ["\n", "\r\n"] {
            let before = format!("[alias]\n\tup = !git fetch \\{end}\n[user]\n\tname = n\n");
            let into = before.replacen("\n\n", "\n[branch \"; x ; : \"]\n\n", 1);
            let follows = format!("{before}[branch \"x\"]\n\tremote = origin\n");
            for after in [into, follows] {
                assert!(!is_harmless(before.as_bytes(), after.as_bytes(), Age::Old), "{after}");
            }
        }
    }

    #[test]
    fn a_new_repository_says_what_it_is_and_where_it_came_from() {
        let rows = [
            ("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n", true),
            (
                "[remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
                true,
            ),
            (
                "[remote \"o\"]\n\turl = ../x\n[branch \"main\"]\n\tremote = o\n\tmerge = refs/heads/main\n",
                true,
            ),
            ("[branch \"main\"]\n\tremote = lib\n", false),
            ("[remote \"origin\"]\n\turl = ext::sh -c x\n", false),
            ("[remote \"origin\"]\n\turl = --upload-pack=x\n", false),
            ("[remote \"origin\"]\n\tuploadpack = x\n", false),
            ("[core]\n\tfsmonitor = x\n", false),
            ("[core]\n\tworktree = /\n", false),
            ("[include]\n\tpath = x\n", false),
            ("[alias]\n\tst = !x\n", false),
            ("[core]\n\tbare = false \\\n\tfsmonitor = x\n", false),
            ("bare = false\n", false),
        ];
        for (after, expected) in rows {
            assert_eq!(is_harmless(b"", after.as_bytes(), Age::New), expected, "{after}");
        }
    }
}
