//! Every attack of `tests/attacks` against the program as it was built, as the user who runs the tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

const ATTACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/attacks");
const RINGFENCE: &str = r#""$ATK_PROGRAM" run --workspace "$WS" --"#;
const NO_JAIL: &str = "env";

/// One test an attack, and the table of them.
macro_rules! attacks {
    ($($test:ident: $name:literal,)*) => {
        const NAMES: &[&str] = &[$($name),*];
        $(#[test]
        fn $test() {
            withstands($name);
        })*
    };
}

attacks! {
    c01_runs: "c01-runs",
    c02_ws_rw: "c02-ws-rw",
    c03_exit_code: "c03-exit-code",
    c04_dev_tmp: "c04-dev-tmp",
    c05_shell_tools: "c05-shell-tools",
    c06_big_output: "c06-big-output",
    c07_status: "c07-status",
    c08_stdio: "c08-stdio",
    e01_env_inherit: "e01-env-inherit",
    e02_launcher_environ: "e02-launcher-environ",
    e03_env_loader: "e03-env-loader",
    e04_path_hijack: "e04-path-hijack",
    e05_project_config: "e05-project-config",
    e06_shell_variables: "e06-shell-variables",
    f01_fd_file: "f01-fd-file",
    f02_fd_directory: "f02-fd-directory",
    f03_fd_socket: "f03-fd-socket",
    f04_cwd_outside: "f04-cwd-outside",
    f05_stdin_reopen: "f05-stdin-reopen",
    f06_log_tamper: "f06-log-tamper",
    i01_unix_path: "i01-unix-path",
    i02_abstract: "i02-abstract",
    i03_agent_sockets: "i03-agent-sockets",
    i04_x11: "i04-x11",
    i05_shared_memory: "i05-shared-memory",
    k01_host_pids: "k01-host-pids",
    k02_host_environ: "k02-host-environ",
    k03_ptrace: "k03-ptrace",
    k04_kill_host: "k04-kill-host",
    k05_kernel_controls: "k05-kernel-controls",
    k06_cgroup_escape: "k06-cgroup-escape",
    k07_overwrite_launcher: "k07-overwrite-launcher",
    k08_keyring: "k08-keyring",
    k09_other_jail: "k09-other-jail",
    k10_kernel_leaks: "k10-kernel-leaks",
    k11_sysfs: "k11-sysfs",
    l01_kill_launcher: "l01-kill-launcher",
    l02_sigterm_stubborn: "l02-sigterm-stubborn",
    l03_daemon: "l03-daemon",
    l04_held_stdout: "l04-held-stdout",
    l05_caller_dies: "l05-caller-dies",
    l06_late_writes: "l06-late-writes",
    l07_leftovers: "l07-leftovers",
    l08_caller_thread_ends: "l08-caller-thread-ends",
    l09_signal_games: "l09-signal-games",
    l10_zombies: "l10-zombies",
    l11_killed_early: "l11-killed-early",
    l12_same_workspace: "l12-same-workspace",
    n01_tcp_loopback: "n01-tcp-loopback",
    n02_udp_dns: "n02-udp-dns",
    n03_bind_inbound: "n03-bind-inbound",
    n04_routes: "n04-routes",
    n05_exotic_sockets: "n05-exotic-sockets",
    n06_odd_connects: "n06-odd-connects",
    p01_git_hooks: "p01-git-hooks",
    p02_git_config: "p02-git-config",
    p06_agent_ide_config: "p06-agent-ide-config",
    p07_userns_unprotect: "p07-userns-unprotect",
    r01_home_ssh: "r01-home-ssh",
    r02_home_creds: "r02-home-creds",
    r03_sibling_abs: "r03-sibling-abs",
    r04_prefix_sibling: "r04-prefix-sibling",
    r05_dotdot: "r05-dotdot",
    r06_symlink_planted: "r06-symlink-planted",
    r07_symlink_runtime: "r07-symlink-runtime",
    r08_proc_root: "r08-proc-root",
    r09_file_handle: "r09-file-handle",
    r10_etc_shadow: "r10-etc-shadow",
    r11_list_parent: "r11-list-parent",
    r12_host_tmp: "r12-host-tmp",
    r13_devices: "r13-devices",
    s01_userns: "s01-userns",
    s02_mount_api: "s02-mount-api",
    s03_undo_mounts: "s03-undo-mounts",
    s04_caps_nnp: "s04-caps-nnp",
    s05_host_root: "s05-host-root",
    s06_seccomp_on: "s06-seccomp-on",
    s07_io_uring: "s07-io-uring",
    s08_risky_syscalls: "s08-risky-syscalls",
    s09_compat_entry: "s09-compat-entry",
    s10_chroot_setns: "s10-chroot-setns",
    s11_more_syscalls: "s11-more-syscalls",
    s12_clone3: "s12-clone3",
    t01_tiocsti: "t01-tiocsti",
    t02_host_pts: "t02-host-pts",
    t03_terminal_state: "t03-terminal-state",
    w01_outside_abs: "w01-outside-abs",
    w02_symlink_write: "w02-symlink-write",
    w03_startup_files: "w03-startup-files",
    w04_system_dirs: "w04-system-dirs",
    w05_metadata: "w05-metadata",
    w06_cross_boundary: "w06-cross-boundary",
    w07_setuid_file: "w07-setuid-file",
    x01_ld_linux: "x01-ld-linux",
    x02_swap_race: "x02-swap-race",
    x03_concurrent_launch: "x03-concurrent-launch",
    x04_terminal_escapes: "x04-terminal-escapes",
    x05_argument_injection: "x05-argument-injection",
    x06_odd_workspace: "x06-odd-workspace",
    x07_nested: "x07-nested",
    z01_fork_bomb: "z01-fork-bomb",
    z02_mem_bomb: "z02-mem-bomb",
    z03_fill_tmp: "z03-fill-tmp",
    z04_rlimits: "z04-rlimits",
    z05_inode_flood: "z05-inode-flood",
    z06_hidden_memory: "z06-hidden-memory",
    z07_priority: "z07-priority",
    z08_output_flood: "z08-output-flood",
}

