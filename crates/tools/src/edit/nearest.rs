//! The place that was probably meant by lines that are not there.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::rows;

/// The bytes of a text that are searched for something similar.
const SEARCHED: usize = 2 << 20;
/// A line that looks like another for less than this many hundredths is not similar.
const SIMILAR: usize = 60;
/// The lines that are shown, and the characters of each.
const SHOWN: usize = 6;
const WIDEST: usize = 200;

/// A place, and how it differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// The first line and the last, counted from 1.
    pub(crate) lines: (usize, usize),
    /// The difference, if that is clear.
    pub(crate) difference: Option<&'static str>,
    /// The text there.
    pub(crate) text: String,
}

/// The place most like some lines, which are not there as they are. Costs no more than reading a part of the text a few times.
pub(crate) fn nearest(text: &str, wanted: &str) -> Option<Nearest> {
    let end = (0..=SEARCHED.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let text = &text[..end];
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = wanted.lines().take(lines.len() + 1).collect();
    if let Some(bare) = without_numbers(&wanted)
        && let Some((first, last)) = but_for_space(&lines, &bare)
    {
        return Some(Nearest::at(&lines, first, last, Some("leave out the numbers of the lines")));
    }
    if let Some((first, last)) = but_for_space(&lines, &wanted) {
        let difference = difference(&lines[first..=last], &wanted);
        return Some(Nearest::at(&lines, first, last, Some(difference)));
    }
    let (first, last) = most_similar(&lines, &wanted)?;
    Some(Nearest::at(&lines, first, last, None))
}

impl Nearest {
    fn at(lines: &[&str], first: usize, last: usize, difference: Option<&'static str>) -> Self {
        let mut text = String::new();
        for line in lines[first..=last].iter().take(SHOWN) {
            text.extend(line.chars().take(WIDEST));
            text.push('\n');
        }
        Self { lines: (first + 1, last + 1), difference, text }
    }
}

impl std::fmt::Display for Nearest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (first, last) = self.lines;
        if first == last {
            write!(f, "line {first} is similar")?;
        } else {
            write!(f, "lines {first}-{last} are similar")?;
        }
        if let Some(difference) = self.difference {
            write!(f, " ({difference})")?;
        }
        write!(f, ":\n{}", self.text)
    }
}

/// The lines without the numbers that `read` puts in front of them, if all have one.
fn without_numbers<'a>(wanted: &[&'a str]) -> Option<Vec<&'a str>> {
    let bare = |line: &&'a str| {
        let (number, rest) = line.split_once('\t')?;
        let number = number.trim_start();
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
    };
    wanted.iter().map(bare).collect::<Option<Vec<_>>>().filter(|lines| !lines.is_empty())
}

/// Returns the first line and the last that match if neither space nor empty lines count.
fn but_for_space(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let letters = |(number, line): (usize, &&str)| {
        let mut hash = DefaultHasher::new();
        let mut any = false;
        for c in line.chars().filter(|c| !c.is_whitespace()) {
            any = true;
            c.hash(&mut hash);
        }
        any.then(|| (number, hash.finish()))
    };
    let text: Vec<(usize, u64)> = lines.iter().enumerate().filter_map(letters).collect();
    let pattern: Vec<(usize, u64)> = wanted.iter().enumerate().filter_map(letters).collect();
    let at = rows::places(&text, &pattern, |a, b| a.1 == b.1, |a, b| a.1 == b.1).next()?;
    Some((text[at].0, text[at + pattern.len() - 1].0))
}

