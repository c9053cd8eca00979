//! Selection of records.

use jiff::{SignedDuration, Timestamp};

use crate::record::Record;

/// Conditions on a record; an absent condition matches everything.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The event, or the beginning of its name followed by `*`.
    pub event: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The decision: allow, ask or deny.
    pub decision: Option<String>,
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// This very record.
    pub seq: Option<u64>,
}

impl Filter {
    /// Returns true if the record is wanted.
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        self.seq.is_none_or(|seq| record.head().seq == seq)
            && self.event.as_deref().is_none_or(|pattern| names(pattern, record.event()))
            && self.session.as_deref().is_none_or(|session| record.text("session") == Some(session))
            && self.decision.as_deref().is_none_or(|decision| record.text("decision") == Some(decision))
            && self.since.is_none_or(|since| record.timestamp().is_some_and(|time| time >= since))
    }
}

fn names(pattern: &str, event: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => event.starts_with(start),
        None => event == pattern || event.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('.')),
    }
}

/// Text that is not a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as 2026-01-31T08:00:00Z, or an age such as 30m, 12h or 7d")]
pub struct SinceError;

/// Reads a moment: a time in RFC 3339, or how long before `now` it was (`90s`, `30m`, `12h`, `7d`).
pub fn since(text: &str, now: Timestamp) -> Result<Timestamp, SinceError> {
    match text.parse() {
        Ok(time) => Ok(time),
        Err(_) => now.checked_sub(ago(text).ok_or(SinceError)?).map_err(|_| SinceError),
    }
}

fn ago(text: &str) -> Option<SignedDuration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(SignedDuration::from_secs(i64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now: Timestamp = "2026-01-08T00:00:00Z".parse().unwrap();
        let rows: &[(&str, Option<&str>)] = &[
            ("2026-01-01T00:00:00Z", Some("2026-01-01T00:00:00Z")),
            ("2026-01-01T02:00:00+02:00", Some("2026-01-01T00:00:00Z")),
            ("90s", Some("2026-01-07T23:58:30Z")),
            ("30m", Some("2026-01-07T23:30:00Z")),
            ("12h", Some("2026-01-07T12:00:00Z")),
            ("7d", Some("2026-01-01T00:00:00Z")),
            ("4294967295d", None),
            ("-1d", None),
            ("d", None),
            ("", None),
            ("yesterday", None),
            ("1\u{e9}", None),
        ];
        for (text, wanted) in rows {
            assert_eq!(since(text, now).ok(), wanted.map(|time| time.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn names_of_events() {
        let rows = [
            ("tool.started", "tool.started", true),
            ("tool.*", "tool.started", true),
            ("tool", "tool.started", true),
            ("too*", "tool.started", true),
            ("too", "tool.started", false),
            ("*", "tool.started", true),
            ("tool.start", "tool.started", false),
            ("tools", "tool.started", false),
        ];
        for (pattern, event, wanted) in rows {
            assert_eq!(names(pattern, event), wanted, "{pattern} {event}");
        }
    }
}
