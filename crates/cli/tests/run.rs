//! `ringfence run` on the real kernel.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home/.config/ringfence", "ws/src", "beside"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        fs::write(directory.path().join("beside/file"), "beside\n").unwrap();
        Self { directory }
    }

    fn user(self, text: &str) -> Self {
        fs::write(self.path("home/.config/ringfence/policy.toml"), format!("version = 1\n{text}\n")).unwrap();
        self
    }

    fn project(self, text: &str) -> Self {
        fs::write(self.path("ws/ringfence.toml"), format!("version = 1\n{text}\n")).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.path("ws")).stdin(Stdio::null());
        command
    }

    fn ended(&self, command: &mut Command) -> Ended {
        let output = command.output().unwrap();
        let here = self.path("");
        let here = here.to_str().unwrap().trim_end_matches('/');
        let tidy = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(here, "/stage");
        Ended { code: output.status.code().unwrap(), out: tidy(&output.stdout), err: tidy(&output.stderr) }
    }

    /// `ringfence run` with options in front of a shell script; `@` stands for the stage.
    fn run(&self, options: &str, script: &str) -> Ended {
        self.shell(options, &[], &self.here(script))
    }

    /// Runs a script that the policy does not see, because it comes as a value. The jail has to hold it.
    fn unseen(&self, options: &str, script: &str) -> Ended {
        let value = format!("SCRIPT={}", self.here(script));
        self.shell(options, &["--env", &value], "eval \"$SCRIPT\"")
    }

    fn shell(&self, options: &str, more: &[&str], script: &str) -> Ended {
        let options = self.here(options);
        let mut command = self.command();
        command.arg("run").args(options.split_whitespace()).args(more).args(["--", "/bin/sh", "-c", script]);
        self.ended(&mut command)
    }

    /// `@` is where the stage stands.
    fn here(&self, text: &str) -> String {
        text.replace('@', self.path("").to_str().unwrap().trim_end_matches('/'))
    }

    fn ledger(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn events(&self) -> Vec<String> {
        let named = |record: &Value| record["event"].as_str().unwrap().to_owned();
        self.ledger().iter().map(named).filter(|name| !name.starts_with("ledger.")).collect()
    }
}

/// Returns true if a jail can be made on this machine; says so where not.
fn jail_works() -> bool {
    let ended = Stage::new().run("", "true");
    let works = ended.code == 0;
    if !works {
        assert_eq!(ended.code, 125, "that is not for want of a jail: {ended:?}");
        skip::skipped("ringfence run", &format!("no jail can be made here: {}", ended.err));
    }
    works
}

#[test]
fn it_ends_as_the_command_ends() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let rows = [
        ("", "exit 0", 0),
        ("", "exit 7", 7),
        ("", "exit 255", 255),
        ("", "kill -TERM $$", 143),
        ("", "kill -KILL $$", 137),
        ("--limit wall-clock=200ms", "sleep 60", 124),
        ("--limit processes=0", "true", 64),
        ("--limit nonsense", "true", 64),
        ("-p nonsense", "true", 64),
        ("--nonsense", "true", 64),
        ("--network broker", "true", 0),
        ("--network nonsense", "true", 64),
        ("--network broker --provider landlock", "true", 125),
        ("--read @/absent", "true", 125),
        ("--read @", "true", 125),
        ("--read .", "true", 125),
        ("--read @/beside --write @/beside", "true", 125),
        ("--write /proc", "true", 125),
        ("--env HOME=x", "true", 126),
    ];
    for (options, script, code) in rows {
        let ended = stage.run(options, script);
        assert_eq!(ended.code, code, "{options} {script}: {ended:?}");
    }
    let rows: [(&[&str], i32); 6] = [
        (&["run", "--", "no-such-command"], 127),
        (&["run", "--", "/etc"], 126),
        (&["run", "--", "-x"], 127),
        (&["run", "true", "--verbose", "--format"], 0),
        (&["run"], 64),
        (&["run", "--"], 64),
    ];
    for (arguments, code) in rows {
        let ended = stage.ended(stage.command().args(arguments));
        assert_eq!(ended.code, code, "{arguments:?}: {ended:?}");
    }
}

