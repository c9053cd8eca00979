//! The automaton of many path patterns, and what it remembers between two names.
//!
//! Names come in rows: those of one directory, one after the other. So the automaton remembers where it stood after each
//! byte of a name, and of the next name only what is different is read.

use std::panic::{RefUnwindSafe, UnwindSafe};

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

use crate::glob::GlobError;
use crate::location::Pair;
use crate::path_index::Case;
use crate::pattern::{PatternError, one_line};

/// Most memory the automaton of one rule set may take, in bytes, before it is used.
const MAX_AUTOMATON: usize = 64 << 20;
/// Memory for the part of the automaton that is in use.
const CACHE: usize = 8 << 20;

#[derive(Debug)]
pub(crate) struct Automaton {
    dfa: DFA,
    /// Working memory, as much as there are decisions at the same time. The pool keeps threads out of each other's way.
    memories: Pool<Memory, Make>,
    ids: Box<[usize]>,
    case: Case,
    /// True if the directories of a name are looked at, too.
    directories: bool,
    /// True at a byte with which a matching name may begin: rules on a few names need no look at the others.
    begins: Box<[bool; 256]>,
}

type Make = Box<dyn Fn() -> Memory + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// Working memory: the part of the automaton that is in use, and where it stood.
#[derive(Debug)]
struct Memory {
    cache: Cache,
    /// The last name below the workspace and the last from the root, since each file has both.
    tracks: [Track; 2],
}

/// Position of the automaton on its way along a name.
#[derive(Debug, Default)]
struct Track {
    /// The name, as far as it was read.
    name: Vec<u8>,
    /// The state before each byte of it, and the one after the last. Empty if nothing is known.
    states: Vec<LazyStateID>,
    /// The directories of the name that match: how long each is, and the pattern.
    found: Vec<(usize, usize)>,
    /// Number of times the cache had been cleared: states do not outlive that.
    cleared: usize,
}

/// The state from which the rest of a name was read. From the same state, the same rest leads to the same patterns.
type Read<'n> = (LazyStateID, &'n [u8], usize);

/// The automaton could not be run to the end.
struct GaveUp;

