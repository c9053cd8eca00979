//! Signs that a text describes an act, in the text itself and around it.

use std::ops::Range;

use crate::text::phrase::{Phrases, is_described, sentence_after, sentence_before};
use crate::text::unit::{Place, Unit};
use crate::words::words;

/// Weighs the signs in the sentence, the row or the fence itself.
pub(super) fn here(unit: &Unit<'_>, span: &Range<usize>, is_words: bool) -> u8 {
    match unit.place {
        Place::Fence => in_fence(unit.text(), span.start),
        Place::Prose | Place::Heading | Place::Front => in_prose(unit, span, is_words),
        _ => 0,
    }
}

/// Weighs the signs around it: the nearest heading that says anything, and the paragraph before.
pub(super) fn around(unit: &Unit<'_>) -> u8 {
    let headings: Vec<&str> = unit.headings().collect();
    let own = usize::from(unit.place == Place::Heading);
    // The title of a file with sections says what it is about, and counts there.
    let titles = usize::from(headings.len() > 1 + own);
    let mut near = headings.iter().skip(titles).rev().skip(own).take(2);
    let nearest = near.find(|heading| SPEAKS.is_in(heading) || DOES.is_in(heading));
    let heading = nearest.is_some_and(|heading| SPEAKS.is_in(heading) && !is_doing(heading));
    let before = lead(unit);
    let lead = if STRONG.is_in(before) { 2 } else { u8::from(SPEAKS.is_in(before)) };
    let lead = if before.trim_start().starts_with('>') { 1.max(lead) } else { lead };
    let answered = u8::from(MENDED.is_in(behind(unit)));
    u8::from(heading) + answered + if unit.place == Place::Fence { lead } else { lead.min(1) }
}

/// Returns the beginning of the paragraph after a fence.
fn behind<'a>(unit: &Unit<'a>) -> &'a str {
    if unit.place != Place::Fence {
        return "";
    }
    let after = unit.after(BEHIND);
    let after = after.split_once('\n').map_or("", |(_, after)| after).trim_start();
    after.split("\n\n").next().unwrap_or_default()
}

/// Number of bytes after a fence that are examined.
const BEHIND: usize = 200;

/// Phrases that follow an example of what is wrong.
static MENDED: Phrases = Phrases::new(words![
    r"^[\s*_>|-]*(?:fix|the fix|verdict|why|mitigation|remediation|detection|detect|defen[cs]e|prevention|instead|safe|correct|never|do not|don<'>t|this is (?:<any> ){0,3}(?:attack|malicious|dangerous|bad|exfiltration|injection)|malicious|what (?:it|this) does|explanation|indicators?)\b",
]);

/// Returns true if the heading says that something is set up there. A text about attacks has steps and a usage of its own.
pub(super) fn is_set_up(unit: &Unit<'_>, theme: u8) -> bool {
    let does = |heading: &str| is_doing(heading) && (theme < 2 || SETS_UP.is_in(heading));
    unit.headings().last().is_some_and(does) && !STRONG.is_in(lead(unit)) && !is_cited(unit)
}

