//! Provider that could make a jail here. Decided by what was done, never by what files say.

use jail::probe::{Bwrap, Machine, Namespaces, Step};

use super::lost;

/// One way to make a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provider {
    Native,
    Bubblewrap,
    Landlock,
}

impl Provider {
    /// The strongest first.
    const ALL: [Self; 3] = [Self::Native, Self::Bubblewrap, Self::Landlock];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        }
    }

    fn is_possible(self, machine: &Machine) -> bool {
        machine.actions.can_filter()
            && match self {
                Self::Native => machine.namespaces.as_ref().is_ok_and(|found| found.did(NATIVE)),
                Self::Bubblewrap => matches!(machine.bwrap, Bwrap::Found { works: Ok(()), .. }),
                Self::Landlock => machine.landlock.abi() > 0,
            }
    }

    /// Returns the features that this provider lacks on every machine.
    const fn lacks(self) -> &'static [&'static str] {
        match self {
            Self::Native | Self::Bubblewrap => &[],
            Self::Landlock => &[lost::NETWORK, lost::MOUNTS, lost::PROCESSES, lost::IPC],
        }
    }
}

/// The steps without which `native` is not a jail. The rest can be missing and is then named as lost.
pub(super) const NATIVE: &[Step] =
    &[Step::User, Step::Map, Step::Net, Step::Loopback, Step::Mount, Step::Tmpfs, Step::Ipc, Step::Pid];

/// Providers that this machine could support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Support {
    /// The strongest provider possible; none: no jail at all.
    pub(super) strongest: Option<Provider>,
    /// Every provider possible, the strongest first.
    pub(super) possible: Vec<Provider>,
    /// Features that the strongest one lacks here.
    pub(super) lost: Vec<&'static str>,
}

impl Support {
    pub(super) fn of(machine: &Machine) -> Self {
        let possible: Vec<_> =
            Provider::ALL.into_iter().filter(|provider| provider.is_possible(machine)).collect();
        let strongest = possible.first().copied();
        let lost = strongest.map_or_else(Vec::new, |provider| losses(provider, machine));
        Self { strongest, possible, lost }
    }
}

fn losses(provider: Provider, machine: &Machine) -> Vec<&'static str> {
    let mut lost = provider.lacks().to_vec();
    if let (Provider::Native, Ok(found)) = (provider, &machine.namespaces) {
        lost.extend(optional(found));
    }
    lost.extend(lost::by_landlock(machine.landlock.abi()));
    lost.extend(machine.actions.notify.is_err().then_some(lost::NOTIFY));
    lost.extend(machine.cgroup.missing.is_some().then_some(lost::LIMITS));
    lost
}

fn optional(found: &Namespaces) -> impl Iterator<Item = &'static str> {
    let wanted: [(&[Step], _); 3] = [
        (&[Step::Redirect], lost::REDIRECTION),
        (&[Step::Proc], lost::PROC),
        (&[Step::Uts, Step::Cgroup], lost::NAMES),
    ];
    wanted.into_iter().filter(|(steps, _)| !found.did(steps)).map(|(_, feature)| feature)
}
