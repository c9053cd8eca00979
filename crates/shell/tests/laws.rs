//! Laws that hold for every text.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod generator;

use policy::{Argv, Code, Invocation, Span};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use ringfence_shell::{Dialect, Surroundings};

/// Pieces of lines, which mean something together more often than letters would.
const PIECES: &[&str] = &[
    "a",
    "b",
    "pwn",
    "git",
    "x",
    "é",
    "1",
    " ",
    "  ",
    "\t",
    "\n",
    "\\\n",
    "'",
    "\"",
    "\\",
    "`",
    "$",
    "$(",
    ")",
    "${",
    "}",
    "$((",
    "))",
    "((",
    "(",
    "{ ",
    "; }",
    "<(",
    ">(",
    "=(",
    "$'",
    "$\"",
    "#",
    " # ",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "<<EOF\n",
    "\nEOF\n",
    "EOF",
    "'EOF'",
    "2>&1",
    "&>",
    "{fd}>",
    "[[ ",
    " ]]",
    "[",
    "]",
    "!",
    "=",
    "x=",
    "a=(",
    "+=",
    ":-",
    ":=",
    "//",
    "%",
    "*",
    "?",
    "~",
    "{a,b}",
    "{1..3}",
    "..",
    ",",
    "if ",
    "then ",
    "else ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "case a in ",
    "esac",
    "while ",
    "function f ",
    "f() ",
    "time ",
    "coproc ",
    "eval ",
    "exec ",
    "env ",
    "sh -c ",
    "xargs ",
    "sudo ",
    "trap ",
    "alias a=",
    "cd ",
    "find . -exec ",
    "\\;",
    "select ",
    "repeat 2 ",
    "@",
    "^",
    "-",
    "\u{202e}",
    "\0",
    "\r",
    "\u{200b}",
    "\u{a0}",
];

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..40)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

fn generated() -> impl Strategy<Value = Vec<u8>> {
    any::<u64>().prop_map(|seed| generator::line(seed).text.into_bytes())
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => pieces(), 4 => generated(), 1 => proptest::collection::vec(any::<u8>(), 0..60)]
}

fn dialects() -> impl Strategy<Value = &'static [Dialect]> {
    const EACH: &[&[Dialect]] = &[&[Dialect::Sh], &[Dialect::Bash], &[Dialect::Zsh], Dialect::ALL];
    proptest::sample::select(EACH)
}

fn read(text: &[u8], dialects: &[Dialect]) -> Invocation {
    ringfence_shell::read(
        text,
        &Surroundings { dialects, cwd: Some("/ws"), home: Some("/home/me"), stdin: None },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() })]

    /// Reading ends, does not panic, and says the same again.
    #[test]
    fn the_same_text_is_read_the_same(text in texts(), dialects in dialects()) {
        prop_assert_eq!(read(&text, dialects), read(&text, dialects));
    }

    /// Every place that is told lies in the text, and words lie in their program.
    #[test]
    fn places_lie_in_the_text(text in texts(), dialects in dialects()) {
        let whole = Span::new(0, u32::try_from(text.len()).unwrap());
        let read = read(&text, dialects);
        for finding in &read.findings {
            prop_assert!(lies_in(finding.span, whole), "{:?}", finding);
        }
        for program in &read.programs {
            prop_assert!(lies_in(program.span, whole), "{:?}", program);
            for word in program.argv.words() {
                prop_assert!(lies_in(word.span, program.span), "{:?} in {:?}", word, program);
            }
            for word in program.through.iter().flat_map(Argv::words) {
                prop_assert!(lies_in(word.span, whole), "{:?} in {:?}", word, program);
            }
        }
    }

    /// A place begins and ends between characters, so that it can be shown.
    #[test]
    fn places_do_not_split_characters(text in texts(), dialects in dialects()) {
        let Ok(text) = String::from_utf8(text) else { return Ok(()) };
        let read = read(text.as_bytes(), dialects);
        let spans = read.findings.iter().map(|finding| finding.span).chain(read.programs.iter().map(|program| program.span));
        for span in spans {
            for place in [span.start, span.end] {
                prop_assert!(text.is_char_boundary(usize::try_from(place).unwrap()), "{:?}", span);
            }
        }
    }

    /// A newline at the end changes nothing that starts. A backslash there, or a text that is not complete, would take it in.
    #[test]
    fn a_newline_at_the_end_is_nothing(text in texts(), dialects in dialects()) {
        if text.ends_with(b"\\") {
            return Ok(());
        }
        let before = read(&text, dialects);
        if !before.is_certain() {
            return Ok(());
        }
        let after = read(&[&text[..], b"\n"].concat(), dialects);
        prop_assert_eq!(words(&before), words(&after));
    }

    /// Neither do blanks, unless the text ends in a heredoc, where they would belong to it.
    #[test]
    fn blanks_at_the_end_are_nothing(text in texts(), dialects in dialects()) {
        if text.ends_with(b"\\") || text.windows(2).any(|two| two == b"<<") {
            return Ok(());
        }
        let before = read(&text, dialects);
        if !before.is_certain() {
            return Ok(());
        }
        let after = read(&[&text[..], b" \t"].concat(), dialects);
        prop_assert_eq!(words(&before), words(&after));
    }

    /// One more shell that might run it never makes a line less suspect.
    #[test]
    fn more_dialects_never_find_less(text in texts(), dialects in dialects()) {
        let (one, all) = (read(&text, dialects), read(&text, Dialect::ALL));
        // A text that only one of them cannot read is no mistake of the others.
        let uncertain = one.findings.iter().any(|found| found.code.is_uncertain() && found.code != Code::Unreadable);
        prop_assert!(!uncertain || !all.is_certain());
        if !all.is_certain() {
            return Ok(());
        }
        let found = words(&all);
        for words in words(&one) {
            prop_assert!(found.contains(&words), "{:?} is lost", words);
        }
    }

    /// A text that ends too early is never certain.
    #[test]
    fn an_open_quote_is_never_plain(text in generated(), quote in proptest::sample::select(&["'", "\"", "`", "$(", "${"][..])) {
        let mut open = text;
        open.extend_from_slice(b"\nvis a ");
        let closed = read(&open, &[Dialect::Bash]);
        if !closed.is_certain() || open.windows(2).any(|two| two == b"<<") {
            return Ok(());
        }
        open.extend_from_slice(quote.as_bytes());
        prop_assert!(!read(&open, &[Dialect::Bash]).is_certain());
    }
}

fn lies_in(inner: Span, outer: Span) -> bool {
    inner.start <= inner.end && outer.contains(inner)
}

/// The words of every program, in an order of their own.
fn words(read: &Invocation) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for program in &read.programs {
        all.push(program.argv.words().iter().map(|word| word.text.as_str()).collect());
    }
    all.sort();
    all
}
