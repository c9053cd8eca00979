//! The scanner of PowerShell is switched off.

use crate::code::fact::Hostile;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CODE_AMSI",
    category: Category::Privilege,
    severity: Severity::Critical,
    title: "the scanner of PowerShell is switched off",
    why: "Scripts are shown to the system's scanner before they run. Only what would be recognised switches it off.",
    fix: "remove it",
    places: ANYWHERE,
    anchors: &["amsi"],
    check: Check::Unit(check),
    hits: &[
        file("x.ps1", "[Ref].Assembly.GetType('System.Management.Automation.AmsiUtils').GetField('x')\n"),
        text("```powershell\n$a = 'amsiInitFailed'\n```"),
    ],
    misses: &[text("AMSI is the interface that scanners use on Windows.")],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::hostile(unit, Hostile::Amsi)
}
