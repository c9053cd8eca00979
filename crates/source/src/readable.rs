//! Bytes from outside -> what an agent reads of them.

use crate::cap::{CappedText, Omission, Size, cap, count};
use crate::charset::decode;
use crate::html::html;
use crate::profile::{Profile, Strategy};
use crate::visible::visible;

/// Number of bytes of a body that are examined to tell its type.
const SNIFFED: usize = 1024;

/// Decodes a body, extracts what can be read where the profile wants that, and caps it.
///
/// `content_type` is the header as it came. A body that is not text is replaced by a line that says so.
#[must_use]
pub fn readable(body: &[u8], content_type: Option<&str>, profile: &Profile) -> CappedText {
    // Hidden content of a page is left out; in everything else it is escaped.
    let (text, escaped) = match decode(body, content_type) {
        text if text.contains('\0') => return not_text(body),
        text if is_page(&text, content_type, profile) => (text.into_owned(), 0),
        text => visible(&text.replace("\r\n", "\n")),
    };
    CappedText { escaped, ..shown(&text, content_type, profile) }
}

fn is_page(text: &str, content_type: Option<&str>, profile: &Profile) -> bool {
    profile.strategy() == Strategy::Readability && matches!(kind(text, content_type), Kind::Html)
}

fn shown(text: &str, content_type: Option<&str>, profile: &Profile) -> CappedText {
    if profile.strategy() != Strategy::Readability {
        return cap(text, profile);
    }
    match kind(text, content_type) {
        Kind::Html => cap(&html(text, profile).titled(), profile),
        Kind::Json => cap(text, &profile.with(Strategy::Structured)),
        Kind::Plain => cap(text, profile),
    }
}

enum Kind {
    Html,
    Json,
    Plain,
}

/// Returns the type in the header or, without one, the type that the text begins like.
fn kind(text: &str, content_type: Option<&str>) -> Kind {
    let essence = content_type.and_then(|it| it.split(';').next()).map_or("", str::trim).to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/json" => Kind::Json,
        other if other.ends_with("+json") => Kind::Json,
        "" | "application/octet-stream" if looks_like_html(text) => Kind::Html,
        _ => Kind::Plain,
    }
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(SNIFFED).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.contains("<body")
}

fn not_text(body: &[u8]) -> CappedText {
    let text = format!("[... {} left out: not text ...]", count(body.len(), "byte"));
    let returned = text.chars().count();
    let whole = Size { chars: 0, bytes: body.len() };
    CappedText { text, whole, returned, dropped: Some(Omission::Bytes(body.len())), escaped: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::profile;

    #[test]
    fn by_header_and_by_look() {
        let html = "<!DOCTYPE html><title>T</title><p>one</p>";
        let rows = [
            (html, Some("text/html; charset=utf-8"), "# T\n\none"),
            (html, Some("TEXT/HTML"), "# T\n\none"),
            (html, None, "# T\n\none"),
            (html, Some("text/plain"), html),
            ("<p>x", None, "<p>x"),
            ("<p>x", Some("application/xhtml+xml"), "x"),
            ("{\"a\": 1}", Some("application/json"), "{\"a\": 1}"),
            ("a\0b", Some("text/plain"), "[... 3 bytes left out: not text ...]"),
            ("", None, ""),
            ("<p>a\u{202e}b", Some("text/html"), "ab"),
            ("a\u{202e}b\u{1b}", Some("text/plain"), r"a\u{202e}b\u{1b}"),
            ("a\r\nb", Some("text/plain"), "a\nb"),
        ];
        for (body, content_type, expected) in rows {
            let it = readable(body.as_bytes(), content_type, &profile("web_fetch"));
            assert_eq!(it.text, expected, "{body:?} as {content_type:?}");
        }
        assert_eq!(readable(html.as_bytes(), Some("text/html"), &profile("read")).text, html);
        let wide: Vec<u8> = format!("\u{feff}{html}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(readable(&wide, Some("text/html"), &profile("web_fetch")).text, "# T\n\none");
    }

    #[test]
    fn long_json_from_the_web_stays_json() {
        let body = format!("[{}1]", "12345,".repeat(20_000));
        let it = readable(body.as_bytes(), Some("application/problem+json"), &profile("web_fetch"));
        assert!(it.is_cut() && serde_json::from_str::<serde_json::Value>(&it.text).is_ok());
    }
}
