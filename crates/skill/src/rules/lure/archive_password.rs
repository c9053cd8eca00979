//! An archive with a password that the text gives away.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::{Phrases, is_described, section, sentence_before};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "LURE_ARCHIVE_PASSWORD",
    category: Category::Lure,
    severity: Severity::Critical,
    title: "a download with a password beside it",
    why: "A password that stands beside its archive protects from nobody but the programs that look for malware.",
    fix: "do not open the archive; use a package that can be looked into",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bpass:",
        r"\bkey: `",
        r"\bcode: `",
        r"\barchive pass",
        r"\bzip pass",
        r"\brar pass",
        r"\bpass `",
        r"\bpass=",
        r"\bpassword",
        r"\bpasswort",
        r"\bpasscode",
        r"\bpassphrase",
        r"\bpwd",
        r"\bpw:",
        r"\bpw `",
        r"\barchive pass",
        r"\bzip pass",
        r"\brar pass",
        r"\bunzip -p",
        "7z x",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

/// A password that is written out.
static PHRASES: Phrases = Phrases::new(words![
    r#"\((?:archive |zip )?(?:pass(?:word|code)?|pwd|pw)[: ]+[`"']*[\w!@#$%&.-]{3,30}[`"']*\)"#,
    r#"\b(?:pass(?:word|wort|code|phrase)?|pwd|pw)\s*[:=]\s*[`"'*_]*[a-z0-9][\w!@#$%&.-]{2,30}"#,
    r#"\b(?:pass(?:word|code|phrase)?|pwd|pw)\s+(?:is\s+)?[`"'*]+[a-z0-9][\w!@#$%&.-]{2,30}[`"'*]"#,
    r#"\b(?:archive|zip|rar) (?:pass(?:word|code|phrase)?|pwd|pw)\s*[:=]?\s*[`"'*]*[a-z0-9][\w!@#$%&.-]{2,30}"#,
    r#"\b(?:pass(?:word|code|phrase)?|pwd|pw)\s+(?:is|for the archive is)\s+[`"'*]*(?:[a-z]*[0-9][\w!@#$%&.-]{1,30}|infected)"#,
    r#"\b(?:unpack|unzip|extract|decompress|open)\w*(?: <any>){0,3} with (?:the |this )?(?:pass(?:word|code|phrase)?|pwd|pw)\s+[`"'*]*[a-z]*[0-9][\w!@#$%&.-]{1,30}"#,
    r#"\b(?:key|code)\s*[:=]\s*[`"'*]+[a-z0-9][\w!@#$%&.-]{2,30}[`"'*]"#,
    r#"\b(?:unzip|7z x|7za x|unrar x)\b[^\n]{0,60}\s-p\s?["']?[a-z0-9][\w!@#%&.-]{2,30}"#,
]);

/// Archives and programs.
static PACKED: Phrases = Phrases::new(words![
    r"\b(?:zip|rar|7z|archive|extract\w*|unzip\w*|unpack\w*|decompress\w*|unrar)\b",
    r"\.(?:zip|rar|7z|exe|dmg|msi|pkg|iso)\b",
]);

static FETCHED: Phrases = Phrases::new(words![
    r"\b(?:download\w*|curl|wget|iwr|get (?:it|them|this|(?:the )?<any>)(?: <any>)? from|grab)\b",
]);

/// It is to be started.
static STARTED: Phrases = Phrases::new(words![
    r"\b(?:run|launch|execute|start|open|install) (?:it|the <any>|<any>\.exe|and leave)\b"
]);

/// Passwords of something else, and keys that are no passwords.
static OTHER: Phrases = Phrases::new(words![
    r"\b(?:login|log in|user ?name|default|admin|database|db|account|user|root|api|access|public|primary|foreign|secret|license|config|error|status|exit|postgres\w*|mysql)\b[^.\n]*$",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges: Vec<_> = PHRASES
        .ranges(text)
        .into_iter()
        .filter(|range| {
            !is_described(text, range.start) && !OTHER.is_in(sentence_before(text, range.start, 60))
        })
        .collect();
    if ranges.is_empty() {
        return Vec::new();
    }
    let (before, after) = section(unit, 400);
    let around = [before, text, after];
    let near = near(before, after);
    let packed = [text, near.0, near.1].iter().any(|part| PACKED.is_in(part));
    let fetched = around.iter().any(|part| FETCHED.is_in(part) || links(part).iter().any(Link::is_program));
    let started = !links(text).is_empty() && STARTED.is_in(text);
    if fetched && (packed || started) { ranges.into_iter().map(Hit::at).collect() } else { Vec::new() }
}

/// Returns the nearest bytes on either side.
fn near<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let mut from = before.len().saturating_sub(150);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let mut to = after.len().min(150);
    while !after.is_char_boundary(to) {
        to -= 1;
    }
    (&before[from..], &after[..to])
}
