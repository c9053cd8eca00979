//! JSON with the place of every value, under a budget.
//!
//! Settings of editors have comments and commas too many; a reader that refuses them sees nothing where the editor sees a command. So both
//! are read over, and remembered. A name that stands twice in an object is kept twice: who scans has to see both.

pub(crate) mod texts;

use std::borrow::Cow;
use std::ops::Range;

use crate::text::language::Language;
use crate::text::map::Map;
use crate::text::unit::Unit;

/// Maximum depth of nested objects and lists.
pub(crate) const MAX_DEPTH: usize = 64;

/// Maximum number of values of a document.
const MAX_NODES: usize = 200_000;

/// Maximum length of a document.
const MAX_BYTES: usize = 4 << 20;

/// A document that was read.
#[derive(Debug, Clone)]
pub(crate) struct Document<'a> {
    pub(crate) root: Node<'a>,
    /// Positions of names that stood in the same object before.
    pub(crate) twice: Vec<Range<usize>>,
    /// Position of the first thing that only settings of editors may have: a comment, a comma too many.
    pub(crate) loose: Option<usize>,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    /// With its quotes, if it is a text.
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind<'a>,
}

/// Kind of a value.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Object(Vec<(Name<'a>, Node<'a>)>),
}

/// The name of a value in an object.
#[derive(Debug, Clone)]
pub(crate) struct Name<'a> {
    pub(crate) span: Range<usize>,
    pub(crate) text: Cow<'a, str>,
}

/// Reason why a document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonError {
    TooLarge,
    TooDeep(usize),
    TooMany(usize),
    Syntax(usize),
}

/// Reads a document.
pub(crate) fn read(text: &str) -> Result<Document<'_>, JsonError> {
    if text.len() > MAX_BYTES {
        return Err(JsonError::TooLarge);
    }
    let mut reader = Reader { text, at: 0, nodes: 0, twice: Vec::new(), loose: None };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let root = reader.value(0)?;
    reader.space()?;
    if reader.at < text.len() {
        return Err(JsonError::Syntax(reader.at));
    }
    Ok(Document { root, twice: reader.twice, loose: reader.loose })
}

/// The document that a unit is, if it is written in JSON, or in nothing in particular and begins like it.
pub(crate) fn in_unit<'a>(unit: &Unit<'a>) -> Option<Document<'a>> {
    let text: &'a str = unit.text();
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with(['{', '[', '/']);
    (matches!(unit.language, Language::Json | Language::Text) && begins).then(|| read(text).ok())?
}

impl<'a> Node<'a> {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values of a list; none of anything else.
    pub(crate) fn list(&self) -> &[Node<'a>] {
        match &self.kind {
            Kind::List(list) => list,
            _ => &[],
        }
    }

    /// The names and values of an object; none of anything else.
    pub(crate) fn object(&self) -> &[(Name<'a>, Node<'a>)] {
        match &self.kind {
            Kind::Object(object) => object,
            _ => &[],
        }
    }

    /// The values with a name, in any case of its letters; more than one where the name stands twice.
    pub(crate) fn all<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'n Node<'a>> {
        self.object()
            .iter()
            .filter(move |(other, _)| other.text.eq_ignore_ascii_case(name))
            .map(|(_, node)| node)
    }

    /// The first value with exactly this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.object().iter().find(|(other, _)| other.text == name).map(|(_, node)| node)
    }

    /// The value with exactly this name, if it is a text.
    pub(crate) fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    /// Calls back for this value and everything in it, the outer first.
    pub(crate) fn walk<'n>(&'n self, visit: &mut dyn FnMut(&'n Node<'a>)) {
        visit(self);
        for node in self.list() {
            node.walk(visit);
        }
        for (_, node) in self.object() {
            node.walk(visit);
        }
    }

    /// The place of a text without its quotes.
    pub(crate) fn inside(&self) -> Range<usize> {
        match self.kind {
            Kind::Text(_) => self.span.start + 1..self.span.end.saturating_sub(1).max(self.span.start + 1),
            _ => self.span.clone(),
        }
    }

    /// The way from the text of a value back to the document.
    pub(crate) fn map(&self, document: &str) -> Map {
        let inside = self.inside();
        let raw = document.get(inside.clone()).unwrap_or_default();
        if !raw.contains('\\') {
            return Map::part(inside);
        }
        decoded(raw, inside.start).map_or_else(|| Map::whole(inside.clone()), |(_, map)| map)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    nodes: usize,
    twice: Vec<Range<usize>>,
    loose: Option<usize>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Steps over white space and comments.
    fn space(&mut self) -> Result<(), JsonError> {
        loop {
            while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            if self.peek() != Some(b'/') {
                return Ok(());
            }
            let rest = self.rest().as_bytes();
            let length = match rest.get(1) {
                Some(b'/') => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                Some(b'*') => memchr::memmem::find(&rest[2..], b"*/")
                    .map(|at| at + 4)
                    .ok_or(JsonError::Syntax(self.at))?,
                _ => return Err(JsonError::Syntax(self.at)),
            };
            self.loose.get_or_insert(self.at);
            self.at += length;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, JsonError> {
        self.space()?;
        let start = self.at;
        self.nodes += 1;
        if depth > MAX_DEPTH {
            return Err(JsonError::TooDeep(start));
        }
        if self.nodes > MAX_NODES {
            return Err(JsonError::TooMany(start));
        }
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            _ => self.plain()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, JsonError> {
        self.at += 1;
        let mut object = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while !self.ends(b'}', object.is_empty())? {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(JsonError::Syntax(self.at));
            }
            let name = Name { text: self.string()?, span: start..self.at };
            if !seen.insert(name.text.clone()) {
                self.twice.push(name.span.clone());
            }
            self.space()?;
            if self.peek() != Some(b':') {
                return Err(JsonError::Syntax(self.at));
            }
            self.at += 1;
            object.push((name, self.value(depth + 1)?));
        }
        Ok(Kind::Object(object))
    }

    fn list(&mut self, depth: usize) -> Result<Kind<'a>, JsonError> {
        self.at += 1;
        let mut list = Vec::new();
        while !self.ends(b']', list.is_empty())? {
            list.push(self.value(depth + 1)?);
        }
        Ok(Kind::List(list))
    }

    /// Returns true if an object or a list ends here; if not, its next part begins here.
    fn ends(&mut self, end: u8, first: bool) -> Result<bool, JsonError> {
        self.space()?;
        if !first && self.peek() == Some(b',') {
            let comma = self.at;
            self.at += 1;
            self.space()?;
            if self.peek() == Some(end) {
                self.loose.get_or_insert(comma);
            } else {
                return Ok(false);
            }
        }
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(true);
        }
        if first && self.peek().is_some() { Ok(false) } else { Err(JsonError::Syntax(self.at)) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            let step = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest));
            at += step.ok_or(JsonError::Syntax(self.at))?;
            if bytes[at] == b'"' {
                break;
            }
            at += 2;
        }
        let raw = self.text.get(start..at).ok_or(JsonError::Syntax(start))?;
        self.at = at + 1;
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(raw));
        }
        decoded(raw, start).map(|(text, _)| Cow::Owned(text)).ok_or(JsonError::Syntax(start))
    }

    fn plain(&mut self) -> Result<Kind<'a>, JsonError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = self.rest().find(|c| !fits(c)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        let kind = match word {
            "null" => Kind::Null,
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            _ if word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                && word.parse::<f64>().is_ok() =>
            {
                Kind::Number(word)
            }
            _ => return Err(JsonError::Syntax(self.at)),
        };
        self.at += length;
        Ok(kind)
    }
}

