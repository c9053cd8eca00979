//! Payments are redirected to another payee.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::signs::{COVERT, NO_CONSENT};
use crate::text::phrase::{Phrases, is_described, is_forbidden};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_PAYEE",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "payments are to go to an account that the skill names",
    why: "Where money goes is what the user's own papers say. A skill that knows better is after the money.",
    fix: "take the account from the user's own records, and ask when they differ",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\biban",
        r"\bcrypto address",
        r"\bbitcoin address",
        r"\bethereum address",
        r"\bnew account",
        r"\baccount 0",
        r"\baccount 1",
        r"\baccount 2",
        r"\baccount 3",
        r"\baccount 4",
        r"\baccount 5",
        r"\baccount 6",
        r"\baccount 7",
        r"\baccount 8",
        r"\baccount 9",
        r"\baccount no",
        r"\bbank ",
        r"\baccount number",
        r"\bpayment details",
        r"\bpayment address",
        r"\bpayment link",
        r"\bpayee",
        r"\bwallet",
        r"\bdeposit address",
        r"\bpayout",
        r"\bbeneficiary",
        r"\brecipient address",
        r"\brecipient account",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:use|put|insert|print|replace|enter|set|write|state|swap|change|show|substitute|give|route|redirect|direct|send|pay|exchange)\b... (?:iban|bank (?:account|details|block|data)|account number|wallet(?: address)?|(?:crypto|bitcoin|ethereum) address|payment (?:details|address|link)|payee|beneficiary|payout (?:account|address)|deposit address|recipient (?:address|account))\b",
    r"\b(?:iban|bank (?:account|details|block|data)|account numbers?|wallet(?: address)?|(?:crypto|bitcoin|ethereum) address|payment (?:details|address|link)|payee|beneficiary|payout (?:account|address)|deposit address|recipient<'>?s? (?:address|account|number))\b... (?:substitute|replace|swap|use|put|insert|print|change|enter|exchange)\b",
    r"\b(?:invoices?|bills|payments|refunds)\b... (?:with|to|carry|show|name)(?: <any>){0,3} account\b",
    r"\b(?:put|use|print|write|enter|state|give) (?:<any> )?account (?:no\.? |number )?\d[\d -]{7,}",
]);

/// An account that is written out.
static WRITTEN: Phrases = Phrases::new(words![
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}",
    r"\b0x[0-9a-f]{32,40}\b|\bbc1[0-9a-z]{20,}|\b[13][a-km-zA-HJ-NP-Z1-9]{25,34}\b",
    r"\baccount (?:no\.? |number )?\d[\d -]{7,}",
    r"\b(?:paypal\.me|buy\.stripe\.com)/|\b[a-z0-9._+-]+@[a-z0-9-]+\.[a-z]+",
]);

/// Phrases that set aside the data that the user has.
static ASIDE: Phrases = Phrases::new(words![
    r"\b(?:irrespective of|regardless of|no matter (?:what|which)|whatever <any>(?: <any>){0,3} (?:says?|states?|names?|contains?)|even (?:if|when|though)|instead of (?:the|what)|in place of|rather than the|replac(?:e|es|ing)|change (?:<any> ){0,3}(?:payee|beneficiary|iban|recipient)|swap|substitute|ignor(?:e|es|ing)|out of date|outdated|wrong since|(?:our|the) new account|the change|exchange|obsolete|substitute|before <user> sees|no longer valid)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let signs = [&WRITTEN, &ASIDE, &COVERT, &NO_CONSENT];
    if signs.iter().filter(|sign| sign.is_in(text)).count() < 2 {
        return Vec::new();
    }
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(Hit::at)
        .collect()
}
