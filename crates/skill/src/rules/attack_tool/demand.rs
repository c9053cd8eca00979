//! Demands that a tool description must not make of the model that reads it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::scan::compiled;

/// Minimum weight of a text that gives orders no description gives.
pub(super) const ORDERS: u32 = 4;

/// Minimum weight of a text that is worth a review.
pub(super) const DOUBTFUL: u32 = 3;

/// Kind of demand with its weight.
struct Demand {
    weight: u32,
    /// True if a word such as "detects" before it makes it a mention.
    mentioned: bool,
    pattern: &'static str,
}

const DEMANDS: &[Demand] = &[
    // Blocks that imitate the words of another speaker.
    Demand {
        weight: 2,
        mentioned: false,
        pattern: r"<\s*(?:important|system|hidden|secret|instructions?|override|admin|critical|internal)\b[^<>\n]{0,30}>|\[\s*(?:system|hidden|override|admin|internal)\b[^\]\n]{0,30}\]|\b(?:system|admin|security|override)\s+(?:override|directive)\b",
    },
    Demand {
        weight: 4,
        mentioned: true,
        pattern: r"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|of|these|those)\s+){0,3}(?:previous|prior|above|earlier|safety|security|content|existing|original|system)\s+(?:\w+\s+){0,3}(?:instructions?|restrictions?|guidelines?|policies|rules|filters?|filtering|checks?|prompts?|constraints?)",
    },
    Demand {
        weight: 2,
        mentioned: true,
        pattern: r"\b(?:bypass(?:es)?|skip(?:s)?|disables?|ignore)\s+(?:all\s+|any\s+|the\s+)?(?:content\s+|security\s+|safety\s+|user\s+|input\s+)?(?:polic(?:y|ies)|validation|saniti[sz]ation|safety|guardrails|checks|guidelines)|\bwithout\s+(?:any\s+)?(?:validation|security checks|confirmation|asking)|\btrust(?:s)?\s+all\s+(?:user\s+)?input|\bact as:",
    },
    // Facts to be withheld from the user.
    Demand {
        weight: 4,
        mentioned: true,
        pattern: r"\b(?:do not|don.{1,3}t|never|must not|should not|avoid)\s+(?:ever\s+)?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|alert(?:ing)?|let)\s+(?:(?:this|it|that|anything|any of this|about|to|these)\s+){0,3}(?:to\s+)?(?:the\s+)?(?:user|human|person)|\bwithout\s+(?:telling|informing|notifying|the knowledge of)\s+(?:the\s+)?(?:user|human)|\b(?:user|human)\s+(?:must|should|does|need)\s*(?:not|n't)\s+(?:know|see|be told|notice|be informed|need to know)|\bkeep (?:this|it) (?:secret|hidden|confidential) from",
    },
    // Files whose content no tool needs.
    Demand {
        weight: 2,
        mentioned: true,
        pattern: r"\b(?:read|open|load|cat|access|include|fetch|collect|contents? of|send|upload)\b[^.\n]{0,80}(?:~/\.|\$home/\.|id_rsa|id_ed25519|\.aws/|\.ssh/|mcp\.json|/etc/(?:passwd|shadow)|\.env\b|environment variables|credentials file|private key|api keys)",
    },
    Demand {
        weight: 1,
        mentioned: false,
        pattern: r"\b(?:before|prior to|after|whenever|each time)\s+(?:you\s+)?(?:us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|any|every|each|answering|responding)\b",
    },
    Demand {
        weight: 1,
        mentioned: false,
        pattern: r"\b(?:pass|include|provide|put|append|add|send|attach)\b[^.\n]{0,60}\b(?:as|in|into|via|with)\b[^.\n]{0,30}\b(?:parameter|argument|field|sidenote|context|note|request|response|it\b)|\binclude (?:it|them|its contents?)\b",
    },
    // Orders about the tools of others.
    Demand {
        weight: 3,
        mentioned: false,
        pattern: r"\ball\s+(?:e-?mails?|messages|payments|transfers|requests|files|data)\s+(?:must|should|have to|need to)\s+(?:also\s+)?(?:be\s+)?(?:sent|go|forwarded|copied|redirected)|\b(?:change|replace|set|modify|redirect)\s+(?:the\s+)?(?:recipient|destination|to address|bcc|payee|account number)|\b(?:when|whenever|if|after|before)\b[^.\n]{0,60}\b(?:another|other|any other|the)\s+[\w`'-]*\s?tools?\b[^.\n]{0,80}\b(?:must|always|instead|secretly|silently|also send)\b",
    },
    Demand {
        weight: 2,
        mentioned: true,
        pattern: r"\b(?:include|pass|send|provide|append|attach|copy|forward|log)\b[^.\n]{0,40}\b(?:full|entire|complete|whole|all)\b[^.\n]{0,30}\b(?:conversation|chat|message)s?\b[^.\n]{0,12}(?:history|log|context|so far|transcript|messages)?|\b(?:reveal|include|send|pass|repeat)\b[^.\n]{0,30}\bsystem prompt",
    },
];

/// Returns the summed weight of the demands in a text, and the range of the heaviest one.
pub(super) fn demands(text: &str) -> (u32, Range<usize>) {
    let (mut sum, mut worst, mut place) = (0, 0, 0..0);
    for (demand, pattern) in DEMANDS.iter().zip(&*PATTERNS) {
        let Some(found) = pattern.as_ref().and_then(|pattern| pattern.find(text.as_bytes())) else {
            continue;
        };
        let weight = if demand.mentioned && is_mention(text, found.start()) {
            demand.weight.min(1)
        } else {
            demand.weight
        };
        sum += weight;
        if weight > worst {
            (worst, place) = (weight, found.range());
        }
    }
    (sum, place)
}

/// Returns true if the preceding words attribute the demand to another speaker.
fn is_mention(text: &str, at: usize) -> bool {
    let mut from = at.saturating_sub(60);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..at).unwrap_or_default().rsplit(['.', '\n']).next().unwrap_or_default();
    MENTION.as_ref().is_some_and(|mention| mention.is_match(before.as_bytes()))
}

static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| DEMANDS.iter().map(|demand| compiled(demand.pattern)).collect());

static MENTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:detect|prevent|protect|attempt|such as|scan|block|like|example|e\.g|flag|find|identif|against|reject|check)\w*|[\x22'`]$",
    )
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(PATTERNS.iter().all(Option::is_some) && MENTION.is_some());
    }
}