/// A failure before anything starts says which code, what, and what would help.
#[test]
fn a_refusal_says_why() {
    if !jail_works() {
        return;
    }
    let rows = [
        ("", "--read @/absent", "RF-J002", "/stage/absent does not exist"),
        ("", "--read @", "RF-J001", "/stage contains the workspace"),
        ("", "--write @/home", "RF-J001", "belongs to Ringfence"),
        ("jail.provider = \"oci\"", "", "RF-J003", "`oci` is not built yet"),
        ("", "--env HOME=x", "RF-J010", "HOME"),
        ("jail.nonsense = 1", "", "RF-C002", "unknown key"),
    ];
    for (policy, options, code, text) in rows {
        let ended = Stage::new().user(policy).run(options, "touch ran");
        assert!(ended.err.contains(code) && ended.err.contains(text), "{options}: {}", ended.err);
        assert!(ended.err.contains(&format!("`ringfence explain {code}` says more")), "{}", ended.err);
        assert!(matches!(ended.code, 125 | 126) && ended.out.is_empty(), "{ended:?}");
    }
}

#[test]
fn a_rule_stops_a_command_and_silence_does_not() {
    if !jail_works() {
        return;
    }
    let rule =
        |action: &str| format!("[[rules]]\ntool = \"exec\"\ncommand = \"touch *\"\naction = \"{action}\"");
    let rows = [("allow", 0), ("ask", 3), ("deny", 126)];
    for (action, code) in rows {
        let commands: [&[&str]; 5] = [
            &["touch", "ran"],
            &["env", "A=1", "touch", "ran"],
            &["nice", "touch", "ran"],
            &["sh", "-c", "touch ran"],
            &["sh", "-c", "true && 't'ouch ran"],
        ];
        for command in commands {
            let stage = Stage::new().user(&rule(action));
            let ended = stage.ended(stage.command().arg("run").args(command));
            assert_eq!(ended.code, code, "{action} {command:?}: {ended:?}");
            assert_eq!(stage.path("ws/ran").exists(), code == 0);
            let decided = &stage.ledger()[1];
            assert_eq!(
                (&decided["event"], &decided["decision"]),
                (&"request.decided".into(), &action.into())
            );
        }
    }
    let denied = Stage::new().project(&rule("deny"));
    let ended = denied.ended(denied.command().args(["run", "touch", "ran"]));
    assert!(ended.err.starts_with("error[RF-R001]: the policy denies: touch ran\n"), "{}", ended.err);
    assert!(ended.err.contains("(/stage/ws/ringfence.toml:2)"), "{}", ended.err);
}

/// It is not known what these start. A person typed them, and that is the answer; the jail holds in every case.
#[test]
fn typing_a_command_answers_what_a_finding_asks() {
    if !jail_works() {
        return;
    }
    for command in [&["sh", "-c", "$x"][..], &["sh"], &["sh", "-c", "eval \"$x\""]] {
        let stage = Stage::new();
        let ended = stage.ended(stage.command().args(["run", "--"]).args(command));
        assert_eq!(ended.code, 0, "{command:?}: {ended:?}");
        assert_eq!(stage.ledger()[1]["code"], "RF-R006", "{command:?}");
    }
}

#[test]
fn a_finding_that_denies_stops_a_command_and_shows_the_token() {
    let stage = Stage::new();
    let ended = stage.ended(stage.command().args(["run", "--", "sh", "-c", "mkfs.ext4 /dev/sda"]));
    assert_eq!(ended.code, 126, "{ended:?}");
    let shown = ended.err.starts_with("    sh -c mkfs.ext4 /dev/sda\n                    ^^^^^^^^\n");
    assert!(
        shown && ended.err.contains("\nerror[RF-S018]: the policy denies: sh -c mkfs.ext4"),
        "{}",
        ended.err
    );
    assert_eq!(stage.ledger()[1]["object"], "sh -c 'mkfs.ext4 /dev/sda'", "recorded as it was typed");
}

