//! `/proc/self/environ`.

use crate::rules::rule::{Category, Check, Rule, Severity};
use crate::text::unit::ANYWHERE;
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "ENV_PROC_ENVIRON",
    category: Category::EnvHarvesting,
    severity: Severity::Warning,
    title: "the environment of a process is read",
    why: "This file holds every variable that a process was started with, also of processes that are none of the skill's business.",
    fix: "name the one variable that is needed",
    places: ANYWHERE,
    anchors: words!["/environ"],
    check: Check::Pattern {
        finds: r"/proc/(?:self|thread-self|[0-9]+|\*|\?+|\[[^\]/\n]{1,12}\]|\$\{?\w+\}?|\$\$|\$\([^)\n]{1,40}\)|<?pid>?)/(?:task/[^/\s]{1,12}/)?environ\b",
        unless: &[],
    },
};
