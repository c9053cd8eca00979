//! Reports for people and programs, and laws that hold for every report.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use policy::misleads;

use super::super::{ConfigFile, ConfigState, DoctorArgs, Places, Sites, run};
use super::*;
use crate::exit::Exit;

fn ubuntu() -> Machine {
    let namespaces = Ok(refusing(&[(Step::Map, EACCES)]));
    Machine { landlock: Landlock::Abi(4), namespaces, ..machine("ubuntu-24.04") }
}

fn gvisor() -> Machine {
    let namespaces = Ok(refusing(&[(Step::User, EPERM)]));
    Machine { landlock: Landlock::NotBuilt, namespaces, uid: 0, ..machine("gvisor") }
}

#[test]
fn a_machine_in_good_order() {
    let report = Report::of(&machine("debian-12-vm"), &sites());
    insta::assert_snapshot!(text(&report, false), @"
    kernel          ok       6.18.44 x86_64, Debian GNU/Linux 12 (bookworm), as user 1000
    landlock        ok       ABI 7
    userns          ok       entered, and our own user mapped into it
    netns           ok       entered, loopback up
    redirect        ok       connections redirected by nf_tables
    mountns         ok       entered, a tmpfs mounted
    ipcns           ok       entered
    utsns           ok       entered, with one for cgroups
    pidns           ok       entered
    proc-mount      ok       mounted for a new process namespace
    seccomp         ok       can refuse and kill; no filter in force
    seccomp-notify  ok       available
    cgroup          weak     versions 1 and 2 beside each other; making a cgroup in /sys/fs/cgroup/memory/jobs/1 failed: No such file or directory (os error 2)
                    expected cgroups for memory and pids that we may divide
                    remedy   add systemd.unified_cgroup_hierarchy=1 to the kernel command line and start the machine again
                    lost     limits by the kernel on memory and processes of a whole jail; a watchdog and limits on each process stay
    apparmor        ok       not in use
    yama            note     not in use: outside jails, processes of one user can trace each other
    container       ok       none recognised
    bwrap           note     not found
                    expected only needed where `native` is refused
                    remedy   sudo apt install bubblewrap
                    lost     the `bubblewrap` provider
    state-dir       ok       /home/ann/.local/state/ringfence: in order
    runtime-dir     ok       /run/user/1000/ringfence: not there yet
    ledger          ok       /home/ann/.local/state/ringfence/ledger.jsonl: in order
    disk            ok       1024 MiB free
    clock           ok       plausible

    provider        native is possible here, and landlock
    lost            limits by the kernel on memory and processes of a whole jail; a watchdog and limits on each process stay
    ");
}

#[test]
fn ubuntu_with_restricted_user_namespaces() {
    let config = vec![
        ConfigFile {
            label: "managed",
            path: Some("/etc/ringfence/policy.toml".into()),
            state: ConfigState::Loaded,
        },
        ConfigFile { label: "user", path: None, state: ConfigState::Absent },
        ConfigFile {
            label: "project",
            path: Some("/home/ann/p/ringfence.toml".into()),
            state: ConfigState::Refused("unknown key `alow` in line 3".into()),
        },
    ];
    let report = Report::of(&ubuntu(), &Sites { config, ..sites() });
    insta::assert_snapshot!(text(&report, false), @r"
    kernel          ok       6.8.0-45-generic x86_64, Ubuntu 24.04.1 LTS, as user 1000
    landlock        note     ABI 4
                    expected ABI 6 or later
                    remedy   a newer kernel: 6.10 for ABI 5, 6.12 for ABI 6
                    lost     refusing device controls by Landlock (ABI 5); abstract sockets and signals by Landlock (ABI 6)
    userns          missing  map: EACCES; AppArmor takes the capabilities away: kernel.apparmor_restrict_unprivileged_userns
                    expected a new user namespace with our own user in it
                    remedy   the `landlock` provider needs none, or install the program as /usr/bin/ringfence, owned by root, then: printf 'abi <abi/4.0>,\ninclude <tunables/global>\nprofile ringfence /usr/bin/ringfence flags=(unconfined) {\n  userns,\n}\n' | sudo tee /etc/apparmor.d/ringfence && sudo apparmor_parser -r /etc/apparmor.d/ringfence
                    lost     the `native` provider
    netns           missing  not tried: see above
    redirect        missing  not tried: see above
    mountns         missing  not tried: see above
    ipcns           missing  not tried: see above
    utsns           missing  not tried: see above
    pidns           missing  not tried: see above
    proc-mount      missing  not tried: see above
    seccomp         ok       can refuse and kill; no filter in force
    seccomp-notify  ok       available
    cgroup          weak     version 2; the memory controller of our cgroup is not ours to hand on
                    expected cgroups for memory and pids that we may divide
                    remedy   systemd-run --user --scope -p Delegate=yes ringfence …
                    lost     limits by the kernel on memory and processes of a whole jail; a watchdog and limits on each process stay
    apparmor        note     this process runs under: unconfined; user namespaces only for programs with a profile
    yama            ok       scope 1
    container       ok       none recognised
    bwrap           note     not found
                    expected only needed where `native` is refused
                    remedy   sudo apt install bubblewrap
                    lost     the `bubblewrap` provider
    state-dir       ok       /home/ann/.local/state/ringfence: in order
    runtime-dir     ok       /run/user/1000/ringfence: not there yet
    config.managed  ok       /etc/ringfence/policy.toml: in force
    config.user     note     not known where: no home directory
    config.project  missing  /home/ann/p/ringfence.toml: unknown key `alow` in line 3
                    expected absent, or a policy that holds
                    remedy   ringfence policy lint
                    lost     every action: a policy file that is refused allows nothing
    ledger          ok       /home/ann/.local/state/ringfence/ledger.jsonl: in order
    disk            ok       1024 MiB free
    clock           ok       plausible

    provider        landlock is possible here
    lost            a network of its own inside, with a private loopback
                    a private file tree: /tmp, HOME, hidden files
                    a process tree of its own that ends as a whole
                    private System V memory and message queues
                    refusing device controls by Landlock (ABI 5)
                    abstract sockets and signals by Landlock (ABI 6)
                    limits by the kernel on memory and processes of a whole jail; a watchdog and limits on each process stay
    ");
}

#[test]
fn gvisor_without_a_home() {
    let nowhere = Sites { state: Site::Unknown, runtime: Site::Unknown, ledger: Site::Unknown, ..sites() };
    let report = Report::of(&gvisor(), &nowhere);
    insta::assert_snapshot!(text(&report, false), @"
    kernel          ok       4.19.0-gvisor x86_64, Alpine Linux v3.20, as user 0
    landlock        missing  ENOSYS: gVisor does not implement it
                    expected ABI 6 or later
                    remedy   nothing inside: gVisor is a wall of its own; run Ringfence outside it to have Landlock
                    lost     the `landlock` provider, and the second wall behind the mounts of `native`
    userns          missing  user: EPERM, map: not tried; forbidden, and no file says by whom: a security module, a filter or a chroot
                    expected a new user namespace with our own user in it
                    remedy   ask whoever runs this machine
                    lost     the `native` provider
    netns           missing  not tried: see above
    redirect        missing  not tried: see above
    mountns         missing  not tried: see above
    ipcns           missing  not tried: see above
    utsns           missing  not tried: see above
    pidns           missing  not tried: see above
    proc-mount      missing  not tried: see above
    seccomp         ok       can refuse and kill; no filter in force
    seccomp-notify  ok       available
    cgroup          weak     version 1; making a cgroup in /sys/fs/cgroup/memory/ failed: No such file or directory (os error 2)
                    expected cgroups for memory and pids that we may divide
                    remedy   set limits for the container itself, with its engine
                    lost     limits by the kernel on memory and processes of a whole jail; a watchdog and limits on each process stay
    apparmor        ok       not in use
    yama            note     not in use: outside jails, processes of one user can trace each other
    container       note     gVisor (/proc/version)
    bwrap           note     not found
                    expected only needed where `native` is refused
                    remedy   sudo apk add bubblewrap
                    lost     the `bubblewrap` provider
    state-dir       missing  not known where: no XDG_STATE_HOME and no home directory
                    expected a directory of our own, mode 0700
                    remedy   set XDG_STATE_HOME to a directory that you can write to
                    lost     the ledger, and with it every action: no record, no action
    runtime-dir     missing  not known where: no XDG_RUNTIME_DIR
                    expected a directory of our own, mode 0700
                    remedy   set XDG_RUNTIME_DIR to a directory of your own, mode 0700
                    lost     approvals and sessions on a socket
    ledger          missing  not known where: no XDG_STATE_HOME and no home directory
                    expected a file of our own, mode 0600
                    remedy   set XDG_STATE_HOME to a directory that you can write to
                    lost     the ledger, and with it every action: no record, no action
    disk            note     not measured: there is no place for the ledger
    clock           ok       plausible

    provider        none is possible here: no jail can be made
    ");
}

#[test]
fn fails_only_without_any_provider() {
    let no_filter = Actions { errno: Err(errno(ENOSYS)), ..machine("docker").actions };
    let rows = [
        (machine("debian-12-vm"), Exit::Ok),
        (ubuntu(), Exit::Ok),
        (gvisor(), Exit::Failed),
        (Machine { actions: no_filter, ..machine("docker") }, Exit::Failed),
    ];
    for (machine, exit) in rows {
        assert_eq!(Report::of(&machine, &sites()).exit(), exit, "{:?}", machine.facts.distribution);
    }
    // Places out of order are said, and do not make a jail impossible.
    let nowhere = Sites { state: Site::Unknown, ledger: Site::Unknown, ..sites() };
    assert_eq!(Report::of(&ubuntu(), &nowhere).exit(), Exit::Ok);
}

#[test]
fn colour_is_all_that_colour_adds() {
    let report = Report::of(&ubuntu(), &sites());
    let (plain, colored) = (text(&report, false), text(&report, true));
    assert!(!plain.contains('\u{1b}') && colored.contains("\u{1b}[1;31mmissing \u{1b}[0m"));
    let styles = ["\u{1b}[1;31m", "\u{1b}[1;32m", "\u{1b}[1;33m", "\u{1b}[1;36m", "\u{1b}[0m"];
    assert_eq!(styles.iter().fold(colored, |text, style| text.replace(style, "")), plain);
}

#[test]
fn json_has_a_version_and_every_row() {
    let report = Report::of(&gvisor(), &sites());
    let json = show::json(&report);
    assert_eq!(json["version"], 1);
    assert_eq!(json["provider"]["strongest"], "none");
    assert_eq!(json["rows"].as_array().unwrap().len(), report.rows.len());
    insta::assert_snapshot!(serde_json::to_string_pretty(&json["rows"][1]).unwrap(), @r#"
    {
      "expected": "ABI 6 or later",
      "id": "landlock",
      "lost": [
        "the `landlock` provider, and the second wall behind the mounts of `native`"
      ],
      "measured": "ENOSYS: gVisor does not implement it",
      "remedy": "nothing inside: gVisor is a wall of its own; run Ringfence outside it to have Landlock",
      "status": "missing"
    }
    "#);
}

const MACHINES: &[&str] = &[
    "debian-12-vm",
    "debian-userns-off",
    "docker",
    "fedora-delegated",
    "gvisor",
    "gvisor-older",
    "no-proc",
    "pod",
    "podman",
    "rhel-9",
    "ubuntu-24.04",
    "wsl1",
    "wsl2",
];

/// Every recorded machine, refusing in every way.
fn all_reports() -> Vec<Report> {
    let answers = [
        Landlock::Abi(1),
        Landlock::Abi(7),
        Landlock::NotBuilt,
        Landlock::NotActive,
        Landlock::Blocked,
        Landlock::Failed(errno(EINVAL)),
        Landlock::OtherSystem,
    ];
    let mut reports = Vec::new();
    for name in MACHINES {
        let base = machine(name);
        for (step, landlock) in Step::ALL.into_iter().zip(answers.into_iter().cycle()) {
            for (number, uid) in [(EPERM, 1000), (ENOSPC, 0), (ENOSYS, 1000)] {
                let namespaces = Ok(refusing(&[(step, number)]));
                reports.push(Report::of(&Machine { uid, landlock, namespaces, ..base.clone() }, &sites()));
            }
        }
        reports.push(Report::of(&Machine { namespaces: not_measured(), ..base }, &sites()));
    }
    reports
}

/// Programs look rows up by id.
#[test]
fn ids_are_unique_and_the_same_on_every_machine() {
    let ids = |report: &Report| report.rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
    let always: BTreeSet<String> = ids(&Report::of(&ubuntu(), &sites())).into_iter().collect();
    for report in all_reports() {
        let found = ids(&report);
        let unique: BTreeSet<String> = found.iter().cloned().collect();
        assert_eq!(unique.len(), found.len(), "{found:?}");
        let extra: Vec<_> = unique.symmetric_difference(&always).collect();
        assert!(extra.iter().all(|id| *id == "selinux"), "{extra:?}");
    }
}

/// No advice that opens more than Ringfence needs.
#[test]
fn remedies_open_nothing_widely() {
    let never = [
        "--privileged",
        "unconfined ",
        "seccomp=unconfined",
        "sysctl",
        "SYS_ADMIN",
        "setenforce",
        "777",
        "=0",
    ];
    for report in all_reports() {
        for remedy in report.rows.iter().filter_map(|row| row.remedy.as_ref()) {
            assert!(never.iter().all(|word| !remedy.contains(word)), "{remedy}");
        }
    }
}

/// Every row that is not in order says what is lost, or is a note.
#[test]
fn every_fault_says_what_is_lost() {
    use super::super::row::Status;
    for row in all_reports().iter().flat_map(|report| &report.rows) {
        let silent = row.lost.is_empty() && matches!(row.status, Status::Weak | Status::Missing);
        assert!(!silent, "{row:?}");
    }
}

/// Every text that comes from files, turned hostile.
#[test]
fn text_from_outside_cannot_steer_a_terminal() {
    let evil = || "\u{1b}[2J\u{202e}\n\u{7}evil".to_owned();
    let mut machine = ubuntu();
    machine.facts.release = Some(evil());
    machine.facts.machine = evil();
    machine.facts.distribution = Some(evil());
    machine.facts.family = vec![evil()];
    machine.facts.modules = Some(vec![evil()]);
    machine.facts.apparmor.profile = Some(evil());
    machine.facts.containers = vec![jail::probe::DetectedContainer {
        kind: jail::probe::ContainerKind::Container(evil()),
        sign: "/proc/1/environ",
    }];
    machine.landlock = Landlock::NotActive;
    machine.cgroup.missing = Some(evil());
    machine.bwrap = Bwrap::Found { path: evil().into(), version: evil(), setuid: true, works: Ok(()) };
    let evil_path = || PathBuf::from(format!("/{}", evil()));
    let sites = Sites {
        state: Site::There(evil_path(), Object { mode: 0o755, ..directory() }),
        runtime: Site::Unreachable(evil_path(), errno(EACCES)),
        ledger: Site::Absent(evil_path(), None),
        config: vec![ConfigFile {
            label: "user",
            path: Some(evil_path()),
            state: ConfigState::Refused(evil()),
        }],
        ..sites()
    };
    let report = Report::of(&machine, &sites);
    let shown = text(&report, false);
    assert!(shown.contains("evil"));
    assert!(shown.lines().all(|line| !line.chars().any(misleads)), "{shown:?}");
    // A line break in a value would start a line of its own.
    assert!(shown.lines().all(|line| !line.trim_start_matches("\\n").starts_with("evil")), "{shown:?}");
    assert!(!serde_json::to_string(&show::json(&report)).unwrap().chars().any(misleads));
}

/// On this very machine, with nowhere to write and nowhere to look.
#[test]
fn runs_without_a_home_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state/ringfence");
    let places = Places {
        state_dir: Some(state.clone()),
        ledger: Some(state.join("ledger.jsonl")),
        ..Places::default()
    };
    for places in [Places::default(), places] {
        for format in [Format::Text, Format::Json] {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let mut terminal = Terminal { out: &mut out, err: &mut err, format, color: false };
            let exit = run(&DoctorArgs::default(), &places, &mut terminal).unwrap();
            assert!(matches!(exit, Exit::Ok | Exit::Failed) && !out.is_empty() && err.is_empty());
        }
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

/// A test has more than one thread, which the probe refuses before it changes anything.
#[test]
fn namespaces_are_not_tried_in_a_shared_process() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut terminal = Terminal { out: &mut out, err: &mut err, format: Format::Text, color: false };
    let failure = run(&DoctorArgs { probe_namespaces: true }, &Places::default(), &mut terminal).unwrap_err();
    assert_eq!(failure.exit, Exit::Failed);
    assert!(failure.to_string().contains("needs a process of its own"), "{failure}");
    assert!(out.is_empty());
}

/// Looking through links, at files in the way, without permission.
#[test]
fn places_are_looked_at_by_handle() {
    use super::super::place;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = tempfile::tempdir().unwrap();
    let uid = rustix::process::geteuid().as_raw();
    let at = |name: &str| home.path().join(name);
    fs::create_dir(at("closed")).unwrap();
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(at("open")).unwrap();
    fs::set_permissions(at("open"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(at("sealed")).unwrap();
    fs::set_permissions(at("sealed"), fs::Permissions::from_mode(0o500)).unwrap();
    symlink("closed", at("link")).unwrap();
    symlink("sealed", at("link-to-sealed")).unwrap();
    symlink("nothing", at("dangling")).unwrap();
    fs::write(at("file"), "").unwrap();
    let rows = [
        ("closed", "in order"),
        ("open", "mode 0755, others can look at it"),
        ("link", "a link, and links are not followed"),
        ("dangling", "a link, and links are not followed"),
        ("file", "something else stands there"),
        ("absent", "not there yet"),
        ("absent/deeper/still", "not there yet"),
        // Above the last name links are the user's own.
        ("link/absent", "not there yet"),
        ("link-to-sealed/absent", if uid == 0 { "not there yet" } else { "cannot be made there" }),
        ("file/absent", "ENOTDIR"),
    ];
    for (name, expected) in rows {
        let places = Places { state_dir: Some(at(name)), ..Places::default() };
        let rows = place::rows(&Sites::look(&places, SystemTime::now()), uid);
        assert!(rows[0].measured.ends_with(expected), "{name}: {}", rows[0].measured);
    }
}
