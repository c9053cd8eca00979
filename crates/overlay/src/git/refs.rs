//! Branches, tags and heads. Their names are bytes: git accepts any, so a command can choose one that is hard
//! to see.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::objects::{ObjectId, Unreadable, parse_id};
use super::{Head, RefChange, Sides};
use crate::side::Side;

const LONGEST: u64 = 4096;
const LONGEST_LIST: u64 = 64 << 20;
/// Maximum number of references; more than a repository in use has.
const MOST_REFS: usize = 1_000_000;
const DEEPEST: usize = 100;
/// Maximum number of symbolic references followed. Git follows five.
const MOST_STEPS: usize = 5;

/// Differences in the references of a repository.
pub(super) struct Leads {
    pub(super) refs: Vec<Lead>,
    /// Objects that are named elsewhere: older stashes, the last fetch.
    pub(super) others: Vec<ObjectId>,
}

/// A reference that differs, and the objects that it points to now.
pub(super) struct Lead {
    pub(super) told: RefChange,
    pub(super) tips: Vec<ObjectId>,
}

/// Content of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// Objects: one, or those of a merge of several.
    Objects(ObjectId, Vec<ObjectId>),
    /// Another reference.
    Reference(PathBuf),
}

impl Target {
    fn told(&self) -> Head {
        match self {
            Self::Objects(id, _) => Head::Object(id.to_string()),
            Self::Reference(name) => Head::Reference(name.to_string_lossy().into_owned()),
        }
    }
}

type Packed = BTreeMap<PathBuf, ObjectId>;

/// Returns the references that differ, given the changed paths in a repository.
pub(super) fn changed(
    sides: &Sides<'_>,
    repository: &Path,
    inner: &BTreeSet<&Path>,
) -> Result<Leads, Unreadable> {
    let mut names: BTreeSet<PathBuf> =
        inner.iter().filter(|path| is_ref(path)).map(|path| path.to_path_buf()).collect();
    let (before, after) = (packed(sides.before, repository)?, packed(sides.after, repository)?);
    if inner.contains(Path::new("packed-refs")) {
        let differs = |name: &&PathBuf| before.get(*name) != after.get(*name);
        names.extend(before.keys().chain(after.keys()).filter(differs).cloned());
    }
    let mut refs = Vec::new();
    for name in names {
        let was = target(sides.before, repository, &name, &before)?;
        let is = target(sides.after, repository, &name, &after)?;
        if was != is {
            let tips = is.as_ref().map_or(Ok(Vec::new()), |is| tips(sides.after, repository, is, &after))?;
            let [before, after] = [was, is].map(|target| target.map(|target| target.told()));
            let name = name.to_string_lossy().into_owned();
            refs.push(Lead { told: RefChange { name, before, after, commits: 0 }, tips });
        }
    }
    let mut others = Vec::new();
    for path in inner.iter().map(|path| repository.join(path)) {
        if path.ends_with("logs/refs/stash") {
            let known: BTreeSet<_> = stashes(sides.before, &path)?.into_iter().collect();
            others.extend(stashes(sides.after, &path)?.into_iter().filter(|id| !known.contains(id)));
        } else if path.ends_with("FETCH_HEAD") {
            let list = list(sides.after, &path)?;
            others.extend(list.split(|byte| *byte == b'\n').filter_map(first_id));
        }
    }
    Ok(Leads { refs, others })
}

/// Returns every object that a reference of a repository or a stash names. Unreadable references name none.
pub(super) fn roots(side: Side<'_>, repository: &Path) -> Result<BTreeSet<ObjectId>, Unreadable> {
    let mut roots: BTreeSet<_> = packed(side, repository)?.into_values().collect();
    roots.extend(stashes(side, &repository.join("logs/refs/stash"))?);
    let mut todo = vec![PathBuf::from("refs"), PathBuf::from("worktrees")];
    todo.extend(side.names(repository)?.into_iter().map(PathBuf::from).filter(|name| is_ref(name)));
    let mut count = 0;
    while let Some(name) = todo.pop() {
        count += 1;
        if count > MOST_REFS || name.components().count() > DEEPEST {
            return Err(Unreadable::Format("it has too many references"));
        }
        let place = repository.join(&name);
        if side.is_directory(&place)? {
            let inner = side.names(&place)?.into_iter().map(|inner| name.join(inner));
            todo.extend(inner.filter(|inner| is_ref(inner) || is_above_refs(inner)));
        } else if let Ok(Some(Target::Objects(id, more))) = loose(side, repository, &name) {
            roots.extend(more.into_iter().chain([id]));
        }
    }
    Ok(roots)
}

/// Resolves a reference to an object.
pub(super) fn resolve(
    side: Side<'_>,
    repository: &Path,
    name: PathBuf,
) -> Result<Option<ObjectId>, Unreadable> {
    let packed = packed(side, repository)?;
    Ok(tips(side, repository, &Target::Reference(name), &packed)?.first().copied())
}

