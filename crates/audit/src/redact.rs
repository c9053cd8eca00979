//! Takes secrets out of text before it is written down.
//!
//! A secret is known by its shape, its name or the program that gets it (`tables/secrets.toml`), or because a caller
//! said what it is ([`Redactor::hide`]). All of these only find where secrets stand; the places are then joined and
//! replaced in one go, so that it does not matter who found what first.
//!
//! **Invariant.** Linear in the text, no regular expressions, nothing built at start-up.
//! **Invariant.** Idempotent: a mark that we left is not touched again, and a mark in the input is not believed.

#[cfg(test)]
mod command_tests;
mod commands;
mod keys;
mod literal;
pub(crate) mod row;
mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use literal::Literals;
use policy::TOKENS;

use crate::tables::secrets::{KEYS, PROGRAMS, SHAPES};

/// Takes secrets out of text.
#[derive(Default)]
pub struct Redactor {
    literals: Literals,
}

/// Why a value cannot be hidden by what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitSecret {
    /// So short that it stands in ordinary text.
    #[error("a secret of fewer than 6 characters cannot be told from ordinary text")]
    TooShort,
    /// The name is shown in the secret's place, so it must be harmless.
    #[error(
        "the name of a secret is made of letters, digits, `-`, `_` and `.`, and does not contain the secret"
    )]
    BadName,
}

impl Redactor {
    /// Knows the shapes of secrets, and no secret itself.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on takes out this value, too: as it is, percent-encoded, in base64, in hexadecimal, or quoted in JSON.
    pub fn hide(&mut self, name: &str, value: &str) -> Result<(), UnfitSecret> {
        self.literals.add(name, value)
    }

    /// The text without secrets. Where one stood, `[redacted:KIND]` says what it was.
    ///
    /// A text that is left after one round may look like a secret only now, so it goes on until there is nothing more to find.
    /// Each round leaves less text outside the marks than the one before.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        loop {
            let spans = self.find(&text);
            if spans.is_empty() {
                return text;
            }
            text = Cow::Owned(self.replace(&text, spans));
        }
    }

    fn find(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        self.literals.find(text.as_bytes(), |text| self.mark_at(text), &mut spans);
        scan::find(text.as_bytes(), self, &mut spans);
        commands::find(text.as_bytes(), self, &mut spans);
        spans
    }

    fn replace(&self, text: &str, mut spans: Vec<Span>) -> String {
        // The sort is stable: of two that begin together, the literal secret gives the name.
        spans.sort_by_key(|span| span.start);
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        let mut spans = spans.into_iter().peekable();
        while let Some(mut span) = spans.next() {
            while let Some(next) = spans.next_if(|next| next.start < span.end) {
                span.end = span.end.max(next.end);
            }
            out.push_str(&text[copied..span.start]);
            out.push_str(MARK);
            self.push_kind(&mut out, span.kind);
            out.push(']');
            copied = span.end;
        }
        out.push_str(&text[copied..]);
        out
    }

    fn push_kind(&self, out: &mut String, kind: Kind) {
        match kind {
            Kind::Shape(name) => out.push_str(name),
            Kind::Literal(at) => {
                out.push_str(SECRET);
                out.push_str(self.literals.name(at));
            }
        }
    }

    /// The length of the mark that stands at the beginning, if it is one that we leave.
    fn mark_at(&self, text: &[u8]) -> Option<usize> {
        let rest = text.strip_prefix(MARK.as_bytes())?;
        let length = rest.iter().take(MAX_KIND).position(|&byte| byte == b']')?;
        let kind = std::str::from_utf8(&rest[..length]).ok()?;
        let ours = match kind.strip_prefix(SECRET) {
            Some(name) => self.literals.knows(name),
            None => kinds().any(|known| known == kind),
        };
        ours.then_some(MARK.len() + length + 1)
    }
}

/// Position and kind of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shape(&'static str),
    Literal(usize),
}

const MARK: &str = "[redacted:";
const SECRET: &str = "secret:";
const MAX_KIND: usize = 80;

/// Every kind that a shape can give.
fn kinds() -> impl Iterator<Item = &'static str> {
    let tokens = TOKENS.iter().filter_map(|token| token.in_text.as_ref()).map(|form| form.name);
    let programs = PROGRAMS.iter().map(|secret| secret.name);
    tokens.chain(SHAPES.iter().copied()).chain(KEYS.iter().map(|key| key.name)).chain(programs)
}

/// Never shows what it hides.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("literals", &self.literals.len()).finish()
    }
}
