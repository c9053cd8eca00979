//! Path, text and command patterns: reading never panics, and the automaton agrees with the pattern alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::{Argv, Case, CommandPattern, Effect, PathIndex, PathPattern, Pattern, Program, Reach, Word};

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
    let words = line.split(' ').map(Word::literal).collect();
    if let (Ok(pattern), Some(argv)) = (CommandPattern::parse(text), Argv::new(words)) {
        let program = Program::alone(argv, Some("/ws".into()));
        // Whatever a permission matches, the same pattern as a restriction matches too.
        let permits = pattern.matches(&program, Effect::Allow);
        assert!(!permits || pattern.matches(&program, Effect::Deny), "{text:?} on {line:?}");
    }
});
