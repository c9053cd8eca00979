//! Extent to which namespaces work: steps, the result of each, and one line that carries them between processes.

use std::fmt;
use std::str::FromStr;

use super::Errno;

/// One thing tried, in the order in which it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Enter a new user namespace.
    User,
    /// Map our own user and group into it.
    Map,
    /// Enter a new network namespace.
    Net,
    /// Bring its loopback up.
    Loopback,
    /// Redirect connections there with `nf_tables`.
    Redirect,
    /// Enter a new mount namespace that shares nothing with the old one.
    Mount,
    /// Mount a `tmpfs` there.
    Tmpfs,
    /// Enter a new namespace for System V IPC and POSIX queues.
    Ipc,
    /// Enter a new namespace for the host name.
    Uts,
    /// Enter a new namespace for the view of cgroups.
    Cgroup,
    /// Enter a new process namespace.
    Pid,
    /// Mount its `/proc`.
    Proc,
}

impl Step {
    /// Every step, in order.
    pub const ALL: [Self; 12] = [
        Self::User,
        Self::Map,
        Self::Net,
        Self::Loopback,
        Self::Redirect,
        Self::Mount,
        Self::Tmpfs,
        Self::Ipc,
        Self::Uts,
        Self::Cgroup,
        Self::Pid,
        Self::Proc,
    ];

    /// The name in the line and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Map => "map",
            Self::Net => "net",
            Self::Loopback => "loopback",
            Self::Redirect => "redirect",
            Self::Mount => "mount",
            Self::Tmpfs => "tmpfs",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::Cgroup => "cgroup",
            Self::Pid => "pid",
            Self::Proc => "proc",
        }
    }

    /// The steps without which this one would measure something else.
    ///
    /// Nothing is tried without a mapped user namespace: as root it would succeed with the host's own privileges, which
    /// a jail never uses.
    #[must_use]
    pub const fn needs(self) -> &'static [Self] {
        match self {
            Self::User => &[],
            Self::Map => &[Self::User],
            Self::Net | Self::Mount | Self::Ipc | Self::Uts | Self::Cgroup | Self::Pid => &[Self::Map],
            Self::Loopback => &[Self::Net],
            Self::Redirect => &[Self::Loopback],
            Self::Tmpfs => &[Self::Mount],
            Self::Proc => &[Self::Mount, Self::Pid],
        }
    }
}

/// Result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It worked.
    Done,
    /// The kernel refused.
    Failed(Errno),
    /// A step it needs had failed.
    NotTried,
}

/// Results of all steps.
///
/// ```
/// use ringfence_jail::probe::{Namespaces, Step};
/// let line = "ringfence-namespaces 2 user=ok map=1 net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n";
/// let found: Namespaces = line.parse()?;
/// assert!(found.did(&[Step::User]));
/// assert_eq!(found.first_failure().map(|(step, _)| step), Some(Step::Map));
/// # Ok::<(), ringfence_jail::probe::Malformed>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namespaces([Outcome; Step::ALL.len()]);

impl Namespaces {
    /// Walks all steps in order, skipping those that lack what they need.
    pub fn try_each(mut attempt: impl FnMut(Step) -> Result<(), Errno>) -> Self {
        let mut found = Self([Outcome::NotTried; Step::ALL.len()]);
        for step in Step::ALL {
            if found.did(step.needs()) {
                found.0[step as usize] = attempt(step).map_or_else(Outcome::Failed, |()| Outcome::Done);
            }
        }
        found
    }

    /// Returns the result of one step.
    #[must_use]
    pub fn outcome(&self, step: Step) -> Outcome {
        self.0[step as usize]
    }

    /// Returns true if all these steps worked.
    #[must_use]
    pub fn did(&self, steps: &[Step]) -> bool {
        steps.iter().all(|&step| self.outcome(step) == Outcome::Done)
    }

    /// The last step that worked.
    #[must_use]
    pub fn furthest(&self) -> Option<Step> {
        Step::ALL.into_iter().rev().find(|&step| self.did(&[step]))
    }

    /// The first step the kernel refused, and how.
    #[must_use]
    pub fn first_failure(&self) -> Option<(Step, Errno)> {
        Step::ALL.into_iter().find_map(|step| match self.outcome(step) {
            Outcome::Failed(errno) => Some((step, errno)),
            Outcome::Done | Outcome::NotTried => None,
        })
    }
}

impl fmt::Display for Namespaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        for step in Step::ALL {
            match self.outcome(step) {
                Outcome::Done => write!(f, " {}=ok", step.name())?,
                Outcome::Failed(errno) => write!(f, " {}={}", step.name(), errno.number())?,
                Outcome::NotTried => write!(f, " {}=-", step.name())?,
            }
        }
        f.write_str("\n")
    }
}

/// The line is not one that [`Namespaces`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a line about namespaces")]
pub struct Malformed;

impl FromStr for Namespaces {
    type Err = Malformed;

