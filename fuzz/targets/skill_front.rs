//! Front matter, manifests and locks: reading never panics, and every place lies in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skill::{Front, Level, Lock, Manifest, Scanner, Tree, validate_front};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        match Front::read(text) {
            Ok(Some(front)) => {
                for field in &front.fields {
                    assert!(text.get(field.value.span.clone()).is_some(), "{field:?}");
                }
                let _ = front.wanted_tools();
            }
            Ok(None) => {}
            Err(error) => assert!(text.is_char_boundary(error.spot().byte), "{error:?}"),
        }
        for level in [Level::Strict, Level::Lenient] {
            let _ = validate_front(text, "x", level);
        }
    }
    if let Ok(Some(manifest)) = Manifest::read(bytes) {
        assert!(manifest.tools.iter().all(|tool| bytes.get(tool.span.clone()).is_some()));
    }
    if let Ok(lock) = Lock::read(bytes) {
        assert_eq!(Lock::read(&lock.write()), Ok(lock));
    }
    for path in ["SKILL.md", ".mcp.json", "package.json", "ci.yml"] {
        let _ = SCANNER.scan(&Tree::of_file(path, bytes));
    }
});

static SCANNER: std::sync::LazyLock<Scanner> = std::sync::LazyLock::new(|| Scanner::new(&skill::all_rules()));
