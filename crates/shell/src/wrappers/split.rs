//! Splitting one word into words, as programs do it that are no shells.

use policy::Word;

use super::words::{unknown, with_text};

/// Splits at blanks and nothing else; quotes go.
pub(super) fn at_blanks(word: &Word) -> Vec<Word> {
    if !word.is_literal() {
        return vec![word.clone()];
    }
    let plain = word.text.split_ascii_whitespace();
    plain.map(|piece| with_text(word, piece.trim_matches(['"', '\'']))).collect()
}

/// Splits as `env -S` does: quotes, escapes, comments, and `${NAME}` for a variable.
pub(super) fn as_env(word: &Word) -> Vec<Word> {
    if !word.is_literal() {
        return vec![word.clone()];
    }
    let mut splitter = Splitter { word, words: Vec::new(), text: None, known: true };
    splitter.run();
    splitter.words
}

struct Splitter<'a> {
    word: &'a Word,
    words: Vec<Word>,
    text: Option<String>,
    known: bool,
}

impl Splitter<'_> {
    fn run(&mut self) {
        let mut chars = self.word.text.chars().peekable();
        let mut quote = None;
        while let Some(char) = chars.next() {
            match char {
                '\'' | '"' if quote == Some(char) => quote = None,
                '\'' | '"' if quote.is_none() => {
                    quote = Some(char);
                    self.add("");
                }
                '\\' => {
                    let Some(next) = chars.next() else { break };
                    if !self.escape(next, quote) {
                        break;
                    }
                }
                '$' if quote != Some('\'') => {
                    chars.by_ref().find(|&end| end == '}');
                    self.add("");
                    self.known = false;
                }
                '#' if quote.is_none() && self.text.is_none() => break,
                _ if quote.is_none() && char.is_ascii_whitespace() => self.end(),
                _ => self.add(char.encode_utf8(&mut [0; 4])),
            }
        }
        self.end();
    }

    /// An escaped character; `false` at `\c`, which ends the text.
    fn escape(&mut self, char: char, quote: Option<char>) -> bool {
        match char {
            'c' if quote.is_none() => return false,
            '_' if quote.is_none() => self.end(),
            _ if quote == Some('\'') && !matches!(char, '\\' | '\'') => {
                self.add("\\");
                self.add(char.encode_utf8(&mut [0; 4]));
            }
            '_' => self.add(" "),
            'f' => self.add("\x0c"),
            'n' => self.add("\n"),
            'r' => self.add("\r"),
            't' => self.add("\t"),
            'v' => self.add("\x0b"),
            _ => self.add(char.encode_utf8(&mut [0; 4])),
        }
        true
    }

    fn add(&mut self, piece: &str) {
        self.text.get_or_insert_default().push_str(piece);
    }

    fn end(&mut self) {
        let Some(text) = self.text.take() else { return };
        let known = std::mem::replace(&mut self.known, true);
        self.words.push(if known { with_text(self.word, text) } else { unknown(self.word, text) });
    }
}
