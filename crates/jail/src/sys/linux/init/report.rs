//! Reports of an init process to its supervisor: eight bytes at a time.

use rustix::io::Errno;

use super::ops;

/// A part of making a jail that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupStep {
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
    Routes,
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
}

/// Every part without a number, with what was tried.
const STEPS: &[(SetupStep, &str)] = &[
    (SetupStep::Cgroup, "join its cgroup"),
    (SetupStep::Namespaces, "enter new namespaces"),
    (SetupStep::Leave, "wait for leave to go on"),
    (SetupStep::Identity, "become the jail's user"),
    (SetupStep::Lifeline, "bind its life to the launcher's"),
    (SetupStep::Processes, "see its own processes"),
    (SetupStep::Private, "separate its mounts from the host's"),
    (SetupStep::Root, "make a root of its own"),
    (SetupStep::Init, "start its init process"),
    (SetupStep::Pivot, "leave the host's root"),
    (SetupStep::Loopback, "bring up its loopback interface"),
    (SetupStep::Routes, "make every address local in its network"),
    (SetupStep::Listen, "listen inside its network"),
    (SetupStep::HostName, "set its host name"),
    (SetupStep::Keyring, "leave the caller's keyring"),
    (SetupStep::Landlock, "confine files by Landlock"),
    (SetupStep::Terminal, "make a terminal of its own"),
    (SetupStep::Session, "begin a session of its own"),
    (SetupStep::Command, "start the process of the command"),
    (SetupStep::Report, "report"),
    (SetupStep::Streams, "connect the standard streams"),
    (SetupStep::Limits, "set limits"),
    (SetupStep::Cwd, "go to the working directory"),
    (SetupStep::NoNewPrivileges, "refuse new privileges"),
    (SetupStep::Capabilities, "give up its capabilities"),
    (SetupStep::HostVisible, "hide the host's files"),
    (SetupStep::NetworkAlive, "cut off the network"),
    (SetupStep::Listener, "hear of system calls"),
    (SetupStep::Filter, "filter system calls"),
];

/// A message of init.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// An operation of a script failed; nothing of the command has run. Without an error number it succeeded and must not.
    Failed { script: u8, operation: u16, errno: Option<Errno> },
    /// Descriptors for the supervisor come with this.
    Handed,
    /// Every layer is on; the command waits for leave.
    Ready,
    /// The command could not be executed.
    NotStarted(Errno),
    /// The command was executed.
    Started,
    /// The wait status of the command has changed.
    Changed(i32),
}

impl Report {
    pub(crate) fn read(bytes: [u8; 8]) -> Option<Self> {
        let [kind, script, low, high, a, b, c, d] = bytes;
        let number = i32::from_le_bytes([a, b, c, d]);
        let errno = (1..4096).contains(&number).then(|| Errno::from_raw_os_error(number));
        match kind {
            ops::FAILED => Some(Self::Failed { script, operation: u16::from_le_bytes([low, high]), errno }),
            ops::HANDED => Some(Self::Handed),
            ops::READY => Some(Self::Ready),
            ops::NOT_STARTED => errno.map(Self::NotStarted),
            ops::STARTED => Some(Self::Started),
            ops::CHANGED => Some(Self::Changed(number)),
            _ => None,
        }
    }
}

impl SetupStep {
    /// The error of something that succeeded and must not.
    pub(crate) const fn errno_of_success(self) -> Errno {
        match self {
            Self::HostVisible => Errno::EXIST,
            Self::NetworkAlive => Errno::ISCONN,
            _ => Errno::IO,
        }
    }

    /// Returns what was tried, after "cannot".
    pub(crate) fn words(self) -> &'static str {
        STEPS.iter().find(|(part, _)| *part == self).map_or("build its tree of files", |(_, words)| words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_init_writes_them() {
        let rows = [
            (
                [1, 2, 3, 1, 13, 0, 0, 0],
                Some(Report::Failed { script: 2, operation: 259, errno: Some(Errno::ACCESS) }),
            ),
            ([1, 0, 0, 0, 0, 0, 0, 0], Some(Report::Failed { script: 0, operation: 0, errno: None })),
            ([2, 0, 0, 0, 0, 0, 0, 0], Some(Report::Handed)),
            ([3, 0, 0, 0, 0, 0, 0, 0], Some(Report::Ready)),
            ([4, 0, 0, 0, 2, 0, 0, 0], Some(Report::NotStarted(Errno::NOENT))),
            ([4, 0, 0, 0, 0, 0, 0, 0], None),
            ([5, 0, 0, 0, 0, 0, 0, 0], Some(Report::Started)),
            ([6, 0, 0, 0, 0, 1, 0, 0], Some(Report::Changed(256))),
            ([9; 8], None),
        ];
        for (bytes, report) in rows {
            assert_eq!(Report::read(bytes), report);
        }
    }
}
