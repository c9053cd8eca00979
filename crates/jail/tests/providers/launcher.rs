//! The process that makes a jail: what becomes of it and what it may be like, with every provider.

use std::fs;
use std::process::{Command, Stdio};

use policy::Limits;
use ringfence_jail::{End, JailError, Limit, Provider, hold};
use rustix::process::{dumpable_behavior, geteuid};

use super::place::{HOLD, Place, is_let_go};
use super::role::{Role, choice};
use super::run::{command, shell, spec};
use super::skip::skipped;
use super::wrapped;

/// The role of a launcher, started by another program.
fn started_by(program: &[&str], provider: &str, place: &Place, script: &str, somebody: bool) -> String {
    let role = Role::Shell(provider.into(), place.work(), script.into()).command(somebody);
    // A path at which every user can execute it.
    let launcher = place.whole.path().join("launcher");
    fs::copy("/proc/self/exe", &launcher).unwrap();
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(launcher).args(role.get_args());
    if somebody {
        use std::os::unix::process::CommandExt as _;
        command.uid(super::role::SOMEBODY).gid(super::role::SOMEBODY);
    }
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{program:?}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn works(provider: &str, what: &str) -> bool {
    let place = Place::new();
    match hold(choice(provider), &spec(&place.work()), &command(&["true"], &place.work())) {
        Err(error @ JailError::Unavailable { .. }) => {
            skipped(what, &error.to_string());
            false
        }
        _ => true,
    }
}

/// The kernel keeps no status for a process that ignores `SIGCHLD`, and ignored signals are inherited by what is executed.
pub(crate) fn ignored_children_change_no_exit_code() {
    let ignoring = ["env", "--ignore-signal=CHLD"];
    for provider in ["native", "landlock"] {
        if works(provider, "a launcher that ignores its children") {
            let said = started_by(&ignoring, provider, &Place::new(), "sh -c 'exit 5'; exit 3", false);
            assert_eq!(said, format!("{provider} 3\n"));
        }
    }
    if let Some(place) = wrapped::place() {
        let said = started_by(&ignoring, "bubblewrap", &place, "exit 3", geteuid().is_root());
        assert_eq!(said, "bubblewrap 3\n");
    }
}

/// The descriptors of a set-up have low numbers.
pub(crate) fn few_descriptors_are_enough() {
    let bounded = ["sh", "-c", "ulimit -n 200; exec \"$0\" \"$@\""];
    for provider in ["native", "landlock"] {
        if works(provider, "a launcher with few descriptors") {
            assert_eq!(
                started_by(&bounded, provider, &Place::new(), "exit 3", false),
                format!("{provider} 3\n")
            );
        }
    }
    if let Some(place) = wrapped::place() {
        let said = started_by(&bounded, "bubblewrap", &place, "exit 3", geteuid().is_root());
        assert_eq!(said, "bubblewrap 3\n");
    }
}

/// Becoming another user makes the kernel forget that memory may be looked at. That must be the jail's memory, not ours.
pub(crate) fn stays_dumpable() {
    let before = dumpable_behavior().unwrap();
    for provider in [Provider::Native, Provider::Landlock] {
        if works(provider.word(), "a launcher that stays dumpable") {
            assert_eq!(shell(provider, &spec(Place::new().work().as_path()), "exit 3").end, End::Exited(3));
            assert_eq!(dumpable_behavior().unwrap(), before, "{}", provider.word());
        }
    }
}

/// The kernel ends every process that has the memory of the one it chooses; the remaining processes have to be ended, too.
pub(crate) fn outlives_memory_that_runs_out() {
    for provider in [Provider::Native, Provider::Landlock] {
        if !works(provider.word(), "memory that runs out") {
            continue;
        }
        let place = Place::new();
        let mut held = place.fifo();
        let mut spec = spec(&place.work());
        spec.limits = Limits { memory: Some(24 << 20), processes: Some(1000), ..Limits::none() };
        let many = "i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; echo all; wait";
        let done = shell(provider, &spec, &format!("{HOLD} {many}"));
        match done.end {
            End::Limit(overrun) => assert_eq!(overrun.limit, Limit::Memory, "{done:?}"),
            End::Signaled(_) | End::Exited(_) if !done.output.contains("all") => {}
            end => panic!("{}: {end:?}", provider.word()),
        }
        assert!(is_let_go(&mut held), "{}: something is left", provider.word());
    }
}

/// `vm.memfd_noexec = 2` counts for a namespace of processes and everything below it.
pub(crate) fn works_where_memory_cannot_be_executed() {
    let forbid = "echo 2 >/proc/sys/vm/memfd_noexec && exec \"$0\" \"$@\"";
    let apart = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c"];
    let tried =
        Command::new(apart[0]).args(&apart[1..]).args([forbid, "true"]).stderr(Stdio::null()).status();
    if !tried.is_ok_and(|status| status.success()) {
        return skipped("a machine that executes no memory", "only root can make one, from Linux 6.3 on");
    }
    let program: Vec<_> = apart.into_iter().chain([forbid]).collect();
    for provider in ["native", "landlock"] {
        if works(provider, "a machine that executes no memory") {
            let said = started_by(&program, provider, &Place::new(), "exit 3", false);
            assert_eq!(said, format!("{provider} 3\n"));
        }
    }
}
