//! One row of the report.

use policy::Shown;

/// Status of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing that protects is lost.
    Note,
    /// It works, and protects less.
    Weak,
    /// It does not work.
    Missing,
}

impl Status {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Weak => "weak",
            Self::Missing => "missing",
        }
    }
}

/// One thing examined.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Stable: people and programs look for it.
    pub(super) id: String,
    pub(super) status: Status,
    /// Measurement, safe to show.
    pub(super) measured: String,
    /// Value that would be in order.
    pub(super) expected: &'static str,
    /// Remedy: a command or a setting, never one that opens more than Ringfence needs.
    pub(super) remedy: Option<String>,
    /// Features that Ringfence lacks here because of it.
    pub(super) lost: Vec<&'static str>,
}

impl Row {
    /// `measured` may hold text from outside: here is where it is made safe.
    pub(super) fn new(id: &str, status: Status, measured: impl AsRef<str>, expected: &'static str) -> Self {
        let measured = Shown::text(measured.as_ref()).to_string();
        Self { id: id.to_owned(), status, measured, expected, remedy: None, lost: Vec::new() }
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// A remedy that could be worded only for some.
    pub(super) fn remedy_if_known(self, remedy: Option<String>) -> Self {
        Self { remedy, ..self }
    }

    pub(super) fn lost(mut self, lost: &[&'static str]) -> Self {
        self.lost.extend_from_slice(lost);
        self
    }
}
