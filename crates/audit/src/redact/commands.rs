//! `mysql -pX`, `docker login -p X`, `["sshpass","-p","X"]`: a secret because of the program that gets it.
//!
//! The text is not parsed: a line that no shell accepts, a list in JSON and a line inside a line are all words with
//! something between them. A program is known by its name and its rows count until the command ends.

use super::keys::{closing, is_reference};
use super::scan::{Pairs, run};
use super::{Kind, Redactor, Span};
use crate::redact::row::{ProgramSecret, Spelled};
use crate::tables::secrets::PROGRAMS;

/// Finds values that programs take as secrets.
pub(super) fn find(text: &[u8], redactor: &Redactor, spans: &mut Vec<Span>) {
    let mut walk = Walk {
        text,
        redactor,
        spans,
        state: State::default(),
        frames: Vec::new(),
        before: b'\n',
        word: usize::MAX,
    };
    let mut at = 0;
    while at < text.len() {
        at = walk.step(at);
    }
}

/// The programs of one command.
#[derive(Clone, Copy, Default)]
struct State {
    /// The rows of the programs that were named, one bit for each.
    active: u128,
    /// The rows whose `after` was seen.
    unlocked: u128,
    /// The row whose value is the next word.
    pending: Option<usize>,
    /// Number of operands of the program named last.
    operands: usize,
}

const _: () = assert!(PROGRAMS.len() <= 128, "one bit for each row");

/// A quoted part or a substitution that is still open, and the command around it.
struct Frame {
    quote: Quote,
    /// Start of the quoted text.
    inside: usize,
    around: State,
    /// True if it holds one word at most: `"mysql"` in a list is a word of that list.
    is_word: bool,
}

/// A quote with the backslashes before it, or a bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Quote {
    byte: u8,
    backslashes: usize,
}

/// Quotes nest in a line, in a text, in a list; deeper ones are taken for blanks.
const DEEPEST: usize = 8;

struct Walk<'t> {
    text: &'t [u8],
    redactor: &'t Redactor,
    spans: &'t mut Vec<Span>,
    state: State,
    frames: Vec<Frame>,
    /// The last byte that was no blank.
    before: u8,
    /// Start of the word that was read last.
    word: usize,
}

