//! Proof that everything that one pattern matches is matched by another.
//!
//! Both become automata that are walked side by side. What is not proven within the bounds counts as not contained, so an
//! answer errs towards asking.

use std::collections::HashSet;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Repetition};

/// Most pairs of states that are looked at.
const MAX_PAIRS: usize = 4096;
/// Most memory each automaton may take, in bytes.
const MAX_AUTOMATON: usize = 4 << 20;

/// Returns true if every text that the narrow expression matches as a whole is matched by the wide one.
pub(crate) fn is_within(narrow: &Hir, wide: &Hir) -> bool {
    let walk = || -> Option<bool> {
        let (mut narrow, mut wide) = (Side::new(narrow)?, Side::new(wide)?);
        let mut reached = HashSet::new();
        let mut next = vec![(narrow.start()?, wide.start()?)];
        while let Some(pair) = next.pop() {
            if !reached.insert(pair) {
                continue;
            }
            if reached.len() > MAX_PAIRS {
                return None;
            }
            if narrow.accepts(pair.0)? && !wide.accepts(pair.1)? {
                return Some(false);
            }
            for byte in 0..=u8::MAX {
                let after = narrow.step(pair.0, byte)?;
                if !after.is_dead() {
                    next.push((after, wide.step(pair.1, byte)?));
                }
            }
        }
        Some(true)
    };
    walk() == Some(true)
}

/// One automaton, with its working memory.
struct Side {
    dfa: DFA,
    cache: Cache,
}

impl Side {
    fn new(hir: &Hir) -> Option<Self> {
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_AUTOMATON));
        let nfa = NFA::compiler().configure(config).build_from_hir(hir).ok()?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .cache_capacity(MAX_AUTOMATON)
            .skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let cache = dfa.create_cache();
        Some(Self { dfa, cache })
    }

    fn start(&mut self) -> Option<LazyStateID> {
        let start = start::Config::new().anchored(Anchored::Yes);
        self.dfa.start_state(&mut self.cache, &start).ok()
    }

    fn step(&mut self, from: LazyStateID, byte: u8) -> Option<LazyStateID> {
        let to = self.dfa.next_state(&mut self.cache, from, byte).ok()?;
        // States do not outlive the cache they are in.
        (self.cache.clear_count() == 0 && !to.is_quit()).then_some(to)
    }

    fn accepts(&mut self, state: LazyStateID) -> Option<bool> {
        let end = self.dfa.next_eoi_state(&mut self.cache, state).ok()?;
        (self.cache.clear_count() == 0 && !end.is_quit()).then(|| end.is_match())
    }
}

/// An expression that is searched for, as one on the whole text.
pub(crate) fn anywhere(expression: Hir) -> Hir {
    Hir::concat(vec![any_bytes(), expression, any_bytes()])
}

/// Any text at all.
pub(crate) fn any_bytes() -> Hir {
    let byte = Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(0, 255)])));
    Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub: Box::new(byte) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(expression: &str) -> Hir {
        regex_syntax::ParserBuilder::new().utf8(false).build().parse(expression).unwrap()
    }

    #[test]
    fn containment_is_proven_or_denied() {
        let rows = [
            ("^abc$", "^a.*$", true),
            ("^a.*$", "^abc$", false),
            ("^a.*c$", "^a.*$", true),
            ("^a.c$", "^a[a-z]c$", false),
            ("^(?:ab)*$", "^(?:a|b)*$", true),
            ("^(?:ab)*$", "^(?:ab)+$", false),
            ("git status", "git", true),
            ("git", "git status", false),
            ("x", "(?s).*", true),
            ("(?s).*", "x", false),
            // A word boundary of all alphabets cannot be walked.
            (r"\bgit\b", r"\bgit\b", false),
        ];
        for (narrow, wide, expected) in rows {
            let (narrow_hir, wide_hir) = (anywhere(read(narrow)), anywhere(read(wide)));
            assert_eq!(is_within(&narrow_hir, &wide_hir), expected, "{narrow} in {wide}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_proven() {
        let huge = anywhere(read("^[ab]*a[ab]{14}$"));
        assert!(!is_within(&huge, &huge));
    }
}
