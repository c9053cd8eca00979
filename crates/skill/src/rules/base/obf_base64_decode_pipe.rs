//! Decoded data is piped to another program.

use crate::code::command::{Step, is_decoder, is_interpreter, is_shell};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::phrase::Phrases;
use crate::text::unit::{ANYWHERE, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "OBF_BASE64_DECODE_PIPE",
    category: Category::Obfuscation,
    severity: Severity::Critical,
    title: "a decoded text is piped on",
    why: "Whoever hides a command like this does not want it to be read before it runs.",
    fix: "write the command itself",
    places: ANYWHERE,
    anchors: words!["base64", "base32", "xxd", "uudecode", "openssl", "basenc"],
    check: Check::Requiring(&[&NEAR], hits),
};

/// Phrases one of which occurs in every text that the rule matches.
static NEAR: Phrases = Phrases::new(words![r"-[a-z]*[dr]|uudecode|\brev\b"]);

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    unit.commands().steps().filter_map(hit).take(20).collect()
}

fn hit(step: Step<'_>) -> Option<Hit> {
    if let Some(decoder) = step.substituted().find(|inner| is_decoder(*inner)).filter(|_| step.runs_words()) {
        return Some(Hit::at(step.range_from(decoder)));
    }
    let decoder = step.feeders().find(|before| is_decoder(*before))?;
    let name = step.name();
    let runs = step.runs_stdin() || step.runs_words() && !is_interpreter(&name) || is_shell(&name);
    let severity = if runs || !only_looks(&name) { None } else { Some(Severity::Note) };
    Some(Hit { severity, ..Hit::at(step.range_from(decoder)) })
}

/// Returns true for programs that only show or store their input.
fn only_looks(name: &str) -> bool {
    matches!(
        name,
        "jq" | "head"
            | "tail"
            | "less"
            | "more"
            | "grep"
            | "cut"
            | "tar"
            | "gunzip"
            | "zcat"
            | "gzip"
            | "openssl"
            | "xxd"
            | "hexdump"
            | "od"
            | "wc"
            | "tee"
            | "cat"
            | "sort"
            | "awk"
            | "sed"
            | "tr"
            | "file"
            | "strings"
            | "base64"
            | "python"
            | "node"
            | "yq"
            | "pbcopy"
            | "xclip"
            | "diff"
            | "sha256sum"
            | "shasum"
            | "md5sum"
            | "keytool"
            | "step"
            | "protoc"
            | "gpg"
            | "bat"
            | "fold"
            | "xargs"
            | "uniq"
            | "kubectl"
            | "sudo"
            | "docker"
            | "ruby"
            | "perl"
            | "php"
            | "xz"
            | "zstd"
            | "bunzip2"
            | "unzip"
            | "ffmpeg"
            | "convert"
            | "column"
    )
}
