//! Command lines as any shell might read them: the same text is read the same, and no shell alone finds what all miss.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::{Code, Invocation};
use shell::{Dialect, Surroundings};

fuzz_target!(|text: &[u8]| {
    let all = read(text, Dialect::ALL);
    assert_eq!(all, read(text, Dialect::ALL), "{text:?}");
    if !all.is_certain() {
        return;
    }
    let found: Vec<_> = all.programs.iter().map(|program| program.argv.line()).collect();
    for dialect in Dialect::ALL {
        let one = read(text, &[*dialect]);
        // What one alone cannot read is no mistake of the others.
        let uncertain = one.findings.iter().any(|found| found.code.is_uncertain() && found.code != Code::Unreadable);
        assert!(!uncertain, "{dialect:?} alone is not certain");
        for program in &one.programs {
            assert!(found.contains(&program.argv.line()), "{dialect:?} alone finds {:?}", program.argv.line());
        }
    }
});

fn read(text: &[u8], dialects: &[Dialect]) -> Invocation {
    shell::read(text, &Surroundings { dialects, cwd: Some("/ws"), home: Some("/home/me"), stdin: None })
}
