//! Style sheets of a page: which elements their rules are about.
//!
//! Selectors are read that are about one element: a tag, classes, an identifier, `[hidden]`, and lists of them. Those that are about where an
//! element stands are not, nor are sheets that a page only links.

use std::collections::HashMap;

use html5gum::{StartTag, Token, Tokenizer};

use super::style::{Declarations, unescaped, without_comments};
use super::tags;

/// Number of rules about one name that are kept apart. Further ones count for every element of the name, so that nothing is
/// hidden behind them.
const APART: usize = 16;
/// Blocks within blocks, such as `@media`.
const DEEPEST: usize = 8;

/// The rules of a page that may hide something.
#[derive(Default)]
pub(super) struct Sheet {
    rules: HashMap<Key, Vec<Rule>>,
    /// Number of rules so far.
    order: usize,
    /// True if the page links a sheet that is not read.
    pub(super) linked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Tag(String),
    Class(String),
    Id(String),
    /// `[hidden]`, `*` and the like.
    Any,
}

struct Rule {
    selector: Selector,
    order: usize,
    declarations: Declarations,
}

/// Conditions on an element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Selector {
    tag: Option<String>,
    classes: Vec<String>,
    id: Option<String>,
    hidden: bool,
}

impl Sheet {
    /// Reads the sheets that a page holds.
    pub(super) fn of(page: &str) -> Self {
        let mut sheet = Self::default();
        let mut tokens = Tokenizer::new(page);
        let (mut style, mut templates) = (None::<String>, 0_usize);
        while let Some(Ok(token)) = tokens.next() {
            match token {
                Token::StartTag(tag) => {
                    let known = tags::tag(&tag.name);
                    templates += usize::from(known.name == b"template");
                    sheet.linked |= known.name == b"link" && is_stylesheet(&tag);
                    if known.name == b"style" && templates == 0 && is_for_screens(&tag) {
                        style = Some(String::new());
                    }
                    // As browsers do that run scripts.
                    let state =
                        if known.name == b"noscript" { Some(html5gum::State::RawText) } else { known.state };
                    if let Some(state) = state {
                        tokens.set_state(state);
                    }
                }
                Token::String(text) => {
                    if let Some(style) = &mut style {
                        style.push_str(&String::from_utf8_lossy(&text));
                    }
                }
                Token::EndTag(tag) => match (tag.name.as_slice(), style.take()) {
                    (b"style", Some(text)) => sheet.read(&without_comments(&text), 0),
                    (b"template", open) => (templates, style) = (templates.saturating_sub(1), open),
                    (_, open) => style = open,
                },
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        if let Some(text) = style {
            sheet.read(&without_comments(&text), 0);
        }
        sheet
    }

    /// Reads rules, one after the other.
    fn read(&mut self, text: &str, depth: usize) {
        let mut rest = text;
        while let Some(open) = rest.find(['{', ';']) {
            let (before, block) = rest.split_at(open);
            if let Some(after) = block.strip_prefix(';') {
                rest = after;
                continue;
            }
            let (inside, after) = block_of(&block[1..]);
            let name = unescaped(before.trim());
            if !name.starts_with('@') {
                self.rule(before, inside);
            } else if depth < DEEPEST && holds(&name) {
                self.read(inside, depth + 1);
            }
            rest = after;
        }
    }

    fn rule(&mut self, selectors: &str, inside: &str) {
        let declarations = Declarations::parse(inside);
        if declarations.iter().next().is_none() {
            return;
        }
        for selector in selectors.split(',').filter_map(|text| Selector::parse(text.trim())) {
            self.order += 1;
            let rules = self.rules.entry(selector.key()).or_default();
            let declarations = declarations.clone();
            let rule = Rule { selector, order: self.order, declarations };
            let known = rules.iter().position(|known| known.selector == rule.selector);
            if let Some(known) = known.map(|at| &mut rules[at]) {
                known.declarations.extend(&rule.declarations);
                known.order = rule.order;
            } else if rules.len() < APART {
                rules.push(rule);
            } else if let Some(last) = rules.last_mut() {
                last.selector = last.selector.widened();
                last.declarations.extend(&rule.declarations);
            }
        }
    }

    /// Returns the declarations of all rules about an element.
    pub(super) fn declarations(&self, start: &StartTag<()>) -> Declarations {
        if self.rules.is_empty() {
            return Declarations::default();
        }
        let element = Described::of(start);
        let keys = element
            .classes
            .iter()
            .map(|class| Key::Class(class.clone()))
            .chain(element.id.clone().map(Key::Id))
            .chain([Key::Tag(element.tag.clone()), Key::Any]);
        let rules = keys.filter_map(|key| self.rules.get(&key)).flatten();
        let mut matching: Vec<&Rule> = rules.filter(|rule| rule.selector.matches(&element)).collect();
        matching.sort_by_key(|rule| (rule.selector.weight(), rule.order));
        let mut all = Declarations::default();
        for rule in matching {
            all.extend(&rule.declarations);
        }
        all
    }
}

/// Splits a block from the text after it. One that is never ended goes to the end.
fn block_of(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    let mut quote = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => drop(bytes.next()),
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'\n', Some(_)) => quote = None,
            (byte, Some(open)) if byte == open => quote = None,
            (b'{', None) => depth += 1,
            (b'}', None) => {
                depth -= 1;
                if depth == 0 {
                    return (&text[..at], &text[at + 1..]);
                }
            }
            _ => {}
        }
    }
    (text, "")
}

