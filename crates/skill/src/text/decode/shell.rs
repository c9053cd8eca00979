//! Commands that a shell puts together out of variables, quotes and what other commands print: `$a$b`, `c''url`, `$(echo lruc | rev)`.
//!
//! Only what is written there is followed: plain assignments, plain texts, programs that turn one text into another. A stretch is
//! written out only if a command in it is hidden like this.

mod print;
mod regions;
mod word;

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use super::Replacement;
use crate::text::language::Language;
use word::Word;

/// Description of a text that was put together like this.
pub(crate) const MADE: &str = "what a shell puts together";

/// Maximum number of bytes of one stretch that are looked at, and of words.
const MAX_REGION: usize = 64 << 10;
const MAX_WORDS: usize = 20_000;

/// Maximum length of a value.
const MAX_VALUE: usize = 8 << 10;

/// Maximum depth of nested substitutions.
const MAX_DEPTH: u32 = 4;

/// Programs whose names have no honest reason to be written in pieces.
const HIDDEN: &[&str] = &[
    "curl",
    "wget",
    "bash",
    "sh",
    "zsh",
    "dash",
    "nc",
    "ncat",
    "netcat",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "base64",
    "eval",
    "exec",
    "source",
    "socat",
    "openssl",
    "ssh",
    "scp",
    "sudo",
    "powershell",
    "pwsh",
    "osascript",
    "xxd",
    "chmod",
    "rm",
    "dd",
    "crontab",
    "printenv",
    "cat",
    "env",
];

/// Words before the name of a program.
const BEFORE: &[&str] = &[
    "if", "then", "do", "else", "elif", "while", "until", "!", "time", "sudo", "exec", "env", "nohup",
    "command", "builtin", "export", "local", "declare", "readonly", "{",
];

/// Everything in a text that a shell would put together, where that hides a command.
pub(super) fn replacements(text: &str, language: Language) -> Vec<Replacement> {
    let mut found = Vec::new();
    for region in regions::regions(text, language) {
        let end = region.end.min(region.start + MAX_REGION);
        let Some(part) = text.get(region.start..end) else { continue };
        let mut reader = Reader { text: part, ..Reader::default() };
        reader.read();
        if reader.hides {
            let moved = |range: Range<usize>| region.start + range.start..region.start + range.end;
            found.extend(reader.found.into_iter().map(|(range, text)| Replacement {
                range: moved(range),
                text,
                from: MADE,
            }));
        }
    }
    found
}

/// Returns true if a program's name is one that has no honest reason to be hidden.
pub(crate) fn is_hidden_name(name: &str) -> bool {
    HIDDEN.contains(&name.rsplit('/').next().unwrap_or(name))
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    variables: HashMap<String, String>,
    lists: HashMap<String, Vec<String>>,
    found: Vec<(Range<usize>, String)>,
    /// True if a command is hidden in what was read.
    hides: bool,
    /// Number of unclosed brackets that were looked for.
    unclosed: Cell<u32>,
}

