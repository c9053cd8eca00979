//! The summary of a run, as people and programs read it on standard error, after the output of the command.

use std::path::Path;

use policy::Code;
use policy::Shown;
use ringfence::run::{Audience, Row, RunError, Summary, subject};
use serde_json::{Value, json};

use crate::failure::Failure;

/// Maximum number of rows of each kind that are shown to a person; the rest is a number.
const MOST_SHOWN: usize = 10;

/// Formats the lines for people. Tripped names begin with `warning`, which may be coloured.
pub(crate) fn text(summary: &Summary, audience: Audience, warning: &str) -> String {
    let mut text = String::new();
    let told: Vec<_> = summary.rows().iter().filter(|row| row.audience() <= audience).collect();
    for rows in told.chunk_by(|a, b| a.rank() == b.rank()) {
        let most = if audience == Audience::Curious { usize::MAX } else { MOST_SHOWN };
        for row in rows.iter().take(most) {
            text.push_str(&line(row, summary.cwd(), warning));
        }
        let more = rows.len().saturating_sub(most);
        if more > 0 {
            let kind = rows[0].kind();
            let more = format!("{kind}: and {more} more; `ringfence audit show` has all of them\n");
            text.push_str(&more);
        }
    }
    text
}

/// Formats all rows for programs.
pub(crate) fn json(summary: &Summary) -> Vec<Value> {
    summary.rows().iter().map(|row| object(row, summary.cwd())).collect()
}

/// Formats a row as one line, or as several for an error.
fn line(row: &Row, cwd: &Path, warning: &str) -> String {
    let (object, reason) = (row.object(cwd).unwrap_or_default(), Shown::text(&row.reason()).to_string());
    let setting = row.setting(cwd).map(|setting| format!("; {setting}")).unwrap_or_default();
    let code = row.code().map(|code| format!("[{code}]")).unwrap_or_default();
    let kind = row.kind();
    match row {
        Row::Unrecorded(error) => unrecorded(error),
        Row::Limit(overrun, raise) => {
            Failure::coded(Code::JailLimit, overrun.message()).hint(raise).to_string()
        }
        Row::Tripped(..) => format!("{warning}: {object} has changed while the command ran: {reason}\n"),
        Row::Denied(denied) | Row::Refused(denied) => {
            format!("{kind}{code}: {} {object}: {reason}{setting}\n", denied.kind.word())
        }
        Row::Commit(commit) => format!("{kind}: {object} \"{}\" {reason}{setting}\n", subject(commit)),
        Row::Withheld(..) | Row::Changed(..) | Row::Known(..) => {
            format!("{kind}{code}: {object}: {reason}{setting}\n")
        }
        Row::LostOutput(_) | Row::LostFiles(_) | Row::MemoryLimit(_) | Row::Note(_) | Row::NotAllSeen => {
            format!("{kind}{code}: {reason}{setting}\n")
        }
    }
}

fn unrecorded(error: &RunError) -> String {
    Failure::from(error.clone()).to_string()
}

fn object(row: &Row, cwd: &Path) -> Value {
    let mut value = json!({
        "kind": row.kind(),
        "code": row.code().map(|code| code.to_string()),
        "object": row.object(cwd),
        "reason": row.reason(),
        "setting": row.setting(cwd),
    });
    match row {
        Row::Denied(denied) | Row::Refused(denied) => value["act"] = denied.kind.word().into(),
        Row::Commit(commit) => {
            value["object"] = Shown::text(&commit.id).to_string().into();
            value["subject"] = subject(commit).into();
        }
        _ => {}
    }
    value
}

#[cfg(test)]
mod tests;
