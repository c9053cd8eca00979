//! Branches, tags and heads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::objects::{ObjectId, Unreadable};
use super::{Head, RefChange, Sides};
use crate::side::Side;

const LONGEST: u64 = 4096;
const LONGEST_LIST: u64 = 64 << 20;

/// The references that differ, by what has changed in a repository.
pub(super) fn changed(
    sides: &Sides<'_>,
    repository: &Path,
    inner: &BTreeSet<&Path>,
) -> Result<Vec<RefChange>, Unreadable> {
    let mut names: BTreeSet<String> =
        inner.iter().filter(|path| is_ref(path)).filter_map(|path| text(path)).collect();
    let (before, after) = (packed(sides.before, repository)?, packed(sides.after, repository)?);
    if inner.contains(Path::new("packed-refs")) {
        let differs = |name: &&String| before.get(*name) != after.get(*name);
        names.extend(before.keys().chain(after.keys()).filter(differs).cloned());
    }
    let mut found = Vec::new();
    for name in names {
        let was = loose(sides.before, repository, &name)?.or_else(|| before.get(&name).cloned());
        let is = loose(sides.after, repository, &name)?.or_else(|| after.get(&name).cloned());
        if was != is {
            found.push(RefChange { name, before: was, after: is, commits: 0 });
        }
    }
    Ok(found)
}

/// The object that a reference leads to in the end.
pub(super) fn resolve(side: Side<'_>, repository: &Path, name: &str) -> Result<Option<ObjectId>, Unreadable> {
    let packed = packed(side, repository)?;
    let mut name = name.to_owned();
    // Git follows five.
    for _ in 0..5 {
        match loose(side, repository, &name)?.or_else(|| packed.get(&name).cloned()) {
            Some(Head::Object(id)) => return Ok(ObjectId::parse(id.as_bytes())),
            Some(Head::Reference(next)) => name = next,
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// `refs/…`, and the heads of the repository and of its working trees: `HEAD`, `MERGE_HEAD`, `ORIG_HEAD`.
fn is_ref(path: &Path) -> bool {
    let is_head = |name: &std::ffi::OsStr| name.as_encoded_bytes().ends_with(b"HEAD") && name != "FETCH_HEAD";
    let parts: Vec<_> = path.iter().collect();
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    match parts[..] {
        _ if is_lock => false,
        [head] => is_head(head),
        [top, _, head] if top == "worktrees" => is_head(head),
        [top, ..] if top == "refs" => true,
        [top, _, second, ..] if top == "worktrees" => second == "refs",
        _ => false,
    }
}

fn text(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

fn loose(side: Side<'_>, repository: &Path, name: &str) -> Result<Option<Head>, Unreadable> {
    let place = repository.join(name);
    if Path::new(name).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return Err(Unreadable::Format("a reference leads out of the repository"));
    }
    let Some(content) = side.read(&place, LONGEST)? else { return Ok(None) };
    head(&content).map(Some)
}

fn head(content: &[u8]) -> Result<Head, Unreadable> {
    // Only the first of several lines counts, as in MERGE_HEAD of a merge of many.
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    if let Some(other) = line.strip_prefix(b"ref:") {
        return Ok(Head::Reference(String::from_utf8_lossy(other.trim_ascii()).into_owned()));
    }
    let id = ObjectId::parse(line).ok_or(Unreadable::Format("a reference is not the name of an object"))?;
    Ok(Head::Object(id.to_string()))
}

fn packed(side: Side<'_>, repository: &Path) -> Result<BTreeMap<String, Head>, Unreadable> {
    let list = side.read(&repository.join("packed-refs"), LONGEST_LIST)?.unwrap_or_default();
    let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let entry = |line: &[u8]| -> Result<(String, Head), Unreadable> {
        let (id, name) = line.split_at_checked(40).ok_or(Unreadable::Format("packed-refs is damaged"))?;
        Ok((String::from_utf8_lossy(name.trim_ascii()).into_owned(), head(id)?))
    };
    lines.filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^")).map(entry).collect()
}
