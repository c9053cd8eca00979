//! Path, text and command patterns: reading never panics, and the automaton agrees with the pattern alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::{Case, CommandPattern, Effect, Invocation, PathIndex, PathPattern, Pattern, Reach};

fuzz_target!(|input: (&str, &[u8])| {
    let (text, name) = input;
    if let Ok(pattern @ PathPattern::Glob(_)) = PathPattern::parse(text) {
        for reach in [Reach::Wide, Reach::Narrow] {
            let Ok(index) = PathIndex::new(&[(&pattern, reach)], Case::Exact) else { continue };
            assert_eq!(index.first(name).is_some(), pattern.matches(name, reach), "{text:?} on {name:?}");
            for sample in pattern.samples() {
                assert!(pattern.matches(sample.as_bytes(), reach), "{text:?} on its sample {sample:?}");
            }
        }
    }
    let line = String::from_utf8_lossy(name);
    if let Ok(pattern) = Pattern::parse(text) {
        pattern.matches(&line);
    }
    if let (Ok(pattern), Some(invocation)) = (CommandPattern::parse(text), Invocation::plain(&line)) {
        for argv in &invocation.programs {
            // Whatever a permission matches, the same pattern as a restriction matches too.
            assert!(!pattern.matches(argv, Effect::Allow) || pattern.matches(argv, Effect::Deny), "{text:?} on {line:?}");
        }
    }
});
