//! A cgroup of the jail's own: the kernel bounds and counts what the whole tree uses.
//!
//! The new groups lie beneath our own, so that the limits on us hold for the jail too. Only the unified hierarchy forbids
//! that while we are in ours; there they lie beside it, and only if ours is not bounded more tightly.

mod place;

use std::ffi::CString;
use std::fmt;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use policy::{Limits, Shown};
use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, flock, mkdirat, openat, unlinkat};
use rustix::io::{Errno, read, write};
use rustix::process::{Pid, getpid, test_kill_process};

pub(crate) use self::place::Wanted;
use self::place::{Controller, Place, Version, places};
use crate::resources::{Bounds, Means};
use crate::sys::linux::host::root_files::Root;

/// The cgroups of one jail. Removed when dropped.
#[derive(Debug)]
pub(crate) struct Cgroups {
    groups: Vec<Group>,
    directories: Vec<CString>,
    /// Number of processes in them that are not the command's.
    others: u64,
}

#[derive(Debug)]
struct Group {
    /// Locked for as long as we live: a process that finds the directory unlocked may remove it.
    handle: OwnedFd,
    entrance: OwnedFd,
    version: Version,
    controllers: Vec<Controller>,
}

/// Descriptors by which a process enters a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CgroupHandles<'a> {
    /// The file that it writes `0` to, while it has one thread, before it starts another process. Moving another process has
    /// the kernel wait for all processors, which takes milliseconds.
    pub(crate) procs: BorrowedFd<'a>,
    /// The group itself, where the kernel can start a process in it.
    pub(crate) directory: Option<BorrowedFd<'a>>,
}

/// Resources that a jail has used, as far as the kernel counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Processes that were ended for want of memory.
    pub(crate) oom_kills: u64,
    /// The most memory held at once, files included.
    pub(crate) held: Option<u64>,
    /// Times that a new process was refused.
    pub(crate) refused: u64,
}

/// Reason why there is no cgroup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// No hierarchy with this controller is seen.
    NotMounted(Controller),
    /// The controller is not handed down to where we may make groups.
    NotHandedDown(Controller),
    /// The kernel refused a step.
    Refused { directory: PathBuf, step: &'static str, errno: Errno },
}

/// Returns the reason why the groups of a jail with these limits could not all be made; `None` if they could. Makes nothing.
pub(crate) fn unavailable(root: Root<'_>, limits: Wanted) -> Option<Unavailable> {
    places(root, limits).1
}

impl Cgroups {
    /// Makes groups with the limits that are set, or says why the first of them could not be made.
    ///
    /// A group that cannot be made does not keep the others from being made: see [`Cgroups::bounds`]. `others` is how many
    /// processes in them are not the command's. `announced` is told the directories before the first of them is there, so
    /// that another process knows of each if we do not live on.
    pub(crate) fn make(
        limits: &Limits,
        others: u64,
        announced: impl FnOnce(&[CString]),
    ) -> (Self, Option<Unavailable>) {
        let processes = limits.processes.map(|count| count.saturating_add(others));
        let limits = &Limits { processes, ..limits.clone() };
        let wanted = Wanted { memory: limits.memory, processes: limits.processes };
        let (found, mut missing) = places(Root::of_this_machine(), wanted);
        let name =
            format!("{PREFIX}{}-{:016x}", getpid().as_raw_pid(), RandomState::new().build_hasher().finish());
        let paths = found.iter().map(|place| place.directory.join(&name));
        let paths = paths.filter_map(|path| CString::new(path.as_os_str().as_bytes()).ok());
        announced(&paths.collect::<Vec<_>>());
        let mut made = Self { groups: Vec::new(), directories: Vec::new(), others };
        for place in found {
            if let Err(refused) = made.add(place, &name, limits) {
                missing.get_or_insert(refused);
            }
        }
        (made, missing)
    }

