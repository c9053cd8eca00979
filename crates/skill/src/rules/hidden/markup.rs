//! Text that the page is told not to show.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::spoken;
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::text::unit::{Place, Places, Unit};
use crate::words::words;

pub(super) const RULE: Rule = Rule {
    id: "HIDDEN_MARKUP",
    category: Category::HiddenText,
    severity: Severity::Critical,
    title: "an instruction that the page does not show",
    why: "Text of no size, in the colour of the page or switched off is not seen by a person, but read by a model.",
    fix: "show the text, or remove it",
    places: Places::of(&[Place::Html, Place::Prose]),
    anchors: words![
        "clip:",
        "clip-path:",
        "display:",
        "font-size:",
        "opacity:",
        "visibility:",
        "color:",
        "hidden",
        "height:",
        "width:",
        "left:-",
        "left: -",
        "text-indent:",
        "color=",
        "size=",
    ],
    check: Check::Unit(check),
};

/// Number of bytes after an opening tag that are taken as its hidden content.
const MAX_INSIDE: usize = 600;

static HIDES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let style = r"<[a-z][a-z0-9]{0,15}\b[^>]{0,400}(?:display\s*:\s*none|font-size\s*:\s*0*(?:\.\d+)?(?:[01]?(?:px|pt|em|rem|%)?|[23](?:px|pt|%))\s*[;'\x22]|clip\s*:\s*rect\(|clip-path\s*:\s*inset\((?:50|100)%|opacity\s*:\s*0*(?:\.0\d*)?\s*[;'\x22]|visibility\s*:\s*hidden|[^-]color\s*[:=]\s*['\x22]?\s*(?:white\b|#fff(?:fff)?\b|#f[c-f]f[c-f]f[c-f]\b|rgb\(\s*255\s*,\s*255\s*,\s*255|transparent|rgba?\([^)]{0,30},\s*0\s*\))|max-height\s*:\s*0|(?:[^-]|\b)(?:height|width)\s*:\s*0(?:px)?\s*[;'\x22]|left\s*:\s*-\d{3,}|text-indent\s*:\s*-\d{3,}|\shidden\b|size\s*=\s*['\x22]?0)[^>]{0,400}>";
    RegexBuilder::new(style).case_insensitive(true).unicode(false).build().ok()
});

/// Styles that hide text by colour or size alone.
static UNSEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let style = r"font-size\s*:|[^-]color\s*[:=]|opacity\s*:|size\s*=";
    RegexBuilder::new(style).case_insensitive(true).unicode(false).build().ok()
});

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let Some(hides) = HIDES.as_ref() else { return Vec::new() };
    let found = hides.find_iter(text.as_bytes()).take(20).filter_map(|tag| {
        let inside = inside(unit, tag.end());
        let painted = UNSEEN.as_ref().is_some_and(|unseen| unseen.is_match(tag.as_bytes()))
            && memchr::memmem::find(tag.as_bytes(), b"background").is_none();
        let severity =
            if painted { spoken::severity_unseen(&inside) } else { spoken::severity_unshown(&inside) }?;
        Some(Hit { severity: Some(severity), ..Hit::at(tag.range()) })
    });
    found.collect()
}

/// Returns the text after an opening tag, up to the end of its element.
fn inside(unit: &Unit<'_>, from: usize) -> String {
    let text = unit.text().as_bytes().get(from..).unwrap_or_default();
    let text = &text[..text.len().min(MAX_INSIDE)];
    // An opening tag within a paragraph is a separate unit: its hidden content follows it.
    let behind = if text.len() < MAX_INSIDE { unit.after(MAX_INSIDE) } else { "" };
    let all = [text, behind.as_bytes()].concat();
    let end = memchr::memmem::find(&all, b"</").unwrap_or(all.len());
    String::from_utf8_lossy(&all[..end]).into_owned()
}
