//! Positions of the hunks of a patch in a file, and the patched file.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{Form, Hunk, Sign};
use crate::rows;

/// Steps that are taken to find the places of all hunks of a patch. A step is a line looked at.
pub(super) const STEPS: usize = 50_000_000;
/// Number of places that are named.
const NAMED: usize = 10;
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file with its hunks applied.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Applied {
    pub(super) content: Vec<u8>,
    pub(super) added: usize,
    pub(super) removed: usize,
    /// Hunks that were not found exactly as they were written.
    pub(super) notes: Vec<String>,
}

/// Reason why a hunk has no place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unplaced {
    /// The line of the patch where the hunk begins.
    pub(super) line: usize,
    pub(super) why: Why,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Its lines are not there, or not behind the hunk before it.
    Missing,
    /// The line before it is not there.
    NoAnchor(String),
    /// It may belong on any of these lines.
    Ambiguous(Vec<usize>),
    /// It only adds lines, and does not say where.
    Nowhere,
    /// Looking for it takes too long.
    TooLong,
}

/// Strictness with which lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Exact,
    /// Space at the end does not count, nor does the end of the line.
    Ends,
    /// Space at the beginning does not count, either.
    Trimmed,
}

impl Level {
    const ALL: [Self; 3] = [Self::Exact, Self::Ends, Self::Trimmed];

    fn same(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Self::Exact => a == b,
            Self::Ends => a.trim_ascii_end() == b.trim_ascii_end(),
            Self::Trimmed => a.trim_ascii() == b.trim_ascii(),
        }
    }
}

/// Applies hunks, from top to bottom. `steps` is what may still be spent on looking for them.
pub(super) fn apply(
    content: &[u8],
    form: Form,
    hunks: &[Hunk],
    steps: &mut usize,
) -> Result<Applied, Unplaced> {
    if !content.starts_with(MARK) {
        return apply_at(0, content, form, hunks, steps);
    }
    let unmarked = hunks.iter().flat_map(|hunk| &hunk.lines).all(|line| !line.text.starts_with('\u{feff}'));
    match form {
        Form::Envelope if unmarked => apply_at(MARK.len(), content, form, hunks, steps),
        // A diff counts the mark to the first line, unless its author did not see it.
        Form::Unified if unmarked => apply_at(0, content, form, hunks, steps)
            .or_else(|_| apply_at(MARK.len(), content, form, hunks, steps)),
        _ => apply_at(0, content, form, hunks, steps),
    }
}

/// The same from some byte on.
fn apply_at(
    from: usize,
    content: &[u8],
    form: Form,
    hunks: &[Hunk],
    steps: &mut usize,
) -> Result<Applied, Unplaced> {
    let (mark, body) = content.split_at(from);
    let mut file = File::new(body, form);
    let mut result = Applied { content: mark.to_vec(), added: 0, removed: 0, notes: Vec::new() };
    let mut moved = 0;
    for hunk in hunks {
        let (body, at, level) =
            placed(&file, hunk, (moved, form), steps).map_err(|why| Unplaced { line: hunk.line, why })?;
        if let Some(start) = hunk.start.filter(|_| form == Form::Unified) {
            moved = at.cast_signed() - start.cast_signed();
        }
        result.notes.extend(note(hunk, at, level, form));
        result.added += body.iter().filter(|(sign, _)| *sign == Sign::Add).count();
        result.removed += body.iter().filter(|(sign, _)| *sign == Sign::Remove).count();
        file.take(at, body);
    }
    result.content.extend(file.finish());
    Ok(result)
}

type Body<'a> = Vec<(Sign, Cow<'a, [u8]>)>;