    fn add(&mut self, place: Place, name: &str, limits: &Limits) -> Result<(), Unavailable> {
        let path = place.directory.join(name);
        let refused = |step| move |errno| Unavailable::Refused { directory: place.directory, step, errno };
        let directory = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL);
        let made = directory.and_then(|directory| mkdirat(CWD, &directory, PRIVATE).map(|()| directory));
        let directory = match made {
            Ok(directory) => directory,
            Err(errno) => return Err(refused("making a cgroup")(errno)),
        };
        // From here on it is removed with the others, in every case.
        self.directories.push(directory);
        let group = Group::open(&path, place.version, place.controllers);
        match group.and_then(|group| group.bound(limits).map(|()| group)) {
            Ok(group) => self.groups.push(group),
            Err(errno) => {
                let failed = self.directories.pop().map_or(Ok(()), |made| remove_directory(&made, None));
                return Err(refused("setting its limits")(failed.err().unwrap_or(errno)));
            }
        }
        Ok(())
    }

    /// Returns the descriptors by which the process of the command enters the groups.
    pub(crate) fn entrances(&self) -> impl Iterator<Item = CgroupHandles<'_>> {
        self.groups.iter().map(|group| CgroupHandles {
            procs: group.entrance.as_fd(),
            directory: (group.version == Version::Unified).then(|| group.handle.as_fd()),
        })
    }

    /// The absolute paths of the groups, to be removed in this order when everything in them is gone.
    #[cfg(test)]
    pub(crate) fn directories(&self) -> &[CString] {
        &self.directories
    }

    /// Returns what was used so far.
    pub(crate) fn usage(&self) -> Usage {
        let peak = |group: &Group| get(&group.handle, group.version.memory_names().peak)?.trim().parse().ok();
        let held = self.of(Controller::Memory).and_then(peak);
        Usage { oom_kills: self.oom_kills(), held, refused: self.refused() }
    }

    /// Processes that the kernel ended for want of memory.
    pub(crate) fn oom_kills(&self) -> u64 {
        let events = |group: &Group| get(&group.handle, group.version.memory_names().events);
        let text = self.of(Controller::Memory).and_then(events);
        text.and_then(|text| field(&text, "oom_kill")).unwrap_or(0)
    }

    /// Times that a new process was refused.
    pub(crate) fn refused(&self) -> u64 {
        let events = self.of(Controller::Pids).and_then(|group| get(&group.handle, "pids.events"));
        events.and_then(|text| field(&text, "max")).unwrap_or(0)
    }

    /// Processes and threads of the command now.
    pub(crate) fn processes(&self) -> Option<u64> {
        let all: u64 = get(&self.of(Controller::Pids)?.handle, "pids.current")?.trim().parse().ok()?;
        Some(all.saturating_sub(self.others))
    }

    /// Returns what enforces each limit; `watched` says that a watchdog can enforce the rest.
    pub(crate) fn bounds(&self, limits: &Limits, watched: bool, why: Option<&Unavailable>) -> Bounds {
        let means = |asked: bool, controller| match (asked, self.of(controller), watched) {
            (false, ..) => Means::Unasked,
            (true, Some(_), _) => Means::Cgroup,
            (true, None, true) => Means::Watchdog,
            (true, None, false) => Means::Nothing,
        };
        Bounds {
            memory: means(limits.memory.is_some(), Controller::Memory),
            processes: means(limits.processes.is_some(), Controller::Pids),
            why: why.map(ToString::to_string),
        }
    }

    /// Returns true if the kernel bounds the processes of this jail by a group.
    pub(crate) fn counts_processes(&self) -> bool {
        self.of(Controller::Pids).is_some()
    }

    /// Returns true if the kernel bounds the memory of this jail by a group.
    pub(crate) fn counts_memory(&self) -> bool {
        self.of(Controller::Memory).is_some()
    }

    fn of(&self, controller: Controller) -> Option<&Group> {
        self.groups.iter().find(|group| group.controllers.contains(&controller))
    }

    /// Removes the groups. Everything in them has ended or is about to.
    pub(crate) fn remove(mut self) -> Result<(), Errno> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), Errno> {
        let groups = self.groups.drain(..).map(Some).chain(std::iter::repeat_with(|| None));
        let removed = self.directories.drain(..).zip(groups);
        removed
            .map(|(directory, group)| remove_directory(&directory, group.as_ref()))
            .fold(Ok(()), Result::and)
    }

    /// Removes what others left behind that were killed: empty groups beside ours whose maker is gone. Returns how many.
    pub(crate) fn sweep(&self) -> usize {
        let parents = self.directories.iter().filter_map(|directory| {
            Path::new(std::ffi::OsStr::from_bytes(directory.as_bytes())).parent().map(Path::to_owned)
        });
        parents.map(|parent| sweep(&parent)).sum()
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        // There is no caller to tell; the next sweep finds what could not be removed.
        self.clear().ok();
    }
}