/// Describes the difference between lines that have the same letters.
fn difference(found: &[&str], wanted: &[&str]) -> &'static str {
    let filled = |lines: &[&str]| -> Vec<String> {
        lines.iter().filter(|line| !line.trim().is_empty()).map(|line| (*line).to_owned()).collect()
    };
    let (found, wanted) = (filled(found), filled(wanted));
    let indents = |lines: &[String], c: char| lines.iter().any(|line| line.starts_with(c));
    let pairs = || found.iter().zip(&wanted);
    if pairs()
        .any(|(a, b)| a.trim_start() != a.as_str() && b.trim_start() == b.as_str() || indent(a) != indent(b))
    {
        if indents(&found, '\t') && indents(&wanted, ' ') {
            return "the file is indented with tabs, not with spaces";
        }
        if indents(&found, ' ') && indents(&wanted, '\t') {
            return "the file is indented with spaces, not with tabs";
        }
        return "the indentation is different";
    }
    if pairs().any(|(a, b)| a.trim_end() == b.trim_end() && a != b) {
        return "the space at the end of a line is different";
    }
    if pairs().any(|(a, b)| a != b) {
        "the space within a line is different"
    } else {
        "there are other empty lines"
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The line most like the longest that is wanted, with as many around it as belong to it.
fn most_similar(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let (at, probe) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let probe = Pairs::of(probe);
    let best = lines.iter().enumerate().map(|(number, line)| (probe.likeness(line), number));
    let (likeness, number) = best.max_by_key(|(likeness, number)| (*likeness, std::cmp::Reverse(*number)))?;
    if likeness < SIMILAR {
        return None;
    }
    let first = number.saturating_sub(at);
    Some((first, (first + wanted.len().max(1) - 1).min(lines.len() - 1).max(number)))
}

/// The pairs of neighbouring letters of a line.
struct Pairs {
    known: Box<[bool; 4096]>,
    count: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut known = Box::new([false; 4096]);
        for pair in pairs(line) {
            known[pair] = true;
        }
        Self { known, count: pairs(line).count() }
    }

    /// Returns the similarity of a line to this one, in hundredths.
    fn likeness(&self, line: &str) -> usize {
        let shared = pairs(line).filter(|pair| self.known[*pair]).count();
        let count = pairs(line).count();
        // One pair says nothing.
        if self.count.min(count) < 2 { 0 } else { 100 * shared / self.count.max(count) }
    }
}

fn pairs(line: &str) -> impl Iterator<Item = usize> {
    let bytes = line.trim().as_bytes();
    bytes.windows(2).map(|pair| (usize::from(pair[0]) * 61 + usize::from(pair[1])) % 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "fn main() {\n\tlet total = sum(&values);\n\n\tprintln!(\"{total}\");\n}\nfn other() {}\n";

    #[test]
    fn finds_what_was_meant() {
        let rows: &[(&str, (usize, usize), Option<&str>)] = &[
            (
                "    let total = sum(&values);",
                (2, 2),
                Some("the file is indented with tabs, not with spaces"),
            ),
            ("let total = sum(&values);", (2, 2), Some("the indentation is different")),
            ("\tlet total = sum(&values);  ", (2, 2), Some("the space at the end of a line is different")),
            ("\tlet total  = sum(&values);", (2, 2), Some("the space within a line is different")),
            (
                "\tlet total = sum(&values);\n\tprintln!(\"{total}\");",
                (2, 4),
                Some("there are other empty lines"),
            ),
            ("     2\t\tlet total = sum(&values);", (2, 2), Some("leave out the numbers of the lines")),
            ("\tlet totals = sum(&value);", (2, 2), None),
            ("}\nfn othre() {}", (5, 6), None),
        ];
        for (wanted, lines, difference) in rows {
            let found = nearest(FILE, wanted).unwrap();
            assert_eq!((found.lines, found.difference), (*lines, *difference), "{wanted:?}");
        }
        for nothing in ["", "\n\n", "zzzz qqqq", "x"] {
            assert_eq!(nearest(FILE, nothing), None, "{nothing:?}");
        }
        assert_eq!(nearest("", "x"), None);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[a\t\n \u{e9}]{0,60}", wanted in "[a\t\n 1\u{e9}]{0,30}") {
            if let Some(found) = nearest(&text, &wanted) {
                proptest::prop_assert!(found.lines.0 <= found.lines.1 && found.lines.1 <= text.lines().count());
            }
        }
    }
}
