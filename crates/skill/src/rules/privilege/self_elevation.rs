//! A skill gives itself more rights.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::PROSE_OR_FENCE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIV_SELF_ELEVATION",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "gives itself more rights than it was given",
    why: "Rights are given by the user. What takes them itself has no limit.",
    fix: "say which rights are needed, and leave it to the user to give them",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\belevat",
        r"\bescalat",
        r"\bbroader permission",
        r"\btrust level",
        r"\bpermissions automatically",
        r"\bits own",
        r"\byour own",
        r"\bunrestricted",
        r"\bitself",
        r"\byourself",
        r"\bfull access",
        r"\badmin access",
        r"\badministrative access",
    ],
    check: Check::Phrases(&[&PHRASES], |unit| PHRASES.hits(unit.text())),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:elevat(?:e|es|ing)|escalat(?:e|es|ing)|rais(?:e|es|ing)|increas(?:e|es|ing)|expand(?:s|ing)?|widen(?:s|ing)?|upgrad(?:e|es|ing)) (?:its|your|their|the agent<'>s|the skill<'>s) (?:own )?(?:<any> ){0,1}(?:trust|privileges?|permissions?|access|authority|role|rights|scope)\b",
    r"\b(?:grant|grants|give|gives|assign|assigns) (?:itself|yourself|this skill|the skill|the agent) (?:<any> ){0,4}(?:permissions?|access|privileges?|rights|role|scopes?)\b",
    r"\b(?:grant|grants|give|gives|enable|enables|allow|allows) (?:broader|wider|full|unrestricted|elevated|extra|additional|all) (?:<any> ){0,2}(?:permissions?|access|privileges?|rights)(?: <any>){0,2} (?:automatically|silently|by default|without)\b",
    r"\b(?:has|have|with) (?:unrestricted|unlimited) (?:bash|shell|file ?system|root|network|system) access\b",
    r"\byou have (?:special |full )?(?:administrative|admin|root|privileged) (?:access|rights|privileges)\b",
]);
