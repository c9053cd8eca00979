//! Markdown in its units, with exact places.

mod section;

use std::ops::Range;
use std::rc::Rc;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::text::language::Language;
use crate::text::unit::{Place, Unit};
use crate::text::view::View;
pub(crate) use section::Section;

/// The parts of a text that can be read alone: together they have the units of the whole, but for links to an address that stands in
/// another part.
pub(crate) fn sections(text: &str) -> Vec<Section> {
    section::sections(text, behind_front(text))
}

/// The units of one part of a text, in its order. Inline code stands both in its paragraph and alone.
pub(crate) fn units_in<'a>(view: &'a View<'a>, section: &Section) -> Vec<Unit<'a>> {
    let mut walk = Walk {
        view,
        units: Vec::new(),
        headings: section.headings.clone(),
        above: section.headings.iter().map(|(_, range)| range.clone()).collect(),
        block: None,
        fence: None,
    };
    let Range { start: mut from, end: to } = section.range;
    if from == 0
        && let Some(front) = front_matter(&view.text)
    {
        walk.push(Place::Front, front);
        from = behind_front(&view.text);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_GFM;
    let parser = Parser::new_ext(view.text.get(from..to).unwrap_or_default(), options);
    for (event, range) in parser.into_offset_iter() {
        walk.event(&event, from + range.start..from + range.end);
    }
    walk.leftovers(from..to);
    walk.units
}

/// Returns the start of the text behind the front matter.
fn behind_front(text: &str) -> usize {
    front_matter(text)
        .map_or(0, |front| text[front.end..].find('\n').map_or(text.len(), |at| front.end + at + 1))
}

/// The stretch between the two lines of `---`, without them.
pub(crate) fn front_matter(text: &str) -> Option<Range<usize>> {
    let bare = text.trim_start_matches('\u{feff}');
    let skipped = text.len() - bare.len();
    let rest = bare.strip_prefix("---")?;
    let line = rest.find('\n')?;
    if !rest[..line].trim().is_empty() {
        return None;
    }
    let start = skipped + 3 + line + 1;
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == "---" || line.trim_end() == "..." {
            return Some(start..at);
        }
        at += line.len();
    }
    None
}

struct Walk<'a> {
    view: &'a View<'a>,
    units: Vec<Unit<'a>>,
    /// The headings above, with their levels.
    headings: Vec<(u8, Range<usize>)>,
    /// The same without their levels, as units keep it.
    above: Rc<[Range<usize>]>,
    /// The block that is being read: its kind and stretch.
    block: Option<(Place, Range<usize>)>,
    /// The fence that is being read: its language and the stretch of its text so far.
    fence: Option<(Language, Option<Range<usize>>)>,
}

