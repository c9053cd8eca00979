//! The agent is told to change its own instruction files.

use crate::rules::rule::Hit;
use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::phrase::{is_described, is_forbidden, section, topic};
use crate::text::unit::PROSE;
use crate::text::unit::Unit;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PERSIST_TOLD_AGENT_FILES",
    category: Category::Persistence,
    severity: Severity::Critical,
    title: "tells the agent to change its own rules or settings",
    why: "What stands in an agent's memory, rules and settings is obeyed in every later session, also when the skill has gone.",
    fix: "leave rules and settings to the user",
    places: PROSE,
    anchors: words![
        r"\bagents.md",
        r"\bclaude.md",
        r"\bsoul.md",
        r"\bmemory.md",
        r"\bgemini.md",
        r"\bsettings.json",
        r"\bsettings.local.json",
        ".cursorrules",
        r"\bcopilot-instructions",
        ".cursor/rules",
        r"\bheartbeat.md",
        r"\bopenclaw.json",
        r"\bidentity.md",
        r"\btools.md",
        r"\buser.md",
    ],
    check: Check::Phrases(&[&PHRASES], hits),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:modify|edit|append|add|write|insert|inject|update|change|overwrite|prepend|place|put|copy|persist|store|save|patch|replace|set|configure|enable|merge|include|paste|extend|create|leave|note|record|drop|plant)\b...<agentfile>",
]);

/// Phrases that make it more than a note.
static MORE: Phrases = Phrases::new(words![
    r"\b(?:grant\w*|broader|wider|bypass\w*|auto-?approv\w*|allow list|allowlist|dangerously|skip (?:<any> )?(?:permission|confirm|approval)\w*|disable|turn off|without (?:asking|approval|confirmation)|bash\(\*\)|(?:all|full|more|extra|every|any|elevated|own) permissions?|permissions\.allow|unrestricted|pre-?approved|(?:fetched|read|loaded) and (?:obeyed|followed|executed)|not to be (?:removed|deleted|changed|mentioned))\b",
    r"\ballow\W{1,6}\*",
    r"\b(?:your own (?:rules|instructions)|(?:every|all|each|any) (?:future |subsequent |later |new )(?:sessions?|conversations?|runs?|interactions?)|persists? (?:across|after|even)|even (?:after|if) (?:this|the) skill|survives?|always (?:obey|trust|follow|run|load|use this)|priority over|silently|trusted|(?:do not|never) (?:remove|delete)|ignore)\b",
]);

/// Skills that are about such files.
static ABOUT: Phrases = Phrases::new(words![
    r"agents\.?md|claude\.?md|soul\.?md|identity\.?md|user\.?md|persona|settings|hooks?|memory|permissions?|configur\w*|instructions|onboard\w*|bootstrap|rules|learn\w*|retrospective|reflect\w*|improve\w*|plugin|scaffold\w*|customiz\w*|agent (?:file|config)",
]);

/// Hooks, which run by themselves.
static HOOK: Phrases = Phrases::new(words![r"\bhooks?\b"]);

/// Content of the file, if it is written out below, that no note of a person has.
static WRITTEN: Phrases = Phrases::new(words![
    r"\bbypasspermissions\b|\bautoapprove\W{1,4}(?:true|\[\W{0,3}\*)|\bdangerously|\bbash\(\*|\benableallprojectmcpservers\W{1,4}true",
    r"\bwithout (?:<any> )?(?:confirmation|asking|approval)\b|\b(?:comply with|obey) (?:it|the)\b|\b(?:never|do not|don<'>t) (?:list|mention|quote|show|remove|reveal|delete) (?:this|these)\b",
]);

/// Phrases that put the text back, word for word, into every file of the kind.
static INSISTED: Phrases = Phrases::new(words![
    r"\b(?:keep|restore|re-?add|re-?insert|put back|re-?create)s? (?:it|this|them|the <any>)\b... (?:if|when|whenever|should|even)\b... (?:remov|delet|clean|revert|miss|gone)\w*",
    r"<agentfile>...<agentfile>...<agentfile>",
]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let (_, after) = section(unit, 500);
    let more = MORE.is_in(text) || INSISTED.is_in(text) || WRITTEN.is_in(after);
    let severity = match (ABOUT.is_in(topic(unit)), more, HOOK.is_in(text)) {
        (true, true, _) => Some(Severity::Note),
        (false, true, _) => None,
        (false, false, true) => Some(Severity::Warning),
        _ => return Vec::new(),
    };
    let ranges = PHRASES.ranges(text).into_iter();
    ranges
        .filter(|range| !is_forbidden(text, range.start) && !is_described(text, range.start))
        .map(|range| Hit { severity, ..Hit::at(range) })
        .collect()
}
