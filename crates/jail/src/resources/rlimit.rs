//! Bounds on one process, which the kernel keeps by itself on every machine.

use std::time::Duration;

use policy::Limits;

/// A resource of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    Core,
    OpenFiles,
    FileSize,
    Cpu,
    Processes,
    /// Private writable memory. A bound on address space would break programs that reserve more than they use.
    PrivateMemory,
    LockedMemory,
    MessageQueues,
    Nice,
    RealTime,
}

/// Soft limit, and the hard limit: the most that may be asked for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}

impl Bound {
    pub(crate) const fn both(value: u64) -> Self {
        Self { soft: value, hard: value }
    }

    /// The tighter of two, so that nothing is ever raised: what the caller may not have, the jail may not either.
    fn and(self, other: Self) -> Self {
        let hard = self.hard.min(other.hard);
        Self { soft: self.soft.min(other.soft).min(hard), hard }
    }
}

/// The bounds of the jail's processes, given those of the caller.
///
/// Processes are counted by user and user namespace: without one of its own, a jail would be refused processes because
/// of the user's others.
pub(crate) fn rlimits(
    limits: &Limits,
    own_user_namespace: bool,
    current: impl Fn(Resource) -> Bound,
) -> Vec<(Resource, Bound)> {
    let asked = [
        (Resource::OpenFiles, limits.open_files.map(Bound::both)),
        (Resource::FileSize, limits.file_size.map(Bound::both)),
        (Resource::Cpu, limits.cpu.map(seconds)),
        (Resource::Processes, limits.processes.filter(|_| own_user_namespace).map(processes)),
        (Resource::PrivateMemory, limits.memory.map(Bound::both)),
    ];
    let asked = asked.into_iter().filter_map(|(resource, bound)| Some((resource, bound?)));
    let tightened = |(resource, bound): (Resource, Bound)| (resource, bound.and(current(resource)));
    ALWAYS.into_iter().chain(asked).map(tightened).collect()
}

/// First a signal that a program can answer, a second later one that it cannot.
fn seconds(time: Duration) -> Bound {
    let soft = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    Bound { soft, hard: soft.saturating_add(1) }
}

/// One above the cgroup's bound, which counts what it refuses and therefore has to be met first. Both count the first
/// process of the jail, which is not the command's.
fn processes(limit: u64) -> Bound {
    Bound::both(limit.saturating_add(2))
}

/// Bounds on resources that no command needs. Locked memory and queues are what an ordinary login gets.
const ALWAYS: [(Resource, Bound); 5] = [
    (Resource::Core, Bound::both(0)),
    (Resource::LockedMemory, Bound::both(8 << 20)),
    (Resource::MessageQueues, Bound::both(819_200)),
    (Resource::Nice, Bound::both(0)),
    (Resource::RealTime, Bound::both(0)),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the kernel spells it.
    const UNBOUNDED: Bound = Bound::both(u64::MAX);

    fn all() -> Limits {
        Limits {
            open_files: Some(65_536),
            file_size: Some(16 << 30),
            cpu: Some(Duration::from_millis(1_500)),
            processes: Some(1_024),
            memory: Some(3_000_000_000),
            ..Limits::none()
        }
    }

    fn find(bounds: &[(Resource, Bound)], resource: Resource) -> Option<(u64, u64)> {
        let (_, bound) = bounds.iter().find(|(other, _)| *other == resource)?;
        Some((bound.soft, bound.hard))
    }

    #[test]
    fn every_limit_of_one_process_has_its_bound() {
        let set = rlimits(&all(), true, |_| UNBOUNDED);
        let rows = [
            (Resource::Core, (0, 0)),
            (Resource::OpenFiles, (65_536, 65_536)),
            (Resource::FileSize, (16 << 30, 16 << 30)),
            (Resource::Cpu, (2, 3)),
            (Resource::Processes, (1_026, 1_026)),
            (Resource::PrivateMemory, (3_000_000_000, 3_000_000_000)),
            (Resource::LockedMemory, (8 << 20, 8 << 20)),
            (Resource::MessageQueues, (819_200, 819_200)),
            (Resource::Nice, (0, 0)),
            (Resource::RealTime, (0, 0)),
        ];
        for (resource, expected) in rows {
            assert_eq!(find(&set, resource), Some(expected), "{resource:?}");
        }
        assert_eq!(set.len(), rows.len());
        assert_eq!(find(&rlimits(&all(), false, |_| UNBOUNDED), Resource::Processes), None);
        assert_eq!(rlimits(&Limits::none(), true, |_| UNBOUNDED).len(), ALWAYS.len());
    }

    #[test]
    fn an_ordinary_soft_limit_stays() {
        let set = rlimits(&all(), true, |_| Bound { soft: 1_024, hard: 4_096 });
        assert_eq!(find(&set, Resource::OpenFiles), Some((1_024, 4_096)));
        assert_eq!(find(&set, Resource::Core), Some((0, 0)));
    }

    proptest! {
        #[test]
        fn nothing_is_raised(soft in any::<u64>(), hard in any::<u64>(), limit in any::<u64>()) {
            let limits = Limits {
                open_files: Some(limit), memory: Some(limit), processes: Some(limit), file_size: Some(limit),
                cpu: Some(Duration::from_secs(limit)), ..Limits::none()
            };
            for (resource, bound) in rlimits(&limits, true, |_| Bound { soft, hard }) {
                prop_assert!(bound.soft <= soft && bound.hard <= hard && bound.soft <= bound.hard, "{resource:?}");
            }
        }
    }
}
