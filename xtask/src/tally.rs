//! Counting what passed, failed and was skipped.

use std::fmt;
use std::ops::AddAssign;

/// The count over several runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// Tests that the test runner left out.
    pub(crate) ignored: usize,
    /// Tests that could not run here, with the reason.
    pub(crate) skips: Vec<String>,
}

impl Tally {
    /// One thing that did not run.
    pub(crate) fn skip(why: impl Into<String>) -> Self {
        Self { skips: vec![why.into()], ..Self::default() }
    }

    /// Reads the summaries in the output of `cargo test` or `cargo nextest run`.
    pub(crate) fn parse(output: &str) -> Self {
        let mut tally = Self::default();
        for line in output.lines() {
            if let Some(counts) = summary(line) {
                counts.for_each(|(count, word)| tally.add(count, word));
            }
        }
        tally
    }

    /// Takes in what tests said they could not do. To the test runner they have passed.
    pub(crate) fn with_skips(mut self, said: &str) -> Self {
        let said = said.lines().filter_map(|line| line.strip_prefix("SKIPPED: "));
        self.skips.extend(said.map(str::to_owned));
        self.passed = self.passed.saturating_sub(self.skips.len());
        self
    }

    fn add(&mut self, count: usize, word: &str) {
        match word {
            "passed" => self.passed += count,
            "skipped" | "ignored" => self.ignored += count,
            "measured" | "filtered out" => {}
            // failed, timed out, exec failed: everything that did not pass has failed.
            _ => self.failed += count,
        }
    }
}

/// `test result: ok. 6 passed; 0 failed; …` or `Summary [ 0.1s] 6 tests run: 6 passed (1 slow), 0 skipped`.
fn summary(line: &str) -> Option<impl Iterator<Item = (usize, &str)>> {
    let line = line.trim();
    let counts = match line.strip_prefix("test result: ") {
        Some(rest) => rest.split_once(". ")?.1,
        None => line.strip_prefix("Summary [")?.split_once(" run: ")?.1,
    };
    Some(counts.split([',', ';', '(']).filter_map(count))
}

/// `6 passed` as a pair. Parts that stood in parentheses say how tests passed, not how many.
fn count(part: &str) -> Option<(usize, &str)> {
    let (number, word) = part.trim().split_once(' ')?;
    let detail = ["slow", "flaky", "leaky"].iter().any(|detail| word.starts_with(detail));
    if detail { None } else { Some((number.parse().ok()?, word.trim())) }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.skips.extend(other.skips);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = self.ignored + self.skips.len();
        write!(f, "{} passed, {} failed, {skipped} skipped", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_summaries_of_both_runners() {
        let rows = [
            (
                "test result: ok. 6 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s",
                "6 passed, 0 failed, 1 skipped",
            ),
            (
                "test result: FAILED. 5 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.08s",
                "5 passed, 1 failed, 0 skipped",
            ),
            ("     Summary [   0.016s] 6 tests run: 6 passed, 0 skipped", "6 passed, 0 failed, 0 skipped"),
            (
                "     Summary [   2.1s] 230 tests run: 225 passed (1 slow, 2 flaky), 3 failed, 2 timed out, 4 skipped",
                "225 passed, 5 failed, 4 skipped",
            ),
            (
                "     Summary [   2.1s] 9 tests run: 7 passed (2 leaky), 2 exec failed, 0 skipped",
                "7 passed, 2 failed, 0 skipped",
            ),
            ("     Summary [   0.1s] 1 test run: 1 passed, 0 skipped", "1 passed, 0 failed, 0 skipped"),
            (
                "     Summary [   0.1s] 3/8 tests run: 2 passed, 1 failed, 0 skipped",
                "2 passed, 1 failed, 0 skipped",
            ),
            ("test tests::a ... ok\nrunning 6 tests\n6 passed", "0 passed, 0 failed, 0 skipped"),
        ];
        for (output, expected) in rows {
            assert_eq!(Tally::parse(output).to_string(), expected, "{output}");
        }
    }

    #[test]
    fn sums_over_runs() {
        let mut all = Tally::parse("test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured");
        all += Tally::parse("test result: ok. 3 passed; 1 failed; 0 ignored; 0 measured");
        all += Tally::skip("cargo deny: not installed");
        assert_eq!(all.to_string(), "5 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn a_test_that_says_skipped_has_not_passed() {
        let said = "SKIPPED: landlock: this kernel has none\nnoise\n";
        let tally =
            Tally::parse("test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured").with_skips(said);
        assert_eq!(tally.to_string(), "1 passed, 0 failed, 1 skipped");
        assert_eq!(tally.skips, ["landlock: this kernel has none"]);
    }
}
