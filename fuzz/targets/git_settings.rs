//! Git's settings: reading never panics, and names a line that is there.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    match policy::git_settings(bytes) {
        Ok(settings) => assert!(settings.len() <= bytes.len()),
        Err(error) => assert!((1..=lines).contains(&error.line)),
    }
});
