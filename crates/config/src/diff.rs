//! Two policies, compared by what they decide.

use std::collections::BTreeSet;

use policy::Decision;

use crate::sample::{COMMON, Sample, lines};
use crate::settings::Settings;

/// A request that two policies decide differently.
#[derive(Debug, Clone)]
pub struct Change {
    /// The request.
    pub line: String,
    /// Decision of the first policy.
    pub before: Decision,
    /// Decision of the second policy.
    pub after: Decision,
}

/// Decides sample requests by both policies: common ones, those that the rules of either are about, and the caller's.
///
/// Returns the changes and how many requests were compared.
#[must_use]
pub fn diff(old: &Settings, new: &Settings, cases: &[String]) -> (Vec<Change>, usize) {
    let mut all: BTreeSet<String> = COMMON.iter().map(ToString::to_string).collect();
    let rules = old.rules.rules().iter().chain(new.rules.rules());
    all.extend(rules.flat_map(lines));
    all.extend(policy::tool_names().iter().map(|tool| format!("call {tool}")));
    all.extend(cases.iter().cloned());
    let compare = |line: &String| {
        let sample = Sample::parse(line, &new.places).ok()?;
        let (before, after) = (old.decide(&sample.request()), new.decide(&sample.request()));
        Some(Change { line: line.clone(), before, after })
    };
    let compared: Vec<_> = all.iter().filter_map(compare).collect();
    let count = compared.len();
    (compared.into_iter().filter(|change| change.before.effect() != change.after.effect()).collect(), count)
}
