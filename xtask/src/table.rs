//! Reading `tables/*.toml`: sections of rows, a reason on every row.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::offence::Offence;

/// One row of one section, with the line it starts on.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) section: String,
    pub(crate) fields: BTreeMap<String, String>,
}

impl Row {
    /// A field that the row may leave out.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.fields.get(key).map(String::as_str)
    }

    /// A field that the row must have.
    pub(crate) fn need(&self, key: &str) -> Result<&str, Offence> {
        self.get(key).ok_or_else(|| self.offence(format!("this row has no `{key}`")))
    }

    /// Something wrong with this row.
    pub(crate) fn offence(&self, text: impl Into<String>) -> Offence {
        Offence::at(&self.file, self.line, text)
    }
}

/// Reads every row of a table, in the order of the file within each section.
pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Row>, Offence> {
    let table = DeTable::parse(text).map_err(|error| {
        let line = line_of(text, error.span().map_or(0, |span| span.start));
        Offence::at(file, line, error.message())
    })?;
    let mut rows = Vec::new();
    for (section, value) in table.get_ref() {
        let section = section.get_ref();
        for row in section_rows(value).ok_or_else(|| not_rows(file, section))? {
            rows.push(read_row(file, text, section, row).ok_or_else(|| not_rows(file, section))?);
        }
    }
    rows.sort_by_key(|row| row.line);
    Ok(rows)
}

fn section_rows<'a, 'i>(
    value: &'a Spanned<DeValue<'i>>,
) -> Option<impl Iterator<Item = &'a Spanned<DeValue<'i>>>> {
    value.get_ref().as_array().map(|rows| rows.iter())
}

fn not_rows(file: &str, section: &str) -> Offence {
    Offence::of(file, format!("`{section}` is not a list of rows; write [[{section}]]"))
}

fn read_row(file: &str, text: &str, section: &str, row: &Spanned<DeValue<'_>>) -> Option<Row> {
    let fields = row.get_ref().as_table()?;
    let fields =
        fields.iter().map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref()))).collect();
    Some(Row { file: file.into(), line: line_of(text, row.span().start), section: section.into(), fields })
}

/// A string as it is; anything else in a form that is equal when the values are.
fn plain(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Array(values) => values.iter().map(|value| plain(value.get_ref()) + ",").collect(),
        DeValue::Table(table) => table
            .iter()
            .flat_map(|(key, value)| [key.get_ref().to_string(), plain(value.get_ref()) + ","])
            .collect(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(date) => date.to_string(),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_order_and_their_lines() {
        let rows = read("t.toml", "[[b]]\nx = '1'\n\n[[a]]\ny = [1, 2]\nz = {k = true}\n").unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.section.as_str(), row.line)).collect();
        assert_eq!(seen, [("b", 1), ("a", 4)]);
        assert_eq!(rows[0].need("x"), Ok("1"));
        assert_eq!(rows[1].get("y").unwrap().matches(',').count(), 2);
        assert_eq!(rows[1].need("x").unwrap_err().to_string(), "t.toml:4: this row has no `x`");
    }

    #[test]
    fn what_is_not_rows_is_refused() {
        for text in ["a = 1", "[a]\nb = 1", "a = [1]", "a = "] {
            assert!(read("t.toml", text).is_err(), "{text}");
        }
        assert_eq!(
            read("t.toml", "x = 1\n\ny = ").unwrap_err().to_string().split(": ").next(),
            Some("t.toml:3")
        );
    }
}
