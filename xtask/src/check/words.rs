//! Wording of comments: vague pronouns and openings that do not say what an item is.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};

use crate::offence::Offence;
use crate::source::Source;

/// Pronouns that name no actor. Comments name the process, the caller or the user instead.
const PRONOUNS: &[&str] = &[
    "whoever",
    "whatever",
    "nobody",
    "somebody",
    "everybody",
    "anybody",
    "wherever",
    "everyone",
    "someone",
    "anyone",
];

/// First words that ask a question where a comment should say what the item is or does.
const OPENINGS: &[&str] = &["What", "Whether", "Where", "How", "Who"];

/// Upper bounds of one package.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Limits {
    /// Pronouns per 1,000 words.
    pronouns: f64,
    /// Percentage of comment lines that begin with one of [`OPENINGS`].
    openings: f64,
}

/// Limits of every package.
const TARGET: Limits = Limits { pronouns: 0.5, openings: 3.0 };

/// Number of files with the most hits that are printed.
const WORST_FILES: usize = 5;

/// Measurements of all packages, and the packages above their limits.
pub(crate) struct Wording {
    pub(crate) report: Vec<String>,
    pub(crate) offences: Vec<Offence>,
}

/// Measures the comments of every file, tests included.
pub(crate) fn check(sources: &[Source]) -> Wording {
    let files: Vec<(&Source, Count)> = sources.iter().map(|source| (source, Count::of(source))).collect();
    let mut packages: BTreeMap<&str, Count> = BTreeMap::new();
    for (source, count) in &files {
        packages.entry(&source.package).or_default().add(count);
    }
    let report = packages.iter().map(|(package, count)| format!("{package}: {count}"));
    let report = report.chain(worst(&files)).collect();
    let offences = packages.iter().filter_map(|(package, count)| count.offence(package)).collect();
    Wording { report, offences }
}

/// Lines for the files with the most hits.
fn worst(files: &[(&Source, Count)]) -> Vec<String> {
    let mut hit: Vec<_> = files.iter().filter(|(_, count)| count.hits() > 0).collect();
    hit.sort_by_key(|(source, count)| (usize::MAX - count.hits(), &source.path));
    hit.iter().take(WORST_FILES).map(|(source, count)| format!("{}: {count}", source.path)).collect()
}

/// Comment lines and words of a file or package.
#[derive(Debug, Default, PartialEq)]
struct Count {
    lines: u32,
    words: u32,
    pronouns: u32,
    openings: u32,
}

impl Count {
    fn of(source: &Source) -> Self {
        let mut count = Self::default();
        for line in comments(source) {
            count.add_line(line);
        }
        count
    }

    fn add_line(&mut self, line: &str) {
        let words: Vec<&str> =
            line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let Some(first) = words.first() else { return };
        let is_pronoun = |word: &&&str| PRONOUNS.contains(&word.to_lowercase().as_str());
        self.add(&Self {
            lines: 1,
            words: words.len().try_into().unwrap_or(u32::MAX),
            pronouns: words.iter().filter(is_pronoun).count().try_into().unwrap_or(u32::MAX),
            openings: u32::from(OPENINGS.contains(first)),
        });
    }

    fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.words += other.words;
        self.pronouns += other.pronouns;
        self.openings += other.openings;
    }

    fn hits(&self) -> usize {
        usize::try_from(self.pronouns + self.openings).unwrap_or(usize::MAX)
    }

    fn ratios(&self) -> Limits {
        let ratio = |part: u32, whole: u32, scale: f64| scale * f64::from(part) / f64::from(whole.max(1));
        Limits {
            pronouns: ratio(self.pronouns, self.words, 1000.0),
            openings: ratio(self.openings, self.lines, 100.0),
        }
    }

    fn offence(&self, package: &str) -> Option<Offence> {
        let (found, Limits { pronouns, openings }) = (self.ratios(), TARGET);
        let exceeds = found.pronouns > pronouns || found.openings > openings;
        let text = || format!("{self}; the limits are {pronouns:.2} and {openings:.1} %");
        exceeds.then(|| Offence::of(package, text()))
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Limits { pronouns, openings } = self.ratios();
        write!(
            f,
            "{} vague pronouns ({pronouns:.2} per 1,000 words), {} questions as openings ({openings:.1} % of lines)",
            self.pronouns, self.openings
        )
    }
}

