//! A page of a list, of which the end may not fit.

use ringfence::job::Amount;
use ringfence::source;
use serde_json::{Map, Value};

use crate::listing::Page;
use crate::tool::Extent;

/// Characters for the line that says which part of the list is shown.
const LINE: usize = 200;

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Its name in the data.
    pub(crate) key: &'static str,
    /// Noun for the items.
    pub(crate) what: &'static str,
    pub(crate) page: Page,
    /// Number of items in all.
    pub(crate) total: usize,
    pub(crate) shown: Vec<Row>,
    /// The line above the list where all of it is shown.
    pub(crate) all: String,
    /// True if not all was looked at.
    pub(crate) cut: bool,
}

/// A part of a list that is shown.
#[derive(Debug)]
pub(crate) struct Row {
    /// The place of its item in the list. Rows of one item stand together.
    pub(crate) item: usize,
    /// Its lines, with their ends.
    pub(crate) text: String,
    pub(crate) data: Value,
}

/// Items that fit.
#[derive(Default)]
struct Fitting {
    text: String,
    data: Vec<Value>,
    /// Index of the first item that is not shown.
    next: usize,
    /// Rows of an item that is too long by itself.
    short: Option<Amount>,
}

impl Rows {
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.shown.iter_mut().map(|row| &mut row.text)
    }

    pub(super) fn data_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.shown.iter_mut().map(|row| &mut row.data)
    }

    /// Adds the items that fit, and tells which they are and where to go on.
    pub(super) fn finish(
        self,
        (room, data_room): (usize, usize),
        text: &mut String,
        data: &mut Map<String, Value>,
        extent: &mut Extent,
    ) {
        let fitting = self.fitting(room.saturating_sub(LINE), data_room);
        let whole: u64 = self.shown.iter().map(|row| Amount::of(&row.text).chars).sum();
        extent.left_out += whole.saturating_sub(Amount::of(&fitting.text).chars);
        let next = (fitting.next < self.total).then_some(fitting.next);
        extent.cut |= next.is_some() || self.cut || fitting.short.is_some();
        let mut line = self.line(&fitting, next);
        if let Some(short) = fitting.short {
            let chars = source::count(usize::try_from(short.chars).unwrap_or(usize::MAX), "character");
            line = format!("{line}[the first is too long: {chars} of it left out]\n");
        }
        // The list is the last that is shown: the lines about it stand before it.
        text.insert_str(0, &line);
        if !fitting.text.is_empty() && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&fitting.text);
        data.insert(self.key.to_owned(), fitting.data.into());
        data.insert("truncated".to_owned(), (next.is_some() || self.cut || fitting.short.is_some()).into());
        data.insert("next_offset".to_owned(), next.into());
    }

    fn line(&self, fitting: &Fitting, next: Option<usize>) -> String {
        let Self { what, total, page, .. } = self;
        if page.offset == 0 && next.is_none() {
            return self.all.clone();
        }
        let (first, last) = ((page.offset + 1).min(*total), fitting.next.min(*total));
        let more = next.map_or_else(String::new, |next| format!("; go on with offset: {next}"));
        format!("[{what} {first} to {last} of {total}{more}]\n")
    }

    fn fitting(&self, mut room: usize, mut data_room: usize) -> Fitting {
        let mut out = Fitting { next: self.page.offset, ..Fitting::default() };
        for item in self.shown.chunk_by(|a, b| a.item == b.item) {
            let needs: usize = item.iter().map(|row| row.text.chars().count()).sum();
            let data: usize = item.iter().map(|row| row.data.to_string().chars().count() + 1).sum();
            if needs > room || data > data_room {
                break;
            }
            (room, data_room) = (room - needs, data_room - data);
            out.take(item);
        }
        match self.shown.first() {
            Some(first) if out.data.is_empty() => self.too_long(first.item, room, out),
            // Items that have no rows of their own, behind the last one that has, are shown by it.
            _ if out.data.len() == self.shown.len() => {
                Fitting { next: self.page.end().min(self.total), ..out }
            }
            _ => out,
        }
    }

    /// The beginning of an item that does not fit by itself: without it there would be no way to go on.
    fn too_long(&self, item: usize, room: usize, mut out: Fitting) -> Fitting {
        let rows: String =
            self.shown.iter().take_while(|row| row.item == item).map(|row| row.text.as_str()).collect();
        let kept = source::head(&rows, room);
        out.short = Some(Amount::of(&rows[kept.len()..]));
        kept.clone_into(&mut out.text);
        if !out.text.ends_with('\n') {
            out.text.push('\n');
        }
        out.data = vec![kept.into()];
        out.next = item + 1;
        out
    }
}

impl Fitting {
    fn take(&mut self, rows: &[Row]) {
        for row in rows {
            self.text.push_str(&row.text);
            self.data.push(row.data.clone());
            self.next = row.item + 1;
        }
    }
}
