//! What an init process tells its supervisor: eight bytes at a time.

use rustix::io::Errno;

use super::ops;

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
}

/// Every part without a number, with what was tried.
const PARTS: &[(Part, &str)] = &[
    (Part::Cgroup, "join its cgroup"),
    (Part::Namespaces, "enter new namespaces"),
    (Part::Leave, "wait for leave to go on"),
    (Part::Identity, "become the jail's user"),
    (Part::Lifeline, "bind its life to the launcher's"),
    (Part::Processes, "see its own processes"),
    (Part::Private, "separate its mounts from the host's"),
    (Part::Root, "make a root of its own"),
    (Part::Init, "start its init process"),
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

impl Part {
    /// The error of something that succeeded and must not.
    pub(crate) const fn errno_of_success(self) -> Errno {
        match self {
            Self::HostVisible => Errno::EXIST,
            Self::NetworkAlive => Errno::ISCONN,
            _ => Errno::IO,
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
