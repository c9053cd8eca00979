//! Command lines as each shell alone would read them: never panics, and every place lies in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use policy::Span;
use shell::{Dialect, Surroundings};

fuzz_target!(|text: &[u8]| {
    let Ok(length) = u32::try_from(text.len()) else { return };
    let whole = Span::new(0, length);
    for dialect in Dialect::ALL {
        let around = Surroundings { dialects: &[*dialect], cwd: None, home: None, stdin: None };
        let read = shell::read(text, &around);
        assert!(read.findings.iter().all(|finding| whole.contains(finding.span)), "{read:?}");
        assert!(read.programs.iter().all(|program| whole.contains(program.span)), "{read:?}");
        let Ok(text) = std::str::from_utf8(text) else { continue };
        let Ok(tree) = shell::parse(text, *dialect) else { continue };
        tree.spans(&mut |around, inner| assert!(around.contains(inner), "{text:?}"));
        // Printed, it can be read again; `tests/tree_laws.rs` says when it is the same.
        let printed = shell::print(&tree, *dialect);
        let _ = shell::parse(&printed, *dialect);
    }
});
