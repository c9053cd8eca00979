//! A unit's text -> a text of the same length that a shell can read.

use policy::ProgramClass;

use crate::rules::patterns;

/// A fence, a script: without prompts and what was printed, without the marks of what is to be filled in.
pub(super) fn commands(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    prompts(&mut bytes);
    fillings(&mut bytes);
    separators(&mut bytes);
    finished(bytes)
}

/// Inline code: in a table, a pipe is written with a backslash before it.
pub(super) fn inline(text: &str) -> String {
    if memchr::memmem::find(text.as_bytes(), b"\\|").is_none() {
        return commands(text);
    }
    commands(&text.replace("\\|", " |"))
}

/// Words, settings, code in other languages: blanks, but for what begins with the name of a program.
pub(super) fn words(text: &str) -> String {
    let mut bytes = vec![b' '; text.len()];
    let mut at = 0;
    for line in text.as_bytes().split_inclusive(|byte| *byte == b'\n') {
        if let Some(range) = command_in(line) {
            bytes[at + range.start..at + range.end].copy_from_slice(&line[range]);
        }
        if line.ends_with(b"\n") {
            bytes[at + line.len() - 1] = b'\n';
        }
        at += line.len();
    }
    fillings(&mut bytes);
    separators(&mut bytes);
    finished(bytes)
}

