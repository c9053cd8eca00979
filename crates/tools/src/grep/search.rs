//! Searching files, one after the other on each thread.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use ringfence::guard::{Abort, EntryKind};

use super::hits::{FileHits, Hits, Line};
use super::line::Text;
use super::{GrepParameters, Mode};
use crate::walk::{Found, Visitor, Walk};

/// Memory for a line, and for a file where matches span lines.
const MAX_HEAP: usize = 64 << 20;
/// Lines that are shown around a match.
const MAX_CONTEXT: usize = 20;
/// Places that are looked for in one match.
const MAX_PLACES: usize = 100;
/// Names of files with several names that are remembered.
const MAX_LINKED: usize = 100_000;

/// State that all threads of a search share.
pub(super) struct Search<'a> {
    pub(super) matcher: RegexMatcher,
    pub(super) parameters: &'a GrepParameters,
    pub(super) hits: &'a Hits,
    pub(super) abort: &'a Abort,
}

/// Number of files that were searched, and of those that were not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Searched {
    pub(super) files: usize,
    pub(super) binary: usize,
    /// Files that could not be read to the end.
    pub(super) unread: usize,
    /// Files with other names that were not met.
    pub(super) linked: usize,
    pub(super) unopened: usize,
    /// True if there is more than was looked at.
    pub(super) cut: bool,
}

/// One thread of a search.
pub(super) struct Thread<'a> {
    search: &'a Search<'a>,
    matcher: RegexMatcher,
    searcher: Searcher,
    pub(super) searched: Searched,
    pub(super) linked: Vec<Linked>,
}

/// A name of a file that has several.
pub(super) struct Linked {
    object: (u64, u64),
    names: u64,
    path: Vec<u8>,
}

impl Search<'_> {
    pub(super) fn thread(&self) -> Thread<'_> {
        let parameters = self.parameters;
        let near = |one: Option<usize>| one.or(parameters.context).unwrap_or(0).min(MAX_CONTEXT);
        let lines = parameters.mode == Mode::Content;
        let limit = match parameters.mode {
            Mode::Files => Some(1),
            Mode::Content | Mode::Count => parameters.max_per_file,
        };
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(lines)
            .before_context(if lines { near(parameters.before) } else { 0 })
            .after_context(if lines { near(parameters.after) } else { 0 })
            .multi_line(parameters.multiline)
            .max_matches(limit)
            .heap_limit(Some(MAX_HEAP))
            .build();
        let matcher = self.matcher.clone();
        Thread { search: self, matcher, searcher, searched: Searched::default(), linked: Vec::new() }
    }
}

impl Visitor for Thread<'_> {
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()> {
        if found.entry.kind() != EntryKind::File {
            return ControlFlow::Continue(());
        }
        match found.directory.file(found.entry) {
            // Its other names may lie in places that were not judged.
            Ok(file) if file.look.names > 1 => self.remember(Linked {
                object: file.look.object,
                names: file.look.names,
                path: found.path.to_vec(),
            }),
            Ok(file) => self.search(&file.file, found.path),
            Err(_) => self.searched.unread += 1,
        }
        ControlFlow::Continue(())
    }
}

impl Thread<'_> {
    /// Searches a file.
    pub(super) fn search(&mut self, file: &File, path: &[u8]) {
        let wanted = self.search.hits.wanted(path);
        let show = if self.search.parameters.mode == Mode::Content { wanted } else { 0 };
        let mut sink = Lines { matcher: &self.matcher, show, hits: FileHits::default(), binary: false };
        let reading = Reading { file, abort: self.search.abort };
        let done = self.searcher.search_reader(&self.matcher, reading, &mut sink);
        match done {
            Err(_) => self.searched.unread += 1,
            Ok(()) if sink.binary => self.searched.binary += 1,
            Ok(()) => {
                self.searched.files += 1;
                if sink.hits.count > 0 {
                    self.search.hits.add(path, sink.hits);
                }
            }
        }
    }

    fn remember(&mut self, linked: Linked) {
        if self.linked.len() < MAX_LINKED {
            self.linked.push(linked);
        } else {
            self.searched.linked += 1;
        }
    }

    /// Searches files with several names, if all of their names were met: then none of them lies elsewhere.
    pub(super) fn search_linked(&mut self, walk: &Walk<'_>, mut linked: Vec<Linked>) {
        linked.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut met: HashMap<(u64, u64), u64> = HashMap::new();
        for name in &linked {
            *met.entry(name.object).or_default() += 1;
        }
        for Linked { object, names, path } in linked {
            if self.search.abort.is_aborted() {
                return;
            }
            let is_met = met.get(&object).is_some_and(|met| *met >= names);
            let file = if is_met { walk.open(&path) } else { None };
            match file.filter(|file| file.look.object == object && file.look.names == names) {
                Some(file) => self.search(&file.file, &path),
                None => self.searched.linked += 1,
            }
        }
    }
}

impl Searched {
    pub(super) fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.binary += other.binary;
        self.unread += other.unread;
        self.linked += other.linked;
        self.unopened += other.unopened;
        self.cut |= other.cut;
    }
}

/// A file that is read until the call is cancelled.
struct Reading<'a> {
    file: &'a File,
    abort: &'a Abort,
}

impl Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.abort.is_aborted() {
            return Err(io::ErrorKind::Other.into());
        }
        self.file.read(buffer)
    }
}

/// Collects the lines of a file, and counts them.
struct Lines<'a> {
    matcher: &'a RegexMatcher,
    /// Matches that are shown; the others are counted.
    show: usize,
    hits: FileHits,
    binary: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let index = self.hits.count;
        self.hits.count += 1;
        if index < self.show {
            let text = Text::new(found.bytes(), &self.places(found.bytes()));
            let number = found.line_number().unwrap_or(0);
            self.hits.lines.push((index, Line { number, text, matches: true }));
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        let index = match near.kind() {
            SinkContextKind::After => self.hits.count.saturating_sub(1),
            SinkContextKind::Before | SinkContextKind::Other => self.hits.count,
        };
        if index < self.show {
            let (number, text) = (near.line_number().unwrap_or(0), Text::plain(near.bytes()));
            self.hits.lines.push((index, Line { number, text, matches: false }));
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

impl Lines<'_> {
    fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let all = self.matcher.find_iter(bytes, |found| {
            places.push(found.start()..found.end());
            places.len() < MAX_PLACES
        });
        // A match that is not found again is shown without its place.
        if all.is_ok() { places } else { Vec::new() }
    }
}
