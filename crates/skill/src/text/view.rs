//! The texts of a skill: each file as it came, cleaned, and what is encoded in it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use crate::archive::Archive;
use crate::code::embedded::embedded;
use crate::finding::Via;
use crate::text::clean::{clean, hidden, is_unusual};
use crate::text::decode::{self, Budget};
use crate::text::encoding;
use crate::text::json::texts;
use crate::text::language::Language;
use crate::text::map::Map;
use crate::text::markdown::{self, Section};
use crate::text::skeleton::skeleton;
use crate::text::unit::{Place, Unit};
use crate::tree::{Content, Tree};

/// One way to read a file, or something in it.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    /// The number of the entry in the tree.
    pub(crate) entry: usize,
    pub(crate) path: &'a Path,
    pub(crate) language: Language,
    pub(crate) text: Cow<'a, str>,
    /// The ways back to the bytes of the file, the last step first.
    pub(crate) maps: Vec<Map>,
    /// Steps that lead here, for the reader of a finding.
    pub(crate) via: Vec<Via>,
    /// Kind of the unit if the text is a single one, with any content.
    pub(crate) single: Option<Place>,
}

impl View<'_> {
    /// A text that was made out of this one.
    fn made(&self, text: String, mut maps: Vec<Map>, via: Via, language: Language) -> Self {
        maps.extend(self.maps.iter().cloned());
        let via = self.via.iter().cloned().chain([via]).collect();
        let text = Cow::Owned(text);
        Self { entry: self.entry, path: self.path, language, text, maps, via, single: None }
    }

    /// Returns true if it is a file as it came.
    pub(crate) fn is_raw(&self) -> bool {
        self.via.is_empty()
    }

    /// Returns true if it is a file, or a text in a document, as it came.
    pub(crate) fn is_as_it_came(&self) -> bool {
        self.via.iter().all(|via| matches!(via, Via::Value(_)))
    }

    /// Returns the range of a stretch of the text in the bytes of the file.
    pub(crate) fn back(&self, range: Range<usize>) -> Range<usize> {
        self.maps.iter().fold(range, |range, map| map.back(range))
    }
}

/// Everything that was read of a skill.
pub(crate) struct Skill<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) views: &'a [View<'a>],
    /// Items that were not read to their end.
    pub(crate) limits: Vec<Limit>,
    /// Results of the archives in it.
    pub(crate) archives: Vec<Archive>,
    units: Vec<OnceCell<Vec<Unit<'a>>>>,
    hidden: OnceCell<Vec<Hidden<'a>>>,
}

/// The characters that hide in a text as it came, with their places.
pub(crate) struct Hidden<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) characters: Vec<(usize, char)>,
}

impl<'a> Skill<'a> {
    pub(crate) fn new(tree: &'a Tree, views: &'a [View<'a>]) -> Self {
        Self {
            tree,
            views,
            limits: Vec::new(),
            archives: Vec::new(),
            units: views.iter().map(|_| OnceCell::new()).collect(),
            hidden: OnceCell::new(),
        }
    }

    /// The units of one of the views.
    pub(crate) fn units(&self, view: usize) -> &[Unit<'a>] {
        let Some((cell, view)) = self.units.get(view).zip(self.views.get(view)) else { return &[] };
        cell.get_or_init(|| units(view))
    }

    /// The texts as they came in which characters hide.
    pub(crate) fn hidden(&self) -> &[Hidden<'a>] {
        self.hidden.get_or_init(|| {
            let came = self.views.iter().filter(|view| view.is_as_it_came());
            let hidden = came.map(|view| Hidden { view, characters: hidden(&view.text).collect() });
            hidden.filter(|hidden| !hidden.characters.is_empty()).collect()
        })
    }

    /// The units of all views.
    pub(crate) fn all_units(&self) -> impl Iterator<Item = &Unit<'a>> {
        (0..self.views.len()).flat_map(|view| self.units(view))
    }
}

/// Something that was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// The number of the entry in the tree.
    pub(crate) entry: usize,
    /// Items of which there are more than are read.
    pub(crate) of: &'static str,
}

/// The texts of a tree, and where they are not all.
pub(crate) fn read(tree: &Tree) -> (Vec<View<'_>>, Vec<Limit>) {
    let mut readings = Readings::default();
    for (number, entry) in tree.entries.iter().enumerate() {
        if let Content::File { bytes, .. } = &entry.content {
            readings.file(number, &entry.path, bytes);
        }
    }
    (readings.views, readings.limits)
}

/// The texts of a tree.
#[cfg(test)]
pub(crate) fn views(tree: &Tree) -> Vec<View<'_>> {
    read(tree).0
}

/// Maximum number of texts of one document that are read alone.
const MAX_VALUES: usize = 20_000;

