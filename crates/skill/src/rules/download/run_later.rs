//! A download is saved in one fence and run in another.

use super::save_then_run::{Saved, saved};
use crate::code::command::last_segment;
use crate::rules::rule::{Category, Check, Rule, Severity, SkillHit};
use crate::text::unit::{ANYWHERE, Place, Unit};
use crate::text::view::Skill;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "DOWNLOAD_RUN_LATER",
    category: Category::Download,
    severity: Severity::Critical,
    title: "a download is saved in one place and run in another",
    why: "Each step looks ordinary; together they run what another machine sends.",
    fix: "check the file against a known hash before it is run",
    places: ANYWHERE,
    anchors: words!["curl", "wget", "aria2c"],
    check: Check::Skill(hits),
};

/// Maximum number of files that are followed through one text.
const MAX_SAVED: usize = 20;

fn hits(skill: &Skill<'_>) -> Vec<SkillHit> {
    let views = skill.views.iter().enumerate().filter(|(_, view)| fetches(&view.text));
    views.flat_map(|(number, _)| in_view(skill.units(number))).collect()
}

fn in_view(units: &[Unit<'_>]) -> Vec<SkillHit> {
    let mut known: Vec<(usize, Saved)> = Vec::new();
    let mut hits = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        if !matches!(unit.place, Place::Fence | Place::Inline) || !is_of_interest(unit, &known) {
            continue;
        }
        for step in unit.commands().steps().filter(|_| !known.is_empty()) {
            let Some(file) = step.runs_file().map(last_segment) else { continue };
            let found = known.iter().find(|(at, saved)| *at != number && saved.file == file);
            if let Some((at, saved)) = found.filter(|(at, _)| near(&units[*at], unit)) {
                let start = unit.range.start + step.range().start;
                let note = Some(format!(
                    "`{}` is downloaded before, in another place",
                    units[*at].text().lines().next().map_or("", |_| saved.file.as_str())
                ));
                let span = unit.view.back(start..unit.range.start + step.range().end);
                hits.push(SkillHit { entry: unit.view.entry, span, note, severity: Some(saved.severity) });
            }
        }
        if known.len() < MAX_SAVED && fetches(unit.text()) {
            known.extend(saved(unit.commands()).into_iter().map(|saved| (number, saved)));
        }
    }
    hits
}

fn fetches(text: &str) -> bool {
    text.contains("curl") || text.contains("wget") || text.contains("aria2c")
}

/// Returns true if a unit fetches, or names a file that was fetched; only such units are read.
fn is_of_interest(unit: &Unit<'_>, known: &[(usize, Saved)]) -> bool {
    fetches(unit.text()) || known.iter().any(|(_, saved)| unit.text().contains(&saved.file))
}

/// Returns true if two units are under the same or nested headings, or close to each other.
fn near(a: &Unit<'_>, b: &Unit<'_>) -> bool {
    a.headings == b.headings
        || a.headings.starts_with(&b.headings)
        || b.headings.starts_with(&a.headings)
        || b.range.start.saturating_sub(a.range.end) < 2000
}