fn withstands(name: &str) {
    if let Some(why) = &*NO_NAMESPACES {
        return skip::skipped(name, why);
    }
    let verdict = attack(name, RINGFENCE);
    match (unclaimed().get(name), &verdict) {
        (None, Verdict::Pass) => {}
        (None, Verdict::Skip(why)) if !name.starts_with('c') && tells_of_the_machine(why) => {
            skip::skipped(name, why);
        }
        (Some(why), Verdict::Fail(how)) => skip::skipped(name, &format!("{why} ({how})")),
        (Some(_), Verdict::Pass) => panic!("{name} is withstood: take it off unclaimed.txt"),
        _ => panic!("{name}: {verdict:?}"),
    }
}

/// Returns true if an attack could not be made on this machine. A probe that did not run proves nothing either way.
fn tells_of_the_machine(why: &str) -> bool {
    const NOT_TESTED: &[&str] =
        &["did not", "no verdict", "harness error", "no usable python3", "cannot be executed", "timed out"];
    !NOT_TESTED.iter().any(|words| why.contains(words))
}

#[test]
fn the_table_names_every_file() {
    let entries = fs::read_dir(Path::new(ATTACKS).join("cases")).unwrap();
    let files = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> =
        files.filter_map(|file| file.strip_suffix(".py").map(str::to_owned)).collect();
    found.sort();
    assert_eq!(found, NAMES);
    for name in unclaimed().keys() {
        assert!(NAMES.contains(name), "unclaimed.txt names {name}");
    }
}

/// The other half of every PASS above: the same attack succeeds when nothing stops it.
#[test]
fn without_a_jail_they_succeed() {
    let names = [
        "e01-env-inherit",
        "f01-fd-file",
        "i02-abstract",
        "n01-tcp-loopback",
        "r03-sibling-abs",
        "w01-outside-abs",
    ];
    for name in names {
        let verdict = attack(name, NO_JAIL);
        assert!(matches!(verdict, Verdict::Fail(_)), "{name}: {verdict:?}");
    }
}

#[derive(Debug)]
enum Verdict {
    Pass,
    Fail(String),
    Skip(String),
}

/// One attack on a fresh workspace below a fresh home.
fn attack(name: &str, launcher: &str) -> Verdict {
    let place = place();
    let home = place.path().join("home");
    let workspace = home.join("proj");
    fs::create_dir_all(&workspace).unwrap();
    let mut command = Command::new("timeout");
    command.args(["-k", "5", "120"]).args([python(), "-B".into()]);
    command.arg(Path::new(ATTACKS).join("cases").join(name).with_extension("py"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("LANG", "C.UTF-8");
    command.env("HOME", &home).env("ATK_HOME", &home).env("WS", &workspace).env("ATK_PY", python());
    command.env("SANDBOX", launcher).env("ATK_PROGRAM", env!("CARGO_BIN_EXE_ringfence"));
    let output = command.output().unwrap();
    place.close().unwrap();
    judge(&String::from_utf8_lossy(&output.stdout))
        .unwrap_or_else(|| Verdict::Skip(format!("harness error: {output:?}")))
}

/// The last line that is a verdict.
fn judge(stdout: &str) -> Option<Verdict> {
    stdout.lines().rev().find_map(|line| match line.split_at_checked(5)? {
        ("PASS ", _) => Some(Verdict::Pass),
        ("FAIL ", why) => Some(Verdict::Fail(why.into())),
        ("SKIP ", why) => Some(Verdict::Skip(why.into())),
        _ => None,
    })
}

/// Not below `/tmp`, which means something else inside; short, so that the paths of sockets fit into 108 bytes.
fn place() -> TempDir {
    let built =
        Some(env!("CARGO_TARGET_TMPDIR")).filter(|path| path.len() <= 40 && !path.starts_with("/tmp"));
    let mut bases = built.into_iter().chain(["/var/tmp"]);
    bases.find_map(|base| tempfile::Builder::new().prefix("atk-").tempdir_in(base).ok()).unwrap()
}

/// The system's own if there is one: it is what a jail shows.
fn python() -> PathBuf {
    let system = Path::new("/usr/bin/python3");
    if system.exists() { system.into() } else { "python3".into() }
}

/// Attacks that nothing is meant to stop yet, with the reason.
fn unclaimed() -> BTreeMap<&'static str, &'static str> {
    let text = include_str!("../../../tests/attacks/unclaimed.txt");
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")).collect()
}

/// Why the attacks prove nothing here: the weaker providers do not claim to withstand all of them.
static NO_NAMESPACES: LazyLock<Option<String>> = LazyLock::new(|| {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_ringfence"));
    let output = doctor.args(["doctor", "--format", "json"]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let strongest = answer["provider"]["strongest"].as_str().unwrap();
    (strongest != "native").then(|| format!("the strongest provider here is {strongest}"))
});