#[test]
fn views_show_hide_and_protect() {
    if !jail_works() {
        return;
    }
    let rows = [
        ("", "echo x > new && cat new", "x\n"),
        ("", "cat @/beside/file 2>/dev/null || echo gone", "gone\n"),
        ("", "ls -A ~ | grep -v config", ""),
        ("-p readonly", "echo x 2>/dev/null > new2 || echo no", "no\n"),
        (
            "--read @/beside",
            "cat @/beside/file; echo x 2>/dev/null > @/beside/file || echo no",
            "beside\nno\n",
        ),
        ("--read ../beside", "cat @/beside/file", "beside\n"),
        ("--write @/beside", "echo x > @/beside/other && cat @/beside/other", "x\n"),
        ("--hide src", "ls -A src; echo x 2>/dev/null > src/x || echo no", "no\n"),
        ("-p readonly --write src", "echo x > src/x && echo x 2>/dev/null > y || echo no", "no\n"),
        ("--env A=b --env FOO", "echo $A-$FOO-", "b-foo-\n"),
        ("", "echo $FOO-$SECRET_TOKEN-", "--\n"),
    ];
    let stage = Stage::new();
    for (options, script, out) in rows {
        let here = stage.path("");
        let options = options.replace('@', here.to_str().unwrap().trim_end_matches('/'));
        let script = script.replace('@', here.to_str().unwrap().trim_end_matches('/'));
        let mut command = stage.command();
        command.env("FOO", "foo").env("SECRET_TOKEN", "x").arg("run").args(options.split_whitespace());
        let ended = stage.ended(command.args(["--", "/bin/sh", "-c", &script]));
        assert_eq!(ended.out, out, "{options} {script}: {ended:?}");
    }
}

#[test]
fn the_project_cannot_change_its_own_policy_or_widen_the_jail() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new().project("jail.profile = \"workspace-write-no-network\"");
    let script =
        "echo x 2>/dev/null > ringfence.toml || mv ringfence.toml a 2>/dev/null || rm -f ringfence.toml";
    stage.run("", script);
    assert!(fs::read_to_string(stage.path("ws/ringfence.toml")).unwrap().starts_with("version = 1\njail"));
    let rows = [
        ("--network open", 126),
        ("--network none", 0),
        ("-p workspace-write", 126),
        ("-p readonly", 0),
        ("--no-project-policy --network open", 0),
    ];
    for (options, code) in rows {
        let ended = stage.run(options, "true");
        assert_eq!(ended.code, code, "{options}: {ended:?}");
    }
}

#[test]
fn git_commits_with_the_persons_name() {
    if !jail_works() || !Path::new("/usr/bin/git").exists() {
        return;
    }
    let stage = Stage::new();
    fs::write(stage.path("home/.gitconfig"), "[user]\n\tname = A B\n\temail = a@example.org\n").unwrap();
    let script = "git init -q . && git commit -q --allow-empty -m x && git log --format=%an && cat ~/.gitconfig | wc -l";
    assert_eq!(stage.run("", script).out, "A B\n3\n");
    fs::write(stage.path("home/.gitconfig"), "[http]\n\textraHeader = Authorization: x\n").unwrap();
    assert_eq!(stage.run("", "cat ~/.gitconfig 2>/dev/null || echo gone").out, "gone\n");
}

#[test]
fn every_run_is_recorded_before_it_happens() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    stage.run("", "exit 3");
    assert_eq!(stage.events(), ["request.decided", "jail.started", "jail.ended"]);
    let ended = &stage.ledger()[3];
    assert_eq!((&ended["exit"], &ended["outcome"]), (&3.into(), &"error".into()));
    let ids: Vec<_> = stage.ledger().iter().skip(1).map(|record| record["id"].clone()).collect();
    assert!(ids.iter().all(|id| id == &ids[0] && id.is_string()), "{ids:?}");

    let stage = Stage::new();
    stage.run("--limit wall-clock=100ms", "sleep 60");
    assert_eq!(stage.events()[2..], ["limit.reached", "jail.ended"]);
    assert_eq!(stage.ledger()[3]["limit"], "wall-clock");

    let stage = Stage::new();
    stage.run("--read @/absent", "true");
    assert_eq!(stage.events(), ["request.decided", "jail.refused"]);
}

