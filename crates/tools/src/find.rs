//! `find`: files and directories by their names, kinds, sizes and times.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use globset::{GlobBuilder, GlobMatcher};
use ignore::overrides::Override;
use ignore::types::Types;
use ringfence::audit::Impact;
use ringfence::guard::{EntryKind, EntryMetadata, ReadableObject};
use ringfence::policy::Shown;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{ErrorKind, ToolError};
use crate::exec::workspace;
use crate::listing::{self, Page, left_out, time, unless_aborted};
use crate::reply::{Reply, Row, Rows};
use crate::tool::{Call, Tool};
use crate::walk::{Filter, Found, Visitor, Walk, Went};

/// Finds files and directories.
#[derive(Debug, Clone, Copy)]
pub struct Find;

/// Parameters of `find`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindParameters {
    /// A glob, such as `*.rs` for names at any depth, or `src/**/mod.rs` for paths below `path`. Everything, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The directory to look in: from the workspace, or absolute inside it.
    #[serde(default = "workspace", alias = "file_path")]
    pub path: PathBuf,
    /// Kind of entry to find.
    #[serde(default)]
    pub kind: Kind,
    /// True if to find hidden files and directories, and to look into those.
    #[serde(default)]
    pub hidden: bool,
    /// True if to find files that `.gitignore`, `.ignore` and `.rgignore` leave out.
    #[serde(default)]
    pub no_ignore: bool,
    /// Depth to search: 1 for the directory alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_depth: Option<usize>,
    /// Only what was changed within this time, such as `90s`, `30m`, `12h`, `7d` or `2w`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_within: Option<String>,
    /// Only files with at least so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_size: Option<u64>,
    /// Only files with at most so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u64>,
    /// Number of results to show.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 20_000))]
    pub limit: usize,
    /// Number of results to leave out at the beginning, to see more of a long result.
    #[serde(default)]
    pub offset: usize,
    /// Sort order.
    #[serde(default)]
    pub sort: Order,
}

fn limit() -> usize {
    1000
}

/// Kind of entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Files.
    File,
    /// Directories.
    Directory,
    /// Links, which are not followed.
    Link,
    /// All of them.
    #[default]
    Any,
}

/// Sort order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By path.
    #[default]
    Path,
    /// Last changed first.
    Modified,
    /// Largest first.
    Size,
}

impl Tool for Find {
    type Parameters = FindParameters;
    const NAME: &'static str = "find";
    const DESCRIPTION: &'static str = "Finds files and directories by a glob, by kind, size and time. Leaves out hidden files and what \
        `.gitignore` leaves out, unless told otherwise. Directories end in `/`, links in `@`; links are not followed.";
    const IMPACT: Impact = Impact::Read;
    const PATHS: &'static [&'static str] = &["path"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[("file_path", "path")];

    fn run(&self, call: &Call<'_>, parameters: FindParameters) -> Result<Reply, ToolError> {
        let page = Page::new(parameters.offset, parameters.limit)?;
        let wanted = Wanted::new(&parameters)?;
        let path = parameters.path.clone();
        let ReadableObject::Directory(directory) = call.guard.look_at(&path, call.abort)? else {
            let message = format!("{}: it is not a directory", Shown::path(&path));
            return Err(ToolError::new(ErrorKind::WrongType, message).hint("`ls` shows a single file"));
        };
        let filter = Filter {
            globs: Override::empty(),
            ignores: !parameters.no_ignore,
            types: Types::empty(),
            hidden: parameters.hidden,
        };
        let mut walk = Walk::new(call.guard, directory, &filter, call.abort);
        if let Some(depth) = parameters.max_depth {
            walk = walk.at_most(depth.max(1));
        }
        let first = || First { wanted: &wanted, most: page.end(), kept: BinaryHeap::new(), total: 0 };
        let (went, threads) = walk.run(first);
        unless_aborted(call.abort)?;
        let total = threads.iter().map(|thread| thread.total).sum();
        let mut items: Vec<Item> = threads.into_iter().flat_map(|thread| thread.kept).collect();
        items.sort_unstable();
        let items: Vec<Item> = items.into_iter().skip(page.offset).take(page.limit).collect();
        Ok(told(&items, page, total, went))
    }
}

/// Conditions on an entry.
struct Wanted {
    glob: Option<Glob>,
    kind: Kind,
    since: Option<i64>,
    sizes: Option<(u64, u64)>,
    sort: Order,
}

struct Glob {
    matcher: GlobMatcher,
    /// True if it is about the whole path below the directory, false if it is about the name alone.
    whole: bool,
}

impl Wanted {
    fn new(parameters: &FindParameters) -> Result<Self, ToolError> {
        let (pattern, directories) = match parameters.pattern.as_deref() {
            Some(pattern) => match pattern.strip_suffix('/') {
                Some(pattern) => (Some(pattern), true),
                None => (Some(pattern), false),
            },
            None => (None, false),
        };
        let since = parameters.modified_within.as_deref().map(since).transpose()?;
        let sizes = (parameters.min_size.is_some() || parameters.max_size.is_some())
            .then(|| (parameters.min_size.unwrap_or(0), parameters.max_size.unwrap_or(u64::MAX)));
        let kind = match parameters.kind {
            Kind::Any if directories => Kind::Directory,
            kind => kind,
        };
        Ok(Self { glob: pattern.map(Glob::new).transpose()?, kind, since, sizes, sort: parameters.sort })
    }

