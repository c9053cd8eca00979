//! The confined process: runs lines as they come and says which canaries each of them woke.

use std::fs;
use std::io::{self, BufRead, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use crate::shells::Shell;

/// The first argument of the confined process.
pub(crate) const ROLE: &str = "--confined";
/// Time limit of a line.
const LIMIT: Duration = Duration::from_secs(2);
/// Time limit of processes that it left behind.
const GRACE: Duration = Duration::from_millis(300);
const NAP: Duration = Duration::from_micros(150);
const WORK: &str = "/work";
const LOG: &str = "/log";

/// Effects of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Number of runs of each canary.
    pub(crate) pwn: usize,
    pub(crate) aux: usize,
    pub(crate) vis: usize,
    /// The shell accepts it; `false` also when that was not asked.
    pub(crate) parses: bool,
    /// It had to be ended.
    pub(crate) late: bool,
}

impl Outcome {
    fn line(self) -> String {
        let Self { pwn, aux, vis, parses, late } = self;
        format!("{pwn} {aux} {vis} {} {}\n", u8::from(parses), u8::from(late))
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let numbers: Vec<usize> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let [pwn, aux, vis, parses, late] = *numbers else { return None };
        Some(Self { pwn, aux, vis, parses: parses == 1, late: late == 1 })
    }

    /// Returns true if a canary that may be hidden ran.
    pub(crate) fn ran(self) -> bool {
        self.pwn + self.aux > 0
    }
}

/// Serves until its input ends.
pub(crate) fn serve(shell: &str) {
    let mut lines = io::stdin().lock();
    while let Some((line, syntax)) = next(&mut lines) {
        let late = start(shell, &[], &line).1;
        let log = fs::read_to_string(LOG).unwrap();
        let count = |name: &str| log.lines().filter(|line| *line == name).count();
        let (pwn, aux, vis) = (count("pwn"), count("aux"), count("vis"));
        let parses = syntax && start(shell, &["-n"], &line).0;
        let answer = Outcome { pwn, aux, vis, parses, late }.line();
        io::stdout().write_all(answer.as_bytes()).and_then(|()| io::stdout().flush()).unwrap();
    }
}

fn next(from: &mut impl BufRead) -> Option<(String, bool)> {
    let mut head = String::new();
    from.read_line(&mut head).ok().filter(|length| *length > 0)?;
    let (length, syntax) = head.trim().split_once(' ')?;
    let mut line = vec![0; length.parse().ok()?];
    from.read_exact(&mut line).ok()?;
    Some((String::from_utf8(line).ok()?, syntax == "1"))
}

/// Runs one line in a fresh directory: whether it ended well, and whether it had to be ended.
#[expect(clippy::zombie_processes, reason = "settle waits, for this child and all others")]
fn start(shell: &str, options: &[&str], line: &str) -> (bool, bool) {
    clean();
    // A line that begins with a dash would be taken for an option.
    let guarded = if line.starts_with(['-', '+']) { format!(" {line}") } else { line.to_owned() };
    let mut command = Command::new(shell);
    command.args(Shell::options_of(shell)).args(options).arg("-c").arg(guarded).current_dir(WORK).env_clear();
    command.env("PATH", "/canary").env("HOME", WORK).env("LC_ALL", "C.UTF-8").env("TERM", "dumb");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let child = command.spawn().unwrap();
    settle(Pid::from_child(&child))
}

fn clean() {
    fs::write(LOG, "").unwrap();
    if fs::read_dir(WORK).is_ok_and(|mut entries| entries.next().is_none()) {
        return;
    }
    drop(fs::remove_dir_all(WORK));
    fs::create_dir_all(WORK).unwrap();
}

/// Waits for the shell and for all it left behind: to process 1 they are all children in the end.
fn settle(shell: Pid) -> (bool, bool) {
    let (mut end, mut late, mut ended) = (Instant::now() + LIMIT, false, None);
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == shell => {
                ended = Some(status.exit_status() == Some(0));
                end = Instant::now() + GRACE;
            }
            Ok(Some(_)) => {}
            Ok(None) if Instant::now() < end => sleep(NAP),
            Ok(None) if late => break,
            Ok(None) => {
                late = true;
                end = Instant::now() + GRACE;
                // It may have ended by itself meanwhile.
                kill_process_group(shell, Signal::KILL).ok();
            }
            Err(_) => break,
        }
    }
    (ended.unwrap_or(false), late)
}
