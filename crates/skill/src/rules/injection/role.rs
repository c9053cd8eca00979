//! The agent is to take a role without limits.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::PROSE_OR_FENCE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "INJECT_ROLE",
    category: Category::PromptInjection,
    severity: Severity::Critical,
    title: "tells the agent that its limits no longer hold",
    why: "A role without rules is how a model is talked out of the rules it has.",
    fix: "describe the task; do not give the agent another identity",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\byou are now",
        r"\byou're now",
        r"\byou are in",
        r"\byou operate",
        r"\byou work in",
        r"\bunrestricted",
        r"\buncensored",
        r"\bunfiltered",
        r"\bjailbr",
        r"\bwithout any",
        r"\bwithout content",
        r"\bwithout ethical",
        r"\bwithout safety",
        r"\bwithout restrictions",
        r"\brestrictions",
        r"\bpretend",
        r"\bno longer",
        r"\bnot bound",
        r"\bdan mode",
        r"\bgod mode",
        r"\bdo anything now",
        r"\blimitations",
        r"\bguidelines do",
        r"\brules do",
        r"\brules no",
        r"\bguardrails",
        r"\baside its own",
    ],
    check: Check::Phrases(&[&PHRASES], |unit| PHRASES.hits(unit.text())),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\byou(?:<'>re| are)(?: now)?(?: <any>){0,2} (?:in|entering|running in|operating in|switched to) (?:<any> ){0,2}(?:unrestricted|developer|jailbreak|jailbroken|dan|god|root|admin|debug|maintenance|sudo|override|unfiltered|privileged)(?: <any>)? mode\b",
    r"\byou are now (?:an? )?(?:<any> ){0,2}(?:unrestricted|unfiltered|uncensored|jailbroken|different|evil|amoral|freed|dan\b)",
    r"\byou (?:operate|work|run|function) in (?:an? )?(?:privileged|unrestricted|elevated) mode\b",
    r"\b(?:act|behave|respond|answer|operate|continue|pretend to be) (?:as )?(?:an? )?(?:<any> ){0,2}(?:unrestricted|unfiltered|uncensored|jailbroken)\b",
    r"\b(?:normal|usual|standard|your|safety|content) (?:<any> )?(?:restrictions|limitations|rules|guidelines) (?:do not|don<'>t|no longer) (?:apply|bind|hold)\b",
    r"\byou (?:are|have) (?:no longer|not) (?:<any> ){0,2}(?:bound|restricted|limited|subject) (?:by|to) (?:<any> ){0,2}(?:rules?|guidelines|restrictions|policies|policy|instructions|constraints|ethics|safety|laws?)\b",
    r"\b(?:trained|operates?|operating|responds?|responding|exists?|answer|speak)(?: <any>){0,2} without (?:any )?(?:content|ethical|safety|moral)? ?(?:restrictions|filters|guardrails|limits|limitations|guidelines)\b",
    r"\bpretend (?:that )?(?:you|to) (?:are|be|have|were) (?:<any> ){0,3}(?:no (?:restrictions|rules|limits|guidelines)|different|hacker|unrestricted)\b",
    r"\b(?:enter|enable|activate|switch to|unlock) (?:<any> ){0,1}(?:dan|god|jailbreak|unrestricted|uncensored|unfiltered) mode\b",
    r"\b(?:you|ai|assistant|character|persona) (?:<any> ){0,3}(?:with|have|having) (?:no|zero) (?:<any> )?(?:restrictions|guardrails|filters|safety <any>|ethical <any>)(?:[.,;!]|$| (?:and|or|whatsoever|at all)\b)",
    r"\bdo anything now\b",
    r"\bremov(?:e|es|ing) (?:all |any |your |artificial |unnecessary )+(?:restrictions|limitations|guardrails|safety <any>)\b",
    r"\bsett?ing aside its own (?:perspective|values|guidelines|judge?ment)\b",
]);
