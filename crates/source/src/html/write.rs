//! Blocks of text, as they are written while a page is walked.

use super::tags::Region;

/// Quotes and lists nested deeper are shown at this depth, or each line would be as long as the page is deep.
const DEEPEST: usize = 8;

/// Collects the text of a page in blocks.
pub(super) struct Writer {
    strip: bool,
    blocks: Vec<Block>,
    /// The block that is being written, with blanks squeezed unless it is preformatted.
    current: String,
    /// A blank that is written if more text follows.
    blank: bool,
    shape: Shape,
    marker: Option<String>,
    /// The numbers of the lists that are open; `None` for those without.
    lists: Vec<Option<u32>>,
    quotes: usize,
    preformatted: usize,
    links: Vec<Mark>,
    regions: Regions,
}

struct Block {
    text: String,
    /// True if it stands right below one of its kind: items, rows.
    tight: bool,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Paragraph,
    Heading(usize),
    Row,
    Preformatted,
}

/// Start of a link.
struct Mark {
    blocks: usize,
    at: usize,
}

#[derive(Default)]
struct Regions {
    main: usize,
    article: usize,
    around: usize,
    header: usize,
}

/// Position of a block in its page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    Article,
    Elsewhere,
    Around,
}

impl Writer {
    pub(super) fn new(strip: bool) -> Self {
        Self {
            strip,
            blocks: Vec::new(),
            current: String::new(),
            blank: false,
            shape: Shape::Paragraph,
            marker: None,
            lists: Vec::new(),
            quotes: 0,
            preformatted: 0,
            links: Vec::new(),
            regions: Regions::default(),
        }
    }

