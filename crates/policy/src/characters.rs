//! Characters that show nothing, change how others are read, or are pictures.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::tables::characters::{LOOK_ALIKES, NAMES, RANGES, SCRIPTS};

/// A property that decides how a character is treated.
///
/// ```
/// use ringfence_policy::CharacterClass;
/// assert!(CharacterClass::Bidi.contains('\u{202e}'));
/// assert!(!CharacterClass::Bidi.contains('a'));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CharacterClass {
    /// Shows nothing or reorders text.
    Misleading = 1,
    /// Changes the direction of what follows.
    Bidi = 1 << 1,
    /// Only separates or joins.
    ZeroWidth = 1 << 2,
    /// `Default_Ignorable_Code_Point`, which file systems and git leave out of names.
    Ignorable = 1 << 3,
    /// Belongs to the alphabet of tags, which nothing shows.
    Tag = 1 << 4,
    /// Looks like a space.
    Blank = 1 << 5,
    /// A picture: a joiner or a selector behind it means something.
    Emoji = 1 << 6,
    /// A picture that normalisation turns into letters or digits.
    FoldedEmoji = 1 << 7,
}

impl CharacterClass {
    /// Returns true if the character has this property. Control characters have none: [`char::is_control`] knows them.
    #[must_use]
    pub fn contains(self, c: char) -> bool {
        row_of(c).is_some_and(|row| RANGES[row].2 & self as u8 != 0)
    }
}

/// Returns the name that Unicode gives to a character of the table, or that of its range.
#[must_use]
pub fn character_name(c: char) -> Option<&'static str> {
    NAMES.split('\n').nth(row_of(c)?).filter(|name| !name.is_empty())
}

/// Returns true if a character belongs to a script with letters that look like ASCII letters.
#[must_use]
pub fn has_look_alikes(c: char) -> bool {
    SCRIPTS.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}

/// Returns the ASCII letter or digit that a character of another script looks like.
///
/// ```
/// assert_eq!(ringfence_policy::looks_like('\u{430}'), Some('a'));
/// assert_eq!(ringfence_policy::looks_like('a'), None);
/// ```
#[must_use]
pub fn looks_like(c: char) -> Option<char> {
    static PLAIN: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let rows = LOOK_ALIKES.lines().filter_map(|line| line.split_once(' '));
        rows.flat_map(|(plain, others)| {
            let others = others.split(' ').filter_map(|code| u32::from_str_radix(code, 16).ok());
            others.filter_map(char::from_u32).zip(plain.chars().cycle())
        })
        .collect()
    });
    if has_look_alikes(c) { PLAIN.get(&c).copied() } else { None }
}

fn row_of(c: char) -> Option<usize> {
    let number = u32::from(c);
    let after = RANGES.partition_point(|row| row.0 <= number);
    after.checked_sub(1).filter(|row| number <= RANGES[*row].1)
}

#[cfg(test)]
mod tests {
    use super::CharacterClass::{Bidi, Blank, Emoji, FoldedEmoji, Ignorable, Misleading, Tag, ZeroWidth};
    use super::*;

    #[test]
    fn ranges_are_sorted_and_each_has_a_line_for_its_name() {
        assert!(RANGES.iter().all(|row| row.0 <= row.1));
        assert!(RANGES.windows(2).all(|two| two[0].1 < two[1].0));
        assert_eq!(NAMES.split('\n').count(), RANGES.len());
    }

    #[test]
    fn classes_and_names() {
        let rows = [
            ('a', &[][..], None),
            ('\u{a9}', &[Emoji], None),
            ('\u{ad}', &[Misleading, ZeroWidth, Ignorable], Some("SOFT HYPHEN")),
            ('\u{200a}', &[], Some("SPACE OF A FIXED WIDTH")),
            ('\u{2028}', &[Misleading], Some("LINE SEPARATOR")),
            ('\u{202e}', &[Misleading, Bidi, Ignorable], Some("RIGHT-TO-LEFT OVERRIDE")),
            ('\u{2139}', &[FoldedEmoji], None),
            ('\u{2190}', &[], None),
            ('\u{2800}', &[Misleading, Blank], Some("BRAILLE PATTERN BLANK")),
            ('\u{13430}', &[Misleading], None),
            ('\u{e007f}', &[Misleading, Ignorable, Tag], Some("TAG CHARACTER")),
            ('\u{e01ef}', &[Misleading, ZeroWidth, Ignorable], Some("VARIATION SELECTOR")),
            ('\u{e1000}', &[], None),
        ];
        let all = [Misleading, Bidi, ZeroWidth, Ignorable, Tag, Blank, Emoji, FoldedEmoji];
        for (c, classes, name) in rows {
            let found: Vec<_> = all.into_iter().filter(|class| class.contains(c)).collect();
            assert_eq!((found.as_slice(), character_name(c)), (classes, name), "{c:?}");
        }
    }
}
