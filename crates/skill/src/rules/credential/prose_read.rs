//! The agent is told to read files that hold secrets.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, is_forbidden, section};
use crate::text::unit::PROSE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRED_TOLD_READ",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "tells the agent to read files that hold secrets",
    why: "What the agent has read is in its answers, its logs and its requests. Keys and passwords belong in none of them.",
    fix: "name the one variable that is needed, and leave it to the user to set it",
    places: PROSE,
    anchors: words![
        ".ssh",
        r"\bid_rsa",
        r"\bid_ed25519",
        r"\bid_ecdsa",
        ".aws",
        ".env",
        r"\bcredential",
        r"\bsecrets.",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".gnupg",
        ".kube",
        r"\bmcp.json",
        "/etc/shadow",
        r"\bkeychain",
        r"\bkey chain",
        r"\bpassword",
        r"\bwallet",
        r"\bkeystore",
        r"\bcookies",
        r"\blogin data",
        r"\bprivate key",
        r"\bgcloud",
        ".docker/config",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![r"\b(?:<read>)\b...<secretfile>"]);

/// Files that grant access by themselves.
static GRAVE: Phrases = Phrases::new(words![
    r"\bid_(?:rsa|ed25519|ecdsa|dsa)(?:[^.\w]|$)",
    r"/etc/shadow|wallet\.dat|saved passwords|browser (?:cookies|passwords)|login data|key ?chain|private key files?|password (?:store|manager|vault)",
]);

/// Phrases that send the content to a destination.
static TAKEN: Phrases = Phrases::new(words![
    r"\b<send>\b... (?:to|via|at) ...<where>",
    r"\b<send> (?:<any> ){0,4}(?:contents?|it|them|everything|results?|output)\b",
    r"\b(?:include|attach|embed|append|add|put)\b... (?:in|as|with|to|into) (?:<any> ){0,4}(?:requests?|responses?|urls?|quer(?:y|ies)|headers?|payloads?|fields?|contexts?|\w+_context|commits?|logs?|reports?|messages?|parameters?|body|answer|reply)\b",
    r"\bpass (?:<any> ){0,3}(?:contents?|it|them|values?) as\b",
]);

/// Phrases of an audit about files that should not be there, and phrases about what a program does by itself.
static APART: Phrases = Phrases::new(words![
    r"\b(?:committed|gitignore\w*|leaked|hardcoded|exposed|exclude|never|automatically|by default|sdk|cli|client) ",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges: Vec<_> = PHRASES
        .ranges(text)
        .into_iter()
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        // `Read(.env)` is the syntax by which settings name a tool and what it may not do.
        .filter(|range| !text.get(range.clone()).unwrap_or_default().contains("Read("))
        .collect();
    if ranges.is_empty() || APART.is_in(text) {
        return Vec::new();
    }
    let (before, after) = section(unit, 300);
    let taken = [before, text, after].iter().any(|part| TAKEN.is_in(part));
    let public = text.contains(".pub");
    let grave = |range: &std::ops::Range<usize>| {
        let to = (range.end + 1).min(text.len());
        !public && text.get(range.start..to).is_some_and(|found| GRAVE.is_in(found))
    };
    let many = ranges.len() >= 3;
    ranges.into_iter().filter(|range| taken || many || grave(range)).map(Hit::at).collect()
}
