//! Rows about namespaces.

use jail::probe::{Machine, Namespaces, Outcome, Step};

use super::cause::Cause;
use super::lost;
use super::row::{Row, Status};

pub(super) fn rows(machine: &Machine) -> Vec<Row> {
    let found = machine.namespaces.as_ref();
    let user = found.map_or_else(
        |error| user_row(Status::Missing, error.to_string()).remedy(AGAIN).lost(&[lost::NATIVE]),
        |found| user(found, machine),
    );
    [vec![user], TABLE.iter().map(|kind| kind.row(found.ok())).collect()].concat()
}

fn user(found: &Namespaces, machine: &Machine) -> Row {
    let steps = &[Step::User, Step::Map];
    match Cause::of(machine) {
        Some(cause) => {
            let measured = format!("{}; {}", refusals(found, steps), cause.text());
            user_row(Status::Missing, measured).remedy(cause.remedy(machine)).lost(&[lost::NATIVE])
        }
        None => user_row(Status::Ok, "entered, and our own user mapped into it"),
    }
}

fn user_row(status: Status, measured: impl AsRef<str>) -> Row {
    Row::new("userns", status, measured, "a new user namespace with our own user in it")
}

/// A namespace and its purpose.
struct Kind {
    id: &'static str,
    steps: &'static [Step],
    works: &'static str,
    expected: &'static str,
    /// Status without them.
    without: Status,
    remedy: &'static str,
    lost: &'static [&'static str],
}

impl Kind {
    fn row(&self, found: Option<&Namespaces>) -> Row {
        let row = |status, measured: &str| Row::new(self.id, status, measured, self.expected);
        match found {
            Some(found) if found.did(self.steps) => row(Status::Ok, self.works),
            Some(found) if self.steps.iter().any(|&step| found.outcome(step) != Outcome::NotTried) => {
                row(self.without, &refusals(found, self.steps)).remedy(self.remedy).lost(self.lost)
            }
            _ => row(Status::Missing, "not tried: see above").lost(self.lost),
        }
    }
}

/// `net: EPERM, loopback: not tried`
fn refusals(found: &Namespaces, steps: &[Step]) -> String {
    let text = |&step: &Step| match found.outcome(step) {
        Outcome::Done => None,
        Outcome::Failed(errno) => Some(format!("{}: {errno}", step.name())),
        Outcome::NotTried => Some(format!("{}: not tried", step.name())),
    };
    steps.iter().filter_map(text).collect::<Vec<_>>().join(", ")
}

const AGAIN: &str = "see what the probe itself says: ringfence doctor --probe-namespaces";
const ASK: &str =
    "ask whoever runs this machine: a limit in /proc/sys/user, a security module or a filter forbids it";

const TABLE: &[Kind] = &[
    Kind {
        id: "netns",
        steps: &[Step::Net, Step::Loopback],
        works: "entered, loopback up",
        expected: "a new network namespace with its loopback up",
        without: Status::Missing,
        remedy: ASK,
        lost: &[lost::NETWORK],
    },
    Kind {
        id: "redirect",
        steps: &[Step::Redirect],
        works: "connections redirected by nf_tables",
        expected: "rules of nf_tables in a new network namespace",
        without: Status::Weak,
        remedy: "load the modules: sudo modprobe -a nf_tables nft_chain_nat nft_redir nft_nat",
        lost: &[lost::REDIRECTION],
    },
    Kind {
        id: "mountns",
        steps: &[Step::Mount, Step::Tmpfs],
        works: "entered, a tmpfs mounted",
        expected: "a new mount namespace with a tmpfs in it",
        without: Status::Missing,
        remedy: ASK,
        lost: &[lost::MOUNTS],
    },
    Kind {
        id: "ipcns",
        steps: &[Step::Ipc],
        works: "entered",
        expected: "a new IPC namespace",
        without: Status::Missing,
        remedy: ASK,
        lost: &[lost::IPC],
    },
    Kind {
        id: "utsns",
        steps: &[Step::Uts, Step::Cgroup],
        works: "entered, with one for cgroups",
        expected: "new UTS and cgroup namespaces",
        without: Status::Weak,
        remedy: ASK,
        lost: &[lost::NAMES],
    },
    Kind {
        id: "pidns",
        steps: &[Step::Pid],
        works: "entered",
        expected: "a new process namespace",
        without: Status::Missing,
        remedy: ASK,
        lost: &[lost::PROCESSES],
    },
    Kind {
        id: "proc-mount",
        steps: &[Step::Proc],
        works: "mounted for a new process namespace",
        expected: "a new /proc",
        without: Status::Weak,
        remedy: "nothing has to change: where container engines cover parts of /proc, the existing one is used, read-only",
        lost: &[lost::PROC],
    },
];
