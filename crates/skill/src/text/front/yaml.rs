//! YAML from events, with places, without what makes YAML dangerous.

use std::fmt;
use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, Span, StrInput};

use super::{FrontError, MAX_FRONT};

/// Maximum depth of nested lists and mappings.
const MAX_DEPTH: usize = 16;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The byte, counted from zero.
    pub byte: usize,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Position of its beginning.
    pub spot: Spot,
    /// Range in the bytes of the text.
    pub span: Range<usize>,
    /// Its shape.
    pub shape: Shape,
}

/// Shape of a value. Nothing is taken for a number or a date: texts stay texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Keys and values, in the order of the text.
    Mapping(Vec<(String, Spot, Value)>),
}

impl Value {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key, if it is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.shape {
            Shape::Mapping(fields) => {
                fields.iter().find(|(other, ..)| other == key).map(|(_, _, value)| value)
            }
            _ => None,
        }
    }

    /// The texts of a list; a text alone is a list of one.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        match &self.shape {
            Shape::Text(text) => vec![text.clone()],
            Shape::List(list) => list.iter().filter_map(Value::text).map(str::to_owned).collect(),
            Shape::Mapping(_) => Vec::new(),
        }
    }
}

type Fields = Vec<(String, Spot, Value)>;

/// Reads a stretch of a text as one mapping. Also tells where brackets stand, if any do.
pub(super) fn read(text: &str, span: Range<usize>) -> Result<(Fields, Option<Spot>), FrontError> {
    let part = text.get(span.clone()).unwrap_or_default();
    let lines = text.get(..span.start).unwrap_or_default().matches('\n').count();
    if part.len() > MAX_FRONT {
        return Err(FrontError::TooLarge(Spot { byte: span.start, line: lines + 1, column: 1 }));
    }
    let bytes = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
    let places = Places { start: span.start, lines, bytes };
    let mut reader = Reader { parser: Parser::new_from_str(part), text, places, flow: None };
    let fields = reader.document()?;
    Ok((fields, reader.flow))
}

/// From the places of the parser, in characters of a part, to those of the text.
struct Places {
    start: usize,
    lines: usize,
    bytes: Vec<usize>,
}

impl Places {
    fn byte(&self, marker: Marker) -> usize {
        let last = self.bytes.last().copied().unwrap_or(0);
        self.start + self.bytes.get(marker.index()).copied().unwrap_or(last)
    }

    fn spot(&self, marker: Marker) -> Spot {
        Spot { byte: self.byte(marker), line: marker.line() + self.lines, column: marker.col() + 1 }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    places: Places,
    flow: Option<Spot>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), FrontError> {
        match self.parser.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(error)) => Err(FrontError::Syntax {
                message: error.info().to_owned(),
                spot: self.places.spot(*error.marker()),
            }),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn document(&mut self) -> Result<Fields, FrontError> {
        loop {
            let (event, span) = self.next()?;
            let spot = self.places.spot(span.start);
            match event {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                Event::MappingStart(anchor, tag) => {
                    plain(anchor, tag.is_some(), spot)?;
                    self.bracket(spot);
                    let fields = self.mapping(1)?;
                    return self.end().map(|()| fields);
                }
                Event::StreamEnd => return Ok(Vec::new()),
                _ => return Err(FrontError::NotMapping(spot)),
            }
        }
    }

    /// Nothing may follow the first document.
    fn end(&mut self) -> Result<(), FrontError> {
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::DocumentEnd | Event::Nothing => {}
                _ => return Err(FrontError::Documents(self.places.spot(span.start))),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Fields, FrontError> {
        let mut fields: Fields = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let spot = self.places.spot(span.start);
            let key = match event {
                Event::MappingEnd => return Ok(fields),
                Event::Scalar(text, _, anchor, tag) => {
                    plain(anchor, tag.is_some(), spot)?;
                    text.into_owned()
                }
                Event::Alias(_) => return Err(FrontError::Alias(spot)),
                _ => return Err(FrontError::Key(spot)),
            };
            if fields.iter().any(|(other, ..)| *other == key) {
                return Err(FrontError::Twice { key, spot });
            }
            let value = self.next().and_then(|(event, span)| self.value(event, span, depth + 1))?;
            fields.push((key, spot, value));
        }
    }

    fn value(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Value, FrontError> {
        let spot = self.places.spot(span.start);
        if depth > MAX_DEPTH {
            return Err(FrontError::TooDeep(spot));
        }
        let shape = match event {
            Event::Scalar(text, _, anchor, tag) => {
                plain(anchor, tag.is_some(), spot)?;
                // An empty value is written `~` by the parser, and could not be told from a `~`.
                let empty = span.start.index() >= span.end.index();
                Shape::Text(if empty { String::new() } else { text.into_owned() })
            }
            Event::SequenceStart(anchor, tag) => {
                plain(anchor, tag.is_some(), spot)?;
                self.bracket(spot);
                self.list(depth)?
            }
            Event::MappingStart(anchor, tag) => {
                plain(anchor, tag.is_some(), spot)?;
                self.bracket(spot);
                Shape::Mapping(self.mapping(depth)?)
            }
            Event::Alias(_) => return Err(FrontError::Alias(spot)),
            _ => return Err(FrontError::NotMapping(spot)),
        };
        Ok(Value { spot, span: spot.byte..self.places.byte(span.end).max(spot.byte), shape })
    }

    fn list(&mut self, depth: usize) -> Result<Shape, FrontError> {
        let mut list = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Shape::List(list)),
                (event, span) => list.push(self.value(event, span, depth + 1)?),
            }
        }
    }

    /// Notes where the first list or mapping in brackets stands.
    fn bracket(&mut self, spot: Spot) {
        if self.text.as_bytes().get(spot.byte).is_some_and(|byte| matches!(byte, b'{' | b'[')) {
            self.flow.get_or_insert(spot);
        }
    }
}

/// No anchor, and no tag.
fn plain(anchor: usize, tag: bool, spot: Spot) -> Result<(), FrontError> {
    match (anchor, tag) {
        (0, false) => Ok(()),
        (0, true) => Err(FrontError::Tag(spot)),
        _ => Err(FrontError::Alias(spot)),
    }
}
