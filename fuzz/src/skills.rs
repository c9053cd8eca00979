//! Untrusted skills: text, manifests, archives, and the scan of all of them.

use std::sync::LazyLock;

use skill::archive::{MAX_BYTES, MAX_ENTRIES};
use skill::clean::{Oversize, Size, clean, sized};
use skill::{Baseline, Front, Level, Lock, Manifest, Scanner, Tree, validate_front};

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&skill::all_rules()));

/// Names that decide how a file is read; the first byte of an input chooses one.
const NAMES: &[&str] = &[
    "SKILL.md",
    "run.sh",
    "run.py",
    "run.js",
    "mcp.json",
    "settings.yaml",
    "tool.zip",
    "run",
    "package.json",
    "Makefile",
    "Dockerfile",
    "run.ps1",
    "run.rb",
    "page.html",
    "Cargo.toml",
    "tool.tar.gz",
];

/// Cleaned text stays as it is, hides no character, and every place leads back into the text. The first byte is a size.
pub fn skill_clean(bytes: &[u8]) {
    let Some((max_chars, raw)) = bytes.split_first() else { return };
    let Ok(raw) = std::str::from_utf8(raw) else { return };
    let once = clean(raw);
    assert_eq!(clean(&once.text).text, once.text);
    assert!(!once.text.contains("<!--"));
    assert!(!once.text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')));
    for (at, c) in once.text.char_indices() {
        assert!(raw.get(once.back(at..at + c.len_utf8())).is_some());
    }
    let max_chars = usize::from(*max_chars);
    for oversize in [Oversize::Refuse, Oversize::Truncate] {
        if let Ok(cut) = sized(raw, Size { max_chars, oversize }) {
            let text =
                if cut.truncated { cut.text.strip_suffix("\n[TRUNCATED]") } else { Some(cut.text.as_str()) };
            assert!(text.is_some_and(|text| text.chars().count() <= max_chars));
        }
    }
}

/// Every place of front matter and manifests lies in the text, and locks and baselines read again as themselves.
pub fn skill_front(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        match Front::read(text) {
            Ok(Some(front)) => {
                for field in &front.fields {
                    assert!(text.get(field.value.span.clone()).is_some(), "{field:?}");
                }
                drop(front.wanted_tools());
            }
            Ok(None) => {}
            Err(error) => assert!(text.is_char_boundary(error.spot().byte), "{error:?}"),
        }
        for level in [Level::Strict, Level::Lenient] {
            drop(validate_front(text, "x", level));
        }
        if let Ok(baseline) = Baseline::read(text) {
            let again = Baseline::read(&baseline.write().expect("a baseline")).expect("a baseline");
            assert_eq!(again.len(), baseline.len());
        }
    }
    if let Ok(Some(manifest)) = Manifest::read(bytes) {
        assert!(manifest.tools.iter().all(|tool| bytes.get(tool.span.clone()).is_some()));
    }
    if let Ok(lock) = Lock::read(bytes) {
        assert_eq!(Lock::read(&lock.write()), Ok(lock));
    }
}

/// The scan of any file ends, is repeatable, and every finding has its place. The first byte chooses the name of the file.
pub fn skill_scan(bytes: &[u8]) {
    let Some((name, bytes)) = bytes.split_first() else { return };
    let tree = Tree::of_file(NAMES[usize::from(*name) % NAMES.len()], bytes);
    let report = SCANNER.scan(&tree);
    for finding in &report.findings {
        assert!(finding.span.start <= finding.span.end);
        assert!(finding.severity <= finding.rule.severity);
        assert!(finding.line >= 1 && finding.column >= 1);
        if finding.path == tree.entries[0].path {
            assert!(finding.span.end <= bytes.len());
        }
    }
    assert_eq!(SCANNER.scan(&tree), report);
}

/// An archive is read within its limits, and a skill from it lies within its directory.
pub fn archive(bytes: &[u8]) {
    if let Ok(entries) = skill::archive::entries(bytes) {
        assert!(entries.len() <= MAX_ENTRIES);
        let size = |entry: &skill::archive::Entry| match &entry.kind {
            skill::archive::Kind::File { bytes, .. } => bytes.len() as u64,
            _ => 0,
        };
        assert!(entries.iter().map(size).sum::<u64>() <= MAX_BYTES);
    }
    if let Ok(packed) = skill::archive::packed("skill.zip", bytes) {
        for entry in &packed.tree.entries {
            let inside = entry.path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            assert!(inside, "{}", entry.path.display());
        }
    }
}