/// Only ASCII is ever written over, so the text stays one.
fn finished(mut bytes: Vec<u8>) -> String {
    for at in memchr::memchr_iter(0, &bytes.clone()) {
        bytes[at] = b' ';
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

// `$ `, `% `, `user@host:~$ `, and the arrow of some shells.
patterns! {
    PROMPT = r"^[ \t]*(?:[\w.-]+@[\w.-]+[^\n$#%]{0,60})?(?:\$|%|\xe2\x9d\xaf)[ \t]+";
}

/// Masks lines without a prompt, if others have one: they are printed output.
fn prompts(bytes: &mut [u8]) {
    if !PROMPT.is_match(bytes) {
        return;
    }
    let mut at = 0;
    let mut goes_on = false;
    let length = bytes.len();
    while at < length {
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(length, |found| at + found);
        let line = &mut bytes[at..end];
        let typed = PROMPT.find(line).map(|found| found.end());
        let goes_on_here = goes_on && typed.is_none();
        let blank = match typed {
            Some(prompt) => prompt,
            None if goes_on_here && line.trim_ascii_start().starts_with(b"> ") => {
                memchr::memchr(b'>', line).map_or(0, |at| at + 1)
            }
            None if goes_on_here => 0,
            None => line.len(),
        };
        line[..blank].fill(b' ');
        goes_on = (typed.is_some() || goes_on_here) && line.trim_ascii_end().ends_with(b"\\");
        at = end + 1;
    }
}

// `<url>`, `<your token>`.
patterns! {
    FILLING = r#"<[A-Za-z][A-Za-z0-9 _.:/|"'-]{0,60}[A-Za-z0-9"'_]>"#;
}

fn fillings(bytes: &mut [u8]) {
    let found: Vec<_> = FILLING.find_iter(bytes).map(|found| found.range()).collect();
    for range in found {
        for byte in &mut bytes[range] {
            if !byte.is_ascii_alphanumeric() && *byte != b'/' && *byte != b':' && *byte != b'.' {
                *byte = b'_';
            }
        }
    }
}

// Expansions of `IFS` that stand for a blank and hide it.
patterns! {
    SEPARATOR = r"\$(?:\{IFS(?:[:%#][^}\n]{0,10})?\}|IFS)(?:\$[0-9@*])?";
}

fn separators(bytes: &mut [u8]) {
    if memchr::memmem::find(bytes, b"IFS").is_none() {
        return;
    }
    let found: Vec<_> = SEPARATOR.find_iter(bytes).map(|found| found.range()).collect();
    for range in found {
        bytes[range].fill(b' ');
    }
}

// Programs whose name is hardly ever an ordinary word where a command could begin.
patterns! {
    PROGRAM = &program_pattern();
}

fn program_pattern() -> String {
    let names: Vec<_> =
        ProgramClass::Distinct.programs().map(|program| regex::escape(program.name)).collect();
    [
        r"(?:^|[\s\x22'`(=:,;>|&!\[{@])((?:/(?:usr/)?(?:local/)?s?bin/)?(?:python[0-9.]*|pip[0-9.]*|mkfs(?:\.\w+)?|bash\.exe|",
        &names.join("|"),
        r")\b|(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|HISTFILE)=)",
    ]
    .concat()
}

/// Returns the range of the command in a line: from the last name of a program before the first pipe or bracket.
fn command_in(line: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut start: Option<usize> = None;
    let mut at = 0;
    let mut tried = 0;
    while let Some(found) = PROGRAM.find_at(line, at) {
        let begin = found.start() + usize::from(is_border(line[found.start()]));
        let whole = line[found.end() - 1] == b'='
            || line
                .get(found.end())
                .is_none_or(|next| next.is_ascii_whitespace() || b";|$`\"')".contains(next));
        if whole {
            let apart = start.is_some_and(|start| {
                line[start..begin].iter().any(|byte| b"|;&(<>`'\"".contains(byte))
                    || memchr::memmem::find(&line[start..begin], b" -").is_some()
                    || begins_with(&line[start..begin], &[b"sudo", b"env", b"doas", b"LD_", b"export"])
            });
            let quoted = begin > 0 && b"'\"".contains(&line[begin - 1]);
            if !apart || quoted && begins_with(&line[begin..], &[b"curl", b"wget"]) {
                start = Some(begin);
            }
        }
        at = found.end();
        tried += 1;
        if tried >= 64 {
            break;
        }
    }
    let start = before_pipe(line, start?);
    let end = start + end_of(&line[start..], start.checked_sub(1).map(|before| line[before]));
    (start < end).then_some(start..end)
}

/// Returns true if a byte can stand before the name of a program.
fn is_border(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`(=:,;>|&!\\[{@".contains(&byte)
}

/// Returns the start of the command. If the name stands behind a pipe, the command begins before it, with the sentence.
fn before_pipe(line: &[u8], start: usize) -> usize {
    let before = line[..start].trim_ascii_end();
    let Some(rest) = before.strip_suffix(b"|") else { return start };
    let sentence =
        rest.windows(2).rposition(|pair| matches!(pair, b". " | b": " | b", ")).map_or(0, |at| at + 2);
    let quoted = memchr::memrchr2(b'`', b'"', rest).map_or(0, |at| at + 1);
    let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || b">*-|".contains(byte)).count();
    sentence.max(quoted).max(blanks).min(start)
}

fn begins_with(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Maximum number of punctuation marks taken off the end of a command.
const MAX_LOOSE: usize = 8;

/// Returns the length of the command at the beginning of the rest of a line.
fn end_of(rest: &[u8], before: Option<u8>) -> usize {
    let mut end = rest.len();
    if let Some(quote @ (b'"' | b'\'' | b'`')) = before {
        end = closing(rest, quote).unwrap_or(end);
    }
    for mark in [&b"-->"[..], b"</", b"`"] {
        if let Some(at) =
            memchr::memmem::find(&rest[..end], mark).filter(|at| mark != b"`" || is_odd(rest, *at))
        {
            end = end.min(at);
        }
    }
    for _ in 0..MAX_LOOSE {
        let trimmed = rest[..end].trim_ascii_end();
        let Some(last) = trimmed.last() else { return 0 };
        let count = |byte: u8| memchr::memchr_iter(byte, trimmed).count();
        let loose = match last {
            b'"' | b'\'' => count(*last) % 2 == 1,
            b')' => count(b')') > count(b'('),
            b']' => count(b']') > count(b'['),
            b'}' => count(b'}') > count(b'{'),
            b'.' | b',' | b':' | b'!' | b'?' | b';' => true,
            b'*' | b'_' => trimmed.ends_with(b"**") || trimmed.ends_with(b"__"),
            _ => false,
        };
        end = trimmed.len();
        if !loose {
            return end;
        }
        end -= 1;
    }
    end
}

/// Returns true if the backticks from here on do not come in pairs.
fn is_odd(rest: &[u8], at: usize) -> bool {
    memchr::memchr_iter(b'`', &rest[at..]).take(65).count() % 2 == 1
}

/// The next quote of this kind without a backslash.
fn closing(rest: &[u8], quote: u8) -> Option<usize> {
    memchr::memchr_iter(quote, rest).take(64).find(|at| *at == 0 || rest[at - 1] != b'\\')
}
