//! A policy file as checked values, each with its place.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use policy::RuleRef;

use crate::problem::Problem;
use crate::source::{Source, Span};

/// A checked value and where it is written.
#[derive(Debug, Clone)]
pub struct Node {
    /// The file.
    pub source: Arc<Source>,
    /// The value's place in it.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A checked value.
#[derive(Debug, Clone)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// Millionths of a US dollar.
    Money(u64),
    /// Bytes.
    Size(u64),
    /// A time.
    Time(Duration),
    /// A text, or one of a few words.
    Text(String),
    /// A list of texts or tables.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A table: names with their places and values. Most names are those of the schema.
pub type Table = BTreeMap<Cow<'static, str>, Entry>;

/// A name in a table, and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The place of the name.
    pub key: Span,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// A flag or a word, as a word.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Flag(true) => Some("true"),
            Value::Flag(false) => Some("false"),
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number behind a count, a size, a time or an amount of money.
    #[must_use]
    pub fn amount(&self) -> Option<u128> {
        match self.value {
            Value::Count(number) | Value::Money(number) | Value::Size(number) => Some(number.into()),
            Value::Time(time) => Some(time.as_nanos()),
            _ => None,
        }
    }

    /// The table, if it is one.
    #[must_use]
    pub fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    /// The entries of a list.
    #[must_use]
    pub fn list(&self) -> &[Self] {
        if let Value::List(list) = &self.value { list } else { &[] }
    }

    /// Puts the entries of another list before the ones of this.
    pub(crate) fn put_before(&mut self, other: Self) {
        if let (Value::List(own), Value::List(mut all)) = (&mut self.value, other.value) {
            all.append(own);
            *own = all;
        }
    }

    /// The texts of a list.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.list().iter().filter_map(|node| Some((node.text()?, node)))
    }

    /// The value as it was written.
    #[must_use]
    pub fn written(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// The place, for a reason.
    #[must_use]
    pub fn place(&self) -> RuleRef {
        self.source.place(self.span.start)
    }

    /// A problem with this value.
    pub(crate) fn problem(&self, problem: Problem, label: impl Into<String>) -> Problem {
        problem.at(&self.source, self.span.clone(), label)
    }
}

/// Follows a dotted path through tables.
#[must_use]
pub(crate) fn find<'a>(table: &'a Table, path: &str) -> Option<&'a Node> {
    match path.split_once('.') {
        None => table.get(path).map(|entry| &entry.node),
        Some((first, rest)) => find(table.get(first)?.node.table()?, rest),
    }
}
