//! One step of a command, how it ended, and how that reads.

use std::io::{self, Write};

use crate::offence::Offence;
use crate::tally::Tally;

/// Result of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// In order; the lines are worth knowing.
    Ok(Vec<String>),
    /// Not done, and why.
    Skipped(String),
    /// Not in order, and where.
    Failed(Vec<String>),
}

impl From<Vec<Offence>> for Outcome {
    fn from(offences: Vec<Offence>) -> Self {
        if offences.is_empty() {
            return Self::Ok(Vec::new());
        }
        Self::Failed(offences.iter().map(ToString::to_string).collect())
    }
}

impl From<io::Result<Vec<Offence>>> for Outcome {
    fn from(offences: io::Result<Vec<Offence>>) -> Self {
        offences.map_or_else(|error| Self::Failed(vec![error.to_string()]), Self::from)
    }
}

/// Writes one line and the details below it, and counts the step.
pub(crate) fn report(out: &mut dyn Write, name: &str, outcome: &Outcome) -> io::Result<Tally> {
    match outcome {
        Outcome::Ok(details) => write_lines(out, &format!("ok       {name}"), details)?,
        Outcome::Skipped(why) => writeln!(out, "skipped  {name}: {why}")?,
        Outcome::Failed(details) => write_lines(out, &format!("FAILED   {name}"), details)?,
    }
    out.flush()?;
    Ok(count(name, outcome))
}

fn write_lines(out: &mut dyn Write, first: &str, details: &[String]) -> io::Result<()> {
    writeln!(out, "{first}")?;
    details.iter().try_for_each(|line| writeln!(out, "         {line}"))
}

fn count(name: &str, outcome: &Outcome) -> Tally {
    match outcome {
        Outcome::Ok(_) => Tally { passed: 1, ..Tally::default() },
        Outcome::Skipped(why) => Tally::skip(format!("{name}: {why}")),
        Outcome::Failed(_) => Tally { failed: 1, ..Tally::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reads_as_one_line_with_details() {
        let mut out = Vec::new();
        let offences = vec![Offence::at("a.rs", 3, "too long")];
        let failed = report(&mut out, "budgets", &Outcome::from(offences)).unwrap();
        let skipped = report(&mut out, "cargo deny", &Outcome::Skipped("not installed".into())).unwrap();
        let fine = report(&mut out, "names", &Outcome::from(Vec::new())).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        FAILED   budgets
                 a.rs:3: too long
        skipped  cargo deny: not installed
        ok       names
        ");
        assert_eq!((failed.failed, skipped.skips.len(), fine.passed), (1, 1, 1));
    }
}
