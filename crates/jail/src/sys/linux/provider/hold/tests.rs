//! Each layer alone, with the others off or as wide as they go: what it stops has to be stopped by no other layer.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use policy::Limits;
use tempfile::TempDir;

use super::*;
use crate::launch::{Capture, End};
use crate::plan::{Access, Grant};
use crate::seccomp::Instruction;
use crate::spec::Mode;
use crate::sys::linux::limits::cgroups::tests::skip::skipped;

/// A workspace, and beside it a directory with a secret in it.
struct Place {
    whole: TempDir,
}

impl Place {
    fn new() -> Self {
        let whole = tempfile::tempdir().unwrap();
        fs::set_permissions(whole.path(), Permissions::from_mode(0o755)).unwrap();
        for name in ["work", "outside"] {
            fs::create_dir(whole.path().join(name)).unwrap();
        }
        fs::write(whole.path().join("outside/secret"), "hush\n").unwrap();
        Self { whole }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.whole.path().canonicalize().unwrap().join(name)
    }

    fn spec(&self) -> Spec {
        let mut spec = Spec::for_workspace(&self.path("work"), Path::new("/home/agent"), Limits::none());
        spec.environment = vec![("PATH".into(), "/usr/bin:/bin:/usr/sbin:/sbin".into())];
        spec
    }

    /// The workspace, and beside it what a wider view would show.
    fn wide(&self) -> Spec {
        self.spec().view(&self.path("outside"), Mode::ReadWrite)
    }
}

/// The one layer that is on, besides those that cannot be off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Nothing,
    Filter,
    Landlock,
    Limits,
    Network,
}

impl On {
    fn apply(self, order: &mut Order<'_>, plan: &mut Plan) {
        if self != Self::Filter {
            order.filter = vec![EVERYTHING];
        }
        if self != Self::Landlock {
            plan.grants = [Access::Write, Access::Device].map(everywhere).to_vec();
        }
        if self != Self::Limits {
            order.limits.clear();
        }
    }
}

/// A filter that lets everything pass.
const EVERYTHING: Instruction = Instruction { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };

fn everywhere(access: Access) -> Grant {
    Grant { path: PathBuf::from("/"), directory: true, access }
}

