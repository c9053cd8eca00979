//! Redaction: never panics, and what is redacted stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let redactor = audit::Redactor::new();
    let once = redactor.redact(text).into_owned();
    assert_eq!(redactor.redact(&once), once, "{text:?}");
});
