//! Words made from words.

use policy::{Certainty, Word};

/// The same word with another text.
pub(super) fn with_text(word: &Word, text: impl Into<String>) -> Word {
    Word { text: text.into(), certainty: word.certainty, span: word.span }
}

/// The same place with a text that is not all known.
pub(super) fn unknown(word: &Word, text: impl Into<String>) -> Word {
    Word { text: text.into(), certainty: Certainty::Unknown, span: word.span }
}

/// A word of which nothing is known, at the place of another.
pub(super) fn anything(word: &Word) -> Word {
    unknown(word, "")
}

/// Returns true if nothing at all is known of a word.
pub(super) fn is_anything(word: &Word) -> bool {
    word.certainty == Certainty::Unknown && word.text.is_empty()
}

/// Returns true if a word could turn out to be any option.
pub(super) fn may_be_option(word: &Word) -> bool {
    word.certainty == Certainty::Unknown && (word.text.is_empty() || word.text.starts_with('-'))
}

/// Words joined by blanks; as certain as the least certain of them.
pub(super) fn joined(words: &[Word]) -> Option<Word> {
    let (first, last) = (words.first()?, words.last()?);
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let certainty = words.iter().map(|word| word.certainty).max()?;
    Some(Word { text, certainty, span: first.span.to(last.span) })
}

/// Words in which a placeholder stands for something not known.
pub(super) fn filled(words: &[Word], placeholder: &str) -> Vec<Word> {
    words.iter().map(|word| fill(word, placeholder)).collect()
}

fn fill(word: &Word, placeholder: &str) -> Word {
    if placeholder.is_empty() || !word.text.contains(placeholder) {
        return word.clone();
    }
    unknown(word, word.text.replace(placeholder, ""))
}

/// Returns true if this is the file that stands for standard input.
pub(super) fn is_stdin(text: &str) -> bool {
    matches!(text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/thread-self/fd/0")
}

/// Splits `NAME=VALUE`. The name may be any text, even empty: `env` takes every word with a `=`.
pub(super) fn assignment(text: &str) -> Option<(&str, &str)> {
    text.split_once('=')
}

/// The rest of the words, from one on.
pub(super) fn from(words: &[Word], at: usize) -> &[Word] {
    words.get(at..).unwrap_or_default()
}
