//! Secrets are put into an answer.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::{Phrases, is_described, is_forbidden};
use crate::text::unit::{PROSE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CRED_TOLD_SHOW",
    category: Category::CredentialAccess,
    severity: Severity::Critical,
    title: "a secret is to be repeated in an answer",
    why: "What an agent says is kept, logged and read by others: a key in an answer is a key given away.",
    fix: "never repeat secrets; say whether they are set",
    places: PROSE,
    anchors: words![
        r"\bauthorization header",
        r"\bapi_key",
        r"\bapi key",
        r"\bin plaintext",
        r"\bin plain text",
        r"\bcredentials",
        r"\bpasswords",
        "_token",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:echo|print|show|include|output|display|repeat|return|reveal|paste|write)(?:ing)?(?: <any>){0,4} (?:current |full |actual |complete )?(?:values? of|value for)(?: <any>){0,2} [\w`]*(?:api_?key|_token|_secret|authorization header|password|credential)",
    r"\b(?:show|print|include|output|display|echo)(?: <any>)? `?[A-Z_]+(?:_KEY|_TOKEN|_SECRET)`?(?: and `?[A-Z_]+`?)? values?\b",
    r"\b(?:include|show|echo|repeat|print)(?: <any>){0,2} (?:full |complete |entire )authorization header\b",
    r"\b(?:show|print|include|output|display|echo)\b... (?:keys?|tokens?|secrets?|passwords?|credentials)\b... in (?:plain ?text|clear ?text|the (?:llm )?response)\b",
    r"\b(?:echo|echoing|repeat|repeating) back (?:any |all |the )?(?:<any> )?(?:credentials|passwords|secrets|keys)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .collect()
}
