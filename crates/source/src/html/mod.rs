//! HTML -> the text that a reader would see.
//!
//! There is no tree of the page: one walk over its tags, with the elements that are open. So a hostile page costs what its
//! length costs.

mod color;
mod hidden;
mod open;
mod sheet;
mod style;
mod tags;
mod write;

use html5gum::{StartTag, State, Token, Tokenizer};

use crate::profile::{Profile, Strategy};
use hidden::Behind;
use open::{Element, Open};
use sheet::Sheet;
use tags::{Meaning, Tag, Unseen};
use write::{Writer, squeeze};

/// The longest address of a link that is shown; longer ones are payloads rather than places.
const LONGEST_LINK: usize = 1000;

/// Readable content of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The title, on one line.
    pub title: Option<String>,
    /// The text: headings with `#`, items with `-`, links as `text (url)`, code between fences.
    pub text: String,
}

impl Page {
    /// The text, with the title above it where it does not begin with a heading of its own.
    #[must_use]
    pub fn titled(&self) -> String {
        match &self.title {
            Some(title) if !self.text.starts_with("# ") => {
                format!("# {title}\n\n{}", self.text).trim_end().to_owned()
            }
            _ => self.text.clone(),
        }
    }
}

/// Reads a page. With [`Strategy::Readability`] navigation and the like are left out, and everything but the main part
/// where a page has one. What hides is left out where the profile says so.
///
/// Declarations of the page itself count as hidden: attributes, inline styles and the simple rules of the style sheets in
/// it. Sheets that it links are not read.
#[must_use]
pub fn html(text: &str, profile: &Profile) -> Page {
    let sheet = if profile.strip_hidden() { Sheet::of(text) } else { Sheet::default() };
    let mut walk = Walk {
        strip: profile.strip_hidden(),
        page: Behind::page(&sheet),
        sheet,
        open: Open::default(),
        out: Writer::new(profile.strip_hidden()),
        title: None,
    };
    let mut tokens = Tokenizer::new(text);
    while let Some(Ok(token)) = tokens.next() {
        match token {
            Token::StartTag(tag) => {
                if let Some(state) = walk.start(&tag) {
                    tokens.set_state(state);
                }
            }
            Token::EndTag(tag) => walk.end(&tag.name),
            Token::String(text) => walk.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    walk.finish(profile.strategy() == Strategy::Readability)
}

struct Walk {
    strip: bool,
    sheet: Sheet,
    /// Background of the page.
    page: Behind,
    open: Open,
    out: Writer,
    title: Option<String>,
}

impl Walk {
    /// An element begins. Answers how what is in it is to be read, where that is not usual.
    fn start(&mut self, start: &StartTag<()>) -> Option<State> {
        let tag = tags::tag(&start.name);
        // HTML within a drawing ends the drawing.
        while tag.ends_drawing() && self.open.is_drawing() {
            self.close();
        }
        while self.open.last_special().is_some_and(|last| tag.closes(last)) {
            self.close_special();
        }
        let behind = self.open.behind().unwrap_or(self.page);
        let (hidden, behind) = if self.strip && !self.open.is_dropping() {
            hidden::look(start, &self.sheet, behind)
        } else {
            (false, behind)
        };
        if !self.open.is_dropping() && !hidden {
            self.replaced(&tag, start);
        }
        let foreign = self.open.is_foreign() || open::is_foreign(&start.name);
        if tag.is_void() || foreign && start.self_closing {
            return None;
        }
        let dropped = !self.open.is_dropping() && (hidden || self.is_dropped(&tag, start));
        let meaning = if self.open.is_dropping() || dropped { Meaning::Inline } else { meaning(&tag, start) };
        self.enter(&meaning, start);
        self.open.push(Element { name: start.name.to_vec(), special: tag.special, meaning, dropped, behind });
        if foreign && tag.state != Some(State::ScriptData) { None } else { self.state(&tag) }
    }

    /// Writes the replacement of elements without content.
    fn replaced(&mut self, tag: &Tag, start: &StartTag<()>) {
        match tag.name {
            b"br" => self.out.line(),
            b"hr" => self.out.rule(),
            b"img" => {
                if let Some(alt) = attribute(start, b"alt").filter(|alt| !alt.trim().is_empty()) {
                    self.out.text(&format!(" [image: {}] ", squeeze(&alt)));
                }
            }
            _ => {}
        }
    }

    fn is_dropped(&self, tag: &Tag, start: &StartTag<()>) -> bool {
        match tag.unseen {
            Some(Unseen::Always) => true,
            Some(Unseen::Hidden) if self.strip => true,
            Some(Unseen::Closed) if self.strip => !start.attributes.contains_key(b"open".as_slice()),
            _ => false,
        }
    }

    fn enter(&mut self, meaning: &Meaning, start: &StartTag<()>) {
        match meaning {
            Meaning::Inline | Meaning::Title => {}
            Meaning::Block => self.out.block(),
            Meaning::Heading(level) => self.out.heading(*level),
            Meaning::List { ordered } => {
                let first = attribute(start, b"start").and_then(|it| it.trim().parse().ok()).unwrap_or(1);
                self.out.list(ordered.then_some(first));
            }
            Meaning::Item => self.out.item(),
            Meaning::Quote => self.out.quote(),
            Meaning::Pre => self.out.pre(),
            Meaning::Code => self.out.tick(),
            Meaning::Cell => self.out.cell(),
            Meaning::Row => self.out.row(),
            Meaning::Link(_) => self.out.link(),
            Meaning::Region(region) => self.out.region(*region),
        }
    }

    fn leave(&mut self, element: Element) {
        match element.meaning {
            Meaning::Inline | Meaning::Title => {}
            Meaning::Cell => self.out.text(" "),
            Meaning::Block | Meaning::Heading(_) | Meaning::Item | Meaning::Row => self.out.block(),
            Meaning::List { .. } => self.out.end_list(),
            Meaning::Quote => self.out.end_quote(),
            Meaning::Pre => self.out.end_pre(),
            Meaning::Code => self.out.tick(),
            Meaning::Link(href) => self.out.end_link(&href),
            Meaning::Region(region) => self.out.end_region(region),
        }
    }

    fn state(&self, tag: &Tag) -> Option<State> {
        // A browser with scripts reads this as one text; without, as elements.
        if tag.name == b"noscript" { self.strip.then_some(State::RawText) } else { tag.state }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(depth) = self.open.matching(name) {
            while self.open.depth() > depth {
                self.close();
            }
        } else if name == b"p" && !self.open.is_dropping() {
            self.out.block();
        }
    }

    fn close(&mut self) {
        if let Some(element) = self.open.pop() {
            self.leave(element);
        }
    }

    /// Closes everything down to the last special element, and that one.
    fn close_special(&mut self) {
        while let Some(element) = self.open.pop() {
            let last = element.special;
            self.leave(element);
            if last {
                break;
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.open.is_dropping() {
            return;
        }
        match self.open.innermost() {
            Some(Meaning::Title) => self.title = self.title.take().or_else(|| Some(self.out.clean(text))),
            _ => self.out.text(text),
        }
    }

    fn finish(mut self, readability: bool) -> Page {
        while self.open.depth() > 0 {
            self.close();
        }
        let title = self.title.map(|title| squeeze(&title)).filter(|title| !title.is_empty());
        Page { title, text: self.out.finish(readability) }
    }
}

/// Returns the meaning of an element: its tag, as its attributes change it.
fn meaning(tag: &Tag, start: &StartTag<()>) -> Meaning {
    let role = attribute(start, b"role").and_then(|role| tags::region(role.trim()));
    match (&tag.meaning, role) {
        (Meaning::Inline | Meaning::Block | Meaning::Region(_), Some(region)) if tag.special => {
            Meaning::Region(region)
        }
        (Meaning::Link(_), _) => {
            Meaning::Link(attribute(start, b"href").as_deref().and_then(place).unwrap_or_default())
        }
        (meaning, _) => meaning.clone(),
    }
}

/// The address of a link as it is shown; `None` for code, for payloads, and for places on the same page.
fn place(href: &str) -> Option<String> {
    let href: String = href.chars().filter(|c| !c.is_whitespace() && !policy::misleads(*c)).collect();
    let scheme = href.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let odd = matches!(scheme.as_str(), "javascript" | "data" | "vbscript" | "blob");
    let shown = !href.is_empty() && !href.starts_with('#') && !odd && href.len() <= LONGEST_LINK;
    shown.then_some(href)
}

fn attribute(start: &StartTag<()>, name: &[u8]) -> Option<String> {
    start.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}
