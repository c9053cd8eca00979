//! Decides whether a limit ended the command.

use std::time::Duration;

use policy::Limits;

use super::overrun::{Amount, Limit, Overrun};

/// Exit status of the command itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Exited(u8),
    Signaled(u8),
}

/// Observations of a command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Observed {
    pub(crate) status: Status,
    /// The limit for which we ended the tree ourselves.
    pub(crate) stopped: Option<Overrun>,
    /// Processes that the kernel ended because the cgroup was out of memory.
    pub(crate) oom_kills: u64,
    /// The most memory the cgroup held, files included.
    pub(crate) held: Option<u64>,
    /// The most memory that was seen in processes: the largest of them, or all together when we looked.
    pub(crate) memory: u64,
    /// Times that the cgroup refused a process.
    pub(crate) refused: u64,
    /// The most processes that were seen at once.
    pub(crate) processes: u64,
    /// Processor time of the whole tree.
    pub(crate) cpu: Duration,
    /// True if the private temporary directory was full.
    pub(crate) tmp_full: bool,
}

impl Observed {
    /// A command that ended without any sign of a limit.
    pub(crate) const fn only(status: Status) -> Self {
        Self {
            status,
            stopped: None,
            oom_kills: 0,
            held: None,
            memory: 0,
            refused: 0,
            processes: 0,
            cpu: Duration::ZERO,
            tmp_full: false,
        }
    }
}

/// The limit that ended the command, if one did.
///
/// A command that succeeded has coped with all refusals: it is never turned into a failure. Of several signs the surest counts.
pub(crate) fn verdict(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    if seen.stopped.is_some() || seen.status == Status::Exited(0) {
        return seen.stopped;
    }
    out_of_memory(limits, seen)
        .or_else(|| by_signal(limits, seen))
        .or_else(|| tmp(limits, seen))
        .or_else(|| processes(limits, seen))
        .or_else(|| nearly_all_memory(limits, seen))
}

/// The limit that ended processes of a command that ended with success: it has coped with that, and people should know.
pub(crate) fn survived(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    out_of_memory(limits, seen).filter(|_| seen.status == Status::Exited(0) && seen.stopped.is_none())
}

/// A cgroup that never came near its limit was not the one that ran out: the machine was.
fn out_of_memory(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    let allowed = limits.memory?;
    let full = seen.held.is_none_or(|held| is_most(held, allowed));
    (seen.oom_kills > 0 && full).then(|| Overrun::new(Limit::Memory, Amount::Bytes(allowed)))
}

/// A shell tells the signal that ended its last command as 128 and its number.
fn by_signal(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    let (Status::Signaled(number) | Status::Exited(number)) = seen.status;
    let number = if matches!(seen.status, Status::Exited(_)) { number.checked_sub(128)? } else { number };
    match number {
        FILE_TOO_LARGE => limits.file_size.map(|size| Overrun::new(Limit::FileSize, Amount::Bytes(size))),
        OUT_OF_TIME => limits.cpu.map(|time| Overrun::new(Limit::Cpu, Amount::Time(time))),
        // A process that ignores the first signal is killed a second later.
        KILL => limits
            .cpu
            .filter(|time| seen.cpu >= *time)
            .map(|time| Overrun::new(Limit::Cpu, Amount::Time(time)).used(Amount::Time(seen.cpu))),
        _ => None,
    }
}

fn tmp(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    let allowed = limits.tmp.filter(|_| seen.tmp_full)?;
    Some(Overrun::new(Limit::Tmp, Amount::Bytes(allowed)))
}

fn processes(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    let allowed = limits.processes.filter(|allowed| seen.refused > 0 || seen.processes >= *allowed)?;
    Some(Overrun::new(Limit::Processes, Amount::Count(allowed)))
}

