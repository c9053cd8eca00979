//! `awk` programs: `system`, pipes, and files that they write.

use policy::Word;

use super::Launch;
use super::options::{Found, Item, Options};
use super::programs::effect;
use super::words::{unknown, with_text};

const AWK: &str = "-F|--field-separator: -v|--assign: -f|--file:! -e|--source: -E|--exec:! -i|--include:! -l|--load:! \
    -o|--pretty-print?! -p|--profile?! -d|--dump-variables?! -D|--debug?! -L|--lint? -W: -b -c -C -g -h -I -k|--csv -M -n \
    -N -O -P -r -s -S|--sandbox -t -V|--version --help --posix --traditional --re-interval --use-lc-numeric --optimize \
    --no-optimize --bignum --gen-pot --lint-old --non-decimal-data --characters-as-bytes";

/// Looks at the options and the program.
pub(super) fn awk(words: &[Word], launch: &mut Launch) {
    let mut given = false;
    for item in Options::new(words, AWK) {
        match item {
            Item::Found(Found { name: "-e", value: Some(program), at, .. }) => {
                given = true;
                judge(&program, at, launch);
            }
            Item::Found(found) => {
                given |= matches!(found.name, "-f" | "-E") || is_exec(&found);
                effect(&found, launch);
                if is_exec(&found) {
                    launch.hazard(found.at);
                }
            }
            Item::Strange(at) => super::prefix::strange(words, at, launch),
            Item::Operand(at) => {
                if let Some(program) = words.get(at).filter(|_| !given) {
                    judge(program, at, launch);
                }
                return;
            }
        }
    }
}

/// `-W exec` of `mawk` names a file too.
fn is_exec(found: &Found) -> bool {
    found.name == "-W" && found.value.as_ref().is_some_and(|value| value.text.starts_with(['e', 'f']))
}

fn judge(program: &Word, at: usize, launch: &mut Launch) {
    if !program.is_literal() {
        return launch.unprovable(program, "the `awk` program is not known before it runs");
    }
    // A pattern that is taken for a division, or the other way round, must not hide this one.
    if super::scan::calls(&program.text, "system") {
        launch.own_code(program, "awk");
    }
    Program {
        text: &program.text,
        next: 0,
        word: program,
        at,
        launch,
        last: Last::Nothing,
        print: None,
        depth: 0,
    }
    .run();
}

/// The token before: it decides whether `/` divides, and whose text a pipe takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last<'a> {
    Nothing,
    /// A value: a name, a number, a closing bracket.
    Value,
    /// A string.
    Text(&'a str),
    /// `system` with its bracket.
    System,
}

struct Program<'a> {
    text: &'a str,
    next: usize,
    word: &'a Word,
    at: usize,
    launch: &'a mut Launch,
    last: Last<'a>,
    /// The depth of brackets at `print`, while its statement lasts.
    print: Option<usize>,
    depth: usize,
}

impl<'a> Program<'a> {
    fn run(&mut self) {
        while let Some(char) = self.rest().chars().next() {
            self.token(char);
        }
    }

    fn token(&mut self, char: char) {
        match char {
            '"' => self.string(),
            '/' if self.last == Last::Nothing => self.regex(),
            '#' => drop(self.take(|char| char != '\n')),
            '_' | 'a'..='z' | 'A'..='Z' => self.name(),
            '0'..='9' | '.' => {
                self.take(|char| char.is_ascii_alphanumeric() || char == '.');
                self.last = Last::Value;
            }
            '|' => self.pipe(),
            '>' => self.greater(),
            '@' => {
                self.launch.own_code(self.word, "awk");
                self.skip(1);
            }
            ' ' | '\t' | '\r' => self.skip(1),
            '\\' => self.skip(1 + self.rest().chars().nth(1).map_or(0, char::len_utf8)),
            _ => self.mark(char),
        }
    }

    /// Brackets and operators.
    fn mark(&mut self, char: char) {
        let system = self.last == Last::System;
        match char {
            '(' | '[' => self.depth += 1,
            ')' | ']' => self.depth = self.depth.saturating_sub(1),
            ';' | '\n' | '{' | '}' => self.print = None,
            _ => {}
        }
        // Behind `$` comes a value, and behind `i++` an operator: never a pattern.
        let again =
            matches!(char, '+' | '-') && self.rest().chars().nth(1) == Some(char) && self.last == Last::Value;
        if again {
            return self.skip(2);
        }
        self.last = if matches!(char, ')' | ']' | '$') { Last::Value } else { Last::Nothing };
        self.skip(char.len_utf8());
        if system && char == '(' {
            self.system();
        }
    }

