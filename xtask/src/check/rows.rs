//! Reasons and duplicates of table rows.

use std::collections::BTreeMap;

use crate::offence::Offence;
use crate::table::{self, Row};

/// Checks one table.
pub(crate) fn check(file: &str, text: &str) -> Vec<Offence> {
    match table::read(file, text) {
        Ok(rows) => rows.iter().filter_map(unexplained).chain(repeated(&rows)).collect(),
        Err(offence) => vec![offence],
    }
}

fn unexplained(row: &Row) -> Option<Offence> {
    let has_reason = row.get("because").is_some_and(|text| !text.trim().is_empty());
    (!has_reason).then(|| row.offence("this row does not say `because`"))
}

fn repeated(rows: &[Row]) -> Vec<Offence> {
    let mut first_lines = BTreeMap::new();
    let mut offences = Vec::new();
    for row in rows {
        let first = *first_lines.entry(identity(row)).or_insert(row.line);
        if first != row.line {
            offences.push(row.offence(format!("this row stands on line {first} already")));
        }
    }
    offences
}

/// Identity of a row: everything but the reason.
fn identity(row: &Row) -> (&str, Vec<(&String, &String)>) {
    (&row.section, row.fields.iter().filter(|(key, _)| *key != "because").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_explained_and_stand_once() {
        let rows = [
            ("[[a]]\nx = '1'\nbecause = 'y'\n[[b]]\nx = '1'\nbecause = 'y'", ""),
            ("[[a]]\nx = '1'", "t.toml:1: this row does not say `because`"),
            ("\n[[a]]\nx = '1'\nbecause = ' '", "t.toml:2: this row does not say `because`"),
            (
                "[[a]]\nx = '1'\nbecause = 'y'\n[[a]]\nbecause = 'z'\nx = '1'",
                "t.toml:4: this row stands on line 1 already",
            ),
            ("a = 1", "t.toml: `a` is not a list of rows; write [[a]]"),
        ];
        for (text, message) in rows {
            let found: Vec<_> = check("t.toml", text).iter().map(ToString::to_string).collect();
            assert_eq!(found.join("\n"), message, "{text}");
        }
    }
}
