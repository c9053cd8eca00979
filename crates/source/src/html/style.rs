//! Declarations of CSS, as far as they say whether something is seen.

use std::collections::HashMap;

/// The declarations that hold for an element: the last value of each property, unless an earlier one is important.
#[derive(Debug, Clone, Default)]
pub(super) struct Declarations(HashMap<String, Value>);

#[derive(Debug, Clone)]
struct Value {
    text: String,
    important: bool,
}

impl Declarations {
    /// Reads a style, such as the value of the attribute.
    pub(super) fn parse(style: &str) -> Self {
        let mut all = Self::default();
        all.add(&without_comments(style));
        all
    }

    /// Adds declarations in which there are no comments.
    fn add(&mut self, style: &str) {
        for (key, value) in style.split(';').filter_map(|it| it.split_once(':')) {
            let (key, value) = (unescaped(key.trim()), unescaped(value.trim()));
            let (value, important) = match value.split_once('!') {
                Some((value, word)) => (value.trim(), word.trim() == "important"),
                None => (value.as_str(), false),
            };
            self.put(key, Value { text: value.to_owned(), important });
        }
    }

    fn put(&mut self, key: String, value: Value) {
        if !self.0.get(&key).is_some_and(|old| old.important && !value.important) {
            self.0.insert(key, value);
        }
    }

    /// Adds what a more specific rule or a later one says.
    pub(super) fn extend(&mut self, more: &Self) {
        for (key, value) in &more.0 {
            self.put(key.clone(), value.clone());
        }
    }

    /// Adds one declaration.
    pub(super) fn with(&mut self, key: &str, value: &str) {
        self.put(key.to_owned(), Value { text: unescaped(value.trim()), important: false });
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|value| value.text.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.text.as_str()))
    }
}

/// The text without comments. One that is never ended goes to the end.
pub(super) fn without_comments(style: &str) -> String {
    let mut text = String::new();
    let mut rest = style;
    while let Some((before, inside)) = rest.split_once("/*") {
        text.push_str(before);
        rest = inside.split_once("*/").map_or("", |(_, after)| after);
    }
    text + rest
}

/// The text in small letters, with escapes as what they stand for: `d\69splay` is `display`.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c.to_ascii_lowercase());
            continue;
        }
        let mut number = 0_u32;
        let mut digits = 0;
        while let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)).filter(|_| digits < 6) {
            number = number * 16 + digit;
            digits += 1;
            rest.next();
        }
        if digits == 0 {
            out.extend(rest.next().map(|c| c.to_ascii_lowercase()));
            continue;
        }
        out.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER).to_ascii_lowercase());
        rest.next_if(char::is_ascii_whitespace);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_holds_unless_another_is_important() {
        let rows = [
            ("display:none", Some("none")),
            ("d\\69splay : N\\6F ne", Some("none")),
            ("dis/* */play:none", Some("none")),
            ("display:none;display:block", Some("block")),
            ("display:none!important;display:block", Some("none")),
            ("display:block!important;display:none ! important", Some("none")),
            ("\\64 isplay:\\6eone", Some("none")),
            ("color:red", None),
            ("", None),
        ];
        for (style, expected) in rows {
            assert_eq!(Declarations::parse(style).get("display"), expected, "{style}");
        }
    }
}
