//! Permissions that are exceptions to a question: within one layer, an allow that is provably narrower than an ask.
//!
//! Never against a denial, and never across layers: a file can only take back what it asked for itself.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::decision::Effect;
use crate::rule::{Kinds, Rule, Subject};

/// Proofs about pairs of rules. A proof costs much more than a decision, and few pairs ever meet.
#[derive(Debug, Default)]
pub(crate) struct Exceptions(Mutex<HashMap<(usize, usize), bool>>);

impl Exceptions {
    /// Returns true if an allow is an exception to an ask; both by their places in the same list.
    pub(crate) fn holds(&self, rules: &[Rule], allow: usize, ask: usize) -> bool {
        let mut proven = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *proven.entry((allow, ask)).or_insert_with(|| is_exception(&rules[allow], &rules[ask]))
    }
}

/// Returns true if an allow is an exception to an ask: of the same layer, and narrower. If both say the same, the ask counts.
pub(crate) fn is_exception(allow: &Rule, ask: &Rule) -> bool {
    allow.effect == Effect::Allow
        && ask.effect == Effect::Ask
        && same_layer(allow, ask)
        && is_within(allow, ask)
        && !is_within(ask, allow)
}

/// A layer is a file. Rules that stand in none were given together.
fn same_layer(one: &Rule, other: &Rule) -> bool {
    let file = |rule: &Rule| rule.reason.rule.as_ref().map(|place| place.file.clone());
    file(one) == file(other)
}

fn is_within(narrow: &Rule, wide: &Rule) -> bool {
    let tool = match (&narrow.tool, &wide.tool) {
        (_, None) => true,
        (Some(narrow), Some(wide)) => narrow.is_within(wide),
        // A rule on commands is one on the tool that runs them.
        (None, Some(wide)) => matches!(narrow.subject, Subject::Command(_)) && wide.matches("exec"),
    };
    let argument = |name: &str, wide| {
        let mut own = narrow.arguments.iter().filter(|(own, _)| own == name);
        own.any(|(_, narrow)| narrow.is_within(wide))
    };
    tool && wide.arguments.iter().all(|(name, pattern)| argument(name, pattern))
        && subject_is_within(&narrow.subject, &wide.subject)
}

fn subject_is_within(narrow: &Subject, wide: &Subject) -> bool {
    match (narrow, wide) {
        (_, Subject::Any) => true,
        (Subject::Path(narrow, own), Subject::Path(wide, kinds)) => {
            (kinds == own || *kinds == Kinds::Both) && narrow.is_within(wide)
        }
        (Subject::Command(narrow), Subject::Command(wide)) => narrow.is_within(wide),
        (Subject::Host(narrow), Subject::Host(wide)) => narrow.is_within(wide),
        _ => false,
    }
}
