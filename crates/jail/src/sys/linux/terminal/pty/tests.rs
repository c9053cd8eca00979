use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard};

use rustix::event::{PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use rustix::pty::{grantpt, openpt, unlockpt};
use rustix::termios::Winsize;

use super::super::relay::{End, Relay, Signals, Streams, Way};
use super::*;

/// Far more than any test needs: reaching it is a failure, not a pace.
const LONG: Duration = Duration::from_secs(120);

/// One terminal is taken at a time in a process, and a person has one.
static ONE: Mutex<()> = Mutex::new(());

/// The terminal of a person: they sit at the master, we run at the other side.
struct Person {
    master: OwnedFd,
    terminal: OwnedFd,
    shown: Vec<u8>,
    _one: MutexGuard<'static, ()>,
}

fn pair() -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = ioctl_tiocgptpeer(&master, flags).unwrap();
    (master, terminal)
}

impl Person {
    fn sits_down() -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (master, terminal) = pair();
        tcsetwinsize(&terminal, size(30, 100)).unwrap();
        Self { master, terminal, shown: Vec::new(), _one: one }
    }

    fn types(&self, keys: &[u8]) {
        assert_eq!(rustix::io::write(&self.master, keys).unwrap(), keys.len());
    }

    /// Returns true if something that was typed can be read, at the latest after `patience`.
    fn has_input(&self, patience: Option<&Timespec>) -> bool {
        poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], patience).unwrap() > 0
    }

    fn modes(&self) -> Termios {
        tcgetattr(&self.terminal).unwrap()
    }

    fn is_raw(&self) -> bool {
        !self.modes().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    fn look(&mut self) {
        let mut screen = [0; 4096];
        let count = rustix::io::read(&self.master, &mut screen).unwrap();
        self.shown.extend_from_slice(&screen[..count]);
    }

    fn has_seen(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.shown).contains(text)
    }

    fn all(&self) -> Streams {
        Streams::of([self.terminal.as_fd(); 3]).unwrap()
    }
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// A relay with a terminal inside, and the program side of it.
fn attached(streams: Streams) -> ([End; 3], Relay, OwnedFd) {
    let (master, inner) = pair();
    let (ends, mut relay) = streams.connect().unwrap();
    relay.attach(master).unwrap();
    relay.advance();
    (ends, relay, inner)
}

/// Starts a shell inside, with the terminal as the terminal of its session.
fn start(script: &str, streams: Streams) -> (Child, Relay) {
    let (ends, relay, inner) = attached(streams);
    let [input, output, error] = ends.map(|end| match end {
        End::Descriptor(fd) => Stdio::from(fd),
        End::Terminal => Stdio::from(inner.try_clone().unwrap()),
    });
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).stdin(input).stdout(output).stderr(error);
    // SAFETY: between fork and exec only system calls are made, on a descriptor that the closure owns.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            Ok(rustix::process::ioctl_tiocsctty(&inner)?)
        });
    }
    (command.spawn().unwrap(), relay)
}

/// Plays the supervisor and a person until `done`, or until the command has ended.
fn live(
    person: &mut Person,
    child: &mut Child,
    relay: &mut Relay,
    mut done: impl FnMut(&Person) -> bool,
) -> Option<ExitStatus> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap();
    loop {
        if done(person) {
            return None;
        }
        let mut fds = vec![
            PollFd::new(&process, PollFlags::IN),
            PollFd::from_borrowed_fd(fd(&person.master), PollFlags::IN),
        ];
        relay.watch(&mut fds);
        let patience = relay.patience().map(|patience| patience.try_into().unwrap());
        poll(&mut fds, patience.as_ref()).unwrap();
        let (ended, shown) = (!fds[0].revents().is_empty(), fds[1].revents().contains(PollFlags::IN));
        drop(fds);
        relay.advance();
        if shown {
            person.look();
        } else if ended {
            return child.try_wait().unwrap();
        }
    }
}

fn fd(fd: &OwnedFd) -> BorrowedFd<'_> {
    fd.as_fd()
}

fn run(person: &mut Person, script: &str, streams: Streams) -> ExitStatus {
    let (mut child, mut relay) = start(script, streams);
    let status = live(person, &mut child, &mut relay, |_| false).unwrap();
    assert_eq!(relay.finish(Instant::now() + LONG), []);
    status
}

#[test]
fn the_terminal_is_raw_while_it_is_taken_and_then_as_before() {
    let person = Person::sits_down();
    let before = person.modes();
    let (_, mut relay, _inner) = attached(person.all());
    assert!(person.is_raw());
    relay.suspend();
    assert!(same_modes(&person.modes(), &before), "while we are stopped");
    relay.advance();
    assert!(!person.is_raw(), "and until we go on");
    relay.resume().unwrap();
    assert!(person.is_raw());
    drop(relay);
    assert!(same_modes(&person.modes(), &before));
}