/// Returns true if the preceding words say to do what is in the span.
pub(super) fn is_told_to(unit: &Unit<'_>, span: &Range<usize>, theme: u8) -> bool {
    let lead = lead(unit);
    if unit.place != Place::Fence {
        let before = sentence_before(unit.text(), span.start, 80);
        return DONE_HERE.is_in(&unquoted(before)) && !REFUSED.is_in(before) && !THIRD.is_in(before);
    }
    let said = unquoted(lead);
    let last = said.trim_end().rsplit(['.', '\n']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    let heading = unit.headings().last().unwrap_or_default();
    let lacks = COMPONENT.is_in(&said) || COMPONENT.is_in(heading) && !SPEAKS.is_in(heading);
    let told =
        TOLD_TO.is_in(&said) || theme >= 2 && (IMPERATIVE.is_in(last) || lacks) && !SPEAKS.is_in(&said);
    told && !STRONG.is_in(lead) && !lead.trim_start().starts_with('>')
}

/// Returns a text without its quoted parts, or the part after an unclosed quote: those are the words of another speaker.
fn unquoted(text: &str) -> String {
    let plain = text.replace(['\u{201c}', '\u{201d}', '\u{201e}'], "\"");
    let said = plain.split('"').step_by(2).collect::<Vec<_>>().join("\"");
    // An unclosed code span at the end is the object of the sentence.
    match said.rsplit_once('`') {
        Some((before, code)) if said.matches('`').count() % 2 == 1 && !code.is_empty() => {
            format!("{before}`")
        }
        _ => said,
    }
}

/// A command that is the object of its sentence.
static DONE_HERE: Phrases = Phrases::new(words![
    r"\b(?:run|execute|paste|type|enter|install|use|call|invoke|start|launch)(?: <any>){0,4}[\s`:]*$",
]);

fn is_doing(heading: &str) -> bool {
    DOES.is_in(heading) && !SPEAKS.is_in(heading)
}

/// Headings of sections that order an act.
static DOES: Phrases = Phrases::new(words![
    r"\b(?:set ?up|install(?:ation|ing)?|usage|quick ?start|getting started|prerequisites?|step \d+|how to use|initiali[sz]ation|configuration|bootstrap|requirements?|before you (?:start|begin)|activation|first run|instructions)\b",
]);

/// Headings of steps that come before anything else.
static SETS_UP: Phrases = Phrases::new(words![
    r"\b(?:set ?up|install(?:ation|ing)?|quick ?start|getting started|prerequisites?|initiali[sz]ation|bootstrap|requirements?|before you (?:start|begin)|activation|first run|instructions)\b",
]);

/// Headings of sections that describe an act.
static SPEAKS: Phrases = Phrases::new(words![
    r"\b(?:malicious|attack(?:s|er|ers|ing)?|attack (?:patterns?|vectors?|surface)|vulnerab\w+|insecure|unsafe|dangerous|exploit\w*|payloads?|indicators?|iocs?|red flags?|suspicious|threats?|injections?|exfiltration|compromised?|malware|phishing|anti-?patterns?|don<'>ts?|not to do|never|avoid|forbidden|prohibited|bad|wrong|incorrect|look for|warning signs|detect\w*|signatures?|reverse shells?|deny ?list|block ?list|blocked|rejected?|risks?|risky|abuse|poison\w*|jailbreaks?|evasion|obfuscat\w+|privilege escalation|lateral movement|persistence (?:mechanisms?|techniques?)|credential (?:theft|access|harvest\w*)|hunt\w*|techniques?|guardrails?|security (?:rules|checks?|considerations|review)|test cases?|adversarial|examples? of|findings?|rules|cheat ?sheets?|test prompts?|try against|triage|compromise)\b",
    r"\xe2\x9d\x8c|\xf0\x9f\x9a\xa9|\xe2\x9b\x94|\xf0\x9f\x9a\xab",
]);

/// Words that leave no doubt that something is not to be done.
static STRONG: Phrases = Phrases::new(words![
    r"\b(?:malicious|attackers?|vulnerable|insecure|dangerous|suspicious|red flags?|never|do not|don<'>t|avoid|bad|wrong|unsafe|anti-?pattern|adversar(?:y|ies)|malware|compromised|exploit(?:s|ed|ation)?|must not|detects?|indicators?)\b",
    r"\xe2\x9d\x8c|\xf0\x9f\x9a\xa9|\xe2\x9b\x94|\xf0\x9f\x9a\xab",
]);

/// Words that send the reader to what follows.
static TOLD_TO: Phrases = Phrases::new(words![
    r"\b(?:run|execute|paste|copy|install|start|enter|type|use|apply|launch) (?:<any> ){0,5}(?:this|following|command|commands|below|first|script|it|now|before|once)\b",
]);

/// Components that a skill is said to lack.
static COMPONENT: Phrases = Phrases::new(words![
    r"\b(?:core|engine|helper|driver|companion|connector|signature database|definitions|updater?|agent binary)\b",
]);

/// A third party does it.
static THIRD: Phrases = Phrases::new(words![
    r"\b(?:they|people|victims?|users|employees|attackers?|criminals|somebody|someone|a user|the user (?:was|is|had|has))\b",
]);

/// A sentence that begins with what is to be done.
static IMPERATIVE: Phrases = Phrases::new(words![
    r"^\W*(?:\d+\W+)?(?:(?:first|then|now|next|finally|please|before (?:<any> ){1,4}|after (?:<any> ){1,4}|once(?: <any>){1,4}|to (?:<any> ){1,5}|for (?:<any> ){1,4})\W*)?(?:run|execute|install|download|start|launch|paste|enter|type|use|fetch|update|load|enable|activate|apply|open|copy|add|set|call|invoke|register|refresh|pull|get|do|put|make)\b",
]);

/// Negations that leave the thing itself undone: `never`, then at most four words.
static REFUSED: Phrases = Phrases::new(words![
    r"\b(?:never|do not|don<'>t|must not|mustn<'>t|should not|shouldn<'>t|cannot|can<'>t|avoid|avoiding|refuse to|instead of|rather than|reject|no)(?: <any>){0,4}[\s`\x22'*_(:]*$",
]);

/// Negations of something else.
static NOT_REFUSED: Phrases = Phrases::new(words![
    r"\b(?:never|must not|should not|do not|don<'>t|no)(?: <any>)? (?:have|need|see|know|want|already|exist|hesitate|forget|fail|worry|wait|ask|skip|longer|problem)\b",
]);

/// Actors that do such things, or say them.
static OTHERS: Phrases = Phrases::new(words![
    r"\b(?:attackers?|adversar(?:y|ies)|malware|threat actors?|hackers?|malicious|indicators?|signs of|injections?|injected|payloads?|jailbreaks?|(?:an? )?(?:compromised|hostile|poisoned) <any>|detects?|detecting|flags?|red flags?|looks? for|watch for|attempts? to|tries to|(?:that|who|which) try to|phrases? like|treat(?: <any>){0,4} as (?:an? )?(?:<any> )?(?:attack|untrusted|suspicious|injection))\b",
    r"\b(?:page|site|mail|email|message|text|note|skill|top|caller|they|somebody|someone|attacker|he|she|pop-?up|banner|document) (?:says?|said|reads?|claims?|claimed|asks?|asked|told)\b[^.]{0,20}:",
    r"\b(?:\w*stealers?|droppers?|trojans?|worms?|botnets?|scammers?|thieves|infections?)\b|\b(?:rejects?|refuses?|forbids?|bans?) (?:<any> ){1,3}that\b",
]);

fn in_prose(unit: &Unit<'_>, span: &Range<usize>, is_words: bool) -> u8 {
    let text = unit.text();
    let before = sentence_before(text, span.start, 160);
    let refused = REFUSED.is_in(before) && !NOT_REFUSED.is_in(before);
    let others = OTHERS.is_in(before);
    let told = is_words && is_described(text, span.start);
    let quoted = is_words && is_quoted(text, span);
    let answered = is_words && ANSWERED.is_in(sentence_after(text, span.end, 160));
    let row = is_row(unit) && (SPEAKS.is_in(text) || STRONG.is_in(table_head(unit)));
    let item = MARKED.is_in(text);
    let cited = is_cited(unit);
    2 * u8::from(refused)
        + 2 * u8::from(others)
        + u8::from(told && !others)
        + u8::from(quoted)
        + u8::from(answered)
        + u8::from(row)
        + u8::from(item)
        + u8::from(cited)
}

/// Instructions on how to respond to such a phrase.
static ANSWERED: Phrases = Phrases::new(words![
    r"\b(?:do not (?:obey|follow|comply|act|execute|run)|don<'>t (?:obey|follow|comply|act|execute|run)|treat (?:it|this|that|them) as|refuse|report it|flag it|stop and (?:ask|tell|report)|is (?:an? )?(?:<any> )?(?:attack|injection|attempt)|are (?:<any> )?(?:attacks|injections|attempts))\b",
    r"\b(?:is|are) (?:<any> )?(?:forbidden|prohibited|not allowed|banned)\b",
]);

/// An item or a row that begins with a mark of what is wrong.
static MARKED: Phrases = Phrases::new(words![
    r"^[\s|*_-]*(?:\xe2\x9d\x8c|\xf0\x9f\x9a\xa9|\xe2\x9b\x94|\xf0\x9f\x9a\xab|\xe2\x9c\x97|bad\b|wrong\b|don<'>t\b|never\b|unsafe\b|malicious\b|attack(?:er)?\b|vulnerable\b|suspicious\b)",
    r"\xe2\x9d\x8c",
]);

/// Returns true if a span is between quotes on its line.
fn is_quoted(text: &str, span: &Range<usize>) -> bool {
    let found = text.get(span.clone()).unwrap_or_default();
    let start = span.start + found.find(|c: char| c.is_alphanumeric()).unwrap_or_default();
    let before = text.get(..start).unwrap_or_default();
    let before = before.rsplit("\n\n").next().unwrap_or_default();
    let after = text.get(span.end..).unwrap_or_default();
    let marks =
        [('"', '"'), ('\u{201c}', '\u{201d}'), ('`', '`'), ('\u{2018}', '\u{2019}'), ('\u{ab}', '\u{bb}')];
    marks.iter().any(|(open, close)| {
        let opened = if open == close {
            before.matches(*open).count() % 2 == 1
        } else {
            before.rfind(*open) > before.rfind(*close)
        };
        opened && after.contains(*close)
    })
}

/// Returns true if a paragraph is a quote as a whole.
pub(super) fn is_cited(unit: &Unit<'_>) -> bool {
    unit.before(40).rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with('>'))
}

