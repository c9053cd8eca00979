//! Sizes, times and amounts of money as people write them.

use std::time::Duration;

const SIZES: &[(&str, u64)] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

const TIMES: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Reads `4GiB`, `50KB`, `512 MiB`.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.checked_mul(*factor)
}

/// Reads `10m`, `1h30m`, `500ms`.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text, 0u64);
    while !rest.is_empty() {
        let (number, after) = split(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (_, factor) = TIMES.iter().find(|(name, _)| *name == &after[..end])?;
        total = total.checked_add(number.checked_mul(*factor)?)?;
        rest = &after[end..];
    }
    (total > 0).then(|| Duration::from_millis(total))
}

/// Reads dollars into millionths, without ever being a floating-point number.
pub(crate) fn money(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    let (whole, part) = text.split_once('.').unwrap_or((&text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part)
}

fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, expected) in [
            ("4GiB", Some(4 << 30)),
            ("50KB", Some(50_000)),
            ("512 MiB", Some(512 << 20)),
            ("0B", Some(0)),
            ("4", None),
            ("GiB", None),
            ("-1B", None),
            ("4gib", None),
            ("99999999999TiB", None),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
        for (text, expected) in [
            ("10m", Some(600_000)),
            ("1h30m", Some(5_400_000)),
            ("500ms", Some(500)),
            ("0s", None),
            ("", None),
            ("10", None),
            ("m", None),
            ("10 m", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(time(text).map(|time| time.as_millis()), expected, "{text}");
        }
        for (text, expected) in
            [("5.0", Some(5_000_000)), ("0.25", Some(250_000)), ("1_000", Some(1_000_000_000))]
        {
            assert_eq!(money(text), expected, "{text}");
        }
        for bad in ["-1.0", "inf", "nan", "1e3", "0.0000001", "99999999999999999999"] {
            assert_eq!(money(bad), None, "{bad}");
        }
    }
}