#[test]
fn without_a_record_nothing_runs() {
    let stage = Stage::new();
    fs::write(stage.path("home/.local"), "in the way").unwrap();
    let ended = stage.run("", "touch ran");
    assert_eq!(ended.code, 125, "{ended:?}");
    assert!(ended.err.contains("cannot write to the ledger"), "{}", ended.err);
    assert!(!stage.path("ws/ran").exists());
    let mut homeless = stage.command();
    homeless.env_remove("HOME").env("XDG_STATE_HOME", stage.path("home/.local/state"));
    assert_eq!(stage.ended(homeless.args(["run", "touch", "ran"])).code, 125);
}

/// The ledger may grow by a few blocks only, so that one of the records of a run is the first that does not fit. A word
/// of growing length moves the records against the blocks, and with it which one that is. The ledger is long already: a
/// limit near zero would stop the jail itself, which copies small files.
#[test]
fn a_jail_that_cannot_be_recorded_is_not_released() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new().user("[[rules]]\ntool = \"exec\"\ncommand = \"long *\"\naction = \"deny\"");
    for _ in 0..25 {
        stage.ended(stage.command().args(["run", "long", &"x".repeat(10_000)]));
    }
    let ledger = stage.path("home/.local/state/ringfence/ledger.jsonl");
    let before = fs::read(&ledger).unwrap();
    let script = "trap '' XFSZ; ulimit -S -f $1; shift; exec \"$@\"";
    let mut held_back = 0;
    for (more, padding) in (1..5).flat_map(|more| (0..5).map(move |step| (more, step * 100))) {
        fs::write(&ledger, &before).unwrap();
        let blocks = (before.len() / 512 + more).to_string();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script, "sh", &blocks, env!("CARGO_BIN_EXE_ringfence"), "run", "--"]);
        shell.args(["/bin/sh", "-c", "touch ran", &"x".repeat(padding)]).current_dir(stage.path("ws"));
        let ended = stage.ended(shell.env_clear().env("HOME", stage.path("home")).stdin(Stdio::null()));
        let ran = fs::remove_file(stage.path("ws/ran")).is_ok();
        let started = stage.events().iter().any(|event| event == "jail.started");
        assert_eq!(
            (ran, ended.code),
            if started { (true, 0) } else { (false, 125) },
            "{more} {padding}: {ended:?}"
        );
        held_back += usize::from(!ran && ended.err.contains("RF-A001") && stage.events().len() == 26);
    }
    assert!(held_back > 0, "no run failed between its decision and its start");
}

#[test]
fn without_a_jail_only_loudly() {
    let stage = Stage::new().user("jail.enabled = \"never\"");
    let ended = stage.ended(stage.command().env("SECRET_TOKEN", "x").args([
        "run",
        "--",
        "/bin/sh",
        "-c",
        "cat ../beside/file; echo \"$SECRET_TOKEN\"; exit 5",
    ]));
    assert_eq!((ended.code, ended.out.as_str()), (5, "beside\n\n"), "{ended:?}");
    assert!(ended.err.starts_with("warning[RF-J012]: running without a jail, because /stage/home/.config"));
    assert_eq!(stage.events(), ["request.decided", "jail.skipped", "jail.ended"]);
    let rows = [("/bin/sh -c exit", 0), ("no-such-command", 127), ("/etc", 126)];
    for (line, code) in rows {
        let ended = stage.ended(stage.command().arg("run").args(line.split_whitespace()));
        assert_eq!(ended.code, code, "{line}: {ended:?}");
    }
}

