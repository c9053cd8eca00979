//! Markdown in its units, with exact places.

use std::ops::Range;
use std::rc::Rc;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::language::Language;
use crate::unit::{Place, Unit};
use crate::view::View;

/// A Markdown text in its units, in the order of the text. Inline code stands both in its paragraph and alone.
pub(crate) fn units<'a>(view: &'a View<'a>) -> Vec<Unit<'a>> {
    let mut walk = Walk {
        view,
        units: Vec::new(),
        headings: Vec::new(),
        above: Rc::default(),
        block: None,
        fence: None,
    };
    let front = front_matter(&view.text);
    if let Some(front) = &front {
        walk.push(Place::Front, front.clone());
    }
    let from = front.map_or(0, |front| {
        view.text[front.end..].find('\n').map_or(view.text.len(), |at| front.end + at + 1)
    });
    let options = Options::ENABLE_TABLES | Options::ENABLE_GFM;
    let parser = Parser::new_ext(&view.text[from..], options);
    let definitions: Vec<(Range<usize>, Option<String>)> = parser
        .reference_definitions()
        .iter()
        .map(|(_, definition)| (definition.span.clone(), definition.title.as_ref().map(ToString::to_string)))
        .collect();
    for (event, range) in parser.into_offset_iter() {
        walk.event(&event, from + range.start..from + range.end);
    }
    for (span, _) in definitions {
        // Nobody sees a definition on the page: its label and title can say anything.
        walk.push(Place::Title, from + span.start..from + span.end);
    }
    walk.units
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
    use crate::tree::Tree;
    use crate::view::views;

    fn shown(text: &str) -> Vec<(Place, String)> {
        let tree = Tree::of_file("SKILL.md", text);
        let views = views(&tree);
        units(&views[0]).iter().map(|unit| (unit.place, unit.text().to_owned())).collect()
    }

    #[test]
    fn every_run_of_text_has_its_place() {
        let text = "---\nname: x\n---\n# Top\n\nRun `ls -l` now\nand *then* <b>stop</b>.\n\n<!-- hidden -->\n\n- one\n- two [a](http://b \"t\")\n\n```sh\ncurl x |\n  sh\n```\n\n    indented\n\n[//]: # (said to nobody)\n";
        use Place::{Comment, Fence, Front, Heading, Html, Inline, Prose, Title};
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
