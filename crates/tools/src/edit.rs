//! `edit`: some of the text in a file replaced by other text.

pub(crate) mod nearest;
mod replace;

use std::path::Path;

use ringfence::audit::Impact;
use ringfence::guard::{Abort, Trouble, Writable};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use self::nearest::nearest;
use self::replace::{Unfit, plain, replace};
use crate::content::{self, Content, LONGEST};
use crate::diff::Diff;
use crate::error::{ErrorKind, ToolError};
use crate::reply::{Keep, Reply, TextBody};
use crate::tool::{Call, Tool};

/// Largest number of replacements of one call.
const MOST: usize = 200;
const MARK: &str = "\u{feff}";

/// Replaces text in a file: all replacements, or none.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

/// Parameters of `edit`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditParameters {
    /// The path of the file: from the workspace, or absolute inside it.
    pub path: String,
    /// The replacements, made one after the other. All of them are made, or none.
    #[schemars(length(min = 1, max = 200))]
    pub edits: Vec<Replacement>,
}

/// The same as models write it: a list of replacements, or one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(alias = "file_path")]
    path: String,
    #[serde(default)]
    edits: Vec<Replacement>,
    #[serde(alias = "old_string", alias = "oldText")]
    old: Option<String>,
    #[serde(alias = "new_string", alias = "newText")]
    new: Option<String>,
    #[serde(alias = "replaceAll")]
    replace_all: Option<bool>,
}

impl<'de> Deserialize<'de> for EditParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let path = written.path.clone();
        written.edits().map(|edits| Self { path, edits }).map_err(D::Error::custom)
    }
}

/// One replacement.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The text to be replaced, exactly as it stands in the file, with its indentation and without line numbers. It has to be there
    /// exactly once, unless `replace_all` is set. Empty text makes a new file or fills an empty one.
    #[serde(alias = "old_string", alias = "oldText")]
    pub old: String,
    /// The text to put in its place.
    #[serde(alias = "new_string", alias = "newText")]
    pub new: String,
    /// True if every occurrence is replaced.
    #[serde(default, alias = "replaceAll")]
    pub replace_all: bool,
}

impl Tool for Edit {
    type Parameters = EditParameters;
    const NAME: &'static str = "edit";
    const DESCRIPTION: &'static str = "Replaces text in a file. Each `old` has to be in the file exactly once, unless `replace_all` is set. \
        All replacements are made, or none. Returns the diff.";
    const IMPACT: Impact = Impact::Mutate;
    const PATHS: &'static [&'static str] = &["path"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("file_path", "path"),
        ("old_string", "old"),
        ("oldText", "old"),
        ("new_string", "new"),
        ("newText", "new"),
        ("replaceAll", "replace_all"),
    ];

    fn run(&self, call: &Call<'_>, parameters: EditParameters) -> Result<Reply, ToolError> {
        let EditParameters { path, edits } = parameters;
        let writable = call.guard.write(Path::new(&path), call.abort)?;
        let name = writable.location().to_string();
        let old = read(call, (&path, &writable), &edits)?;
        let before = old.as_ref().map_or(Ok(""), |content| text(&name, &content.bytes))?;
        let (mark, body) = before.strip_prefix(MARK).map_or(("", before), |body| (MARK, body));
        let (after, times) = all(&name, body, &edits)?;
        let after = format!("{mark}{after}");
        if old.is_some() && after == before {
            let text = format!("{name}: the edits together change nothing, so nothing was written");
            return Ok(Reply::new(text, json!({ "path": name, "done": "unchanged" })));
        }
        put(call.abort, writable, old.as_ref(), &after)?;
        Ok(told(&name, (old.is_some(), times), before, &after))
    }
}

/// Returns the content of the file. Only a replacement of nothing makes a new one.
fn read(
    call: &Call<'_>,
    (path, writable): (&str, &Writable),
    edits: &[Replacement],
) -> Result<Option<Content>, ToolError> {
    if writable.exists() {
        let opened = call.guard.read(Path::new(path), call.abort)?;
        return Content::read(&opened, LONGEST).map(Some);
    }
    let makes = edits.iter().any(|edit| edit.old.is_empty());
    makes
        .then_some(None)
        .ok_or_else(|| ToolError::trouble(&writable.location().to_string(), Trouble::NotFound))
}

impl Written {
    fn edits(self) -> Result<Vec<Replacement>, String> {
        let wrong = |text: &str| Err(text.to_owned());
        match (self.old, self.new) {
            (Some(old), Some(new)) if self.edits.is_empty() => {
                Ok(vec![Replacement { old, new, replace_all: self.replace_all.unwrap_or(false) }])
            }
            (None, None) if self.edits.is_empty() => {
                wrong("there is nothing to do: give `edits`, each with `old` and `new`")
            }
            (None, None) if self.edits.len() > MOST => {
                Err(format!("there are {} edits, and at most {MOST} are made at once", self.edits.len()))
            }
            (None, None) if self.replace_all.is_none() => Ok(self.edits),
            (Some(_), None) | (None, Some(_)) if self.edits.is_empty() => {
                wrong("`old` and `new` belong together, and one is missing")
            }
            _ => wrong("give either `edits`, or one `old` and `new`, not both"),
        }
    }
}

