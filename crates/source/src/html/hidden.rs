//! Attributes and styles that hide an element.

use html5gum::StartTag;

use super::color::{Color, WHITE, alike, color};
use super::sheet::Sheet;
use super::style::Declarations;

/// Pixels of one `em`, where nothing says otherwise.
const EM: f64 = 16.0;

/// Background of an element's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind {
    Color(Color),
    /// A picture, or a sheet that is not read.
    Unknown,
}

impl Behind {
    /// Background of a page.
    pub(super) const fn page(sheet: &Sheet) -> Self {
        if sheet.linked { Self::Unknown } else { Self::Color(WHITE) }
    }
}

/// Returns true if an element hides itself, by attribute, inline style or a style sheet of the page; and the background of
/// its content.
pub(super) fn look(start: &StartTag<()>, sheet: &Sheet, behind: Behind) -> (bool, Behind) {
    let value = |name: &[u8]| start.attributes.get(name).map(|value| String::from_utf8_lossy(value));
    if start.attributes.contains_key(b"hidden".as_slice())
        || value(b"aria-hidden").is_some_and(|it| it.trim().eq_ignore_ascii_case("true"))
    {
        return (true, behind);
    }
    let mut style = Declarations::default();
    for (attribute, property) in [(&b"color"[..], "color"), (b"bgcolor", "background-color")] {
        if let Some(value) = value(attribute) {
            style.with(property, &value);
        }
    }
    style.extend(&sheet.declarations(start));
    if let Some(own) = value(b"style") {
        style.extend(&Declarations::parse(&own));
    }
    let behind = background(&style, behind);
    (hides(&style) || is_invisible(&style, behind), behind)
}

fn background(style: &Declarations, outer: Behind) -> Behind {
    let Some(value) = style.get("background-color").or_else(|| style.get("background")) else {
        let picture = style.get("background-image").is_some_and(|image| image != "none");
        return if picture { Behind::Unknown } else { outer };
    };
    match color(value) {
        Some([_, _, _, 0..13]) => outer,
        Some(color) => Behind::Color(color),
        None if matches!(value, "none" | "inherit" | "initial" | "unset") => outer,
        None => Behind::Unknown,
    }
}

/// Returns true if the text has no colour, or that of its background.
fn is_invisible(style: &Declarations, behind: Behind) -> bool {
    let text = style.get("-webkit-text-fill-color").or_else(|| style.get("color")).and_then(color);
    match (text, behind) {
        (Some([_, _, _, 0..13]), _) => true,
        (Some(text), Behind::Color(behind)) => alike(text, behind),
        _ => false,
    }
}

/// Returns true if one of the declarations hides what it is put on.
fn hides(style: &Declarations) -> bool {
    let clipped = style.iter().any(|(key, value)| {
        key.starts_with("overflow") && (value.contains("hidden") || value.contains("clip"))
    });
    style.iter().any(|(key, value)| match key {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" => {
            number(value).is_some_and(|(number, unit)| number < if unit == "%" { 5.0 } else { 0.05 })
        }
        "font-size" => is_tiny(value),
        "font" => value.split(' ').filter_map(|word| word.split('/').next()).any(is_tiny),
        "width" | "height" | "max-width" | "max-height" => {
            clipped && pixels(value).is_some_and(|size| size.abs() <= 1.5)
        }
        "text-indent" | "left" | "right" | "top" | "bottom" | "margin-left" | "margin-top"
        | "margin-right" => pixels(value).is_some_and(is_far_off),
        "transform" | "translate" | "scale" => is_moved_away(key, value),
        "clip" => {
            numbers(value).is_some_and(|sides| sides.len() == 4 && sides.iter().all(|side| side.abs() <= 1.0))
        }
        "clip-path" | "-webkit-clip-path" => is_clipped_away(value),
        "filter" => value.replace(' ', "").contains("opacity(0"),
        _ => false,
    })
}

/// Off the left or the top of any screen, or far off the other way.
fn is_far_off(pixels: f64) -> bool {
    !(-900.0..=5000.0).contains(&pixels)
}

/// Too small to be read.
fn is_tiny(value: &str) -> bool {
    let percent = value.strip_suffix('%').and_then(|value| value.parse::<f64>().ok());
    percent.map(|percent| percent / 100.0 * EM).or_else(|| pixels(value)).is_some_and(|size| size.abs() < 2.0)
}

fn is_moved_away(key: &str, value: &str) -> bool {
    let bare = value.replace(' ', "");
    let nothing = ["scale(0)", "scale(0,", "scalex(0)", "scaley(0)", "scale3d(0", "scale(0."];
    let scaled = nothing.iter().any(|it| bare.contains(it))
        || key == "scale" && number(value).is_some_and(|(it, _)| it == 0.0);
    let inside = bare.split_once("translate").and_then(|(_, rest)| rest.split_once('('));
    let moved = inside.map_or(if key == "translate" { value } else { "" }, |(_, rest)| rest);
    scaled || moved.split([',', ' ', ')']).filter_map(pixels).any(is_far_off)
}

