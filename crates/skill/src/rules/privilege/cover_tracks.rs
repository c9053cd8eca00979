//! Traces are removed.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::PROSE_OR_FENCE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "PRIV_COVER_TRACKS",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "removes the traces of what was done",
    why: "Histories and logs are how somebody finds out. Ordinary work does not mind being found out.",
    fix: "leave histories and logs alone",
    places: PROSE_OR_FENCE,
    anchors: words![
        r"\bshell history",
        r"\bbash history",
        r"\bcommand history",
        r"\bterminal history",
        r"\bzsh history",
        r"\bbash_history",
        r"\bzsh_history",
        r"\bhistfile",
        r"\bdisable logging",
        r"\bdisable audit",
        r"\bturn off logging",
        r"\bstop logging",
        r"\bsuppress logging",
        r"\bdisable all log",
        r"\btraces",
        r"\btracks",
        r"\bevidence of",
        r"\bevidence",
        r"\baudit log",
        r"\baudit trail",
    ],
    check: Check::Phrases(&[&PHRASES], |unit| PHRASES.hits(unit.text())),
};

static PHRASES: Phrases = Phrases::new(words![
    r"\b(?:delete|clear|wipe|erase|truncate|remove|purge|scrub|clean|unset|rm)(?: -\w+)? (?:<any> ){0,3}(?:~/)?(?:shell history|bash history|command history|terminal history|zsh history|\.bash_history|\.zsh_history|histfile)\b",
    r"\b(?:disable|turn off|stop|suppress) (?:<any> ){0,2}(?:logging|logs|audit(?:ing| logs?)?)\b... (?:history|exfiltrat\w+|errors|trace|upload|hide|secret|detect\w+|avoid)\b",
    r"\b(?:delete|clear|wipe|erase|remove|cover|hide|destroy)(?:s|ing)? (?:all |any |the |your |its |every )*(?:traces?|tracks|evidence|audit (?:logs?|trails?))(?: (?:of|so|to|from|after|that)\b|[.,;]|$)",
]);
