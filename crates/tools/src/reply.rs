//! Reply of a tool, and the one place in which it is made visible and cut.
//!
//! A tool hands over what it knows in parts, with how much of it there is. Nothing is cut before, so every number is true: what is shown and
//! what is left out are the whole.
//!
//! **Invariant.** The first line is the tool's own. What comes from outside follows it, and what is between two lines of a frame cannot end it.
//! **Invariant.** Nothing that cannot be seen is passed on: it is written out, and counted.
//! **Invariant.** Text and data tell the same: the same rows, the same numbers.

mod rows;
mod text;

use ringfence::source::{self, Boundary, Profile};
use serde_json::{Map, Value, json};

pub(crate) use rows::{Row, Rows};
pub(crate) use text::{Keep, TextBody};

use crate::tool::{Extent, Output};

/// Number of characters of data for programs for each character of text.
const DATA: usize = 4;
/// Characters that the tool's own lines may have.
const HEAD: usize = 6_000;

/// Reply of a tool.
#[derive(Debug)]
pub struct Reply {
    /// The tool's own words.
    head: String,
    texts: Vec<TextBody>,
    rows: Option<Rows>,
    data: Map<String, Value>,
    /// Characters that were written out already.
    escaped: u64,
    /// Characters and bytes that are told about and not shown.
    missing: u64,
}

impl Reply {
    /// A reply with the tool's own words, and the same for programs.
    pub fn new(head: impl Into<String>, data: Value) -> Self {
        let data = if let Value::Object(data) = data { data } else { Map::new() };
        Self { head: head.into(), texts: Vec::new(), rows: None, data, escaped: 0, missing: 0 }
    }

    /// Adds a text from outside, such as the content of a file: the model reads it between two lines that the text cannot imitate,
    /// `data` has it under `name`, and the profile of the tool bounds it.
    #[must_use]
    pub fn untrusted(self, name: &'static str, text: impl Into<String>) -> Self {
        self.text(TextBody::whole(name, text.into(), Keep::Head).framed(name))
    }

    /// Adds a text.
    pub(crate) fn text(mut self, body: TextBody) -> Self {
        self.texts.push(body);
        self
    }

    /// Says of a stream that it is no text.
    pub(crate) fn not_text(mut self, key: &'static str, bytes: u64) -> Self {
        self.data.insert(format!("{key}_not_text"), true.into());
        self.missing += bytes;
        self
    }

    /// Says that characters are missing, which the text says itself.
    pub(crate) fn left_out(mut self, characters: u64) -> Self {
        self.missing += characters;
        self
    }

