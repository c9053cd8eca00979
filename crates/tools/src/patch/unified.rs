//! Unified diffs, with the headers of git or without.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use super::{Action, Cursor, Hunk, Line, PatchError, Section, Sign};

/// Reads to the end.
pub(super) fn sections(cursor: &mut Cursor<'_>) -> Result<Vec<Section>, PatchError> {
    let mut sections = Vec::new();
    // Text before the first header is a letter around the patch.
    let mut in_letter = true;
    while let Some(line) = cursor.peek() {
        if line.starts_with("diff --git ") || is_names(cursor) {
            sections.push(section(cursor)?);
            in_letter = false;
        } else if is_binary(line) {
            return Err(cursor.malformed(BINARY));
        } else if range(line).is_some() {
            return Err(cursor.malformed("a hunk without the name of a file before it"));
        } else if line.trim_end() == "--" {
            // The signature of a letter. What follows is the next one.
            in_letter = true;
            cursor.next();
        } else if in_letter || is_between(line) {
            cursor.next();
        } else {
            return Err(
                cursor.malformed("neither a hunk nor a header; the hunk before it may say too few lines")
            );
        }
    }
    if sections.is_empty() {
        let text = "neither an envelope (`*** Begin Patch`) nor a unified diff (`---`, `+++`, `@@`)";
        return Err(PatchError { line: 1, text: text.to_owned() });
    }
    Ok(sections)
}

fn is_names(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| line.starts_with("--- "))
        && cursor.peek_next().is_some_and(|line| line.starts_with("+++ "))
}

const BINARY: &str = "binary patches are not applied";

fn is_binary(line: &str) -> bool {
    line.starts_with("GIT binary patch")
        || line.starts_with("Binary files ") && line.trim_end().ends_with(" differ")
}

/// Returns true for lines that other programs write between the files.
fn is_between(line: &str) -> bool {
    line.trim().is_empty()
        || ["Index: ", "=====", "Only in ", "diff "].iter().any(|start| line.starts_with(start))
}

/// Headers of a file.
#[derive(Default)]
struct Headers {
    old: Option<Name>,
    new: Option<Name>,
    /// Both names at once, from the first line that git writes.
    both: Option<Vec<u8>>,
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    added: bool,
    deleted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    /// `/dev/null`: there is no file on this side.
    Nothing,
    File(Vec<u8>),
}

fn section(cursor: &mut Cursor<'_>) -> Result<Section, PatchError> {
    let line = cursor.number();
    let mut headers = Headers::default();
    if let Some(names) = cursor.peek().and_then(|line| line.strip_prefix("diff --git ")) {
        headers.both = both(names);
        cursor.next();
        while git_header(cursor, &mut headers)? {
            cursor.next();
        }
    }
    if is_names(cursor) {
        headers.old = Some(name(cursor, "--- ")?);
        headers.new = Some(name(cursor, "+++ ")?);
    }
    let mut hunks = Vec::new();
    while let Some(range) = cursor.peek().and_then(range) {
        hunks.push(hunk(cursor, &range)?);
    }
    let action = headers.action(hunks).map_err(|text| PatchError { line, text: text.to_owned() })?;
    Ok(Section { line, action })
}

/// Reads one header of git. Says whether there was one.
fn git_header(cursor: &Cursor<'_>, headers: &mut Headers) -> Result<bool, PatchError> {
    let Some(line) = cursor.peek() else { return Ok(false) };
    let refuse = |text: &str| Err(cursor.malformed(text));
    if is_binary(line) {
        return refuse(BINARY);
    }
    if line.starts_with("old mode ") || line.starts_with("new mode ") {
        return refuse("the mode of a file is not changed by a patch");
    }
    if line.starts_with("copy from ") || line.starts_with("copy to ") {
        return refuse("files are not copied by a patch: write it as a new file");
    }
    if let Some(mode) = line.strip_prefix("new file mode ") {
        headers.added = true;
        return if mode.trim() == "100644" {
            Ok(true)
        } else {
            refuse("only plain files with the mode 100644 are added")
        };
    }
    if let Some(mode) = line.strip_prefix("deleted file mode ") {
        headers.deleted = true;
        return if is_plain(mode) { Ok(true) } else { refuse("only plain files are deleted") };
    }
    if let Some(index) = line.strip_prefix("index ") {
        let mode = index.split_once(' ').map_or("100644", |(_, mode)| mode);
        return if is_plain(mode) {
            Ok(true)
        } else {
            refuse("only plain files are changed, no links and no modules")
        };
    }
    if let Some(from) = line.strip_prefix("rename from ") {
        headers.from = Some(unquoted(from).ok_or_else(|| cursor.malformed("the name cannot be read"))?);
        return Ok(true);
    }
    if let Some(to) = line.strip_prefix("rename to ") {
        headers.to = Some(unquoted(to).ok_or_else(|| cursor.malformed("the name cannot be read"))?);
        return Ok(true);
    }
    Ok(line.starts_with("similarity index ") || line.starts_with("dissimilarity index "))
}

fn is_plain(mode: &str) -> bool {
    mode.trim().starts_with("100")
}

