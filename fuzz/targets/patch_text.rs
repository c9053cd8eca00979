//! Patches: reading never panics, every place lies in the text, and every section does something.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tools::patch::{Action, Sign, parse};

fuzz_target!(|text: &str| {
    let last = text.split('\n').count() + 1;
    let patch = match parse(text) {
        Ok(patch) => patch,
        Err(malformed) => return assert!((1..=last).contains(&malformed.line), "{malformed:?}"),
    };
    assert!(!patch.sections.is_empty());
    for section in &patch.sections {
        assert!((1..=last).contains(&section.line), "{section:?}");
        if let Action::Update { to, hunks, .. } = &section.action {
            assert!(to.is_some() || !hunks.is_empty(), "{section:?}");
            for hunk in hunks {
                assert!(hunk.lines.iter().any(|line| line.sign != Sign::Keep), "{hunk:?}");
                assert!((section.line..=last).contains(&hunk.line), "{hunk:?}");
            }
        }
    }
});