    /// Adds something for programs.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.data.insert(key.to_owned(), value);
        self
    }

    /// Adds a list.
    pub(crate) fn rows(mut self, rows: Rows) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Says that characters were written out already.
    pub(crate) fn escaped(mut self, characters: u64) -> Self {
        self.escaped += characters;
        self
    }

    /// Makes everything visible and cuts it to what the profile of the tool permits.
    pub(crate) fn finish(mut self, profile: &Profile) -> Output {
        let escaped = self.make_visible();
        let (head, head_cut) = self.head(profile);
        let room = profile.max_chars().saturating_sub(head.chars().count() + self.lines_around());
        let shares = shares(&self.texts, room);
        let parts: Vec<_> = self.texts.iter().zip(&shares).map(|(text, share)| text.cut(*share)).collect();
        let bodies: Vec<&str> = self.texts.iter().flat_map(TextBody::pieces).collect();
        let boundary = Boundary::around(&bodies);
        let (mut text, mut extent) = (head, Extent::default());
        (extent.cut, extent.left_out) = (head_cut || self.missing > 0, self.missing);
        for (body, part) in self.texts.iter().zip(&parts) {
            let shown = part.rendered(&boundary, body);
            extent.left_out += part.left_out.chars;
            extent.cut |= part.left_out.chars > 0;
            body.tell(&mut self.data, &shown, part);
            body.append(&mut text, &boundary, &shown);
        }
        if let Some(rows) = self.rows.take() {
            let room = profile.max_chars().saturating_sub(text.chars().count());
            let data = profile.max_chars() * DATA - characters(&self.data).min(profile.max_chars() * DATA);
            rows.finish((room, data), &mut text, &mut self.data, &mut extent);
        }
        if escaped > 0 {
            self.data.insert("escaped".to_owned(), escaped.into());
        }
        let data = bounded(self.data, profile, &mut extent);
        extent.returned_chars = text.chars().count() as u64;
        Output { text, data, extent }
    }

    /// Writes out what cannot be seen, and returns how many characters that were.
    fn make_visible(&mut self) -> u64 {
        let mut text = 0;
        let mut visible = |it: &mut String| {
            let (shown, escaped) = source::visible(it);
            text += escaped;
            *it = shown;
        };
        visible(&mut self.head);
        self.texts.iter_mut().flat_map(TextBody::pieces_mut).for_each(&mut visible);
        self.rows.iter_mut().flat_map(Rows::texts_mut).for_each(&mut visible);
        let mut data: u64 = self.data.values_mut().map(visible_value).sum();
        data += self.rows.iter_mut().flat_map(Rows::data_mut).map(visible_value).sum::<u64>();
        // The same characters stand in both.
        self.escaped + text.max(data)
    }

    fn head(&self, profile: &Profile) -> (String, bool) {
        let most = HEAD.min(profile.max_chars() / 2);
        let kept = source::head(&self.head, most);
        let cut = kept.len() < self.head.len();
        let mark = if cut { "[...]" } else { "" };
        (format!("{kept}{mark}"), cut)
    }

    fn lines_around(&self) -> usize {
        self.texts.len() * Boundary::LONGEST
    }
}

/// A reply in the tool's own words, without data.
impl From<String> for Reply {
    fn from(head: String) -> Self {
        Self::new(head, Value::Null)
    }
}

/// Divides the room among texts: those that need little get it, the others share the rest.
fn shares(texts: &[TextBody], room: usize) -> Vec<usize> {
    let needs: Vec<usize> = texts.iter().map(TextBody::needs).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| needs[*at]);
    let (mut shares, mut left) = (vec![0; texts.len()], room);
    for (done, at) in order.into_iter().enumerate() {
        shares[at] = needs[at].min(left / (texts.len() - done));
        left -= shares[at];
    }
    shares
}

fn visible_value(value: &mut Value) -> u64 {
    match value {
        Value::String(text) => {
            // The ends of lines stay what they are: they are data, and JSON writes them out.
            let mut escaped = 0;
            let pieces: Vec<String> = text
                .split('\r')
                .map(|piece| {
                    let (shown, more) = source::visible(piece);
                    escaped += more;
                    shown
                })
                .collect();
            if escaped > 0 {
                *text = pieces.join("\r");
            }
            escaped
        }
        Value::Array(values) => values.iter_mut().map(visible_value).sum(),
        Value::Object(values) => values.values_mut().map(visible_value).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn characters(data: &Map<String, Value>) -> usize {
    serde_json::to_string(data).map_or(0, |text| text.chars().count())
}

/// The data, where it is still too long as JSON that says what is missing. Pictures have a bound of their own.
fn bounded(mut data: Map<String, Value>, profile: &Profile, extent: &mut Extent) -> Value {
    let most = profile.max_chars() * DATA;
    let image = data.get("kind").is_some_and(|kind| kind == "image");
    if !image && characters(&data) > most {
        extent.cut = true;
        let limits = Profile::new(profile.max_bytes(), most - 30, source::Strategy::Structured, false);
        let cut = source::cap(&Value::Object(data).to_string(), &limits).text;
        // JSON that could not be cut as JSON is not returned as JSON.
        data = match serde_json::from_str(&cut) {
            Ok(Value::Object(data)) => data,
            _ => json!({ "cut": cut }).as_object().cloned().unwrap_or_default(),
        };
    }
    if extent.cut {
        data.insert("truncated".to_owned(), true.into());
    }
    Value::Object(data)
}

#[cfg(test)]
mod tests;