#[test]
fn before_the_command_runs_the_terminal_is_left_alone() {
    let person = Person::sits_down();
    let before = person.modes();
    let mut relay = person.all().connect().unwrap().1;
    relay.attach(pair().0).unwrap();
    assert!(same_modes(&person.modes(), &before));
    assert_eq!(relay.patience(), Some(Duration::ZERO), "but not for long");
    relay.advance();
    assert!(person.is_raw());
    assert_eq!(relay.patience(), None);
}

#[test]
fn a_panic_leaves_the_terminal_as_before() {
    let person = Person::sits_down();
    let before = person.modes();
    let streams = person.all();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let relay = attached(streams);
        assert!(relay.0.is_empty(), "on purpose");
    }));
    assert!(panicked.is_err());
    assert!(same_modes(&person.modes(), &before), "with destructors");

    let relay = attached(person.all());
    assert!(person.is_raw());
    put_terminal_back();
    assert!(same_modes(&person.modes(), &before), "without them");
    drop(relay);
}

#[test]
fn a_terminal_is_taken_once() {
    let person = Person::sits_down();
    let before = person.modes();
    let first = attached(person.all());
    let second = attached(person.all());
    drop(first);
    assert!(same_modes(&person.modes(), &before), "the second has not taken raw for the normal state");
    drop(second);
    assert!(same_modes(&person.modes(), &before));
}

#[test]
fn the_size_is_the_callers() {
    let mut person = Person::sits_down();
    let (mut child, mut relay) =
        start("trap 'stty size; exit 0' WINCH; stty size; while :; do read x; done", person.all());
    live(&mut person, &mut child, &mut relay, |person| person.has_seen("30 100"));
    tcsetwinsize(&person.terminal, size(50, 200)).unwrap();
    relay.resize().unwrap();
    live(&mut person, &mut child, &mut relay, |person| person.has_seen("50 200"));
    child.wait().unwrap();
}

#[test]
fn keys_arrive_inside() {
    let mut person = Person::sits_down();
    let (mut child, mut relay) =
        start("test -t 0 && test -t 1 && test -t 2 && echo ready; cat", person.all());
    live(&mut person, &mut child, &mut relay, |person| person.has_seen("ready"));
    person.types(b"hello\r");
    live(&mut person, &mut child, &mut relay, |person| person.has_seen("hello\r\nhello\r\n"));
    person.types(b"\x04");
    let status = live(&mut person, &mut child, &mut relay, |_| false).unwrap();
    assert!(status.success());
}

#[test]
fn the_interrupt_key_is_the_commands() {
    for by_key in [true, false] {
        let mut person = Person::sits_down();
        let (mut child, mut relay) = start("echo ready; exec sleep 1000", person.all());
        live(&mut person, &mut child, &mut relay, |person| person.has_seen("ready"));
        if by_key {
            person.types(b"\x03");
        } else {
            assert!(relay.signal(libc::SIGINT).unwrap());
        }
        let status = live(&mut person, &mut child, &mut relay, |_| false).unwrap();
        assert_eq!(status.signal(), Some(libc::SIGINT));
    }
}

#[test]
fn output_is_complete_and_filtered() {
    let mut person = Person::sits_down();
    let streams = person.all();
    run(&mut person, r"printf 'a\033]52;c;QQ==\007b\n'; seq 2000; printf '\033[31mend\033[m'", streams);
    while !person.has_seen("end\x1b[m") {
        person.look();
    }
    let numbers: Vec<_> = (1..=2000).map(|number| number.to_string()).collect();
    let want = format!("ab\r\n{}\r\n\x1b[31mend\x1b[m", numbers.join("\r\n"));
    assert!(String::from_utf8_lossy(&person.shown) == want);
}

#[test]
fn a_second_terminal_is_relayed_and_filtered() {
    let mut person = Person::sits_down();
    let (other, terminal) = pair();
    let streams = Streams::of([person.terminal.as_fd(), person.terminal.as_fd(), terminal.as_fd()]).unwrap();
    assert_eq!(streams.ways(), [Way::Terminal, Way::Terminal, Way::Relay]);
    run(&mut person, r"printf 'a\033]52;c;QQ==\007b' >&2", streams);
    let mut seen = [0; 64];
    assert_eq!(rustix::io::read(&other, &mut seen).unwrap(), 2);
    assert_eq!(&seen[..2], b"ab");
}

#[test]
fn with_the_screen_elsewhere_lines_are_typed_and_ended() {
    let mut person = Person::sits_down();
    let before = person.modes();
    let mut output = tempfile::tempfile().unwrap();
    let streams = Streams::of([person.terminal.as_fd(), output.as_fd(), person.terminal.as_fd()]).unwrap();
    let (mut child, mut relay) = start("cat", streams);
    assert!(same_modes(&person.modes(), &before), "a pager after us would want it so");
    person.types(b"one\rtwo\r\x04");
    let status = live(&mut person, &mut child, &mut relay, |_| false).unwrap();
    assert!(status.success());
    relay.finish(Instant::now() + LONG);
    assert_eq!(content(&mut output), "one\ntwo\n");
    assert_eq!(String::from_utf8_lossy(&person.shown).matches("one").count(), 1, "echoed once");
}

fn content(file: &mut File) -> String {
    let mut content = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut content).unwrap();
    content
}

