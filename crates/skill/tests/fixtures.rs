//! Skills as people and attackers write them, all made up here.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::path::{Path, PathBuf};

use ringfence_skill::{Content, Entry, Report, Scanner, Severity, Tree};

fn scanned(scanner: &Scanner, path: &Path) -> Report {
    let bytes = std::fs::read(path).unwrap();
    let content = Content::File { bytes, executable: false };
    let entries = vec![Entry { path: PathBuf::from("SKILL.md"), content }];
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    scanner.scan(&Tree { name, entries })
}

fn files(below: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(below);
    let mut found: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { path.join("SKILL.md") } else { path })
        .collect();
    found.sort();
    assert!(found.len() >= 12, "{below}: the files are missing");
    found
}

/// Lists the findings of at least a severity, in a line.
fn listed(path: &Path, report: &Report, least: Severity) -> String {
    let found = report.findings.iter().filter(|finding| finding.severity >= least);
    let found: Vec<String> = found
        .map(|finding| {
            format!("{} {:?} line {}: {}", finding.rule.id, finding.severity, finding.line, finding.matched)
        })
        .collect();
    format!("{}: {found:#?}", path.display())
}

#[test]
fn every_malicious_skill_is_blocked() {
    let scanner = Scanner::new(&ringfence_skill::all_rules());
    let missed: Vec<String> = files("malicious")
        .iter()
        .map(|path| (path, scanned(&scanner, path)))
        .filter(|(_, report)| report.worst() != Some(Severity::Critical))
        .map(|(path, report)| listed(path, &report, Severity::Note))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn no_benign_skill_is_blocked_and_few_are_flagged() {
    let scanner = Scanner::new(&ringfence_skill::all_rules());
    let files = files("benign");
    let reports: Vec<(&PathBuf, Report)> = files.iter().map(|path| (path, scanned(&scanner, path))).collect();
    let of = |worst: Severity| -> Vec<String> {
        let found = reports.iter().filter(|(_, report)| report.worst() == Some(worst));
        found.map(|(path, report)| listed(path, report, Severity::Warning)).collect()
    };
    let (blocked, flagged) = (of(Severity::Critical), of(Severity::Warning));
    assert!(blocked.is_empty(), "{blocked:#?}");
    assert!(10 * flagged.len() <= files.len(), "{flagged:#?}");
}

/// Pieces put into texts to break code that counts bytes.
const PIECES: &[&str] = &[
    "\u{e9}",
    "\u{43e}",
    "\u{200b}",
    "\u{2026}",
    "\u{1f600}",
    "\u{e0041}",
    "=",
    "$(",
    "$x",
    "`",
    "'",
    "\"",
    "\\",
    "<(",
    "${a:0:1}",
    "$'\\x63'",
    "[99,111]",
    "<!--",
    "-->",
    "```sh\n",
    "\r",
    "|",
    "curl ",
    "chr(",
    ".join(",
    "![x](",
    "> ",
    "# ",
    "EOF\n",
];

/// The names under which a text is read as something else.
const NAMES: &[&str] = &[
    "SKILL.md",
    "a.sh",
    "a.py",
    "a.js",
    "a.ps1",
    "a.json",
    "a.ipynb",
    "a.yaml",
    "Makefile",
    "requirements.txt",
    "a.bat",
];

proptest::proptest! {

    #[test]
    fn reading_never_fails(
        file in 0usize..1000,
        name in proptest::sample::select(NAMES),
        edits in proptest::collection::vec((0usize..100_000, proptest::sample::select(PIECES), 0usize..40), 1..12),
    ) {
        static SCANNER: std::sync::LazyLock<Scanner> =
            std::sync::LazyLock::new(|| Scanner::new(&ringfence_skill::all_rules()));
        let all = [files("malicious"), files("benign")].concat();
        let mut text = std::fs::read_to_string(&all[file % all.len()]).unwrap();
        for (at, piece, gone) in edits {
            let boundary = |mut at: usize| {
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let start = boundary(at % (text.len() + 1));
            let end = boundary((start + gone).min(text.len()));
            text.replace_range(start..end.max(start), piece);
        }
        let length = text.len();
        proptest::prop_assert_eq!(SCANNER.scan(&Tree::of_file(name, text)).bytes, length);
    }
}