impl Headers {
    fn action(mut self, hunks: Vec<Hunk>) -> Result<Action, &'static str> {
        self.strip();
        self.complete()?;
        let (old, new) = (self.old.unwrap_or(Name::Nothing), self.new.unwrap_or(Name::Nothing));
        match (old, new) {
            (Name::Nothing, Name::Nothing) => Err("the name of the file is missing"),
            (Name::Nothing, Name::File(path)) => {
                let content =
                    only(hunks, Sign::Add).ok_or("a new file has only lines that begin with `+`")?;
                Ok(Action::Add { path: path_of(path), content })
            }
            (Name::File(path), Name::Nothing) => {
                let content =
                    only(hunks, Sign::Remove).ok_or("a deleted file has only lines that begin with `-`")?;
                Ok(Action::Delete { path: path_of(path), content: Some(content) })
            }
            (Name::File(old), Name::File(new)) => {
                let moved = self.to.is_some();
                if old != new && !moved {
                    return Err("the names differ; a file that moves needs `rename from` and `rename to`");
                }
                if hunks.is_empty() && !moved {
                    return Err("the section changes nothing");
                }
                Ok(Action::Update { path: path_of(old), to: moved.then(|| path_of(new)), hunks })
            }
        }
    }

    /// Takes `a/` and `b/` off, if both are there.
    fn strip(&mut self) {
        let begins = |name: &Option<Name>, start: &[u8]| match name {
            Some(Name::File(name)) => name.starts_with(start),
            Some(Name::Nothing) => true,
            None => false,
        };
        if begins(&self.old, b"a/") && begins(&self.new, b"b/") {
            for name in [&mut self.old, &mut self.new] {
                if let Some(Name::File(name)) = name {
                    name.drain(..2);
                }
            }
        }
    }

    /// Brings together what the headers of git say and the names before the hunks.
    fn complete(&mut self) -> Result<(), &'static str> {
        let both = self.both.take().map_or(Name::Nothing, Name::File);
        let (old, new) = match (self.from.take(), &self.to) {
            (Some(from), Some(to)) if !self.added && !self.deleted => {
                (Name::File(from), Name::File(to.clone()))
            }
            (None, None) => match (self.added, self.deleted) {
                (true, false) => (Name::Nothing, both),
                (false, true) => (both, Name::Nothing),
                (false, false) => (both.clone(), both),
                (true, true) => return Err("a file is added or deleted, not both"),
            },
            _ => {
                return Err(
                    "`rename from` and `rename to` belong together, and to no file that is added or deleted",
                );
            }
        };
        let agree = |said: &Option<Name>, known: &Name, sure: bool| {
            !sure || said.as_ref().is_none_or(|said| said == known)
        };
        let moved = self.to.is_some();
        if !agree(&self.old, &old, moved || self.added) || !agree(&self.new, &new, moved || self.deleted) {
            return Err("the headers do not agree on the names");
        }
        self.old.get_or_insert(old);
        self.new.get_or_insert(new);
        Ok(())
    }
}

/// The text of hunks whose lines all have one sign, from the beginning of the file on.
fn only(hunks: Vec<Hunk>, sign: Sign) -> Option<String> {
    let mut hunks = hunks.into_iter();
    let Some(hunk) = hunks.next() else { return Some(String::new()) };
    let fits =
        hunks.next().is_none() && hunk.start == Some(0) && hunk.lines.iter().all(|line| line.sign == sign);
    fits.then(|| hunk.lines.into_iter().map(|line| line.text).collect())
}

fn path_of(name: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(name))
}

/// The name after `---` or `+++`; a time may follow behind a tab.
fn name(cursor: &mut Cursor<'_>, start: &str) -> Result<Name, PatchError> {
    let text = cursor.peek().and_then(|line| line.strip_prefix(start)).unwrap_or_default();
    let name = if text.starts_with('"') {
        unquoted(text)
    } else {
        let name = text.split_once('\t').map_or_else(|| text.trim_end(), |(name, _)| name);
        (!name.is_empty()).then(|| name.as_bytes().to_vec())
    };
    let name = name.ok_or_else(|| cursor.malformed("the name of the file cannot be read"))?;
    cursor.next();
    Ok(if name == b"/dev/null" { Name::Nothing } else { Name::File(name) })
}

/// The name in `a/NAME b/NAME`, where both are the same. What differs is told by other headers.
fn both(names: &str) -> Option<Vec<u8>> {
    let names = names.trim_end();
    if let Some(inner) = names.strip_prefix('"') {
        let end = inner.find("\" ")? + 2;
        let (old, new) = (unquoted(&names[..end])?, unquoted(&names[end + 1..])?);
        return same(&old, &new);
    }
    let middle = names.len() / 2;
    let (old, new) = (names.as_bytes().get(..middle)?, names.as_bytes().get(middle + 1..)?);
    (names.as_bytes().get(middle) == Some(&b' ')).then(|| same(old, new))?
}

fn same(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    match (old.strip_prefix(b"a/"), new.strip_prefix(b"b/")) {
        (Some(old), Some(new)) if old == new => Some(old.to_vec()),
        _ => (old == new).then(|| old.to_vec()),
    }
}