impl Automaton {
    /// Patterns in lower case where case is ignored; `ids` is what the caller calls them.
    pub(crate) fn new(hirs: &[Hir], ids: Vec<usize>, case: Case) -> Result<Self, GlobError> {
        let too_large =
            |error: &dyn std::error::Error| PatternError::Regex(one_line(&error.to_string()).into());
        let nfa = NFA::compiler()
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .which_captures(WhichCaptures::None)
                    .nfa_size_limit(Some(MAX_AUTOMATON)),
            )
            .build_many_from_hir(hirs)
            .map_err(|error| too_large(&error))?;
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .match_kind(MatchKind::All)
                    .cache_capacity(CACHE)
                    .skip_cache_capacity_check(true),
            )
            .build_from_nfa(nfa)
            .map_err(|error| too_large(&error))?;
        let shared = dfa.clone();
        let make: Make =
            Box::new(move || Memory { cache: shared.create_cache(), tracks: <[Track; 2]>::default() });
        let begins = Box::new([true; 256]);
        let mut automaton =
            Self { dfa, memories: Pool::new(make), ids: ids.into(), case, directories: false, begins };
        automaton.begins = automaton.beginnings();
        Ok(automaton)
    }

    /// Looks at the directories of a name, too.
    pub(crate) fn with_directories(self) -> Self {
        Self { directories: true, ..self }
    }

    fn beginnings(&self) -> Box<[bool; 256]> {
        let mut memory = self.memories.get();
        let cache = &mut memory.cache;
        let mut lives = |byte: u8| {
            let state = self.start(cache).and_then(|start| self.step(cache, start, byte));
            state.map_or(true, |state| !state.is_dead())
        };
        Box::new(std::array::from_fn(|byte| u8::try_from(byte).is_ok_and(&mut lives)))
    }

    /// Calls `hit` with every pattern that matches one of the names, or one of their directories if these are looked at, and with the
    /// part that matches. A pattern that matches both names may come once or twice.
    pub(crate) fn matches<'n>(&self, names: Pair<'n>, hit: &mut impl FnMut(&'n [u8], usize)) {
        let may_match = |name: &[u8]| name.first().is_none_or(|byte| self.begins[usize::from(*byte)]);
        let (below, absolute) = (names.0.filter(|name| may_match(name)), may_match(names.1));
        if below.is_none() && !absolute {
            return;
        }
        let mut memory = self.memories.get();
        let mut read = None;
        let mut look = |name: &'n [u8]| {
            if self.one(&mut memory, name, &mut read, hit).is_err() {
                // The cache gave up, which it is not configured to do. A restriction must not be lost: all match.
                self.ids.iter().for_each(|id| hit(name, *id));
            }
        };
        if let Some(below) = below {
            look(below);
        }
        if absolute {
            look(names.1);
        }
    }

    fn one<'n>(
        &self,
        memory: &mut Memory,
        name: &'n [u8],
        read: &mut Option<Read<'n>>,
        hit: &mut impl FnMut(&'n [u8], usize),
    ) -> Result<(), GaveUp> {
        let Memory { cache, tracks } = memory;
        let track = &mut tracks[usize::from(name.starts_with(b"/"))];
        let (mut state, rest) = match track.go_back_to(name, cache) {
            Some(known) => known,
            None => (track.begin(self.start(cache)?, cache), name),
        };
        track.found.iter().for_each(|(length, id)| hit(&name[..*length], *id));
        let reading = (state, rest, cache.clear_count());
        if state.is_dead() || read.replace(reading) == Some(reading) {
            return Ok(());
        }
        for &byte in rest {
            state = self.step(cache, state, byte)?;
            // A state is known to match one byte later: this is about the name before the slash.
            if self.directories && byte == b'/' && state.is_match() {
                let length = track.states.len() - 1;
                for index in 0..self.dfa.match_len(cache, state) {
                    let id = self.ids[self.dfa.match_pattern(cache, state, index).as_usize()];
                    track.found.push((length, id));
                    hit(&name[..length], id);
                }
            }
            track.states.push(state);
            if state.is_dead() {
                break;
            }
        }
        track.go_on_to(name);
        if state.is_dead() {
            return Ok(());
        }
        state = self.dfa.next_eoi_state(cache, state).map_err(|_| GaveUp)?;
        if state.is_match() {
            (0..self.dfa.match_len(cache, state)).for_each(|index| {
                hit(name, self.ids[self.dfa.match_pattern(cache, state, index).as_usize()]);
            });
        }
        Ok(())
    }

    fn step(&self, cache: &mut Cache, state: LazyStateID, byte: u8) -> Result<LazyStateID, GaveUp> {
        let byte = if self.case == Case::Ignored { byte.to_ascii_lowercase() } else { byte };
        self.dfa.next_state(cache, state, byte).map_err(|_| GaveUp)
    }

    fn start(&self, cache: &mut Cache) -> Result<LazyStateID, GaveUp> {
        let start = start::Config::new().anchored(Anchored::Yes);
        self.dfa.start_state(cache, &start).map_err(|_| GaveUp)
    }
}

impl Track {
    /// Goes back to where a name parts from the last one: the state there, and what is still to be read.
    fn go_back_to<'n>(&mut self, name: &'n [u8], cache: &Cache) -> Option<(LazyStateID, &'n [u8])> {
        if self.cleared != cache.clear_count() {
            return None;
        }
        let same = beginning(&self.name, name);
        self.name.truncate(same);
        self.states.truncate(same + 1);
        self.found.retain(|(length, _)| *length < same);
        Some((*self.states.get(same)?, &name[same..]))
    }

    fn begin(&mut self, start: LazyStateID, cache: &Cache) -> LazyStateID {
        self.name.clear();
        self.states.clear();
        self.found.clear();
        self.states.push(start);
        self.cleared = cache.clear_count();
        start
    }

    /// Notes what was read of a name: there is one state more than bytes.
    fn go_on_to(&mut self, name: &[u8]) {
        self.name.extend_from_slice(&name[self.name.len()..self.states.len() - 1]);
    }
}

/// Returns the length of the common prefix of two names. Eight bytes at a time, because this is most of the work.
fn beginning(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return same + difference.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}
