//! An image whose address carries data of the agent.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "EXFIL_IMAGE_BEACON",
    category: Category::Exfiltration,
    severity: Severity::Critical,
    title: "an image whose address carries data",
    why: "The picture is fetched as soon as the answer is shown, and its address tells the other side what was filled in.",
    fix: "remove the image",
    places: ANYWHERE,
    anchors: words!["!["],
    check: Check::Pattern {
        finds: r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s?]{1,200}\?[^)\n]{0,120}=\s*(?:\{\{?|<|\$\{?|\[|%7b)[a-z_ .-]{0,20}(?:secret|key|token|password|conversation|history|context|chat|prompt|env|credential|memory|session|data|message|base64|content)",
        unless: &[r"shields\.io|badge|codecov|github\.com/[^)]*/(?:actions|workflows)"],
    },
};