#[derive(Default)]
struct Readings<'a> {
    views: Vec<View<'a>>,
    limits: Vec<Limit>,
}

impl<'a> Readings<'a> {
    fn file(&mut self, entry: usize, path: &'a Path, bytes: &'a [u8]) {
        let Some((text, map)) = encoding::text_of(path, bytes) else { return };
        let language = Language::of(path, &text);
        let maps = map.into_iter().collect();
        let first = self.views.len();
        self.views.push(View { entry, path, language, text, maps, via: Vec::new(), single: None });
        self.plain(first);
        let inner = embedded(&self.views[first]);
        self.views.extend(inner);
        if language == Language::Json {
            self.values(first);
        }
        let mut budget = Budget::of(bytes.len());
        self.decoded(first, &mut budget);
        if budget.reached {
            self.limits.push(Limit { entry, of: "encoded texts" });
        }
    }

    /// The text of a view without what hides, and with plain letters.
    fn plain(&mut self, number: usize) {
        let view = &self.views[number];
        let mut last = number;
        if needs_cleaning(&view.text) {
            let (text, maps) = clean(&view.text).into_parts();
            last = self.views.len();
            self.views.push(view.made(text, maps, Via::Decoded("hidden characters"), view.language));
        }
        let view = &self.views[last];
        if let Some((text, map)) = skeleton(&view.text) {
            self.views.push(view.made(text, vec![map], Via::Decoded("look-alike letters"), view.language));
        }
    }

    /// The texts of a JSON document that have escapes in them. The others are units of the document.
    fn values(&mut self, number: usize) {
        let view = &self.views[number];
        let escaped =
            texts::texts(&view.text).into_iter().filter_map(|text| Some((text.range, text.pointer?)));
        let mut made: Vec<View<'a>> = Vec::new();
        for (range, pointer) in escaped {
            if made.len() == MAX_VALUES {
                self.limits.push(Limit { entry: view.entry, of: "escaped texts" });
                break;
            }
            let Some(written) = view.text.get(range.clone()) else { continue };
            let (text, map) = texts::unescaped(written);
            let mut value =
                view.made(text, vec![map, Map::part(range)], Via::Value(pointer), Language::Markdown);
            value.single = Some(Place::Value);
            made.push(value);
        }
        for value in made {
            self.views.push(value);
            self.plain(self.views.len() - 1);
        }
    }

    /// Decodes what is encoded in the texts from one on, and in what comes out of them.
    fn decoded(&mut self, first: usize, budget: &mut Budget) {
        let mut from = first;
        for _ in 0..decode::MAX_DEPTH {
            let to = self.views.len();
            for number in from..to {
                let view = &self.views[number];
                if matches!(view.via.last(), Some(Via::Value(_))) {
                    continue;
                }
                let found = decode::decoded(&view.text, view.language, budget);
                let made = found.into_iter().map(|one| {
                    let language = one.language.unwrap_or(view.language);
                    view.made(one.text, vec![one.map], Via::Decoded(one.from), language)
                });
                let made: Vec<View<'a>> = made.collect();
                self.views.extend(made);
            }
            if self.views.len() == to {
                return;
            }
            from = to;
        }
    }
}

/// Returns true if there can be anything in a text that hides.
fn needs_cleaning(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"<!--").is_some()
        || hidden(text).next().is_some()
        || is_unusual(text)
}

/// The parts of a text that can be read alone.
pub(crate) fn sections(view: &View<'_>) -> Vec<Section> {
    match (view.single, view.language) {
        (None, Language::Markdown | Language::Text) => markdown::sections(&view.text),
        _ => vec![Section::whole(&view.text)],
    }
}

/// A text in its units.
fn units<'a>(view: &'a View<'a>) -> Vec<Unit<'a>> {
    units_in(view, &Section::whole(&view.text))
}

/// A part of a text in its units.
pub(crate) fn units_in<'a>(view: &'a View<'a>, section: &Section) -> Vec<Unit<'a>> {
    let unit = |place, range| Unit::new(view, range, place, view.language, Rc::default());
    let whole = 0..view.text.len();
    match (view.single, view.language) {
        (Some(place), _) => vec![unit(place, whole)],
        (None, Language::Markdown | Language::Text) => markdown::units_in(view, section),
        (None, Language::Json) => {
            let plain =
                texts::texts(&view.text).into_iter().filter(|text| !text.escaped && text.range.len() >= 4);
            let values = plain
                .map(|text| Unit::new(view, text.range, Place::Value, Language::Markdown, Rc::default()));
            values.chain([unit(Place::Script, whole)]).collect()
        }
        (None, _) => vec![unit(Place::Script, whole)],
    }
}
