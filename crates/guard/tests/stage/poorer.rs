//! The tests of a file once more, where the kernel or the file system can do less: the same rows, the same answers. There is no switch
//! for it: a filter on system calls makes the kernel a poorer one for a child.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use rustix::io::Errno;

use super::skip::skipped;

/// Set for the child.
const POORER: &str = "RINGFENCE_TEST_POORER";

/// A call that is refused.
pub(crate) struct Without {
    /// Its number on `x86_64` and on `aarch64`.
    call: (u32, u32),
    /// Which argument has to have one of these bits.
    bits: Option<(u32, u32)>,
    says: Errno,
}

/// A kernel from before `openat2`.
pub(crate) const OPENAT2: Without = Without { call: (437, 437), bits: None, says: Errno::NOSYS };
/// A filter on system calls from before `openat2`.
pub(crate) const OPENAT2_FILTERED: Without = Without { says: Errno::PERM, ..OPENAT2 };
/// A file system on which every file has a name: `openat` with `O_TMPFILE` among its flags.
pub(crate) const UNNAMED_FILES: Without =
    Without { call: (257, 56), bits: Some((2, 0x0040_0000)), says: Errno::OPNOTSUPP };
/// A file system that cannot rename without replacing: `renameat2` with `RENAME_NOREPLACE` among its flags.
pub(crate) const KEEPING_RENAMES: Without =
    Without { call: (316, 276), bits: Some((4, 1)), says: Errno::INVAL };

/// Puts a filter on itself and becomes the program that it is told.
const PERL: &str = r#"
use strict; my ($prctl, $code, @program) = @ARGV;
my $filter = pack("H*", $code);
my $whole = pack("Sx6P", length($filter) / 8, $filter);
syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 or exit 97;
syscall($prctl + 0, 22, 2, $whole, 0, 0) == 0 or exit 97;
exec @program; exit 97;
"#;

/// The filter in hexadecimal, instruction by instruction: code, two jumps, a number.
fn filter(all: &[Without], arm: bool) -> String {
    let mut text = String::new();
    let mut add = |code: u16, skip: u8, number: u32| {
        for byte in [&code.to_le_bytes()[..], &[0, skip], &number.to_le_bytes()].concat() {
            write!(text, "{byte:02x}").unwrap();
        }
    };
    for without in all {
        let call = if arm { without.call.1 } else { without.call.0 };
        add(0x20, 0, 0);
        add(0x15, if without.bits.is_some() { 3 } else { 1 }, call);
        if let Some((argument, bits)) = without.bits {
            add(0x20, 0, 16 + 8 * argument);
            add(0x45, 1, bits);
        }
        add(0x06, 0, 0x0005_0000 | u32::try_from(without.says.raw_os_error()).unwrap());
    }
    add(0x06, 0, 0x7fff_0000);
    text
}

/// Runs the other tests of this file again without something.
pub(crate) fn run_again(all: &[Without]) {
    if std::env::var_os(POORER).is_some() {
        return;
    }
    let (prctl, arm) = match std::env::consts::ARCH {
        "x86_64" => ("157", false),
        "aarch64" => ("167", true),
        _ => return skipped("a kernel that can do less", "the numbers of its calls are not known"),
    };
    let mut command = Command::new("perl");
    command.args(["-e", PERL, prctl, &filter(all, arm)]).arg(std::env::current_exe().unwrap());
    let Ok(output) = command.env(POORER, "1").output() else {
        return skipped("a kernel that can do less", "there is no perl");
    };
    if output.status.code() == Some(97) {
        return skipped("a kernel that can do less", "no filter can be set here");
    }
    // Its skips are printed here, too.
    std::io::stderr().write_all(&output.stderr).unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}{}", text[0], text[1]);
}
