//! Lists of words that are kept as one text.
//!
//! A slice of texts is an address for each of them, and the loader relocates every address whenever the program starts, also where
//! nothing is scanned. One text has one address, and is divided when a scan asks for it.

use std::fmt;

/// Ends each word of a list. No word contains it.
const END: char = '\0';

/// A list of words in one text; [`words!`] makes one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words(&'static str);

impl Words {
    /// Takes the words out of a text in which each ends with NUL.
    pub(crate) const fn from_ended(text: &'static str) -> Self {
        Self(text)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.0.split_terminator(END)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(self, word: &str) -> bool {
        self.iter().any(|known| known == word)
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Makes [`Words`] of literals.
macro_rules! words {
    ($($word:literal),* $(,)?) => {
        $crate::words::Words::from_ended(concat!($($word, "\0"),*))
    };
}
pub(crate) use words;