    /// Text of the page.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                c if self.preformatted > 0 && matches!(c, '\n' | '\t' | ' ') => self.current.push(c),
                c if c.is_whitespace() => self.blank = true,
                c if self.strip && policy::misleads(c) => {}
                c => {
                    self.settle();
                    self.current.push(c);
                }
            }
        }
    }

    /// The text without characters that hide, where those are left out.
    pub(super) fn clean(&self, text: &str) -> String {
        text.chars().filter(|c| c.is_whitespace() || !(self.strip && policy::misleads(*c))).collect()
    }

    /// Ends the block that is being written.
    pub(super) fn block(&mut self) {
        let lines =
            if self.shape == Shape::Preformatted { self.fenced() } else { squeezed_lines(&self.current) };
        self.current.clear();
        self.blank = false;
        if !lines.is_empty() {
            self.finish_block(&lines);
        }
        self.shape = if self.preformatted > 0 { Shape::Preformatted } else { Shape::Paragraph };
    }

    pub(super) fn heading(&mut self, level: usize) {
        self.block();
        self.shape = Shape::Heading(level);
    }

    pub(super) fn row(&mut self) {
        self.block();
        self.shape = Shape::Row;
    }

    /// A cell begins: what is in the row already is kept apart from it.
    pub(super) fn cell(&mut self) {
        if !self.current.trim().is_empty() {
            self.text(" | ");
        }
    }

    pub(super) fn list(&mut self, first: Option<u32>) {
        self.block();
        self.lists.push(first);
    }

    pub(super) fn end_list(&mut self) {
        self.block();
        self.lists.pop();
        self.marker = None;
    }

    pub(super) fn item(&mut self) {
        self.block();
        self.marker = Some(match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "- ".to_owned(),
        });
    }

    pub(super) fn quote(&mut self) {
        self.block();
        self.quotes += 1;
    }

    pub(super) fn end_quote(&mut self) {
        self.block();
        self.quotes -= 1;
    }

    pub(super) fn pre(&mut self) {
        self.block();
        self.preformatted += 1;
        self.shape = Shape::Preformatted;
    }

    pub(super) fn end_pre(&mut self) {
        self.block();
        self.preformatted -= 1;
        if self.preformatted == 0 {
            self.shape = Shape::Paragraph;
        }
    }

    /// The beginning or the end of code in a line.
    pub(super) fn tick(&mut self) {
        if self.preformatted == 0 {
            self.settle();
            self.current.push('`');
        }
    }

    pub(super) fn line(&mut self) {
        self.blank = false;
        self.current.push('\n');
    }

    pub(super) fn rule(&mut self) {
        self.block();
        self.finish_block(&["---".to_owned()]);
    }

    pub(super) fn link(&mut self) {
        self.links.push(Mark { blocks: self.blocks.len(), at: self.current.len() });
    }

    pub(super) fn end_link(&mut self, href: &str) {
        let Some(mark) = self.links.pop() else { return };
        let moved = self.blocks.len() != mark.blocks;
        let text = self.current.get(mark.at..).filter(|_| !moved).map_or("", str::trim);
        let same = text == href
            || href.strip_prefix("https://").is_some_and(|short| short.trim_end_matches('/') == text);
        if href.is_empty() || same || text.is_empty() && !moved {
            return;
        }
        let blank = self.blank;
        self.text(&format!(" ({href})"));
        self.blank = blank;
    }

    pub(super) fn region(&mut self, region: Region) {
        self.block();
        *self.regions.of(region) += 1;
    }

    pub(super) fn end_region(&mut self, region: Region) {
        self.block();
        *self.regions.of(region) -= 1;
    }

    /// The text of the page, or of its main part.
    pub(super) fn finish(mut self, readability: bool) -> String {
        self.block();
        let shown =
            |place| self.blocks.iter().filter(|it| it.place == place).map(|it| it.text.len()).sum::<usize>();
        let (main, article, elsewhere) = (shown(Place::Main), shown(Place::Article), shown(Place::Elsewhere));
        // A main part with hardly anything in it is the frame of a page that is made by scripts, or a teaser.
        let enough = |part: usize| part > 0 && part >= elsewhere / 10;
        let wanted = |place: Place| match place {
            _ if !readability || main + article + elsewhere == 0 => true,
            Place::Main => true,
            Place::Article => !enough(main),
            Place::Elsewhere => !enough(main) && !enough(article),
            Place::Around => false,
        };
        join(self.blocks.iter().filter(|block| wanted(block.place)))
    }

    /// Writes the blank between two words, now that the second one comes.
    fn settle(&mut self) {
        if self.blank && !self.current.is_empty() && !self.current.ends_with([' ', '\n']) {
            self.current.push(' ');
        }
        self.blank = false;
    }

    fn finish_block(&mut self, lines: &[String]) {
        let depth = self.lists.len().min(DEEPEST);
        let outer =
            format!("{}{}", "> ".repeat(self.quotes.min(DEEPEST)), "  ".repeat(depth.saturating_sub(1)));
        let marker = self.marker.take();
        let tight = marker.is_some() || self.shape == Shape::Row;
        let indent = if depth > 0 { "  " } else { "" };
        let hashes = match self.shape {
            Shape::Heading(level) => "#".repeat(level) + " ",
            _ => String::new(),
        };
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            let begin = if at == 0 { marker.as_deref().unwrap_or(indent) } else { indent };
            let hashes = if at == 0 { hashes.as_str() } else { "" };
            let line = format!("{outer}{begin}{hashes}{line}");
            text.push_str(if at == 0 { "" } else { "\n" });
            text.push_str(line.trim_end());
        }
        let place = self.regions.place();
        self.blocks.push(Block { text, tight, place });
    }

    /// Preformatted text between fences that do not occur in it.
    fn fenced(&self) -> Vec<String> {
        let text = self.current.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return Vec::new();
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let inner = text.lines().map(str::to_owned);
        std::iter::once(fence.clone()).chain(inner).chain([fence.clone()]).collect()
    }
}

impl Regions {
    fn of(&mut self, region: Region) -> &mut usize {
        match region {
            Region::Main => &mut self.main,
            Region::Article => &mut self.article,
            Region::Around => &mut self.around,
            Region::Header => &mut self.header,
        }
    }

    fn place(&self) -> Place {
        let inside = self.main + self.article > 0;
        match self {
            Self { around: 1.., .. } => Place::Around,
            Self { header: 1.., .. } if !inside => Place::Around,
            Self { main: 1.., .. } => Place::Main,
            Self { article: 1.., .. } => Place::Article,
            _ => Place::Elsewhere,
        }
    }
}

/// All blanks as one, none at the ends.
pub(super) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a paragraph, without blank ones.
fn squeezed_lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn join<'a>(blocks: impl Iterator<Item = &'a Block>) -> String {
    let (mut text, mut before): (String, Option<bool>) = (String::new(), None);
    for block in blocks {
        text.push_str(match before {
            None => "",
            Some(true) if block.tight => "\n",
            Some(_) => "\n\n",
        });
        text.push_str(&block.text);
        before = Some(block.tight);
    }
    text
}
