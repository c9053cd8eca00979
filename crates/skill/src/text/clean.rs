//! Text as a person reads it: nothing invisible, no comments, one way to write each letter.

mod character;
mod comment;
mod normal;
mod strip;

use std::ops::Range;

use crate::text::map::Map;

pub(crate) use character::{is_bidi, is_tag, is_zero_width};
pub(crate) use normal::is_unusual;
pub(crate) use strip::hidden;

/// Default maximum length of a text.
pub const MAX_CHARS: usize = 20_000;

/// Marker where a text was cut.
const MARKER: &str = "\n[TRUNCATED]";

/// Maximum number of rounds of the steps. Two rounds settle every text that is known; what is not settled then loses all but ASCII.
const MAX_ROUNDS: usize = 8;

/// A text without anything that hides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clean {
    /// The text.
    pub text: String,
    /// Counts of what was taken out or changed.
    pub counts: Counts,
    /// True if the end of it was cut off.
    pub truncated: bool,
    /// The ways back, the last step first.
    maps: Vec<Map>,
    /// Position of the marker, and the range that it stands for.
    rest: Option<(usize, Range<usize>)>,
}

/// Counts of what was taken out of a text, or changed in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Comments in HTML.
    pub comments: usize,
    /// Stretches that were written in an unusual form: wide letters, ligatures, letters made for formulas.
    pub normalised: usize,
    /// Characters that show nothing, or turn the direction of what is shown.
    pub invisible: usize,
    /// Tag characters: a second alphabet that nothing shows.
    pub tags: usize,
    /// Control characters and the sequences that steer terminals.
    pub controls: usize,
}

/// Maximum length of a text, and the handling of a longer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of characters.
    pub max_chars: usize,
    /// Handling of a longer text.
    pub oversize: Oversize,
}

/// Handling of a text that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// It is refused: half an instruction can mean something else than the whole.
    Refuse,
    /// It is cut, and says so.
    Truncate,
}

/// A text is longer than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text has {length} characters; {limit} are allowed")]
pub struct TooLarge {
    /// Its length in characters, after it was cleaned.
    pub length: usize,
    /// The number that is allowed.
    pub limit: usize,
}

impl Clean {
    /// Returns the range of a stretch of the text in the original text.
    #[must_use]
    pub fn back(&self, range: Range<usize>) -> Range<usize> {
        let range = match &self.rest {
            Some((marker, rest)) if range.start >= *marker => return rest.clone(),
            Some((marker, _)) => range.start..range.end.min(*marker),
            None => range,
        };
        self.maps.iter().fold(range, |range, map| map.back(range))
    }

    /// Returns true if the text is the original text.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.counts == Counts::default() && !self.truncated
    }

    pub(crate) fn into_parts(self) -> (String, Vec<Map>) {
        (self.text, self.maps)
    }

    fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Puts the result of a step in place of the text.
    fn take(&mut self, step: Option<Step>) -> bool {
        let Some(step) = step else { return false };
        self.text = step.text;
        self.maps.insert(0, step.map);
        true
    }

    /// Repeats the steps until nothing changes.
    fn settle(&mut self) {
        for _ in 0..MAX_ROUNDS {
            if !self.round() {
                return;
            }
        }
        let plain = strip::all_but_ascii(&self.text, &mut self.counts);
        self.take(plain);
        let removed = comment::removed(&self.text, &mut self.counts);
        self.take(removed);
    }

    fn round(&mut self) -> bool {
        let stripped = strip::stripped(&self.text, &mut self.counts);
        let mut changed = self.take(stripped);
        let normal = normal::normalised(&self.text, &mut self.counts);
        changed |= self.take(normal);
        let removed = comment::removed(&self.text, &mut self.counts);
        changed | self.take(removed)
    }
}

/// A text after one step.
struct Step {
    text: String,
    map: Map,
}

impl Step {
    fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), map: Map::default() }
    }

    fn copy(&mut self, from: &str, range: Range<usize>) {
        if !range.is_empty() {
            self.map.copied(self.text.len(), range.clone());
            self.text.push_str(&from[range]);
        }
    }

    fn make(&mut self, text: &str, from: Range<usize>) {
        self.map.made(self.text.len(), from);
        self.text.push_str(text);
    }
}

/// Takes everything hidden out of a text, without a limit on its length.
#[must_use]
pub fn clean(raw: &str) -> Clean {
    let mut clean = Clean::of(raw);
    clean.settle();
    clean
}

/// Takes everything hidden out of a text, and then checks its length.
pub fn sized(raw: &str, size: Size) -> Result<Clean, TooLarge> {
    let mut clean = clean(raw);
    let Some((cut, _)) = clean.text.char_indices().nth(size.max_chars) else { return Ok(clean) };
    if size.oversize == Oversize::Refuse {
        return Err(TooLarge { length: clean.text.chars().count(), limit: size.max_chars });
    }
    let end = clean.back(cut..clean.text.len());
    clean.text.truncate(cut);
    // The cut can leave half a flag, or a joiner without its second part.
    clean.settle();
    clean.rest = Some((clean.text.len(), end));
    clean.text.push_str(MARKER);
    clean.truncated = true;
    Ok(clean)
}

#[cfg(test)]
mod tests;