impl Walk<'_> {
    /// Looks at one position, and returns the next.
    fn step(&mut self, at: usize) -> usize {
        let byte = self.text[at];
        let next = match byte {
            b' ' | b'\t' => return self.blank(at + 1),
            b'\r' | b'\n' if matches!(self.before, b',' | b'[' | b'{') => return self.blank(at + 1),
            b'\r' | b'\n' | b';' | b'|' | b'&' => self.ended(at + 1),
            b'<' | b'>' => self.blank(at + 1),
            b'(' => self.open(Quote { byte: b')', backslashes: 0 }, at + 1),
            b')' => self.close(Quote { byte, backslashes: 0 }, at + 1).unwrap_or(at + 1),
            b'\\' => return self.backslashes(at),
            b'"' | b'\'' | b'`' => self.quote(Quote { byte, backslashes: 0 }, at, at + 1),
            b'[' if self.redactor.mark_at(&self.text[at..]).is_some() => self.word(at),
            b',' | b'[' | b']' | b'{' | b'}' | b':' | b'=' => at + 1,
            _ => self.word(at),
        };
        self.before = byte;
        next
    }

    fn blank(&mut self, next: usize) -> usize {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_word = false;
        }
        next
    }

    fn ended(&mut self, next: usize) -> usize {
        self.state = State::default();
        self.blank(next)
    }

    /// Backslashes before a quote belong to it; `\n` in JSON ends a line, unless another backslash continues it.
    fn backslashes(&mut self, at: usize) -> usize {
        let count = run(&self.text[at..], |byte| byte == b'\\');
        let end = at + count + 1;
        match (self.text.get(at + count), count) {
            (Some(&byte @ (b'"' | b'\'' | b'`')), backslashes) => {
                self.quote(Quote { byte, backslashes }, at, end)
            }
            (Some(b'n' | b'r'), 1) => self.ended(end),
            (Some(b't'), 1) | (Some(b'n' | b'r'), 3) | (Some(b'\n' | b'\r'), _) => self.blank(end),
            (Some(_), _) => self.word(at),
            (None, _) => self.text.len(),
        }
    }

    fn quote(&mut self, quote: Quote, at: usize, inside: usize) -> usize {
        if let Some(next) = self.close(quote, inside) {
            return next;
        }
        if let Some(row) = self.state.pending.take() {
            return self.value(at, &PROGRAMS[row]);
        }
        // The apostrophe of `don't` opens nothing.
        let letter = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
        let apostrophe = quote == Quote { byte: b'\'', backslashes: 0 }
            && letter(at.checked_sub(1).and_then(|at| self.text.get(at)))
            && letter(self.text.get(inside));
        if apostrophe { inside } else { self.open(quote, inside) }
    }

    fn open(&mut self, quote: Quote, inside: usize) -> usize {
        if self.frames.len() < DEEPEST {
            self.frames.push(Frame { quote, inside, around: self.state, is_word: true });
        }
        inside
    }

    /// Closes what the quote opened, with all that is still open in it.
    fn close(&mut self, quote: Quote, next: usize) -> Option<usize> {
        let at = self.frames.iter().rposition(|frame| frame.quote == quote)?;
        let frame = self.frames.drain(at..).next()?;
        if !frame.is_word {
            self.state = frame.around;
        }
        Some(next)
    }

    fn is_open(&self, quote: Quote) -> bool {
        self.frames.iter().any(|frame| frame.quote == quote)
    }

    /// Reads a word, and the value that begins in it or behind it.
    fn word(&mut self, at: usize) -> usize {
        if let Some(row) = self.state.pending.take()
            && !self.text[at..].starts_with(b"--")
        {
            return self.value(at, &PROGRAMS[row]);
        }
        self.word = at;
        let end = at + word_length(&self.text[at..]);
        let word = &self.text[at..end];
        self.unlock(word);
        if let Some(next) = self.option(at, end) {
            return next;
        }
        if word.starts_with(b"-") || is_key(&self.text[end..]) {
            return end;
        }
        let named = programs(word);
        if named != 0 {
            self.state.active |= named;
            self.state.operands = 0;
            return end;
        }
        self.operand(at).unwrap_or(end)
    }

    /// Notes the rows that count only behind this word.
    fn unlock(&mut self, word: &[u8]) {
        for row in rows(self.state.active) {
            let after = PROGRAMS[row].after.as_bytes();
            if !after.is_empty() && (word == after || has_letters(word, after)) {
                self.state.unlocked |= 1 << row;
            }
        }
    }

    fn counts(&self, row: usize) -> bool {
        PROGRAMS[row].after.is_empty() || self.state.unlocked >> row & 1 == 1
    }

    fn option(&mut self, at: usize, end: usize) -> Option<usize> {
        for row in rows(self.state.active).filter(|&row| self.counts(row)) {
            let secret = &PROGRAMS[row];
            for option in secret.options {
                match spelling(&self.text[at..end], option, secret.spelled) {
                    Some(Spelling::Joined(length)) => return Some(self.value(at + length, secret)),
                    Some(Spelling::Alone) if self.joins(end) => return Some(self.value(end, secret)),
                    Some(Spelling::Alone) if secret.spelled != Spelled::Attached => {
                        self.state.pending = Some(row);
                        return Some(end);
                    }
                    Some(Spelling::Alone) | None => {}
                }
            }
        }
        None
    }

    fn operand(&mut self, at: usize) -> Option<usize> {
        self.state.operands += 1;
        let number = self.state.operands;
        let found = rows(self.state.active)
            .find(|&row| self.counts(row) && PROGRAMS[row].spelled == Spelled::Operand(number));
        let leading = rows(self.state.active).filter(|&row| PROGRAMS[row].leading);
        self.state.active &= !leading.fold(0, |bits, row| bits | 1 << row);
        found.map(|row| self.value(at, &PROGRAMS[row]))
    }

    /// Returns true if a quote stands here that goes on with the word: `-p'two words'`.
    fn joins(&self, at: usize) -> bool {
        quote_at(self.text, at).is_some_and(|(quote, inside)| self.opens(quote, inside))
    }

    /// Returns true if a quote inside a word opens a part of it. One that would close the text around the command does so only
    /// if nothing of the word follows.
    fn opens(&self, quote: Quote, inside: usize) -> bool {
        let goes_on = self.text.get(inside).is_some_and(|byte| !b" \t\r\n,:;|&<>()[]{}\"'`\\".contains(byte));
        goes_on || !self.is_open(quote)
    }

    /// Takes out the value that begins here, and returns its end.
    fn value(&mut self, start: usize, secret: &ProgramSecret) -> usize {
        let end = self.quoted_word_end().filter(|&end| end >= start).unwrap_or_else(|| self.value_end(start));
        let (mut from, mut to) = (start, end);
        if let Some((quote, inside)) = quote_at(self.text, start) {
            let close = closing(self.text, inside, quote.byte, quote.backslashes);
            // Quotes around all of it stay.
            if close + quote.backslashes + 1 >= end {
                (from, to) = (inside, close.min(end));
            }
        }
        if let Some(from) = self.part(from, to, secret.part.as_bytes()) {
            self.found(from, to, secret.name);
        }
        end.max(start + 1).min(self.text.len())
    }

    /// The beginning of what is secret in a value. A mark that we left is no part of it.
    fn part(&self, from: usize, to: usize, part: &[u8]) -> Option<usize> {
        let mut at = from;
        while !part.is_empty() && at < to {
            if self.text[at..to].starts_with(part) {
                return Some(at + part.len());
            }
            at += self.redactor.mark_at(&self.text[at..to]).unwrap_or(1);
        }
        part.is_empty().then_some(from)
    }

    fn found(&mut self, from: usize, to: usize, name: &'static str) {
        let value = &self.text[from..to];
        let quoted = from > 0 && matches!(self.text[from - 1], b'"' | b'\'');
        if value.is_empty()
            || is_reference(value, quoted)
            || self.redactor.mark_at(value) == Some(value.len())
        {
            return;
        }
        self.spans.push(Span { start: from, end: to, kind: Kind::Shape(name) });
    }

    /// The end of the text in quotes, if the word began right behind the opening one: `'-ptwo words'`.
    fn quoted_word_end(&self) -> Option<usize> {
        let frame =
            self.frames.last().filter(|frame| frame.inside == self.word && frame.quote.byte != b')')?;
        Some(closing(self.text, frame.inside, frame.quote.byte, frame.quote.backslashes))
    }

    fn value_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(&byte) = self.text.get(at) {
            if let Some((quote, inside)) = quote_at(self.text, at) {
                if !self.opens(quote, inside) {
                    break;
                }
                let close = closing(self.text, inside, quote.byte, quote.backslashes);
                at = (close + quote.backslashes + 1).min(self.text.len());
                if is_listed(&self.text[at..]) {
                    break;
                }
                continue;
            }
            at += match byte {
                // In JSON this is the end of a line.
                b'\\' if self.is_json() && matches!(self.text.get(at + 1), Some(b'n' | b'r' | b't')) => break,
                b'\\' => 2,
                b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' => break,
                byte if byte.is_ascii_whitespace() => break,
                _ => 1,
            };
        }
        at.min(self.text.len())
    }

    fn is_json(&self) -> bool {
        self.is_open(Quote { byte: b'"', backslashes: 0 })
    }
}

