//! Looks after what a whole tree of processes uses, where no cgroup does.
//!
//! The watchdog sees a snapshot, put together while the processes go on: a process that is handed to another parent during
//! the walk may be missed once. Bounds on single processes hold meanwhile.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use policy::Limits;
use rustix::process::Pid;

use super::cgroups::Cgroups;
use crate::resources::{Amount, Crowd, Limit, Overrun, Pace, Refusals};

/// Looks after one jail.
#[derive(Debug)]
pub(crate) struct Watchdog {
    /// The first process of the jail, or the command where there is none.
    root: Pid,
    memory: Option<u64>,
    processes: Option<u64>,
    /// The kernel counts the processes and what it refuses.
    counted: bool,
    /// Memory in files of the whole machine, in bytes: the least since the jail began, so that what others give back
    /// hides nothing.
    before: u64,
    peak: Peak,
    refusals: Refusals,
    crowd: Crowd,
    pace: Pace,
}

/// The most that was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Peak {
    /// Memory of all processes together, in bytes.
    pub(crate) memory: u64,
    /// Processes and threads besides the root.
    pub(crate) processes: u64,
}

impl Watchdog {
    /// Looks after what `cgroups` does not bound; `None` when there is nothing to look after.
    pub(crate) fn new(limits: &Limits, root: Pid, cgroups: &Cgroups) -> Option<Self> {
        let counted = cgroups.counts_processes();
        let memory = limits.memory.filter(|_| !cgroups.counts_memory());
        let watches = memory.is_some() || limits.processes.is_some();
        watches.then(|| Self {
            root,
            memory,
            processes: limits.processes,
            counted,
            before: memory.map_or(0, |_| in_files()),
            peak: Peak::default(),
            refusals: Refusals::default(),
            crowd: Crowd::default(),
            pace: Pace::new(),
        })
    }

    /// Returns true if there is anything to see on this machine.
    pub(crate) fn can_see() -> bool {
        Process::read(rustix::process::getpid(), &mut String::new()).is_some()
    }

    /// Returns the time to wait until the next look.
    pub(crate) fn due(&self) -> Duration {
        self.pace.period()
    }

    /// The most that was seen so far.
    pub(crate) fn peak(&self) -> Peak {
        self.peak
    }

    /// Looks. An answer means that the tree has to be ended.
    pub(crate) fn look(&mut self, cgroups: &Cgroups, now: Instant) -> Option<Overrun> {
        let start = Instant::now();
        let walked = (self.memory.is_some() || !self.counted).then(|| Tree::read(self.root));
        let tree = walked.unwrap_or_default();
        self.peak.memory = self.peak.memory.max(tree.memory);
        self.peak.processes = self.peak.processes.max(tree.tasks);
        let crowded = self.crowded(&tree, cgroups, now);
        let at_most = self.at_most(&tree);
        let overrun = self.too_many(crowded, now).or_else(|| self.too_much(&tree, at_most));
        self.pace.note(self.share(at_most, tree.tasks), start.elapsed());
        overrun
    }

    /// If the kernel counts, a crowd that never wanted to be larger is not blamed; but a process that was refused and stays
    /// may be waiting for the next try.
    fn crowded(&mut self, tree: &Tree, cgroups: &Cgroups, now: Instant) -> bool {
        let Some(allowed) = self.processes else { return false };
        if !self.counted {
            return Crowd::is_one(tree.tasks, allowed);
        }
        let refused = cgroups.refused();
        let stays = || cgroups.processes().is_some_and(|count| Crowd::is_one(count, allowed));
        self.refusals.note(refused, now) || (refused > 0 && stays())
    }

    fn too_many(&mut self, crowded: bool, now: Instant) -> Option<Overrun> {
        let allowed = self.processes?;
        self.crowd.note(crowded, now).then(|| Overrun::new(Limit::Processes, Amount::Count(allowed)))
    }

    /// Memory that processes share counts for each of them here, and memory in files counts for the jail, no matter which
    /// process made it.
    fn at_most(&mut self, tree: &Tree) -> u64 {
        if self.memory.is_none() {
            return 0;
        }
        let in_files = in_files();
        self.before = self.before.min(in_files);
        tree.memory.saturating_add(in_files - self.before)
    }

    /// The owner of memory is only looked up when it could be too much: that is slow.
    fn too_much(&self, tree: &Tree, at_most: u64) -> Option<Overrun> {
        let allowed = self.memory.filter(|allowed| at_most > *allowed)?;
        let exact = tree.exact();
        (exact > allowed)
            .then(|| Overrun::new(Limit::Memory, Amount::Bytes(allowed)).used(Amount::Bytes(exact)))
    }

