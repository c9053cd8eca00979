//! Names are made by the notify supervisor in a command's place: with the same answers as the kernel's own, but for protected ones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

#[path = "names/inside.rs"]
mod inside;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PYTHON: &str = "/usr/bin/python3";

/// A home with a workspace in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = tempfile::Builder::new().prefix("rf-names-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir(place.path().join("ws")).unwrap();
        Self(place)
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.0.path().canonicalize().unwrap().join("ws")
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(&[], words).output().unwrap()
    }

    fn command(&self, options: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.workspace()).arg("run").args(options).arg("--").args(words);
        command.stdin(Stdio::null());
        command
    }

    /// Copies a script into the workspace, and runs it there in a jail.
    fn script(&self, name: &str, text: &str, words: &[&str]) -> Output {
        fs::write(self.workspace().join(name), text).unwrap();
        self.run(&[&[PYTHON, name], words].concat())
    }

    /// A command outside, which has to succeed.
    fn outside(&self, script: &str) -> String {
        let mut command = Command::new("/bin/sh");
        command.env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin:/usr/local/bin");
        command.current_dir(self.workspace()).args(["-ec", script]);
        let ended = command.stdin(Stdio::null()).output().unwrap();
        assert!(ended.status.success(), "{script}: {}", text(&ended.stderr));
        text(&ended.stdout)
    }
}