/// Texts of all line comments, without their slashes. Lines inside of literals are no comments.
fn comments(source: &Source) -> Vec<&str> {
    let mut ends = Ends::default();
    ends.visit(source.tokens.clone());
    source.text.lines().enumerate().filter_map(|(index, line)| ends.comment(index + 1, line)).collect()
}

/// End of the last token on each line, and the lines that a literal from a line above reaches into.
#[derive(Default)]
struct Ends {
    columns: BTreeMap<usize, usize>,
    inside_literal: Vec<std::ops::RangeInclusive<usize>>,
}

impl Ends {
    fn visit(&mut self, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.mark(group.span_open());
                self.visit(group.stream());
                self.mark(group.span_close());
            } else {
                self.mark(token.span());
            }
        }
    }

    fn mark(&mut self, span: proc_macro2::Span) {
        let (start, end) = (span.start().line, span.end());
        let column = self.columns.entry(end.line).or_default();
        *column = end.column.max(*column);
        if start < end.line {
            self.inside_literal.push(start + 1..=end.line);
        }
    }

    fn comment<'a>(&self, number: usize, line: &'a str) -> Option<&'a str> {
        let whole = line.trim_start();
        if whole.starts_with("//") && !self.inside_literal.iter().any(|lines| lines.contains(&number)) {
            return Some(strip(whole));
        }
        let column = *self.columns.get(&number)?;
        let start = line.char_indices().nth(column).map(|(index, _)| index)?;
        let rest = line.get(start..)?.trim_start();
        rest.starts_with("//").then(|| strip(rest))
    }
}

fn strip(comment: &str) -> &str {
    comment.trim_start_matches(['/', '!']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::parse("a", "a.rs", text.into()).unwrap()
    }

    #[test]
    fn comments_are_read_and_literals_are_not() {
        let rows: &[(&str, &[&str])] = &[
            ("//! Module.\n\n/// Item.\nfn a() {} // End.\n", &["Module.", "Item.", "End."]),
            ("// Plain.\n//// Many.\n", &["Plain.", "Many."]),
            ("const A: &str = \"\n// text\n\";", &[]),
            ("const A: &str = \"http://x\"; // “é”\n", &["“é”"]),
            ("const A: &str = \"é // no\";\n", &[]),
            ("fn a() { // Open.\n}", &["Open."]),
        ];
        for (text, expected) in rows {
            assert_eq!(&comments(&source(text)), expected, "{text}");
        }
    }

    #[test]
    fn pronouns_and_openings_are_counted() {
        let count = Count::of(&source(
            "/// Whether it is, for whoever.\n/// what\n///\n// Nobody, `anyone`.\nfn a() {}\n",
        ));
        assert_eq!(count, Count { lines: 3, words: 8, pronouns: 3, openings: 1 });
    }

    fn offences(text: &str) -> Vec<String> {
        check(&[source(text)]).offences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_package_above_its_limits_is_named() {
        let half = "// What it is.\n// It is.\n";
        insta::assert_snapshot!(offences(half).join("\n"), @"a: 0 vague pronouns (0.00 per 1,000 words), 1 questions as openings (50.0 % of lines); the limits are 0.50 and 3.0 %");
        assert_eq!(offences("// For nobody.\n").len(), 1);
    }

    #[test]
    fn the_worst_files_are_printed() {
        let report = check(&[source("// What it is.\n")]).report;
        assert_eq!(report.len(), 2);
        assert!(report[1].starts_with("a.rs: 0 vague pronouns"), "{report:?}");
    }
}