    /// Thousandths of the limit that is used most.
    fn share(&self, memory: u64, tasks: u64) -> u64 {
        let of = |used: u64, allowed: Option<u64>| {
            allowed.map_or(0, |allowed| used.saturating_mul(1000) / allowed.max(1))
        };
        of(memory, self.memory).max(of(tasks, self.processes))
    }
}

/// A tree of processes at one moment.
#[derive(Debug, Default)]
struct Tree {
    members: Vec<Process>,
    /// Of all together, in bytes; shared memory more than once.
    memory: u64,
    /// Threads of all but the root.
    tasks: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    id: Pid,
    memory: u64,
    threads: u64,
}

impl Tree {
    fn read(root: Pid) -> Self {
        let mut buffer = String::new();
        let members: Vec<_> =
            members(root).into_iter().filter_map(|id| Process::read(id, &mut buffer)).collect();
        let memory = members.iter().map(|process| process.memory).sum();
        let tasks = members.iter().filter(|process| process.id != root).map(|process| process.threads).sum();
        Self { members, memory, tasks }
    }

    /// The memory with shared parts divided among those who share them. Where that may not be read, it counts in full.
    /// Of files in memory the part that is mapped and the part that is open overlap; the larger counts.
    fn exact(&self) -> u64 {
        let (mut own, mut mapped) = (0, 0);
        for process in &self.members {
            let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", process.id.as_raw_pid()));
            match rollup {
                Ok(rollup) => {
                    own += kilobytes(&rollup, &["Pss_Anon:", "SwapPss:"]);
                    mapped += kilobytes(&rollup, &["Pss_Shmem:"]);
                }
                Err(_) => own += process.memory,
            }
        }
        own + mapped.max(self.open_in_memory())
    }

    /// Files without a name that exist in memory only, each once.
    fn open_in_memory(&self) -> u64 {
        let mut files = HashMap::new();
        for process in &self.members {
            let descriptors = fs::read_dir(format!("/proc/{}/fd", process.id.as_raw_pid()));
            let paths = descriptors.into_iter().flatten().flatten().map(|entry| entry.path());
            let nameless = |path: &PathBuf| {
                fs::read_link(path).is_ok_and(|name| name.as_os_str().as_bytes().starts_with(NAMELESS))
            };
            let found = paths.filter(nameless).filter_map(|path| fs::metadata(path).ok());
            files.extend(found.map(|file| ((file.dev(), file.ino()), file.blocks() * 512)));
        }
        files.values().sum()
    }
}

impl Process {
    fn read(id: Pid, buffer: &mut String) -> Option<Self> {
        *buffer = fs::read_to_string(format!("/proc/{}/status", id.as_raw_pid())).ok()?;
        Some(Self { id, memory: memory(buffer), threads: number(buffer, "Threads:").unwrap_or(1) })
    }
}

/// Memory that a program wrote itself; what it maps of files can be had back at any time.
fn memory(status: &str) -> u64 {
    kilobytes(status, &["RssAnon:", "RssShmem:", "VmSwap:"])
}

/// Memory in files that exist nowhere else, of the whole machine.
fn in_files() -> u64 {
    fs::read_to_string("/proc/meminfo").map_or(0, |all| kilobytes(&all, &["Shmem:"]))
}

fn kilobytes(text: &str, keys: &[&str]) -> u64 {
    keys.iter().filter_map(|key| number(text, key)).sum::<u64>().saturating_mul(1024)
}

fn number(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The processes below `root`, and itself: by the kernel's lists of children, or where it keeps none by the parent of every
/// process.
fn members(root: Pid) -> Vec<Pid> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        next += 1;
        match children(process) {
            Some(children) => found.extend(children),
            None if process == root => return members_by_parent(root),
            // It ended while we were looking.
            None => {}
        }
    }
    found
}

/// Each thread has a list of its own.
fn children(process: Pid) -> Option<Vec<Pid>> {
    let mut found = Vec::new();
    let mut listed = false;
    for thread in fs::read_dir(format!("/proc/{}/task", process.as_raw_pid())).ok()?.flatten() {
        let Ok(list) = fs::read_to_string(thread.path().join("children")) else { continue };
        listed = true;
        found.extend(list.split_whitespace().filter_map(pid));
    }
    listed.then_some(found)
}

fn members_by_parent(root: Pid) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| pid(entry.file_name().to_str()?));
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for id in ids {
        if let Some(parent) = parent(id) {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(process) = found.get(next) {
        // Taken out, so that no picture of the machine makes us walk in a circle.
        found.extend(children.remove(process).unwrap_or_default());
        next += 1;
    }
    found
}

/// The fields begin behind the name of the program, which may contain anything.
fn parent(id: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_pid())).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1).and_then(pid)
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|number| *number > 0).and_then(Pid::from_raw)
}

/// Start of the name that the kernel gives to a file that was made without a name, up to the name it was given.
const NAMELESS: &[u8] = b"/memfd:";

#[cfg(test)]
mod tests;
