//! Cost of `ringfence run` beside bubblewrap with the same namespaces and mounts, and beside no jail at all.
//!
//! Everything that is compared is started in turns within one run, so that a busy machine slows both alike; what
//! counts is the ratio. `cargo bench -p ringfence-cli --bench run`, with `-- --quick` for a first look.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const RINGFENCE: &str = env!("CARGO_BIN_EXE_ringfence");

fn main() -> ExitCode {
    let Some(bwrap) = found("bwrap") else {
        println!("bubblewrap is not installed: apt-get install bubblewrap");
        return ExitCode::FAILURE;
    };
    let bench = Bench::new(bwrap, std::env::args().any(|word| word == "--quick"));
    if let Err(why) = bench.works() {
        println!("{why}");
        return ExitCode::FAILURE;
    }
    bench.start();
    bench.crowd();
    bench.memory();
    bench.inside();
    size();
    ExitCode::SUCCESS
}

/// State that all measurements share: two launchers and a workspace outside `/tmp`.
struct Bench {
    bwrap: PathBuf,
    place: TempDir,
    quick: bool,
}

impl Bench {
    fn new(bwrap: PathBuf, quick: bool) -> Self {
        let place = tempfile::Builder::new().prefix("bench-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir_all(place.path().join("home/work")).unwrap();
        Self { bwrap, place, quick }
    }

    fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    fn workspace(&self) -> PathBuf {
        self.home().join("work")
    }

    fn rounds(&self, full: usize) -> usize {
        if self.quick { full.div_ceil(10) } else { full }
    }

    /// A jail that does not start is fast.
    fn works(&self) -> Result<(), String> {
        for (name, mut command) in [("ringfence", self.ringfence()), ("bwrap", self.bubblewrap())] {
            let output = command.args(["/bin/sh", "-c", "echo in $PWD"]).output().unwrap();
            let expected = format!("in {}\n", self.workspace().display());
            if String::from_utf8_lossy(&output.stdout) != expected {
                return Err(format!(
                    "{name} does not run: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                ));
            }
        }
        Ok(())
    }

    fn ringfence(&self) -> Command {
        let mut command = self.plain(RINGFENCE);
        command.args(["run", "--workspace"]).arg(self.workspace()).arg("--");
        command
    }

    fn plain(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.workspace()).env("HOME", self.home()).stdin(Stdio::null());
        command
    }

    fn bubblewrap(&self) -> Command {
        let mut command = self.plain(&self.bwrap);
        command.args([
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
            "--clearenv",
        ]);
        command
            .args(["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME"])
            .arg(self.home());
        command.args(system_mounts());
        command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm", "--tmpfs", "/tmp"]);
        command.args(masks());
        command.arg("--tmpfs").arg(self.home());
        command.arg("--bind").arg(self.workspace()).arg(self.workspace());
        command.arg("--chdir").arg(self.workspace()).arg("--");
        command
    }
}

/// The system directories as they are, and the files of `/etc` that ordinary programs read.
fn system_mounts() -> Vec<OsString> {
    let roots = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32"];
    let etc =
        ["resolv.conf", "hosts", "nsswitch.conf", "localtime", "passwd", "group", "ssl", "ca-certificates"];
    let more = ["alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"];
    let etc = etc.iter().chain(&more).map(|name| Path::new("/etc").join(name));
    let paths = roots.iter().map(PathBuf::from).chain(etc).filter(|path| path.exists());
    paths.flat_map(|path| mount(&path)).collect()
}

/// Returns the read-only and the masked paths of `/proc`.
fn masks() -> Vec<OsString> {
    let read_only = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];
    let hidden = ["/proc/kcore", "/proc/keys", "/proc/timer_list"];
    let rows = read_only.map(|path| (path, path)).into_iter().chain(hidden.map(|path| ("/dev/null", path)));
    let rows = rows.filter(|(_, path)| Path::new(path).exists());
    rows.flat_map(|(from, to)| ["--ro-bind".into(), from.into(), to.into()]).collect()
}

fn mount(path: &Path) -> [OsString; 3] {
    match fs::read_link(path) {
        Ok(target) if path.parent() == Some(Path::new("/")) => {
            ["--symlink".into(), target.into(), path.into()]
        }
        _ => ["--ro-bind".into(), path.into(), path.into()],
    }
}

impl Bench {
    /// From start to exit.
    fn start(&self) {
        let rounds = self.rounds(150);
        headline(&format!("cold start of /bin/true, {rounds} times each in turns"));
        let mut rows = vec![Row::new("no jail", self.plain("/bin/true"))];
        if let Some(unshare) = found("unshare") {
            // Two programs are started here, so this is a floor for programs that start programs.
            let mut floor = self.plain(unshare);
            floor.args(["-U", "-r", "-m", "-p", "-f", "-i", "-u", "-n", "-C", "/bin/true"]);
            rows.push(Row::new("floor: unshare(1)", floor));
        }
        for (name, mut command) in [("bwrap", self.bubblewrap()), ("ringfence", self.ringfence())] {
            command.arg("/bin/true");
            rows.push(Row::new(name, command));
        }
        take_turns(&mut rows, rounds);
        rows.iter().for_each(Row::show);
        let [.., bwrap, ours] = rows.as_slice() else { return };
        promise("ringfence / bwrap, median", ratio(ours.median(), bwrap.median()), 0.7);
        promise("ringfence / bwrap, p90", ratio(ours.p90(), bwrap.p90()), 0.7);
        for floor in &rows[..rows.len() - 2] {
            println!(
                "  {:<34} {:>8.2}",
                format!("ringfence / {}", floor.name),
                ratio(ours.median(), floor.median())
            );
        }
    }