    /// Returns the result for an entry, if it is wanted.
    fn takes(&self, found: &Found<'_>) -> Option<Item> {
        let kind = found.entry.kind();
        let fits = match self.kind {
            Kind::File => kind == EntryKind::File,
            Kind::Directory => kind == EntryKind::Directory,
            Kind::Link => kind == EntryKind::Link,
            Kind::Any => true,
        };
        if !fits || !self.glob.as_ref().is_none_or(|glob| glob.matches(found)) {
            return None;
        }
        let look = if self.sizes.is_some() || self.since.is_some() || self.sort != Order::Path {
            Some(found.directory.look(found.entry).ok()?)
        } else {
            None
        };
        let (rank, path) = (self.rank(kind, look)?, found.path.to_vec());
        Some(Item { rank, path, kind: kind.word(), known: look.map(|look| (look.size, look.modified)) })
    }

    /// Returns the rank in the order. `None` if it does not fit.
    fn rank(&self, kind: EntryKind, look: Option<EntryMetadata>) -> Option<i128> {
        let Some(look) = look else { return Some(0) };
        let (least, most) = self.sizes.unwrap_or((0, u64::MAX));
        let sized = self.sizes.is_none() || kind == EntryKind::File;
        let fits = sized && (least..=most).contains(&look.size);
        let recent = self.since.is_none_or(|since| look.modified >= since);
        (fits && recent).then_some(match self.sort {
            Order::Path => 0,
            Order::Modified => -i128::from(look.modified),
            Order::Size => -i128::from(look.size),
        })
    }
}

impl Glob {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let matcher = GlobBuilder::new(pattern.strip_prefix('/').unwrap_or(pattern))
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| {
                let message = format!("`pattern`: {}", Shown::text(&error.to_string()));
                ToolError::new(ErrorKind::Malformed, message)
                    .hint("`*` stays within a name, `**` crosses directories, `{a,b}` lists alternatives")
            })?
            .compile_matcher();
        Ok(Self { matcher, whole: pattern.contains('/') })
    }

    fn matches(&self, found: &Found<'_>) -> bool {
        if self.whole {
            self.matcher.is_match(std::ffi::OsStr::from_bytes(&found.path[found.start..]))
        } else {
            self.matcher.is_match(found.entry.name())
        }
    }
}

/// The time before which nothing is wanted, in seconds since 1970.
fn since(text: &str) -> Result<i64, ToolError> {
    let wrong = || {
        let message = format!("`modified_within`: `{}` is no time", Shown::text(text));
        ToolError::new(ErrorKind::InvalidArguments, message).hint("write `90s`, `30m`, `12h`, `7d` or `2w`")
    };
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(wrong()),
    };
    let number: i64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let within = number.checked_mul(seconds).filter(|within| *within >= 0).ok_or_else(wrong)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    Ok(i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(within))
}

/// Something that was found.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    rank: i128,
    path: Vec<u8>,
    kind: &'static str,
    /// Size and time of change, if they had to be looked up.
    known: Option<(u64, i64)>,
}

/// The first in order of what a thread finds.
struct First<'a> {
    wanted: &'a Wanted,
    most: usize,
    /// The last of them on top.
    kept: BinaryHeap<Item>,
    total: usize,
}

impl Visitor for First<'_> {
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        if let Some(item) = self.wanted.takes(found) {
            self.total += 1;
            self.kept.push(item);
            if self.kept.len() > self.most {
                self.kept.pop();
            }
        }
        ControlFlow::Continue(())
    }
}

fn told(items: &[Item], page: Page, total: usize, went: Went) -> Reply {
    let all = if total == 0 { "nothing was found\n".to_owned() } else { listing::entries(total) };
    let mut head = String::new();
    left_out(
        &mut head,
        went.unopened,
        "directory could not be looked into",
        "directories could not be looked into",
    );
    if went.cut {
        head.push_str("[there are too many files: not all were looked at; give a `path` further down]\n");
    }
    let row = |(at, item): (usize, &Item)| {
        let mark = match item.kind {
            "directory" => "/",
            "link" => "@",
            _ => "",
        };
        Row {
            item: page.offset + at,
            text: format!("{}{mark}\n", listing::path(&item.path)),
            data: datum(item),
        }
    };
    let rows = items.iter().enumerate().map(row).collect();
    let data = json!({ "total": total, "directories_left_out": went.unopened });
    Reply::new(head, data).rows(Rows {
        key: "found",
        what: "entries",
        page,
        total,
        shown: rows,
        all,
        cut: went.cut,
    })
}

fn datum(item: &Item) -> Value {
    let mut datum = json!({ "path": listing::path(&item.path), "kind": item.kind });
    if let (Some((size, modified)), Value::Object(datum)) = (item.known, &mut datum) {
        datum.insert("size".to_owned(), size.into());
        datum.insert("modified".to_owned(), time(modified).into());
    }
    datum
}
