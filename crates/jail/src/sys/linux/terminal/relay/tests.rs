use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::*;

/// Far more than any test needs: reaching it is a failure, not a pace.
const LONG: Duration = Duration::from_secs(120);

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script);
    command
}

fn null() -> File {
    OpenOptions::new().read(true).write(true).open("/dev/null").unwrap()
}

fn stdio(end: End) -> Stdio {
    match end {
        End::Descriptor(fd) => fd.into(),
        End::Terminal => panic!("no terminal in these tests"),
    }
}

fn start(mut command: Command, streams: Streams) -> (Child, Relay) {
    let ([input, output, error], relay) = streams.connect().unwrap();
    command.stdin(stdio(input)).stdout(stdio(output)).stderr(stdio(error));
    (command.spawn().unwrap(), relay)
}

/// Follows a command like a supervisor: one loop until it has ended.
fn follow(child: &mut Child, relay: &mut Relay) -> ExitStatus {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap();
    loop {
        let mut fds = vec![PollFd::new(&process, PollFlags::IN)];
        relay.watch(&mut fds);
        poll(&mut fds, None).unwrap();
        if !fds[0].revents().is_empty() {
            return child.wait().unwrap();
        }
        relay.advance();
    }
}

fn run(script: &str, three: [BorrowedFd<'_>; 3]) -> (ExitStatus, Vec<Loss>) {
    let (mut child, mut relay) = start(shell(script), Streams::of(three).unwrap());
    let status = follow(&mut child, &mut relay);
    (status, relay.finish(Instant::now() + LONG))
}

fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file.rewind().unwrap();
    file
}

fn content(file: &mut File) -> Vec<u8> {
    let mut content = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut content).unwrap();
    content
}

/// Bytes of which no two stretches are alike, so that a lost, doubled or moved one is seen.
fn pattern(length: usize) -> Vec<u8> {
    (0_u64..)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .take(length)
        .collect()
}

#[test]
fn each_kind_of_stream_has_its_way() {
    let (pipe, _kept) = channel::pipe().unwrap();
    let (socket, _peer) = UnixStream::pair().unwrap();
    let directory = File::open("/").unwrap();
    let zero = File::open("/dev/zero").unwrap();
    let (regular, null) = (file(b""), null());
    let rows: &[(BorrowedFd<'_>, Way, &str)] = &[
        (pipe.as_fd(), Way::Pass, "a pipe"),
        (null.as_fd(), Way::Pass, "/dev/null"),
        (regular.as_fd(), Way::Relay, "a file could be reopened"),
        (socket.as_fd(), Way::Relay, "a socket makes shells think of remote logins"),
        (directory.as_fd(), Way::Relay, "a directory would be a way out"),
        (zero.as_fd(), Way::Relay, "a device of the host"),
    ];
    for (fd, way, why) in rows {
        let streams = Streams::of([*fd, *fd, *fd]).unwrap();
        assert_eq!(streams.ways(), [*way; 3], "{why}");
    }
    let watched = Streams::of([pipe.as_fd(), pipe.as_fd(), null.as_fd()]).unwrap().watched();
    assert_eq!(watched.ways(), [Way::Pass, Way::Relay, Way::Relay]);
}

#[test]
fn much_goes_both_ways_without_deadlock() {
    let sent = pattern(64 << 20);
    let (input, mut output, null) = (file(&sent), file(b""), null());
    let (status, losses) = run("cat", [input.as_fd(), output.as_fd(), null.as_fd()]);
    assert!(status.success() && losses.is_empty(), "{status} {losses:?}");
    assert!(content(&mut output) == sent);
}

#[test]
fn sockets_are_relayed_and_keep_their_flags() {
    let sent = pattern(8 << 20);
    let (inside, outside) = UnixStream::pair().unwrap();
    let null = null();
    let mut writer = outside.try_clone().unwrap();
    let copy = sent.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&copy).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut reader = outside;
    let reading = std::thread::spawn(move || {
        let mut got = Vec::new();
        reader.read_to_end(&mut got).unwrap();
        got
    });
    let (status, losses) = run("cat", [inside.as_fd(), inside.as_fd(), null.as_fd()]);
    assert!(status.success() && losses.is_empty(), "{status} {losses:?}");
    assert!(!fcntl_getfl(&inside).unwrap().contains(OFlags::NONBLOCK));
    drop(inside);
    writing.join().unwrap();
    assert!(reading.join().unwrap() == sent);
}