    /// Many at once, from the first start to the last exit.
    fn crowd(&self) {
        const MANY: usize = 50;
        let rounds = self.rounds(15);
        headline(&format!("{MANY} jails at once, {rounds} times in turns"));
        let (mut theirs, mut ours) = (Times::default(), Times::default());
        for _ in 0..rounds {
            theirs.push(together(MANY, || self.bubblewrap()));
            ours.push(together(MANY, || self.ringfence()));
        }
        theirs.show("bwrap");
        ours.show("ringfence");
        promise("ringfence / bwrap, median", ratio(ours.median(), theirs.median()), 1.0);
    }

    /// Measures our memory while a jail runs: all our processes, but not the command.
    fn memory(&self) {
        const JAILS: usize = 20;
        headline(&format!("memory of our own processes, {JAILS} jails"));
        let mut jails: Vec<Child> =
            (0..JAILS).map(|_| quiet(self.ringfence().args(["/bin/sleep", "30"])).spawn().unwrap()).collect();
        let asleep = wait_until(|| jails.iter().all(|jail| tree(jail.id()).iter().any(|pid| is_sleep(*pid))));
        let ours: Vec<u32> =
            jails.iter().flat_map(|jail| tree(jail.id())).filter(|pid| !is_sleep(*pid)).collect();
        let held: Vec<Option<Held>> = ours.iter().map(|pid| Held::of(*pid)).collect();
        for jail in &mut jails {
            jail.kill().unwrap();
            jail.wait().unwrap();
        }
        if !asleep {
            return println!("  not measured: the jails did not start");
        }
        let unseen = held.iter().filter(|held| held.is_none()).count();
        let sum = |part: fn(&Held) -> u64| held.iter().flatten().map(part).sum::<u64>() / JAILS as u64;
        println!("  {:<34} {:>8.1}", "processes per jail", number(ours.len() as u64) / number(JAILS as u64));
        println!("  {:<34} {:>8} KiB", "proportional, per jail", sum(|held| held.proportional));
        promise("private MiB per jail", number(sum(|held| held.private)) / 1024.0, 1.5);
        if unseen > 0 {
            println!("  {unseen} processes could not be looked at: run as root");
        }
    }

    /// Measures a program inside, beside the same program outside.
    fn inside(&self) {
        let rounds = self.rounds(11).max(3);
        headline(&format!("work inside the jail, {rounds} times in turns"));
        self.make_tree();
        let repeat = |times: usize, line: &str| {
            format!("i=0; while [ $i -lt {times} ]; do {line} || exit 1; i=$((i+1)); done")
        };
        // Some directories are root's alone, and root is not there inside.
        let mut work = vec![("find /usr", repeat(3, "{ find /usr >/dev/null 2>&1; true; }"))];
        if found("git").is_some() {
            work.push(("git status, 20,000 files", repeat(10, "git -C tree status --short >/dev/null")));
        }
        if found("gcc").is_some() {
            work.push(("gcc -O2, 600 functions", repeat(1, "gcc -O2 -c big.c -o big.o")));
        }
        for (name, line) in work {
            let shell = |mut command: Command| {
                command.args(["/bin/sh", "-c", &line]);
                command
            };
            let outside = Row::new("outside", shell(self.plain("/usr/bin/env")));
            let mut rows = [outside, Row::new("inside", shell(self.ringfence()))];
            take_turns(&mut rows, rounds);
            println!("  {:<34} {:>8.1} ms outside", name, milliseconds(rows[0].median()));
            promise(&format!("{name}, inside / outside"), ratio(rows[1].median(), rows[0].median()), 1.03);
        }
    }

