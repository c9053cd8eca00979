//! The tests of a file once more, where the kernel does not know `openat2`: the same rows, the same answers. There is no switch for
//! it: a filter on system calls makes the kernel an old one for a child.

use std::process::Command;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::skip::skipped;

/// Set for the child, to what the kernel says there.
const SAYS: &str = "RINGFENCE_TEST_OPENAT2";

/// Puts a filter on itself and becomes the program that it is told: the filter loads the number of a call, and refuses number 437
/// with the error in the first argument.
const FILTER: &str = r#"
use strict; my ($errno, @program) = @ARGV;
my $prctl = `uname -m` =~ /x86_64/ ? 157 : 167;
my $filter = pack("SCCL" x 4, 0x20, 0, 0, 0, 0x15, 0, 1, 437, 0x06, 0, 0, 0x50000 | $errno, 0x06, 0, 0, 0x7fff0000);
my $whole = pack("Sx6P", 4, $filter);
syscall($prctl, 38, 1, 0, 0, 0) == 0 or exit 97;
syscall($prctl, 22, 2, $whole, 0, 0) == 0 or exit 97;
exec @program; exit 97;
"#;

/// Runs the other tests of this file again, for everything that may be said instead of an answer: kernels from before the call say
/// that they do not have it, filters from before the call that it is not permitted.
pub(crate) fn run_again(says: &[Errno]) {
    if let Ok(errno) = std::env::var(SAYS) {
        let asked = rustix::fs::openat2(CWD, ".", OFlags::PATH, Mode::empty(), ResolveFlags::empty());
        assert_eq!(asked.unwrap_err().raw_os_error().to_string(), errno, "the child tests nothing");
        return;
    }
    for errno in says.iter().map(|errno| errno.raw_os_error().to_string()) {
        let mut command = Command::new("perl");
        command.args(["-e", FILTER, &errno]).arg(std::env::current_exe().unwrap()).env(SAYS, &errno);
        let Ok(output) = command.output() else {
            return skipped("a kernel without openat2", "there is no perl");
        };
        if output.status.code() == Some(97) {
            return skipped("a kernel without openat2", "no filter can be set here");
        }
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{}{}", text[0], text[1]);
    }
}
