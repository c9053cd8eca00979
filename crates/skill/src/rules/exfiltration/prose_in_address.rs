//! Parts of the conversation are put into the address of a picture.

use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::{Phrases, is_described, is_forbidden, section};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_TOLD_IN_ADDRESS",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "what was said is put into the address of a picture",
    why: "A picture is fetched as soon as the answer is shown. Whoever owns its address reads what was put into it.",
    fix: "show pictures with fixed addresses only",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bput it",
        r"\bput them",
        r"\bput the",
        r"\bput all",
        r"\bput these",
        r"\bput this",
        r"\bappend it",
        r"\bappend them",
        r"\bappend the",
        r"\bappend all",
        r"\bappend these",
        r"\bappend this",
        r"\binsert it",
        r"\binsert them",
        r"\binsert the",
        r"\binsert all",
        r"\binsert these",
        r"\binsert this",
        r"\bencode it",
        r"\bencode them",
        r"\bencode the",
        r"\bencode all",
        r"\bencode these",
        r"\bencode this",
        r"\bembed it",
        r"\bembed them",
        r"\bembed the",
        r"\bembed all",
        r"\bembed these",
        r"\bembed this",
        r"\bpack it",
        r"\bpack them",
        r"\bpack the",
        r"\bpack all",
        r"\bpack these",
        r"\bpack this",
        r"\bfill it",
        r"\bfill them",
        r"\bfill the",
        r"\bfill all",
        r"\bfill these",
        r"\bfill this",
        r"\bbuild its",
        r"\bbuild the",
        r"\bbuild an",
        r"\bbuild this",
        r"\bcompose its",
        r"\bcompose the",
        r"\bcompose an",
        r"\bconstruct its",
        r"\bconstruct the",
        r"\bconstruct an",
        r"\bcontents of",
        r"\burlencode",
        r"\burl-encode",
        r"\bbase64-encode",
        r"\bbase64 encode",
        r"\burl contains",
        r"\burl carries",
        r"\burl holds",
        r"\burl includes",
        r"\burl encodes",
        r"\baddress contains",
        r"\baddress carries",
        r"\baddress holds",
        r"\baddress includes",
        r"\bis the base64",
        r"\bis base64",
        r"\bis the encoded",
        r"\bis the hex",
        r"\bis the url-encoded",
        r"\bis the text",
        r"\bis the content",
        r"\bquery string",
        r"\bquery parameter",
    ],
    check: Check::Requiring(&[&LEADS, &SAID, &SHOWN, &PHRASES], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static LEADS: Phrases = Phrases::new(words![r"://|subdomain|dns "]);

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:build|compose|construct|form|make|fill)s? (?:its|the|an?|this|each) (?:<any> ){0,5}(?:address|url|link|src|query(?: string)?)(?: <any>){0,5} (?:from|with|out of|of)\b",
    r"\b(?:url-?encode|encode|base64\w*|append|put|insert|pack|embed|fill)s? (?:<any>,? ){0,8}(?:after|behind|into|in|to|as|with) (?:<any> ){0,4}(?:address|url|link|query(?: string)?|query parameter|subdomain|host ?name|fragment|[`?&]*\w{1,12}=)",
    r"\b(?:whose|its|the) (?:url|address|src|link|query)(?: <any>)? (?:contains?|carries|carry|holds?|includes?|encodes?) (?:<any> ){0,4}(?:names? of|title|messages?|conversation|prompt|question|keys|secrets|answers?)",
    r"\b(?:where|in which|with)[ {<\[`]+[A-Z_]{1,20}[ }>\]`]+(?:is|is the) (?:base64|encoded|encoding|hex|url-encoded|contents?|text|copy)\b",
    r"\b(?:embed|encode|put|append|pack|insert)\b...(?:<secretfile>|<loot>)... (?:as|in|into|to) (?:<any> ){0,3}(?:subdomain|host ?name|dns (?:name|query|label)|query string|image (?:url|address))",
]);

/// Content of the conversation, and secrets that came up in it.
static SAID: Phrases = Phrases::new(words![
    r"<secretfile>|<loot>|<user><'>?s? (?:last |latest |own )?(?:prompts?|messages?|questions?|inputs?|words|answers?)\b",
    r"\b(?:conversations?|transcripts?|chat history|messages|exchange|dialogue|(?:any |the |all )?(?:keys|secrets|credentials|passwords|tokens)|system prompt|context window|what <user> (?:said|wrote|typed|asked)|names of (?:<any> )?(?:participants|people|persons|customers|clients|users)|(?:last|previous|recent) (?:answers?|questions?|prompts?))\b",
]);

/// Elements that are fetched when they are shown.
static SHOWN: Phrases = Phrases::new(words![
    r"!\[|<img\b|\b(?:subdomain|dns (?:name|query|label))s?\b|\b(?:pixels?|badges?|dividers?|banners?|logos?|pictures?|images?|icons?|favicons?|preview)\b",
]);

/// Names that are looked up, and carry the data in front of them.
static NAMED: Phrases = Phrases::new(words![r"\b(?:subdomain|dns (?:name|query|label))s?\b"]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let found: Vec<_> = PHRASES
        .ranges(text)
        .into_iter()
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .collect();
    if found.is_empty() || !SAID.is_in(text) {
        return Vec::new();
    }
    let (_, after) = section(unit, 200);
    let named = NAMED.is_in(text);
    let leads = named || [text, after].iter().any(|part| part.contains("://"));
    let shown = named || [text, after].iter().any(|part| SHOWN.is_in(part));
    if leads && shown { found.into_iter().map(Hit::at).take(1).collect() } else { Vec::new() }
}
