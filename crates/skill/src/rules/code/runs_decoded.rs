//! Encoded data is decoded and run.

use crate::code::fact::{Fact, FactKind, Ran};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "CODE_RUNS_DECODED",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "encoded text is decoded and run",
    why: "Code is encoded so that nobody reads it before it runs.",
    fix: "write the code out",
    places: ANYWHERE,
    anchors: words![
        "b64decode",
        "atob(",
        "base64",
        "fromhex",
        "unhexlify",
        "b85decode",
        "zlib.",
        "rot13",
        "rot_13",
        "marshal",
        "gzip.decompress",
        "frombase64string",
        "fromcharcode",
        "fromcodepoint",
        "chr(",
        "(chr",
        "a85decode",
        "b32decode",
        "bytes(",
        "bytearray(",
        "bz2.",
        "unescape(",
        "decodeuricomponent(",
        "lzma.",
        "xxd -r",
    ],
    check: Check::Unit(check),
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::flowing(unit, decoded_runs)
}

fn decoded_runs(source: &Fact, sink: &Fact) -> bool {
    let runs = matches!(
        &sink.what,
        FactKind::Runs(Ran::Code | Ran::Objects | Ran::Module | Ran::Command { shell: true, .. })
    );
    source.what == FactKind::Decodes && runs
}
