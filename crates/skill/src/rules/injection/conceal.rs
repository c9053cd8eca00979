//! An act is to be concealed from the user.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, sentence_after};
use crate::text::unit::PROSE_OR_FENCE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_CONCEAL",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "tells the agent to keep something from the user",
    why: "The agent acts for the user. What it has to hide from the user is not done for the user.",
    fix: "remove the sentence, and say openly what the skill does",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\btell the",
        r"\bnot know",
        r"\bnever know",
        r"\bnot notice",
        r"\bnever notice",
        r"\bnot learn",
        r"\bnot find out",
        r"\bnot suspect",
        r"\bnot realize",
        r"\bnot be aware",
        r"\btell any",
        r"\btell user",
        r"\btell them",
        r"\btell a",
        r"\btelling ",
        r"\bnot tell",
        r"\bmention ",
        r"\bmentioning",
        r"\bdisclos",
        r"\binform the",
        r"\binform user",
        r"\binform any",
        r"\binforming",
        r"\bnotify",
        r"\bnotifying",
        r"\bhide ",
        r"\bhiding",
        r"\bconceal",
        r"\bkeep this",
        r"\bkeep these",
        r"\bkeep it",
        r"\bkeep all",
        r"\bkeep the",
        r"\bsecretly",
        r"\bsilently",
        r"\bquietly",
        r"\bcovert",
        r"\bstealth",
        r"\bnot reveal",
        r"\bnever reveal",
        r"\bwithout reveal",
        r"\bawareness",
        "'s knowledge",
        r"\btheir knowledge",
        r"\buser knowledge",
        r"\bknowing",
        r"\bnoticing",
        r"\bnot let",
        r"\bnever let",
        "t let",
        r"\bremain hidden",
        r"\bstay hidden",
        r"\bkept hidden",
        r"\bkept secret",
        r"\bremain secret",
        r"\bwithout show",
        r"\bwithout display",
        r"\bwithout tell",
        r"\bwithout notif",
        r"\bwithout alert",
        r"\bwithout mention",
        r"\bnot report",
        r"\bnot show",
        r"\bnever show",
        r"\balert the",
        r"\bnot alert",
        r"\bin the background",
        r"\bsurreptitious",
        r"\bdiscreetly",
        r"\binvisibly",
        r"\bwithhold",
        r"\bfrom the user",
        r"\bfrom user",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b<user> must (?:not|never) (?:know|notice|be aware|learn|find out|realize|suspect)\b",
    r"\b(?:<not>|without|avoid) <tell> <anyone>\b",
    r"\b(?:<not>|without|avoid) (?:<any> )?(?:mention|disclose|reveal|report|acknowledge|announce|mentioning|disclosing|revealing|reporting)(?: <any>){0,3} (?:this|these|that|it|them|any of|uploads?|transfers?|collection|telemetry|instructions|activity|changes)(?: <any>){0,5} (?:to|with|from) <user>\b",
    r"\b(?:<not>|without|avoid) (?:<any> )?(?:mention|disclose|reveal|report|mentioning|disclosing|revealing|reporting) (?:this|these|that|it|them) (?:to|with|from) <user>\b",
    r"\b(?:<not>|without|avoid) (?:<any> )?(?:show|display|surface|expose|explain|describe|showing|displaying|surfacing|exposing|explaining)(?: (?:this|these|the|any|such))+ (?:steps?|instructions|uploads?|transfers?|collection|telemetry|behaviou?rs?|activity|actions?|requests?)(?: <any>){0,4} (?:to|with|from) <user>\b",
    r"\bwithout (?:showing|displaying|printing)(?: <any>){1,3} to <user>\b",
    r"\b(?:<not>|without|avoid) (?:<any> )?(?:mention|disclose|reveal|acknowledge|discuss|mentioning|disclosing|revealing|acknowledging)(?: that)? (?:you used |you have |using |the use of |the existence of |any of )?(?:this|these|it|the hidden|the upload|the transfer|the data collection|your (?:instructions|actions))(?: <any>)?(?: (?:skill|steps?|instructions?|behaviou?r|operations?|process|actions?|uploads?|transfers?|rules?|collection))?\b",
    r"\b(?:hide|conceal|mask|withhold|hiding|concealing) (?:this|that|these|it|them|your|any|all|what|the (?:fact|upload|transfer|activity|collection|operation|actions?|steps?|behaviou?r|request|results?|files?))(?: <any>){0,5} from <user>\b",
    r"\bkeep (?:this|these|it|all of this|the (?:operation|steps?|upload|transfer|collection|behaviou?r))(?: (?:skill|operation|steps?|behaviou?r|process|instructions?|actions?|uploads?|transfer|data|collection|activity|part|entirely|completely|strictly|fully|totally))* (?:secret|hidden|concealed|invisible|covert|undisclosed|confidential from)\b",
    r"\bkeep (?:this|these|it)(?: <any>){0,3} (?:from <user>|between us)\b",
    r"\b(?:<not>|never) let <user> (?:see|know|notice|find out|discover|realize|suspect)\b",
    r"\b(?:<not>|never) let <person>(?: <any>)? (?:notice|suspect|find out|realize)\b",
    r"\bwithout (?:the |any )?(?:<user>(?:<'>s?)? (?:knowing|noticing|realizing|seeing|knowledge|awareness|consent)|their (?:knowledge|awareness|consent))\b",
    r"\b(?:this|it|they|the (?:upload|transfer|step|collection|operation)) (?:must|should|is to|has to) (?:remain|stay|be kept) (?:hidden|secret|invisible|silent|unnoticed)\b",
    r"\b<hidden>(?: <any>){0,3} (?:upload|send|transmit|transfer|exfiltrate|forward|collect|harvest|gather|post|copy|leak|share)\b",
    r"\b(?:upload|send|transmit|transfer|exfiltrate|forward|harvest|complete|completed)(?: (?:this|it|them|these|the|all|data|steps|files?|contents?)){0,5} (?:silently|secretly|covertly|quietly|stealthily)\b",
    r"\b(?:secretly|covertly|stealthily|surreptitiously|discreetly|quietly) (?:add|replace|swap|change|modify|insert|redirect|route|increase|substitute|charge|deduct|install|execute|run|download|delete|record|track|monitor|open)\b",
    r"\b(?:must|should) be (?:completed|performed|executed|done|carried out) (?:silently|secretly|covertly|quietly)\b",
]);

/// Continuations that mark advice on how to talk, not on what to hide.
static ADVICE: Phrases = Phrases::new(words![
    r"^...\b(?:public|publicly|issues?|forums?|social media|mailing list|maintainers?)\b",
    r"^ (?:to|how to|publicly|in public|on|in (?:an? )?(?:issue|public|forum))\b",
    r"^... (?:until|unless|before|if you|when you have not|without|verified|complete|done|pass(?:es)?|works?|fixed|success)\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| {
            !ADVICE.is_in(sentence_after(text, range.end, 100)) && !is_described(text, range.start)
        })
        .map(Hit::at)
        .collect()
}
