//! The command as a stranger meets it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A home and a workspace of their own.
struct Stage {
    directory: tempfile::TempDir,
}

/// Output and exit of a command.
struct Ended {
    code: i32,
    out: String,
    err: String,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home/.config/ringfence", "ws/src"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    fn user(self, text: &str) -> Self {
        self.write("home/.config/ringfence/policy.toml", text)
    }

    fn project(self, text: &str) -> Self {
        self.write("ws/ringfence.toml", text)
    }

    fn write(self, name: &str, text: &str) -> Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.path("home")).current_dir(self.path("ws"));
        command
    }

    fn run(&self, line: &str) -> Ended {
        self.run_args(line.split_whitespace())
    }

    fn run_args(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ended {
        let output = self.command().args(arguments).stdin(Stdio::null()).output().unwrap();
        let here = self.directory.path().canonicalize().unwrap();
        let tidy = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).unwrap().replace(here.to_str().unwrap(), "/stage")
        };
        Ended { code: output.status.code().unwrap(), out: tidy(&output.stdout), err: tidy(&output.stderr) }
    }
}

#[test]
fn exit_codes_are_the_interface() {
    let stage =
        Stage::new().user("version = 1\nnetwork.allow = [\"github.com\"]\ntools.allow = [\"web_fetch\"]\n");
    let rows = [
        ("check path src/a.rs", 0),
        ("check path --write src/a.rs", 0),
        ("check path .env", 4),
        ("check path /etc/shadow", 4),
        ("check host github.com", 0),
        ("check host example.com", 3),
        ("check host 127.1", 4),
        ("check host 169.254.169.254", 4),
        ("check tool exec", 0),
        ("check tool browser", 4),
        ("--format json check tool browser", 4),
        ("check tool not_a_tool", 4),
        ("check command ls", 0),
        ("check command -- ls -l", 0),
        ("explain RF-F003", 0),
        ("explain rf-f003", 0),
        ("explain", 0),
        ("policy show", 0),
        ("policy lint", 0),
        ("policy test", 0),
        ("policy schema", 0),
        ("completions bash", 0),
        ("--help", 0),
        ("--version", 0),
        ("check --help", 0),
        ("", 64),
        ("bogus", 64),
        ("check", 64),
        ("check path", 64),
        ("check path a b", 64),
        ("check command", 64),
        ("check command ls --shell fish", 64),
        ("check tool ☃", 64),
        ("check tool exec --arg x", 64),
        ("explain RF-X999", 64),
        ("--format yaml check tool exec", 64),
        ("policy diff a b", 1),
        ("--workspace /nonexistent check tool exec", 1),
    ];
    for (line, code) in rows {
        let ended = stage.run(line);
        assert_eq!(ended.code, code, "{line}\n{}{}", ended.out, ended.err);
        let (data, talk) = (!ended.out.is_empty(), !ended.err.is_empty());
        let in_place = if matches!(code, 1 | 64) { talk && !data } else { data || line == "policy lint" };
        assert!(in_place, "{line}: data belongs on standard output");
    }
}

