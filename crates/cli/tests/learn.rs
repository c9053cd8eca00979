//! `ringfence learn` on the real kernel.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A home and a workspace of their own.
struct Stage {
    directory: tempfile::TempDir,
}

/// Output and exit of a command.
#[derive(Debug)]
struct Ended {
    code: i32,
    out: String,
    err: String,
}

const POLICY: &str = "home/.config/ringfence/policy.toml";

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let stage = Self { directory };
        let files = [
            ("home/data/x.csv", "1,2\n"),
            ("home/results/old", "old\n"),
            ("home/.ssh/id_ed25519", "secret\n"),
            ("home/.ssh/config", "secret\n"),
            ("home/app/.env", "secret\n"),
            ("home/app/conf", "conf\n"),
            ("home/.cache/tool/kept", "kept\n"),
            ("home/.local/state/ringfence/x", "secret\n"),
            ("home/keys/a", "secret\n"),
            ("home/.config/ringfence/other", "secret\n"),
            ("ws/src/main", "main\n"),
        ];
        for (name, text) in files {
            let path = stage.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        // Credentials that a link leads to are credentials.
        symlink(stage.path("home/keys"), stage.path("home/.gnupg")).unwrap();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn policy(&self, text: &str) {
        fs::write(self.path(POLICY), text).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin").args(words);
        command
            .current_dir(self.path("ws"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A command line of Ringfence, whose last word is the text of a script.
    fn ended(&self, words: &str, script: &str) -> Ended {
        fs::write(self.path("ws/script"), script).unwrap();
        let mut words: Vec<_> = words.split_whitespace().collect();
        words.extend(["--", "sh", "script"]);
        let output = self.command(&words).output().unwrap();
        let here = self.path("");
        let tidy = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(here.to_str().unwrap().trim_end_matches('/'), "/stage")
        };
        Ended { code: output.status.code().unwrap(), out: tidy(&output.stdout), err: tidy(&output.stderr) }
    }

    fn learned(&self, words: &str, script: &str) -> Value {
        let ended = self.ended(&format!("learn --format json {words}"), script);
        assert_eq!(ended.code, 0, "{ended:?}");
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
    }

    fn ledger(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Returns true if a jail can be made on this machine; says so where not.
fn jail_works() -> bool {
    let ended = Stage::new().ended("run", "true");
    let works = ended.code == 0;
    if !works {
        assert_eq!(ended.code, 125, "that is not for want of a jail: {ended:?}");
        skip::skipped("ringfence learn", &format!("no jail can be made here: {}", ended.err));
    }
    works
}

/// Returns true if a file of the command's output has a text.
fn said(ended: &Ended, text: &str) -> bool {
    ended.out.contains(text) || ended.err.contains(text)
}

#[test]
fn what_was_learned_is_what_a_run_needs() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let script = "set -e; cat ~/data/x.csv; mkdir -p out; cp ~/data/x.csv out/; echo new > ~/results/new";
    assert_ne!(stage.ended("run", script).code, 0);

    // There is no terminal to ask on, so nothing is written.
    let shown = stage.ended("learn", script);
    assert!(!stage.path(POLICY).exists());
    insta::assert_snapshot!(shown.out, @r#"
    --- /dev/null
    +++ /stage/home/.config/ringfence/policy.toml
    @@ -0,0 +1,5 @@
    +version = 1
    +
    +[jail]
    +read-only = ["~/data/x.csv"]
    +shared = ["~/results"]
    "#);
    insta::assert_snapshot!(shown.err, @r"
    1,2
    the command ended with 0
    ");

    stage.policy("# mine\nversion = 1\n");
    let written = stage.ended("learn --yes", script);
    assert_eq!(written.code, 0, "{written:?}");
    insta::assert_snapshot!(fs::read_to_string(stage.path(POLICY)).unwrap(), @r#"
    # mine
    version = 1

    [jail]
    read-only = ["~/data/x.csv"]
    shared = ["~/results"]
    "#);
    let ended = stage.ended("run", script);
    assert_eq!((ended.code, &*ended.out), (0, "1,2\n"), "{ended:?}");
    assert_eq!(fs::read_to_string(stage.path("ws/out/x.csv")).unwrap(), "1,2\n");
    assert_eq!(fs::read_to_string(stage.path("home/results/new")).unwrap(), "new\n");

    // An access that is allowed already is not proposed again.
    let again = stage.ended("learn --yes", script);
    assert!(again.out.is_empty() && again.err.contains("nothing to add"), "{again:?}");

    let ledger = stage.ledger();
    let event = |name: &str| ledger.iter().find(|record| record["event"] == name).unwrap();
    let changed = event("policy.changed")["change"].as_str().unwrap();
    assert!(changed.starts_with("learned: jail.read-only += [\"~/data/x.csv\"]"), "{changed}");
    let profiles = ledger.iter().filter(|record| record["event"] == "jail.started");
    let profiles: Vec<_> = profiles.map(|record| record["profile"].as_str().unwrap().to_owned()).collect();
    assert!(profiles.contains(&"workspace-write (learning)".to_owned()), "{profiles:?}");
}

/// Learning shows more than a run, and never what opens something else.
#[test]
fn what_is_closed_is_neither_seen_nor_proposed() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    fs::create_dir_all(stage.path("home/daemon/deep")).unwrap();
    fs::write(stage.path("home/daemon/deep/file"), "secret\n").unwrap();
    let _listener = UnixListener::bind(stage.path("home/daemon/deep/socket")).unwrap();
    let paths = [
        "~/.ssh/id_ed25519",
        "~/.ssh/config",
        "~/app/.env",
        "~/.local/state/ringfence/x",
        "~/.config/ringfence/other",
        "~/.gnupg/a",
        "~/keys/a",
        "~/daemon/deep/file",
        "/etc/shadow",
    ];
    let script = format!("cat {}; cat ~/app/conf; ls ~/.ssh ~/app; true", paths.join(" "));
    let ended = stage.ended("learn --yes", &script);
    assert!(ended.code == 0 && said(&ended, "conf\n"), "{ended:?}");
    assert!(!said(&ended, "secret"), "{ended:?}");
    let policy = fs::read_to_string(stage.path(POLICY)).unwrap();
    assert!(policy.contains("\"~/app/conf\"") && policy.matches('~').count() == 1, "{policy}");
    let learned = stage.learned("", &script);
    let refused: Vec<_> =
        learned["refused"].as_array().unwrap().iter().map(|row| row["object"].as_str().unwrap()).collect();
    for path in paths.iter().filter(|path| !path.contains("gnupg")) {
        let path = path.replace('~', "/stage/home");
        assert!(refused.contains(&&*path), "{path}: {refused:?}");
    }
    // As long as it is closed it cannot be reached by asking the process that listens there either.
    let call = "import socket,os\ns=socket.socket(socket.AF_UNIX)\ns.connect(os.environ['HOME']+'/daemon/deep/socket')\nprint('reached')\n";
    fs::write(stage.path("ws/call.py"), call).unwrap();
    let ended = stage.ended("learn", "python3 call.py");
    assert!(!said(&ended, "reached"), "{ended:?}");
}

#[test]
fn learning_is_no_way_to_write() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let script = "echo x > ~/results/old; rm ~/data/x.csv; mv ~/data ~/moved; echo x > ~/.cache/tool/kept; echo x > /opt/x; mkdir /opt/y; echo x > .envrc2; true";
    let learned = stage.learned("", script);
    assert_eq!(fs::read_to_string(stage.path("home/results/old")).unwrap(), "old\n");
    assert_eq!(fs::read_to_string(stage.path("home/.cache/tool/kept")).unwrap(), "kept\n");
    assert!(stage.path("home/data/x.csv").exists() && !stage.path("home/moved").exists());
    assert!(!PathBuf::from("/opt/x").exists() && !PathBuf::from("/opt/y").exists());
    // A file that is there is enough by itself; a name that goes needs its directory; private space needs nothing.
    assert_eq!(learned["add"]["jail.shared"], serde_json::json!(["~/data", "~/results/old"]));
    // Root runs programs from there; for others it is merely too much.
    let root = rustix::process::geteuid().is_root();
    let opt = if root { "programs that are installed for every user" } else { "/opt is not proposed" };
    let told = format!("{} {}", learned["refused"], learned["notes"]);
    for text in ["~/.cache/tool/kept is private", opt, "~/ is not proposed"] {
        assert!(told.contains(text), "{text}: {told}");
    }
}

/// Files from which a program of the host executes something later, or which it trusts. Those in the home directory are made
/// first, so that each can be opened for writing.
const EXECUTED: &[&str] = &[
    "/etc/cron.d/x",
    "/etc/cron.daily/x",
    "/etc/systemd/system/x.service",
    "/etc/profile.d/x.sh",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf.d/x.conf",
    "/etc/sudoers.d/x",
    "/etc/passwd",
    "/etc/pam.d/x",
    "/etc/ssh/sshd_config",
    "/etc/apt/apt.conf.d/x",
    "/etc/udev/rules.d/x",
    "/etc/security/x",
    "/lib/systemd/system/x",
    "/usr/local/bin/x",
    "/usr/bin/x",
    "/usr/lib/python3/dist-packages/x.pth",
    "/var/spool/cron/crontabs/root",
    "/var/lib/x",
    "/var/cache/apt/archives/x.deb",
    "/proc/sys/kernel/core_pattern",
    "/sys/power/state",
    "~/.bashrc",
    "~/.config/autostart/x.desktop",
    "~/.config/systemd/user/x.service",
    "~/.config/git/config",
    "~/.config/tool/settings",
    "~/.config/ringfence/policy.toml",
    "~/.local/state/ringfence/ledger.jsonl",
    "~/.local/bin/x",
    "~/.local/lib/python3.11/site-packages/x.pth",
    "~/.local/share/applications/x.desktop",
    "~/.cargo/bin/cargo",
    "~/.cargo/registry/src/crate/build.rs",
    "~/.cache/pip/http/x",
    "~/.ssh/config",
    "~/.npmrc",
    "~/.tmux.conf",
    "~/.xprofile",
    "~/.claude/settings.json",
    "~/bin/x",
    "~/go/bin/x",
    "~/node_modules/x/index.js",
    "~/tool/bin/x",
    "~/tool/lib/x",
    "~/dotfiles/zshrc",
];

/// A command that writes, and reads, everything from which the host executes gets none of it by its proposal.
#[test]
fn places_from_which_the_host_executes_are_not_proposed_to_be_written() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    for path in EXECUTED.iter().filter_map(|path| path.strip_prefix("~/")) {
        let path = stage.path("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.ends_with("policy.toml") {
            fs::write(path, "").unwrap();
        }
    }
    fs::create_dir_all(stage.path("home/dotfiles/free")).unwrap();
    symlink(stage.path("home/dotfiles/zshrc"), stage.path("home/.zshrc")).unwrap();
    symlink(stage.path("home/.config/tool"), stage.path("home/link")).unwrap();
    let paths = EXECUTED.iter().chain(&["~/link/more", "~/link/settings"]);
    let open = |path: &&str| format!("cat {path}; ls $(dirname {path}); echo x >> {path}\n");
    let script: String = paths.map(open).collect();
    let script = format!("{script} echo x > ~/results/new; echo x > ~/dotfiles/free/x; true");
    fs::write(stage.path("ws/script"), script).unwrap();
    let mut command = stage.command(&["learn", "--yes", "--format", "json", "--", "sh", "script"]);
    let search = format!("{}:/usr/bin:/bin", stage.path("home/tool/bin").display());
    let learned = command.env("PATH", search).output().unwrap();
    let learned: Value = serde_json::from_slice(&learned.stdout).unwrap();
    assert_eq!(learned["add"]["jail.shared"], serde_json::json!(["~/dotfiles/free", "~/results"]));
    let told = format!("{} {}", learned["refused"], learned["notes"]);
    for text in
        ["cron runs it as root", "systemd starts", "on the search path", "belongs to Ringfence", "by hand"]
    {
        assert!(told.contains(text), "{text}: {told}");
    }
    // Accepted entries give a run none of them.
    let before = fs::read_to_string(stage.path(POLICY)).unwrap();
    stage.ended("run", &fs::read_to_string(stage.path("ws/script")).unwrap());
    assert_eq!(fs::read_to_string(stage.path("home/results/new")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(stage.path(POLICY)).unwrap(), before);
    for path in
        EXECUTED.iter().filter_map(|path| path.strip_prefix("~/")).filter(|path| !path.contains("ringfence"))
    {
        assert_eq!(fs::read_to_string(stage.path("home").join(path)).unwrap(), "", "{path}");
    }
}

#[test]
fn files_of_others_bound_what_is_shown() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    fs::write(stage.path("ws/ringfence.toml"), "version = 1\n[jail]\nread-only = []\n").unwrap();
    let ended = stage.ended("learn", "cat ~/data/x.csv");
    assert!(!said(&ended, "1,2"), "{ended:?}");
    let rule = "version = 1\n[[rules]]\ntool = \"exec\"\ncommand = \"sh *\"\naction = \"deny\"\n";
    let stage = Stage::new();
    stage.policy(rule);
    let ended = stage.ended("learn --yes", "touch ran");
    assert!(ended.code == 126 && !stage.path("ws/ran").exists(), "{ended:?}");
    assert_eq!(fs::read_to_string(stage.path(POLICY)).unwrap(), rule);
}

#[test]
fn a_profile_of_ones_own_and_commands_that_would_be_asked_about() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    stage.policy(
        "version = 1\n[jail]\nprofile = \"mine\"\n[profiles.mine]\nextends = \"readonly\"\nread = [\"~/results\"]\n[commands]\ndefault = \"ask\"\n",
    );
    let script = "cat ~/results/old ~/data/x.csv; echo x > src/new; exit 3";
    assert_eq!(stage.ended("learn", script).code, 3, "nobody typed it");
    let learned = stage.learned("--approve learning", script);
    assert_eq!(learned["exit"], 3);
    assert_eq!(learned["add"]["profiles.mine.read"], serde_json::json!(["~/data/x.csv"]));
    assert_eq!(learned["add"]["profiles.mine.write"], serde_json::json!(["/stage/ws/src"]));
    assert_eq!(learned["add"]["commands.allow"], serde_json::json!(["sh script"]));
    assert_eq!(stage.ended("learn --yes --approve learning", script).code, 0);
    assert_eq!(stage.ended("run", script).code, 3);
    assert_eq!(fs::read_to_string(stage.path("ws/src/new")).unwrap(), "x\n");
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    stage.policy("version = 1\n");
    fs::write(
        stage.path("ws/script"),
        "cat ~/data/x.csv; touch began; while [ ! -e go ]; do sleep 0.05; done",
    )
    .unwrap();
    let running = stage.command(&["learn", "--yes", "--", "sh", "script"]).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while !stage.path("ws/began").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = "version = 1\n# changed\n";
    stage.policy(text);
    fs::write(stage.path("ws/go"), "").unwrap();
    let output = running.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && err.contains("has changed meanwhile"), "{err}");
    assert_eq!(fs::read_to_string(stage.path(POLICY)).unwrap(), text);
}

/// With language versions installed in a home directory, learning works: writes go to a layer, and none of
/// the installed files is proposed to be written.
#[test]
fn installed_toolchains_are_no_obstacle() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let names = [".pyenv", ".nvm", ".asdf", ".rbenv", ".jenv", "miniconda3", "sdk", ".sdkman/candidates"];
    for name in names {
        let path = stage.path("home").join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("there"), "there\n").unwrap();
    }
    let each = names.map(|name| {
        format!("cat ~/{name}/there > /dev/null\necho x > ~/{name}/new\ncat ~/{name}/new > /dev/null\n")
    });
    let script = format!("set -e\n{}echo x > ~/results/new\n", each.concat());
    let learned = stage.learned("", &script);
    assert_eq!(learned["exit"], 0, "{learned}");
    let added = learned["add"].to_string();
    assert!(added.contains("~/results"), "{learned}");
    for name in names {
        assert!(!added.contains(name), "{name}: {learned}");
        assert!(!stage.path("home").join(name).join("new").exists(), "{name}");
    }
}
