//! Evaluates commands that only print: `echo`, `printf`, and those that turn one text into another.

use shell::tree::{Argument, Item, Kind, List, Pipeline, Word};

use super::{MAX_VALUE, Reader, word};

/// Maximum number of programs of one pipeline that are followed.
const MAX_STAGES: usize = 8;

/// Returns the output of a pipeline, if all of it is written there.
pub(super) fn printed(reader: &Reader<'_>, list: &List, depth: u32) -> Option<String> {
    let stages = stages(reader, list, depth)?;
    let (first, rest) = stages.split_first()?;
    let mut text = spoken(first)?;
    for stage in rest {
        text = turned(&text, stage)?;
        if text.len() > MAX_VALUE {
            return None;
        }
    }
    Some(text.trim_end_matches('\n').to_owned())
}

/// The words of each program, where all of them are known.
fn stages(reader: &Reader<'_>, list: &List, depth: u32) -> Option<Vec<Vec<String>>> {
    let [Item { pipelines, background: false, .. }] = &list.items[..] else { return None };
    let [(_, Pipeline { commands, .. })] = &pipelines[..] else { return None };
    let value = |word: &Word| word::expand(reader, word, depth).value;
    let mut stages = Vec::new();
    for (command, _) in Some(commands).filter(|commands| commands.len() <= MAX_STAGES)? {
        let Kind::Simple { assignments, words } = &command.kind else { return None };
        for redirect in &command.redirects {
            // The input of a program comes before it.
            let text = Some(&redirect.target).filter(|_| redirect.operator == "<<<");
            stages.push(vec![String::from("echo"), value(text?)?]);
        }
        let words = words.iter().map(|word| match word {
            Argument::Word(word) => value(word),
            Argument::Array(_) => None,
        });
        stages.push(words.collect::<Option<_>>().filter(|_| assignments.is_empty())?);
    }
    Some(stages)
}

/// Returns the output of `echo` and `printf`.
fn spoken(words: &[String]) -> Option<String> {
    let (name, rest) = words.split_first()?;
    match name.as_str() {
        "echo" => {
            let options = rest
                .iter()
                .take_while(|word| matches!(word.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E"))
                .count();
            let text = rest[options..].join(" ");
            let escapes = rest[..options].iter().any(|word| word.contains('e'));
            Some(if escapes { unescaped(&text) } else { text })
        }
        "printf" => {
            let rest = rest.strip_prefix(&[String::from("--")][..]).unwrap_or(rest);
            let (format, args) = rest.split_first()?;
            format_of(format, args)
        }
        _ => None,
    }
}

fn format_of(format: &str, args: &[String]) -> Option<String> {
    let mut made = String::new();
    let mut args = args.iter();
    loop {
        let mut used = false;
        let mut pieces = format.split('%');
        made.push_str(&unescaped(pieces.next()?));
        while let Some(piece) = pieces.next() {
            let mut letters = piece.chars();
            match letters.next() {
                Some('s') => made.push_str(args.next().map_or("", String::as_str)),
                Some('b') => made.push_str(&unescaped(args.next().map_or("", String::as_str))),
                Some('c') => made.extend(args.next().and_then(|arg| arg.chars().next())),
                // Two percent signs are one, and what follows them begins a piece.
                None => {
                    made.push('%');
                    made.push_str(&unescaped(pieces.next().unwrap_or_default()));
                    continue;
                }
                Some(_) => return None,
            }
            used = true;
            made.push_str(&unescaped(letters.as_str()));
        }
        if !used || args.len() == 0 || made.len() > MAX_VALUE {
            return Some(made);
        }
    }
}

/// Returns the output of a program for a text that it reads.
fn turned(text: &str, words: &[String]) -> Option<String> {
    let (name, rest) = words.split_first()?;
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.as_str()));
    match name.as_str() {
        "rev" => Some(
            text.lines().map(|line| line.chars().rev().collect::<String>()).collect::<Vec<_>>().join("\n"),
        ),
        "cat" if rest.is_empty() => Some(text.to_owned()),
        "tr" => translated(text, rest),
        "base64" | "openssl" if has(&["-d", "-D", "--decode"]) => {
            String::from_utf8(super::super::run::bytes_of(text.as_bytes())).ok()
        }
        "xxd" if has(&["-r", "-rp", "-pr"]) => {
            let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
            let bytes: Option<Vec<u8>> = digits
                .chunks_exact(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect();
            String::from_utf8(bytes?).ok()
        }
        "sed" => substituted(text, rest.last()?),
        _ => None,
    }
}

/// `tr a-z n-za-m`, `tr -d x`.
fn translated(text: &str, words: &[String]) -> Option<String> {
    let (from, to) = (words.first()?, words.get(1)?);
    if from == "-d" {
        let gone = set(to);
        return Some(text.chars().filter(|c| !gone.contains(c)).collect());
    }
    let (from, to) = (set(from), set(to));
    let last = *to.last()?;
    let turn = |c: char| {
        from.iter().position(|other| *other == c).map_or(c, |at| to.get(at).copied().unwrap_or(last))
    };
    Some(text.chars().map(turn).collect())
}

/// `a-z` is all of them.
fn set(text: &str) -> Vec<char> {
    let letters: Vec<char> = text.chars().take(256).collect();
    let (mut all, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        match letters.get(at + 1..at + 3) {
            Some(['-', last]) if *last >= letters[at] && last.is_ascii() => {
                all.extend(letters[at]..=*last);
                at += 3;
            }
            _ => {
                all.push(letters[at]);
                at += 1;
            }
        }
    }
    all
}

/// `s/a/b/g`, without expressions.
fn substituted(text: &str, script: &str) -> Option<String> {
    let sign = script.strip_prefix('s')?.chars().next()?;
    let mut parts = script[1 + sign.len_utf8()..].split(sign);
    let (from, to, how) = (parts.next()?, parts.next()?, parts.next()?);
    if from.is_empty() || from.contains(['*', '[', '^', '$', '\\', '.', '(']) || to.contains(['&', '\\']) {
        return None;
    }
    Some(if how.contains('g') { text.replace(from, to) } else { text.replacen(from, to, 1) })
}

/// A text without the escapes that `printf` knows.
pub(super) fn unescaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        made.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let digits = |from: usize, most: usize, radix: u32| {
            let digits = behind
                .get(from..)
                .unwrap_or_default()
                .chars()
                .take(most)
                .take_while(|c| c.is_digit(radix))
                .count();
            let value =
                behind.get(from..from + digits).and_then(|digits| u32::from_str_radix(digits, radix).ok());
            value.and_then(char::from_u32).map(|c| (c, from + digits))
        };
        let found = match behind.bytes().next() {
            Some(b'x') => digits(1, 2, 16),
            Some(b'u') => digits(1, 4, 16),
            Some(b'0') => digits(0, 4, 8),
            Some(b'1'..=b'7') => digits(0, 3, 8),
            Some(b'n') => Some(('\n', 1)),
            Some(b't') => Some(('\t', 1)),
            Some(b'\\' | b'\'' | b'"') => behind.chars().next().map(|c| (c, 1)),
            _ => None,
        };
        let (c, length) = found.unwrap_or(('\\', 0));
        made.push(c);
        rest = &behind[length..];
    }
    made.push_str(rest);
    made
}