/// Returns true if what is in a block of this name holds on a screen.
fn holds(name: &str) -> bool {
    match name.strip_prefix("@media") {
        Some(media) => is_screen(media) || media.contains("min-width"),
        None => name.starts_with("@supports") || name.starts_with("@layer") || name.starts_with("@scope"),
    }
}

fn is_screen(media: &str) -> bool {
    let media = media.trim();
    media.is_empty() || media.split(',').any(|it| matches!(it.trim(), "all" | "screen" | "only screen"))
}

fn attribute(start: &StartTag<()>, name: &[u8]) -> Option<String> {
    start.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

fn is_stylesheet(start: &StartTag<()>) -> bool {
    attribute(start, b"rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet"))
}

fn is_for_screens(start: &StartTag<()>) -> bool {
    let css = attribute(start, b"type").is_none_or(|kind| {
        let kind = kind.trim().to_ascii_lowercase();
        kind.is_empty() || kind == "text/css"
    });
    css && attribute(start, b"media").is_none_or(|media| is_screen(&media.to_ascii_lowercase()))
}

/// An element as selectors see it.
struct Described {
    tag: String,
    classes: Vec<String>,
    id: Option<String>,
    hidden: bool,
}

impl Described {
    fn of(start: &StartTag<()>) -> Self {
        let lower = |text: &str| text.to_ascii_lowercase();
        Self {
            tag: lower(&String::from_utf8_lossy(&start.name)),
            classes: attribute(start, b"class")
                .map_or_else(Vec::new, |text| text.split_ascii_whitespace().map(lower).collect()),
            id: attribute(start, b"id").map(|id| lower(&id)),
            hidden: start.attributes.contains_key(b"hidden".as_slice()),
        }
    }
}

impl Selector {
    /// A selector about one element. Letters are compared without regard to case: that hides more rather than less.
    fn parse(text: &str) -> Option<Self> {
        let mut selector = Self::default();
        let mut rest = text;
        let bare = text.strip_prefix('*').unwrap_or(text);
        if bare.len() == text.len() && !text.starts_with(['.', '#', '[', ':']) {
            let (name, after) = name(text);
            // A page whose body is hidden until a script shows it is no page without text.
            if matches!(name.as_str(), "" | "html" | "body" | "main" | "article") {
                return None;
            }
            (selector.tag, rest) = (Some(name), after);
        } else {
            rest = &rest[text.len() - bare.len()..];
        }
        while let Some(sign) = rest.chars().next() {
            let after = &rest[sign.len_utf8()..];
            match sign {
                '.' | '#' => {
                    let (name, after) = name(after);
                    if name.is_empty() {
                        return None;
                    }
                    if sign == '.' {
                        selector.classes.push(name);
                    } else {
                        selector.id = Some(name);
                    }
                    rest = after;
                }
                '[' => {
                    let (inside, after) = after.split_once(']')?;
                    attribute_selector(&unescaped(inside), &mut selector)?;
                    rest = after;
                }
                _ => return None,
            }
        }
        (selector != Self::default()).then_some(selector)
    }

    fn key(&self) -> Key {
        let class = self.classes.first().cloned().map(Key::Class);
        let id = self.id.clone().map(Key::Id);
        class.or(id).or_else(|| self.tag.clone().map(Key::Tag)).unwrap_or(Key::Any)
    }

    /// The same without anything but its key.
    fn widened(&self) -> Self {
        match self.key() {
            Key::Class(class) => Self { classes: vec![class], ..Self::default() },
            Key::Id(id) => Self { id: Some(id), ..Self::default() },
            Key::Tag(tag) => Self { tag: Some(tag), ..Self::default() },
            Key::Any => self.clone(),
        }
    }

    fn matches(&self, element: &Described) -> bool {
        self.tag.as_ref().is_none_or(|tag| *tag == element.tag)
            && self.id.as_ref().is_none_or(|id| element.id.as_ref() == Some(id))
            && (!self.hidden || element.hidden)
            && self.classes.iter().all(|class| element.classes.contains(class))
    }

    /// Returns the sort key of the cascade.
    fn weight(&self) -> (usize, usize, usize) {
        let count = usize::from;
        (count(self.id.is_some()), self.classes.len() + count(self.hidden), count(self.tag.is_some()))
    }
}

/// `[hidden]`, and the spellings of a class or an identifier as an attribute.
fn attribute_selector(inside: &str, selector: &mut Selector) -> Option<()> {
    let (name, value) = inside.split_once('=').unwrap_or((inside, ""));
    let value = value.trim().trim_matches(['"', '\'']).to_owned();
    match name.trim().trim_end_matches(['~', '|', '^', '$', '*']) {
        "hidden" => selector.hidden = true,
        "class" if !value.is_empty() => selector.classes.push(value),
        "id" if !value.is_empty() => selector.id = Some(value),
        _ => return None,
    }
    Some(())
}

/// A name with its escapes resolved, and what follows it.
fn name(text: &str) -> (String, &str) {
    let mut end = text.len();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            // A number ends with a blank, which is part of the escape.
            '\\' => {
                let digits = text[at + 1..].chars().take_while(char::is_ascii_hexdigit).take(6).count();
                let blank = digits > 0 && text[at + 1 + digits..].starts_with(' ');
                for _ in 0..digits.max(1) + usize::from(blank) {
                    chars.next();
                }
            }
            '.' | '#' | '[' | ':' | ' ' | '>' | '+' | '~' | '\t' | '\n' => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    (unescaped(&text[..end]), &text[end..])
}
