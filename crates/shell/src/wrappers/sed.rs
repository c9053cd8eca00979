//! `sed` scripts: the commands that start programs or write files.

use std::iter::Peekable;
use std::str::CharIndices;

use policy::Word;

use super::Launch;
use super::options::{Found, Item, Options};
use super::programs::effect;
use super::words::{unknown, with_text};

const SED: &str = "-n|--quiet|--silent -e|--expression: -f|--file:! -i|--in-place?! -E|-r|--regexp-extended -s|--separate \
    -u|--unbuffered -z|--null-data -l|--line-length: -b|--binary -a -H -I?! --posix --debug --sandbox --follow-symlinks \
    --help --version";

/// Looks at the options and the script.
pub(super) fn sed(words: &[Word], launch: &mut Launch) {
    let (mut scripts, mut operands, mut given) = (Vec::new(), Vec::new(), false);
    for item in Options::new(words, SED) {
        match item {
            Item::Found(Found { name: "-e", value: Some(script), at, .. }) => scripts.push((at, script)),
            Item::Found(found) => {
                given |= found.name == "-f";
                effect(&found, launch);
            }
            Item::Operand(at) => operands.extend(words.get(at).map(|word| (at, word.clone()))),
            Item::Strange(at) => super::prefix::strange(words, at, launch),
        }
    }
    if scripts.is_empty() && !given {
        // If `-i` takes a word of its own, an empty one stands before the script.
        let empty = operands.first().is_some_and(|(_, word)| word.text.is_empty() && word.is_literal());
        scripts.extend(operands.into_iter().take(1 + usize::from(empty)));
    }
    judge(&scripts, launch);
}

/// Several scripts are lines of one.
fn judge(scripts: &[(usize, Word)], launch: &mut Launch) {
    if let Some((_, word)) = scripts.iter().find(|(_, word)| !word.is_literal()) {
        return launch.unprovable(word, "the `sed` script is not known before it runs");
    }
    let whole = scripts.iter().map(|(_, word)| word.text.as_str()).collect::<Vec<_>>().join("\n");
    let Some((at, word)) = scripts.first() else { return };
    let (at, word) =
        scripts.iter().find(|(_, word)| script_acts(&word.text)).map_or((at, word), |(at, w)| (at, w));
    Script { chars: whole.char_indices().peekable(), text: &whole, word, at: *at, launch }.run();
}

/// Returns true if one of several scripts does something by itself: the place to show.
fn script_acts(text: &str) -> bool {
    let mut launch = Launch::default();
    let word = Word::literal("");
    Script { chars: text.char_indices().peekable(), text, word: &word, at: 0, launch: &mut launch }.run();
    launch != Launch::default()
}

struct Script<'a> {
    chars: Peekable<CharIndices<'a>>,
    text: &'a str,
    word: &'a Word,
    at: usize,
    launch: &'a mut Launch,
}

impl<'a> Script<'a> {
    fn run(&mut self) {
        loop {
            self.skip(|char| char.is_ascii_whitespace() || matches!(char, ';' | '{' | '}'));
            if self.chars.peek().is_none() {
                return;
            }
            self.addresses();
            self.skip(|char| char.is_ascii_whitespace() || char == '!');
            if !self.command() {
                return self.launch.unprovable(self.word, "this `sed` script cannot be read");
            }
        }
    }

    /// One command; `false` when there is none of that name.
    fn command(&mut self) -> bool {
        match self.next() {
            Some('s') => return self.substitute(),
            Some('y') => return self.transliterate(),
            Some('a' | 'i' | 'c') => self.text_lines(),
            Some('e') => self.execute(),
            Some('w' | 'W') => self.write(),
            Some('r' | 'R' | '#' | 'v') => drop(self.line()),
            Some(':' | 'b' | 't' | 'T') => {
                self.skip(|char| char == ' ' || char == '\t');
                self.skip(|char| !matches!(char, ';' | '\n' | '}' | ' '));
            }
            Some('q' | 'Q' | 'l' | 'L') => self.skip(|char| char.is_ascii_digit() || char == ' '),
            None
            | Some(
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' | '{' | '}',
            ) => {}
            Some(_) => return false,
        }
        true
    }

