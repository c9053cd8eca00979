//! Standard streams that lead to memory.

use ringfence_jail::{Capture, Command, End, Streams};

use crate::place::{Place, command, run, works};

/// Most memory that this process has used so far, in bytes.
fn peak() -> i64 {
    let mut used = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage`; all zeroes is one already.
    let used = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
        used.assume_init()
    };
    used.ru_maxrss * 1024
}

const GIBIBYTE: u64 = 1 << 30;

/// Far more than is kept: what is kept is its beginning and its end, how much it was is told, and memory stays small.
#[test]
fn a_gibibyte_of_output() {
    if !works("a gibibyte of output") {
        return;
    }
    let place = Place::new();
    let keep = 64 << 10;
    let streams = Streams::Captured(Capture::keeping(keep));
    let script = "echo first; head -c 1073741824 /dev/zero; echo last";
    let command = Command { streams, ..command(&["sh", "-c", script], &place.work()) };
    let before = peak();
    let outcome = run(&place.spec(&[]), &command).unwrap();
    let grown = peak() - before;
    assert_eq!(outcome.end, End::Exited(0));
    let [output, errors] = outcome.captured.unwrap();
    assert_eq!((output.total, errors.total), (GIBIBYTE + 11, 0));
    assert!(output.head.starts_with(b"first\n\0") && output.tail.ends_with(b"\0last\n"));
    assert!(output.head.len() + output.tail.len() <= keep, "{} and {}", output.head.len(), output.tail.len());
    // Other tests of this program run beside this one; a copy of the output would be a hundred times as much.
    assert!(grown < 64 << 20, "{grown} bytes more");
}

#[test]
fn what_fits_is_kept_whole() {
    if !works("short output") {
        return;
    }
    let place = Place::new();
    let rows = [
        (8, "", "", ""),
        (8, "1234", "1234", ""),
        (8, "12345678", "1234", "5678"),
        (8, "123456789", "1234", "6789"),
        (0, "1", "", ""),
    ];
    for (keep, text, head, tail) in rows {
        let streams = Streams::Captured(Capture { input: text.into(), ..Capture::keeping(keep) });
        let outcome =
            run(&place.spec(&[]), &Command { streams, ..command(&["cat"], &place.work()) }).unwrap();
        let [output, _] = outcome.captured.unwrap();
        let kept = (String::from_utf8(output.head).unwrap(), String::from_utf8(output.tail).unwrap());
        assert_eq!((kept, output.total), ((head.to_owned(), tail.to_owned()), text.len() as u64));
    }
}

#[test]
fn nothing_to_read_is_the_end_at_once() {
    if !works("an empty standard input") {
        return;
    }
    let place = Place::new();
    for script in ["cat; echo $?", "cat & wait $!; echo $?", "(cat) | cat; echo $?"] {
        let outcome = run(&place.spec(&[]), &command(&["sh", "-c", script], &place.work())).unwrap();
        assert_eq!(outcome.captured.unwrap()[0].head, b"0\n", "{script}");
    }
}