/// Output of a script with some layers on; `None` where this machine has no namespaces.
fn said(on: On, spec: &Spec, change: impl FnOnce(&mut Order<'_>, &mut Plan), script: &str) -> Option<String> {
    let words = ["sh", "-c", script];
    let streams = Streams::Captured(Capture::keeping(4096));
    let argv = words.map(OsString::from).to_vec();
    let command = Command { argv, cwd: spec.workspace.clone(), streams, observe: false };
    let started = start(on, spec, &command, change);
    let running = match started {
        Err(broken) => match error(Provider::Native, broken) {
            refused @ JailError::Unavailable { .. } => {
                skipped("a layer alone", &refused.to_string());
                return None;
            }
            other => panic!("{other}"),
        },
        Ok(running) => running,
    };
    running.processes.go().unwrap().unwrap();
    let outcome = running.wait().unwrap();
    assert!(matches!(outcome.end, End::Exited(_)), "{:?}", outcome.end);
    let [output, errors] = outcome.captured.unwrap();
    let (output, errors) = (String::from_utf8(output.head).unwrap(), String::from_utf8(errors.head).unwrap());
    assert_eq!(errors, "", "{script}\n{output}");
    Some(output)
}

fn start(
    on: On,
    spec: &Spec,
    command: &Command,
    change: impl FnOnce(&mut Order<'_>, &mut Plan),
) -> Result<Running, SetupError> {
    let (init, machine) =
        PrewarmedInit::start(SpawnOptions { own_network: on == On::Network, powerful: true, bare: true })?;
    let mut plan = plan(spec, &with_views(machine, spec)).unwrap();
    plan.own_network = on == On::Network;
    let environment = plan.environment.clone();
    let terms = CommandTerms {
        environment: &environment,
        sockets: Sockets::Namespaced,
        own_users: true,
        heard: None,
        others: 0,
    };
    let (running, _) = begin(spec, command, &terms, |mut order, groups| {
        on.apply(&mut order, &mut plan);
        change(&mut order, &mut plan);
        let held = init.finish_setup(&order, groups, &plan)?;
        Ok(SpawnedJail { pid: held.pid, terminal: held.terminal, processes: Box::new(held.jail) })
    })?;
    Ok(running)
}

fn as_it_is(_: &mut Order<'_>, _: &mut Plan) {}

/// Tells for each line whether it works.
fn tried(lines: &[&str]) -> String {
    let each = lines.iter().map(|line| format!("({line}) >/dev/null 2>&1 && echo works || echo refused"));
    each.collect::<Vec<_>>().join("\n")
}

/// With the layer off every line works, with it on none does.
fn stops(off: (On, &Spec), on: (On, &Spec), lines: &[&str]) {
    let script = tried(lines);
    let each = |word: &str| format!("{word}\n").repeat(lines.len());
    let Some(without) = said(off.0, off.1, as_it_is, &script) else { return };
    assert_eq!(without, each("works"), "nothing to be stopped: {script}");
    assert_eq!(said(on.0, on.1, as_it_is, &script).unwrap(), each("refused"), "{script}");
}

/// The mounts show more than Landlock grants. Names are not its business: they are listed where the mounts show them.
#[test]
fn landlock_alone_keeps_files() {
    if calls::landlock_abi().is_err() {
        return skipped("Landlock alone", "the kernel has none");
    }
    let place = Place::new();
    let lines = [
        "cat ../outside/secret",
        "echo x >>../outside/secret",
        "mv ../outside/secret ../outside/b && mv ../outside/b ../outside/secret",
        "echo >../outside/new && rm ../outside/new",
        "mkdir ../outside/dir && rmdir ../outside/dir",
    ];
    let narrow = |_: &mut Order<'_>, plan: &mut Plan| {
        // Beneath private space everything is granted, and the workspace of this test may lie there.
        let work = place.path("work");
        plan.grants.retain(|grant| grant.path == work);
        let system = ["/usr", "/bin", "/lib", "/lib64"].map(PathBuf::from);
        let there = system.into_iter().filter(|path| path.is_dir());
        plan.grants.extend(there.map(|path| Grant { path, directory: true, access: Access::Read }));
        plan.grants.push(Grant { path: "/dev".into(), directory: true, access: Access::Device });
    };
    let script = tried(&lines);
    let Some(without) = said(On::Nothing, &place.wide(), as_it_is, &script) else { return };
    assert_eq!(without, "works\n".repeat(lines.len()));
    assert_eq!(said(On::Landlock, &place.wide(), narrow, &script).unwrap(), "refused\n".repeat(lines.len()));
    assert_eq!(fs::read_to_string(place.path("outside/secret")).unwrap(), "hush\nx\n");
}

/// Landlock grants everything everywhere, and no call is filtered.
#[test]
fn mounts_alone_keep_files() {
    let place = Place::new();
    let lines = ["cat ../outside/secret", "ls ../outside", "echo x >>../outside/secret"];
    stops((On::Nothing, &place.wide()), (On::Nothing, &place.spec()), &lines);
    let lines = [
        "touch /usr/new",
        "touch /etc/new",
        "touch /new",
        "echo >/proc/sys/kernel/domainname",
        "echo >/etc/passwd",
        "ls /sys",
        "ls /root",
    ];
    if let Some(said) = said(On::Nothing, &place.spec(), as_it_is, &tried(&lines)) {
        assert_eq!(said, "refused\n".repeat(lines.len()));
    }
    let only = place.spec().view(&place.path("work"), Mode::ReadOnly);
    stops((On::Nothing, &place.spec()), (On::Nothing, &only), &["touch new"]);
}

#[test]
fn the_filter_alone_refuses_calls() {
    let place = Place::new();
    let spec = place.spec();
    stops((On::Nothing, &spec), (On::Filter, &spec), &["unshare -U true", "unshare -Un true"]);
}

/// Nothing but the absence of capabilities keeps these from working: they are tried without a filter.
#[test]
fn no_capabilities_are_left() {
    let place = Place::new();
    let script = "grep -E '^(Cap|NoNewPrivs)' /proc/self/status | tr '\\t' ' '";
    let said_of = |script: &str| said(On::Nothing, &place.spec(), as_it_is, script);
    let Some(said) = said_of(script) else { return };
    let none = |name: &str| format!("{name}: 0000000000000000\n");
    let caps: String = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(none).concat();
    assert_eq!(said, format!("{caps}NoNewPrivs: 1\n"));
    let lines =
        ["mount -t tmpfs none /tmp", "umount /proc", "hostname other", "chroot / true", "mknod /tmp/x c 1 3"];
    let said = said_of(&tried(&lines)).unwrap();
    assert_eq!(said, "refused\n".repeat(lines.len()));
}

#[test]
fn limits_of_a_process_alone_hold() {
    let place = Place::new();
    let mut bounded = place.spec();
    bounded.limits = Limits { open_files: Some(16), file_size: Some(1024), ..Limits::none() };
    let lines = [
        "head -c 2048 /dev/zero >big && rm big",
        "bash -c 'for i in $(seq 3 40); do eval \"exec $i</dev/null\" || exit 1; done'",
    ];
    stops((On::Nothing, &bounded), (On::Limits, &bounded), &lines);
}

/// The host's loopback is another one, no matter which calls are allowed.
#[test]
fn the_network_alone_keeps_connections() {
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/{}/{}'", "127.0.0.1", host.local_addr().unwrap().port());
    let place = Place::new();
    stops((On::Nothing, &place.spec()), (On::Network, &place.spec()), &[&connect]);
    let script = "tail -n +3 /proc/net/dev | tr -d ' ' | cut -d: -f1";
    if let Some(said) = said(On::Network, &place.spec(), as_it_is, script) {
        assert_eq!(said, "lo\n");
    }
}

/// Between the judgement and the mount another process puts a link in the way.
#[test]
fn a_link_that_appears_leads_nowhere() {
    let place = Place::new();
    let (deep, moved) = (place.path("work/deep"), place.path("work/moved"));
    fs::create_dir(&deep).unwrap();
    fs::write(deep.join("secret"), "hush").unwrap();
    let spec = place.spec().view(&deep.join("secret"), Mode::Hidden);
    let streams = Streams::Captured(Capture::keeping(0));
    let command = Command { argv: vec!["true".into()], cwd: "/".into(), streams, observe: false };
    let swap = |_: &mut Order<'_>, _: &mut Plan| {
        fs::rename(&deep, &moved).unwrap();
        symlink(&moved, &deep).unwrap();
    };
    let broken = start(On::Nothing, &spec, &command, swap).map(drop).unwrap_err();
    if let SetupError::Step(SetupStep::Tree(_), Some(what), Errno::LOOP) = &broken {
        assert!(what.starts_with("hide"), "{what}");
        return;
    }
    let error = error(Provider::Native, broken);
    assert!(matches!(error, JailError::Unavailable { .. }), "{error:?}");
}