/// Returns an overrun if the command had nearly all of its memory:
/// a refusal by a process's own bound on memory leaves no other trace.
fn nearly_all_memory(limits: &Limits, seen: &Observed) -> Option<Overrun> {
    let allowed = limits.memory.filter(|allowed| is_most(seen.memory, *allowed))?;
    Some(Overrun::new(Limit::Memory, Amount::Bytes(allowed)).used(Amount::Bytes(seen.memory)))
}

fn is_most(used: u64, allowed: u64) -> bool {
    used >= allowed / 10 * 9
}

const KILL: u8 = 9;
const OUT_OF_TIME: u8 = 24;
const FILE_TOO_LARGE: u8 = 25;

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;
    const FAILED: Status = Status::Exited(1);
    const MINUTE: Duration = Duration::from_secs(60);

    fn limits() -> Limits {
        Limits {
            memory: Some(GB),
            processes: Some(100),
            cpu: Some(MINUTE),
            file_size: Some(GB),
            tmp: Some(GB),
            ..Limits::none()
        }
    }

    fn seen(status: Status, change: impl FnOnce(&mut Observed)) -> Observed {
        let mut seen = Observed::only(status);
        change(&mut seen);
        seen
    }

    #[test]
    fn signs_of_a_limit() {
        let rows = [
            (seen(FAILED, |_| ()), None),
            (seen(Status::Signaled(11), |_| ()), None),
            (seen(FAILED, |it| it.oom_kills = 1), Some("memory")),
            (seen(Status::Signaled(9), |it| (it.oom_kills, it.held) = (1, Some(GB))), Some("memory")),
            (seen(Status::Signaled(9), |it| (it.oom_kills, it.held) = (1, Some(GB / 2))), None),
            (seen(FAILED, |it| it.held = Some(GB)), None),
            (seen(FAILED, |it| it.memory = GB / 10 * 9), Some("memory")),
            (seen(FAILED, |it| it.memory = GB / 10 * 9 - 1), None),
            (seen(Status::Signaled(25), |_| ()), Some("file-size")),
            (seen(Status::Exited(153), |_| ()), Some("file-size")),
            (seen(Status::Exited(25), |_| ()), None),
            (seen(Status::Signaled(24), |_| ()), Some("cpu")),
            (seen(Status::Exited(152), |_| ()), Some("cpu")),
            (seen(Status::Signaled(9), |it| it.cpu = MINUTE), Some("cpu")),
            (seen(Status::Exited(137), |it| it.cpu = MINUTE), Some("cpu")),
            (seen(Status::Signaled(9), |it| it.cpu = MINUTE / 2), None),
            (seen(FAILED, |it| it.cpu = MINUTE * 2), None),
            (seen(FAILED, |it| it.tmp_full = true), Some("tmp")),
            (seen(FAILED, |it| it.refused = 1), Some("processes")),
            (seen(FAILED, |it| it.processes = 100), Some("processes")),
            (seen(FAILED, |it| it.processes = 99), None),
            (seen(FAILED, |it| (it.oom_kills, it.tmp_full) = (1, true)), Some("memory")),
            (seen(FAILED, |it| (it.memory, it.tmp_full) = (GB, true)), Some("tmp")),
        ];
        for (seen, expected) in rows {
            let found = verdict(&limits(), &seen).map(|overrun| overrun.limit.word());
            assert_eq!(found, expected, "{seen:?}");
            assert_eq!(
                verdict(&Limits::none(), &seen),
                None,
                "a limit that is not set is not reached: {seen:?}"
            );
            let succeeded = Observed { status: Status::Exited(0), ..seen };
            assert_eq!(verdict(&limits(), &succeeded), None, "what succeeded is left alone: {succeeded:?}");
        }
    }

    #[test]
    fn what_we_ended_was_ended_by_its_limit() {
        for limit in Limit::ALL {
            let overrun = Overrun::new(limit, Amount::Count(1));
            for status in [Status::Exited(0), Status::Exited(1), Status::Signaled(9)] {
                let seen = seen(status, |it| (it.stopped, it.oom_kills) = (Some(overrun), 3));
                assert_eq!(verdict(&limits(), &seen), Some(overrun));
            }
        }
    }
}