fn is_row(unit: &Unit<'_>) -> bool {
    let line = unit.before(400).rsplit('\n').next().unwrap_or_default().trim_start();
    line.starts_with('|') || unit.text().trim_start().starts_with('|')
}

/// Returns the first line of the table that a row belongs to.
fn table_head<'a>(unit: &Unit<'a>) -> &'a str {
    let before = unit.before(4000);
    before.rsplit('\n').take_while(|line| line.trim_start().starts_with('|')).last().unwrap_or_default()
}

/// Weighs comments on the line, on one of the three before, or at the head of the fence.
fn in_fence(text: &str, at: usize) -> u8 {
    let upto = text.as_bytes()[at.min(text.len())..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |end| at + end);
    let lines = text.get(..upto).unwrap_or_default();
    let near = lines.rsplit('\n').take(4);
    let head = text.lines().take(1);
    let mut found = 0;
    if CASE.is_in(lines.rsplit('\n').next().unwrap_or_default()) {
        found = 3;
    }
    if RULES.is_in(text) {
        found = found.max(2);
    }
    for line in near.chain(head) {
        if let Some(comment) = comment(line)
            && LABELLED.is_in(comment)
        {
            found = 2;
        }
    }
    found
}

/// Rules for a scanner: they list what they search for.
static RULES: Phrases = Phrases::new(words![
    r"^\s*(?:rule \w+\s*(?::[^{]*)?\{|strings|condition|detection|logsource|pattern-either|signatures|iocs|tactics?)\s*:?\s*$",
]);