    fn from_str(line: &str) -> Result<Self, Malformed> {
        let words = line.strip_prefix(HEADER).and_then(|rest| rest.strip_suffix('\n')).ok_or(Malformed)?;
        let mut words = words.split(' ').skip(1);
        let mut read = |step: Step| read_word(words.next(), step);
        let mut found = Self([Outcome::NotTried; Step::ALL.len()]);
        for step in Step::ALL {
            found.0[step as usize] = read(step)?;
        }
        // One spelling for each answer: a line that reads differently was not written by us.
        if found.to_string() == line && found.follows_needs() { Ok(found) } else { Err(Malformed) }
    }
}

impl Namespaces {
    /// A step is tried exactly when what it needs has worked.
    fn follows_needs(&self) -> bool {
        Step::ALL.iter().all(|&step| (self.outcome(step) != Outcome::NotTried) == self.did(step.needs()))
    }
}

fn read_word(word: Option<&str>, step: Step) -> Result<Outcome, Malformed> {
    let (name, value) = word.and_then(|word| word.split_once('=')).ok_or(Malformed)?;
    match value {
        _ if name != step.name() => Err(Malformed),
        "ok" => Ok(Outcome::Done),
        "-" => Ok(Outcome::NotTried),
        number => number.parse().ok().and_then(Errno::new).map(Outcome::Failed).ok_or(Malformed),
    }
}

/// The number is the version of the line.
const HEADER: &str = "ringfence-namespaces 2";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_only_what_it_writes() {
        let rows = [
            (
                true,
                "ringfence-namespaces 2 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (
                true,
                "ringfence-namespaces 2 user=ok map=13 net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (
                true,
                "ringfence-namespaces 2 user=ok map=ok net=1 loopback=- redirect=- mount=ok tmpfs=ok ipc=ok uts=ok cgroup=22 pid=ok proc=1\n",
            ),
            // No line end, a second line, another version, nothing at all.
            (
                false,
                "ringfence-namespaces 2 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-",
            ),
            (
                false,
                "ringfence-namespaces 2 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n\n",
            ),
            (
                false,
                "ringfence-namespaces 1 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (false, ""),
            // A step missing, one too many, two exchanged.
            (
                false,
                "ringfence-namespaces 2 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=-\n",
            ),
            (
                false,
                "ringfence-namespaces 2 user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=- x=-\n",
            ),
            (
                false,
                "ringfence-namespaces 2 map=- user=1 net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            // Numbers that are no error numbers, and other spellings of one that is.
            (
                false,
                "ringfence-namespaces 2 user=0 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (
                false,
                "ringfence-namespaces 2 user=4096 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (
                false,
                "ringfence-namespaces 2 user=01 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (
                false,
                "ringfence-namespaces 2 user=+1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            (
                false,
                "ringfence-namespaces 2  user=1 map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
            // Claims that cannot be: loopback without a network, nothing tried at all.
            (
                false,
                "ringfence-namespaces 2 user=ok map=ok net=1 loopback=ok redirect=ok mount=ok tmpfs=ok ipc=ok uts=ok cgroup=ok pid=ok proc=ok\n",
            ),
            (
                false,
                "ringfence-namespaces 2 user=- map=- net=- loopback=- redirect=- mount=- tmpfs=- ipc=- uts=- cgroup=- pid=- proc=-\n",
            ),
        ];
        for (fine, line) in rows {
            assert_eq!(line.parse::<Namespaces>().is_ok(), fine, "{line:?}");
        }
    }

    #[test]
    fn one_refusal_hides_only_what_builds_on_it() {
        let rows = [
            (Step::User, "111111111111", None),
            (Step::Map, ".11111111111", Some(Step::User)),
            (Step::Net, "..111.......", Some(Step::Proc)),
            (Step::Redirect, "....1.......", Some(Step::Proc)),
            (Step::Mount, ".....11....1", Some(Step::Pid)),
            (Step::Pid, "..........11", Some(Step::Cgroup)),
            (Step::Proc, "...........1", Some(Step::Pid)),
        ];
        for (refused, missing, furthest) in rows {
            let found = refuse(&[refused]);
            let shown: String =
                Step::ALL.iter().map(|&step| if found.did(&[step]) { '.' } else { '1' }).collect();
            assert_eq!((shown.as_str(), found.furthest()), (missing, furthest), "{refused:?}");
            assert_eq!(found.first_failure().map(|(step, _)| step), Some(refused));
        }
    }

    proptest! {
        #[test]
        fn survives_the_way_between_processes(refused in proptest::sample::subsequence(Step::ALL.to_vec(), 0..12)) {
            let found = refuse(&refused);
            prop_assert_eq!(found.to_string().parse(), Ok(found));
        }

        #[test]
        fn no_line_reads_as_more_than_it_says(line in "(ringfence-namespaces 2)?( ?[a-z]{0,8}=?(ok|-|[0-9]{1,5}))*\n?") {
            if let Ok(found) = line.parse::<Namespaces>() {
                prop_assert_eq!(found.to_string(), line);
            }
        }
    }

    fn refuse(refused: &[Step]) -> Namespaces {
        let errno = Errno::new(1).unwrap();
        Namespaces::try_each(|step| if refused.contains(&step) { Err(errno) } else { Ok(()) })
    }
}
