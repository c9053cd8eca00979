//! Text that no shell accepts cannot be read: it is refused, not asked about. The real shells say what they accept.
//!
//! `RINGFENCE_SEED` and `RINGFENCE_LINES` choose other generated lines and more of them.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it does"
)]

mod generator;
mod judged;
#[path = "../../../tests/skip.rs"]
mod skip;

use std::env;
use std::process::{Command, Stdio};

use generator::{Chance, line, mutate};
use judged::{Mode, verdict};
use policy::{Code, Effect};
use ringfence_shell::{Dialect, Surroundings, read};

/// The shells with the options that make them look at the syntax alone.
const SHELLS: &[(&str, &[&str], Dialect)] = &[
    ("bash", &["--norc", "--noprofile", "-O", "extglob", "-n", "-c"], Dialect::Bash),
    ("dash", &["-n", "-c"], Dialect::Sh),
    ("zsh", &["-f", "-n", "-c"], Dialect::Zsh),
];

/// Number of malformed lines that the reader may take for lines of some shell, for a thousand that it refuses.
const ACCEPTED: usize = 6;

/// Lines that none of the shells accepts.
const MALFORMED: &[&str] = &[
    "echo 'a",
    "echo \"a",
    "echo \"a'",
    "echo \"$(a\"",
    "echo $(a",
    "echo $(a; b",
    "echo \"${a\"",
    "echo \"${a:-b",
    "a |",
    "| a",
    "|| a",
    "&& a",
    "a | | b",
    "a || || b",
    "a && && b",
    "a && || b",
    "a | && b",
    "; ; a |",
    "a & && b",
    "(a",
    "a)",
    "((a)",
    "( a; b",
    "a; )",
    "{ a",
    "{ a; b",
    "(a) b",
    "(a) (b)",
    "( a ) { b; }",
    "{ a; } b",
    "if a",
    "if a; then",
    "if a; then b",
    "if a; then b; else",
    "if a; then b; elif c; fi",
    "if a; fi",
    "if; then a; fi b",
    "then a",
    "else a",
    "fi",
    "a; fi",
    "elif a",
    "while a; do",
    "while a; do b",
    "until a; do b",
    "while a; done",
    "do a; done",
    "done",
    "a; done",
    "for",
    "for x in a; do",
    "for x in a; do b",
    "for x in a; done",
    "case a",
    "case a in",
    "case a in b",
    "case a in b) c",
    "case a in b) c;; d",
    "case in esac",
    "esac",
    "a; esac",
    "a <",
    "a >",
    "a >>",
    "a <<",
    "a > ; b",
    "a < | b",
    "a > > b",
    "a >& | b",
    "a 2> && b",
    "f() {",
    "f() { a",
    "f() | a",
    "f( { a; }",
    "! ! | a",
    "echo a; & | b",
    "echo `a",
    "echo $((1",
    "echo $((1)",
    "a & & | b",
    "if a; then b; done",
    "while a; do b; fi",
    "{ a; )",
    "( a; }",
    "case a in b) c;; esac esac",
    "if a; then (b; fi",
    "echo $(if a; then b)",
    "echo $(for x in a; do b)",
    "echo $(case a in b) c)",
    "echo \"$(echo 'a)\"",
    "a |\n| b",
    "a &&\n&& b",
    "cat <<E |\na\nE\n|",
    "a | ! b",
    "a |\n! b",
    "a | b | ! c",
    "select i j; do a; done",
    "for ((i=0;i<1)); do a; done",
    "for ((i=0;i<1\ni++)); do a; done",
    "a (b; c)",
    "a (b && c)",
    "a (b > c)",
    "a (< b)",
    "a (b &)",
];

/// Nested deeper than any shell goes, or not closed.
fn deep() -> Vec<String> {
    let rows =
        [("(", "a", ")"), ("((", "1", "))"), ("{ ", "a", "; }"), ("$(", "a", ")"), ("${a:-", "b", "}")];
    let rows = rows.into_iter().chain([("\"$(", "a", ")\""), ("a=(", "b", ")"), ("[[ (", "a", ") ]]")]);
    let rows =
        rows.chain([("if a; then ", "b", "; fi"), ("$((", "1", "))"), ("<(", "a", ")"), ("! (", "a", ")")]);
    let rows = rows.chain([
        ("case a in a) ", "b", ";; esac"),
        ("f() { ", "a", "; }"),
        ("for i in a; do ", "b", "; done"),
    ]);
    let rows = rows.chain([
        ("$[", "1", "]"),
        ("${a[", "1", "]}"),
        (">(", "a", ")"),
        ("\"${a:-", "b", "}\""),
        ("( ", "a", " )"),
    ]);
    let rows = rows.chain([
        ("(\n", "a", "\n)"),
        ("while (", "a", ") do b; done"),
        ("{ (", "a", "); }"),
        ("(( (", "1", ") ))"),
    ]);
    let mut lines = Vec::new();
    // Parentheses behind what may stand before one.
    for before in [
        "echo ",
        "x=",
        "a=(",
        "case ",
        "case a in ",
        "for ",
        "for i in ",
        "f",
        "f(",
        "$",
        "echo $",
        "echo $((",
        "${a[",
        "[[ ",
    ] {
        lines.push(format!("{before}{}", "(".repeat(5000)));
        lines.push(format!("{before}{}a{}", "(".repeat(5000), ")".repeat(5000)));
    }
    for before in [
        "[[ ",
        "[[ a == ",
        "[[ a =~ ",
        "function ",
        "coproc ",
        "time ",
        "! ",
        "a | ",
        "a && ",
        "a <",
        "a <<",
        "echo *",
        "echo @",
    ] {
        lines.push(format!("{before}{}", "(".repeat(5000)));
    }
    for (open, inner, close) in rows {
        for before in ["", "a; "] {
            lines.push(format!("{before}{}{inner}{}", open.repeat(5000), close.repeat(5000)));
            lines.push(format!("{before}{}{inner}", open.repeat(5000)));
        }
    }
    lines
}

