//! Warnings about settings that have no effect yet. A policy must not read as more than it does.

use std::io;

use config::{JailSettings, Settings, Unbuilt, Wish};
use policy::Code;

use crate::run::note;
use crate::terminal::Terminal;

/// Says on standard error which settings of the policy nothing acts on.
pub(crate) fn warn(settings: &Settings, terminal: &mut Terminal<'_>) -> io::Result<()> {
    let jail = settings.jail(&Wish::default()).ok();
    tell(&warnings(settings, jail.as_ref()), terminal)
}

/// Says on standard error what `warnings` found.
pub(crate) fn tell(warnings: &[String], terminal: &mut Terminal<'_>) -> io::Result<()> {
    warnings.iter().try_for_each(|text| note(terminal, Some(Code::NotBuilt), text))
}

/// At most one sentence for limits, one for other settings and one for hosts: they are read at every start.
pub(crate) fn warnings(settings: &Settings, jail: Option<&JailSettings>) -> Vec<String> {
    let all = config::unbuilt(settings);
    let (limits, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|found| found.restricts);
    let sentence = |what: &str, found: &[Unbuilt]| {
        let each: Vec<_> = found.iter().map(|found| format!("`{}` ({})", found.key, found.place)).collect();
        (!found.is_empty()).then(|| format!("{what}: {}", each.join(", ")))
    };
    let limits = sentence("not enforced yet", &limits);
    let others = sentence("no effect yet", &others);
    let hosts = jail.and_then(|jail| settings.unheld_hosts(jail));
    limits.into_iter().chain(others).chain(hosts).collect()
}
