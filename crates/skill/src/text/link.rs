//! The addresses in a text, and what is known about them.

use std::collections::HashSet;

use memchr::memmem;

use crate::code::destination::{Destination, Kind, classify};

/// Maximum number of addresses of one text that are looked at.
const MAX_LINKS: usize = 40;

/// An address in a text.
#[derive(Debug, Clone)]
pub(crate) struct Link<'a> {
    /// As it is written.
    pub(crate) text: &'a str,
    pub(crate) to: Destination,
}

impl Link<'_> {
    /// Returns true if it names a file that is meant to be unpacked or started.
    pub(crate) fn is_program(&self) -> bool {
        let path = self.text.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        PROGRAMS.iter().any(|end| path.ends_with(end))
    }

    /// Returns true if the content has no accountable owner: made a minute ago, or one page of many strangers.
    pub(crate) fn is_anybodys(&self) -> bool {
        self.to.is_throwaway() || self.to.kind == Kind::FreeHosting
    }
}

/// Endings of files that are meant to be unpacked or started.
const PROGRAMS: &[&str] = &[
    ".exe",
    ".msi",
    ".zip",
    ".rar",
    ".7z",
    ".dmg",
    ".pkg",
    ".scr",
    ".bat",
    ".cmd",
    ".ps1",
    ".vbs",
    ".iso",
    ".img",
    ".appimage",
    ".deb",
    ".rpm",
    ".command",
    ".jar",
    ".hta",
    ".lnk",
    ".app",
];

/// The addresses in a text: with a scheme, and those without one that have no accountable owner.
pub(crate) fn links(text: &str) -> Vec<Link<'_>> {
    let mut found: Vec<Link<'_>> = memmem::find_iter(text.as_bytes(), b"://")
        .take(MAX_LINKS)
        .filter_map(|at| with_scheme(text, at))
        .collect();
    if text.len() <= 4096 {
        found.extend(text.split(is_border).take(2048).filter_map(bare).take(MAX_LINKS));
    }
    found
}

/// Returns true if a text has an address of a kind. Each place is looked at once; a text with more of them than the limit has it.
pub(crate) fn leads_to(text: &str, is_of_kind: impl Fn(&Destination) -> bool) -> bool {
    let mut seen = HashSet::new();
    memmem::find_iter(text.as_bytes(), b"://").any(|at| {
        // With the beginning of the path: it can be another's.
        let rest = &text.as_bytes()[at + 3..];
        let rest = &rest[..rest.len().min(256)];
        let mut slashes = 0;
        let end = rest.iter().position(|byte| {
            slashes += u8::from(*byte == b'/');
            slashes > 1 || is_border(char::from(*byte))
        });
        let host = &rest[..end.unwrap_or(rest.len())];
        seen.insert(host)
            && (seen.len() > MAX_PLACES || with_scheme(text, at).is_some_and(|link| is_of_kind(&link.to)))
    })
}

/// Maximum number of places of one text that are looked at.
const MAX_PLACES: usize = 1000;

fn with_scheme(text: &str, at: usize) -> Option<Link<'_>> {
    let before = text.get(..at)?;
    let scheme = before.len() - before.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '*').len();
    let rest = text.get(at + 3..)?;
    let end = rest.find(is_border).unwrap_or(rest.len());
    let text = text.get(at - scheme..at + 3 + end)?.trim_end_matches(['.', ',', ';', ':', '*', '_']);
    (scheme > 0).then(|| Link { text, to: classify(text) })
}

/// `host.tld/path`, if it is one without an accountable owner.
fn bare(word: &str) -> Option<Link<'_>> {
    let (host, path) = word.split_once('/')?;
    let (name, end) = host.rsplit_once('.')?;
    let named = !name.is_empty()
        && (2..=5).contains(&end.len())
        && end.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !named || path.is_empty() || host.starts_with(['.', '~', '-', '@']) {
        return None;
    }
    let to = classify(word);
    matches!(to.kind, Kind::Paste | Kind::Shortener | Kind::FileDrop).then_some(Link { text: word, to })
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || matches!(c, ')' | '(' | '<' | '>' | '"' | '\'' | '`' | '|' | '\\' | '^')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_a_text() {
        let text = "See [this](https://rentry.co/abc), `http://8.8.4.4/a.zip?x=1`. Or glot.io/snippets/x and src/main.rs.";
        let found: Vec<(&str, Kind, bool)> =
            links(text).iter().map(|link| (link.text, link.to.kind, link.is_program())).collect();
        assert_eq!(
            found,
            [
                ("https://rentry.co/abc", Kind::Paste, false),
                ("http://8.8.4.4/a.zip?x=1", Kind::RawIp, true),
                ("glot.io/snippets/x", Kind::Paste, false),
            ]
        );
    }
}