#[test]
fn what_goes_to_one_file_stays_in_order() {
    const SCRIPT: &str = "i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done";
    let numbers: Vec<_> = (0..2000).map(|number| number.to_string()).collect();
    let want = numbers.join("\n") + "\n";
    let null = null();
    let mut one = file(b"");
    let again = one.try_clone().unwrap();
    run(SCRIPT, [null.as_fd(), one.as_fd(), again.as_fd()]);
    assert!(content(&mut one) == want.as_bytes(), "2>&1");

    let place = tempfile::NamedTempFile::new().unwrap();
    let append = || OpenOptions::new().append(true).open(place.path()).unwrap();
    let (output, error) = (append(), append());
    run(SCRIPT, [null.as_fd(), output.as_fd(), error.as_fd()]);
    assert!(fs::read_to_string(place.path()).unwrap() == want, ">>f 2>>f");
}

#[test]
fn two_files_stay_two() {
    let (null, mut output, mut error) = (null(), file(b""), file(b""));
    run("echo out; echo err >&2", [null.as_fd(), output.as_fd(), error.as_fd()]);
    assert_eq!((content(&mut output), content(&mut error)), (b"out\n".to_vec(), b"err\n".to_vec()));
}

#[test]
fn the_callers_files_are_out_of_reach() {
    const ROWS: &[(&str, &str)] = &[
        (": >/proc/self/fd/1", "truncated"),
        ("echo gone 1<>/proc/self/fd/1", "overwritten from the start"),
        (": >/proc/self/fd/0", "the input truncated"),
        ("echo gone >/proc/self/fd/0", "the input written"),
    ];
    for (script, why) in ROWS {
        let place = tempfile::NamedTempFile::new().unwrap();
        fs::write(place.path(), "kept\n").unwrap();
        let output = OpenOptions::new().append(true).open(place.path()).unwrap();
        let (input, null) = (File::open(place.path()).unwrap(), null());
        run(script, [input.as_fd(), output.as_fd(), null.as_fd()]);
        assert!(fs::read(place.path()).unwrap().starts_with(b"kept\n"), "{why}");
    }
}

#[test]
fn a_command_sees_pipes_only() {
    let (input, mut output, error) = (file(b""), file(b""), file(b""));
    run("readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2", [input.as_fd(), output.as_fd(), error.as_fd()]);
    let seen = String::from_utf8(content(&mut output)).unwrap();
    assert!(seen.lines().count() == 3 && seen.lines().all(|line| line.starts_with("pipe:")), "{seen}");
}

#[test]
fn a_writer_learns_that_nobody_reads() {
    let (inside, outside) = UnixStream::pair().unwrap();
    drop(outside);
    let null = null();
    let streams = Streams::of([null.as_fd(), inside.as_fd(), null.as_fd()]).unwrap();
    let (mut child, mut relay) = start(Command::new("yes"), streams);
    let status = follow(&mut child, &mut relay);
    assert_eq!(status.signal(), Some(libc::SIGPIPE));
    assert!(relay.drained());
    assert_eq!(relay.finish(Instant::now() + LONG), []);
}

#[test]
fn a_full_disk_is_reported() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let null = null();
    let (_, losses) = run("echo lost", [null.as_fd(), full.as_fd(), null.as_fd()]);
    assert_eq!(losses, [Loss::Refused(Stream::Output, Errno::NOSPC)]);
    assert_eq!(losses[0].to_string(), "output could not be written: No space left on device (os error 28)");
}

