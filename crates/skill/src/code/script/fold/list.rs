//! Lists of constants: their items, parts of them, and letters written as numbers.

use super::super::{Script, TokenKind, Tokens};

/// Maximum number of tokens of a list that are looked at.
const MAX_TOKENS: usize = 8192;

impl Script<'_> {
    /// The items of a list that is written out: `["a", "b"]`, `(1, 2)`.
    pub(in super::super) fn listed_items(&self, tokens: &Tokens) -> Option<Vec<String>> {
        let opens = matches!(self.kind(tokens.start), TokenKind::Symbol(b'[' | b'('));
        if !opens || tokens.len() > MAX_TOKENS || self.mate(tokens.start) + 1 != tokens.end {
            return None;
        }
        let parts = self.parts(tokens.start + 1..tokens.end - 1);
        let item = |part: &Tokens| match self.kind(part.start) {
            TokenKind::Text { raw } if part.len() == 1 => Some(super::unescaped(self.token(part.start), raw)),
            TokenKind::Number if part.len() == 1 => Some(self.token(part.start).to_owned()),
            _ => None,
        };
        let items: Option<Vec<String>> = parts.iter().map(item).collect();
        items.filter(|items| items.len() > 1 || self.kind(tokens.start) == TokenKind::Symbol(b'['))
    }

    /// `name[1]`, as a text.
    pub(super) fn item(&self, name: &str, key: &Tokens) -> Option<String> {
        let items = self.lists.get(name)?;
        match (key.len(), self.kind(key.start)) {
            (1, TokenKind::Number) => items.get(self.token(key.start).parse::<usize>().ok()?).cloned(),
            (2, TokenKind::Symbol(b'-')) => {
                let back: usize = self.token(key.start + 1).parse().ok()?;
                items.get(items.len().checked_sub(back)?).cloned()
            }
            _ => None,
        }
    }

    /// The items that a range stands for: a list, its name, a part of it, letters made of its numbers.
    pub(super) fn items(&self, tokens: &Tokens, depth: u32) -> Option<Vec<String>> {
        if depth > super::MAX_DEPTH || tokens.is_empty() {
            return None;
        }
        if let Some(items) = self.listed_items(tokens) {
            return Some(items);
        }
        let first = self.token(tokens.start);
        if let Some(items) = self.lists.get(first) {
            return if tokens.len() == 1 { Some(items.clone()) } else { self.part_of_list(items, tokens) };
        }
        if self.is_symbol(tokens.start + 1, b'(') && self.mate(tokens.start + 1) + 1 == tokens.end {
            let args = self.parts(tokens.start + 2..tokens.end - 1);
            return match (first, args.as_slice()) {
                ("reversed", [list]) => Some(self.items(list, depth + 1)?.into_iter().rev().collect()),
                ("list" | "tuple", [list]) => self.items(list, depth + 1),
                ("map", [how, list]) if self.source(how) == "chr" => letters(&self.items(list, depth + 1)?),
                _ => None,
            };
        }
        // `chr(c) for c in LIST`
        let inner = if self.is_symbol(tokens.start, b'[') {
            tokens.start + 1..tokens.end - 1
        } else {
            tokens.clone()
        };
        let turned = self.token(inner.start) == "chr" && self.mate(inner.start + 1) == inner.start + 3;
        let loops = self.token(inner.start + 4) == "for" && self.token(inner.start + 6) == "in";
        if turned && loops {
            return letters(&self.items(&(inner.start + 7..inner.end), depth + 1)?);
        }
        None
    }

    /// `LIST[1:3]`, `LIST[::-1]`.
    fn part_of_list(&self, items: &[String], tokens: &Tokens) -> Option<Vec<String>> {
        let bracket = self.is_symbol(tokens.start + 1, b'[') && self.mate(tokens.start + 1) + 1 == tokens.end;
        let key = self.source(&(tokens.start + 2..tokens.end - 1));
        if !bracket || key.is_empty() {
            return None;
        }
        if key == "::-1" {
            return Some(items.iter().rev().cloned().collect());
        }
        let (from, to) = key.split_once(':')?;
        let from = if from.is_empty() { 0 } else { from.trim().parse().ok()? };
        let to = if to.is_empty() { items.len() } else { to.trim().parse().ok()? };
        items.get(from..to.min(items.len())).map(<[String]>::to_vec)
    }

    /// A list of numbers as the text that its letters make.
    pub(super) fn letters(&self, tokens: &Tokens, depth: u32) -> Option<String> {
        let items = self.items(tokens, depth)?;
        letters(&items).map(|letters| letters.concat())
    }
}

/// Numbers as letters.
fn letters(numbers: &[String]) -> Option<Vec<String>> {
    let letter = |number: &String| {
        let value = match number.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(value).map(|c| c.to_string())
    };
    numbers.iter().map(letter).collect()
}