impl Group {
    fn open(path: &Path, version: Version, controllers: Vec<Controller>) -> Result<Self, Errno> {
        let handle = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        flock(&handle, FlockOperation::NonBlockingLockShared)?;
        let entrance = openat(&handle, version.entrance(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { handle, entrance, version, controllers })
    }

    fn bound(&self, limits: &Limits) -> Result<(), Errno> {
        self.controllers.iter().try_for_each(|controller| match controller {
            Controller::Memory => limits.memory.map_or(Ok(()), |bytes| self.bound_memory(bytes)),
            Controller::Pids => limits.processes.map_or(Ok(()), |count| self.bound_processes(count)),
        })
    }

    /// Swap is no way around the limit. Kernels without it have no file for it.
    fn bound_memory(&self, bytes: u64) -> Result<(), Errno> {
        let names = self.version.memory_names();
        set(&self.handle, names.limit, &bytes.to_string())?;
        let swap = if self.version == Version::Unified { 0 } else { bytes };
        match set(&self.handle, names.swap, &swap.to_string()) {
            Err(Errno::NOENT) => Ok(()),
            other => other,
        }
    }

    fn bound_processes(&self, count: u64) -> Result<(), Errno> {
        set(&self.handle, "pids.max", &count.min(MOST_PROCESSES).to_string())
    }
}

/// A process is in its group for a moment after its parent has heard of its end.
fn remove_directory(directory: &CString, group: Option<&Group>) -> Result<(), Errno> {
    let mut pause = Duration::from_micros(50);
    loop {
        match unlinkat(CWD, directory, AtFlags::REMOVEDIR) {
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::BUSY) if pause <= LAST_PAUSE => {}
            other => return other,
        }
        if let Some(Group { handle, version: Version::Unified, .. }) = group {
            // Kernels before 5.14 cannot; the pause has to do.
            set(handle, "cgroup.kill", "1").ok();
        }
        thread::sleep(pause);
        pause *= 2;
    }
}

fn sweep(parent: &Path) -> usize {
    let Ok(entries) = fs::read_dir(parent) else { return 0 };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| is_orphan(name) && remove_unlocked(&parent.join(name)).is_ok()).count()
}

/// Returns true if a name is of our making and its maker gone.
fn is_orphan(name: &str) -> bool {
    let maker = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')?.0.parse().ok());
    let Some(maker) = maker.and_then(Pid::from_raw) else { return false };
    test_kill_process(maker) == Err(Errno::SRCH)
}

/// A maker in another namespace of processes only seems to be gone; its lock does not.
fn remove_unlocked(path: &Path) -> Result<(), Errno> {
    let handle = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
    unlinkat(CWD, path, AtFlags::REMOVEDIR)
}

fn set(directory: &OwnedFd, name: &str, value: &str) -> Result<(), Errno> {
    let file = openat(directory, name, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    let written = write(&file, value.as_bytes())?;
    if written == value.len() { Ok(()) } else { Err(Errno::IO) }
}

fn get(directory: &OwnedFd, name: &str) -> Option<String> {
    let file = openat(directory, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut buffer = [0; 1024];
    let count = read(&file, &mut buffer).ok()?;
    Some(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

/// The number behind a word at the start of a line.
fn field(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once(' ').filter(|(word, _)| *word == key)?.1.trim().parse().ok())
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMounted(controller) => write!(f, "no {} cgroup is mounted", controller.word()),
            Self::NotHandedDown(controller) => {
                write!(f, "the {} controller of our cgroup is not ours to hand on", controller.word())
            }
            Self::Refused { directory, step, errno } => {
                write!(f, "{step} in {} failed: {errno}", Shown::path(directory))
            }
        }
    }
}

const PREFIX: &str = "ringfence-";
const PRIVATE: Mode = Mode::RWXU;
/// The kernel knows no larger number of processes.
const MOST_PROCESSES: u64 = 1 << 22;
/// Doubling from 50 microseconds, about a fifth of a second in all.
const LAST_PAUSE: Duration = Duration::from_millis(110);

#[cfg(test)]
pub(crate) mod tests;
