//! Texts of strangers: what is clean stays as it is, hides nothing, and every place leads back into the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skill::clean::{Oversize, Size, clean, sized};

fuzz_target!(|input: (u8, &str)| {
    let (max_chars, raw) = input;
    let once = clean(raw);
    assert_eq!(clean(&once.text).text, once.text);
    assert!(!once.text.contains("<!--"));
    assert!(!once.text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')));
    for (at, c) in once.text.char_indices() {
        assert!(raw.get(once.back(at..at + c.len_utf8())).is_some());
    }
    let max_chars = usize::from(max_chars);
    for oversize in [Oversize::Refuse, Oversize::Truncate] {
        if let Ok(cut) = sized(raw, Size { max_chars, oversize }) {
            let text = if cut.truncated { cut.text.strip_suffix("\n[TRUNCATED]") } else { Some(cut.text.as_str()) };
            assert!(text.is_some_and(|text| text.chars().count() <= max_chars));
        }
    }
});
