//! Table: characters that show nothing, or turn what is shown.

/// What becomes of a character, looked at alone.
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
        '\u{2800}' => Kind::Blank,
        '\u{e0000}'..='\u{e007f}' => Kind::Tag,
        _ if c.is_control() => Kind::Control,
        _ if INVISIBLE.iter().any(|&(first, last)| (first..=last).contains(&c)) => Kind::Invisible,
        _ => Kind::Plain,
    }
}

const INVISIBLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),       // soft hyphen
    ('\u{34f}', '\u{34f}'),     // combining grapheme joiner
    ('\u{61c}', '\u{61c}'),     // Arabic letter mark
    ('\u{115f}', '\u{1160}'),   // Hangul fillers
    ('\u{17b4}', '\u{17b5}'),   // Khmer inherent vowels
    ('\u{180b}', '\u{180f}'),   // Mongolian variation selectors and vowel separator
    ('\u{200b}', '\u{200f}'),   // zero width space, joiners, direction marks
    ('\u{2028}', '\u{202e}'),   // separators of lines and paragraphs, embeddings and overrides
    ('\u{2060}', '\u{206f}'),   // word joiner, invisible operators, isolates, old format characters
    ('\u{3164}', '\u{3164}'),   // Hangul filler
    ('\u{fe00}', '\u{fe0f}'),   // variation selectors
    ('\u{feff}', '\u{feff}'),   // byte order mark
    ('\u{ffa0}', '\u{ffa0}'),   // halfwidth Hangul filler
    ('\u{fff0}', '\u{fffb}'),   // unassigned, and interlinear annotation
    ('\u{13430}', '\u{1343f}'), // joiners of hieroglyphs
    ('\u{1bca0}', '\u{1bca3}'), // format characters of shorthand
    ('\u{1d173}', '\u{1d17a}'), // format characters of music
    ('\u{e0080}', '\u{e0fff}'), // more variation selectors, and unassigned characters that show nothing
];

/// Whether a character turns the direction of what follows.
pub(crate) fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character has no width and no direction: it only separates or joins.
pub(crate) fn is_zero_width(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{206a}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0100}'..='\u{e01ef}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{ffa0}'
    )
}

/// Whether a character is one of the second alphabet that nothing shows.
pub(crate) fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Whether a character is shown as a picture, so that joiners and selectors behind it mean something.
pub(super) fn is_emoji(c: char) -> bool {
    EMOJI.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// Without those that are letters or numbers in another form: they become plain ones.
const EMOJI: &[(char, char)] = &[
    ('\u{a9}', '\u{a9}'),
    ('\u{ae}', '\u{ae}'),
    ('\u{2194}', '\u{21aa}'),
    ('\u{231a}', '\u{23ff}'),
    ('\u{25aa}', '\u{25fe}'),
    ('\u{2600}', '\u{27bf}'),
    ('\u{2934}', '\u{2935}'),
    ('\u{2b05}', '\u{2b55}'),
    ('\u{3030}', '\u{3030}'),
    ('\u{303d}', '\u{303d}'),
    ('\u{1f000}', '\u{1f0ff}'),
    ('\u{1f170}', '\u{1f189}'),
    ('\u{1f1e6}', '\u{1f1ff}'),
    ('\u{1f300}', '\u{1faff}'),
];

/// Whether a character is an ideograph, which can have variants.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
