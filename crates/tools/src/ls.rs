//! `ls`: what is in a directory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use ringfence::audit::Impact;
use ringfence::guard::{Directory, Entry, EntryKind, ReadableFile, ReadableObject, Trouble};
use ringfence::policy::Shown;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ToolError;
use crate::exec::workspace;
use crate::listing::{self, Known, Page, unless_aborted};
use crate::read::yes;
use crate::reply::{self, Reply, Rows};
use crate::tool::{Call, Tool};
use crate::walk::shown;

/// Lists a directory.
#[derive(Debug, Clone, Copy)]
pub struct Ls;

/// Parameters of `ls`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LsParameters {
    /// The directory, or a file: from the workspace, or absolute inside it.
    #[serde(default = "workspace", alias = "file_path")]
    pub path: PathBuf,
    /// True if to show hidden names, which begin with a dot.
    #[serde(default = "yes")]
    pub hidden: bool,
    /// True if to show mode, size and time of change.
    #[serde(default)]
    pub long: bool,
    /// True if directories come before files.
    #[serde(default)]
    pub directories_first: bool,
    /// Number of entries to show.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 20_000))]
    pub limit: usize,
    /// Number of entries to leave out at the beginning, to see more of a long directory.
    #[serde(default)]
    pub offset: usize,
}

fn limit() -> usize {
    1000
}

impl Tool for Ls {
    type Parameters = LsParameters;
    const NAME: &'static str = "ls";
    const DESCRIPTION: &'static str = "Lists a directory, sorted by name. Directories end in `/`; a link shows where it says it leads, \
        and is not followed. `long` adds mode, size and time of change in UTC.";
    const IMPACT: Impact = Impact::Read;
    const PATHS: &'static [&'static str] = &["path"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[("file_path", "path")];

    fn run(&self, call: &Call<'_>, parameters: LsParameters) -> Result<Reply, ToolError> {
        let page = Page::new(parameters.offset, parameters.limit)?;
        let path = parameters.path.clone();
        let trouble = |trouble| ToolError::trouble(&Shown::path(&path).to_string(), trouble);
        match call.guard.look_at(&path, call.abort)? {
            ReadableObject::File(file) => Ok(told(&[of_file(call, &file, parameters.long)], page, 1)),
            ReadableObject::Directory(directory) => {
                let mut entries = entries(call, &directory, parameters.hidden, trouble)?;
                let rank =
                    |entry: &Entry| parameters.directories_first && entry.kind() != EntryKind::Directory;
                entries.sort_unstable_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name().cmp(b.name())));
                let shown = entries.iter().skip(page.offset).take(page.limit);
                let rows: Vec<Row> = shown.map(|entry| row(&directory, entry, parameters.long)).collect();
                Ok(told(&rows, page, entries.len()))
            }
        }
    }
}

fn entries(
    call: &Call<'_>,
    directory: &Directory,
    hidden: bool,
    trouble: impl Fn(Trouble) -> ToolError,
) -> Result<Vec<Entry>, ToolError> {
    let mut entries = Vec::new();
    for entry in directory.entries().map_err(&trouble)? {
        unless_aborted(call.abort)?;
        let entry = entry.map_err(&trouble)?;
        if hidden || !entry.name().as_bytes().starts_with(b".") {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// One line of a listing.
struct Row {
    name: String,
    kind: EntryKind,
    target: Option<String>,
    known: Option<Known>,
}

/// An entry that has vanished since it was listed is shown by its name alone.
fn row(directory: &Directory, entry: &Entry, long: bool) -> Row {
    let shown = |text: &OsStr| Shown::bytes(text.as_bytes()).to_string();
    let kind = entry.kind();
    let target = if kind == EntryKind::Link { directory.target(entry).ok() } else { None };
    let look = if long { directory.look(entry).ok() } else { None };
    Row {
        name: shown(entry.name()),
        kind,
        target: target.as_deref().map(shown),
        known: look.map(Known::from),
    }
}

fn of_file(call: &Call<'_>, file: &ReadableFile, long: bool) -> Row {
    let name = listing::path(&shown(file.location().path(), call.guard.workspace()));
    Row { name, kind: EntryKind::File, target: None, known: long.then(|| Known::from(file.look())) }
}

fn told(rows: &[Row], page: Page, total: usize) -> Reply {
    let width =
        rows.iter().filter_map(|row| row.known.as_ref()).map(|known| known.size.to_string().len()).max();
    let shown = rows.iter().enumerate().map(|(at, row)| reply::Row {
        item: page.offset + at,
        text: listed(row, width.unwrap_or(0)),
        data: datum(row),
    });
    let all = if total == 0 { "the directory is empty\n".to_owned() } else { listing::entries(total) };
    Reply::new("", json!({ "total": total })).rows(Rows {
        key: "entries",
        what: "entries",
        page,
        total,
        shown: shown.collect(),
        all,
        cut: false,
    })
}

fn listed(row: &Row, width: usize) -> String {
    let mark = if row.kind == EntryKind::Directory { "/" } else { "" };
    let target = row.target.as_ref().map_or_else(String::new, |target| format!(" -> {target}"));
    let known = row.known.as_ref().map_or_else(String::new, |known| {
        let letter = match row.kind {
            EntryKind::File => '-',
            EntryKind::Directory => 'd',
            EntryKind::Link => 'l',
            EntryKind::Special => 's',
        };
        format!("{letter}{} {:>width$} {} ", known.mode, known.size, known.modified)
    });
    format!("{known}{}{mark}{target}\n", row.name)
}

fn datum(row: &Row) -> Value {
    let mut datum = json!({ "name": row.name, "kind": row.kind.word() });
    if let Value::Object(datum) = &mut datum {
        if let Some(target) = &row.target {
            datum.insert("target".to_owned(), target.as_str().into());
        }
        if let Some(Known { size, modified, mode }) = &row.known {
            datum.insert("size".to_owned(), (*size).into());
            datum.insert("modified".to_owned(), modified.as_str().into());
            datum.insert("mode".to_owned(), mode.as_str().into());
        }
    }
    datum
}
