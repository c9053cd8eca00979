//! The tables keep their own rules, and `docs/reference/environment.md` says what they say.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::table::{HARMLESS, NEVER, OWN, PAIRS, PARTS, PASS, WORDS};
use super::*;

fn patterns() -> impl Iterator<Item = &'static str> {
    NEVER.iter().flat_map(|row| row.names.split(' '))
}

/// A name that a pattern is there for.
fn example(pattern: &str) -> String {
    pattern.replace('*', "X")
}

#[test]
fn no_name_is_listed_twice() {
    let names = PASS.iter().map(|row| row.name).chain(OWN.iter().map(|row| row.0));
    let mut seen = BTreeSet::new();
    for name in names.chain(HARMLESS.iter().map(|row| row.0)).chain(patterns()) {
        assert!(seen.insert(name), "{name:?} is listed twice");
    }
}

#[test]
fn every_row_has_a_reason_that_fits_a_sentence() {
    let reasons = NEVER.iter().map(|row| row.reason).chain(PASS.iter().map(|row| row.reason));
    let reasons = reasons.chain(WORDS.iter().chain(PARTS).chain(OWN).chain(HARMLESS).map(|row| row.1));
    let reasons =
        reasons.chain(PAIRS.iter().map(|row| row.2)).chain(policy::TOKENS.iter().map(|row| row.reason));
    for reason in reasons {
        assert!(!reason.is_empty() && !reason.ends_with('.') && !reason.contains('|'), "{reason:?}");
    }
}

#[test]
fn every_pattern_is_one_that_is_understood() {
    for pattern in patterns() {
        let middle = pattern.trim_matches('*');
        let plain =
            middle.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        let starred = pattern.len() - middle.len();
        assert!(middle.len() > 1 && plain && starred < 2, "{pattern:?}");
    }
}

#[test]
fn every_row_decides_about_its_own_names() {
    for row in NEVER {
        for name in row.names.split(' ').map(example) {
            assert_eq!(table::never(&name), Some((row.kind, row.reason)), "{name}");
        }
    }
}

#[test]
fn what_passes_is_neither_set_nor_refused() {
    for row in PASS {
        let name = OsStr::new(row.name);
        assert_eq!(table::own(name), None, "{}", row.name);
        assert_eq!(table::never(row.name), None, "{}", row.name);
        assert_eq!(secret::name(row.name), None, "{}", row.name);
    }
}

#[test]
fn what_is_harmless_would_be_refused_otherwise() {
    for (name, _) in HARMLESS {
        assert!(table::never(name).is_some() || secret::name(name).is_some(), "{name}");
        assert_eq!(never(OsStr::new(name)), None, "{name}");
    }
}

#[test]
fn every_word_makes_a_secret_in_any_case_and_beside_others() {
    let words = WORDS.iter().chain(PARTS).map(|(word, _)| (*word).to_owned());
    for word in words.chain(PAIRS.iter().map(|(first, second, _)| format!("{first}_{second}"))) {
        for name in
            [word.clone(), format!("MY_{word}"), format!("{word}_X"), word.to_lowercase(), format!("{word}2")]
        {
            assert!(secret::name(&name).is_some(), "{name}");
        }
    }
}

const BEGIN: &str = "<!-- variables: begin.";
const END: &str = "<!-- variables: end -->";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/environment.md")
}

#[test]
fn the_reference_is_up_to_date() {
    let document = std::fs::read_to_string(file()).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (marker, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{marker}\n\n{}\n{END}{after}", reference());
    if std::env::var_os("RINGFENCE_BLESS").is_some() {
        std::fs::write(file(), &wanted).unwrap();
    }
    let now = std::fs::read_to_string(file()).unwrap();
    assert!(
        now == wanted,
        "docs/reference/environment.md is out of date: set RINGFENCE_BLESS=1 to render it again"
    );
}

fn reference() -> String {
    let mut out = String::new();
    section(&mut out, "Set by the sandbox", OWN.iter().map(|(name, reason)| (code(name), *reason)));
    section(&mut out, "Passes from the caller", PASS.iter().map(|row| (code(row.name), row.reason)));
    for kind in KINDS {
        let rows = NEVER.iter().filter(|row| row.kind == kind);
        let title = format!("Not taken from the caller: {}", kind.word());
        section(&mut out, &title, rows.map(|row| (code(row.names), row.reason)));
    }
    let words = WORDS.iter().map(|(word, reason)| (code(word), *reason));
    let parts = PARTS.iter().map(|(part, reason)| (format!("`…{part}…`"), *reason));
    let pairs = PAIRS.iter().map(|(first, second, reason)| (format!("`{first}_{second}`"), *reason));
    section(
        &mut out,
        "Not taken from the caller: secret, by a word of the name",
        words.chain(parts).chain(pairs),
    );
    let openings = policy::TOKENS.iter().map(|row| (code_of_text(row.prefix), row.reason));
    section(&mut out, "Not taken from the caller: secret, by the beginning of the value", openings);
    section(&mut out, "Enters when asked for", HARMLESS.iter().map(|(name, reason)| (code(name), *reason)));
    out.trim_end().to_owned() + "\n"
}

const KINDS: [Kind; 8] = [
    Kind::Loader,
    Kind::Startup,
    Kind::Code,
    Kind::Program,
    Kind::Git,
    Kind::Route,
    Kind::Handle,
    Kind::Secret,
];

fn section<'a>(out: &mut String, title: &str, rows: impl Iterator<Item = (String, &'a str)>) {
    write!(out, "### {title}\n\n| Variable | Reason |\n|---|---|\n").unwrap();
    rows.for_each(|(names, reason)| writeln!(out, "| {names} | {reason} |").unwrap());
    out.push('\n');
}

fn code(names: &str) -> String {
    names.split(' ').map(code_of_text).collect::<Vec<_>>().join(" ")
}

fn code_of_text(text: &str) -> String {
    format!("`{text}`")
}

/// A count that cannot be gone on from is left to git, which refuses it.
#[test]
fn settings_for_git_go_after_those_that_are_there() {
    let rows = [
        (None, Some("1")),
        (Some("0"), Some("1")),
        (Some("7"), Some("8")),
        (Some("998"), Some("999")),
        (Some("999"), None),
        (Some("4294967295"), None),
        (Some("18446744073709551616"), None),
        (Some("-1"), None),
        (Some("+1"), None),
        (Some(" 1"), None),
        (Some("x"), None),
        (Some(""), None),
    ];
    for (count, expected) in rows {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut environment = vec![pair("A", "a"), pair("GIT_CONFIG_KEY_0", "old")];
        environment.extend(count.map(|count| pair("GIT_CONFIG_COUNT", count)));
        environment.sort();
        let before = environment.clone();
        let set = set_git(&mut environment, "a.b", "c");
        assert_eq!(set, expected.is_some(), "{count:?}");
        let Some(expected) = expected else {
            assert_eq!(environment, before, "{count:?}");
            continue;
        };
        assert!(environment.contains(&pair("GIT_CONFIG_COUNT", expected)), "{count:?}");
        let key = format!("GIT_CONFIG_KEY_{}", count.unwrap_or("0"));
        assert!(environment.contains(&pair(&key, "a.b")), "{count:?}");
        assert!(environment.windows(2).all(|two| two[0].0 < two[1].0), "{environment:?}");
    }
}