/// A test case: a possible input, and the expected response to it.
static CASE: Phrases = Phrases::new(words![
    r"\x22(?:input|prompt|query|message|text|user|attack|payload|case)\x22\s*:.*\x22(?:expect\w*|label|verdict|intent|category|should\w*|is_\w+|malicious|severity|class)\x22\s*:",
    r"\x22(?:expect\w*|label|verdict|intent|category|should\w*|is_\w+|malicious|severity|class)\x22\s*:.*\x22(?:input|prompt|query|message|text|user|attack|payload|case)\x22\s*:",
]);

/// A comment that begins by saying what is shown. A word further on says nothing: it may be part of a name.
static LABELLED: Phrases = Phrases::new(words![
    r"^[#/;<!*\s\x80-\xff-]*(?:bad|wrong|unsafe|malicious|vulnerab\w+|insecure|attackers?|dangerous|suspicious|attack|exploit\w*|payload|injection|injected|red flag|never (?:do|run|use)|don<'>t (?:do|run|use)|do not (?:do|run|use)|avoid|anti-?pattern|(?:simple |basic |classic )?reverse shell|poc|proof of concept|ruleid|should (?:fail|match|trigger|be flagged)|flagged|blocked|example of (?:an? )?(?:attack|malicious)|simulat\w+ (?:an? )?attack)\b",
    r"^\s*\xe2\x9d\x8c",
]);

fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    ["# ", "// ", "-- ", "; ", "<!-- ", "/* ", "\u{274c}"]
        .iter()
        .filter_map(|mark| line.find(mark).map(|at| &line[at..]))
        .max_by_key(|comment| comment.len())
}

/// Returns the paragraph before a unit, or before the list that it is in, without the opening of a fence; nothing if a heading is
/// between.
fn lead<'a>(unit: &Unit<'a>) -> &'a str {
    let before = unit.before(LEAD);
    let before = match unit.place {
        Place::Fence => before.trim_end().rsplit_once('\n').map_or("", |(before, _)| before),
        _ => before_list(before),
    };
    let last = before.trim_end().rsplit("\n\n").next().unwrap_or_default();
    if last.trim_start().starts_with('#') || last.trim_start().starts_with("```") { "" } else { last }
}

/// Number of bytes before a unit that are examined.
const LEAD: usize = 800;

/// Returns the text before the items that a text ends with.
fn before_list(text: &str) -> &str {
    let mut rest = text.rfind('\n').map_or("", |at| &text[..at]);
    if !text.rsplit('\n').next().is_some_and(is_item) {
        return rest;
    }
    loop {
        let line = rest.rsplit('\n').next().unwrap_or_default();
        if !(is_item_or_part(line) || line.trim().is_empty()) {
            return rest;
        }
        match rest.rfind('\n') {
            Some(at) => rest = &rest[..at],
            None => return "",
        }
    }
}

fn is_item_or_part(line: &str) -> bool {
    is_item(line) || line.starts_with("  ") || line.starts_with('\t')
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || numbered.len() < line.len() && numbered.starts_with(['.', ')'])
}