/// A quote and the backslashes before it, with the place behind them.
fn quote_at(text: &[u8], at: usize) -> Option<(Quote, usize)> {
    let backslashes = run(&text[at..text.len().min(at + 64)], |byte| byte == b'\\');
    let &byte = text.get(at + backslashes).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    Some((Quote { byte, backslashes }, at + backslashes + 1))
}

/// The length of a word up to a blank, a quote or an operator.
fn word_length(text: &[u8]) -> usize {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`;|&<>()\\".contains(byte);
    let length = text.iter().skip(1).position(ends).map_or(text.len(), |at| at + 1);
    length.max(1)
}

/// Returns true if what stands behind a word makes it the name of a member in JSON.
fn is_key(text: &[u8]) -> bool {
    let quotes = run(&text[..text.len().min(64)], |byte| matches!(byte, b'\\' | b'"' | b'\''));
    quotes > 0 && text[quotes..].trim_ascii_start().first() == Some(&b':')
}

/// Returns true if what stands behind a quoted text makes it an entry of a list.
fn is_listed(text: &[u8]) -> bool {
    matches!(text, [b',', b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'\\', ..] | [b']' | b'}', ..])
}

enum Spelling {
    /// The word holds the option, and its value from here.
    Joined(usize),
    /// The word is the option.
    Alone,
}

fn spelling(word: &[u8], option: &str, spelled: Spelled) -> Option<Spelling> {
    let option = option.as_bytes();
    let letter = option.len() == 2 && option[0] == b'-';
    if word == option {
        return Some(Spelling::Alone);
    }
    match word.strip_prefix(option) {
        Some([b'=']) | None if letter && ends_cluster(word, option[1], spelled) => Some(Spelling::Alone),
        Some([b'=', ..]) if !letter => Some(Spelling::Joined(option.len() + 1)),
        Some(_) if spelled != Spelled::Next && is_joinable(option, letter) => {
            Some(Spelling::Joined(option.len()))
        }
        _ => None,
    }
}

/// Options of one letter, and words such as `/p:`, hold their value without anything between.
fn is_joinable(option: &[u8], letter: bool) -> bool {
    letter || option.ends_with(b":") || option == b"-hp"
}

/// `-su` ends with `-u`: its value is the next word.
fn ends_cluster(word: &[u8], letter: u8, spelled: Spelled) -> bool {
    spelled != Spelled::Attached
        && word.len() <= 6
        && word.first() == Some(&b'-')
        && word.last() == Some(&letter)
        && word[1..].iter().all(u8::is_ascii_alphabetic)
}

/// Returns true if a cluster of options has all letters of another: `-cnb` has `-nb`.
fn has_letters(word: &[u8], wanted: &[u8]) -> bool {
    let ([b'-', word @ ..], [b'-', wanted @ ..]) = (word, wanted) else { return false };
    word.len() <= 8 && word.first() != Some(&b'-') && wanted.iter().all(|letter| word.contains(letter))
}

/// The rows of a program, if the word is its name.
fn programs(word: &[u8]) -> u128 {
    let name = word.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if !BEGINNINGS.hold(name) {
        return 0;
    }
    let is_named = |secret: &ProgramSecret| secret.programs.iter().any(|program| program.as_bytes() == name);
    (0..PROGRAMS.len()).filter(|&row| is_named(&PROGRAMS[row])).fold(0, |bits, row| bits | 1 << row)
}

/// The numbers of the bits that are set.
fn rows(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let row = (bits != 0).then_some(bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(row)
    })
}

/// The first two letters of all programs: almost no other word gets past this.
static BEGINNINGS: Pairs = beginnings();

const fn beginnings() -> Pairs {
    let mut pairs = Pairs::none();
    let mut row = 0;
    while row < PROGRAMS.len() {
        let mut at = 0;
        while at < PROGRAMS[row].programs.len() {
            let name = PROGRAMS[row].programs[at].as_bytes();
            pairs = pairs.with(name[0], name[1]);
            at += 1;
        }
        row += 1;
    }
    pairs
}