    /// Line numbers, patterns and steps before a command.
    fn addresses(&mut self) {
        loop {
            match self.chars.peek().map(|(_, char)| *char) {
                Some('/') => self.pattern(),
                Some('\\') => {
                    self.next();
                    self.pattern();
                }
                Some(char)
                    if char.is_ascii_digit() || matches!(char, '$' | ',' | '~' | '+' | ' ' | 'I' | 'M') =>
                {
                    self.next();
                }
                _ => return,
            }
        }
    }

    fn pattern(&mut self) {
        if let Some(mark) = self.next() {
            self.until(mark, true);
        }
    }

    fn substitute(&mut self) -> bool {
        let Some(mark) = self.next() else { return false };
        let (true, start) = (self.until(mark, true), self.position()) else { return false };
        if !self.until(mark, false) {
            return false;
        }
        let text = self.text;
        let replacement =
            text.get(start..self.position().saturating_sub(mark.len_utf8())).unwrap_or_default();
        self.flags(replacement);
        true
    }

    fn flags(&mut self, replacement: &str) {
        while let Some((_, flag)) = self.chars.peek().copied() {
            match flag {
                'e' => {
                    self.launch.own_code(self.word, "sed");
                    self.launch.code(unknown(self.word, replacement));
                }
                'w' => {
                    self.next();
                    return self.write();
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                _ => return,
            }
            self.next();
        }
    }

    fn transliterate(&mut self) -> bool {
        let Some(mark) = self.next() else { return false };
        self.until(mark, false) && self.until(mark, false)
    }

    /// The text of `a`, `i` and `c` goes on while a line ends in a backslash.
    fn text_lines(&mut self) {
        while self.line().ends_with('\\') && self.chars.peek().is_some() {}
    }

    fn execute(&mut self) {
        let code = self.line().trim();
        self.launch.own_code(self.word, "sed");
        if code.is_empty() {
            self.launch.unprovable(self.word, "`sed` would run the lines that it reads");
        } else {
            self.launch.code(with_text(self.word, code));
        }
    }

    fn write(&mut self) {
        if !matches!(self.line().trim(), "/dev/stdout" | "/dev/stderr") {
            self.launch.hazard(self.at);
        }
    }

    /// Goes behind the next mark. In a pattern, brackets hide it.
    fn until(&mut self, mark: char, pattern: bool) -> bool {
        while let Some(char) = self.next() {
            match char {
                _ if char == mark => return true,
                '\\' => drop(self.next()),
                '[' if pattern => self.bracket(),
                _ => {}
            }
        }
        false
    }

    /// A bracket expression: a `]` at its beginning is one of its characters, and so are those in `[:alpha:]`.
    fn bracket(&mut self) {
        self.skip_one('^');
        self.skip_one(']');
        while let Some(char) = self.next() {
            let class =
                self.chars.peek().map(|(_, next)| *next).filter(|next| matches!(next, ':' | '.' | '='));
            match (char, class) {
                (']', _) => return,
                ('[', Some(kind)) => self.class(kind),
                _ => {}
            }
        }
    }

    fn class(&mut self, kind: char) {
        self.next();
        let mut last = ' ';
        while let Some(char) = self.next() {
            if last == kind && char == ']' {
                return;
            }
            last = char;
        }
    }

    /// The rest of the line.
    fn line(&mut self) -> &'a str {
        let start = self.position();
        self.skip(|char| char != '\n');
        let line = self.text.get(start..self.position()).unwrap_or_default();
        self.next();
        line
    }

    fn position(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, char)| char)
    }

    fn skip(&mut self, mut fits: impl FnMut(char) -> bool) {
        while self.chars.next_if(|(_, char)| fits(*char)).is_some() {}
    }

    fn skip_one(&mut self, wanted: char) {
        self.chars.next_if(|(_, char)| *char == wanted);
    }
}