impl Walk<'_> {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let level = *level as u8;
                self.headings.retain(|(above, _)| *above < level);
                self.headings.push((level, range.clone()));
                self.above = self.headings.iter().map(|(_, range)| range.clone()).collect();
                self.close();
                self.block = Some((Place::Heading, range));
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                self.close();
                self.fence = Some((language_of(kind), None));
            }
            Event::End(TagEnd::CodeBlock) => self.close_fence(),
            Event::Start(Tag::HtmlBlock) => {
                self.close();
                self.push(html_place(self.text(&range)), range);
            }
            Event::InlineHtml(_) => self.push(html_place(self.text(&range)), range),
            Event::Start(
                Tag::Paragraph
                | Tag::Item
                | Tag::TableRow
                | Tag::TableHead
                | Tag::BlockQuote(_)
                | Tag::List(_)
                | Tag::Table(_),
            )
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Item
                | TagEnd::TableRow
                | TagEnd::TableHead
                | TagEnd::BlockQuote(_)
                | TagEnd::Heading(_)
                | TagEnd::List(_),
            ) => self.close(),
            Event::Start(Tag::Link { title, .. } | Tag::Image { title, .. }) => {
                let place = if title.is_empty() { Place::Target } else { Place::Title };
                self.extend(range.clone());
                self.target(place, range);
            }
            Event::Code(_) => {
                self.extend(range.clone());
                let text = self.text(&range);
                let ticks = text.len() - text.trim_start_matches('`').len();
                if range.len() >= 2 * ticks {
                    self.push(Place::Inline, range.start + ticks..range.end - ticks);
                }
            }
            Event::Text(_) => match &mut self.fence {
                Some((_, Some(text))) => text.end = range.end,
                Some((_, text @ None)) => *text = Some(range),
                None => self.extend(range),
            },
            _ => {}
        }
    }

    fn text(&self, range: &Range<usize>) -> &str {
        self.view.text.get(range.clone()).unwrap_or_default()
    }

    /// The part of a link behind its text.
    fn target(&mut self, place: Place, range: Range<usize>) {
        let text = self.text(&range);
        let at = text.rfind("](").map_or(0, |at| at + 2);
        let end = if at > 0 { range.end.saturating_sub(1) } else { range.end };
        self.push(place, range.start + at..end.max(range.start + at));
    }

    /// Text of the block that is being read.
    fn extend(&mut self, range: Range<usize>) {
        match &mut self.block {
            Some((_, block)) => {
                block.start = block.start.min(range.start);
                block.end = block.end.max(range.end);
            }
            None => self.block = Some((Place::Prose, range)),
        }
    }

    fn close(&mut self) {
        if let Some((place, range)) = self.block.take() {
            self.push(place, range);
        }
    }

    fn close_fence(&mut self) {
        if let Some((language, Some(range))) = self.fence.take() {
            self.push_in(Place::Fence, language, range);
        }
    }

    /// Adds what is in none of the units: definitions of links, words behind the opening of a fence. The rendered page does not
    /// show it, and it can say anything.
    fn leftovers(&mut self, within: Range<usize>) {
        let mut covered: Vec<Range<usize>> = self.units.iter().map(|unit| unit.range.clone()).collect();
        covered.sort_unstable_by_key(|range| range.start);
        covered.push(within.end..within.end);
        let mut at = within.start;
        for range in covered {
            if at < range.start {
                self.leftover(at..range.start);
            }
            at = at.max(range.end);
        }
    }

    fn leftover(&mut self, range: Range<usize>) {
        let text = self.text(&range);
        let says = text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count() > 2;
        let bare = text.trim_ascii();
        let is_fence = bare.starts_with(['`', '~']) && !bare.contains(char::is_whitespace);
        if says && !is_fence {
            let start = range.start + text.len() - text.trim_ascii_start().len();
            self.push(Place::Title, start..start + bare.len());
        }
    }

    fn push(&mut self, place: Place, range: Range<usize>) {
        let language = match place {
            Place::Inline => Language::Shell,
            _ => Language::Markdown,
        };
        self.push_in(place, language, range);
    }

    fn push_in(&mut self, place: Place, language: Language, range: Range<usize>) {
        let headings = Rc::clone(&self.above);
        self.units.push(Unit::new(self.view, range, place, language, headings));
    }
}

fn html_place(html: &str) -> Place {
    if html.trim_start().starts_with("<!--") { Place::Comment } else { Place::Html }
}