/// A name as git quotes it: in quotes, with the escapes of C, or as it is.
fn unquoted(text: &str) -> Option<Vec<u8>> {
    let Some(inner) = text.trim_end().strip_prefix('"') else {
        return (!text.trim_end().is_empty()).then(|| text.trim_end().as_bytes().to_vec());
    };
    let mut bytes = inner.strip_suffix('"')?.bytes();
    let mut name = Vec::new();
    while let Some(byte) = bytes.next() {
        name.push(match byte {
            b'"' => return None,
            b'\\' => escaped(&mut bytes)?,
            byte => byte,
        });
    }
    (!name.is_empty()).then_some(name)
}

fn escaped(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let octal = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| u32::from(byte - b'0'));
    Some(match bytes.next()? {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        byte @ (b'"' | b'\\') => byte,
        first => {
            let digits = [octal(first)?, octal(bytes.next()?)?, octal(bytes.next()?)?];
            u8::try_from(digits[0] * 64 + digits[1] * 8 + digits[2]).ok()?
        }
    })
}

/// The numbers of a hunk.
pub(super) struct Range {
    old: (usize, usize),
    new: (usize, usize),
}

impl Range {
    /// Returns the number of lines before it, if that is possible.
    pub(super) fn start(&self) -> Option<usize> {
        match self.old {
            (line, 0) => Some(line),
            (line, _) => line.checked_sub(1),
        }
    }
}

/// Reads `@@ -LINE,LINES +LINE,LINES @@`.
pub(super) fn range(line: &str) -> Option<Range> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some(Range { old: side(old)?, new: side(new)? })
}

fn side(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    match text.split_once(',') {
        Some((line, lines)) => Some((number(line)?, number(lines)?)),
        None => Some((number(text)?, 1)),
    }
}

fn hunk(cursor: &mut Cursor<'_>, range: &Range) -> Result<Hunk, PatchError> {
    let line = cursor.number();
    let start = range.start().ok_or_else(|| cursor.malformed("lines are counted from 1"))?;
    cursor.next();
    let mut hunk = Hunk { line, anchors: Vec::new(), start: Some(start), at_end: false, lines: Vec::new() };
    let (mut old, mut new) = (range.old.1, range.new.1);
    while old > 0 || new > 0 {
        let text = format!("the hunk ends early: {old} old and {new} new lines are missing");
        let early = PatchError { line: cursor.number(), text };
        let Some(text) = cursor.peek() else { return Err(early) };
        let sign = match text.as_bytes().first() {
            // Some programs take the space at the end of a line away.
            None | Some(b' ') => Sign::Keep,
            Some(b'\r') if text.len() == 1 => Sign::Keep,
            Some(b'-') => Sign::Remove,
            Some(b'+') => Sign::Add,
            Some(b'\\') => {
                unended(cursor, &mut hunk)?;
                continue;
            }
            Some(_) => return Err(early),
        };
        let left = (
            old.checked_sub(usize::from(sign != Sign::Add)),
            new.checked_sub(usize::from(sign != Sign::Remove)),
        );
        let (Some(old_left), Some(new_left)) = left else { return Err(early) };
        (old, new) = (old_left, new_left);
        let skip = usize::from(matches!(text.as_bytes().first(), Some(b' ' | b'-' | b'+')));
        hunk.lines.push(Line::new(sign, &text[skip..]));
        cursor.next();
    }
    if cursor.peek().is_some_and(|line| line.starts_with('\\')) {
        unended(cursor, &mut hunk)?;
    }
    ended(cursor, &hunk)?;
    Ok(hunk)
}

/// Takes the end off the line before `\ No newline at end of file`. Such a line is the last of the file, before or after.
fn unended(cursor: &mut Cursor<'_>, hunk: &mut Hunk) -> Result<(), PatchError> {
    match hunk.lines.last_mut() {
        Some(line) if line.text.ends_with('\n') => {
            line.text.pop();
            hunk.at_end = true;
            cursor.next();
            Ok(())
        }
        _ => Err(cursor.malformed("no line stands before it that could lack its end")),
    }
}

/// A hunk is over when its numbers say so, lines without an end are last, and something has changed.
fn ended(cursor: &Cursor<'_>, hunk: &Hunk) -> Result<(), PatchError> {
    let follows =
        cursor.peek().is_some_and(|line| line.starts_with([' ', '+', '-']) && line.trim_end() != "--");
    if follows && !is_names(cursor) {
        return Err(cursor.malformed("the hunk has more lines than its header says"));
    }
    let wrong = |text: &str| PatchError { line: hunk.line, text: text.to_owned() };
    for other in [Sign::Add, Sign::Remove] {
        let mut side = hunk.lines.iter().filter(|line| line.sign != other).rev().skip(1);
        if side.any(|line| !line.text.ends_with('\n')) {
            return Err(wrong("a line that is not the last has no end"));
        }
    }
    if hunk.lines.iter().all(|line| line.sign == Sign::Keep) {
        return Err(wrong("the hunk changes nothing"));
    }
    Ok(())
}
