//! Characters that show nothing, or turn what is shown.

use policy::CharacterClass;

/// Handling of a character, looked at alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It stays.
    Plain,
    /// It shows nothing, or turns the direction of what is shown.
    Invisible,
    /// One of the second alphabet that nothing shows.
    Tag,
    /// It steers a terminal.
    Control,
    /// It looks like a space.
    Blank,
}

pub(super) fn kind(c: char) -> Kind {
    match c {
        '\t' | '\n' | '\r' | ' '..='~' => Kind::Plain,
        _ if c.is_control() => Kind::Control,
        _ if CharacterClass::Blank.contains(c) => Kind::Blank,
        _ if is_tag(c) => Kind::Tag,
        _ if CharacterClass::Misleading.contains(c) => Kind::Invisible,
        _ => Kind::Plain,
    }
}

/// Returns true if a character changes the direction of what follows.
pub(crate) fn is_bidi(c: char) -> bool {
    CharacterClass::Bidi.contains(c)
}

/// Returns true if a character has no width and no direction: it only separates or joins.
pub(crate) fn is_zero_width(c: char) -> bool {
    CharacterClass::ZeroWidth.contains(c)
}

/// Returns true if a character is one of the second alphabet that nothing shows.
pub(crate) fn is_tag(c: char) -> bool {
    CharacterClass::Tag.contains(c)
}

/// Returns true if a character is shown as a picture, so that joiners and selectors behind it mean something. Letters and numbers in
/// another form do not count: they become plain ones.
pub(super) fn is_emoji(c: char) -> bool {
    CharacterClass::Emoji.contains(c)
}

/// Returns true if a character is an ideograph, which can have variants.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
