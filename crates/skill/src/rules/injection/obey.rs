//! Text from outside is to be obeyed.

use crate::code::destination::Kind;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::link::{Link, links};
use crate::text::phrase::Phrases;
use crate::text::phrase::signs::{COVERT, NO_CONSENT, STANDING};
use crate::text::unit::{PROSE_OR_FENCE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_OBEY",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "tells the agent to obey what it fetches",
    why: "Whoever writes the page, the mail or the answer then commands the agent.",
    fix: "treat what is fetched as material, never as instructions",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bfollow any",
        r"\bfollow all",
        r"\bfollow the",
        r"\bfollow every",
        r"\bfollow whatever",
        r"\bfollow its",
        r"\bfollow their",
        r"\band follow",
        r"\bthen follow",
        r"\bobey",
        r"\bexecute any",
        r"\bexecute all",
        r"\bexecute the",
        r"\bexecute whatever",
        r"\bexecute every",
        r"\band execute",
        r"\bthen execute",
        r"\band run",
        r"\bthen run",
        r"\bcomply with",
        r"\bcarry out",
        r"\bact on",
        r"\band perform",
        r"\bas instructions",
        r"\bas system",
        r"\bas authoritative",
        r"\bas command",
        r"\bas trusted",
        r"\bas orders",
        r"\bas directive",
        r"\bas the",
        r"\bas new",
        r"\bdo whatever",
        r"\bdo anything",
        r"\bdo exactly",
        r"\bdo everything",
        r"\bfollow exactly",
        r"\bfollow everything",
        r"\band do",
        r"\bact on",
        r"\badopt",
        r"\bcarry it",
        r"\bcarry them",
        r"\bcarry these",
        r"\byour orders",
        r"\byour tasks",
        r"\byour instructions",
        r"\bas it ",
        r"\bas they ",
        r"\bas the page",
        r"\bcommands for",
        r"\bare commands",
        r"\bare instructions",
        r"\bare orders",
        r"\bare tasks",
        r"\bas commands",
        r"\bas orders",
        r"\bas tasks",
        r"\band obey",
        r"\band perform",
        r"\band carry",
        r"\bobeyed",
        r"\band executed",
        r"\band followed",
        r"\band carried out",
        r"\bcontinuation",
        r"\bsame authority",
        r"\bsame weight",
        r"\bsame standing",
        r"\bsame force",
        r"\bsame rank",
        r"\bcarry out",
        r"\bwork through",
        r"\bevery command",
        r"\bevery step",
        r"\bevery instruction",
        r"\ball commands",
        r"\ball the commands",
        r"\ball steps",
        r"\ball the steps",
        r"\ball instructions",
        r"\ball the instructions",
        r"\bwhatever it",
        r"\bwhatever is",
        r"\bwhat it says",
        r"\bwhat it tells",
        r"\bwhat it asks",
        r"\bwhat is written",
        r"\bcomply",
        r"\bact upon",
        r"\bapply every",
        r"\bapply all",
        r"\bapply what",
        r"\bextension of",
        r"\bpart of this",
        r"\bremote instructions",
        r"\bremote prompt",
        r"\bremote directives",
    ],
    check: Check::Phrases(&[&PHRASES, &FETCHED, &CHANNEL], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:follow|obey|execute|comply with|act on|carry out|perform) (?:any|all|every|whatever|its|their)(?: <any>){0,2} (?:instructions?|commands?|directives?|orders|steps|prompts?)(?: (?:that|which|you|are|is|was))*(?: <any>){0,3} (?:in|on|by|from|within|inside|at) (?:<any> ){0,3}(?:fetched|web ?pages?|web content|pages?|responses?|remote|urls?|websites?|retrieved|emails?|http|downloaded|issue|comments?|search results|the server)\b",
    r"\b(?:follow|obey|execute|comply with|act on|carry out|perform) the (?:<any> )?(?:instructions?|commands?|directives?|orders)(?: <any>){0,3} (?:in|on|by|from|within|inside) (?:<any> ){0,2}(?:fetched|web ?pages?|remote|retrieved|downloaded)\b",
    r"\b(?:treat|consider|regard|interpret) (?:<any> ){0,5}(?:contents?|responses?|output|text|results?|messages?|file|reply|page) (?:<any> ){0,4}as (?:<any> ){0,2}(?:instructions?|system (?:instructions?|prompt|messages?)|authoritative (?:instructions?|commands?)|commands?|orders|directives?)\b",
    r"\b(?:do|follow|execute) (?:whatever|anything|exactly what|everything)(?: <any>){0,2} (?:the )?(?:page|response|server|url|file|site|content|endpoint) (?:says|tells|returns|contains|instructs|asks)\b",
    r"\bremote (?:instructions|prompt|directives)(?: <any>){0,3} (?:override|replace|take precedence|must be followed)\b",
]);

/// An address that is read and obeyed at once.
static FETCHED: Phrases = Phrases::new(words![
    r"\b(?:fetch|load|retrieve|read|pull|get|download|request|poll)(?: for)? (?:<any> ){0,3}(?:instructions?|commands?|tasks?|directives?|prompts?|orders) (?:from|at) ...https?://...\b(?:execute|follow|obey|run|perform|carry)\b",
    r"\b(?:fetch|load|retrieve|read|pull|curl|request|query|poll)\b...https?://[^\s)>\]`]+...\b(?:and|then),? (?:<any> ){0,2}(?:follow|obey|execute|do|perform|carry out|comply with) (?:<any> ){0,3}(?:instructions?|commands?|directives?|says|whatever|steps|contents?)\b",
]);

