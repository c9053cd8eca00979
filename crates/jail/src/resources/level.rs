//! Degree to which a jail's resources are bounded, in words.

use crate::enforcement::{Level, Reached};

use super::pace::Pace;

/// Mechanism that keeps one limit of the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// Nothing was asked for.
    Unasked,
    /// The kernel, for all processes together.
    Cgroup,
    /// The kernel for one process or one user, and we look after the sum.
    Watchdog,
    /// No mechanism.
    Nothing,
}

/// Mechanisms that keep the limits of the whole tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) memory: Means,
    pub(crate) processes: Means,
    /// Why there is no cgroup.
    pub(crate) why: Option<String>,
}

/// Returns the enforcement that was reached in the layer of resources.
pub(crate) fn reached(bounds: &Bounds) -> Reached {
    let all = [("memory", bounds.memory), ("processes", bounds.processes)];
    let by = |means| names(&all, means);
    let mut parts = vec!["rlimits".to_owned()];
    parts.extend(by(Means::Cgroup).map(|names| format!("cgroup on {names}")));
    parts.extend(by(Means::Watchdog).map(|names| format!("watchdog on {names}")));
    Reached { level: level(bounds), by: parts.join(", "), gap: gap(bounds) }
}

fn level(bounds: &Bounds) -> Level {
    match [bounds.memory, bounds.processes] {
        means if means.contains(&Means::Nothing) => Level::None,
        means if means.contains(&Means::Watchdog) => Level::Partial,
        _ => Level::Full,
    }
}

fn gap(bounds: &Bounds) -> Option<String> {
    let what = match (bounds.memory, bounds.processes) {
        (Means::Nothing, _) | (_, Means::Nothing) => "nobody sees the whole tree without /proc".to_owned(),
        (Means::Watchdog, _) => format!(
            "memory of all processes together is looked at every {} to {} ms, \
             and what none of them maps or holds open is not seen",
            Pace::SHORTEST.as_millis(),
            Pace::LONGEST.as_millis()
        ),
        (_, Means::Watchdog) => "processes are counted by user".to_owned(),
        _ => return None,
    };
    Some(bounds.why.as_ref().map_or_else(|| what.clone(), |why| format!("{what} ({why})")))
}

fn names(all: &[(&str, Means)], means: Means) -> Option<String> {
    let names: Vec<_> = all.iter().filter(|(_, kept)| *kept == means).map(|(name, _)| *name).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        use Means::{Cgroup, Nothing, Unasked, Watchdog};
        let rows = [
            (Cgroup, Cgroup, Level::Full, "rlimits, cgroup on memory and processes"),
            (Unasked, Unasked, Level::Full, "rlimits"),
            (Unasked, Cgroup, Level::Full, "rlimits, cgroup on processes"),
            (Cgroup, Watchdog, Level::Partial, "rlimits, cgroup on memory, watchdog on processes"),
            (Watchdog, Cgroup, Level::Partial, "rlimits, cgroup on processes, watchdog on memory"),
            (Watchdog, Watchdog, Level::Partial, "rlimits, watchdog on memory and processes"),
            (Nothing, Nothing, Level::None, "rlimits"),
        ];
        for (memory, processes, level, by) in rows {
            let found = reached(&Bounds { memory, processes, why: None });
            assert_eq!((found.level, found.by.as_str()), (level, by));
            assert_eq!(found.gap.is_none(), level == Level::Full, "{found:?}");
        }
    }

    #[test]
    fn a_gap_is_named_with_its_cause() {
        let why = Some("no memory cgroup is mounted".to_owned());
        let found = reached(&Bounds { memory: Means::Watchdog, processes: Means::Watchdog, why });
        let expected = "memory of all processes together is looked at every 50 to 500 ms, \
                        and what none of them maps or holds open is not seen (no memory cgroup is mounted)";
        assert_eq!(found.gap.as_deref(), Some(expected));
    }
}
