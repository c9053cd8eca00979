//! What an element says about not being seen.

use html5gum::StartTag;

/// Whether an element hides itself, by attribute or inline style.
pub(super) fn is_hidden(start: &StartTag<()>) -> bool {
    let value = |name: &[u8]| start.attributes.get(name).map(|value| String::from_utf8_lossy(value));
    start.attributes.contains_key(b"hidden".as_slice())
        || value(b"aria-hidden").is_some_and(|it| it.trim().eq_ignore_ascii_case("true"))
        || value(b"style").is_some_and(|style| hides(&style))
}

/// Whether one of the declarations of a style hides what it is put on.
fn hides(style: &str) -> bool {
    let style = without_comments(&style.to_ascii_lowercase());
    let declarations =
        || style.split(';').filter_map(|it| it.split_once(':')).map(|(key, value)| (key.trim(), bare(value)));
    let clipped = declarations().any(|(key, value)| key.starts_with("overflow") && value.contains("hidden"));
    declarations().any(|(key, value)| match key {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "content-visibility" => value == "hidden",
        "opacity" | "font-size" => is_about_zero(value),
        "font" => value.split([' ', '/']).any(is_zero_length),
        "width" | "height" | "max-width" | "max-height" => clipped && is_about_zero(value),
        "text-indent" | "left" | "right" | "top" | "bottom" | "margin-left" | "margin-top" => {
            is_far_off(value)
        }
        "transform" => value.replace(' ', "").contains("scale(0)"),
        _ => false,
    })
}

fn without_comments(style: &str) -> String {
    let mut text = String::new();
    let mut rest = style;
    while let Some((before, inside)) = rest.split_once("/*") {
        text.push_str(before);
        rest = inside.split_once("*/").map_or("", |(_, after)| after);
    }
    text + rest
}

fn bare(value: &str) -> &str {
    value.split('!').next().unwrap_or(value).trim()
}

/// Zero, or so near to it that nobody sees the difference.
fn is_about_zero(value: &str) -> bool {
    number(value).is_some_and(|number| number.abs() < 0.05)
}

fn is_zero_length(value: &str) -> bool {
    value.starts_with(['0', '.']) && is_about_zero(value)
}

/// Off the left or the top of any screen.
fn is_far_off(value: &str) -> bool {
    number(value).is_some_and(|number| number < -900.0)
}

/// A number with or without a unit.
fn number(value: &str) -> Option<f64> {
    value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').trim_end().parse().ok()
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
            ("visibility:hidden", true),
            ("visibility: collapse", true),
            ("content-visibility:hidden", true),
            ("font-size:0", true),
            ("font-size: 0px", true),
            ("font-size:0.01em", true),
            ("font:0/0 a", true),
            ("opacity:0", true),
            ("opacity:.0", true),
            ("opacity:0%", true),
            ("height:0;overflow:hidden", true),
            ("position:absolute;left:-9999px", true),
            ("text-indent:-100em", false),
            ("text-indent:-5000px", true),
            ("transform: scale( 0 )", true),
            ("display:block", false),
            ("display:none-such", false),
            ("height:0", false),
            ("opacity:0.5", false),
            ("opacity:1", false),
            ("font-size:10px", false),
            ("font:10px/1.5 a", false),
            ("margin-left:-10px", false),
            ("x:display", false),
            ("/* display:none", false),
            (";;;:::", false),
            ("", false),
        ];
        for (style, expected) in rows {
            assert_eq!(hides(style), expected, "{style}");
        }
    }
}