/// Inside a jail no further namespaces can be made, so there the native provider does not work.
#[test]
fn where_no_jail_can_be_made_the_users_file_decides() {
    if !jail_works() {
        return;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_ringfence"));
    let options = format!("--read {} --env RINGFENCE_PROGRAM={}", program.display(), program.display());
    let inner = "\"$RINGFENCE_PROGRAM\" run --provider native -- /bin/sh -c 'echo ran; exit 6'";
    let policy = "mkdir -p ~/.config/ringfence && echo 'version = 1\njail.on-unavailable = \"run-unjailed\"' \
                  > ~/.config/ringfence/policy.toml";
    let refused = Stage::new().run(&options, inner);
    assert_eq!((refused.code, refused.out.as_str()), (125, ""), "{refused:?}");
    assert!(
        refused.err.starts_with("error[RF-J003]: the native provider does not work here"),
        "{}",
        refused.err
    );
    let ended = Stage::new()
        .unseen(&options, &format!("{policy}; {inner}; code=$?; cat ~/.local/state/ringfence/*; exit $code"));
    assert_eq!(ended.code, 6, "{ended:?}");
    assert!(ended.out.starts_with("ran\n") && ended.out.contains("\"jail.skipped\""), "{}", ended.out);
    assert!(ended.err.contains("warning[RF-J012]: running without a jail"), "{}", ended.err);
    let below = Stage::new().unseen(&options, &format!("{policy}; {}", inner.replace("native", "landlock")));
    assert_eq!((below.code, below.out.as_str()), (125, ""), "weaker than required is no excuse: {below:?}");
}

#[test]
fn odd_workspaces_work_or_are_refused() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let names: [&[u8]; 7] =
        [b"with space", b"it's", b"\"q\"", b"new\nline", b"not\xff utf", b"-dash", "caf\u{e9}".as_bytes()];
    for name in names {
        let path = stage.path("ws").join(OsStr::from_bytes(name));
        fs::create_dir(&path).unwrap();
        let mut command = stage.command();
        command.current_dir(&path).args(["run", "--", "/bin/sh", "-c", "pwd && echo x > new"]);
        let output = command.output().unwrap();
        let expected = [path.as_os_str().as_bytes(), b"\n"].concat();
        assert_eq!(OsString::from_vec(output.stdout), OsString::from_vec(expected));
        assert_eq!(fs::read_to_string(path.join("new")).unwrap(), "x\n");
    }
}

#[test]
fn a_linked_workspace_is_the_directory_it_leads_to() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    symlink(stage.path("ws"), stage.path("link")).unwrap();
    let ended = stage.ended(stage.command().current_dir(stage.path("link")).args(["run", "/bin/pwd"]));
    assert_eq!((ended.code, ended.out.as_str()), (0, "/stage/ws\n"), "{ended:?}");
    let here = stage.path("link");
    let ended = stage.ended(stage.command().arg("--workspace").arg(here).args(["run", "/bin/pwd"]));
    assert_eq!((ended.code, ended.out.as_str()), (0, "/stage/ws\n"), "{ended:?}");
    let sub = stage.ended(stage.command().current_dir(stage.path("ws/src")).args([
        "--workspace",
        "..",
        "run",
        "pwd",
    ]));
    assert_eq!(sub.out, "/stage/ws/src\n", "the command starts where it was called: {sub:?}");
}

#[test]
fn no_jail_around_everything() {
    let stage = Stage::new();
    for (place, text) in
        [("/", "the home directory"), ("@/home", "is the home directory"), ("@", "contains the home")]
    {
        let place = place.replace('@', stage.path("").to_str().unwrap().trim_end_matches('/'));
        let ended = stage.ended(stage.command().args(["--workspace", &place, "run", "touch", "ran"]));
        assert_eq!(ended.code, 125, "{place}: {ended:?}");
        assert!(
            ended.err.contains(text) && ended.err.contains("hint: change to the directory"),
            "{}",
            ended.err
        );
    }
}

#[test]
fn a_deleted_directory_is_a_clean_error() {
    let stage = Stage::new();
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" run true";
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_ringfence")]).current_dir(stage.path("ws"));
    let ended = stage.ended(shell.env_clear().env("HOME", stage.path("home")).stdin(Stdio::null()));
    assert_eq!(ended.code, 125, "{ended:?}");
    assert!(ended.err.starts_with("error: the current directory cannot be found"), "{}", ended.err);
}

