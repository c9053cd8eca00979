//! Acts with serious consequences are done without asking.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, sentence_after, sentence_before};
use crate::text::unit::PROSE_OR_FENCE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_UNASKED",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "does something grave without asking",
    why: "Money, accounts, messages and production are not to be touched without the user's word.",
    fix: "ask before the step, or leave it to the user",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bwithout ask",
        r"\bwithout confirm",
        r"\bwithout approv",
        r"\bwithout permission",
        r"\bwithout user",
        r"\bwithout additional",
        r"\bwithout any",
        r"\bwithout wait",
        r"\bwithout requir",
        r"\bwithout prompt",
        r"\bwithout display",
        r"\bwithout consent",
        r"\bwithout being",
        r"\bwithout the",
        r"\bwithout explicit",
        r"\bwithout further",
        r"\bwithout seeking",
        r"\bwithout preview",
        r"\bwithout manual",
        r"\bwithout human",
        r"\bwithout first",
        r"\bwithout author",
        r"\bnot ask",
        "t ask",
        r"\bnever ask",
        r"\bnot wait",
        r"\bnot prompt",
        r"\bnot request",
        r"\bnot require",
        r"\bno need to",
        r"\bskip confirm",
        r"\bskips confirm",
        r"\bskipping confirm",
        r"\bskip the confirm",
        r"\bskip approval",
        r"\bskip any",
        r"\bskip all",
        r"\bskip every",
        r"\bnot warn",
        r"\bnot confirm",
        r"\bomit confirm",
        r"\bsuppress confirm",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:do not|don<'>t|never|no need to) (?:ask|warn|prompt|confirm|check)(?: <any>){0,3} before\b",
    r"\bwithout (?:<any> ){0,5}(?:confirm(?:ation|ing)|approv(?:al|ing)|permission|consent|authorization|asking|prompting|preview|being asked)\b",
    r"\b(?:do not|don<'>t|never|no need to) (?:ask|wait|prompt|request|require)(?: <any>){0,5} (?:confirm(?:ation)?|approval|permission|consent|authorization)\b",
    r"\b(?:skip|omit|suppress)(?:s|ping)?(?: <any>){0,3} (?:confirmation|approval|consent)(?: <any>)?\b",
]);

/// Acts with serious consequences.
static GRAVE: Phrases = Phrases::new(words![
    r"\b(?:purchas\w*|buy|charg(?:e|es|ing)|payments?|pay|transfers?|funds|trad(?:e|es)|withdraw\w*|wire|passwords?|credentials|api keys?|user account|account permissions|production|prod|terminat\w+|force[- ]push\w*|sends? (?:<any> ){0,2}(?:emails?|messages?)|renew\w*|wip(?:e|es|ing)|delet(?:e|es|ing) (?:<any> ){0,2}(?:all|accounts?|backups?|databases?|production|user)|private keys?|sudo|root)\b",
]);

/// Words that make it a rule for a person, or for a test.
static ORDERLY: Phrases = Phrases::new(words![
    r"\b(?:never|must not|should not|do not|don<'>t|cannot|avoid|refuse|forbid|requires?|required|only after|warn|risk|dangerous)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| {
            let (before, after) =
                (sentence_before(text, range.start, 200), sentence_after(text, range.end, 200));
            let around = [before, after];
            let near = text.get(range.start.saturating_sub(160)..range.start).unwrap_or_default();
            let grave = around.iter().any(|part| GRAVE.is_in(part))
                || (!text.get(range.clone()).unwrap_or_default().starts_with("without") && GRAVE.is_in(near));
            grave && !ORDERLY.is_in(before) && !is_described(text, range.start)
        })
        .map(Hit::at)
        .collect()
}