fn has_python() -> bool {
    let there = Path::new(PYTHON).exists();
    if !there {
        skip::skipped("calls by the notify supervisor", "/usr/bin/python3 is not installed");
    }
    there
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every row has the same answer inside as outside.
#[test]
fn calls_have_the_answers_of_the_kernel() {
    if !has_python() {
        return;
    }
    let (inside, outside) = (Place::new(), Place::new());
    let script = include_str!("names/calls.py");
    for place in [&inside, &outside] {
        fs::write(place.workspace().join("calls.py"), script).unwrap();
    }
    let native = Command::new(PYTHON)
        .arg("calls.py")
        .current_dir(outside.workspace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // In the broker's network every address is local, so that any of them can be bound.
    let kept = inside.command(&["--network", "none"], &[PYTHON, "calls.py"]).output().unwrap();
    let (native, kept, errors) = (text(&native.stdout), text(&kept.stdout), text(&kept.stderr));
    assert!(native.lines().count() > 100, "{native}");
    let differ: Vec<_> = native.lines().zip(kept.lines()).filter(|(native, kept)| native != kept).collect();
    assert!(differ.is_empty() && native.lines().count() == kept.lines().count(), "{differ:#?}\n{errors}");
}

/// Old files stay as they were and nothing new appears that a tool would run, for every trick.
#[test]
fn no_trick_leads_around_a_protected_name() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let top = place.workspace();
    let old = [
        ".git/HEAD",
        ".git/config",
        ".git/info/attributes",
        "deep/er/.envrc",
        "deep/er/.vscode/tasks.json",
        "deep/repo/.git/HEAD",
        "deep/repo/.git/config",
        "deep/repo/.git/hooks/pre-commit",
        "bare/HEAD",
        "bare/config",
        "bare/hooks/update",
    ];
    for path in old {
        fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
        fs::write(top.join(path), "# as it was\n").unwrap();
    }
    for repository in [".git", "deep/repo/.git", "bare"] {
        fs::create_dir_all(top.join(repository).join("objects")).unwrap();
        fs::create_dir_all(top.join(repository).join("refs")).unwrap();
    }
    fs::write(top.join("tricks.py"), include_str!("names/tricks.py")).unwrap();
    let ended = place.run(&[PYTHON, "tricks.py"]);
    let said = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    assert!(said.contains("flip bare/hooks/update"), "{said}");
    for path in old {
        assert_eq!(fs::read_to_string(top.join(path)).unwrap(), "# as it was\n", "{path}\n{said}");
    }
    for path in
        ["new/.envrc", "new/.vscode", ".git/hooks/post-checkout", "new/.git/hooks/x", ".git/commondir"]
    {
        let text = fs::read_to_string(top.join(path)).unwrap_or_default();
        assert!(!text.contains("evil"), "{path}\n{said}");
    }
    // An empty directory may be created, and nothing else.
    for name in ["new/.vscode", ".idea", ".claude"] {
        assert!(fs::read_dir(top.join(name)).map_or(0, Iterator::count) == 0, "{name}\n{said}");
    }
    for what in ["node_modules", "deep-node_modules", ".git-made"] {
        for path in [format!("out{what}"), format!("plain{what}/.vscode"), format!("whole{what}")] {
            assert!(top.join(&path).symlink_metadata().is_err(), "{path}\n{said}");
        }
    }
    for number in 0..200 {
        let race = top.join(format!("race{number}"));
        assert!(!(race.join("HEAD").exists() && race.join("objects").exists()), "{}", race.display());
    }
}

/// Some file systems fold more than ASCII, ignore dots at the end or drop characters. Which one it is does not matter here.
#[test]
fn names_that_a_file_system_may_fold_are_refused() {
    let place = Place::new();
    place.outside(
        "mkdir -p a .vſcode .git. 'node_modules/x' bare/objects bare/refs; echo x > bare/HEAD; echo x > old",
    );
    let rows = [
        ("echo x > .vſcode/tasks.json", false),
        ("echo x > a/.baſhrc", false),
        ("echo x > a/.bashrc.", false),
        ("mkdir .git./hooks; echo x > .git./hooks/pre-commit", false),
        ("echo x > '.git::$INDEX_ALLOCATION'", false),
        ("echo x > \"a/.envr\u{200d}c\"", false),
        ("mv old a/.envrc.", false),
        ("ln -s old '.envrc '", false),
        ("echo x > bare/con\u{fb01}g", false),
        ("mkdir bare/hooks.; echo x > bare/hooks./update", false),
        ("mkdir Straße; echo x > Straße/config; mkdir Straße/hooks; echo x > Straße/hooks/update", true),
        ("echo x > con\u{fb01}g; echo x > plain.; echo x > Ångström; echo x > GIT~1", true),
        ("git init -q Maß; cd Maß; echo x > f; git add f", true),
    ];
    for (script, expected) in rows {
        let ended = place.run(&["/bin/sh", "-ec", script]);
        assert_eq!(ended.status.success(), expected, "{script}: {}", text(&ended.stderr));
    }
}

/// A program of the jail that wins the race for a file on its way to become settings could write what git runs.
#[test]
fn settings_on_their_way_are_nobodys() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    let git = place.workspace().join(".git");
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::create_dir_all(git.join("refs")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let settings = "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = ../origin\n";
    fs::write(git.join("config"), settings).unwrap();
    // Remains of an older version, or of one that was killed.
    for left in ["config.ringfence", ".ringfence-staged-left"] {
        fs::write(git.join(left), "left").unwrap();
    }
    let ended = place.script("staging.py", include_str!("names/staging.py"), &["150"]);
    let said = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    assert!(said.contains("replaced 150\nleft []\n") && !said.contains("won"), "{said}");
    for what in [
        "open",
        "mkdir",
        "mkfifo",
        "symlink",
        "link",
        "rename",
        "bind",
        "truncate",
        "leftover",
        "leftover link",
        "leftover rename",
        "leftover again",
    ] {
        assert!(said.contains(&format!("\n{what} Operation not permitted\n")), "{what}: {said}");
    }
    let after = fs::read_to_string(git.join("config")).unwrap();
    assert!(after.starts_with(settings) && after.contains("[branch \"b14999\"]"), "{said}");
    assert_eq!(fs::metadata(git.join("config")).unwrap().nlink(), 1);
    // Every file that could be linked was left by the older version.
    let linked = fs::read_dir(place.workspace()).unwrap().map(|entry| entry.unwrap());
    for linked in linked.filter(|entry| entry.file_name().to_string_lossy().starts_with("linked-")) {
        assert_eq!(fs::read_to_string(linked.path()).unwrap(), "left", "{said}");
    }
    assert_eq!(fs::read_to_string(git.join(".ringfence-staged-left")).unwrap(), "left");
}

/// Neither a socket nor a `commondir` nor taking it apart has git outside take settings from the jail.
#[test]
fn what_was_a_repository_stays_protected() {
    if !has_python() || Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let place = Place::new();
    place.outside(
        "git init -q --bare .bare; git -C .bare config core.bare false; git -C .bare config core.worktree ..
         echo 'gitdir: ./.bare' > .git; git init -q --bare other; mkdir hooks; git init -q --bare hooks/deep.git
         git init -q super; mkdir -p super/.git/modules/lib; git init -q --bare super/.git/modules/lib/foo; rm -r super/.git/modules/lib/foo/info
         mkdir -p evil/objects evil/refs; printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch PWNED; false\"\n' > evil/config",
    );
    let tops = [".bare", "other", "hooks/deep.git"];
    let settings = |top: &str| fs::read_to_string(place.workspace().join(top).join("config")).unwrap();
    let before = tops.map(settings);
    fs::write(place.workspace().join("repositories.py"), include_str!("names/repositories.py")).unwrap();
    let top = format!("TOP={}", place.workspace().display());
    let ended = place.command(&["--env", &top], &[PYTHON, "repositories.py"]).output().unwrap();
    let said = format!("{}\n{}", text(&ended.stdout), text(&ended.stderr));
    assert!(said.contains("socket RINGFENCE.TOML"), "{said}");
    assert_eq!(said.lines().filter(|line| line.ends_with(" DONE")).collect::<Vec<_>>(), [""; 0], "{said}");
    assert_eq!(tops.map(settings), before, "{said}");
    for path in [
        "x/refs",
        "src/hooks/refs",
        "info/refs",
        ".bare/commondir",
        "ringfence.toml",
        ".envrc",
        "deep/.vscode",
    ] {
        assert!(place.workspace().join(path).symlink_metadata().is_err(), "{path}: {said}");
    }
    place.outside("git status >&2; for top in x src/hooks info other hooks/deep.git; do git -C $top status >&2 || :; done");
    let top = place.workspace();
    assert!(!["", "x", "src/hooks", "info"].iter().any(|at| top.join(at).join("PWNED").exists()), "{said}");
    // The next run works.
    assert!(place.run(&["/bin/true"]).status.success());
}

/// Ends a process that is still there when a test is over.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Returns the end of a launcher; nothing if it does not end within the time.
fn ended_within(child: &mut Ends, time: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        if let Some(status) = child.0.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

#[test]
fn no_call_waits_for_itself() {
    if !has_python() {
        return;
    }
    let place = Place::new();
    fs::write(place.workspace().join("linked.py"), include_str!("names/linked.py")).unwrap();
    let mut command = place.command(&[], &[PYTHON, "linked.py"]);
    let mut child = Ends(command.stdout(Stdio::piped()).spawn().unwrap());
    let ended = ended_within(&mut child, Duration::from_secs(20));
    let mut said = String::new();
    if ended.is_some() {
        child.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    }
    let code = ended.expect("the launcher does not end").code();
    assert_eq!((code, said.lines().count()), (Some(0), 6), "{said}");
}

/// Limits and signals end a jail whose supervisor waits for a file system, and its end is recorded.
#[test]
fn a_supervisor_that_is_stuck_holds_nothing_up() {
    if !has_python() {
        return;
    }
    // The kernel takes the lease away after 45 seconds by default: a process that waits for that takes longer than this.
    let soon = Duration::from_secs(25);
    for (options, how, expected) in [
        (&["--limit", "wall-clock=2s"][..], "stay", Some(124)),
        (&[], "stay", Some(143)),
        (&[], "end", Some(3)),
    ] {
        let place = Place::new();
        fs::write(place.workspace().join("leased"), "").unwrap();
        fs::write(place.workspace().join("waiting.py"), include_str!("names/waiting.py")).unwrap();
        let Some(_lease) = leased(&place) else { return };
        let mut command = place.command(options, &[PYTHON, "waiting.py", how]);
        let mut child = Ends(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let mut out = BufReader::new(child.0.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        if expected == Some(143) {
            assert_eq!(line, "ready\n");
            rustix::process::kill_process(
                rustix::process::Pid::from_child(&child.0),
                rustix::process::Signal::TERM,
            )
            .unwrap();
        }
        let ended = ended_within(&mut child, soon);
        let mut said = String::new();
        if ended.is_some() {
            child.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        }
        let code = ended.expect("the launcher does not end").code();
        assert_eq!(code, expected, "{options:?} {how}: {said}");
        assert!(said.contains("the notify supervisor did not stop within 2 s"), "{said}");
        let ledger = fs::read_to_string(place.0.path().join(".local/state/ringfence/ledger.jsonl")).unwrap();
        assert!(ledger.lines().last().unwrap().contains("\"jail.ended\""), "{ledger}");
    }
}

/// A process that holds a lease on the file `leased`; nothing, and a word about it, where there are no leases.
fn leased(place: &Place) -> Option<Ends> {
    let mut holder = Command::new(PYTHON);
    holder.args(["-c", include_str!("names/lease.py"), "leased"]).current_dir(place.workspace());
    let mut holder = Ends(holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(holder.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line != "held\n" {
        skip::skipped("a supervisor that is stuck", line.trim());
        return None;
    }
    Some(holder)
}

/// The supervisor refuses what the overlay marks, for every row of the table and everywhere it counts.
#[test]
fn supervisor_and_overlay_judge_alike() {
    if !has_python() {
        return;
    }
    let paths = table_paths();
    assert!(paths.len() > 300, "{}", paths.len());
    let (plain, layered) = (Place::new(), Place::new());
    for place in [&plain, &layered] {
        let top = place.workspace();
        for number in 0..paths.len() {
            for (name, parts) in [("bare", &["HEAD", "objects", "refs"][..]), ("half", &["HEAD", "objects"])]
            {
                for part in parts {
                    fs::create_dir_all(top.join(format!("{number}/{name}/{part}"))).unwrap();
                    fs::create_dir_all(top.join(format!("{number}/hooks/{name}/{part}"))).unwrap();
                }
            }
        }
        fs::write(top.join("paths"), paths.join("\n")).unwrap();
        fs::write(top.join("table.py"), include_str!("names/table.py")).unwrap();
    }
    let said = text(&plain.run(&[PYTHON, "table.py"]).stdout);
    let refused: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("refused ")).collect();
    assert!(refused.len() > 200 && said.ends_with("end\n"), "{said}");
    let ended = layered.command(&["--overlay"], &[PYTHON, "table.py"]).output().unwrap();
    assert_eq!(text(&ended.stdout), "end\n", "{}", text(&ended.stderr));
    let mut review = Command::new(env!("CARGO_BIN_EXE_ringfence"));
    review.env_clear().env("HOME", layered.0.path()).args(["review", "--format", "json"]);
    let review = review.current_dir(layered.workspace()).output().unwrap();
    let review: serde_json::Value = serde_json::from_slice(&review.stdout).unwrap();
    let changes = review["changes"].as_array().unwrap();
    let of = |change: &serde_json::Value| change["path"].as_str().unwrap().to_owned();
    let marked: Vec<String> =
        changes.iter().filter(|change| !change["protected"].is_null()).map(of).collect();
    let is_marked = |path: &&String| marked.iter().any(|marked| Path::new(path.as_str()).starts_with(marked));
    // A review shows every name of an overlay to a person; a command may write those that only instruct.
    let told = |path: &&String| {
        let below = path.split_once('/').map_or(path.as_str(), |(_, below)| below);
        let judged =
            policy::Protected::all().judge(policy::Ground::Tree, Path::new(below), policy::Act::File);
        matches!(judged, policy::Verdict::Kept(row) if row.tier == policy::Tier::Instructs)
    };
    // Git inside has to write what it has not finished; the launcher looks at it afterwards. An overlay shows it to a person.
    let is_unfinished = |path: &&String| {
        let mut parts = path.split('/');
        parts.any(|part| policy::UNFINISHED.iter().any(|name| part.eq_ignore_ascii_case(name)))
    };
    // An empty configuration file may be created in a repository that the command has made.
    let begun = |path: &&String| {
        let first = path.to_ascii_lowercase().ends_with("/.git/config");
        first && fs::read(plain.workspace().join(path.as_str())).is_ok_and(|text| text.is_empty())
    };
    let differ: Vec<_> = paths
        .iter()
        .filter(|path| {
            !is_unfinished(path)
                && !told(path)
                && !begun(path)
                && refused.contains(&path.as_str()) != is_marked(path)
        })
        .collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Every row of the table: in a tree, deeper, in capitals, and the names of git in complete and incomplete repositories.
fn table_paths() -> Vec<String> {
    let mut names = Vec::new();
    for row in policy::Protected::names() {
        let name = row.name.replace('*', "x");
        names.extend([name.clone(), format!("a/{name}"), name.to_uppercase(), format!("vendor/{name}")]);
        if let Some(inner) = name.strip_prefix(".git/") {
            names.extend(
                ["bare", "half", "hooks/bare", "hooks/half", "none"].map(|top| format!("{top}/{inner}")),
            );
        }
    }
    let parts = ["refs", "REFS", "commondir", "COMMONDIR", "index", "refs/heads/main", "objects/info/x"];
    names.extend(
        ["bare", "half", "hooks/half"].iter().flat_map(|top| parts.map(|part| format!("{top}/{part}"))),
    );
    names.extend(
        ["src/main.rs", ".github/dependabot.yml", "config", "hooks/x", ".git/index"].map(str::to_owned),
    );
    names.iter().enumerate().map(|(number, name)| format!("{number}/{name}")).collect()
}
