//! Reviews every system call: can it make a name or write a file by its path unseen?

use std::collections::BTreeMap;

use super::interpreter::{Input, run};
use crate::seccomp::row::Answer;
use crate::seccomp::{Abi, NotifyOptions, Sockets, filter, listen};

/// A reviewed call.
struct Reviewed {
    class: &'static str,
    name: &'static str,
    numbers: [Option<u32>; 2],
}

fn reviewed() -> Vec<Reviewed> {
    let lines = include_str!("paths.txt").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let [class, name, x86_64, aarch64] =
            line.split(' ').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{line}"));
        Reviewed { class, name, numbers: [x86_64, aarch64].map(|number| number.parse().ok()) }
    };
    lines.map(read).collect()
}

/// Runs both filters of a supervised jail: the call is told to the notify supervisor, refused, or goes on.
fn answer(abi: Abi, number: u32, arguments: [u64; 6]) -> &'static str {
    let input = Input::new(abi, number, arguments);
    let said = [
        run(&filter(abi, Sockets::Namespaced), &input),
        run(&listen(abi, NotifyOptions { kept: true, observed: false }), &input),
    ];
    if said.iter().any(|said| ![Answer::Allow.value(), Answer::Notify.value()].contains(said)) {
        return "refused";
    }
    if said.contains(&Answer::Notify.value()) { "told" } else { "goes on" }
}

#[test]
fn every_call_is_reviewed_and_answered_as_its_class_says() {
    let ranges: [(Abi, &[std::ops::Range<u32>]); 2] =
        [(Abi::X86_64, &[0..337, 424..470]), (Abi::Aarch64, &[0..244, 260..295, 424..470])];
    for (at, (abi, ranges)) in ranges.into_iter().enumerate() {
        let known: BTreeMap<u32, Reviewed> =
            reviewed().into_iter().filter_map(|call| Some((call.numbers[at]?, call))).collect();
        let missing: Vec<_> =
            ranges.iter().cloned().flatten().filter(|number| !known.contains_key(number)).collect();
        assert_eq!(missing, [0; 0], "{abi:?}");
        for (number, call) in known {
            let said = answer(abi, number, [0o1103; 6]);
            let expected: &[&str] = match call.class {
                "supervised" | "tracked" => &["told"],
                "refused" => &["refused"],
                // For which requests `ioctl` is refused, the vectors say.
                "ioctl" | "removes" | "attributes" | "private" => &["goes on"],
                "no" => &["goes on", "refused"],
                other => panic!("{other}"),
            };
            assert!(expected.contains(&said), "{abi:?} {}: {said}", call.name);
        }
    }
}

/// Each kind of opening that makes or changes a file is told, and reading is not.
#[test]
fn opening_is_told_unless_it_only_reads() {
    let rows = [
        (libc::O_RDONLY, "goes on"),
        (libc::O_RDONLY | libc::O_CLOEXEC | libc::O_DIRECTORY, "goes on"),
        (libc::O_PATH, "goes on"),
        (libc::O_WRONLY, "told"),
        (libc::O_RDWR, "told"),
        (libc::O_RDONLY | libc::O_CREAT, "told"),
        (libc::O_RDONLY | libc::O_TRUNC, "told"),
        (libc::O_TMPFILE | libc::O_WRONLY, "told"),
        (libc::O_ACCMODE, "told"),
        (libc::O_PATH | libc::O_WRONLY, "told"),
    ];
    for (flags, expected) in rows {
        let flags = u64::from(flags.cast_unsigned());
        assert_eq!(answer(Abi::X86_64, 2, [0, flags, 0, 0, 0, 0]), expected, "open {flags:#o}");
        for (abi, number) in [(Abi::X86_64, 257), (Abi::Aarch64, 56)] {
            assert_eq!(answer(abi, number, [0, 0, flags, 0, 0, 0]), expected, "openat {flags:#o}");
            assert_eq!(answer(abi, number, [0, 0, flags | 1 << 40, 0, 0, 0]), expected, "openat {flags:#o}");
        }
    }
}
