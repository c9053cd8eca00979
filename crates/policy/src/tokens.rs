//! Tokens that announce themselves by how they begin.

pub use crate::tables::tokens::TOKENS;

/// The form of a token.
#[derive(Debug)]
pub struct TokenFormat {
    /// The beginning.
    pub prefix: &'static str,
    /// The number of characters that must follow.
    pub minimum: usize,
    /// The reason why the value is a secret.
    pub reason: &'static str,
    /// The form in running text, where it is known there.
    pub in_text: Option<TokenInText>,
}

/// The form of a token in running text.
#[derive(Debug)]
pub struct TokenInText {
    /// The name that stands for it in a redacted text.
    pub name: &'static str,
    /// The characters that follow the beginning.
    pub alphabet: TokenAlphabet,
    /// True if it also counts in the middle of a word.
    pub anywhere: bool,
    /// True if the rest must look random.
    pub random: bool,
}

/// The characters a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenAlphabet {
    /// Letters and digits.
    Alnum,
    /// Capitals and digits.
    Upper,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Dash,
}

impl TokenAlphabet {
    /// The number of alphabets.
    pub const COUNT: usize = 4;

    /// Returns true if a byte is of this alphabet.
    #[must_use]
    pub const fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Dash => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_prefix_comes_first() {
        for (at, row) in TOKENS.iter().enumerate() {
            for later in &TOKENS[at + 1..] {
                assert!(!later.prefix.starts_with(row.prefix), "{} hides {}", row.prefix, later.prefix);
            }
        }
    }
}