/// A remote page is obeyed. Together with one of [`GRAVER`], it is a way to command the agent at any time.
static CHANNEL: Phrases = Phrases::new(words![
    r"\b(?:treat|regard|consider|accept|handle|take) (?:<any> ){0,4}as (?:<any> ){0,3}(?:continuation|extension|part|addendum|amendment|successor) (?:of|to) (?:<any> ){0,2}(?:file|skill|document|instructions?|section|rules|guide)\b",
    r"\b(?:has|have|carries|carry|with|of) the same (?:authority|weight|standing|force|rank|validity)\b",
    r"\b(?:carry out|execute|run|perform|apply|follow|obey|work through|complete) (?:every|all|each|any)(?: of)?(?: the)?(?: <any>)? (?:commands?|steps?|instructions?|orders|lines?|tasks?)(?: <any>){0,4} (?:on|in|from|of|at|there)\b",
    r"\b(?:do|follow|execute|carry out|perform|obey|apply)(?: exactly| precisely)? (?:whatever|everything|anything|what)(?: <any>){0,2} (?:it|they|that|page|file|there|list|text|document)(?: <any>)? (?:lists?|says?|contains?|tells?|asks?|wants?|demands?|prescribes?|instructs?|states?|written)\b",
    r"\b(?:retrieve|fetch|read|load|get|open|download|pull|consult) (?:them|it|these|those|that)(?: <any>){0,6} and (?:<any> )?(?:execute|obey|run|perform|carry out|act on|comply with|do what) (?:them|it|these|those|what)\b",
    r"\b(?:its|the|their) (?:lines?|contents?|text|words|entries|sentences) (?:are|is|count as|become|serve as) (?:<any> ){0,2}(?:commands?|instructions?|orders|tasks?)\b",
    r"\bcarry (?:it|them|these|those) out\b|\bcontains? (?:your|the agent<'>s) (?:orders|tasks|instructions)\b",
    r"\b(?:proceed|continue|act|go on|behave|do) (?:exactly |just )?as (?:it|they|that page|the page) (?:directs?|says?|tells?|instructs?|prescribes?|demands?)\b",
    r"\badopt (?:them|it|these|those|whatever)\b",
    r"\b(?:retrieve|fetch|read|load|get|open|download|pull|consult) and (?:<any> )?(?:execute|obey|run|perform|carry out|act on|comply with) (?:them|it|these|those|what)\b",
    r"\b(?:must|shall|has to|have to|is to|are to|should) be (?:<any> )?(?:fetched|read|loaded|retrieved|opened) and (?:<any> )?(?:obeyed|executed|followed|carried out|performed)\b",
    r"\b(?:comply with|obey|act (?:up)?on|act according to|follow) (?:it|them|its contents?|what it says|that|the (?:text|page|file|list))(?: <any>)?(?:[.,;:]|$| (?:without|before|at|exactly|even|and|to the)\b)",
]);

/// Signs that make obedience a channel: it is repeated, ranks above others, wants rights, or happens without asking.
static GRAVER: Phrases = Phrases::new(words![
    r"\b(?:outweighs?|(?:remainder|rest|other half) of (?:this|the) (?:skill|document|file)|your orders|(?:continuation|extension|addendum|amendment) (?:of|to)|it wins|(?:takes?|has) (?:precedence|priority)|prevails?|overrid(?:e|es))\b",
    r"\b(?:elevated|administrator|admin|root|sudo)\b|\b(?:commands?|instructions?|orders) for you\b|\bwhatever <user> (?:decides|says|wants)\b",
    r"\bexactly as (?:written|they|it|given|listed)\b|\bto the letter\b|\bverbatim\b|\bbefore (?:you )?(?:answer|reply|respond)(?:ing)?\b|\bbefore (?:anything|everything) else\b|\bas (?:though|if) (?:it|they) (?:were|was|had|stood|is|are)\b|\bat (?:startup|start-up|every start)\b",
]);

/// Returns the sources that are obeyed: not a vendor's, and graver than a guide.
fn channels(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let found = CHANNEL.hits(text);
    let known = |link: &Link<'_>| matches!(link.to.kind, Kind::Vendor | Kind::Private);
    if found.is_empty() || links(text).iter().all(known) {
        return Vec::new();
    }
    let again = STANDING.is_in(text) && DUTY.is_in(text);
    let grave = again || [&GRAVER, &COVERT, &NO_CONSENT].iter().any(|sign| sign.is_in(text));
    if grave { found } else { Vec::new() }
}

/// It is obeyed, not only read.
static DUTY: Phrases = Phrases::new(words![
    r"\b(?:comply|obey|continuation|extension|addendum|amendment|carry out|execute|perform|obeyed|adopt|carry (?:it|them) out|(?:are|is) (?:commands?|instructions?|orders) for you|whatever|what it (?:says|tells|asks|lists))\b",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let mut found = PHRASES.hits(text);
    found.extend(channels(unit));
    for hit in FETCHED.hits(text) {
        let known = links(text.get(hit.range.clone()).unwrap_or_default())
            .iter()
            .all(|link| matches!(link.to.kind, Kind::Vendor | Kind::UserContent | Kind::Private));
        found.push(Hit { severity: known.then_some(Severity::Warning), ..hit });
    }
    found
}
