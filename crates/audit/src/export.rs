//! The ledger in the words of other programs.

mod cef;
mod ocsf;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::error::VerifyError;
use crate::event::{EVENTS, EventShape, Severity};
use crate::record::Record;

pub use cef::cef;
pub use ocsf::ocsf;

/// In which words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The lines as they are.
    Lines,
    /// One JSON document: `{"version": 1, "records": […]}`.
    Json,
    /// Common Event Format, one event a line.
    Cef,
    /// OCSF 1.8.0 with the `record_integrity` profile, one JSON object a line.
    Ocsf,
}

/// Why an export ended early. What was written until then is in order.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ledger is not in order from here on.
    #[error(transparent)]
    Broken(#[from] VerifyError),
    /// The export could not be written.
    #[error("cannot write the export")]
    Io(#[from] io::Error),
}

/// Writes records in other words. Ends at the first that is not in order.
pub fn write(
    records: impl Iterator<Item = Result<Record, VerifyError>>,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    if format == Format::Json {
        return write_document(records, out);
    }
    let mut chain = None;
    for record in records {
        let record = record?;
        chain = chain.or_else(|| chain_of(&record));
        match format {
            Format::Lines | Format::Json => writeln!(out, "{}", record.line())?,
            Format::Cef => writeln!(out, "{}", cef(&record))?,
            Format::Ocsf => writeln!(out, "{}", ocsf(&record, chain.as_deref()))?,
        }
    }
    Ok(())
}

fn write_document(
    records: impl Iterator<Item = Result<Record, VerifyError>>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    out.write_all(b"{\"version\":1,\"records\":[")?;
    for (at, record) in records.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}\n{}", record?.line())?;
    }
    out.write_all(b"\n]}\n")?;
    Ok(())
}

/// The name of the chain, if this record says it.
fn chain_of(record: &Record) -> Option<String> {
    match record.event() {
        "ledger.started" => Some(record.head().hash.to_string()),
        "ledger.continued" => record.text("chain").map(str::to_owned),
        _ => None,
    }
}

fn shape_of(record: &Record) -> Option<&'static EventShape> {
    EVENTS.iter().find(|shape| shape.name == record.event())
}

/// Returns a few words that describe the record.
fn title_of(record: &Record) -> &str {
    let doc = shape_of(record).map_or("unknown event", |shape| shape.doc.trim());
    doc.split_once('.').map_or(doc, |(first, _)| first)
}

/// Returns the severity of a record: that of its event, raised if something was refused or went wrong.
fn severity_of(record: &Record) -> Severity {
    let usual = shape_of(record).map_or(Severity::Medium, |shape| shape.severity);
    let worse = match (record.text("decision"), record.text("outcome")) {
        (Some("deny"), _) | (_, Some("denied" | "limited")) => Severity::Medium,
        (Some("ask"), _) | (_, Some("error")) => Severity::Low,
        _ => Severity::Informational,
    };
    usual.max(worse)
}

/// The fields that belong to the event, not to the line.
fn own_fields(record: &Record) -> impl Iterator<Item = (&String, &serde_json::Value)> {
    const ENVELOPE: [&str; 6] = ["v", "seq", "time", "event", "prev", "hash"];
    record.fields().iter().filter(|(name, _)| !ENVELOPE.contains(&name.as_str()))
}

fn milliseconds(record: &Record) -> i64 {
    record.timestamp().map_or(0, jiff::Timestamp::as_millisecond)
}
