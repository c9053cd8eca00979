//! The laws of every parser that reads untrusted bytes.
//!
//! Each target is a function that takes bytes and panics when a law does not hold. `cargo xtask fuzz` runs them under libFuzzer;
//! `tests/replay.rs` runs them on the seeds and on every input that was once found to break a law.

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a target fails by panicking, and the law it holds is its documentation"
)]

mod commands;
mod files;
mod git;
mod ledgers;
mod pages;
mod patterns;
mod secrets;
mod skills;
mod traffic;

pub use commands::{check_command, shell_parse, shell_read};
pub use files::{patch_text, policy_edit, policy_file, values};
pub use git::{git_index, git_objects, git_settings};
pub use ledgers::{ledger, ledger_records, ledger_tamper, redact};
pub use pages::{charset, clean, page, result, style, terminal, urls, visible};
pub use patterns::{command_patterns, containment, hosts, path_patterns};
pub use secrets::{placeholders, scrub};
pub use skills::{archive, skill_clean, skill_front, skill_scan};
pub use traffic::{client_hello, dns, http_head, socks};

/// One fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the binary, and of the directories with its seeds and findings.
    pub name: &'static str,
    /// Holds the bytes against the law.
    pub run: fn(&[u8]),
}

/// Every target, by name.
pub const TARGETS: &[Target] = &[
    Target { name: "archive", run: archive },
    Target { name: "charset", run: charset },
    Target { name: "check_command", run: check_command },
    Target { name: "clean", run: clean },
    Target { name: "client_hello", run: client_hello },
    Target { name: "command_patterns", run: command_patterns },
    Target { name: "containment", run: containment },
    Target { name: "dns", run: dns },
    Target { name: "git_index", run: git_index },
    Target { name: "git_objects", run: git_objects },
    Target { name: "git_settings", run: git_settings },
    Target { name: "hosts", run: hosts },
    Target { name: "http_head", run: http_head },
    Target { name: "ledger", run: ledger },
    Target { name: "ledger_records", run: ledger_records },
    Target { name: "ledger_tamper", run: ledger_tamper },
    Target { name: "page", run: page },
    Target { name: "patch_text", run: patch_text },
    Target { name: "path_patterns", run: path_patterns },
    Target { name: "placeholders", run: placeholders },
    Target { name: "policy_edit", run: policy_edit },
    Target { name: "policy_file", run: policy_file },
    Target { name: "redact", run: redact },
    Target { name: "result", run: result },
    Target { name: "scrub", run: scrub },
    Target { name: "shell_parse", run: shell_parse },
    Target { name: "shell_read", run: shell_read },
    Target { name: "skill_clean", run: skill_clean },
    Target { name: "skill_front", run: skill_front },
    Target { name: "skill_scan", run: skill_scan },
    Target { name: "socks", run: socks },
    Target { name: "style", run: style },
    Target { name: "terminal", run: terminal },
    Target { name: "urls", run: urls },
    Target { name: "values", run: values },
    Target { name: "visible", run: visible },
];

/// Divides an input at its first NUL bytes. Parts that are not there are empty.
fn parts<const N: usize>(bytes: &[u8]) -> [&[u8]; N] {
    let mut parts = bytes.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// Divides an input as [`parts`] does, if all of it is text.
fn texts<const N: usize>(bytes: &[u8]) -> Option<[&str; N]> {
    std::str::from_utf8(bytes).ok()?;
    Some(parts::<N>(bytes).map(|part| std::str::from_utf8(part).unwrap_or_default()))
}
