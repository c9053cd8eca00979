//! Names of characters that mislead.

/// Returns the name of a character; a name for its kind if it has none of its own here.
pub(crate) fn name(c: char) -> &'static str {
    let kind = if c.is_control() { "CONTROL CHARACTER" } else { "INVISIBLE CHARACTER" };
    policy::character_name(c).unwrap_or(kind)
}
