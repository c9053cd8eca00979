//! Meaning of the elements of HTML.

use html5gum::State;

/// Facts about a tag by its name.
pub(super) struct Tag<'a> {
    pub(super) name: &'a [u8],
    pub(super) meaning: Meaning,
    /// Block-level: the end of an inline element does not close it.
    pub(super) special: bool,
    pub(super) unseen: Option<Unseen>,
    /// Tokenizer state of its text.
    pub(super) state: Option<State>,
}

/// Effect of an element on the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    Inline,
    Block,
    Title,
    Heading(usize),
    List {
        ordered: bool,
    },
    Item,
    Quote,
    Pre,
    Code,
    Row,
    Cell,
    /// With the address that is shown, or nothing.
    Link(String),
    Region(Region),
}

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Main,
    Article,
    /// Navigation, footers, asides.
    Around,
    /// A header: around the text, or the head of it when inside the main part.
    Header,
}

/// When an element is not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unseen {
    /// It never holds text for readers.
    Always,
    /// A browser shows something else, or nothing.
    Hidden,
    /// It is shown only with the attribute `open`.
    Closed,
}

impl Tag<'_> {
    pub(super) fn is_void(&self) -> bool {
        VOID.contains(&self.name)
    }

    /// Returns true if it is an element of HTML that ends a drawing it stands in.
    pub(super) fn ends_drawing(&self) -> bool {
        ENDS_DRAWING.contains(&self.name)
    }

    /// Returns true if the start of this element ends an open one.
    pub(super) fn closes(&self, open: &[u8]) -> bool {
        match (self.name, open) {
            (b"li", b"li" | b"p")
            | (b"dt" | b"dd", b"dt" | b"dd" | b"p")
            | (b"td" | b"th", b"td" | b"th" | b"p")
            | (b"tr", b"td" | b"th" | b"tr" | b"p")
            | (
                b"tbody" | b"thead" | b"tfoot",
                b"td" | b"th" | b"tr" | b"tbody" | b"thead" | b"tfoot" | b"p",
            )
            | (b"body", b"head") => true,
            (_, b"p") => self.special && !matches!(self.name, b"button" | b"select" | b"option" | b"caption"),
            _ => false,
        }
    }
}

/// The row of a tag.
pub(super) fn tag(name: &[u8]) -> Tag<'_> {
    let (meaning, special) = meaning(name);
    Tag { name, meaning, special, unseen: unseen(name), state: state(name) }
}

/// The part of a page that a value of `role` names.
pub(super) fn region(role: &str) -> Option<Region> {
    match role {
        "main" => Some(Region::Main),
        "article" => Some(Region::Article),
        "navigation" | "contentinfo" | "complementary" | "search" => Some(Region::Around),
        "banner" => Some(Region::Header),
        _ => None,
    }
}

fn meaning(name: &[u8]) -> (Meaning, bool) {
    let meaning = match name {
        b"h1" => Meaning::Heading(1),
        b"h2" => Meaning::Heading(2),
        b"h3" => Meaning::Heading(3),
        b"h4" => Meaning::Heading(4),
        b"h5" => Meaning::Heading(5),
        b"h6" => Meaning::Heading(6),
        b"ul" | b"menu" | b"dir" => Meaning::List { ordered: false },
        b"ol" => Meaning::List { ordered: true },
        b"li" => Meaning::Item,
        b"blockquote" => Meaning::Quote,
        b"pre" | b"xmp" | b"listing" | b"plaintext" => Meaning::Pre,
        b"tr" => Meaning::Row,
        b"td" | b"th" => Meaning::Cell,
        b"main" => Meaning::Region(Region::Main),
        b"article" => Meaning::Region(Region::Article),
        b"nav" | b"footer" | b"aside" => Meaning::Region(Region::Around),
        b"header" => Meaning::Region(Region::Header),
        b"title" => return (Meaning::Title, false),
        b"code" | b"kbd" | b"samp" | b"tt" => return (Meaning::Code, false),
        b"a" => return (Meaning::Link(String::new()), false),
        b"html" | b"body" | b"head" | b"object" | b"svg" | b"math" | b"template" | b"noscript"
        | b"button" => {
            return (Meaning::Inline, true);
        }
        b"legend" | b"option" | b"optgroup" => return (Meaning::Block, false),
        name if BLOCKS.contains(&name) => Meaning::Block,
        _ => return (Meaning::Inline, false),
    };
    (meaning, true)
}

fn unseen(name: &[u8]) -> Option<Unseen> {
    match name {
        b"script" | b"style" | b"template" | b"iframe" | b"noembed" | b"noframes" | b"canvas"
        | b"datalist" | b"object" | b"audio" | b"video" => Some(Unseen::Always),
        b"noscript" | b"svg" => Some(Unseen::Hidden),
        b"dialog" => Some(Unseen::Closed),
        _ => None,
    }
}

fn state(name: &[u8]) -> Option<State> {
    match name {
        b"script" => Some(State::ScriptData),
        b"style" | b"iframe" | b"xmp" | b"noembed" | b"noframes" => Some(State::RawText),
        b"title" | b"textarea" => Some(State::RcData),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

const VOID: &[&[u8]] = &[
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr",
];

const ENDS_DRAWING: &[&[u8]] = &[
    b"b",
    b"big",
    b"blockquote",
    b"body",
    b"br",
    b"center",
    b"code",
    b"dd",
    b"div",
    b"dl",
    b"dt",
    b"em",
    b"embed",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"hr",
    b"i",
    b"img",
    b"li",
    b"listing",
    b"menu",
    b"meta",
    b"nobr",
    b"ol",
    b"p",
    b"pre",
    b"ruby",
    b"s",
    b"small",
    b"span",
    b"strong",
    b"strike",
    b"sub",
    b"sup",
    b"table",
    b"tt",
    b"u",
    b"ul",
    b"var",
];

const BLOCKS: &[&[u8]] = &[
    b"address",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"form",
    b"hgroup",
    b"p",
    b"search",
    b"section",
    b"select",
    b"summary",
    b"table",
    b"tbody",
    b"textarea",
    b"tfoot",
    b"thead",
];
