//! The texts of a skill: each file as it came, cleaned, and what is encoded in it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;

use crate::finding::Via;
use crate::language::Language;
use crate::map::Map;
use crate::markdown;
use crate::tree::{Content, Tree};
use crate::unit::{Place, Unit};

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
    /// How one gets here, for whoever reads a finding.
    pub(crate) via: Vec<Via>,
    /// Whether the text is a single unit of this kind, whatever is in it.
    pub(crate) single: Option<Place>,
}

impl View<'_> {
    /// Where a stretch of the text stands in the bytes of the file.
    pub(crate) fn back(&self, range: Range<usize>) -> Range<usize> {
        self.maps.iter().fold(range, |range, map| map.back(range))
    }
}

/// Everything that was read of a skill.
pub(crate) struct Skill<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) views: &'a [View<'a>],
    units: Vec<OnceCell<Vec<Unit<'a>>>>,
}

impl<'a> Skill<'a> {
    pub(crate) fn new(tree: &'a Tree, views: &'a [View<'a>]) -> Self {
        Self { tree, views, units: views.iter().map(|_| OnceCell::new()).collect() }
    }

    /// The units of one of the views.
    pub(crate) fn units(&self, view: usize) -> &[Unit<'a>] {
        let Some((cell, view)) = self.units.get(view).zip(self.views.get(view)) else { return &[] };
        cell.get_or_init(|| units(view))
    }

    /// The units of all views.
    pub(crate) fn all_units(&self) -> impl Iterator<Item = &Unit<'a>> {
        (0..self.views.len()).flat_map(|view| self.units(view))
    }
}

/// The texts of a tree.
pub(crate) fn views(tree: &Tree) -> Vec<View<'_>> {
    tree.entries
        .iter()
        .enumerate()
        .filter_map(|(number, entry)| view_of(number, &entry.path, &entry.content))
        .collect()
}

fn view_of<'a>(entry: usize, path: &'a Path, content: &'a Content) -> Option<View<'a>> {
    let Content::File { bytes, .. } = content else { return None };
    let text = String::from_utf8_lossy(bytes);
    let language = Language::of(path, &text);
    Some(View { entry, path, language, text, maps: Vec::new(), via: Vec::new(), single: None })
}

/// A text in its units.
fn units<'a>(view: &'a View<'a>) -> Vec<Unit<'a>> {
    let whole = |place| Unit {
        view,
        range: 0..view.text.len(),
        place,
        language: view.language,
        headings: Vec::new(),
        reading: OnceCell::new(),
    };
    match (view.single, view.language) {
        (Some(place), _) => vec![whole(place)],
        (None, Language::Markdown | Language::Text) => markdown::units(view),
        (None, _) => vec![whole(Place::Script)],
    }
}