/// Finds the position of a hunk, and the strictness. A diff means the ends of lines as it writes them, if it is found so.
fn placed<'a>(
    file: &File<'_>,
    hunk: &'a Hunk,
    (moved, form): (isize, Form),
    steps: &mut usize,
) -> Result<(Body<'a>, usize, Level), Why> {
    let literal = hunk.lines.iter().map(|line| (line.sign, Cow::Borrowed(line.text.as_bytes()))).collect();
    let tries: [(Body<'a>, &[Level]); 2] = match form {
        Form::Unified => [(literal, &[Level::Exact]), (file.fit(hunk), &Level::ALL)],
        Form::Envelope => [(literal, &[]), (file.fit(hunk), &Level::ALL)],
    };
    for (body, levels) in tries {
        let old: Vec<&[u8]> =
            body.iter().filter(|(sign, _)| *sign != Sign::Add).map(|(_, text)| &**text).collect();
        match (Search { file, hunk, old: &old, moved, form }).place(levels, steps) {
            Err(Why::Missing) => {}
            found => return found.map(|(at, level)| (body, at, level)),
        }
    }
    Err(Why::Missing)
}

fn note(hunk: &Hunk, at: usize, level: Level, form: Form) -> Option<String> {
    let how = match level {
        Level::Exact => "",
        Level::Ends => ", but for space at the ends of lines",
        Level::Trimmed => ", but for indentation and space at the ends of lines",
    };
    let stated = hunk.start.filter(|start| form == Form::Unified && *start != at);
    if level == Level::Exact && stated.is_none() {
        return None;
    }
    let instead = stated.map_or_else(String::new, |start| format!(" instead of line {}", start + 1));
    Some(format!("the hunk on line {} of the patch was found on line {}{instead}{how}", hunk.line, at + 1))
}

/// A file on its way to its new content.
struct File<'a> {
    lines: Vec<Cow<'a, [u8]>>,
    /// The lines before this one are done.
    done: usize,
    output: Vec<Vec<u8>>,
    /// End of every line, if they are all the same.
    end: Option<&'static [u8]>,
    /// The end that the last line was given, and does not really have.
    lent: usize,
}

impl<'a> File<'a> {
    fn new(content: &'a [u8], form: Form) -> Self {
        let mut lines: Vec<Cow<'a, [u8]>> =
            content.split_inclusive(|byte| *byte == b'\n').map(Cow::Borrowed).collect();
        let ended = lines.iter().filter(|line| line.ends_with(b"\n"));
        let crlf = ended.clone().count() > 0 && ended.clone().all(|line| line.ends_with(b"\r\n"));
        let bare = !content.contains(&b'\r');
        let end: Option<&'static [u8]> = if crlf { Some(b"\r\n") } else { bare.then_some(b"\n") };
        let mut lent = 0;
        if let Some(last) = lines.last_mut().filter(|last| form == Form::Envelope && !last.ends_with(b"\n")) {
            let end = end.unwrap_or(b"\n");
            last.to_mut().extend_from_slice(end);
            lent = end.len();
        }
        Self { lines, done: 0, output: Vec::new(), end, lent }
    }

    /// The lines of a hunk, with the ends that the lines of the file have.
    fn fit<'b>(&self, hunk: &'b Hunk) -> Body<'b> {
        let returns =
            hunk.lines.iter().filter(|line| line.text.trim_end_matches('\n').ends_with('\r')).count();
        let old = hunk.lines.iter().any(|line| line.sign != Sign::Add);
        let fit = |text: &'b str| match self.end {
            Some(b"\r\n") if returns == 0 && text.ends_with('\n') => {
                Cow::Owned([&text.as_bytes()[..text.len() - 1], b"\r\n"].concat())
            }
            Some(b"\n") if old && returns == hunk.lines.len() && text.ends_with("\r\n") => {
                Cow::Owned([&text.as_bytes()[..text.len() - 2], b"\n"].concat())
            }
            _ => Cow::Borrowed(text.as_bytes()),
        };
        hunk.lines.iter().map(|line| (line.sign, fit(&line.text))).collect()
    }

    /// Puts a hunk where it belongs.
    fn take(&mut self, at: usize, body: Body<'_>) {
        let before = self.lines[self.done..at].iter_mut().map(|line| std::mem::take(line).into_owned());
        self.output.extend(before);
        self.done = at;
        for (sign, text) in body {
            match sign {
                // A kept line is that of the file, not that of the patch.
                Sign::Keep => self.output.push(std::mem::take(&mut self.lines[self.done]).into_owned()),
                Sign::Add => self.output.push(text.into_owned()),
                Sign::Remove => {}
            }
            self.done += usize::from(sign != Sign::Add);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.take(self.lines.len(), Vec::new());
        let end = self.end.unwrap_or(b"\n");
        let last = self.output.len().saturating_sub(1);
        for line in self.output.iter_mut().take(last).filter(|line| !line.ends_with(b"\n")) {
            line.extend_from_slice(end);
        }
        let mut content = self.output.concat();
        let lent = if content.ends_with(b"\n") { self.lent } else { 0 };
        content.truncate(content.len() - lent.min(content.len()));
        content
    }
}