    fn system(&mut self) {
        self.launch.own_code(self.word, "awk");
        self.take(|char| char.is_ascii_whitespace());
        if self.rest().starts_with('"') {
            self.quoted_code();
        }
    }

    /// A string that is code. It is all of the code only when nothing is joined to it.
    fn quoted_code(&mut self) {
        let code = unescaped(self.quoted());
        let behind = self.rest().trim_start_matches([' ', '\t']);
        let whole = behind.is_empty() || behind.starts_with([')', ';', '}', '\n']);
        self.launch.code(if whole { with_text(self.word, code) } else { unknown(self.word, code) });
        self.last = Last::Value;
    }

    /// A string that something stands before is joined to it.
    fn string(&mut self) {
        let joined = self.last != Last::Nothing;
        let text = self.quoted();
        self.last = if joined { Last::Value } else { Last::Text(text) };
    }

    /// A string without its quotes. It ends with its line.
    fn quoted(&mut self) -> &'a str {
        self.skip(1);
        let text = self.enclosed('"');
        self.skip_one('"');
        text
    }

    fn regex(&mut self) {
        self.skip(1);
        self.enclosed('/');
        self.skip_one('/');
        self.last = Last::Value;
    }

    /// Text up to a mark that is not escaped and, in a pattern, not inside brackets.
    fn enclosed(&mut self, mark: char) -> &'a str {
        let (mut escaped, mut bracket) = (false, 0_usize);
        self.take(|char| {
            let ends = !escaped && bracket == 0 && char == mark;
            bracket = match char {
                _ if escaped || mark != '/' => bracket,
                '[' if bracket == 0 => 1,
                ']' if bracket > 1 => 0,
                '^' if bracket == 1 => 1,
                _ if bracket > 0 => 2,
                _ => 0,
            };
            escaped = !escaped && char == '\\';
            !ends && (char != '\n' || escaped)
        })
    }

    fn name(&mut self) {
        let name = self.take(|char| char.is_ascii_alphanumeric() || char == '_');
        self.last = match name {
            "print" | "printf" => {
                self.print = Some(self.depth);
                Last::Nothing
            }
            "return" | "in" | "else" | "do" | "case" | "BEGIN" | "END" | "exit" => Last::Nothing,
            "system" => Last::System,
            _ => Last::Value,
        };
    }

    /// `||` is or; anything else starts a program.
    fn pipe(&mut self) {
        let rest = self.rest();
        if rest.starts_with("||") {
            self.skip(2);
            self.last = Last::Nothing;
            return;
        }
        self.launch.own_code(self.word, "awk");
        let before = if let Last::Text(text) = self.last { Some(text) } else { None };
        self.skip(if rest.starts_with("|&") { 2 } else { 1 });
        self.take(|char| char.is_ascii_whitespace());
        self.last = Last::Nothing;
        let reads = self.rest().starts_with("getline");
        if let Some(code) = before.filter(|_| reads) {
            self.launch.code(with_text(self.word, unescaped(code)));
        } else if self.rest().starts_with('"') {
            self.quoted_code();
        }
    }

    /// `>` compares, except in `print`, where it names a file.
    fn greater(&mut self) {
        let rest = self.rest();
        self.skip(if rest.starts_with(">>") { 2 } else { 1 });
        self.last = Last::Nothing;
        if self.print != Some(self.depth) {
            return;
        }
        self.take(|char| char.is_ascii_whitespace());
        let target = self.rest();
        if !["\"/dev/stderr\"", "\"/dev/stdout\"", "\"-\""].iter().any(|stream| target.starts_with(stream)) {
            self.launch.hazard(self.at);
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.next..).unwrap_or_default()
    }

    fn skip(&mut self, length: usize) {
        self.next += length;
    }

    fn skip_one(&mut self, wanted: char) {
        self.next += if self.rest().starts_with(wanted) { wanted.len_utf8() } else { 0 };
    }

    fn take(&mut self, mut fits: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|char| !fits(char)).unwrap_or(rest.len());
        self.next += length;
        rest.get(..length).unwrap_or_default()
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\\"", "\"").replace("\\\\", "\\")
}
