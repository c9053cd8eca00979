//! Every rule finds the samples that are marked `hit`, and leaves alone those that are marked `miss`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ringfence_skill::{Content, Entry, Rule, Scanner, Tree, all_rules};
use serde::Deserialize;

/// A line of a file in `samples/`, one file for each pack of rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    rule: String,
    expect: Expect,
    #[serde(default = "main_file")]
    path: String,
    text: String,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Hit,
    Miss,
}

/// A tree, and the rule that is to find it or to leave it alone.
struct Sample {
    rule: String,
    expect: Expect,
    tree: Tree,
}

fn main_file() -> String {
    String::from("SKILL.md")
}

#[test]
fn every_rule_finds_its_hits_and_leaves_its_misses() {
    let rules = rules_by_id();
    let scanner = Scanner::new(&all_rules());
    let mut wrong = Vec::new();
    for Sample { rule, expect, tree } in samples() {
        let rule = rules.get(rule.as_str()).unwrap_or_else(|| panic!("there is no rule {rule}"));
        let report = scanner.scan(&tree);
        let mut findings = report.findings.iter();
        let found = findings.any(|found| found.rule == *rule && found.severity == rule.severity);
        if found != (expect == Expect::Hit) {
            wrong.push(format!("{}, {expect:?}: {:.400}", rule.id, format!("{tree:?}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_rule_is_complete_and_stands_once() {
    let sampled: BTreeSet<(String, Expect)> =
        samples().into_iter().map(|sample| (sample.rule, sample.expect)).collect();
    assert_eq!(rules_by_id().len(), all_rules().len(), "a rule stands twice");
    for rule in all_rules() {
        for expect in [Expect::Hit, Expect::Miss] {
            assert!(sampled.contains(&(rule.id.to_owned(), expect)), "{} lacks a {expect:?}", rule.id);
        }
        assert!(!rule.why.is_empty() && !rule.fix.is_empty(), "{} does not say why, or what to do", rule.id);
        for anchor in rule.anchors() {
            assert_eq!(anchor, anchor.to_ascii_lowercase(), "{}", rule.id);
        }
    }
}

fn rules_by_id() -> BTreeMap<&'static str, &'static Rule> {
    all_rules().into_iter().map(|rule| (rule.id, rule)).collect()
}

/// The samples of all files in `samples/`, and those that are no text.
fn samples() -> Vec<Sample> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut all = built();
    for file in std::fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let line: Line = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), number + 1));
            let tree = Tree::of_file(line.path, line.text);
            all.push(Sample { rule: line.rule, expect: line.expect, tree });
        }
    }
    all
}

/// Samples that a line of text cannot hold.
fn built() -> Vec<Sample> {
    use Expect::{Hit, Miss};
    let long = "x = os.environ\n".repeat(90_000);
    let rows = [
        ("CODE_UNREAD", Hit, Tree::of_file("x.py", long)),
        ("TREE_LINK_OUT", Hit, link("docs/a", "../../a")),
        ("TREE_LINK_OUT", Hit, link("a", "/etc/passwd")),
        ("TREE_LINK_OUT", Hit, link("a", "~/.ssh/id_rsa")),
        ("TREE_LINK_OUT", Miss, link("docs/a", "../b")),
        ("TREE_LINK_OUT", Miss, link("a", "b/c")),
        ("TREE_SPECIAL", Hit, entry("pipe", Content::Special)),
        ("TREE_NOT_READ", Hit, entry("large.md", Content::TooLarge { length: 1 << 40 })),
        ("TREE_SEALED_ARCHIVE", Hit, Tree::of_file("tool.zip", SEALED)),
        ("TREE_SEALED_ARCHIVE", Miss, Tree::of_file("empty.zip", EMPTY)),
        ("TREE_ARCHIVE", Hit, Tree::of_file("tool.tar", climbing_archive())),
    ];
    rows.into_iter().map(|(rule, expect, tree)| Sample { rule: rule.to_owned(), expect, tree }).collect()
}

fn link(path: &str, target: &str) -> Tree {
    entry(path, Content::Link { target: target.into() })
}

fn entry(path: &str, content: Content) -> Tree {
    Tree { name: String::new(), entries: vec![Entry { path: path.into(), content }] }
}

/// An archive with an empty file whose name leads upwards.
fn climbing_archive() -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..7].copy_from_slice(b"../../x");
    header.set_size(0);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(4 * 512, 0);
    bytes
}

/// An archive without a file.
const EMPTY: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// An archive with one file `a` of one byte, with the flag that it is encrypted.
const SEALED: &[u8] = b"PK\x03\x04\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0axPK\x01\x02\x14\0\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0aPK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x20\0\0\0\0\0";
