//! The parts of a difference, which can be taken one by one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline};

use super::diff::{AROUND, Line, PATIENCE, text};

/// A difference in parts.
pub(crate) struct Hunks<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<DiffOp>,
    /// Steps that belong together: lines that go with those that come in their place.
    units: Vec<Range<usize>>,
}

/// Neighbouring units, by their places.
pub(crate) type Hunk = Range<usize>;

impl<'a> Hunks<'a> {
    /// The parts of a difference. `None`: one of the two is not text.
    pub(crate) fn of(before: &'a [u8], after: &'a [u8]) -> Option<Self> {
        let lines =
            |bytes: &'a [u8]| -> Option<Vec<&'a str>> { Some(text(bytes)?.split_inclusive('\n').collect()) };
        let (old, new) = (lines(before)?, lines(after)?);
        let deadline = Some(Instant::now() + PATIENCE);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
        let mut units: Vec<Range<usize>> = Vec::new();
        for (at, _) in ops.iter().enumerate().filter(|(_, op)| op.tag() != DiffTag::Equal) {
            match units.last_mut().filter(|unit| unit.end == at) {
                Some(unit) => unit.end = at + 1,
                None => units.push(at..at + 1),
            }
        }
        Some(Self { old, new, ops, units })
    }

    /// All parts, with neighbours whose surroundings overlap in one.
    pub(crate) fn all(&self) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        for unit in 0..self.units.len() {
            let near = |hunk: &&mut Hunk| {
                let gap = self.ops[self.units[hunk.end - 1].end].old_range().len();
                gap <= 2 * AROUND
            };
            match hunks.last_mut().filter(near) {
                Some(hunk) => hunk.end = unit + 1,
                None => hunks.push(unit..unit + 1),
            }
        }
        hunks
    }

    /// A part as lines.
    pub(crate) fn lines(&self, hunk: &Hunk) -> Vec<Line> {
        let (first, last) = (self.units[hunk.start].start, self.units[hunk.end - 1].end);
        let before = first.checked_sub(1).map_or(0..0, |at| self.ops[at].old_range());
        let before = before.end.saturating_sub(AROUND).max(before.start)..before.end;
        let after = self.ops.get(last).map_or(0..0, DiffOp::old_range);
        let after = after.start..after.end.min(after.start + AROUND);
        let mut lines: Vec<_> = self.old[before].iter().map(|line| Line::Same(plain(line))).collect();
        for op in &self.ops[first..last] {
            if op.tag() == DiffTag::Equal {
                lines.extend(self.old[op.old_range()].iter().map(|line| Line::Same(plain(line))));
                continue;
            }
            lines.extend(self.old[op.old_range()].iter().map(|line| Line::Gone(plain(line))));
            lines.extend(self.new[op.new_range()].iter().map(|line| Line::New(plain(line))));
        }
        lines.extend(self.old[after].iter().map(|line| Line::Same(plain(line))));
        let place = self.ops[first].old_range().start + 1;
        lines.insert(0, Line::Place(format!("@@ line {place} @@")));
        lines
    }

    /// The old text with the parts that were chosen, by their units.
    pub(crate) fn merged(&self, chosen: &BTreeSet<usize>) -> Vec<u8> {
        let taken = |at: usize| {
            self.units.iter().position(|unit| unit.contains(&at)).is_some_and(|unit| chosen.contains(&unit))
        };
        let mut text = String::new();
        for (at, op) in self.ops.iter().enumerate() {
            let lines = if taken(at) { &self.new[op.new_range()] } else { &self.old[op.old_range()] };
            text.extend(lines.iter().copied());
        }
        text.into_bytes()
    }

    /// Returns the number of units.
    pub(crate) fn count(&self) -> usize {
        self.units.len()
    }
}

fn plain(line: &str) -> String {
    line.strip_suffix('\n').unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n";
    const NEW: &str = "1\ntwo\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n14\nlast";

    #[test]
    fn every_choice_is_the_old_text_or_the_new_one_at_each_part() {
        let hunks = Hunks::of(OLD.as_bytes(), NEW.as_bytes()).unwrap();
        assert_eq!((hunks.count(), hunks.all()), (3, vec![0..2, 2..3]));
        let rows: &[(&[usize], &str)] = &[
            (&[], OLD),
            (&[0, 1, 2], NEW),
            (&[1], "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"),
            (&[0, 2], "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nlast"),
        ];
        for (chosen, text) in rows {
            let merged = hunks.merged(&chosen.iter().copied().collect());
            assert_eq!(String::from_utf8(merged).unwrap(), *text, "{chosen:?}");
        }
    }

    #[test]
    fn a_part_has_lines_around_it() {
        let hunks = Hunks::of(OLD.as_bytes(), NEW.as_bytes()).unwrap();
        let drawn = |hunk: &Hunk| {
            let lines = hunks.lines(hunk);
            lines.iter().map(|line| [line.parts().0, line.parts().1].concat()).collect::<Vec<_>>().join("|")
        };
        assert_eq!(drawn(&(0..2)), "@@ line 2 @@| 1|-2|+two| 3| 4|-5|+five| 6| 7| 8");
        assert_eq!(drawn(&(1..2)), "@@ line 5 @@| 3| 4|-5|+five| 6| 7| 8");
        assert_eq!(drawn(&(2..3)), "@@ line 15 @@| 12| 13| 14|+last");
    }

    proptest::proptest! {
        #[test]
        fn nothing_and_everything_are_the_two_texts(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let hunks = Hunks::of(old.as_bytes(), new.as_bytes()).unwrap();
            let all: BTreeSet<_> = (0..hunks.count()).collect();
            proptest::prop_assert_eq!(hunks.merged(&BTreeSet::new()), old.as_bytes());
            proptest::prop_assert_eq!(hunks.merged(&all), new.as_bytes());
            let parts: Vec<_> = hunks.all().into_iter().flatten().collect();
            proptest::prop_assert_eq!(parts, all.into_iter().collect::<Vec<_>>());
        }
    }
}
