//! The envelope: sections between `*** Begin Patch` and `*** End Patch`.

use std::path::PathBuf;

use super::unified::range;
use super::{Action, Cursor, Hunk, Line, PatchError, Section, Sign};

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// Reads from the first line, which is `*** Begin Patch`, to the end.
pub(super) fn sections(cursor: &mut Cursor<'_>) -> Result<Vec<Section>, PatchError> {
    cursor.next();
    let mut sections = Vec::new();
    loop {
        cursor.skip_blank();
        let line = cursor.number();
        let Some(header) = cursor.peek() else {
            return Err(cursor.malformed(format!("`{END}` is missing")));
        };
        let action = if header.trim_end() == END {
            break;
        } else if let Some(path) = header.strip_prefix(ADD) {
            let path = name(cursor, path)?;
            Action::Add { path, content: added(cursor)? }
        } else if let Some(path) = header.strip_prefix(DELETE) {
            Action::Delete { path: name(cursor, path)?, content: None }
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            let path = name(cursor, path)?;
            update(cursor, path, line)?
        } else {
            let text = format!("expected `{ADD}`, `{UPDATE}`, `{DELETE}` or `{END}`");
            return Err(cursor.malformed(text));
        };
        sections.push(Section { line, action });
    }
    cursor.next();
    cursor.skip_blank();
    match cursor.peek() {
        Some(_) => Err(cursor.malformed(format!("something follows `{END}`"))),
        None if sections.is_empty() => {
            Err(PatchError { line: 1, text: "the patch changes nothing".to_owned() })
        }
        None => Ok(sections),
    }
}

/// The name in the line that comes next, which is left behind.
fn name(cursor: &mut Cursor<'_>, path: &str) -> Result<PathBuf, PatchError> {
    let path = path.trim();
    if path.is_empty() {
        return Err(cursor.malformed("the name of the file is missing"));
    }
    cursor.next();
    Ok(PathBuf::from(path))
}

fn is_marker(line: &str) -> bool {
    line.starts_with("*** ")
}

fn added(cursor: &mut Cursor<'_>) -> Result<String, PatchError> {
    let mut content = String::new();
    while let Some(line) = cursor.peek().and_then(|line| line.strip_prefix('+')) {
        content.push_str(line);
        content.push('\n');
        cursor.next();
    }
    cursor.skip_blank();
    match cursor.peek() {
        Some(line) if !is_marker(line) => Err(cursor.malformed("every line of a new file begins with `+`")),
        _ => Ok(content),
    }
}

fn update(cursor: &mut Cursor<'_>, path: PathBuf, line: usize) -> Result<Action, PatchError> {
    let to = match cursor.peek().and_then(|line| line.strip_prefix(MOVE)) {
        Some(to) => Some(name(cursor, to)?),
        None => None,
    };
    let mut hunks = Vec::new();
    while cursor.peek().is_some_and(|line| !is_marker(line)) {
        if cursor.peek().is_some_and(str::is_empty) && only_blank_before_marker(cursor) {
            cursor.skip_blank();
            break;
        }
        hunks.push(hunk(cursor)?);
    }
    if hunks.is_empty() && to.is_none() {
        return Err(PatchError { line, text: "the section changes nothing".to_owned() });
    }
    Ok(Action::Update { path, to, hunks })
}

/// Returns true if the empty line that comes next, and those after it, only set the next section apart.
fn only_blank_before_marker(cursor: &Cursor<'_>) -> bool {
    let mut rest = cursor.lines[cursor.at..].iter();
    rest.find(|line| !line.is_empty()).is_none_or(|line| is_marker(line))
}

fn hunk(cursor: &mut Cursor<'_>) -> Result<Hunk, PatchError> {
    let mut hunk =
        Hunk { line: cursor.number(), anchors: Vec::new(), start: None, at_end: false, lines: Vec::new() };
    while let Some(anchor) = cursor.peek().and_then(|line| line.strip_prefix("@@")) {
        if let Some(range) = cursor.peek().and_then(range) {
            hunk.start = range.start();
        } else if !anchor.trim().is_empty() {
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor).trim_end();
            hunk.anchors.push(anchor.strip_suffix(" @@").unwrap_or(anchor).to_owned());
        }
        cursor.next();
    }
    body(cursor, &mut hunk)?;
    if hunk.lines.iter().all(|line| line.sign == Sign::Keep) {
        return Err(PatchError { line: hunk.line, text: "the hunk changes nothing".to_owned() });
    }
    Ok(hunk)
}

fn body(cursor: &mut Cursor<'_>, hunk: &mut Hunk) -> Result<(), PatchError> {
    while let Some(line) = cursor.peek() {
        if line.trim_end() == END_OF_FILE {
            hunk.at_end = true;
            cursor.next();
            return Ok(());
        }
        if is_marker(line) || line.starts_with("@@") {
            return Ok(());
        }
        // An empty line is an empty line of the file, unless it sets sections apart. That is asked once for a row of them.
        if line.is_empty() {
            if only_blank_before_marker(cursor) {
                cursor.skip_blank();
                return Ok(());
            }
            while cursor.peek().is_some_and(str::is_empty) {
                hunk.lines.push(Line::new(Sign::Keep, ""));
                cursor.next();
            }
            continue;
        }
        hunk.lines.extend(signed(cursor, line)?);
        cursor.next();
    }
    Ok(())
}

fn signed(cursor: &Cursor<'_>, line: &str) -> Result<Option<Line>, PatchError> {
    let sign = match line.as_bytes().first() {
        Some(b' ') => Sign::Keep,
        Some(b'-') => Sign::Remove,
        Some(b'+') => Sign::Add,
        // The end of a file is not stated here.
        Some(b'\\') => return Ok(None),
        _ => return Err(cursor.malformed("a line of a hunk begins with a space, `+` or `-`")),
    };
    Ok(Some(Line::new(sign, &line[1..])))
}
