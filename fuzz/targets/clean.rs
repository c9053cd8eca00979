//! Output of programs as text: never panics, the pieces make no difference, and what is clean stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringfence::job::Cleaner;

fn cleaned<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let (mut text, mut cleaner) = (String::new(), Cleaner::new());
    for piece in pieces {
        cleaner.push(piece, &mut text);
    }
    cleaner.finish(&mut text);
    text
}

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = input;
    let whole = cleaned(std::iter::once(bytes));
    assert_eq!(cleaned(bytes.chunks(usize::from(size).max(1))), whole);
    assert_eq!(cleaned(std::iter::once(whole.as_bytes())), whole);
    assert!(whole.chars().all(|one| !one.is_control() || one == '\n' || one == '\t'));
});
