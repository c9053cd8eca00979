//! Report of a search.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::hits::{FileHits, Hits, Line, Total};
use super::search::Searched;
use super::{GrepParameters, Mode};
use crate::listing::{self, Page, left_out, line};
use crate::reply::{Reply, Row, Rows};

/// Everything that is told of a search, but for what was found.
pub(super) struct Report<'a> {
    pub(super) parameters: &'a GrepParameters,
    pub(super) page: Page,
    pub(super) searched: Searched,
}

impl Report<'_> {
    pub(super) fn told(&self, hits: Hits) -> Reply {
        let (total, files) = hits.into_parts();
        let mode = self.parameters.mode;
        let (rows, escaped) = match mode {
            Mode::Content => self.content(&files),
            Mode::Files | Mode::Count => (self.by_file(&files), 0),
        };
        let (results, what, key) = match mode {
            Mode::Content => (total.matches, "matches", "matches"),
            Mode::Files => (total.files, "files", "files"),
            Mode::Count => (total.files, "files", "counts"),
        };
        let mut head = String::new();
        if results == 0 {
            head.push_str("no match\n");
        }
        self.summary(&mut head, total);
        let data = json!({
            "total_matches": total.matches,
            "files_with_matches": total.files,
            "files_searched": self.searched.files,
            "files_left_out": {
                "binary": self.searched.binary,
                "unread": self.searched.unread,
                "linked_elsewhere": self.searched.linked,
            },
            "directories_left_out": self.searched.unopened,
        });
        let cut = self.searched.cut;
        Reply::new(head, data).escaped(escaped).rows(Rows {
            key,
            what,
            page: self.page,
            total: results,
            shown: rows,
            all: String::new(),
            cut,
        })
    }

    /// The lines, and how many characters of them were written out.
    fn content(&self, files: &BTreeMap<Vec<u8>, FileHits>) -> (Vec<Row>, u64) {
        let (mut rows, mut escaped) = (Vec::new(), 0);
        let near = [self.parameters.before, self.parameters.after, self.parameters.context];
        let grouped = near.iter().any(|lines| lines.is_some_and(|lines| lines > 0));
        let mut before = 0;
        for (path, hits) in files {
            let path = listing::path(path);
            let mut last = None;
            for (index, shown) in &hits.lines {
                let item = before + index;
                if !(self.page.offset..self.page.end()).contains(&item) {
                    continue;
                }
                // Between lines that do not follow each other stands a mark.
                let apart = grouped && !rows.is_empty() && last != Some(shown.number);
                let mut text = if apart { "--\n".to_owned() } else { String::new() };
                tell(&mut text, &path, shown);
                last = Some(shown.number + shown.text.lines.lines().count().max(1) as u64);
                escaped += shown.text.escaped;
                rows.push(Row { item, text, data: datum(&path, shown) });
            }
            before += hits.count;
        }
        (rows, escaped)
    }

    fn by_file(&self, files: &BTreeMap<Vec<u8>, FileHits>) -> Vec<Row> {
        let counts = self.parameters.mode == Mode::Count;
        let page = self.page;
        let row = |(item, (path, hits)): (usize, (&Vec<u8>, &FileHits))| {
            let path = listing::path(path);
            if counts {
                let text = format!("{path}:{}\n", hits.count);
                return Row { item, text, data: json!({ "path": path, "count": hits.count }) };
            }
            Row { item, text: format!("{path}\n"), data: path.into() }
        };
        files.iter().enumerate().skip(page.offset).take(page.limit).map(row).collect()
    }

    fn summary(&self, text: &mut String, total: Total) {
        let Searched { files, binary, unread, linked, unopened, cut } = self.searched;
        let number = match self.parameters.mode {
            Mode::Files => String::new(),
            Mode::Content | Mode::Count => format!("{} in ", counted(total.matches, "match", "matches")),
        };
        let found = counted(total.files, "file", "files");
        line(text, format_args!("[{number}{found}; {} searched]", counted(files, "file", "files")));
        left_out(text, binary, "binary file was left out", "binary files were left out");
        left_out(text, unread, "file could not be read", "files could not be read");
        let linked_words = [
            "file with other names elsewhere was left out",
            "files with other names elsewhere were left out",
        ];
        left_out(text, linked, linked_words[0], linked_words[1]);
        left_out(
            text,
            unopened,
            "directory could not be looked into",
            "directories could not be looked into",
        );
        if cut {
            text.push_str("[there are too many files: not all were searched; give a `path` further down]\n");
        }
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn tell(text: &mut String, path: &str, shown: &Line) {
    let mark = if shown.matches { ':' } else { '-' };
    let lines = shown.text.lines.split('\n');
    for (number, part) in (shown.number..).zip(lines) {
        line(text, format_args!("{path}{mark}{number}{mark}{part}"));
    }
}

fn datum(path: &str, shown: &Line) -> Value {
    if !shown.matches {
        return json!({ "path": path, "line": shown.number, "text": shown.text.lines, "context": true });
    }
    let places: Vec<_> = shown
        .text
        .places
        .iter()
        .map(
            |place| json!({ "start": place.start, "end": place.end, "text": shown.text.lines[place.clone()] }),
        )
        .collect();
    json!({
        "path": path,
        "line": shown.number,
        "column": shown.text.column,
        "text": shown.text.lines,
        "submatches": places,
    })
}
