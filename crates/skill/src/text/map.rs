//! Maps each byte of a text to its origin.

use std::ops::Range;

/// A text that was made from another, told in pieces: each either copied or made from a stretch as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Map {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// Position of its beginning in the text that was made.
    at: usize,
    /// Range of its origin.
    from: Range<usize>,
    /// True if it was copied byte for byte.
    copied: bool,
}

impl Map {
    /// The map of a text that was made from one stretch as a whole.
    #[must_use]
    pub fn whole(from: Range<usize>) -> Self {
        Self { pieces: vec![Piece { at: 0, from, copied: false }] }
    }

    /// The map of a text that was cut out of another.
    #[must_use]
    pub fn part(from: Range<usize>) -> Self {
        Self { pieces: vec![Piece { at: 0, from, copied: true }] }
    }

    /// Says that what follows at a place was copied from a stretch.
    pub fn copied(&mut self, at: usize, from: Range<usize>) {
        if let Some(last) = self.pieces.last_mut()
            && last.copied
            && last.from.end == from.start
            && last.at + last.from.len() == at
        {
            last.from.end = from.end;
            return;
        }
        self.pieces.push(Piece { at, from, copied: true });
    }

    /// Says that what follows at a place was made from a stretch.
    pub fn made(&mut self, at: usize, from: Range<usize>) {
        self.pieces.push(Piece { at, from, copied: false });
    }

    /// Says that the text was cut at a place.
    pub fn cut(&mut self, at: usize) {
        while self.pieces.pop_if(|piece| piece.at >= at).is_some() {}
        if let Some(last) = self.pieces.last_mut()
            && last.copied
        {
            last.from.end = last.from.end.min(last.from.start + (at - last.at));
        }
    }

    /// The same map where the other text begins at a place of a third.
    #[must_use]
    pub(crate) fn shifted(mut self, by: usize) -> Self {
        for piece in &mut self.pieces {
            piece.from = piece.from.start + by..piece.from.end + by;
        }
        self
    }

    /// The stretch that a stretch of the text came from. Without any piece, the text is the other.
    #[must_use]
    pub fn back(&self, range: Range<usize>) -> Range<usize> {
        if self.pieces.is_empty() {
            return range;
        }
        let start = self.origin(range.start);
        let end = if range.is_empty() { start.start } else { self.origin(range.end - 1).end };
        start.start..end.max(start.start)
    }

    /// Returns the origin of one byte.
    fn origin(&self, at: usize) -> Range<usize> {
        let after = self.pieces.partition_point(|piece| piece.at <= at);
        let Some(piece) = self.pieces.get(after.saturating_sub(1)) else { return at..at };
        if piece.copied {
            let from = piece.from.start + at.saturating_sub(piece.at);
            from..from + 1
        } else {
            piece.from.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_leads_back() {
        // "ab[x]cd" -> "ab", "X" made of "[x]", "cd".
        let mut map = Map::default();
        map.copied(0, 0..2);
        map.made(2, 2..5);
        map.copied(3, 5..7);
        let rows = [(0..1, 0..1), (1..3, 1..5), (2..3, 2..5), (3..5, 5..7), (0..5, 0..7), (2..2, 2..2)];
        for (range, expected) in rows {
            assert_eq!(map.back(range.clone()), expected, "{range:?}");
        }
        assert_eq!(Map::default().back(3..4), 3..4);
        assert_eq!(Map::whole(10..20).back(1..2), 10..20);
        assert_eq!(Map::part(10..20).back(1..2), 11..12);
    }
}
