//! A tool wants to be called before every other.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::PROSE_OR_FENCE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_FIRST",
    category: Category::PromptInjection,
    severity: Severity::Warning,
    title: "wants to be used before everything else",
    why: "A tool that every task has to pass sees every task. Whether it is needed is for the agent to judge.",
    fix: "say for which tasks it is meant",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\balways run",
        r"\balways call",
        r"\balways use",
        r"\balways invoke",
        r"\balways execute",
        r"\balways load",
        r"\bbe called",
        r"\bbe invoked",
        r"\bbe used before",
        r"\bbe run first",
        r"\brun this",
        r"\bcall this",
        r"\binvoke this",
        r"\buse this tool",
        r"\buse this skill",
        r"\bprefer this",
    ],
    check: Check::Phrases(&[&PHRASES], |unit| PHRASES.hits(unit.text())),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\balways (?:run|call|use|invoke|execute|load) this (?:tool|skill|function|server)(?: <any>){0,2} (?:first|before (?:anything|any other|all other|every|doing anything))\b",
    r"\b(?:must|should|has to) (?:always )?be (?:called|used|invoked|run)(?: <any>){0,2} (?:first|before (?:any|all|every) (?:other )?(?:tools?|skills?|actions?|requests?|messages?))\b",
    r"\b(?:call|run|invoke|use) this (?:tool|skill)(?: <any>){0,2} (?:before|on|for) (?:every|each|any|all) (?:other |single |user )?(?:tools?|requests?|messages?|conversations?|responses?|prompts?|tasks?|actions?)\b",
    r"\bprefer this (?:tool|skill) over (?:all|any|every) other",
]);
