//! The table for people: what `docs/reference/seccomp.md` shows.

use super::abi::Span;
use super::row::{Answer, Errno, Row};
use super::{Abi, table};

/// Every row in Markdown.
#[must_use]
pub fn reference() -> String {
    let sections = SECTIONS.iter().map(|(title, rows)| section(title, rows));
    let spans = Abi::ALL.into_iter().map(numbers);
    sections.chain(spans).collect::<Vec<_>>().join("\n")
}

const SECTIONS: &[(&str, &[Row])] = &[
    ("Always", table::ALWAYS),
    ("Sockets in a network namespace", table::NAMESPACED),
    ("Internet sockets, where they are allowed", table::INTERNET),
    ("Without namespaces", table::SHARED),
    ("Sockets without namespaces and without network", table::REFUSED),
    ("Sockets without namespaces and with the network opened", table::OPENED),
    ("Only told, with `--explain-denials`", table::OBSERVED),
];

fn section(title: &str, rows: &[Row]) -> String {
    let head = format!("### {title}\n\n| Calls | When | Answer | Because |\n|---|---|---|---|\n");
    rows.iter().fold(head, |text, row| text + &line(row))
}

fn line(row: &Row) -> String {
    let calls: Vec<_> = row.calls.iter().map(|call| format!("`{}`", call.name)).collect();
    let when: Vec<_> = row.when.iter().map(|test| test.text).collect();
    let when = if when.is_empty() { "always".to_owned() } else { when.join(", and ") };
    format!("| {} | {when} | {} | {} |\n", calls.join(" "), word(row.answer), row.because)
}

fn numbers(abi: Abi) -> String {
    let head = format!(
        "### Numbers that no row names, on {}\n\n| From | Answer | Because |\n|---|---|---|\n",
        name(abi)
    );
    abi.spans().iter().fold(head, |text, span| text + &from(span))
}

fn from(Span { first, answer, because }: &Span) -> String {
    // Call numbers are known in decimal, bits above them in hexadecimal.
    let first = if *first < 1000 { first.to_string() } else { format!("{first:#x}") };
    format!("| {first} | {} | {because} |\n", word(*answer))
}

fn name(abi: Abi) -> &'static str {
    match abi {
        Abi::X86_64 => "x86-64",
        Abi::Aarch64 => "64-bit Arm",
    }
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Allow => "allowed",
        Answer::Notify => "told",
        Answer::Kill => "killed",
        Answer::Refuse(Errno::Perm) => "EPERM",
        Answer::Refuse(Errno::NotTty) => "ENOTTY",
        Answer::Refuse(Errno::NoSys) => "ENOSYS",
        Answer::Refuse(Errno::ProtoNoSupport) => "EPROTONOSUPPORT",
        Answer::Refuse(Errno::AfNoSupport) => "EAFNOSUPPORT",
    }
}