    /// A repository of 20,000 files, and a source that takes a moment to compile.
    fn make_tree(&self) {
        let tree = self.workspace().join("tree");
        for directory in 0..200 {
            let directory = tree.join(format!("d{directory}"));
            fs::create_dir_all(&directory).unwrap();
            (0..100).for_each(|file| fs::write(directory.join(format!("f{file}")), "x\n").unwrap());
        }
        let git = |words: &[&str]| {
            self.plain("git").arg("-C").arg(&tree).args(words).stderr(Stdio::null()).status()
        };
        if found("git").is_some() {
            git(&["init", "-q"]).and_then(|_| git(&["add", "."])).unwrap();
        }
        let body = |n: usize| {
            format!(
                "int f{n}(int *a, int n) {{ int s = {n}; for (int i = 0; i < n; i++) s += a[i] * (i ^ s) % {}; return s; }}\n",
                n + 3
            )
        };
        fs::write(self.workspace().join("big.c"), (0..600).map(body).collect::<String>()).unwrap();
    }
}

fn size() {
    headline("the program");
    promise("MB of the binary", number(fs::metadata(RINGFENCE).unwrap().len()) / 1e6, 15.0);
}

/// One command and the times it took.
struct Row {
    name: &'static str,
    command: Command,
    times: Times,
}

impl Row {
    fn new(name: &'static str, mut command: Command) -> Self {
        quiet(&mut command);
        Self { name, command, times: Times::default() }
    }

    fn show(&self) {
        self.times.show(self.name);
    }

    fn median(&self) -> Duration {
        self.times.median()
    }

    fn p90(&self) -> Duration {
        self.times.at(90)
    }
}

/// Runs every command once a round; the first rounds only warm up.
fn take_turns(rows: &mut [Row], rounds: usize) {
    let warm = rounds.div_ceil(20);
    for round in 0..rounds + warm {
        for row in rows.iter_mut() {
            let start = Instant::now();
            let status = row.command.status().unwrap();
            let time = start.elapsed();
            assert!(status.success(), "{}: {status}", row.name);
            if round >= warm {
                row.times.push(time);
            }
        }
    }
}

fn together(many: usize, launcher: impl Fn() -> Command) -> Duration {
    let mut commands: Vec<Command> = (0..many).map(|_| launcher()).collect();
    let start = Instant::now();
    let children: Vec<Child> =
        commands.iter_mut().map(|command| quiet(command.arg("/bin/true")).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    start.elapsed()
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn push(&mut self, time: Duration) {
        let place = self.0.partition_point(|other| *other <= time);
        self.0.insert(place, time);
    }

    fn at(&self, percent: usize) -> Duration {
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }

    fn median(&self) -> Duration {
        self.at(50)
    }

    fn show(&self, name: &str) {
        let (median, p90) = (milliseconds(self.median()), milliseconds(self.at(90)));
        println!("  {name:<34} {median:>8.2} ms median {p90:>8.2} ms p90");
    }
}

/// Memory of one process, in KiB.
struct Held {
    private: u64,
    proportional: u64,
}

impl Held {
    fn of(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let sum =
            |prefix: &str| text.lines().filter(|line| line.starts_with(prefix)).filter_map(kibibytes).sum();
        Some(Self { private: sum("Private_"), proportional: sum("Pss:") })
    }
}

fn kibibytes(line: &str) -> Option<u64> {
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A process and all that descend from it.
fn tree(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children(pid).unwrap_or_default());
        next += 1;
    }
    found
}

fn children(pid: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("children"))?;
        found.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Ok(found)
}

fn is_sleep(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep")
}

fn wait_until(is_so: impl Fn() -> bool) -> bool {
    (0..200).any(|_| {
        thread::sleep(Duration::from_millis(25));
        is_so()
    })
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

fn headline(text: &str) {
    println!("\n{text}");
}

fn promise(what: &str, value: f64, most: f64) {
    let verdict = if value <= most { "kept" } else { "BROKEN" };
    println!("  {what:<34} {value:>8.2}    promised at most {most}: {verdict}");
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}