fn is_clipped_away(value: &str) -> bool {
    let Some(sides) = numbers(value) else { return false };
    let first = sides.first().copied().unwrap_or(1.0);
    match value.split('(').next().unwrap_or_default().trim() {
        // Insets from both sides meet in the middle.
        "inset" => first >= 50.0,
        "circle" | "ellipse" => first == 0.0,
        "polygon" | "rect" | "xywh" => !sides.is_empty() && sides.iter().all(|side| *side == 0.0),
        _ => false,
    }
}

/// The numbers between the brackets of a shape, without their units.
fn numbers(value: &str) -> Option<Vec<f64>> {
    let inside = value.split_once('(')?.1.split(')').next()?;
    let parts = inside.split([',', ' ']).filter(|part| !part.is_empty());
    Some(parts.filter_map(|part| number(part).map(|(number, _)| number)).collect())
}

/// A length in pixels.
fn pixels(value: &str) -> Option<f64> {
    let (number, unit) = number(value)?;
    Some(match unit {
        "em" | "rem" | "ex" | "ch" | "lh" | "pc" => number * EM,
        // Of some screen.
        "vw" | "vh" | "vmin" | "vmax" | "%" => number * 10.0,
        "in" => number * 96.0,
        "cm" => number * 37.8,
        "mm" => number * 3.78,
        "pt" => number * 1.33,
        _ => number,
    })
}

/// A number and its unit, if it has one.
fn number(value: &str) -> Option<(f64, &str)> {
    let value = value.trim();
    let bare = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    bare.trim_end().parse().ok().map(|number| (number, &value[bare.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles() {
        let rows = [
            ("display:none", true),
            ("DISPLAY : NONE !important", true),
            ("color:red;display:/* */none", true),
            ("d\\69splay:none", true),
            ("display:n\\6fne", true),
            ("dis/**/play:none", true),
            ("visibility:hidden", true),
            ("visibility: collapse", true),
            ("content-visibility:hidden", true),
            ("font-size:0", true),
            ("font-size: 0px", true),
            ("font-size: 1px", true),
            ("font-size:0.01em", true),
            ("font-size:1%", true),
            ("font:0/0 a", true),
            ("opacity:0", true),
            ("opacity:.0", true),
            ("opacity:0%", true),
            ("filter:opacity(0)", true),
            ("height:0;overflow:hidden", true),
            ("height:1px;width:1px;overflow:hidden", true),
            ("position:absolute;left:-9999px", true),
            ("position:fixed;top:-999px", true),
            ("position:absolute;left:99999px", true),
            ("text-indent:-100em", true),
            ("text-indent:-5000px", true),
            ("transform: scale( 0 )", true),
            ("transform:translateX(-9999px)", true),
            ("transform:translate(0,-200vh)", true),
            ("clip:rect(0,0,0,0)", true),
            ("clip: rect(1px 1px 1px 1px)", true),
            ("clip-path:inset(100%)", true),
            ("clip-path: inset(50%)", true),
            ("clip-path:circle(0)", true),
            ("clip-path:polygon(0 0, 0 0, 0 0)", true),
            ("color:transparent", true),
            ("color:rgba(0,0,0,0)", true),
            ("color:#0000", true),
            ("-webkit-text-fill-color:transparent", true),
            ("color:#fff;background-color:white", true),
            ("color:#000;background:#000000", true),
            ("color:white", true),
            ("color:#fefefe", true),
            ("display:block", false),
            ("display:none;display:block", false),
            ("display:none-such", false),
            ("height:0", false),
            ("height:1px", false),
            ("height:1em;overflow:hidden", false),
            ("opacity:0.5", false),
            ("opacity:1", false),
            ("font-size:10px", false),
            ("font-size:0.8em", false),
            ("font-size:80%", false),
            ("font:10px/1.5 a", false),
            ("margin-left:-10px", false),
            ("left:-100%", true),
            ("left:50%", false),
            ("clip:rect(0,100px,100px,0)", false),
            ("clip-path:inset(5%)", false),
            ("clip-path:circle(50%)", false),
            ("color:white;background:#000", false),
            ("color:white;background:url(x)", false),
            ("color:#333", false),
            ("transform:rotate(3deg)", false),
            ("x:display", false),
            ("/* display:none", false),
            (";;;:::", false),
            ("", false),
        ];
        for (style, expected) in rows {
            let style_read = Declarations::parse(style);
            let behind = background(&style_read, Behind::Color(WHITE));
            let hidden = hides(&style_read) || is_invisible(&style_read, behind);
            assert_eq!(hidden, expected, "{style}");
        }
    }
}