#[test]
fn what_no_shell_accepts_is_refused() {
    for text in MALFORMED {
        for dialects in [Dialect::ALL, &[Dialect::Bash], &[Dialect::Sh], &[Dialect::Zsh]] {
            assert!(is_refused(text, dialects), "{dialects:?} accept {text:?}");
        }
    }
}

#[test]
fn the_table_holds_only_what_no_shell_accepts() {
    for (shell, ..) in SHELLS.iter().filter(|(shell, ..)| is_installed(shell)) {
        for text in MALFORMED {
            assert!(!accepts(shell, text), "{shell} accepts {text:?}");
        }
    }
}

#[test]
fn nesting_without_end_is_refused() {
    let mut read = Vec::new();
    for text in deep() {
        for dialects in [Dialect::ALL, &[Dialect::Bash], &[Dialect::Sh], &[Dialect::Zsh]] {
            // `$[` is plain text there.
            let text_only = dialects == [Dialect::Sh] && text.contains("$[");
            if !is_refused(&text, dialects) && !text_only {
                read.push(format!("{dialects:?} accept {:?}…", text.get(..30).unwrap()));
            }
        }
    }
    assert!(read.is_empty(), "{read:#?}");
}

#[test]
fn nearly_all_generated_lines_that_no_shell_accepts_are_refused() {
    if let Some((shell, ..)) = SHELLS.iter().find(|(shell, ..)| !is_installed(shell)) {
        return skip::skipped("generated malformed lines", &format!("{shell} is not installed"));
    }
    let number =
        |name: &str, otherwise: u64| env::var(name).map_or(otherwise, |value| value.parse().unwrap());
    let (seed, lines) = (number("RINGFENCE_SEED", 1), number("RINGFENCE_LINES", 150));
    let (mut accepted, mut malformed) = (Vec::new(), 0_usize);
    for index in 0..lines {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(index);
        let mut chance = Chance::new(seed);
        let text = (0..=chance.below(3)).fold(line(seed).text, |text, _| mutate(&text, &mut chance));
        let text = text.replace(['\0', '\r'], "");
        if is_refused(&text, Dialect::ALL) {
            malformed += 1;
        } else if SHELLS.iter().all(|(shell, ..)| !accepts(shell, &text)) {
            accepted.push(format!("{text:?}"));
        }
    }
    // Backslashes and quotes in arithmetic, and broken lines around here-documents, are not all known.
    let few = accepted.len() * 1000 <= malformed * ACCEPTED;
    assert!(few, "{} beside {malformed} refused ones:\n{}", accepted.len(), accepted.join("\n"));
}

fn is_refused(text: &str, dialects: &[Dialect]) -> bool {
    let around = Surroundings { dialects, cwd: Some("/w"), home: Some("/h"), stdin: None };
    let read = read(text.as_bytes(), &around);
    let found =
        read.findings.iter().any(|finding| matches!(finding.code, Code::Unreadable | Code::TooComplex));
    let denied = [Mode::Standard, Mode::Strict].iter().all(|mode| verdict(&read, *mode) == Effect::Deny);
    assert!(!found || denied, "{text:?} is unreadable and not denied");
    found
}

fn is_installed(shell: &str) -> bool {
    ["/usr/bin", "/bin"].iter().any(|directory| std::path::Path::new(directory).join(shell).exists())
}

/// Returns true if a shell accepts the syntax. Nothing runs.
fn accepts(shell: &str, text: &str) -> bool {
    let options = SHELLS.iter().find(|(name, ..)| *name == shell).map(|(_, options, _)| *options).unwrap();
    let mut command = Command::new(shell);
    command.args(options).arg(format!(" {text}")).current_dir("/").env_clear().env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let ended = command.output().unwrap();
    // Without running anything, zsh expands words all the same. What it says then is no matter of syntax.
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let expanded = shell == "zsh" && !(said.contains("parse error") || said.contains("unmatched"));
    ended.status.success() || expanded
}