type Likeness = fn(&[u8], &[u8]) -> bool;

/// Ways in which a line may be like an anchor, the closest first.
const LIKE: [Likeness; 3] = [
    |line, anchor| line.trim_ascii_end() == anchor.trim_ascii_end(),
    |line, anchor| line.trim_ascii() == anchor.trim_ascii(),
    |line, anchor| line.trim_ascii_start().starts_with(anchor.trim_ascii()),
];

/// The search for the place of one hunk.
struct Search<'a> {
    file: &'a File<'a>,
    hunk: &'a Hunk,
    /// The lines that have to be there.
    old: &'a [&'a [u8]],
    /// By how many lines the hunk before was off.
    moved: isize,
    form: Form,
}

impl Search<'_> {
    fn place(&self, levels: &[Level], steps: &mut usize) -> Result<(usize, Level), Why> {
        let after = self.anchored(steps)?;
        if let Some(level) = levels.first().filter(|_| self.old.is_empty()) {
            return self.between(&after).map(|at| (at, *level));
        }
        for level in levels.iter().copied() {
            if let Some(at) = self.stated().filter(|at| self.is_at(*at, level)) {
                return match self.meant_elsewhere(at, level) {
                    None => Ok((at, level)),
                    Some(other) => Err(Why::Ambiguous(vec![at.min(other) + 1, at.max(other) + 1])),
                };
            }
            let found = self.found(level, &after, steps)?;
            match found[..] {
                [] => {}
                [at] => return Ok((at, level)),
                _ => return Err(Why::Ambiguous(found.into_iter().take(NAMED).map(|at| at + 1).collect())),
            }
        }
        Err(Why::Missing)
    }

    /// Returns the position that the patch states. Anchors and the end of the file are more reliable.
    fn stated(&self) -> Option<usize> {
        if self.hunk.at_end || !self.hunk.anchors.is_empty() {
            return None;
        }
        self.hunk.start?.checked_add_signed(self.moved).filter(|at| *at >= self.file.done)
    }

    /// A diff shows as many lines before a change as behind it, unless the file begins or ends there. Where it would fit at that
    /// border as well as the stated place, others take the border: it is not known which is meant.
    fn meant_elsewhere(&self, at: usize, level: Level) -> Option<usize> {
        let keeps = |line: &&super::Line| line.sign == Sign::Keep;
        let before = self.hunk.lines.iter().take_while(keeps).count();
        let behind = self.hunk.lines.iter().rev().take_while(keeps).count();
        let border = match before.cmp(&behind) {
            Ordering::Less => 0,
            Ordering::Equal => return None,
            Ordering::Greater => self.file.lines.len().checked_sub(self.old.len())?,
        };
        (self.form == Form::Unified && border != at && border >= self.file.done && self.is_at(border, level))
            .then_some(border)
    }

    fn is_at(&self, at: usize, level: Level) -> bool {
        let Some(lines) = at.checked_add(self.old.len()).and_then(|end| self.file.lines.get(at..end)) else {
            return false;
        };
        lines.iter().zip(self.old).all(|(a, b)| level.same(a, b))
    }

    /// The places for lines that are only added.
    fn between(&self, after: &[usize]) -> Result<usize, Why> {
        let length = self.file.lines.len();
        if self.hunk.at_end || length == 0 {
            return Ok(length);
        }
        match (self.form, after) {
            (Form::Unified, _) => self.stated().filter(|at| *at <= length).ok_or(Why::Missing),
            (Form::Envelope, _) if self.hunk.anchors.is_empty() => Err(Why::Nowhere),
            (Form::Envelope, [anchor]) => Ok(anchor + 1),
            (Form::Envelope, many) => Err(Why::Ambiguous(many.iter().take(NAMED).map(|at| at + 1).collect())),
        }
    }

    /// The lines that the last anchor may be, or the place to search from if there is none. Never empty.
    fn anchored(&self, steps: &mut usize) -> Result<Vec<usize>, Why> {
        let mut after: Option<Vec<usize>> = None;
        for anchor in &self.hunk.anchors {
            let lines = self.lines_like(anchor, steps)?;
            let next = match after {
                None => lines,
                // Of those further in, the first behind each.
                Some(before) => firsts(&before, &lines),
            };
            if next.is_empty() {
                return Err(Why::NoAnchor(anchor.clone()));
            }
            after = Some(next);
        }
        Ok(after.unwrap_or_else(|| vec![self.file.done]))
    }

    fn lines_like(&self, anchor: &str, steps: &mut usize) -> Result<Vec<usize>, Why> {
        let anchor = anchor.as_bytes();
        for like in LIKE {
            spend(steps, self.file.lines.len() - self.file.done)?;
            let lines = self.file.lines.iter().enumerate().skip(self.file.done);
            let found: Vec<usize> = lines.filter(|(_, line)| like(line, anchor)).map(|(at, _)| at).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Every place where the lines are: one for each anchor, if there are anchors.
    fn found(&self, level: Level, after: &[usize], steps: &mut usize) -> Result<Vec<usize>, Why> {
        let first = after.first().copied().unwrap_or(self.file.done);
        if self.hunk.at_end {
            let at = self.file.lines.len().checked_sub(self.old.len());
            return Ok(at.filter(|at| *at >= first && self.is_at(*at, level)).into_iter().collect());
        }
        spend(steps, self.file.lines.len() - first + self.old.len())?;
        let same = move |a: &Cow<'_, [u8]>, b: &&[u8]| level.same(a, b);
        let alike = |a: &&[u8], b: &&[u8]| level.same(a, b);
        let places = rows::places(&self.file.lines[first..], self.old, same, alike).map(|at| at + first);
        if self.hunk.anchors.is_empty() {
            // One more than are named says that there are more.
            return Ok(places.take(NAMED + 1).collect());
        }
        Ok(firsts(after, &places.collect::<Vec<_>>()))
    }
}

/// For each of some places, the first of others that is not before it. Both are in order, and so is what comes out.
fn firsts(after: &[usize], places: &[usize]) -> Vec<usize> {
    let first = |from: &usize| places.get(places.partition_point(|at| at < from)).copied();
    let mut found: Vec<usize> = after.iter().filter_map(first).collect();
    found.dedup();
    found
}

fn spend(steps: &mut usize, cost: usize) -> Result<(), Why> {
    *steps = steps.checked_sub(cost).ok_or(Why::TooLong)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Action, parse};

    fn applied(content: &str, body: &str) -> Result<(String, Vec<String>), Why> {
        let text = if body.starts_with("--- ") {
            body.to_owned()
        } else {
            format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
        };
        let patch = parse(&text).unwrap();
        let Action::Update { hunks, .. } = &patch.sections[0].action else { panic!("{patch:?}") };
        let applied = apply(content.as_bytes(), patch.form, hunks, &mut STEPS.clone())
            .map_err(|unplaced| unplaced.why)?;
        Ok((String::from_utf8(applied.content).unwrap(), applied.notes))
    }

    #[test]
    fn hunks_find_their_places() {
        let rows: &[(&str, &str, Result<&str, Why>)] = &[
            ("a\nb\nc\n", " a\n-b\n+x\n", Ok("a\nx\nc\n")),
            ("a\nb\nc\n", "@@\n-b\n", Ok("a\nc\n")),
            ("a\nb\na\nc\n", "@@\n-a\n+x\n", Err(Why::Ambiguous(vec![1, 3]))),
            ("a\nb\na\nc\n", "@@\n-a\n+x\n c\n", Ok("a\nb\nx\nc\n")),
            ("a\nb\na\nc\n", "@@ b\n-a\n+x\n", Ok("a\nb\nx\nc\n")),
            ("a\nb\n", "@@ z\n-a\n", Err(Why::NoAnchor("z".to_owned()))),
            ("a\nb\n", "@@\n-z\n", Err(Why::Missing)),
            // Nested anchors, with indentation and the beginning of a line only.
            (
                "class A:\n  def f(self):\n    x\nclass B:\n  def f(self):\n    x\n",
                "@@ class B:\n@@ def f\n-    x\n+    y\n",
                Ok("class A:\n  def f(self):\n    x\nclass B:\n  def f(self):\n    y\n"),
            ),
            (
                "class A:\n  def f(self):\n    x\nclass B:\n  def f(self):\n    x\n",
                "@@ def f\n-    x\n+    y\n",
                Err(Why::Ambiguous(vec![3, 6])),
            ),
            // Lines that are only added.
            ("a\nb\n", "@@ a\n+x\n", Ok("a\nx\nb\n")),
            ("a\nb\na\n", "@@ a\n+x\n", Err(Why::Ambiguous(vec![1, 3]))),
            ("a\n", "@@\n+x\n", Err(Why::Nowhere)),
            ("", "@@\n+x\n", Ok("x\n")),
            ("a\n", "@@\n+x\n*** End of File\n", Ok("a\nx\n")),
            // The end of the file.
            ("a\nb\na\n", "@@\n-a\n+x\n*** End of File\n", Ok("a\nb\nx\n")),
            ("a\nb\n", "@@\n-a\n+x\n*** End of File\n", Err(Why::Missing)),
            ("a\nb", "@@\n-b\n+x\n", Ok("a\nx")),
            ("a\nb", "@@\n b\n+x\n", Ok("a\nb\nx")),
            ("a\nb", "@@\n-b\n", Ok("a")),
            ("a", "@@\n-a\n", Ok("")),
            // From top to bottom.
            ("a\nb\nc\n", "@@\n-a\n+x\n@@\n-c\n+z\n", Ok("x\nb\nz\n")),
            ("a\nb\nc\n", "@@\n-c\n+z\n@@\n-a\n+x\n", Err(Why::Missing)),
            ("a\na\n", "@@\n-a\n+b\n a\n@@\n-a\n", Err(Why::Missing)),
            // Ends of lines.
            ("a\r\nb\r\n", "@@\n a\n-b\n+x\n+y\n", Ok("a\r\nx\r\ny\r\n")),
            ("a\r\nb", "@@\n-b\n+x\n", Ok("a\r\nx")),
            ("a\nb\n", "@@\n a\r\n-b\r\n+x\r\n", Ok("a\nx\n")),
            ("\u{feff}a\nb\n", "@@\n-a\n+x\n", Ok("\u{feff}x\nb\n")),
            // Numbers in an envelope are a hint.
            ("a\nb\na\n", "@@ -3,1 +3,1 @@\n-a\n+x\n", Ok("a\nb\nx\n")),
            ("a\nb\n", "@@ -7,1 +7,1 @@\n-a\n+x\n", Ok("x\nb\n")),
            // Unified.
            ("a\nb\na\n", "--- f\n+++ f\n@@ -3 +3 @@\n-a\n+x\n", Ok("a\nb\nx\n")),
            ("a\nb\na\n", "--- f\n+++ f\n@@ -2 +2 @@\n-a\n+x\n", Err(Why::Ambiguous(vec![1, 3]))),
            ("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\nx\nb\n")),
            ("a\nb\n", "--- f\n+++ f\n@@ -0,0 +1 @@\n+x\n", Ok("x\na\nb\n")),
            ("a\nb\n", "--- f\n+++ f\n@@ -9,0 +10 @@\n+x\n", Err(Why::Missing)),
            ("a\nb", "--- f\n+++ f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+x\n", Ok("a\nx\n")),
            ("a\nb\n", "--- f\n+++ f\n@@ -2 +2 @@\n-b\n+x\n\\ No newline at end of file\n", Ok("a\nx")),
            ("a\nb", "--- f\n+++ f\n@@ -2 +2,2 @@\n b\n+x\n", Ok("a\nb\nx\n")),
            ("b\nb\n", "--- f\n+++ f\n@@ -1 +1,2 @@\n b\n+x\n\\ No newline at end of file\n", Ok("b\nb\nx")),
            ("a\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\r\n", Ok("a\r\n")),
            ("a\r\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n", Ok("x\r\n")),
            ("a\r\n", "--- f\n+++ f\n@@ -0,0 +1 @@\n+x\n", Ok("x\na\r\n")),
            ("\u{feff}a\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n", Ok("\u{feff}x\n")),
            ("\u{feff}a\n", "--- f\n+++ f\n@@ -0,0 +1 @@\n+x\n", Ok("x\n\u{feff}a\n")),
            // Lines on one side only: the file ended or began there, and may do so elsewhere by now.
            ("b\nb\n", "--- f\n+++ f\n@@ -1 +1,2 @@\n b\n+x\n", Err(Why::Ambiguous(vec![1, 2]))),
            ("b\nb\n", "--- f\n+++ f\n@@ -2 +2,2 @@\n b\n+x\n", Ok("b\nb\nx\n")),
            ("b\nb\n", "--- f\n+++ f\n@@ -2 +2,2 @@\n+x\n b\n", Err(Why::Ambiguous(vec![1, 2]))),
            ("b\nb\n", "--- f\n+++ f\n@@ -1 +1,2 @@\n+x\n b\n", Ok("x\nb\nb\n")),
            // The second hunk is off by as much as the first.
            (
                "0\na\nb\nc\na\n",
                "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n@@ -4 +4 @@\n-a\n+y\n",
                Ok("0\nx\nb\nc\ny\n"),
            ),
        ];
        for (content, body, wanted) in rows {
            let got = applied(content, body).map(|(content, _)| content);
            assert_eq!(got.as_deref(), wanted.as_ref().map(|text| *text), "{content:?}, {body:?}");
        }
    }

    #[test]
    fn what_is_not_exact_is_told() {
        let rows: &[(&str, &str, &str, &[&str])] = &[
            (
                "a  \nb\n",
                "@@\n-a\n+x\n",
                "x\nb\n",
                &["the hunk on line 3 of the patch was found on line 1, but for space at the ends of lines"],
            ),
            (
                "  a\nb \n",
                "@@\n a\n-b\n+x\n",
                "  a\nx\n",
                &[
                    "the hunk on line 3 of the patch was found on line 1, but for indentation and space at the ends of lines",
                ],
            ),
            (
                "0\na\n",
                "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n",
                "0\nx\n",
                &["the hunk on line 3 of the patch was found on line 2 instead of line 1"],
            ),
            // An exact match elsewhere is better than a similar one here.
            ("a \na\n", "@@\n-a\n+x\n", "a \nx\n", &[]),
        ];
        for (content, body, wanted, notes) in rows {
            let (got, told) = applied(content, body).unwrap();
            assert_eq!(
                (got.as_str(), told.as_slice()),
                (*wanted, &notes.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
            );
        }
    }

    #[test]
    fn looking_takes_so_long_and_no_longer() {
        let content = "a\n".repeat(1000);
        let hunks = "@@\n-b\n".repeat(2);
        let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch");
        let Action::Update { hunks, .. } = parse(&text).unwrap().sections.remove(0).action else { panic!() };
        let why = |steps: usize| {
            apply(content.as_bytes(), Form::Envelope, &hunks, &mut steps.clone()).unwrap_err().why
        };
        assert_eq!((why(3003), why(3002)), (Why::Missing, Why::TooLong));
    }
}
