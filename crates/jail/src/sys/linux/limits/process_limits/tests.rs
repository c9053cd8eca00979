//! Answers of the kernel about resource numbers and file systems.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::super::cgroups::tests::skip;
use super::*;

#[test]
fn the_kernel_knows_the_numbers() {
    let limits =
        Limits { open_files: Some(512), processes: Some(10), memory: Some(1 << 30), ..Limits::none() };
    let set = prepared_rlimits(&limits, true);
    let find =
        |number: u32| set.iter().find(|(other, ..)| *other == number).map(|(_, soft, hard)| (*soft, *hard));
    assert_eq!(find(libc::RLIMIT_CORE), Some((0, 0)));
    assert_eq!(find(libc::RLIMIT_NOFILE), Some((512, 512)));
    assert_eq!(find(libc::RLIMIT_NPROC), Some((12, 12)));
    assert_eq!(find(libc::RLIMIT_DATA), Some((1 << 30, 1 << 30)));
    assert_eq!(find(libc::RLIMIT_CPU), None);
}

/// Before and after it is filled, by bytes or by files.
#[test]
fn a_full_file_system_is_seen() {
    for fill in ["head -c 70000 /dev/zero > /mnt/x", "for i in 1 2 3 4 5 6 7 8 9 10; do : > /mnt/$i; done"] {
        let script = format!(
            "mount -t tmpfs -o size=64k,nr_inodes=8 none /mnt || exit 1
            echo empty; read go; ({fill}) 2> /dev/null; echo filled; cat"
        );
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let Some(empty) = output.next() else {
            child.wait().unwrap();
            return skip::skipped("a full file system", "no namespace to mount one in");
        };
        assert_eq!(empty.unwrap(), "empty");
        let directory = File::open(format!("/proc/{}/root/mnt", child.id())).unwrap();
        assert!(!is_full(&directory), "{fill}");
        child.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        assert_eq!(output.next().unwrap().unwrap(), "filled");
        assert!(is_full(&directory), "{fill}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    assert!(!is_full(File::open("/proc/self").unwrap()), "a file system without a size");
}

#[test]
fn our_own_memory_is_not_blamed_on_a_jail() {
    assert_eq!(beyond_ours(4096), 0, "less than any process has");
    assert_eq!(beyond_ours(1 << 50), 1 << 50, "more than we have");
}