fn tips(
    side: Side<'_>,
    repository: &Path,
    target: &Target,
    packed: &Packed,
) -> Result<Vec<ObjectId>, Unreadable> {
    let mut now = target.clone();
    for _ in 0..=MOST_STEPS {
        let next = match now {
            Target::Objects(id, more) => return Ok([vec![id], more].concat()),
            Target::Reference(name) => self::target(side, repository, &name, packed)?,
        };
        let Some(next) = next else { return Ok(Vec::new()) };
        now = next;
    }
    Err(Unreadable::Format("a reference leads over too many others"))
}

fn target(
    side: Side<'_>,
    repository: &Path,
    name: &Path,
    packed: &Packed,
) -> Result<Option<Target>, Unreadable> {
    let packed = || packed.get(name).map(|id| Target::Objects(*id, Vec::new()));
    Ok(loose(side, repository, name)?.or_else(packed))
}

/// Returns true for `refs/…`, and for the heads of the repository and its working trees: `HEAD`,
/// `MERGE_HEAD`, `ORIG_HEAD`.
fn is_ref(path: &Path) -> bool {
    let is_head = |name: &OsStr| name.as_encoded_bytes().ends_with(b"HEAD") && name != "FETCH_HEAD";
    let parts: Vec<_> = path.iter().collect();
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    match parts[..] {
        _ if is_lock => false,
        [head] => is_head(head),
        [top, _, head] if top == "worktrees" => is_head(head) || head == "refs",
        [top, ..] if top == "refs" => true,
        [top, _, second, ..] if top == "worktrees" => second == "refs",
        _ => false,
    }
}

/// Returns true for `worktrees/name`.
fn is_above_refs(path: &Path) -> bool {
    path.starts_with("worktrees") && path.components().count() == 2
}

fn loose(side: Side<'_>, repository: &Path, name: &Path) -> Result<Option<Target>, Unreadable> {
    let place = repository.join(name);
    if name.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(Unreadable::Format("a reference leads out of the repository"));
    }
    match side.read(&place, LONGEST)? {
        Some(content) => parse(&content).map(Some),
        None if !side.has(&place)? || side.is_directory(&place)? => Ok(None),
        // Git would follow a link.
        None => Err(Unreadable::Format("a reference is not a file")),
    }
}

fn parse(content: &[u8]) -> Result<Target, Unreadable> {
    let mut lines = content.split(|byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default().trim_ascii();
    if let Some(other) = line.strip_prefix(b"ref:") {
        let other = Path::new(OsStr::from_bytes(other.trim_ascii()));
        // Git writes only targets below `refs`; it looks up others in directories that each working tree has
        // for itself.
        let sound = other.starts_with("refs").then(|| Target::Reference(other.to_owned()));
        return sound.ok_or(Unreadable::Format("a reference leads to something else than a reference"));
    }
    let id = first_id(line).ok_or(Unreadable::Format("a reference is not the name of an object"))?;
    Ok(Target::Objects(id, lines.filter_map(first_id).collect()))
}

/// Parses the object ID at the start of a line. Git ignores the rest of the line.
fn first_id(line: &[u8]) -> Option<ObjectId> {
    line.split(u8::is_ascii_whitespace).next().and_then(parse_id)
}

fn packed(side: Side<'_>, repository: &Path) -> Result<Packed, Unreadable> {
    let list = list(side, &repository.join("packed-refs"))?;
    let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let entry = |line: &[u8]| -> Result<(PathBuf, ObjectId), Unreadable> {
        let damaged = || Unreadable::Format("packed-refs is damaged");
        let (id, name) = line.split_at_checked(40).ok_or_else(damaged)?;
        let name = PathBuf::from(OsStr::from_bytes(name.trim_ascii()));
        Ok((name, parse_id(id).ok_or_else(damaged)?))
    };
    lines.filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^")).map(entry).collect()
}

/// Returns the objects that the reflog of stashes names: those before and after each entry.
fn stashes(side: Side<'_>, log: &Path) -> Result<Vec<ObjectId>, Unreadable> {
    let damaged = || Unreadable::Format("the log of stashes is damaged");
    let mut found = Vec::new();
    for line in list(side, log)?.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let words: Vec<_> = line.splitn(3, |byte| *byte == b' ').take(2).map(parse_id).collect();
        let [Some(old), Some(new)] = words[..] else { return Err(damaged()) };
        found.extend([old, new].into_iter().filter(|id| !id.is_null()));
    }
    Ok(found)
}

fn list(side: Side<'_>, path: &Path) -> Result<Vec<u8>, Unreadable> {
    match side.read(path, LONGEST_LIST)? {
        Some(content) => Ok(content),
        None if side.has(path)? => Err(Unreadable::Format("a list of references is not a file")),
        None => Ok(Vec::new()),
    }
}