#[test]
fn a_denial_teaches() {
    let stage = Stage::new().user(
        "version = 1\n\n[[rules]]\npath = \"vault/**\"\naction = \"deny\"\nreason = \"ask the owner of the vault\"\n",
    );
    insta::assert_snapshot!(stage.run("check path vault/key").out, @r"
    deny read vault/key
      RF-R001 ask the owner of the vault
      by /stage/home/.config/ringfence/policy.toml:3
      to allow it: change or remove the rule
      object: nothing yet, /stage/ws/vault/key
      names judged: vault/key  /stage/ws/vault/key
    ");
    insta::assert_snapshot!(stage.run("check --trace path src/../vault").out, @r"
    deny read vault
      RF-R001 ask the owner of the vault
      by /stage/home/.config/ringfence/policy.toml:3
      to allow it: change or remove the rule
      object: nothing yet, /stage/ws/vault
      names judged: vault  /stage/ws/vault
    decided in phase: rule deny
      forbidden names      pass
      destructive commands pass
      own file             pass
      metadata services    pass
      border               pass
      protected names      pass
      session              pass
      rules                deny   /stage/home/.config/ringfence/policy.toml:3
      tools                pass
      private addresses    pass
      protected names      pass
      findings             pass
      files of commands    pass
      files with other names pass
      commands default     pass
      files default        allow  built-in:51
      network default      pass
    ");
    insta::assert_snapshot!(stage.run("check host 10.0.0.1:80").out, @r"
    deny connect 10.0.0.1:80
      RF-N003 the host is not on the public network: private use (RFC 1918)
      to allow it: add exactly this name or address to `network.allow`
    ");
}

/// The real object, behind links, with every name: for people and for programs.
#[test]
fn a_path_is_shown_with_what_it_leads_to() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("ws/src")).unwrap();
    fs::write(stage.path("ws/src/a.rs"), "").unwrap();
    fs::hard_link(stage.path("ws/src/a.rs"), stage.path("ws/b.rs")).unwrap();
    symlink("src", stage.path("ws/code")).unwrap();
    symlink("/nowhere/at/all", stage.path("ws/dangling")).unwrap();
    symlink("/proc/self/root", stage.path("ws/magic")).unwrap();
    insta::assert_snapshot!(stage.run("check path code").out, @r"
    allow read src
      RF-F005 no pattern of `files.read` names this file, and its default is allow
      by the built-in policy (`ringfence policy show --builtin`, line 51)
      object: directory, /stage/ws/src
      names judged: src  /stage/ws/src  code  /stage/ws/code
    ");
    insta::assert_snapshot!(stage.run("check path --write code/a.rs").out, @r"
    ask write src/a.rs
      RF-F008 the file has other names, hard links, which may lie outside the workspace
      to allow it: make a copy of it that has one name only
      object: file with other names, /stage/ws/src/a.rs
      names judged: src/a.rs  /stage/ws/src/a.rs  code/a.rs  /stage/ws/code/a.rs
    ");
    insta::assert_snapshot!(stage.run("check path --write dangling").out, @r"
    deny write /nowhere/at/all
      RF-F001 the file is outside the workspace
      by the built-in policy (`ringfence policy show --builtin`, line 29)
      to allow it: add its directory to `jail.read-only` or `jail.shared` in your own policy file
      object: nothing yet, /nowhere/at/all
      names judged: /nowhere/at/all  dangling  /stage/ws/dangling
    ");
    insta::assert_snapshot!(stage.run("check path magic/etc/passwd").out, @r"
    deny read magic/etc/passwd
      RF-F007 the path goes through a magic link of the kernel, such as /proc/self/root
      to allow it: write the path of the file that you mean
      object: not known, /stage/ws/magic/etc/passwd
      names judged: magic/etc/passwd  /stage/ws/magic/etc/passwd
      note: it could not be looked up: the path goes through a magic link of the kernel, such as /proc/self/root
    ");
    let json: Value = serde_json::from_str(&stage.run("--format json check path code/a.rs").out).unwrap();
    insta::assert_snapshot!(json["resolved"], @r#"{"has-other-names":true,"inside":true,"kind":"file","path":"/stage/ws/src/a.rs","trouble":null}"#);
}

#[test]
fn a_broken_policy_is_drawn_and_stops_everything() {
    let stage = Stage::new().user("version = 1\n\n[files]\nread_only = [\"a\"]\nforbidden = [\"a/../b\"]\n");
    let ended = stage.run("check path src/a.rs");
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    insta::assert_snapshot!(ended.err, @r#"
    error[RF-C005]: `files.forbidden`: `..` cannot be part of a pattern: write the directory it leads to
     --> /stage/home/.config/ringfence/policy.toml:5:14
      |
    5 | forbidden = ["a/../b"]
      |              ^^^^^^^^ this text

    error[RF-C002]: unknown key `files.read_only`
     --> /stage/home/.config/ringfence/policy.toml:4:1
      |
    4 | read_only = ["a"]
      | ^^^^^^^^^ known here: jail, absolute-paths, forbidden, exempt, read, write

    error: the policy has 2 problems
    hint: `ringfence explain RF-C005` says more
    "#);
    let json: Value = serde_json::from_str(&stage.run("--format json check path a").out).unwrap();
    assert_eq!(json["problems"][1]["place"]["line"], 4);
}

#[test]
fn the_project_cannot_switch_the_jail_off() {
    let stage = Stage::new().project("version = 1\n[jail]\nenabled = \"never\"\n");
    insta::assert_snapshot!(stage.run("check path src/a.rs").err, @r#"
    error[RF-C010]: the project file cannot widen `jail.enabled`: `"never"`
     --> /stage/ws/ringfence.toml:3:11
      |
    3 | enabled = "never"
      |           ^^^^^^^ the built-in policy has `"always"`
    hint: a narrower layer can take away, never add: change the wider file, or remove this line

    error: the policy has 1 problem
    hint: `ringfence explain RF-C010` says more
    "#);
    assert_eq!(stage.run("--no-project-policy check path src/a.rs").code, 0);
}

#[test]
fn text_from_outside_does_not_steer_the_terminal() {
    let stage = Stage::new().user("version = 1\n");
    let steering = "\u{1b}]0;owned\u{7}\u{202e}\u{200b}";
    let mut attempts: Vec<Vec<OsString>> = Vec::new();
    for prefix in [
        &["check", "path"][..],
        &["check", "host"],
        &["check", "tool"],
        &["check", "command"],
        &["check", "command", "--", "x"],
        &["explain"],
        &["policy", "diff", "a"],
    ] {
        let mut arguments: Vec<OsString> = prefix.iter().map(OsString::from).collect();
        arguments.push(steering.into());
        attempts.push(arguments);
    }
    attempts.push(vec![steering.into()]);
    attempts.push(vec!["--format".into(), steering.into(), "explain".into()]);
    attempts.push(vec!["audit".into(), "show".into(), "--since".into(), steering.into()]);
    attempts.push(vec!["check".into(), "path".into(), OsStr::from_bytes(b"a\xff\x1b[2Jb").into()]);
    attempts.push(vec!["--workspace".into(), steering.into(), "check".into(), "tool".into(), "exec".into()]);
    for arguments in attempts {
        let ended = stage.run_args(&arguments);
        let misleading = |c: char| c != '\n' && policy::misleads(c);
        assert!(
            !ended.out.chars().chain(ended.err.chars()).any(misleading),
            "{arguments:?}\n{:?}{:?}",
            ended.out,
            ended.err
        );
    }
    let broken = Stage::new().user("version = 1\n\"\u{1b}[2Jx\" = 1 # \u{202e}\n");
    let ended = broken.run("check tool exec");
    assert!(!ended.err.chars().any(|c| c != '\n' && policy::misleads(c)), "{:?}", ended.err);
}

#[test]
fn links_are_judged_by_what_they_lead_to() {
    let stage = Stage::new().user("version = 1\n");
    fs::write(stage.path("ws/.env"), "").unwrap();
    symlink(".env", stage.path("ws/notes")).unwrap();
    symlink("/etc/shadow", stage.path("ws/shadow")).unwrap();
    symlink("../home", stage.path("ws/up")).unwrap();
    symlink("loop", stage.path("ws/loop")).unwrap();
    symlink("/nowhere/new", stage.path("ws/dangling")).unwrap();
    symlink("src", stage.path("ws/code")).unwrap();
    let rows = [
        ("notes", 4, "RF-F003"),
        ("shadow", 4, "RF-F001"),
        ("up/x", 4, "RF-F001"),
        ("up/../home/x", 4, "RF-F001"),
        ("dangling", 4, "RF-F001"),
        ("code/a.rs", 0, "RF-F005"),
        ("loop", 1, ""),
        ("", 64, ""),
        ("../ws/src/a", 0, "RF-F005"),
        ("../ws-evil/a", 4, "RF-F001"),
        ("src/missing/deep", 0, "RF-F005"),
        ("src/.ENV", 4, "RF-F003"),
    ];
    for (path, code, says) in rows {
        let ended = stage.run_args(["check", "path", path]);
        assert!(
            ended.code == code && ended.out.contains(says),
            "{path}: {} {}{}",
            ended.code,
            ended.out,
            ended.err
        );
    }
    // A workspace that is itself behind a link.
    symlink(stage.path("ws"), stage.path("linked")).unwrap();
    let linked = stage.path("linked");
    let ended = stage.run_args([
        OsStr::new("--workspace"),
        linked.as_os_str(),
        "check".as_ref(),
        "path".as_ref(),
        ".env".as_ref(),
    ]);
    assert_eq!(ended.code, 4, "{}", ended.out);
}

#[test]
fn json_is_versioned() {
    let stage =
        Stage::new().user("version = 1\nnetwork.allow = [\"a.com\"]\ntools.allow = [\"web_fetch\"]\n");
    let lines = [
        "check path a",
        "check host a.com",
        "check tool exec",
        "check command ls",
        "explain",
        "explain RF-F001",
        "policy show",
        "policy lint",
        "policy test",
        "doctor",
    ];
    for line in lines {
        let ended = stage.run(&format!("--format json {line}"));
        let json: Value =
            serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{line}: {error}\n{}", ended.out));
        assert_eq!(json["version"], 1, "{line}");
    }
    let json: Value = serde_json::from_str(&stage.run("--format json check host a.com").out).unwrap();
    assert_eq!(json["decision"], "allow");
    assert_eq!(json["reason"]["rule"]["line"], 2);
}

#[test]
fn policies_are_shown_tested_compared_and_changed() {
    let text = "# mine\nversion = 1\n\n[network] # hosts\nallow = [\"a.com\"] # for now\n";
    let stage = Stage::new().user(text).project("version = 1\nnetwork.unknown = \"deny\"\n");
    let shown = stage.run("policy show --origin").out;
    assert!(
        shown.contains("allow = [\"a.com\"]  # user /stage/home/.config/ringfence/policy.toml:5"),
        "{shown}"
    );
    assert!(shown.contains("unknown = \"deny\"  # project /stage/ws/ringfence.toml:2"), "{shown}");
    assert!(shown.contains("enabled = \"always\"  # built-in\n"), "{shown}");
    assert!(shown.contains("steps = 150  # built-in, not built yet"), "{shown}");

    let stage =
        stage.write("ws/cases", "# cases\nallow connect a.com\ndeny connect b.com\nallow read .env\n");
    let ended = stage.run("policy test cases");
    assert_eq!(ended.code, 1);
    insta::assert_snapshot!(ended.out, @r"
    FAILED cases:4: allow read .env (deny RF-F003: the name is forbidden by `**/.env*`)
    2 passed, 1 failed, 0 not checked
    ");
    assert_eq!(stage.write("ws/cases", "allow connect\n").run("policy test cases").code, 64);
}

/// A policy that lies in a repository can be judged in its continuous integration, though it is never used from there.
#[test]
fn one_file_can_be_judged_wherever_it_lies() {
    let stage = Stage::new()
        .user("version = 1\n")
        .write("ws/p.toml", "version = 1\nfiles.write.deny = [\"*.lock\"]\n");
    assert_eq!(stage.run("--user-policy p.toml check tool exec").code, 1, "not used from the workspace");
    let ended = stage.run("policy lint --file p.toml");
    assert!(ended.code == 1 && ended.out.contains("RF-L006"), "{}{}", ended.out, ended.err);
    assert!(stage.run("policy show --file p.toml").out.contains("deny = [\"*.lock\"]"));
    let stage = stage.write("ws/cases", "deny write Cargo.lock\n");
    assert_eq!(stage.run("policy test --file p.toml cases").code, 0);
    assert_eq!(stage.run("policy test cases").code, 1);
}

#[test]
fn comments_survive_a_change() {
    let text = "# mine\nversion = 1\n\n[network] # hosts\nallow = [\"a.com\"] # for now\n";
    let stage = Stage::new().user(text);
    let path = stage.path("home/.config/ringfence/policy.toml");
    assert_eq!(stage.run("policy set network.unknown deny").code, 0);
    insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
    # mine
    version = 1

    [network] # hosts
    allow = ["a.com"] # for now
    unknown = "deny"
    "#);
    let before = fs::read_to_string(&path).unwrap();
    for bad in
        ["policy set network.unknwon deny", "policy set network.unknown perhaps", "policy set network 1"]
    {
        assert_eq!(stage.run(bad).code, 1, "{bad}");
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{bad}");
    }
    assert_eq!(
        stage.run("policy set --project files.jail false").code,
        1,
        "a project cannot widen by command either"
    );
    assert!(!stage.path("ws/ringfence.toml").exists());
    assert_eq!(stage.run("policy set --project network.unknown deny").code, 0);
    let left: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["policy.toml"], "nothing is left over");
}

/// The pair: the agent plants a link, a host command acts on it.
#[test]
fn a_planted_link_is_not_written_through() {
    let stage = Stage::new().write("home/.bashrc", "mine\n");
    symlink(stage.path("home/.bashrc"), stage.path("ws/ringfence.toml")).unwrap();
    let ended = stage.run("policy set --project network.unknown deny");
    assert!(ended.code == 1 && ended.err.contains("RF-C012"), "{}", ended.err);
    assert_eq!(fs::read_to_string(stage.path("home/.bashrc")).unwrap(), "mine\n");
    // A user's own linked dotfile is written where it lies, and stays linked.
    let stage = Stage::new().write("home/dotfile.toml", "version = 1\n");
    let linked = stage.path("home/.config/ringfence/policy.toml");
    symlink(stage.path("home/dotfile.toml"), &linked).unwrap();
    assert_eq!(stage.run("policy set network.unknown deny").code, 0);
    assert!(linked.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(stage.path("home/dotfile.toml")).unwrap().contains("deny"));
    // A first file is made in a directory of the user's own, under every umask.
    let stage = Stage::new();
    fs::remove_dir_all(stage.path("home/.config")).unwrap();
    assert_eq!(stage.run("policy set network.unknown deny").code, 0);
    assert_eq!(stage.run("check host example.com").code, 4);
}

#[test]
fn no_record_no_action() {
    let stage = Stage::new().user("version = 1\n");
    let path = stage.path("home/.config/ringfence/policy.toml");
    fs::create_dir_all(stage.path("home/.local/state/ringfence")).unwrap();
    symlink("/dev/null", stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
    let ended = stage.run("policy set network.unknown deny");
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("so it is not made") && ended.err.contains("RF-A007"), "{}", ended.err);
    assert_eq!(fs::read_to_string(path).unwrap(), "version = 1\n");
}

#[test]
fn diff_compares_files() {
    let stage = Stage::new()
        .write("ws/old.toml", "version = 1\nnetwork.allow = [\"a.com\"]\n")
        .write("ws/new.toml", "version = 1\nfiles.read.deny = [\"docs/**\"]\n");
    let ended = stage.run("policy diff old.toml new.toml");
    insta::assert_snapshot!(ended.out, @r"
    allow -> ask  connect a.com:443
    allow -> deny  read docs/some-dir/some-name
    allow -> deny  read docs/some-name
    ");
}

#[test]
fn odd_files_neither_block_nor_fill_the_memory() {
    let stage = Stage::new().write("ws/ok.toml", "version = 1\n");
    let fifo = stage.path("ws/fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for odd in ["/dev/zero", "fifo", "src", "missing", "/dev/tty"] {
        assert_eq!(stage.run_args(["policy", "diff", "ok.toml", odd]).code, 1, "{odd}");
        assert_eq!(stage.run_args(["policy", "test", odd]).code, 1, "{odd}");
        assert_eq!(stage.run_args(["audit", "verify", "--ledger", odd]).code, 1, "{odd}");
    }
}

#[test]
fn it_works_without_home_or_terminal() {
    let stage = Stage::new();
    let mut command = stage.command();
    let output = command.env_remove("HOME").args(["check", "tool", "exec"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = stage.command().env("HOME", "relative").args(["check", "tool", "exec"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let output = stage.command().env("CLICOLOR_FORCE", "1").args(["check", "tool", "exec"]).output().unwrap();
    assert!(output.stdout.starts_with(b"\x1b[1;32mallow"));
    let mut command = stage.command();
    let output = command
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .args(["check", "tool", "exec"])
        .output()
        .unwrap();
    assert!(output.stdout.starts_with(b"allow"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let stage = Stage::new();
    for (line, code) in
        [("explain", 0), ("check tool browser", 4), ("policy show", 0), ("completions zsh", 0)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = stage.command();
        let output = command.args(line.split(' ')).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = stage.command().arg("explain").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a full disk is a failure");
}

#[test]
fn help_fits_a_screen() {
    let stage = Stage::new();
    for line in [
        "-h",
        "run -h",
        "check -h",
        "check path -h",
        "check command -h",
        "policy -h",
        "policy set -h",
        "review -h",
        "apply -h",
        "discard -h",
        "doctor -h",
        "explain -h",
        "audit -h",
    ] {
        let help = stage.run(line);
        assert_eq!(help.code, 0, "{line}");
        assert!(help.out.lines().count() <= 40, "{line} has {} lines", help.out.lines().count());
        assert!(help.out.lines().all(|line| line.chars().count() <= 120), "{line}:\n{}", help.out);
    }
}

#[test]
fn every_code_that_is_printed_has_a_page() {
    let stage = Stage::new();
    let codes = stage.run("explain").out;
    for code in codes.lines().filter_map(|line| line.split_whitespace().next()) {
        let page = stage.run_args(["explain", code]);
        assert!(page.code == 0 && page.out.starts_with(&format!("# {code}: ")), "{code}");
    }
    assert!(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/manual").read_dir().unwrap().count()
            == codes.lines().count()
    );
}