#[test]
fn with_the_input_elsewhere_the_terminal_follows_the_program() {
    let mut person = Person::sits_down();
    let before = person.modes();
    let null = File::open("/dev/null").unwrap();
    let streams = Streams::of([null.as_fd(), person.terminal.as_fd(), person.terminal.as_fd()]).unwrap();
    let script = "exec </dev/tty; old=$(stty -g); stty raw -echo; printf raw; dd bs=1 count=1 2>/dev/null; stty $old; \
                  printf cooked; read x";
    let (mut child, mut relay) = start(script, streams);
    assert!(same_modes(&person.modes(), &before), "nobody has asked for keys yet");
    live(&mut person, &mut child, &mut relay, |person| person.has_seen("raw") && person.is_raw());
    person.types(b"k");
    live(&mut person, &mut child, &mut relay, |person| person.has_seen("kcooked") && !person.is_raw());
    assert!(same_modes(&person.modes(), &before));
    person.types(b"\r");
    live(&mut person, &mut child, &mut relay, |_| false).unwrap();
}

#[test]
fn keys_for_somebody_else_are_left_alone() {
    let person = Person::sits_down();
    let null = File::open("/dev/null").unwrap();
    let streams = Streams::of([person.terminal.as_fd(), null.as_fd(), null.as_fd()]).unwrap();
    let (_, mut relay, _inner) = attached(streams);
    // A pager in the same pipeline takes the terminal.
    let mut pager = person.modes();
    pager.make_raw();
    tcsetattr(&person.terminal, OptionalActions::Now, &pager).unwrap();
    person.types(b"q");
    relay.advance();
    assert!(relay.patience().is_some());
    let mut key = [0];
    assert_eq!(rustix::io::read(&person.terminal, &mut key).unwrap(), 1);
    drop(relay);
    assert!(same_modes(&person.modes(), &pager), "nor are its modes touched");
}

#[test]
fn answers_do_not_reach_the_shell() {
    for (script, kept) in [(r"printf '\033[c'", false), ("printf text", true)] {
        let mut person = Person::sits_down();
        let (mut child, mut relay) = start(script, person.all());
        live(&mut person, &mut child, &mut relay, |person| !person.shown.is_empty());
        child.wait().unwrap();
        person.types(b"answer\r");
        assert!(person.has_input(None), "it has arrived");
        drop(relay);
        assert_eq!(person.has_input(Some(&Timespec::default())), kept, "{script}");
    }
}

#[test]
fn flags_that_the_caller_shares_stay() {
    let person = Person::sits_down();
    let before = rustix::fs::fcntl_getfl(&person.terminal).unwrap();
    let (_, mut relay, _inner) = attached(person.all());
    relay.advance();
    assert_eq!(rustix::fs::fcntl_getfl(&person.terminal).unwrap(), before);
}

/// The job in the background, started by the shell below.
#[test]
#[ignore = "a part of another test"]
fn in_the_background() {
    let signals = Signals::block().unwrap();
    let stdin = std::io::stdin();
    let (_, mut relay, inner) = attached(Streams::of([stdin.as_fd(); 3]).unwrap());
    relay.advance();
    rustix::io::write(&inner, b"from the background").unwrap();
    relay.advance();
    assert!(relay.patience().is_some(), "it waits for its turn");
    drop((relay, signals));
}

/// The shell of the test below: starts the job in a group of its own, which is not the foreground.
#[test]
#[ignore = "a part of another test"]
fn as_a_shell() {
    let mut job = this_test("in_the_background").process_group(0).spawn().unwrap();
    let look = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(Pid::from_child(&job)), look).unwrap().unwrap();
    if status.stopped() {
        job.kill().unwrap();
    }
    assert!(job.wait().unwrap().success() && !status.stopped(), "stopped by the terminal");
}

fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let module = module_path!().split_once("::").unwrap().1;
    command
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("{module}::{name}"));
    command
}

#[test]
fn a_job_in_the_background_is_not_stopped_and_takes_nothing() {
    let mut person = Person::sits_down();
    // The strictest terminal: it stops jobs in the background even for writing.
    let mut before = person.modes();
    before.local_modes |= LocalModes::TOSTOP;
    tcsetattr(&person.terminal, OptionalActions::Now, &before).unwrap();
    let terminal = person.terminal.try_clone().unwrap();
    let mut shell = this_test("as_a_shell");
    shell.stdin(person.terminal.try_clone().unwrap());
    // SAFETY: between fork and exec only system calls are made, on a descriptor that the closure owns.
    unsafe {
        shell.pre_exec(move || {
            rustix::process::setsid()?;
            Ok(rustix::process::ioctl_tiocsctty(&terminal)?)
        });
    }
    person.types(b"for the shell\r");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(same_modes(&person.modes(), &before), "not made raw");
    let mut line = [0; 64];
    let length = rustix::io::read(&person.terminal, &mut line).unwrap();
    assert_eq!(&line[..length], b"for the shell\n", "what was typed is still there");
    while !person.has_seen("from the background") {
        person.look();
    }
}
