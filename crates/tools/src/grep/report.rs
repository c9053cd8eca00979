//! What a search tells.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::hits::{FileHits, Hits, Line, Total};
use super::search::Searched;
use super::{GrepParameters, Mode};
use crate::listing::{self, Page, left_out, line};
use crate::tool::Output;

/// Everything that is told of a search, but for what was found.
pub(super) struct Report<'a> {
    pub(super) parameters: &'a GrepParameters,
    pub(super) page: Page,
    pub(super) searched: Searched,
}

impl Report<'_> {
    pub(super) fn told(&self, hits: Hits) -> Output {
        let (total, files) = hits.into_parts();
        let (mut text, key, shown) = match self.parameters.mode {
            Mode::Content => self.content(&files),
            Mode::Files | Mode::Count => self.by_file(&files),
        };
        let (results, what) = match self.parameters.mode {
            Mode::Content => (total.matches, "matches"),
            Mode::Files | Mode::Count => (total.files, "files"),
        };
        if results == 0 {
            text.push_str("no match\n");
        }
        self.page.told(&mut text, results, what);
        self.summary(&mut text, total);
        let data = json!({
            key: shown,
            "total_matches": total.matches,
            "files_with_matches": total.files,
            "files_searched": self.searched.files,
            "files_left_out": {
                "binary": self.searched.binary,
                "unread": self.searched.unread,
                "linked_elsewhere": self.searched.linked,
            },
            "directories_left_out": self.searched.unopened,
            "truncated": self.searched.cut || self.page.next(results).is_some(),
            "next_offset": self.page.next(results),
        });
        Output { text, data }
    }

    fn content(&self, files: &BTreeMap<Vec<u8>, FileHits>) -> (String, &'static str, Value) {
        let (mut text, mut matches) = (String::new(), Vec::new());
        let near = [self.parameters.before, self.parameters.after, self.parameters.context];
        let grouped = near.iter().any(|lines| lines.is_some_and(|lines| lines > 0));
        let mut before = 0;
        for (path, hits) in files {
            let path = listing::path(path);
            let mut last = None;
            for (index, shown) in &hits.lines {
                if !(self.page.offset..self.page.end()).contains(&(before + index)) {
                    continue;
                }
                // Between lines that do not follow each other stands a mark.
                if grouped && !text.is_empty() && last != Some(shown.number) {
                    text.push_str("--\n");
                }
                tell(&mut text, &path, shown);
                last = Some(shown.number + shown.text.lines.lines().count().max(1) as u64);
                matches.push(datum(&path, shown));
            }
            before += hits.count;
        }
        (text, "matches", matches.into())
    }

    fn by_file(&self, files: &BTreeMap<Vec<u8>, FileHits>) -> (String, &'static str, Value) {
        let (mut text, mut data) = (String::new(), Vec::new());
        let counts = self.parameters.mode == Mode::Count;
        for (path, hits) in files.iter().skip(self.page.offset).take(self.page.limit) {
            let path = listing::path(path);
            if counts {
                line(&mut text, format_args!("{path}:{}", hits.count));
                data.push(json!({ "path": path, "count": hits.count }));
            } else {
                line(&mut text, format_args!("{path}"));
                data.push(path.into());
            }
        }
        (text, if counts { "counts" } else { "files" }, data.into())
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