fn text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, ToolError> {
    let binary = |why| {
        ToolError::new(ErrorKind::Binary, format!("{name} is not text that can be edited: {why}"))
            .hint("`read` says what it is")
    };
    if bytes.contains(&0) {
        return Err(binary("it contains NUL bytes".to_owned()));
    }
    std::str::from_utf8(bytes).map_err(|error| binary(format!("byte {} is not UTF-8", error.valid_up_to())))
}

/// Makes all replacements, one after the other. Returns the text and how many there were.
fn all(name: &str, body: &str, edits: &[Replacement]) -> Result<(String, usize), ToolError> {
    let mut body = body.to_owned();
    let mut times = 0;
    for (number, edit) in edits.iter().enumerate() {
        if edit.old.is_empty() && body.is_empty() && !edit.new.is_empty() {
            body.clone_from(&edit.new);
            times += 1;
            continue;
        }
        let which = if edits.len() == 1 { String::new() } else { format!("edit {}: ", number + 1) };
        let (changed, more) = replace(&body, &edit.old, &edit.new, edit.replace_all)
            .map_err(|unfit| told_why(&format!("{which}{name}"), &body, &edit.old, &unfit))?;
        body = changed;
        times += more;
    }
    Ok((body, times))
}

fn told_why(what: &str, body: &str, old: &str, unfit: &Unfit) -> ToolError {
    match unfit {
        Unfit::Empty => ToolError::new(
            ErrorKind::InvalidArguments,
            format!("{what}: `old` is empty, and the file is not"),
        )
        .hint("`write` replaces all of a file"),
        Unfit::Same => {
            ToolError::new(ErrorKind::InvalidArguments, format!("{what}: `old` and `new` are the same"))
        }
        Unfit::TooLarge => ToolError::new(
            ErrorKind::TooLarge,
            format!("{what}: the file would have more than {LONGEST} bytes"),
        ),
        Unfit::NotUnique(times, lines) => {
            let text = format!("{what}: `old` is there {times} times, on {}", on_lines(lines, *times));
            ToolError::new(ErrorKind::NotUnique, text)
                .hint("add lines around it until it is unique, or set `replace_all`")
        }
        Unfit::Missing => {
            let error = ToolError::new(ErrorKind::NoMatch, format!("{what}: `old` is not there"));
            match nearest(&plain(body), &plain(old)) {
                Some(nearest) => error.hint(nearest.to_string()),
                None => error.hint("nothing similar is there; `read` the file again"),
            }
        }
    }
}

fn on_lines(lines: &[usize], times: usize) -> String {
    let listed: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let noun = if listed.len() == 1 { "line" } else { "lines" };
    let more = if times > listed.len() && listed.len() > 1 { " and others" } else { "" };
    format!("{noun} {}{more}", listed.join(", "))
}

/// Puts the new text in the place of what was read, if it is still what was read.
fn put(abort: &Abort, writable: Writable, old: Option<&Content>, after: &str) -> Result<(), ToolError> {
    let name = writable.location().to_string();
    let trouble = |trouble| ToolError::trouble(&name, trouble);
    if after.len() as u64 > LONGEST {
        return Err(told_why(&name, "", "", &Unfit::TooLarge));
    }
    let staged = writable.stage(after.as_bytes()).map_err(trouble)?;
    if abort.is_aborted() {
        return Err(ToolError::new(ErrorKind::Aborted, format!("{name}: the edit was cancelled")));
    }
    if staged.version().map_err(trouble)? != old.map(|old| old.version) {
        return Err(content::changed(&name));
    }
    staged.put().map(drop).map_err(trouble)
}

fn told(name: &str, (existed, times): (bool, usize), before: &str, after: &str) -> Reply {
    let diff = Diff::of(before, after);
    let (added, removed) = (content::count(diff.added, "line"), content::count(diff.removed, "line"));
    let done = if existed { "edited" } else { "created" };
    let made = content::count(times, "replacement");
    let old = if existed { name } else { "/dev/null" };
    let head = format!("{done} {name}: {made}, {added} added, {removed} removed\n--- {old}\n+++ {name}\n");
    let data = json!({
        "path": name, "done": done, "replacements": times, "added": diff.added, "removed": diff.removed,
    });
    Reply::new(head, data).text(TextBody::whole("diff", diff.text, Keep::Head))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::desk::guard;

    /// Another program writes into the file in its place, or puts another there, between reading and writing.
    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (file, other) = (dir.path().join("f"), dir.path().join("other"));
        for in_place in [true, false] {
            fs::write(&file, "old").unwrap();
            let guard = guard(dir.path(), "edit");
            let writable = guard.write(Path::new("f"), &Abort::new()).unwrap();
            let old = Content::read(&guard.read(Path::new("f"), &Abort::new()).unwrap(), LONGEST).unwrap();
            fs::write(if in_place { &file } else { &other }, "theirs").unwrap();
            if !in_place {
                fs::rename(&other, &file).unwrap();
            }
            let error = put(&Abort::new(), writable, Some(&old), "mine").unwrap_err();
            assert_eq!(
                (error.kind, fs::read_to_string(&file).unwrap()),
                (ErrorKind::Conflict, "theirs".to_owned())
            );
        }
        let writable = guard(dir.path(), "edit").write(Path::new("new"), &Abort::new()).unwrap();
        fs::write(dir.path().join("new"), "theirs").unwrap();
        let error = put(&Abort::new(), writable, None, "mine").unwrap_err();
        assert_eq!(error.kind, ErrorKind::Conflict);
    }
}
