//! The text claims to speak for the system.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::PROSE_OR_FENCE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_AUTHORITY",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "claims an authority that a skill does not have",
    why: "What a skill says has the weight of a skill. Text that dresses up as the system, an administrator or the vendor wants more.",
    fix: "say what is to be done without the claim",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\boverride",
        r"\bsystem: ",
        r"\badmin: ",
        r"\badministrator: ",
        r"\bdeveloper: ",
        r"\boperator: ",
        r"\bsystem] ",
        r"\bdirective",
        r"\bhidden instruction",
        r"\bsecret instruction",
        r"\bsystem instruction",
        r"\bsystem message",
        r"\bnew instructions",
        r"\bpriority",
        r"\bprecedence",
        r"\bsupersede",
        r"\branks above",
        r"\branks over",
        r"\branks higher",
        r"\brank above",
        r"\bstands above",
        r"\bstand above",
        r"\bprevail",
        r"\boutrank",
        r"\bno effect",
        r"\bwithout effect",
        r"\bunbeachtlich",
        r"\bauthoriz",
        r"\bauthoris",
    ],
    check: Check::Phrases(&[&PHRASES], |unit| PHRASES.hits(unit.text())),
};

static PHRASES: Phrases = Phrases::new(words![
    r"(?:^|[\n>*\[])\s*(?:system|admin(?:istrator)?|developer|operator)\s*[:\]]\s*(?:the )?(?:assistant|you|agent|model|ai) (?:must|shall|will now|are now|are hereby)\b",
    r#"(?:^|[\[<*#("\s])(?:system|admin(?:istrator)?|root|developer|security|operator|anthropic|openai|emergency|safety)[ _-](?:override|directive|mandate|takeover)(?::|\]|>|\*\*|\)|$| (?:code|active|activated|engaged|enabled|accepted|in effect))"#,
    r"[\[<(](?:hidden|secret|system|covert|internal|urgent|critical) (?:system )?(?:instructions?|directives?|prompt|commands?|message)[\]>)]",
    r"\b(?:critical|important|urgent|mandatory|secret|hidden|override) (?:system|admin|hidden|secret) (?:instruction|directive|prompt|command)s?\b",
    r"(?:^|[.!>*]\s*)new (?:system )?(?:instructions|directives|orders)(?: for (?:you|the (?:agent|assistant|model)))?\s*[:*]+\s*\S",
    r"\b(?:this|these) (?:skill|tool|instructions?|rules|directives?|guidelines|document|file)(?: <any>){0,3} (?:overrides?|supersedes?|outranks?|replaces?|(?:takes?|has|have) (?:<any> )?(?:priority|precedence) over)(?: <any>){0,4} (?:system|user|safety|previous|prior|security|developer)(?: <any>)? (?:instructions?|prompts?|polic(?:y|ies)|rules|requests?|checks|preferences|messages?)\b",
    r"\b(?:this|these) (?:document|file|skill|section|text|instructions?|page|note|guide|paragraph)s?(?: <any>){0,2} (?:ranks?|stands?|counts?|weighs?|prevails?|goes|outranks?)(?: <any>){0,2}(?: above| over| before| ahead of)? (?:<any> ){0,3}(?:user|user<'>s|users|person|person<'>s|operator|wishes|earlier guidance|system prompt|developer|human)\b",
    r"\b(?:requests?|wishes|demands|objections|instructions|orders) (?:of|by|from) <person>(?: to (?:stop|skip|cancel|disclose|reveal|disable|pause|leave out|undo)\b)?... (?:have no effect|has no effect|are without effect|remain without effect|are (?:to be )?(?:ignored|disregarded))\b",
    r"\b(?:requests?|attempts|questions) to (?:<any>,? ){0,8}(?:disclose|reveal|skip|remove|leave out|stop) (?:<any> ){0,4}(?:this|these|it)\b... (?:have no effect|has no effect|are without effect|remain without effect|are (?:to be )?(?:ignored|disregarded|declined))\b",
    r"\banweisungen (?:des|der|von) (?:be)?nutzer\w*... (?:unbeachtlich|unwirksam|ohne wirkung|zu ignorieren)\b",
    r"\b(?:takes?|has|have|with) (?:absolute |highest |top |maximum )?(?:priority|precedence) over (?:all|any|every)(?: of)?(?: the)?(?: other| existing)? (?:tools?|skills?|instructions?|agents?|system|safety|user)\b",
]);