impl Reader<'_> {
    /// Reads all commands of the text.
    fn read(&mut self) {
        let (mut at, mut begins, mut runs, mut words) = (0, true, false, 0);
        let bytes = self.text.as_bytes();
        while at < bytes.len() && words < MAX_WORDS {
            match bytes[at] {
                b' ' | b'\t' | b'\r' | b'<' | b'>' => at += 1,
                b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
                b'\n' | b';' | b'&' | b'|' | b'(' | b')' => {
                    (begins, runs) = (true, false);
                    at += 1;
                }
                b'#' => at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |line| at + line),
                _ => {
                    words += 1;
                    let next = self.one(at, begins, &mut runs);
                    let keeps = begins && self.keeps(at..next.0);
                    begins = keeps || next.1;
                    at = next.0.max(at + 1);
                }
            }
        }
    }

    /// Returns true if what follows a word is still the name of a program.
    fn keeps(&self, range: Range<usize>) -> bool {
        self.text.get(range).is_some_and(|word| BEFORE.contains(&word))
    }

    /// One word or assignment: where it ends, and whether the name of a program may follow.
    fn one(&mut self, at: usize, begins: bool, runs: &mut bool) -> (usize, bool) {
        if begins && let Some(end) = self.assignment(at) {
            return (end, true);
        }
        let word = self.word(at, 0);
        if word.end == at {
            return (at + 1, false);
        }
        let value = word.value.as_deref();
        let is_hidden = |name: &str| is_hidden_name(name) && !word.is_written(name);
        if begins
            && word.pieces > 1
            && value.is_some_and(|value| value.split_whitespace().next().is_some_and(is_hidden))
        {
            self.hides = true;
            if word.spelled.is_empty() {
                self.found.push((at..word.end, value.unwrap_or_default().to_owned()));
            }
        }
        self.hides |= word.printed && (begins || *runs) || *runs && word.expanded > 1 && word.value.is_some();
        if begins {
            *runs = value.is_some_and(|value| matches!(value, "eval" | "source" | "."));
        } else if matches!(value, Some("-c" | "-ec" | "-lc")) {
            *runs = true;
        }
        self.found.extend(word.spelled);
        (word.end, false)
    }

    /// `name=value`, `name+=value`, `name=(a b)`: where it ends.
    fn assignment(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        let length =
            rest.iter().take(64).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if length == 0 || rest[0].is_ascii_digit() {
            return None;
        }
        let adds = rest[length..].starts_with(b"+=");
        let start = at + length + 1 + usize::from(adds);
        if self.text.as_bytes().get(start - 1) != Some(&b'=') {
            return None;
        }
        let name = self.text[at..at + length].to_owned();
        if self.text.as_bytes().get(start) == Some(&b'(') {
            return Some(self.list(name, start + 1));
        }
        let word = self.word(start, 0);
        match word.value {
            Some(value) if value.len() <= MAX_VALUE => {
                let held = self.variables.entry(name).or_default();
                if !adds {
                    held.clear();
                }
                if held.len() + value.len() <= MAX_VALUE {
                    held.push_str(&value);
                }
            }
            _ => {
                self.variables.remove(&name);
            }
        }
        Some(word.end.max(start))
    }

    fn list(&mut self, name: String, from: usize) -> usize {
        let (mut at, mut items) = (from, Vec::new());
        let bytes = self.text.as_bytes();
        while at < bytes.len() && items.len() < 256 {
            match bytes[at] {
                b' ' | b'\t' | b'\n' => at += 1,
                b')' => {
                    at += 1;
                    break;
                }
                _ => {
                    let word = self.word(at, 0);
                    if word.end == at {
                        break;
                    }
                    items.push(word.value.unwrap_or_default());
                    at = word.end;
                }
            }
        }
        self.lists.insert(name, items);
        at
    }

    fn word(&self, at: usize, depth: u32) -> Word {
        word::read(self, at..self.text.len(), depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut made = text.to_owned();
        for one in replacements(text, Language::Shell).into_iter().rev() {
            made.replace_range(one.range, &one.text);
        }
        made
    }

    #[test]
    fn what_a_shell_puts_together_is_written_out() {
        let rows = [
            ("a=c; b=ur; c=l; d=' -s '; e='x|'\n$a$b$c$d http://a.b | $e", "curl -s  http://a.b | x|"),
            ("x=wg; y=et; ${x}${y} http://a.b", "wget http://a.b"),
            ("p=ba\n${p}sh x", "bash x"),
            ("a=(c u r l)\n${a[0]}${a[1]}${a[2]}${a[3]} x", "curl x"),
            ("s=xlruc; ${s:4:1}${s:3:1}${s:2:1}${s:1:1} x", "curl x"),
            ("t='hs | x lruc'\neval \"$(printf %s \"$t\" | rev)\"", "eval \"curl x | sh\""),
            ("$(printf '\\143\\165rl') x", "curl x"),
            ("eval $(echo phey | tr a-z n-za-m)", "eval curl"),
            ("`echo lruc|rev` x", "curl x"),
            ("$(echo 6375726c | xxd -r -p) x", "curl x"),
            ("c''url x", "curl x"),
            ("w\\ge\\t x", "wget x"),
            ("a='cu'; b='rl x'; eval \"$a$b\"", "eval \"curl x\""),
            ("$'\\x63url' x", "curl x"),
        ];
        for (text, expected) in rows {
            let made = written(text);
            assert!(made.ends_with(expected), "{text} -> {made}");
        }
        let same = [
            "URL=https://a.b; curl \"$URL/x$y\"",
            "V=3; python$V x.py",
            "DIR=a; NAME=b; \"$DIR$NAME\" x",
            "CROSS=arm-; ${CROSS}gcc x",
            "echo \"$(echo a)\"",
            "x=$(curl -s a); echo $x$y",
            "sed 's/a''b/c/' x",
        ];
        for text in same {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn hostile_texts_are_read_to_their_end() {
        for row in [
            "$(",
            "$(echo ",
            "${",
            "`",
            "`echo ",
            "$'",
            "a=$a$a;",
            "\"$a",
            "a''b ",
            "$(echo $(",
            "a=(",
            "${a:1:",
            "\\a",
        ] {
            let text = format!("a=b\n{}", row.repeat((2 << 20) / row.len()));
            // A reader that looks at the rest again for each sign would never come back.
            replacements(&text, Language::Shell);
            replacements(&format!("```sh\n{text}"), Language::Markdown);
        }
    }
}