#[test]
fn it_says_what_is_enforced_when_asked() {
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let quiet = stage.run("", "true");
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""), "silent unless asked");
    let told = stage.run("-v --read @/beside", "echo out").err;
    let names: Vec<_> = told.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let layers = ["jail", "files", "network", "syscalls", "processes", "resources"];
    assert_eq!(names[..6], layers, "{told}");
    assert!(told.contains("view       read-only  /stage/beside\n"), "{told}");
    assert!(
        told.contains("sees       the broker") && told.contains(" HTTPS_PROXY ") && told.contains("ledger "),
        "{told}"
    );
    let mut command = stage.command();
    let ended = stage.ended(command.args(["--format", "json", "run", "--", "sh", "-c", "echo out; exit 4"]));
    assert_eq!((ended.out.as_str(), ended.code), ("out\n", 4));
    let lines: Vec<Value> = ended.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["event"], &lines[1]["exit"]), (&"started".into(), &4.into()));
    assert_eq!(lines[0]["layers"].as_array().unwrap().len(), 5);
}

#[test]
fn a_refusal_inside_is_explained_and_recorded_when_asked() {
    if !jail_works() {
        return;
    }
    let script = "cat @/beside/file; ls src; echo x > /usr/x; @/beside/program; \
                  bash -c ': > /dev/tcp/192.0.2.1/80'; true";
    let refused = [
        ("read", "/stage/beside/file", "--read /stage/beside/file"),
        ("read", "/stage/ws/src", "take it out of `hide`"),
        ("write", "/usr/x", "--write /usr/x"),
        ("exec", "/stage/beside/program", "--read /stage/beside"),
        ("connect", "192.0.2.1:80", "--network broker --allow 192.0.2.1:80"),
    ];
    let stage = Stage::new();
    fs::copy("/bin/true", stage.path("beside/program")).unwrap();
    let told = stage.unseen("--network none --explain-denials --hide @/ws/src", script).err;
    let lines: Vec<_> = told.lines().filter(|line| line.starts_with("denied[")).collect();
    assert_eq!(lines.len(), refused.len(), "{told}");
    for ((kind, object, allow), line) in refused.iter().zip(lines) {
        assert!(line.starts_with(&format!("denied[RF-J011]: {kind} {object}: ")), "{line}");
        assert!(line.contains("profile `workspace-write`"), "{line}");
        assert!(line.contains(&format!("; to allow it: {allow}")), "{line}");
    }
    let here = stage.path("");
    let tidy = |value: &Value| value.as_str().unwrap().replace(here.to_str().unwrap(), "/stage/");
    let ledger = stage.ledger();
    let denied: Vec<_> = ledger.iter().filter(|record| record["code"] == "RF-J011").collect();
    let recorded: Vec<_> =
        denied.iter().map(|record| (tidy(&record["kind"]), tidy(&record["object"]))).collect();
    let expected: Vec<_> = refused.iter().map(|row| (row.0.to_owned(), row.1.to_owned())).collect();
    assert_eq!(recorded, expected);
    assert!(
        denied.iter().all(|record| record["decision"] == "deny" && record["profile"] == "workspace-write")
    );

    let unasked = stage.run("--network none --hide @/ws/src", script).err;
    assert!(!unasked.contains("denied["), "{unasked}");
    let ordinary =
        Stage::new().run("--explain-denials", "ls; echo x > src/file; cat src/file; absent; true").err;
    assert!(
        !ordinary.contains("denied["),
        "a program searched for and absent everywhere is no denial: {ordinary}"
    );
}

/// Otherwise any process of the same person could read the launcher's memory. The kernel gives what `/proc` shows of an
/// undumpable process to root, which root cannot tell from its own.
#[test]
fn the_launcher_is_not_dumpable_while_its_command_runs() {
    if rustix::process::getuid().is_root() {
        return skip::skipped("the launcher's dumpable flag", "root owns every process's files either way");
    }
    if !jail_works() {
        return;
    }
    let stage = Stage::new();
    let mut command = stage.command();
    command.args(["run", "--", "/bin/sh", "-c", "echo in; read line"]);
    let mut launcher = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 3];
    launcher.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    let owner = fs::metadata(format!("/proc/{}/mem", launcher.id())).unwrap().uid();
    drop(launcher.stdin.take());
    launcher.wait().unwrap();
    assert_eq!(said, *b"in\n");
    assert_ne!(owner, rustix::process::getuid().as_raw());
}
