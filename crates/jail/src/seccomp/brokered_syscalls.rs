//! Table: the brokered system calls, which the notify supervisor performs in the command's place (`sys/linux/notify/name_guard`).
//!
//! A call that is added here needs its decoding and its performance there (`act.rs`).

use super::row::{Answer, Row, any_bit, call, x86};

/// Rows of the filter that has names made by the notify supervisor. Removing one is left to the command: it makes nothing run, and
/// there is much to remove.
pub(super) const BROKERED: &[Row] = &[
    Row {
        calls: &[x86("open", 2)],
        when: &[any_bit(1, WRITES, "writing, O_CREAT or O_TRUNC")],
        answer: Answer::Notify,
        because: "makes a name, or opens one for writing",
    },
    Row {
        calls: &[call("openat", 257, 56)],
        when: &[any_bit(2, WRITES, "writing, O_CREAT or O_TRUNC")],
        answer: Answer::Notify,
        because: "makes a name, or opens one for writing",
    },
    Row {
        calls: &[
            x86("creat", 85),
            x86("mkdir", 83),
            call("mkdirat", 258, 34),
            x86("mknod", 133),
            call("mknodat", 259, 33),
            x86("symlink", 88),
            call("symlinkat", 266, 36),
            x86("link", 86),
            call("linkat", 265, 37),
            x86("rename", 82),
            call("renameat", 264, 38),
            call("renameat2", 316, 276),
        ],
        when: &[],
        answer: Answer::Notify,
        because: "makes a name, or moves one",
    },
    Row {
        calls: &[call("truncate", 76, 45)],
        when: &[],
        answer: Answer::Notify,
        because: "changes a file by its name",
    },
    Row {
        calls: &[call("bind", 49, 200)],
        when: &[],
        answer: Answer::Notify,
        because: "a socket with a path is a name; which socket and which address it is stands behind pointers",
    },
    Row {
        calls: &[call("getsockname", 51, 204)],
        when: &[],
        answer: Answer::Notify,
        because: "a socket that was bound by the supervisor has the address that its owner gave",
    },
    Row {
        calls: &[call("umask", 95, 166)],
        when: &[],
        answer: Answer::Notify,
        because: "files are made with the umask of whoever wants them",
    },
];

/// `O_WRONLY`, `O_RDWR`, `O_CREAT` and `O_TRUNC`: the same on every machine we know.
const WRITES: u32 = 0o1103;