/// A text without its escapes, and the way back. `None` where an escape means nothing.
fn decoded(raw: &str, start: usize) -> Option<(String, Map)> {
    let (mut text, mut map, mut at) = (String::with_capacity(raw.len()), Map::default(), 0);
    while at < raw.len() {
        let plain = raw[at..].find('\\').unwrap_or(raw.len() - at);
        if plain > 0 {
            map.copied(text.len(), start + at..start + at + plain);
            text.push_str(&raw[at..at + plain]);
            at += plain;
            continue;
        }
        let (character, length) = escape(&raw[at..])?;
        map.made(text.len(), start + at..start + at + length);
        text.push(character);
        at += length;
    }
    Some((text, map))
}

/// Returns the character of an escape at the beginning of a text, and its length. Half of a pair gives the replacement character.
fn escape(text: &str) -> Option<(char, usize)> {
    let simple = |character| Some((character, 2));
    match text.as_bytes().get(1)? {
        b'"' => simple('"'),
        b'\\' => simple('\\'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'u' => {
            let first = unit(text)?;
            let second = text.get(6..).and_then(unit);
            let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
            match (char::from_u32(first.into()), pair) {
                (Some(character), _) => Some((character, 6)),
                (None, Some(character)) => Some((character, 12)),
                (None, None) => Some((char::REPLACEMENT_CHARACTER, 6)),
            }
        }
        _ => None,
    }
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_json_and_what_is_not() {
        let rows: [(&str, Result<(), JsonError>); 14] = [
            ("{\"a\": [1, -2.5e3, true, null, \"x\\n\\u00e9\"]}", Ok(())),
            ("// said\n{\"a\": 1, /* more */ \"b\": [1,],}", Ok(())),
            ("\u{feff}[]", Ok(())),
            ("\"\\ud83d\\ude00\"", Ok(())),
            ("", Err(JsonError::Syntax(0))),
            ("{", Err(JsonError::Syntax(1))),
            ("{\"a\"}", Err(JsonError::Syntax(4))),
            ("[1 2]", Err(JsonError::Syntax(3))),
            ("[,]", Err(JsonError::Syntax(1))),
            ("\"\\x\"", Err(JsonError::Syntax(1))),
            ("\"abc", Err(JsonError::Syntax(0))),
            ("[1] 2", Err(JsonError::Syntax(4))),
            ("[nul]", Err(JsonError::Syntax(1))),
            ("/* [1]", Err(JsonError::Syntax(0))),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text).map(|_| ()), expected, "{text}");
        }
        assert_eq!(read(&"[".repeat(100)).map(|_| ()), Err(JsonError::TooDeep(65)));
    }

    #[test]
    fn a_text_leads_back_to_its_bytes() {
        let text = "{\"a\": \"x\\ty\\ud83d\\ude00z\"}";
        let document = read(text).unwrap();
        let node = document.root.get("a").unwrap();
        assert_eq!(node.text(), Some("x\ty\u{1f600}z"));
        let map = node.map(text);
        assert_eq!(&text[map.back(1..2)], "\\t");
        assert_eq!(&text[map.back(3..7)], "\\ud83d\\ude00");
        assert_eq!(&text[map.back(7..8)], "z");
    }

    #[test]
    fn a_name_that_stands_twice_is_told_and_kept() {
        let document = read("{\"a\": 1, \"a\": 2}").unwrap();
        assert_eq!(document.twice.first(), Some(&(9..12)));
        assert_eq!(document.root.all("a").count(), 2);
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(text in "[\\[\\]{}\",:\\\\/*u0-9a-f\u{e9}\n-]{0,60}") {
            if let Ok(document) = read(&text) {
                document.root.walk(&mut |node| {
                    assert!(node.map(&text).back(0..1).start <= text.len());
                    assert!(text.get(node.span.clone()).is_some());
                });
            }
        }
    }
}
