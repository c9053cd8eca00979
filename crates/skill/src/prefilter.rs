//! One pass over a text that says which rules are worth trying, and where.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::rule::Rule;

/// All anchors of a set of rules.
#[derive(Debug)]
pub(crate) struct Prefilter {
    anchors: Option<AhoCorasick>,
    /// The rules of each anchor.
    rules: Vec<Vec<u16>>,
}

/// An anchor in a text: where it begins, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) at: usize,
    number: u32,
}

/// An anchor of several words, as it stands on one line, across two, and with emphasis.
fn spellings(anchor: &str) -> Vec<String> {
    let mut all = vec![anchor.to_owned()];
    if anchor.contains(' ') {
        all.extend(["\n", "*", "** "].map(|gap| anchor.replace(' ', gap)));
    }
    all
}

impl Prefilter {
    pub(crate) fn new(rules: &[&'static Rule]) -> Self {
        let mut by_word: BTreeMap<String, Vec<u16>> = BTreeMap::new();
        for (number, rule) in (0u16..).zip(rules) {
            for word in rule.anchors.iter().flat_map(|anchor| spellings(anchor)) {
                by_word.entry(word).or_default().push(number);
            }
        }
        let (words, by_word): (Vec<String>, Vec<Vec<u16>>) = by_word.into_iter().unzip();
        let built = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words);
        Self { anchors: built.ok(), rules: by_word }
    }

    /// The anchors in a text, in the order of their ends.
    pub(crate) fn anchors(&self, text: &str) -> Vec<Anchor> {
        let Some(anchors) = &self.anchors else { return Vec::new() };
        let found = anchors.find_overlapping_iter(text);
        found.map(|found| Anchor { at: found.start(), number: found.pattern().as_u32() }).collect()
    }

    /// The rules that an anchor belongs to.
    pub(crate) fn rules_of(&self, anchor: Anchor) -> &[u16] {
        self.rules.get(anchor.number as usize).map_or(&[], Vec::as_slice)
    }
}
