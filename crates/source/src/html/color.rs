//! Colours of CSS.

/// Red, green, blue, and how opaque it is.
pub(super) type Color = [u8; 4];

/// The white that a page has where nothing says otherwise.
pub(super) const WHITE: Color = [255; 4];

/// A colour as it is usually written; `None` for others.
pub(super) fn color(text: &str) -> Option<Color> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix('#') {
        return hex(digits);
    }
    let call = text.strip_prefix("rgba(").or_else(|| text.strip_prefix("rgb("));
    if let Some(inside) = call.and_then(|rest| rest.strip_suffix(')')) {
        return numbers(inside);
    }
    if let Some(inside) = text.strip_prefix("hsla(").or_else(|| text.strip_prefix("hsl(")) {
        return gray(inside.strip_suffix(')')?);
    }
    NAMES.iter().find(|(name, _)| *name == text).map(|(_, color)| *color)
}

/// Returns true if the two cannot be told apart.
pub(super) fn alike(a: Color, b: Color) -> bool {
    a.iter().zip(b).take(3).all(|(a, b)| a.abs_diff(b) <= 12)
}

fn hex(digits: &str) -> Option<Color> {
    let nibbles: Vec<u8> =
        digits.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    let channels: Vec<u8> = match nibbles.len() {
        3 | 4 => nibbles.iter().map(|nibble| nibble * 17).collect(),
        6 | 8 => nibbles.as_chunks::<2>().0.iter().map(|[high, low]| high * 16 + low).collect(),
        _ => return None,
    };
    Some([channels[0], channels[1], channels[2], channels.get(3).copied().unwrap_or(255)])
}

fn parts(inside: &str) -> impl Iterator<Item = &str> {
    inside.split([',', '/', ' ', '\t', '\n']).filter(|part| !part.is_empty())
}

fn number(part: &str, of: f64) -> Option<f64> {
    match part.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok().map(|percent| percent / 100.0 * of),
        None => part.parse().ok(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is between 0 and 255"
)]
fn byte(number: f64) -> u8 {
    number.clamp(0.0, 255.0).round() as u8
}

fn numbers(inside: &str) -> Option<Color> {
    let parts: Vec<&str> = parts(inside).collect();
    let channel = |at: usize| parts.get(at).and_then(|part| number(part, 255.0)).map(byte);
    Some([channel(0)?, channel(1)?, channel(2)?, alpha(parts.get(3))?])
}

/// Only where it is a gray, white and black among them: the others are seldom what something is hidden with.
fn gray(inside: &str) -> Option<Color> {
    let parts: Vec<&str> = parts(inside).collect();
    let alpha = alpha(parts.get(3))?;
    let light = number(parts.get(2)?, 255.0)?;
    let plain = number(parts.get(1)?, 1.0)? == 0.0 || light <= 0.0 || light >= 255.0;
    let light = byte(light);
    (plain || alpha < 13).then_some([light, light, light, alpha])
}

fn alpha(part: Option<&&str>) -> Option<u8> {
    part.map_or(Some(255), |part| number(part, 1.0).map(|alpha| byte(alpha * 255.0)))
}

const NAMES: &[(&str, Color)] = &[
    ("transparent", [0, 0, 0, 0]),
    ("white", WHITE),
    ("snow", [255, 250, 250, 255]),
    ("ivory", [255, 255, 240, 255]),
    ("whitesmoke", [245, 245, 245, 255]),
    ("ghostwhite", [248, 248, 255, 255]),
    ("floralwhite", [255, 250, 240, 255]),
    ("black", [0, 0, 0, 255]),
    ("silver", [192, 192, 192, 255]),
    ("gray", [128, 128, 128, 255]),
    ("grey", [128, 128, 128, 255]),
    ("red", [255, 0, 0, 255]),
    ("maroon", [128, 0, 0, 255]),
    ("yellow", [255, 255, 0, 255]),
    ("olive", [128, 128, 0, 255]),
    ("lime", [0, 255, 0, 255]),
    ("green", [0, 128, 0, 255]),
    ("aqua", [0, 255, 255, 255]),
    ("cyan", [0, 255, 255, 255]),
    ("teal", [0, 128, 128, 255]),
    ("blue", [0, 0, 255, 255]),
    ("navy", [0, 0, 128, 255]),
    ("fuchsia", [255, 0, 255, 255]),
    ("magenta", [255, 0, 255, 255]),
    ("purple", [128, 0, 128, 255]),
    ("orange", [255, 165, 0, 255]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let rows = [
            ("#fff", Some(WHITE)),
            ("#ffff", Some(WHITE)),
            ("#ffffff00", Some([255, 255, 255, 0])),
            ("white", Some(WHITE)),
            ("rgb(255, 255, 255)", Some(WHITE)),
            ("rgb(100% 100% 100% / 0%)", Some([255, 255, 255, 0])),
            ("rgba(0,0,0,0)", Some([0; 4])),
            ("rgba(0,0,0,.5)", Some([0, 0, 0, 128])),
            ("hsl(0, 0%, 100%)", Some(WHITE)),
            ("hsl(120, 50%, 50%)", None),
            ("hsla(120, 50%, 50%, 0)", Some([128, 128, 128, 0])),
            ("var(--x)", None),
            ("#ff", None),
            ("#ggg", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(color(text), expected, "{text}");
        }
    }
}
