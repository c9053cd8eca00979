//! The report for people and for programs.

use std::io;

use serde_json::{Value, json};

use super::Report;
use super::provider::{Provider, Support};
use super::row::{Row, Status};
use crate::terminal::Terminal;

/// One line for each row; what to do about it below, where there is something to do.
pub(super) fn text(report: &Report, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let names = report.rows.iter().map(|row| row.id.len());
    let width = names.max().unwrap_or(0);
    for row in &report.rows {
        write_row(row, width, terminal)?;
    }
    writeln!(terminal.out)?;
    write_support(&report.support, width, terminal)
}

fn write_row(row: &Row, width: usize, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let (id, status, measured) = (&row.id, word(row.status, terminal.color), &row.measured);
    writeln!(terminal.out, "{id:width$}  {status} {measured}")?;
    // Without a remedy, the summary at the end says enough.
    let Some(remedy) = &row.remedy else { return Ok(()) };
    let lost = row.lost.join("; ");
    for (label, text) in [("expected", row.expected), ("remedy", remedy), ("lost", &lost)] {
        if !text.is_empty() {
            writeln!(terminal.out, "{:width$}  {label:8} {text}", "")?;
        }
    }
    Ok(())
}

fn write_support(support: &Support, width: usize, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let names: Vec<_> = support.possible.iter().map(|provider| provider.name()).collect();
    let names = match names.as_slice() {
        [] => "none is possible here: no jail can be made".to_owned(),
        [strongest] => format!("{strongest} is possible here"),
        [strongest, others @ ..] => format!("{strongest} is possible here, and {}", others.join(" and ")),
    };
    writeln!(terminal.out, "{:width$}  {names}", "provider")?;
    let mut label = "lost";
    for lost in &support.lost {
        writeln!(terminal.out, "{label:width$}  {lost}")?;
        label = "";
    }
    Ok(())
}

/// The word for a status, in its colour and as wide as the labels below it.
fn word(status: Status, color: bool) -> String {
    let code = match status {
        Status::Ok => "32",
        Status::Note => "36",
        Status::Weak => "33",
        Status::Missing => "31",
    };
    let word = format!("{:8}", status.name());
    if color { format!("\x1b[1;{code}m{word}\x1b[0m") } else { word }
}

pub(super) fn json(report: &Report) -> Value {
    let support = &report.support;
    json!({
        "version": 1,
        "rows": report.rows.iter().map(json_row).collect::<Vec<_>>(),
        "provider": {
            "strongest": support.strongest.map_or("none", Provider::name),
            "possible": support.possible.iter().map(|provider| provider.name()).collect::<Vec<_>>(),
            "lost": support.lost,
        },
    })
}

fn json_row(row: &Row) -> Value {
    json!({
        "id": row.id,
        "status": row.status.name(),
        "measured": row.measured,
        "expected": row.expected,
        "remedy": row.remedy,
        "lost": row.lost,
    })
}
