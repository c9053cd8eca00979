//! What the processes that build a jail tell their supervisor: eight bytes at a time.

use rustix::io::Errno;

/// A part of making a jail that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Cgroup,
    Namespaces,
    Leave,
    Identity,
    Lifeline,
    Processes,
    Private,
    Root,
    /// A step of building the tree, by its place in the script.
    Tree(u16),
    Init,
    Pivot,
    Loopback,
    Listen,
    HostName,
    Keyring,
    Landlock,
    Terminal,
    Session,
    Command,
    Report,
    Streams,
    Limits,
    Cwd,
    NoNewPrivileges,
    Capabilities,
    HostVisible,
    NetworkAlive,
    Listener,
    Filter,
    Seal,
}

/// Every part without a number, in the order of their codes.
const PARTS: &[(Part, &str)] = &[
    (Part::Cgroup, "join its cgroup"),
    (Part::Namespaces, "enter new namespaces"),
    (Part::Leave, "wait for leave to go on"),
    (Part::Identity, "become the jail's user"),
    (Part::Lifeline, "bind its life to the launcher's"),
    (Part::Processes, "see its own processes"),
    (Part::Private, "separate its mounts from the host's"),
    (Part::Root, "make a root of its own"),
    (Part::Init, "start the process that reaps"),
    (Part::Pivot, "leave the host's root"),
    (Part::Loopback, "bring up its loopback interface"),
    (Part::Listen, "listen inside its network"),
    (Part::HostName, "set its host name"),
    (Part::Keyring, "leave the caller's keyring"),
    (Part::Landlock, "confine files by Landlock"),
    (Part::Terminal, "make a terminal of its own"),
    (Part::Session, "begin a session of its own"),
    (Part::Command, "start the process of the command"),
    (Part::Report, "report"),
    (Part::Streams, "connect the standard streams"),
    (Part::Limits, "set limits"),
    (Part::Cwd, "go to the working directory"),
    (Part::NoNewPrivileges, "refuse new privileges"),
    (Part::Capabilities, "give up its capabilities"),
    (Part::HostVisible, "hide the host's files"),
    (Part::NetworkAlive, "cut off the network"),
    (Part::Listener, "hear of system calls"),
    (Part::Filter, "filter system calls"),
    (Part::Seal, "leave the launcher's memory"),
];

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// A part failed; nothing of the command has run.
    Failed(Part, Errno),
    /// Handles on the command and its terminal come with this.
    Handles,
    /// Every layer is on; the command waits at the gate.
    Ready,
    /// The command could not be executed.
    NotStarted(Errno),
}

impl Report {
    pub(super) fn bytes(self) -> [u8; 8] {
        let (kind, part, errno) = match self {
            Self::Failed(part, errno) => (1, part.code(), errno.raw_os_error()),
            Self::Handles => (2, 0, 0),
            Self::Ready => (3, 0, 0),
            Self::NotStarted(errno) => (4, 0, errno.raw_os_error()),
        };
        let [part_low, part_high] = part.to_le_bytes();
        let [a, b, c, d] = errno.to_le_bytes();
        [kind, 0, part_low, part_high, a, b, c, d]
    }

    pub(super) fn read(bytes: [u8; 8]) -> Option<Self> {
        let [kind, _, part_low, part_high, a, b, c, d] = bytes;
        let number = i32::from_le_bytes([a, b, c, d]);
        let errno = || (1..4096).contains(&number).then(|| Errno::from_raw_os_error(number));
        match kind {
            1 => Some(Self::Failed(Part::read(u16::from_le_bytes([part_low, part_high]))?, errno()?)),
            2 => Some(Self::Handles),
            3 => Some(Self::Ready),
            4 => Some(Self::NotStarted(errno()?)),
            _ => None,
        }
    }
}

/// Codes from here on are steps of the tree.
const TREE: u16 = 0x100;

impl Part {
    /// Called while memory is shared: finds its code without allocating.
    fn code(self) -> u16 {
        match self {
            Self::Tree(index) => TREE.saturating_add(index),
            other => PARTS.iter().zip(0..).find(|((part, _), _)| *part == other).map_or(0, |(_, code)| code),
        }
    }

    fn read(code: u16) -> Option<Self> {
        match code.checked_sub(TREE) {
            Some(index) => Some(Self::Tree(index)),
            None => PARTS.get(usize::from(code)).map(|(part, _)| *part),
        }
    }

    /// What was tried, after "cannot".
    pub(crate) fn words(self) -> &'static str {
        PARTS.iter().find(|(part, _)| *part == self).map_or("build its tree of files", |(_, words)| words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_survive_the_way() {
        let parts = PARTS.iter().map(|(part, _)| *part).chain([Part::Tree(0), Part::Tree(700)]);
        let failed = parts.map(|part| Report::Failed(part, Errno::PERM));
        for report in failed.chain([Report::Handles, Report::Ready, Report::NotStarted(Errno::NOENT)]) {
            assert_eq!(Report::read(report.bytes()), Some(report));
        }
        assert_eq!(Report::read([9; 8]), None);
    }
}
