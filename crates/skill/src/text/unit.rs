//! A run of text with one meaning: a paragraph, a fence, a script, a value.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use crate::code::command::Commands;
use crate::code::fact::{self, Reading};
use crate::text::language::Language;
use crate::text::view::View;

/// Role of a run of text for the reader of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A paragraph, an item of a list, a row of a table; with the inline code in it.
    Prose,
    /// A heading.
    Heading,
    /// Code within a paragraph, without its backticks.
    Inline,
    /// The inside of a fence or an indented block.
    Fence,
    /// A comment in HTML or Markdown: the rendered page does not show it.
    Comment,
    /// Target of a link or an image.
    Target,
    /// The title of a link or an image: shown only when it is pointed at.
    Title,
    /// The front matter, as a whole.
    Front,
    /// HTML in Markdown.
    Html,
    /// A file that is no prose.
    Script,
    /// A string in a document.
    Value,
}

/// A set of places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places(u16);

impl Places {
    pub(crate) const fn of(places: &[Place]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < places.len() {
            bits |= 1 << places[at] as u16;
            at += 1;
        }
        Self(bits)
    }

    pub(crate) const fn has(self, place: Place) -> bool {
        self.0 & (1 << place as u16) != 0
    }
}

/// Everywhere.
pub(crate) const ANYWHERE: Places = Places(u16::MAX);

/// Places with instructions in words.
pub(crate) const PROSE: Places = Places::of(&[
    Place::Prose,
    Place::Heading,
    Place::Comment,
    Place::Title,
    Place::Front,
    Place::Html,
    Place::Value,
]);

/// Places with instructions in words, or with a quoted text for a reader.
pub(crate) const PROSE_OR_FENCE: Places = Places::of(&[
    Place::Prose,
    Place::Heading,
    Place::Comment,
    Place::Title,
    Place::Front,
    Place::Html,
    Place::Value,
    Place::Fence,
]);

/// Places with code.
pub(crate) const CODE: Places = Places::of(&[Place::Inline, Place::Fence, Place::Script]);

/// A run of text with one meaning.
#[derive(Debug, Clone)]
pub(crate) struct Unit<'a> {
    /// The text that it is part of.
    pub(crate) view: &'a View<'a>,
    /// Range in that text.
    pub(crate) range: Range<usize>,
    pub(crate) place: Place,
    /// Its language: for a fence, by the word behind its opening.
    pub(crate) language: Language,
    /// The headings above it, outermost first: where their texts stand in the view.
    pub(crate) headings: Rc<[Range<usize>]>,
    /// The commands in it, computed on first use.
    commands: OnceCell<Box<Commands>>,
    /// Behaviour of its code, computed on first use.
    reading: OnceCell<Box<Reading>>,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(
        view: &'a View<'a>,
        range: Range<usize>,
        place: Place,
        language: Language,
        headings: Rc<[Range<usize>]>,
    ) -> Self {
        Self { view, range, place, language, headings, commands: OnceCell::new(), reading: OnceCell::new() }
    }

    /// The commands in it, as a shell would read them.
    pub(crate) fn commands(&self) -> &Commands {
        self.commands.get_or_init(|| Box::new(Commands::of(self)))
    }

    /// Its text.
    pub(crate) fn text(&self) -> &'a str {
        self.view.text.get(self.range.clone()).unwrap_or_default()
    }

    /// Returns the behaviour of its code; read once.
    pub(crate) fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| Box::new(fact::read(self)))
    }

    /// Returns the text before it, at most so many bytes.
    pub(crate) fn before(&self, bytes: usize) -> &'a str {
        let mut from = self.range.start.saturating_sub(bytes);
        while !self.view.text.is_char_boundary(from) {
            from += 1;
        }
        self.view.text.get(from..self.range.start).unwrap_or_default()
    }

    /// Returns the text behind it, at most so many bytes.
    pub(crate) fn after(&self, bytes: usize) -> &'a str {
        let mut to = self.range.end.saturating_add(bytes).min(self.view.text.len());
        while !self.view.text.is_char_boundary(to) {
            to -= 1;
        }
        self.view.text.get(self.range.end..to).unwrap_or_default()
    }

    /// Returns true if a place in a paragraph lies in inline code, which is a unit of its own.
    pub(crate) fn is_in_code(&self, at: usize) -> bool {
        /// Maximum distance back to an opening backtick.
        const FAR: usize = 1000;
        let before = self.text().as_bytes().get(at.saturating_sub(FAR)..at).unwrap_or_default();
        self.place == Place::Prose && memchr::memchr_iter(b'`', before).count() % 2 == 1
    }

    /// Returns true if it is a row of a table, where a bar is no pipe.
    pub(crate) fn is_table_row(&self) -> bool {
        self.place == Place::Prose
            && (self.before(3).trim_end_matches(' ').ends_with('|')
                || self.after(3).trim_start_matches(' ').starts_with('|'))
    }

    /// The texts of the headings above it, outermost first.
    pub(crate) fn headings(&self) -> impl Iterator<Item = &'a str> {
        let text: &'a str = &self.view.text;
        self.headings.iter().filter_map(move |range| text.get(range.clone()))
    }
}
