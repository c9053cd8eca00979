//! `grep`: lines that match, in all files below a directory.

mod hits;
mod line;
mod pattern;
mod report;
mod search;

use std::path::PathBuf;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ringfence::audit::Impact;
use ringfence::guard::{Directory, ReadableFile, ReadableObject};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, ToolError};
use crate::exec::workspace;
use crate::listing::{OneOrMany, Page, unless_aborted};
use crate::reply::Reply;
use crate::tool::{Call, Tool};
use crate::walk::{Filter, Walk, shown};

use hits::Hits;
use report::Report;
use search::{Search, Searched};

/// Finds lines that match.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

/// Parameters of `grep`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that a model sets by its name")]
pub struct GrepParameters {
    /// A regular expression, as Rust has them: no look-around and no references back.
    pub pattern: String,
    /// The file or directory to look in: from the workspace, or absolute inside it.
    #[serde(default = "workspace", alias = "file_path")]
    pub path: PathBuf,
    /// Only files that one of these globs matches, such as `*.rs` or `src/**`. One that begins with `!` leaves files out.
    #[serde(default)]
    pub glob: OneOrMany,
    /// Only files of one of these types, such as `rust`, `py` or `js`.
    #[serde(default, rename = "type")]
    pub types: OneOrMany,
    /// Case sensitivity.
    #[serde(default)]
    pub case: Case,
    /// True if the pattern is plain text and not an expression.
    #[serde(default)]
    pub fixed: bool,
    /// True if a match has to be a whole word.
    #[serde(default)]
    pub word: bool,
    /// True if a match may span lines.
    #[serde(default)]
    pub multiline: bool,
    /// Number of lines to show before each match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 20))]
    pub before: Option<usize>,
    /// Number of lines to show after each match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 20))]
    pub after: Option<usize>,
    /// Number of lines to show before and after each match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 20))]
    pub context: Option<usize>,
    /// Result to show: the lines, the files, or the number of matching lines in each file.
    #[serde(default)]
    pub mode: Mode,
    /// True if to look in hidden files and directories.
    #[serde(default)]
    pub hidden: bool,
    /// True if to look in files that `.gitignore`, `.ignore` and `.rgignore` leave out.
    #[serde(default)]
    pub no_ignore: bool,
    /// Number of matches to show, or of files if files are shown.
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 20_000))]
    pub limit: usize,
    /// Largest number of matches to count in each file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_per_file: Option<u64>,
    /// Number of matches to leave out at the beginning, to see more of a long result.
    #[serde(default)]
    pub offset: usize,
}

fn limit() -> usize {
    200
}

/// Case sensitivity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// As they are, if the pattern has a capital letter.
    #[default]
    Smart,
    /// As they are.
    Sensitive,
    /// Without regard to case.
    Insensitive,
}

/// Kind of result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The lines that match.
    #[default]
    Content,
    /// The files that have a match.
    Files,
    /// The number of matching lines in each file.
    Count,
}

impl Tool for Grep {
    type Parameters = GrepParameters;
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Finds lines that match a regular expression in the files below a directory. Leaves out binary \
        files, hidden files and what `.gitignore` leaves out, unless told otherwise. Shows `path:line:text`, sorted by path.";
    const IMPACT: Impact = Impact::Read;
    const PATHS: &'static [&'static str] = &["path"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[("file_path", "path")];

    fn run(&self, call: &Call<'_>, parameters: GrepParameters) -> Result<Reply, ToolError> {
        let page = Page::new(parameters.offset, parameters.limit)?;
        let matcher = pattern::matcher(&parameters)?;
        let filter = filter(&parameters)?;
        let path = parameters.path.clone();
        let hits = Hits::new(page.end(), parameters.mode != Mode::Content);
        let search = Search { matcher, parameters: &parameters, hits: &hits, abort: call.abort };
        let searched = match call.guard.look_at(&path, call.abort)? {
            ReadableObject::File(file) => one(call, &search, &file)?,
            ReadableObject::Directory(directory) => all(call, &search, (directory, filter))?,
        };
        unless_aborted(call.abort)?;
        Ok(Report { parameters: &parameters, page, searched }.told(hits))
    }
}

fn one(call: &Call<'_>, search: &Search<'_>, file: &ReadableFile) -> Result<Searched, ToolError> {
    let path = shown(file.location().path(), call.guard.workspace());
    let opened = file.file().map_err(|trouble| ToolError::trouble(&crate::listing::path(&path), trouble))?;
    let mut thread = search.thread();
    thread.search(&opened, &path);
    Ok(thread.searched)
}

fn all(
    call: &Call<'_>,
    search: &Search<'_>,
    (directory, filter): (Directory, FilterParts),
) -> Result<Searched, ToolError> {
    let root = shown(directory.path(), call.guard.workspace());
    let filter = filter.rooted(&root)?;
    let walk = Walk::new(call.guard, directory, &filter, call.abort);
    let (went, threads) = walk.run(|| search.thread());
    let mut searched = Searched::default();
    let mut linked = Vec::new();
    for thread in threads {
        searched.add(&thread.searched);
        linked.extend(thread.linked);
    }
    let mut thread = search.thread();
    thread.search_linked(&walk, linked);
    searched.add(&thread.searched);
    searched.unopened = went.unopened;
    searched.cut |= went.cut;
    Ok(searched)
}

/// The filter, but for the directory that its globs begin at.
struct FilterParts {
    globs: Vec<String>,
    types: Types,
    ignores: bool,
    hidden: bool,
}

fn filter(parameters: &GrepParameters) -> Result<FilterParts, ToolError> {
    let mut types = TypesBuilder::new();
    types.add_defaults();
    for name in parameters.types.all() {
        match name.strip_prefix('!') {
            Some(name) => types.negate(name),
            None => types.select(name),
        };
    }
    let types = types.build().map_err(|error| {
        ToolError::new(ErrorKind::InvalidArguments, format!("`type`: {error}"))
            .hint("names are those of ripgrep, such as `rust`, `py`, `js`, `c`; `glob` takes any ending")
    })?;
    let globs = parameters.glob.all().to_vec();
    let filter = FilterParts { globs, types, ignores: !parameters.no_ignore, hidden: parameters.hidden };
    // A bad glob is told before anything is opened.
    filter.globs_at(b"")?;
    Ok(filter)
}

impl FilterParts {
    fn rooted(self, root: &[u8]) -> Result<Filter, ToolError> {
        let globs = self.globs_at(root)?;
        Ok(Filter { globs, ignores: self.ignores, types: self.types, hidden: self.hidden })
    }

    fn globs_at(&self, root: &[u8]) -> Result<Override, ToolError> {
        use std::os::unix::ffi::OsStrExt as _;
        let malformed = |error: &ignore::Error| {
            let message = format!("`glob`: {error}");
            ToolError::new(ErrorKind::Malformed, message)
                .hint("`*` stays within a name, `**` crosses directories")
        };
        let mut globs = OverrideBuilder::new(std::ffi::OsStr::from_bytes(root));
        for glob in &self.globs {
            globs.add(glob).map_err(|error| malformed(&error))?;
        }
        globs.build().map_err(|error| malformed(&error))
    }
}
