//! A long text in base64.

use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::ANYWHERE;
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "OBF_BASE64_LONG",
    category: Category::Obfuscation,
    severity: Severity::Warning,
    title: "long text in base64",
    why: "Nobody reads such a text, and programs do.",
    fix: "write the text itself, or keep it in a file with a name that says what it is",
    places: ANYWHERE,
    anchors: words![],
    check: Check::Skill(hits),
};

/// Minimum length of a run of such characters that is reported.
const LONG: usize = 80;

/// Maximum number of runs that are reported in one file.
const MAX_REPORTED: usize = 5;

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    let mut hits = Vec::new();
    for view in skill.views {
        let found =
            runs(view.text.as_bytes()).filter(|run| !is_known(view.text.as_bytes(), run)).take(MAX_REPORTED);
        hits.extend(found.map(|run| SkillHit {
            entry: view.entry,
            span: view.back(run),
            note: None,
            severity: None,
        }));
    }
    hits
}

fn is_member(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// Returns the long runs of a text. Samples one byte per run length, and examines its neighbours only if it could be part of a run.
fn runs(text: &[u8]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = LONG - 1;
    std::iter::from_fn(move || {
        while let Some(&byte) = text.get(at) {
            if !is_member(byte) {
                at += LONG;
                continue;
            }
            let floor = at.saturating_sub(LONG);
            let start = text[floor..at]
                .iter()
                .rposition(|byte| !is_member(*byte))
                .map_or(floor, |back| floor + back + 1);
            let end = text[at..].iter().position(|byte| !is_member(*byte)).map_or(text.len(), |on| at + on);
            at = end + LONG;
            if end - start >= LONG {
                return Some(start..end);
            }
        }
        None
    })
}

/// Returns true for hashes, paths, pictures, keys that are meant to be public, and the checksums of packages.
fn is_known(text: &[u8], run: &std::ops::Range<usize>) -> bool {
    let inside = &text[run.start..run.end.min(run.start + 4096)];
    let before = &text[run.start.saturating_sub(48)..run.start];
    let is_hex = inside.iter().all(u8::is_ascii_hexdigit) && inside.iter().any(u8::is_ascii_digit);
    let slashes = memchr::memchr_iter(b'/', inside).count();
    let is_path = slashes * 24 > inside.len();
    let is_word = inside.iter().all(u8::is_ascii_lowercase);
    let has = |what: &[u8]| memchr::memmem::find(before, what).is_some();
    let is_marked = [
        &b"base64,"[..],
        b"sha512-",
        b"sha384-",
        b"sha256-",
        b"ssh-rsa ",
        b"ssh-ed25519 ",
        b"ecdsa-sha2",
        b"-----\n",
        b"-----\r\n",
    ]
    .iter()
    .any(|mark| has(mark));
    is_hex || is_path || is_word || is_marked || has(b"://") || is_in_block(text, run)
}

/// Returns true if a run is in a certificate or a signature: lines of one length below a line of hyphens.
fn is_in_block(text: &[u8], run: &std::ops::Range<usize>) -> bool {
    let before = &text[run.start.saturating_sub(4096)..run.start];
    match (memchr::memmem::rfind(before, b"-----BEGIN"), memchr::memmem::rfind(before, b"-----END")) {
        (Some(begin), Some(end)) => begin > end,
        (Some(_), None) => true,
        (None, _) => false,
    }
}