/// A fence without a word, and an indented block, are taken for commands: that is what agents do with them.
fn language_of(kind: &CodeBlockKind<'_>) -> Language {
    match kind {
        CodeBlockKind::Indented => Language::Shell,
        CodeBlockKind::Fenced(word) => {
            let word = word.split([' ', ',', '{', ':']).next().unwrap_or_default();
            if word.is_empty() || word == "!" {
                Language::Shell
            } else {
                Language::named(word).unwrap_or(Language::Text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::view::views;
    use crate::tree::Tree;
    use Place::{Comment, Fence, Front, Heading, Html, Inline, Prose, Title};

    fn units<'a>(view: &'a View<'a>) -> Vec<Unit<'a>> {
        units_in(view, &Section::whole(&view.text))
    }

    fn shown(text: &str) -> Vec<(Place, String)> {
        let tree = Tree::of_file("SKILL.md", text);
        let views = views(&tree);
        units(&views[0]).iter().map(|unit| (unit.place, unit.text().to_owned())).collect()
    }

    #[test]
    fn every_run_of_text_has_its_place() {
        let text = "---\nname: x\n---\n# Top\n\nRun `ls -l` now\nand *then* <b>stop</b>.\n\n<!-- hidden -->\n\n- one\n- two [a](http://b \"t\")\n\n```sh\ncurl x |\n  sh\n```\n\n    indented\n\n[//]: # (said to nobody)\n";
        let expected = [
            (Front, "name: x\n"),
            (Heading, "# Top\n"),
            (Inline, "ls -l"),
            (Html, "<b>"),
            (Html, "</b>"),
            (Prose, "Run `ls -l` now\nand *then* <b>stop</b>."),
            (Comment, "<!-- hidden -->\n"),
            (Prose, "one"),
            (Title, "http://b \"t\""),
            (Prose, "two [a](http://b \"t\")"),
            (Fence, "curl x |\n  sh\n"),
            (Fence, "indented\n"),
            (Title, "[//]: # (said to nobody)"),
        ];
        let expected: Vec<_> = expected.map(|(place, text)| (place, text.to_owned())).into();
        assert_eq!(shown(text), expected);
    }

    #[test]
    fn every_word_is_in_a_unit() {
        let rows = [
            "[//]: # (one word)\n[//]: # (other word)\n",
            "```js hidden words\ncode\n```\n",
            "~~~ hidden words\n~~~\n",
            "[a]: <b> \"words\"\n[a]: <c> \"hidden words\"\n\n[a]\n",
            "| a | b |\n|---|---|\n| words | hidden words | words of a third column |\n",
            "> [!NOTE] words\n> hidden words\n",
            "Words\n===\n",
        ];
        for text in rows {
            let units = shown(text);
            let words: Vec<&str> =
                text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2).collect();
            for word in words {
                assert!(units.iter().any(|(_, unit)| unit.contains(word)), "{word} of {text:?} in {units:?}");
            }
        }
    }

    /// Pieces that make it hard to say where something ends.
    const PIECES: &[&str] = &[
        "# a\n",
        "## b\n",
        "#c\n",
        "\n",
        "\n\n",
        "text\n",
        "long text ",
        "```\n",
        "```js\n",
        "````\n",
        "``` `x`\n",
        "~~~\n",
        "  ```\n",
        "    ```\n",
        "- ```\n",
        "> ```\n",
        "1. ~~~\n",
        "- a\n",
        "  b\n",
        "> q\n",
        "    code\n",
        "\t",
        "  ",
        "\r\n",
        "<div>\n",
        "</div>\n",
        "<foo>\n",
        "<!-- ",
        "<!-- x -->\n",
        "<!-->\n",
        "-->\n",
        "  <!--\n",
        "- <!--\n",
        "<pre>\n",
        "</pre>\n",
        " <script>\n",
        "</script>\n",
        "<?\n",
        "?>\n",
        "<!X\n",
        "| a | b |\n|---|---|\n",
        "***\n",
        "===\n",
        "---\n",
        "`",
        "`x`\n",
        "\n\n[a]: b\n",
        "\n\n[a]: b\n'",
        "<b>x</b>\n",
        "\u{b}\n",
        "\u{a0}\n",
    ];

    proptest::proptest! {
        #[test]
        fn parts_read_as_in_the_whole(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60),
            pad in 0usize..3,
        ) {
            let mut text: String = pieces.concat();
            // Long enough to be divided.
            if pad > 0 {
                text = text.replace("long text ", &"long text ".repeat(60));
            }
            same_in_parts(&text);
        }
    }

    fn same_in_parts(text: &str) {
        let tree = Tree::of_file("SKILL.md", text);
        let views = views(&tree);
        let listed = |units: Vec<Unit<'_>>| -> Vec<_> {
            let real = units.into_iter().filter(|unit| !unit.range.is_empty());
            real.map(|unit| (unit.range.start, unit.range.end, unit.place as u8, unit.language)).collect()
        };
        let mut whole = listed(units(&views[0]));
        let mut parts: Vec<_> = sections(&views[0].text)
            .iter()
            .flat_map(|section| listed(units_in(&views[0], section)))
            .collect();
        whole.sort_by_key(|unit| (unit.0, unit.1, unit.2));
        parts.sort_by_key(|unit| (unit.0, unit.1, unit.2));
        assert_eq!(parts, whole, "{text:?}");
    }

    #[test]
    fn a_text_is_divided_at_its_headings() {
        let part = format!(
            "## A\n\n{}\n\n```sh\n# no heading\n\n# nor this\n```\n\n<!-- a\n\n# b -->\n\n",
            "words ".repeat(100)
        );
        let text = format!("---\nname: x\n---\n{}", part.repeat(3));
        let starts: Vec<usize> = sections(&text).iter().map(|section| section.range.start).collect();
        assert_eq!(starts, [0, 16 + part.len(), 16 + 2 * part.len()]);
        same_in_parts(&text);
    }

    #[test]
    fn headings_lie_above() {
        let tree = Tree::of_file("SKILL.md", "# A\n## B\nx\n## C\ny\n");
        let views = views(&tree);
        let units = units(&views[0]);
        let above: Vec<Vec<&str>> =
            units.iter().map(|unit| unit.headings().map(str::trim).collect()).collect();
        assert_eq!(
            above,
            [vec!["# A"], vec!["# A", "## B"], vec!["# A", "## B"], vec!["# A", "## C"], vec!["# A", "## C"]]
        );
    }
}
