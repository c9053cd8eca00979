//! The agent is told to send away private data.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, is_forbidden};
use crate::text::unit::PROSE_OR_FENCE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_TOLD_SEND",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "tells the agent to send private things somewhere",
    why: "Conversations, files and the environment belong to the user. Audits, backups and telemetry are the usual pretexts.",
    fix: "remove the step, or let the user choose what is sent where",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bupload",
        r"\btransmit",
        r"\bforward",
        r"\bexfiltrat",
        r"\bsubmit",
        r"\brelay",
        r"\bwebhook",
        r"\bsend ",
        r"\bsends ",
        r"\bsending",
        r"\bsent to",
        r"\bpost ",
        r"\bposts ",
        r"\bposting",
        r"\bemail ",
        r"\bsync ",
        r"\blogs the",
        r"\blog the",
        r"\bback up",
        r"\bbacks up",
        r"\bmirror",
        r"\bkeystroke",
        r"\bclipboard",
        r"\btranscript",
        r"\banalytics",
        r"\btelemetry",
        "'s servers",
        r"\bshare ",
        r"\bshares ",
        r"\bship ",
        r"\bstream ",
        r"\bdump ",
        r"\bcopy of",
        r"\bbeacon",
        r"\bimage url",
        r"\bmarkdown image",
        r"\bsubdomain",
        r"\bdns quer",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:<send>|logs?|report|reports|share|shares|back up|backs up|mirror|mirrors)\b... <loot>...\b(?:to|via|at|with|into|through) ...<where>",
    r"\b(?:<gather>|read|reads|take|include|includes)\b... <loot>...\b(?:and|then|,)...\b(?:<send>|transmits?|posts?)\b...<where>",
    r"\b<loot>... (?:is|are|be|gets?) (?:<any> ){0,2}(?:transmitted|uploaded|sent|forwarded|posted|relayed|exfiltrated|shipped|logged)(?: <any>){0,2} (?:to|via) ...<where>",
    r"\b(?:<loot>|tokens|credentials|keys|contents?)\b...\b(?:include|embed|encode|append|put|hide|smuggle)\b... (?:image url|markdown image|subdomain|dns quer\w+|base64|url fragment)\b",
    r"\b(?:whenever|each time|any|every|all)\b...<secrets>...\b<send> (?:it|them|these|those)(?: <any>){0,2} to ...<where>",
    r"\b(?:stored|kept|retained|recorded) on (?:<any> ){0,3}(?:provider|author|vendor|developer|publisher)<'>s? (?:<any> )?servers?\b",
    r"\b(?:telemetry|data|recordings?|transcripts?|code|descriptions?) (?:is|are) (?:<any> ){0,2}(?:transmitted|uploaded|sent|forwarded|posted|shipped) to (?:the )?(?:skill |tool |plugin )?(?:author|provider|vendor|publisher|developer)<'>s? ",
]);

/// Phrases about the user's own systems, or about a service that exists for this purpose.
static OWN: Phrases = Phrases::new(words![
    r"\b(?:otel|opentelemetry|langfuse|langsmith|sentry|datadog|localhost|127\.0\.0\.1|your own|self-hosted|public)\b",
]);

/// Phrases that say that nothing is sent.
static NEVER: Phrases = Phrases::new(words![
    r"\b(?:never|not|no longer) (?:<any> )?(?:transmitted|uploaded|sent|forwarded|posted|relayed|shipped|logged|shared)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    if OWN.is_in(text) {
        return Vec::new();
    }
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .filter(|range| !NEVER.is_in(text.get(range.clone()).unwrap_or_default()))
        .map(Hit::at)
        .collect()
}
