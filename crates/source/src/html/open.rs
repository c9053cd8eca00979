//! The elements that are open.

use std::collections::HashMap;

use super::hidden::Behind;
use super::tags::Meaning;

/// One open element.
pub(super) struct Element {
    pub(super) name: Vec<u8>,
    /// True if the end of an ordinary element cannot reach across it.
    pub(super) special: bool,
    pub(super) meaning: Meaning,
    /// True if nothing in it is read.
    pub(super) dropped: bool,
    /// Background of its text.
    pub(super) behind: Behind,
}

/// The open elements, with an index of what would otherwise be searched for: each operation takes constant time for
/// every element that was opened.
#[derive(Default)]
pub(super) struct Open {
    elements: Vec<Element>,
    by_name: HashMap<Vec<u8>, Vec<usize>>,
    specials: Vec<usize>,
    dropped: usize,
    foreign: usize,
}

impl Open {
    pub(super) fn push(&mut self, element: Element) {
        let at = self.elements.len();
        self.by_name.entry(element.name.clone()).or_default().push(at);
        if element.special {
            self.specials.push(at);
        }
        self.dropped += usize::from(element.dropped);
        self.foreign += usize::from(is_foreign(&element.name));
        self.elements.push(element);
    }

    pub(super) fn pop(&mut self) -> Option<Element> {
        let element = self.elements.pop()?;
        if let Some(places) = self.by_name.get_mut(&element.name) {
            places.pop();
        }
        if element.special {
            self.specials.pop();
        }
        self.dropped -= usize::from(element.dropped);
        self.foreign -= usize::from(is_foreign(&element.name));
        Some(element)
    }

    pub(super) fn depth(&self) -> usize {
        self.elements.len()
    }

    /// Returns the number of elements that stay open when one of this name ends; `None` if the end tag means nothing here.
    pub(super) fn matching(&self, name: &[u8]) -> Option<usize> {
        let at = *self.by_name.get(name)?.last()?;
        let reachable = self.elements[at].special || self.specials.last().is_none_or(|special| *special < at);
        reachable.then_some(at)
    }

    pub(super) fn last_special(&self) -> Option<&[u8]> {
        self.specials.last().map(|at| self.elements[*at].name.as_slice())
    }

    pub(super) fn innermost(&self) -> Option<&Meaning> {
        self.elements.last().map(|element| &element.meaning)
    }

    pub(super) fn is_dropping(&self) -> bool {
        self.dropped > 0
    }

    pub(super) fn behind(&self) -> Option<Behind> {
        self.elements.last().map(|element| element.behind)
    }

    /// Returns true if the last element is part of a drawing or a formula, and not of HTML in it.
    pub(super) fn is_drawing(&self) -> bool {
        let inner = |element: &Element| {
            matches!(&*element.name, b"foreignobject" | b"desc" | b"title" | b"annotation-xml")
                || matches!(&*element.name, b"mi" | b"mo" | b"mn" | b"ms" | b"mtext")
        };
        self.is_foreign() && !self.elements.last().is_some_and(inner)
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.foreign > 0
    }
}

/// Elements in which HTML has other rules: `<a/>` is empty, `style` is not special.
pub(super) fn is_foreign(name: &[u8]) -> bool {
    matches!(name, b"svg" | b"math")
}
