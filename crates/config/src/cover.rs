//! Coverage: everything one entry permits is permitted by others already.
//!
//! The answer errs on one side: an entry that cannot be shown to be covered counts as wider.

use std::path::Path;

use policy::{HostPattern, PathPattern};

use crate::schema::Text;

/// Returns true if an entry of a list permits nothing that the wider list does not.
pub(crate) fn covered(meaning: Text, entry: &str, wider: &[&str]) -> bool {
    wider.contains(&entry)
        || wider.iter().any(|other| match meaning {
            Text::PathPattern => path_pattern(entry, other),
            Text::HostPattern => host_pattern(entry, other),
            Text::Path | Text::ViewPath => path(entry, other),
            Text::PortIn | Text::PortOut => port(entry) == port(other),
            Text::Pattern => *other == "*",
            _ => false,
        })
}

fn path_pattern(entry: &str, other: &str) -> bool {
    let Ok(PathPattern::Glob(wide)) = PathPattern::parse(other) else { return false };
    let Ok(PathPattern::Glob(narrow)) = PathPattern::parse(entry) else { return false };
    if wide.is_everything() {
        // An allow of `**` stays in the workspace; a pattern from the root need not.
        return !entry.starts_with(['/', '~']) || other.starts_with(['/', '~']);
    }
    let below = other.strip_suffix("**").filter(|prefix| prefix.ends_with('/'));
    below.is_some_and(|prefix| narrow.as_str().len() > prefix.len() && narrow.as_str().starts_with(prefix))
}

fn host_pattern(entry: &str, other: &str) -> bool {
    // An expression opens no private address, and an entry that names one would.
    if entry.starts_with("re:") || other.starts_with("re:") {
        return false;
    }
    let (Ok(entry), Ok(other)) = (HostPattern::parse(entry), HostPattern::parse(other)) else { return false };
    entry.is_within(&other)
}

/// One number stands for both sides.
fn port(text: &str) -> (&str, &str) {
    text.split_once(':').unwrap_or((text, text))
}

fn path(entry: &str, other: &str) -> bool {
    !entry.contains("${") && !other.contains("${") && Path::new(entry).starts_with(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_errs_on_the_narrow_side() {
        let rows = [
            (Text::PathPattern, "src/a.rs", "src/**", true),
            (Text::PathPattern, "src/**", "src/**", true),
            (Text::PathPattern, "srcx/**", "src/**", false),
            (Text::PathPattern, "src", "src/**", false),
            (Text::PathPattern, "a/b", "**", true),
            (Text::PathPattern, "/etc/**", "**", false),
            (Text::PathPattern, "**", "src/**", false),
            (Text::PathPattern, "re:src/.*", "src/**", false),
            (Text::HostPattern, "api.example.com", "*.example.com", true),
            (Text::HostPattern, "example.com", "*.example.com", false),
            (Text::HostPattern, "example.com", "**.example.com", true),
            (Text::HostPattern, "**.example.com", "*.example.com", false),
            (Text::HostPattern, "*.example.com", "**.example.com", true),
            (Text::HostPattern, "**.a.example.com", "*.example.com", true),
            (Text::HostPattern, "EXAMPLE.com.", "example.com", true),
            (Text::HostPattern, "example.com:443", "example.com", true),
            (Text::HostPattern, "example.com", "example.com:443", false),
            (Text::HostPattern, "evilexample.com", "*.example.com", false),
            (Text::HostPattern, "re:.*", "*.example.com", false),
            (Text::HostPattern, "10.0.0.1", "re:.*", false),
            (Text::Path, "/opt/data/x", "/opt/data", true),
            (Text::Path, "/opt/data-x", "/opt/data", false),
            (Text::PortIn, "3000:3000", "3000", true),
            (Text::PortIn, "3000:80", "3000", false),
            (Text::PortOut, "80", "8080:80", false),
            (Text::Pattern, "read_*", "*", true),
            (Text::Pattern, "*", "read_*", false),
        ];
        for (meaning, entry, wider, expected) in rows {
            assert_eq!(covered(meaning, entry, &[wider]), expected, "{entry} in {wider}");
            assert!(!covered(meaning, entry, &[]));
        }
    }
}
