//! The words of a program, sorted into options, their values and operands.

use policy::Word;

/// Which options of a program take a value that may stand in the next word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Grammar {
    /// One letter each.
    pub(crate) shorts: &'static str,
    /// In full.
    pub(crate) longs: &'static [&'static str],
}

/// A word, or the part of it that names something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    pub(crate) word: &'a Word,
}

impl<'a> Piece<'a> {
    /// The whole word.
    pub(crate) fn whole(word: &'a Word) -> Self {
        Self { text: &word.text, word }
    }

    /// A part of the same word.
    pub(crate) fn part(self, text: &'a str) -> Self {
        Self { text, word: self.word }
    }
}

/// The words of a program, sorted.
#[derive(Debug)]
pub(crate) struct Parts<'a>(Vec<Part<'a>>);

#[derive(Debug)]
struct Part<'a> {
    option: Option<Name<'a>>,
    piece: Piece<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Name<'a> {
    Short(char),
    Long(&'a str),
}

impl<'a> Parts<'a> {
    /// Sorts words. Options count in any position, up to `--`.
    pub(crate) fn new(words: &'a [Word], grammar: Grammar) -> Self {
        let mut parts = Self(Vec::with_capacity(words.len()));
        let mut rest = words.iter();
        let mut options = true;
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            if !options || !text.starts_with('-') || text == "-" {
                parts.0.push(Part { option: None, piece: Piece::whole(word) });
            } else if text == "--" {
                options = false;
            } else if let Some(long) = text.strip_prefix("--") {
                parts.long(word, long, grammar, &mut rest);
            } else {
                parts.cluster(word, grammar, &mut rest);
            }
        }
        parts
    }

    fn long(
        &mut self,
        word: &'a Word,
        text: &'a str,
        grammar: Grammar,
        rest: &mut std::slice::Iter<'a, Word>,
    ) {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let takes = value.is_none() && grammar.longs.iter().any(|full| abbreviates(name, full));
        let piece = match rest.as_slice().first().filter(|_| takes) {
            Some(next) => {
                rest.next();
                Piece::whole(next)
            }
            None => Piece { text: value.unwrap_or_default(), word },
        };
        self.0.push(Part { option: Some(Name::Long(name)), piece });
    }

    fn cluster(&mut self, word: &'a Word, grammar: Grammar, rest: &mut std::slice::Iter<'a, Word>) {
        let mut seen = 0_u128;
        for (at, letter) in word.text.char_indices().skip(1) {
            // A letter counts once, so that a word of a million letters stays one word.
            let bit = 1_u128.checked_shl(u32::from(letter)).unwrap_or_default();
            if bit == 0 || seen & bit != 0 {
                continue;
            }
            seen |= bit;
            let attached = word.text.get(at + letter.len_utf8()..).unwrap_or_default();
            let takes = grammar.shorts.contains(letter);
            let next = rest.as_slice().first().filter(|_| takes && attached.is_empty());
            let piece = next.map_or(Piece { text: attached, word }, Piece::whole);
            self.0.push(Part { option: Some(Name::Short(letter)), piece });
            if next.is_some() {
                rest.next();
            }
            if takes {
                return;
            }
        }
    }

    /// The first of these options: letters, and names in full that may be abbreviated.
    pub(crate) fn option(&self, letters: &str, names: &[&str]) -> Option<Piece<'a>> {
        self.values(letters, names).next()
    }

    /// Returns true if one of these options is given.
    pub(crate) fn has(&self, letters: &str, names: &[&str]) -> bool {
        self.option(letters, names).is_some()
    }

    /// Returns the values of these options.
    pub(crate) fn values<'b>(
        &'b self,
        letters: &'b str,
        names: &'b [&'b str],
    ) -> impl Iterator<Item = Piece<'a>> + 'b {
        let is_one = move |name: Name<'a>| match name {
            Name::Short(letter) => letters.contains(letter),
            Name::Long(given) => names.iter().any(|full| abbreviates(given, full)),
        };
        self.0.iter().filter(move |part| part.option.is_some_and(is_one)).map(|part| part.piece)
    }

    /// The names of the long options, as written.
    pub(crate) fn long_names(&self) -> impl Iterator<Item = (&'a str, Piece<'a>)> + '_ {
        self.0.iter().filter_map(|part| match part.option {
            Some(Name::Long(name)) => Some((name, part.piece)),
            _ => None,
        })
    }

    /// The words that are no options.
    pub(crate) fn operands(&self) -> impl DoubleEndedIterator<Item = Piece<'a>> + '_ {
        self.0.iter().filter(|part| part.option.is_none()).map(|part| part.piece)
    }
}

/// Programs take the beginning of a long name for the whole.
fn abbreviates(given: &str, full: &str) -> bool {
    !given.is_empty() && full.starts_with(given)
}
