//! An address that is written to evade filters, and is to be used.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_DEFANGED",
    category: Category::Download,
    severity: Severity::Critical,
    title: "a disguised address is fetched",
    why: "People who write about attacks disguise addresses so that nobody follows them. Whoever then says to fetch one hides it from filters.",
    fix: "write the address as it is",
    places: ANYWHERE,
    anchors: words!["hxxp", "[.]", "[dot]"],
    check: Check::Pattern {
        finds: r"\b(?:curl|wget|iwr|fetch|download|open|visit|install|retrieve|run|execute)\b[^\n]{0,60}?\b(?:hxxps?(?:\[?:\]?)//[^\s]{3,}|[a-z0-9-]{2,}(?:\[\.\]|\[dot\])[a-z]{2,}(?:/[^\s]*))[^\n]{0,200}(?:\n[^\n]{0,200}){0,3}?(?:\||\bchmod\b|\bbash\b|\bsh\b|\bexecut|\brun\b|\binstall)|hxxps?(?:\[?:\]?)//[^\s]{3,}[^\n]{0,80}?\b(?:bash|sh|python3?|chmod|node|perl|zsh)\s+[\w./+-]+|\b(?:curl|wget)\s[^\n]{0,60}?(?:hxxps?://|[a-z0-9-]{2,}\[\.\][a-z]{2,})",
        unless: &[r"\bdo not\b|\bnever\b|\bdon't\b|\bIOCs?\b|\bindicators?\b|\bblocklist"],
    },
};
