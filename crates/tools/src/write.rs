//! `write`: a file with all of its content.

use std::path::Path;

use ringfence::audit::Impact;
use ringfence::guard::{Access, ReadableFile, Writable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::content::{self, Content, LONGEST};
use crate::diff::Diff;
use crate::error::{ErrorKind, ToolError};
use crate::reply::Reply;
use crate::tool::{Call, Tool};

/// Makes a file or replaces all of its content.
#[derive(Debug, Clone, Copy)]
pub struct Write;

/// Parameters of `write`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteParameters {
    /// The path of the file: from the workspace, or absolute inside it. Directories on the way are made.
    #[serde(alias = "file_path")]
    pub path: String,
    /// Everything that the file contains afterwards.
    pub content: String,
    /// True if it is an error if the file exists.
    #[serde(default)]
    pub create_only: bool,
    /// The SHA-256 that the content of the file has before, in hexadecimal digits. It is an error if the file is different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sha256: Option<String>,
}

impl Tool for Write {
    type Parameters = WriteParameters;
    const NAME: &'static str = "write";
    const DESCRIPTION: &'static str =
        "Makes a file, or replaces all of its content at once. Use `edit` to change a part of a file.";
    const IMPACT: Impact = Impact::Mutate;
    const PATHS: &'static [&'static str] = &["path"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[("file_path", "path")];

    fn run(&self, call: &Call<'_>, parameters: WriteParameters) -> Result<Reply, ToolError> {
        let path = Path::new(&parameters.path);
        fits(&parameters.content)?;
        let writable = call.guard.write(path, call.abort)?;
        let name = writable.location().to_string();
        if parameters.create_only && writable.exists() {
            let text = format!("{name} exists already, and `create_only` is set");
            return Err(ToolError::new(ErrorKind::Conflict, text).hint("`read` it first, then `edit` it"));
        }
        let old = match &parameters.expected_sha256 {
            Some(expected) => Some(expected_content(call, path, (&writable, &name), expected)?),
            None => known(call, path, &writable),
        };
        put(call, writable, old.as_ref(), &parameters)
    }
}

fn fits(content: &str) -> Result<(), ToolError> {
    if content.len() as u64 <= LONGEST {
        return Ok(());
    }
    let text = format!("`content` has {} bytes, and at most {LONGEST} are written", content.len());
    Err(ToolError::new(ErrorKind::TooLarge, text).hint("write several files, or let a command make it"))
}

/// Reads the required content, if the guard permits it.
fn expected_content(
    call: &Call<'_>,
    path: &Path,
    (writable, name): (&Writable, &str),
    expected: &str,
) -> Result<Content, ToolError> {
    if expected.len() != 64 || !expected.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let text = "`expected_sha256` does not have 64 hexadecimal digits";
        return Err(ToolError::new(ErrorKind::InvalidArguments, text));
    }
    let different = |text: String| ToolError::new(ErrorKind::Conflict, text).hint("read it again");
    if !writable.exists() {
        return Err(different(format!("{name} does not exist, and `expected_sha256` is set")));
    }
    let content = Content::read(&call.guard.read(path, call.abort)?, LONGEST)?;
    let found = sha256(&content.bytes);
    if !found.eq_ignore_ascii_case(expected) {
        return Err(different(format!("{name} is not what was expected: its SHA-256 is {found}")));
    }
    if writable.version().ok().flatten() == Some(content.version) {
        Ok(content)
    } else {
        Err(content::changed(name))
    }
}

/// Returns the old content, if the policy lets it be read without asking and it is the file that is replaced. It is only
/// reported.
fn known(call: &Call<'_>, path: &Path, writable: &Writable) -> Option<Content> {
    if !writable.exists() || !call.guard.can_access(Access::Read(path)) {
        return None;
    }
    let opened: ReadableFile = call.guard.read(path, call.abort).ok()?;
    let content = Content::read(&opened, LONGEST).ok()?;
    (writable.version().ok()? == Some(content.version)).then_some(content)
}

fn put(
    call: &Call<'_>,
    writable: Writable,
    old: Option<&Content>,
    parameters: &WriteParameters,
) -> Result<Reply, ToolError> {
    let (name, content) = (writable.location().to_string(), &parameters.content);
    let (size, lines) = (content.len(), content::lines(content.as_bytes()));
    let amount = format!("{}, {}", content::count(size, "byte"), content::count(lines, "line"));
    let created = !writable.exists();
    let output = |done: &str, text: String, diff: Option<&Diff>| {
        let data = json!({
            "path": name, "done": done, "bytes": size, "lines": lines, "sha256": sha256(content.as_bytes()),
            "added": diff.map(|diff| diff.added), "removed": diff.map(|diff| diff.removed),
        });
        Reply::new(text, data)
    };
    if old.is_some_and(|old| old.bytes == content.as_bytes()) {
        return Ok(output(
            "unchanged",
            format!("{name} has this content already: nothing was written ({amount})"),
            None,
        ));
    }
    if call.abort.is_aborted() {
        return Err(ToolError::new(ErrorKind::Aborted, format!("{name}: writing was cancelled")));
    }
    let trouble = |trouble| ToolError::trouble(&name, trouble);
    let staged = writable.stage(content.as_bytes()).map_err(trouble)?;
    if let (Some(_), Some(old)) = (&parameters.expected_sha256, old)
        && staged.version().map_err(trouble)? != Some(old.version)
    {
        return Err(content::changed(&name));
    }
    staged.put().map_err(trouble)?;
    if created {
        return Ok(output("created", format!("created {name}: {amount}"), None));
    }
    let before = old.and_then(|old| std::str::from_utf8(&old.bytes).ok());
    let diff = before.map(|before| Diff::of(before, content));
    let change = diff.as_ref().map_or_else(String::new, |diff| {
        format!(
            "; {} added, {} removed",
            content::count(diff.added, "line"),
            content::count(diff.removed, "line")
        )
    });
    Ok(output("replaced", format!("replaced {name}: {amount}{change}"), diff.as_ref()))
}

fn sha256(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
