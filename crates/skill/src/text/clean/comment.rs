//! Comments in HTML.

use super::{Counts, Step};

const OPEN: &str = "<!--";

/// The text without comments, if there were any. What comes together where one was taken out can begin the next.
pub(super) fn removed(text: &str, counts: &mut Counts) -> Option<Step> {
    memchr::memmem::find(text.as_bytes(), OPEN.as_bytes())?;
    let mut step = Step::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'-', &text.as_bytes()[at..]).map_or(text.len(), |found| at + found + 1);
        step.copy(text, at..end);
        at = end;
        if step.text.ends_with(OPEN) {
            step.text.truncate(step.text.len() - OPEN.len());
            step.map.cut(step.text.len());
            counts.comments += 1;
            at += end_of(&text[at..]);
        }
    }
    Some(step)
}

/// The length of a comment behind its opening, with its end. One without an end goes on to the end of the text.
fn end_of(rest: &str) -> usize {
    if rest.starts_with('>') {
        return 1;
    }
    if rest.starts_with("->") {
        return 2;
    }
    let mut at = 0;
    while let Some(dashes) = memchr::memmem::find(&rest.as_bytes()[at..], b"--") {
        at += dashes + 2;
        at += rest.as_bytes()[at..].iter().take_while(|byte| **byte == b'-').count();
        if rest[at..].starts_with('>') {
            return at + 1;
        }
        if rest[at..].starts_with("!>") {
            return at + 2;
        }
    }
    rest.len()
}
