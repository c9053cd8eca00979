//! Places of `unsafe`, and their safety comments.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::offence::Offence;
use crate::source::Source;

/// The only package that may contain `unsafe`.
const HOME: &str = "ringfence-jail";

/// Finds `unsafe` in the wrong package, and blocks without a `// SAFETY:` comment in the right one.
///
/// Tokens are read instead of syntax, so that the arguments of macros count as well.
pub(crate) fn check(sources: &[Source]) -> Vec<Offence> {
    sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Offence> {
    let mut uses = Vec::new();
    find(source.tokens.clone(), None, &mut uses);
    let lines: Vec<&str> = source.text.lines().collect();
    uses.iter().filter_map(|found| judge(source, &lines, found)).collect()
}

fn judge(source: &Source, lines: &[&str], found: &Use) -> Option<Offence> {
    let text = if source.package != HOME {
        format!("`unsafe` outside {HOME}")
    } else if found.is_promise && !found.places.iter().any(|&line| is_argued(lines, line)) {
        "`unsafe` without a `// SAFETY:` comment directly above".to_owned()
    } else {
        return None;
    };
    Some(Offence::at(&source.path, found.line, text))
}

/// One `unsafe`.
struct Use {
    line: usize,
    /// True if we promise something here (a block, an `unsafe impl`) rather than ask for it (`unsafe fn`).
    is_promise: bool,
    /// Lines above which the argument may stand: that of the keyword, and those where the statements around it begin.
    places: Vec<usize>,
}

fn find(tokens: TokenStream, outer: Option<usize>, uses: &mut Vec<Use>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut statement = None;
    while let Some(token) = tokens.next() {
        let line = token.span().start().line;
        let begin = *statement.get_or_insert(line);
        match token {
            TokenTree::Ident(word) if word == "unsafe" => {
                let places = [Some(line), Some(begin), outer].into_iter().flatten().collect();
                uses.push(Use { line, is_promise: tokens.peek().is_some_and(starts_promise), places });
            }
            TokenTree::Group(group) => {
                let is_block = group.delimiter() == Delimiter::Brace;
                find(group.stream(), (!is_block).then_some(outer.unwrap_or(begin)), uses);
                statement = statement.filter(|_| !is_block);
            }
            TokenTree::Punct(mark) if matches!(mark.as_char(), ';' | ',') => statement = None,
            _ => {}
        }
    }
}

fn starts_promise(next: &TokenTree) -> bool {
    match next {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(word) => word == "impl",
        _ => false,
    }
}

/// Returns true if the comment that ends above a line argues for safety.
fn is_argued(lines: &[&str], line: usize) -> bool {
    lines[..line - 1]
        .iter()
        .rev()
        .map(|line| line.trim_start())
        .take_while(|line| line.starts_with("//"))
        .any(|line| line.starts_with("// SAFETY: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(package: &str, text: &str) -> Vec<String> {
        let source = Source::parse(package, "a.rs", text.into()).unwrap();
        check(&[source]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unsafe_outside_its_home_is_named() {
        let rows = [
            "fn f() { unsafe { g() } }",
            "unsafe fn f() {}",
            "unsafe impl Send for A {}",
            "unsafe trait A {}",
            "unsafe extern \"C\" {}",
            "#[unsafe(no_mangle)] fn f() {}",
            "fn f() { assert!(unsafe { g() }); }",
            "macro_rules! m { () => { unsafe { g() } }; }",
            "#[cfg(test)] mod tests { fn f() { unsafe { g() } } }",
        ];
        for text in rows {
            let text = format!("// SAFETY: argued for, but not here.\n{text}");
            assert_eq!(
                offences("ringfence-audit", &text),
                ["a.rs:2: `unsafe` outside ringfence-jail"],
                "{text}"
            );
        }
        assert_eq!(offences("ringfence-audit", "// unsafe\nfn f() { let s = \"unsafe {}\"; }"), [""; 0]);
    }

    #[test]
    fn an_argued_promise_is_fine() {
        let rows = [
            "fn f() {\n    // SAFETY: no memory is touched.\n    unsafe { g() }\n}",
            "fn f() {\n    // SAFETY: no memory\n    // is touched.\n    let x = unsafe { g() };\n}",
            "fn f() {\n    // SAFETY: fine.\n    let long =\n        unsafe { g() };\n}",
            "fn f() {\n    // SAFETY: fine.\n    h(\n        1,\n        unsafe { g() },\n    );\n}",
            "fn f() {\n    match x {\n        // SAFETY: fine.\n        A => unsafe { g() },\n    }\n}",
            "// SAFETY: no shared state.\nunsafe impl Send for A {}",
            "/// # Safety\n/// Call once.\nunsafe fn f() {}",
            "unsafe extern \"C\" { fn f(); }",
        ];
        for text in rows {
            assert_eq!(offences(HOME, text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_bare_promise_is_named() {
        let rows = [
            ("fn f() {\n    unsafe { g() }\n}", 2),
            ("fn f() {\n    // SAFETY: fine.\n\n    unsafe { g() }\n}", 4),
            ("fn f() {\n    // it is safe\n    unsafe { g() }\n}", 3),
            ("fn f() {\n    // SAFETY: fine.\n    unsafe { g() };\n    unsafe { h() };\n}", 4),
            ("// SAFETY: fine.\nfn f() {\n    unsafe { g() }\n}", 3),
            ("fn f() {\n    m!(\n        unsafe { g() }\n    );\n}", 3),
            ("unsafe impl Send for A {}", 1),
        ];
        for (text, line) in rows {
            let message = format!("a.rs:{line}: `unsafe` without a `// SAFETY:` comment directly above");
            assert_eq!(offences(HOME, text), [message], "{text}");
        }
    }
}
