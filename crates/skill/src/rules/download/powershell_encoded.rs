//! PowerShell with an encoded command.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "POWERSHELL_ENCODED",
    category: Category::Obfuscation,
    severity: Severity::Critical,
    title: "PowerShell with an encoded command",
    why: "Whoever encodes a command does not want it to be read before it runs.",
    fix: "write the command itself",
    places: ANYWHERE,
    anchors: words!["powershell", "pwsh", "-encodedcommand", "frombase64string"],
    check: Check::Pattern {
        finds: r"\b(?:powershell|pwsh)(?:\.exe)?\s[^\n]*?[-/]e(?:n(?:c(?:o(?:d(?:e(?:d(?:c(?:o(?:m(?:m(?:a(?:n(?:d)?)?)?)?)?)?)?)?)?)?)?)?)?\s+['\x22]?[A-Za-z0-9+/]{8,}={0,2}|FromBase64String\s*\([^\n]*\)[^\n]*\|\s*(?:iex|invoke-expression)\b|\b(?:iex|invoke-expression)\b[^\n]*FromBase64String",
        unless: &[],
    },
};
