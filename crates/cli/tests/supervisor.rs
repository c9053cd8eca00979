//! The notify supervisor makes system calls for the command, and never with more rights than the command has.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use stage::{Stage, ended, has};

/// Opens paths with all kinds of flags; prints those that succeed although a plain read is refused.
const OPENS: &str = r#"
import os
def opens(path, flags):
    try:
        os.close(os.open(path, flags))
        return True
    except OSError:
        return False
names = ["maps", "smaps", "environ", "mem", "auxv", "io", "stat", "status", "fd", "cwd/x", "root/tmp/x", "exe"]
names += ["fd/%d" % number for number in range(32)] + ["task/1/maps", "map_files"]
kinds = [os.O_CREAT, os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_CREAT, os.O_TRUNC, os.O_WRONLY | os.O_TRUNC]
for name in names:
    path = "/proc/1/" + name
    for flags in kinds:
        if opens(path, flags) and not opens(path, os.O_RDONLY):
            print("more", name, flags)
"#;

/// Files of init are closed to the command, with any flags that make the supervisor open them.
#[test]
fn nothing_of_init_is_opened() {
    let Some(stage) = Stage::new().filter(|_| has("python3", "the rights of the supervisor")) else { return };
    for options in ["", "-p readonly", "--explain-denials"] {
        let mut command = stage.command();
        command.arg("run").args(options.split_whitespace()).args(["--", "python3", "-c", OPENS]);
        let inside = ended(&mut command);
        assert_eq!((inside.code, inside.out.as_str()), (Some(0), ""), "{options}: {}", inside.err);
    }
}

/// The command's own descriptors, and those of processes that it may trace, are opened as before.
#[test]
fn what_the_command_has_open_is_opened() {
    let Some(stage) = Stage::new() else { return };
    let script = "echo one > /dev/stdout; echo two > /proc/self/fd/1; echo three > /proc/$$/fd/1; \
                  sh -c 'echo four > /proc/$PPID/fd/1; :'; echo five | tee /dev/fd/1 > /dev/null";
    let inside = stage.run("", script);
    assert_eq!((inside.code, inside.out.as_str()), (Some(0), "one\ntwo\nthree\nfour\n"), "{inside:?}");
}