#[test]
fn a_directory_as_input_is_no_way_out() {
    let (directory, null) = (File::open("/").unwrap(), null());
    let mut output = file(b"");
    let (_, losses) = run(
        "ls /proc/self/fd/0/ 2>/dev/null || echo closed",
        [directory.as_fd(), output.as_fd(), null.as_fd()],
    );
    assert_eq!(content(&mut output), b"closed\n");
    assert_eq!(losses, [Loss::Input(Errno::ISDIR)]);
}

#[test]
fn what_was_not_read_is_given_back() {
    let long = [b"first\nsecond\n", &pattern(1 << 20)[..]].concat();
    let rows: &[(&str, &[u8], u64, &str)] = &[
        ("true", b"first\nsecond\n", 0, "read nothing"),
        ("read line", b"first\nsecond\n", 6, "read a line"),
        ("true", &long, 0, "read nothing of much"),
        ("read line", &long, 6, "read a line of much"),
        ("exec <&-; true", &long, 0, "closed its input"),
        ("cat >/dev/null", b"first\nsecond\n", 13, "read everything"),
    ];
    for (script, bytes, place, why) in rows {
        let (mut input, null) = (file(bytes), null());
        run(script, [input.as_fd(), null.as_fd(), null.as_fd()]);
        assert_eq!(input.stream_position().unwrap(), *place, "{why}");
    }
}

#[test]
fn a_process_that_keeps_the_pipe_open_is_not_waited_for() {
    let (null, mut output) = (null(), file(b""));
    let (status, losses) = run("sleep 1000 & echo $!", [null.as_fd(), output.as_fd(), null.as_fd()]);
    assert!(status.success() && losses.is_empty());
    let left: i32 = String::from_utf8(content(&mut output)).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(left).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_caller_that_does_not_read_stops_the_command_and_not_us() {
    let (inside, outside) = UnixStream::pair().unwrap();
    let null = null();
    let streams = Streams::of([null.as_fd(), inside.as_fd(), null.as_fd()]).unwrap();
    let (mut child, mut relay) = start(Command::new("yes"), streams);
    while relay.outputs[0].as_mut().unwrap().advance() != Progress::Full {}
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(relay.finish(Instant::now()), [Loss::Late(Stream::Output)]);
    drop(outside);
}

#[test]
fn activity_is_known_only_if_all_output_is_seen() {
    let (_kept, pipe) = channel::pipe().unwrap();
    let (output, null) = (file(b""), null());
    let passed = Streams::of([null.as_fd(), pipe.as_fd(), output.as_fd()]).unwrap().connect().unwrap().1;
    assert_eq!(passed.activity(), None);
    let streams = Streams::of([null.as_fd(), output.as_fd(), output.as_fd()]).unwrap();
    let (mut child, mut relay) = start(shell("echo something"), streams);
    let before = relay.activity().unwrap();
    follow(&mut child, &mut relay);
    relay.advance();
    assert!(relay.activity().unwrap() > before);
    assert!(relay.drained());
}

#[test]
fn signals_are_read_and_the_mask_comes_back() {
    let mask = || fs::read_to_string("/proc/thread-self/status").unwrap();
    let blocked = |status: String| status.lines().find(|line| line.starts_with("SigBlk")).unwrap().to_owned();
    let before = blocked(mask());
    let signals = Signals::block().unwrap();
    assert_ne!(blocked(mask()), before);
    assert_eq!(signals.next().unwrap(), None);
    // To this thread alone: the process of the tests has others.
    let me = rustix::thread::gettid();
    // SAFETY: tgkill(2) takes three integers; the signal is blocked in this thread, so it stays pending.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), me.as_raw_nonzero().get(), libc::SIGWINCH) };
    assert_eq!(signals.next().unwrap(), Some(libc::SIGWINCH));
    drop(signals);
    assert_eq!(blocked(mask()), before);
}
